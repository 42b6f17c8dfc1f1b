"""How tensors are put together again, as PyTorch's files name these functions; an assertion."""
from . import _C


def _rebuild_tensor(storage, storage_offset, size, stride):
    made = _C._VariableFunctions.empty((0,), dtype=storage.dtype, device="cpu")
    return made.set_(storage._untyped_storage, storage_offset, tuple(size), tuple(stride))


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    made = _rebuild_tensor(storage, storage_offset, size, stride)
    made.requires_grad = requires_grad
    return made


def _rebuild_parameter(data, requires_grad, backward_hooks):
    from .nn.parameter import Parameter
    return Parameter(data, requires_grad)


def _assert(condition, message):
    """An assertion that tracing can write down."""
    if _C._overridden((condition,), None) and not isinstance(condition, _C.TensorBase):
        return _C._call_overridden(_assert, (condition, message), {})
    assert condition, message


_assert.__module__ = "torch"
