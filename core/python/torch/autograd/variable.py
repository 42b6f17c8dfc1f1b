"""Variables, as tensors were called once."""
from .. import _C
from .._missing import attribute


class _IsTensor(type):
    def __instancecheck__(cls, what):
        return isinstance(what, _C.TensorBase)


class Variable(metaclass=_IsTensor):
    def __new__(cls, data, requires_grad=False):
        made = data.detach() if data.requires_grad else data.alias()
        return made.requires_grad_() if requires_grad else made


__getattr__ = attribute("torch.autograd.variable")
