"""Autocast on the CPU, where the engine has the layer."""
from .. import _C
from .._missing import attribute, missing


def is_autocast_enabled(device_type="cpu"):
    return device_type == "cpu" and _C._is_autocast_cpu()


def get_autocast_dtype(device_type):
    return _C.bfloat16


class autocast:
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if device_type != "cpu":
            missing("autocast for " + str(device_type))
        if enabled and not hasattr(_C, "_enter_autocast"):
            missing("autocast")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


__getattr__ = attribute("torch.amp")
