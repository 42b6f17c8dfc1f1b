"""Modes that handle every call of an operator below autograd."""
import contextlib

from .. import _C
from .._missing import attribute, missing


class TorchDispatchMode:
    """`with` one, its __torch_dispatch__ gets every call; what it calls itself goes to the mode around it."""

    def __init__(self, _dispatch_key=None):
        if _dispatch_key is not None:
            missing("TorchDispatchMode(_dispatch_key=...)")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _C._push_dispatch_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _C._pop_dispatch_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        import warnings
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)


def _get_current_dispatch_mode():
    modes = _C._dispatch_modes()
    return modes[-1] if modes else None


def _get_current_dispatch_mode_stack():
    return list(_C._dispatch_modes())


@contextlib.contextmanager
def _pop_mode_temporarily(k=None):
    mode = _C._pop_dispatch_mode()
    try:
        yield mode
    finally:
        _C._push_dispatch_mode(mode)


@contextlib.contextmanager
def _disable_current_modes():
    modes = [_C._pop_dispatch_mode() for _ in _C._dispatch_modes()]
    try:
        yield modes
    finally:
        for mode in reversed(modes):
            _C._push_dispatch_mode(mode)


def is_traceable_wrapper_subclass(t):
    return False


__getattr__ = attribute("torch.utils._python_dispatch")
