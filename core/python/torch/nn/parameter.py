"""Tensors that modules and optimizers know as theirs."""
from .. import _C
from .._missing import attribute
from .._tensor import Tensor


class Parameter(Tensor):
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _C._VariableFunctions.empty(0)
        return _C._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(memory_format=_C.preserve_format), self.requires_grad)
        return memo[id(self)]


class _IsBuffer(type):
    def __instancecheck__(cls, what):
        return isinstance(what, _C.TensorBase) and getattr(what, "__dict__", {}).get("_is_buffer", False)


class Buffer(Tensor, metaclass=_IsBuffer):
    """A tensor that a module keeps and doesn't train."""
    __torch_function__ = _C._disabled_torch_function_impl

    def __new__(cls, data=None, *, persistent=True):
        data = _C._VariableFunctions.empty(0) if data is None else data.detach().requires_grad_(data.requires_grad)
        data._is_buffer, data.persistent = True, persistent
        return data


class UninitializedTensorMixin:
    """Without a shape until it is materialised."""
    __torch_function__ = _C._disabled_torch_function_impl

    def materialize(self, shape, device=None, dtype=None):
        device, dtype = device or self._own_class_of(self.data).device, dtype or self._own_class_of(self.data).dtype
        self.data = _C._VariableFunctions.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    def _own_class_of(self, t):
        return t

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to load an uninitialized "
                           "parameter into an initialized one. Call `forward` to initialize the parameters before accessing their attributes.")

    def __repr__(self):
        return "<%s>" % type(self).__name__


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _C._make_subclass(cls, _C._VariableFunctions.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        made = _C._make_subclass(cls, _C._VariableFunctions.empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        return made

    def _own_class_of(self, t):
        return t.as_subclass(type(self))


def is_lazy(param):
    return isinstance(param, UninitializedTensorMixin)


__getattr__ = attribute("torch.nn.parameter")
