"""Shapes and types of a graph's values, found by running it."""
import traceback
from typing import Any, NamedTuple, Optional

import torch

from ..._missing import attribute
from ..interpreter import Interpreter
from ..node import map_aggregate


class TensorMetadata(NamedTuple):
    shape: torch.Size
    dtype: torch.dtype
    requires_grad: bool
    stride: tuple
    memory_format: Optional[torch.memory_format]
    is_quantized: bool
    qparams: dict[str, Any]


_ORDERS = {torch.contiguous_format: lambda n: range(n - 1, -1, -1), torch.channels_last: lambda n: (1, 3, 2, 0) if n == 4 else None,
           torch.channels_last_3d: lambda n: (1, 4, 3, 2, 0) if n == 5 else None}  # the dimensions, from the innermost


def _lies_in(sizes, strides, order):
    expected = 1
    for dim in order:
        if sizes[dim] != 1:
            if strides[dim] != expected:
                return False
            expected *= sizes[dim]
    return True


def _memory_format(t):
    if t.numel() < 2:
        return torch.contiguous_format
    sizes, strides = t.shape, t.stride()
    return next((kind for kind, order in _ORDERS.items() if order(len(sizes)) is not None and _lies_in(sizes, strides, order(len(sizes)))), None)


def _extract_tensor_metadata(result, include_contiguity=True):
    sparse = result.layout is not torch.strided
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, () if sparse else result.stride(), _memory_format(result) if include_contiguity and not sparse else None, False, {})


class ShapeProp(Interpreter):
    def run_node(self, n):
        try:
            result = super().run_node(n)
        except Exception as e:
            traceback.print_exc()
            raise RuntimeError("ShapeProp error for: node=%s with meta=%s" % (n.format_node(), n.meta)) from e
        found = False

        def measure(value):
            nonlocal found
            if not isinstance(value, torch.Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)
        measured = map_aggregate(result, measure)
        if found:
            n.meta["tensor_meta"] = measured
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        return super().run(*args)


__getattr__ = attribute("torch.fx.passes.shape_prop")
