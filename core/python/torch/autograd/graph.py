"""The graph's nodes, and what a program does with the tensors that they keep."""
import contextlib
from collections import namedtuple

from .. import _C
from .._missing import attribute

Node = _C.Node
GradientEdge = namedtuple("GradientEdge", ["node", "output_nr", "ownership_token"], defaults=[None])
_refused = [None]  # why hooks may not be set


def get_gradient_edge(tensor):
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if tensor.grad_fn is None:
        view = tensor.view_as(tensor)  # noqa: F841
    return GradientEdge(*_C._gradient_edge(tensor))


def increment_version(tensor):
    for t in [tensor] if isinstance(tensor, _C.TensorBase) else tensor:
        _C._bump_version(t)


class saved_tensors_hooks:
    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        if _refused[0] is not None:
            raise RuntimeError(_refused[0])
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *error):
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            if not pin_memory:
                return tensor.device, tensor.cpu()
            packed = _C._VariableFunctions.empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout)
            packed.copy_(tensor)
            return tensor.device, packed

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)
        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    before = _refused[0]
    if _C._count_saved_tensors_hooks():
        raise RuntimeError(error_message)
    _refused[0] = error_message
    try:
        yield
    finally:
        _refused[0] = before


__getattr__ = attribute("torch.autograd.graph")
