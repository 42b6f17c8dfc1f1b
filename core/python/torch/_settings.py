"""Switches of the whole process. Kernels are of one kind: what a switch chooses between is kept, and of no effect."""
from . import _C
from ._missing import missing

_values = {"deterministic": False, "warn_only": False, "warn_always": False, "precision": "highest", "interop": 1, "threads": 1}


def set_default_dtype(d):
    if not isinstance(d, _C.dtype):
        raise TypeError("invalid dtype object")
    _C._set_default_dtype(d)


def set_default_tensor_type(t):
    if not isinstance(t, str):
        t = t.__module__ + "." + t.__name__
    kinds = {"torch.FloatTensor": _C.float32, "torch.DoubleTensor": _C.float64, "torch.HalfTensor": _C.float16, "torch.BFloat16Tensor": _C.bfloat16}
    if t not in kinds:
        missing("torch.set_default_tensor_type(%s)" % t)
    _C._set_default_dtype(kinds[t])


def set_default_device(device):
    _C._set_default_device(_C.device("cpu") if device is None else _C.device(device))


def get_default_device():
    return _C._default_device()


def use_deterministic_algorithms(mode, *, warn_only=False):
    _values.update(deterministic=mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled():
    return _values["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    return _values["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    mode = {"default": 0, "warn": 1, "error": 2}.get(debug_mode, debug_mode)
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode():
    return 0 if not _values["deterministic"] else 1 if _values["warn_only"] else 2


def set_warn_always(b):
    _values["warn_always"] = b


def is_warn_always_enabled():
    return _values["warn_always"]


def set_float32_matmul_precision(precision):
    if precision not in ("highest", "high", "medium"):
        import warnings
        warnings.warn("%s is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has no effect." % precision, stacklevel=2)
        return
    _values["precision"] = precision


def get_float32_matmul_precision():
    return _values["precision"]


def get_num_threads():
    return _values["threads"]


def set_num_threads(n):
    """Kernels run on the calling thread."""
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError("set_num_threads expects an int, but got %s" % type(n).__name__)
    if n <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _values["threads"] = n


def get_num_interop_threads():
    return _values["interop"]


def set_num_interop_threads(n):
    _values["interop"] = n


def set_flush_denormal(mode):
    return False


def compiled_with_cxx11_abi():
    return True


__all__ = [name for name, what in list(globals().items()) if callable(what) and name[0] != "_" and name != "missing"]
