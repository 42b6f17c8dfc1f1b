"""torch.accelerator and the modules of kinds of devices, of which there is only the CPU here."""
import contextlib
import sys
import types

from ._missing import attribute


def _none(*args, **kwargs):
    return None


def _no_accelerator(*args, **kwargs):
    raise RuntimeError("Cannot access accelerator device when none is available.")


def _same(value):
    return lambda *args, **kwargs: value


_ABSENT = {"is_available": _same(False), "device_count": _same(0)}
_TABLE = {
    "accelerator": {**_ABSENT, "current_accelerator": _none, "empty_cache": _none,
                    **dict.fromkeys(("current_device_index", "current_device_idx", "current_stream", "set_device_index", "set_stream", "synchronize"), _no_accelerator)},
    "cpu": {"is_available": _same(True), "device_count": _same(1), "is_initialized": _same(True), "current_device": _same("cpu"), "synchronize": _none, "set_device": _none,
            "stream": _same(contextlib.nullcontext())},
    "mps": _ABSENT, "mtia": {**_ABSENT, "is_initialized": _same(False)}, "xpu": {**_ABSENT, "is_initialized": _same(False), "empty_cache": _none},
}


def _module(name, held):
    full = "torch." + name
    module = types.ModuleType(full)
    for word, what in held.items():
        setattr(module, word, what)
    module.__getattr__ = attribute(full)
    sys.modules[full] = module
    return module


accelerator, cpu, mps, mtia, xpu = (_module(name, held) for name, held in _TABLE.items())


class OutOfMemoryError(RuntimeError):
    """There is no memory of a GPU to run out of."""


OutOfMemoryError.__module__ = "torch"
