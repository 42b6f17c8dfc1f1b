"""Autocast on the CPU."""
import functools

from .. import _C
from .._missing import attribute, missing


def is_autocast_enabled(device_type="cpu"):
    return device_type == "cpu" and _C._is_autocast_cpu()


def get_autocast_dtype(device_type="cpu"):
    return _C._autocast_dtype()


def is_autocast_available(device_type):
    return device_type == "cpu"


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if device_type != "cpu":
            missing("autocast for " + str(device_type))
        dtype = _C._autocast_dtype() if dtype is None else dtype
        if enabled and dtype is not _C.bfloat16:
            missing("autocast with %s" % dtype)
        self._options = (enabled, dtype, True if cache_enabled is None else cache_enabled)
        self._context = _C._Autocast(*self._options)

    def __enter__(self):
        self._context.__enter__()
        return self

    def __exit__(self, *error):
        self._context.__exit__(*error)
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with autocast("cpu", self._options[1], self._options[0], self._options[2]):
                return function(*args, **kwargs)
        return wrapper


__getattr__ = attribute("torch.amp")
