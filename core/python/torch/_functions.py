"""Functions of torch that are Python there too, or ask about values and shapes without an operator."""
from . import _C
from ._missing import missing

__all__ = ["is_tensor", "is_floating_point", "is_complex", "is_storage", "numel", "as_tensor", "set_default_dtype", "set_default_device", "broadcast_shapes",
           "get_num_threads", "set_num_threads", "use_deterministic_algorithms", "typename"]


def is_tensor(x):
    return isinstance(x, _C.TensorBase)


def is_storage(x):
    return False


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


def typename(x):
    return x.type() if is_tensor(x) else type(x).__name__


def as_tensor(data, dtype=None, device=None):
    if is_tensor(data):
        return data.to(device=device, dtype=dtype)
    return _C.tensor(data, dtype=dtype, device=device)


def set_default_dtype(d):
    _C._set_default_dtype(d)


def set_default_device(device):
    if device is not None and _C.device(device).type != "cpu":
        missing("default device %s" % device)


def broadcast_shapes(*shapes):
    from . import Size
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    result = [1] * max((len(s) for s in shapes), default=0)
    for shape in shapes:
        for i in range(1, len(shape) + 1):
            if shape[-i] != 1:
                if result[-i] not in (1, shape[-i]):
                    raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
                result[-i] = shape[-i]
    return Size(result)


def get_num_threads():
    return 1


def set_num_threads(n):
    """Kernels run on the calling thread."""


def use_deterministic_algorithms(mode, *, warn_only=False):
    """All are."""
