"""Variables, as tensors were called once."""
from .. import _C
from .._missing import attribute


class _IsTensor(type):
    def __instancecheck__(cls, what):
        return isinstance(what, _C.TensorBase)


class _Engine:
    """The engine that runs backward, as programs reach it."""

    @staticmethod
    def queue_callback(callback):
        _C._queue_callback(callback)


class Variable(metaclass=_IsTensor):
    _execution_engine = _Engine()

    def __new__(cls, data, requires_grad=False):
        made = data.detach() if data.requires_grad else data.alias()
        return made.requires_grad_() if requires_grad else made


__getattr__ = attribute("torch.autograd.variable")
