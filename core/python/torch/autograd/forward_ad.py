"""Forward-mode AD: dual tensors, which carry a tangent along, within a level."""
from typing import NamedTuple

from .. import _C
from .._missing import attribute
from .modes import _Mode

_current_level = -1


def enter_dual_level():
    global _current_level
    level = _C._enter_dual_level()
    if level != _current_level + 1:
        raise RuntimeError("Entering a new forward AD level but the current level is not valid. Make sure you did not modify it directly.")
    _current_level = level
    return level


def exit_dual_level(*, level=None):
    global _current_level
    if level is None:
        level = _current_level
    if level != _current_level:
        raise RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _C._exit_dual_level(level=level)
    _current_level = level - 1


def make_dual(tensor, tangent, *, level=None):
    level = _current_level if level is None else level
    if level < 0:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not (t.is_floating_point() or t.is_complex()):
            raise ValueError("Expected %s to be floating point or complex, but got: %s" % (name, t.dtype))
    return _C._VariableFunctions._make_dual(tensor, tangent, level=level)


class UnpackedDualTensor(NamedTuple):
    primal: object
    tangent: object


def unpack_dual(tensor, *, level=None):
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._VariableFunctions._unpack_dual(tensor, level=level))


class dual_level(_Mode):
    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *error):
        exit_dual_level()


_is_fwd_grad_enabled = _C._is_fwd_grad_enabled


class _set_fwd_grad_enabled(_Mode):
    """In force from when it is made."""

    def __init__(self, mode):
        self.mode, self.prev = mode, _C._is_fwd_grad_enabled()
        _C._set_fwd_grad_enabled(mode)

    def _again(self):
        return _set_fwd_grad_enabled(self.mode)

    def __enter__(self):
        pass

    def __exit__(self, *error):
        _C._set_fwd_grad_enabled(self.prev)


__getattr__ = attribute("torch.autograd.forward_ad")
