"""Tensors that modules and optimizers know as theirs."""
from .. import _C
from .._tensor import Tensor


class Parameter(Tensor):
    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _C._VariableFunctions.empty(0)
        return _C._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]


class Buffer:
    """A tensor that a module keeps and doesn't train."""

    def __new__(cls, data=None, *, persistent=True):
        data = _C._VariableFunctions.empty(0) if data is None else data
        data._is_buffer, data.persistent = True, persistent
        return data
