"""The operators that kernels for tensors without data are made of: `prims::mul` and its like, which promote nothing and broadcast nothing."""
import builtins

import torch

from ..library import Library
from .._ops import OpOverload
from .rules import check, check_same, contiguous_strides, elementwise_strides, is_tensor, physical_layout, real_of

_library = Library("prims", "DEF")


def _elementwise(kind):
    def kernel(*args):
        typed = [a.dtype for a in args if is_tensor(a)]
        check(len(set(typed)) == 1, lambda: "Tensor with dtype %s is not the expected dtype of %s!" % (next(d for d in typed if d is not typed[0]), typed[0]))
        tensors = check_same(args) or [a for a in args if is_tensor(a)]
        dtype = torch.bool if kind == "bool" else real_of(tensors[0].dtype) if kind == "complex_to_float" else tensors[0].dtype
        return torch.empty_permuted(tensors[0].shape, physical_layout(tensors), dtype=dtype, device=tensors[0].device)
    return kernel


def _define(schema, kernel, select=False):
    """`select`: it has no tensor to tell its device, so a kernel at BackendSelect looks at the argument `device`."""
    name = schema.split("(")[0]
    _library.define(schema)
    _library.impl(name, kernel, "BackendSelect" if select else "Meta")
    globals()[name] = OpOverload("prims::" + name, "")


for _name in ("acos acosh asin asinh atan atanh bitwise_not ceil cos cosh digamma erf erfc erf_inv exp exp2 expm1 floor lgamma log log10 log1p log2 neg reciprocal round rsqrt sign "
              "signbit sin sinh sqrt tan tanh trunc").split():
    _define(_name + "(Tensor self) -> Tensor", _elementwise("default"))
_define("abs(Tensor self) -> Tensor", _elementwise("complex_to_float"))
for _name in "add atan2 bitwise_and bitwise_or bitwise_xor div fmax fmin fmod gcd hypot maximum minimum mul nextafter pow remainder sub".split():
    _define(_name + "(Tensor self, Tensor other) -> Tensor", _elementwise("default"))
for _name in "eq ge gt le lt ne".split():
    _define(_name + "(Tensor self, Tensor other) -> Tensor", _elementwise("bool"))


def _where(pred, a, b):
    tensors = check_same([pred, a, b])
    return torch.empty_permuted(pred.shape, physical_layout(tensors), dtype=next(t.dtype for t in (a, b) if is_tensor(t)), device=pred.device)


_define("where(Tensor pred, Tensor a, Tensor b) -> Tensor", _where)


def _reduce(inp, dims, *more, output_dtype=None):
    shape = [n for i, n in enumerate(inp.shape) if i not in dims]
    return torch.empty_strided(shape, contiguous_strides(shape), dtype=output_dtype or inp.dtype, device=inp.device)


for _name in "sum prod".split():
    _define(_name + "(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", _reduce)
for _name in "amax amin".split():
    _define(_name + "(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor", _reduce)
_define("var(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? output_dtype=None) -> Tensor",
        lambda inp, dims, correction=1, output_dtype=None: _reduce(inp, dims, output_dtype=real_of(inp.dtype)))


def _broadcast_in_dim(a, shape, broadcast_dimensions):
    """The dimensions of `a` stand at these places of the shape; the others are new."""
    strides, at = [], a.dim()
    for i in reversed(range(len(shape))):
        if i in broadcast_dimensions:
            at -= 1
            strides.append(0 if a.shape[at] == 1 and shape[i] != 1 else a.stride(at))
        elif shape[i] != 1:
            strides.append(0)
        elif at == a.dim():
            strides.append(1)
        else:
            strides.append(a.stride(at) * a.shape[at])
    return a.as_strided(shape, strides[::-1], a.storage_offset())


_define("broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)", _broadcast_in_dim)


def _cat(tensors, dim):
    first = tensors[0]
    shape = list(first.shape)
    shape[dim] = builtins.sum(t.shape[dim] for t in tensors)
    for at, t in enumerate(tensors):
        for i, n in enumerate(t.shape):
            check(i == dim or n == first.shape[i], lambda: "Sizes of tensors must match except in dimension %d. Expected %d in dimension %d but got %d for tensor number %d in the list"
                  % (dim, first.shape[i], i, n, at))
    return torch.empty_strided(shape, contiguous_strides(shape), dtype=first.dtype, device=first.device)


_define("cat(Tensor[] tensors, int dim) -> Tensor", _cat)
_define("rev(Tensor a, int[] dims) -> Tensor", lambda a, dims: torch.empty_like(a, memory_format=torch.preserve_format))


def _iota(length, *, start, step, dtype, device, requires_grad):
    return torch.empty(length, dtype=dtype, device=device)


def _strided(shape, dtype, device, stride=None):
    return torch.empty_strided(shape, stride or contiguous_strides(shape), dtype=dtype, device=device)


_define("scalar_tensor(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor", lambda s, *, dtype=None, device=None: _strided((), dtype, device), True)
_define("iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool requires_grad) -> Tensor", _iota, True)
_define("normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device, bool requires_grad, Generator? generator=None) -> Tensor",
        lambda shape, *, mean, std, dtype, device, requires_grad, generator=None: _strided(shape, dtype, device), True)
_define("uniform(SymInt[] shape, *, Scalar low, Scalar high, ScalarType dtype, Device device, SymInt[] stride, Generator? generator=None) -> Tensor",
        lambda shape, *, low, high, dtype, device, stride, generator=None: _strided(shape, dtype, device, stride), True)


def _convert(a, dtype):
    return torch.empty_strided(a.shape, elementwise_strides(a), dtype=dtype, device=a.device)


_define("convert_element_type(Tensor a, ScalarType dtype) -> Tensor", _convert)
