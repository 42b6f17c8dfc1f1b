"""Nested tensors: parts of different sizes as one tensor, in the strided layout."""
from .. import _C
from .._missing import attribute, missing


def to_padded_tensor(input, padding, output_size=None):  # noqa: A002
    return _C._nested.nested_to_padded_tensor(input, padding, output_size)


def _check_layout(layout):
    if layout not in (None, _C.strided):
        missing("nested tensors in another layout than the strided one")


def nested_tensor(tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    from .. import Tensor, tensor
    _check_layout(layout)
    if pin_memory:
        missing("pinned memory")
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    parts = [t.detach() if isinstance(t, Tensor) else tensor(t) for t in tensor_list]
    if dtype is None:
        dtype = parts[0].dtype if parts else _C.get_default_dtype()
    out = _C._VariableFunctions._nested_tensor_from_tensor_list(parts, dtype, None, "cpu" if device is None else device, False)
    return out.requires_grad_() if requires_grad else out


def as_nested_tensor(ts, dtype=None, device=None, layout=None):
    from .. import Tensor
    many = isinstance(ts, (list, tuple)) and all(isinstance(t, Tensor) for t in ts)
    if not isinstance(ts, Tensor) and not many:
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if many:
        _check_layout(layout)
        return _C._VariableFunctions._nested_tensor_from_tensor_list(list(ts), dtype, None, device, None)
    if ts.dim() < 2:
        raise RuntimeError("as_nested_tensor(): Expected tensor argument to have dim() > 1")
    if not ts.is_nested:
        missing("torch.nested.as_nested_tensor of a batch that is one tensor")
    if layout is not ts.layout:
        raise RuntimeError("as_nested_tensor(): Converting between nested tensor layouts is not supported")
    return ts.to(device=device, dtype=dtype)


__getattr__ = attribute("torch.nested")
