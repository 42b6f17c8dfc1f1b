"""torch.jit: questions and marks only; nothing is compiled."""
from ._missing import attribute, missing


def is_scripting():
    return False


def is_tracing():
    return False


def ignore(drop=False, **kwargs):
    return drop if callable(drop) else lambda function: function


def unused(function):
    return function


export = _overload_method = unused


def script(obj, *args, **kwargs):
    missing("torch.jit.script")


def trace(func, *args, **kwargs):
    missing("torch.jit.trace")


class ScriptModule:
    def __init__(self):
        missing("torch.jit.ScriptModule")


class Final:
    """An annotation."""

    def __class_getitem__(cls, kind):
        return kind


Attribute = Final
__getattr__ = attribute("torch.jit")
