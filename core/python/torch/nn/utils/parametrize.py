"""Tensors of a module that are computed from others each time they are read."""
import contextlib
import copy

from ... import _C
from ..._missing import attribute
from ...autograd.modes import no_grad
from ..containers import ModuleDict, ModuleList
from ..parameter import Parameter

_cache, _caching = {}, 0


@contextlib.contextmanager
def cached():
    """Computed once only."""
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


def _keep(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _is_tensor(x):
    return isinstance(x, _C.TensorBase)


def _check_same(what, named, shape, dtype, other, of_other):
    for kind, mine, theirs in (("dtype", dtype, other.dtype), ("shape", shape, other.shape)):
        if mine != theirs:
            raise ValueError("Registering a parametrization may not change the %s of the tensor, unless %s`unsafe` flag is enabled.\n%s%s: %s\n%s%s: %s"
                             % (kind, what, named, kind, mine, of_other, kind, theirs))


class ParametrizationList(ModuleList):
    """What is computed, one after the other, from `original` or `original0`, `original1`, ..."""

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not _is_tensor(new) and not isinstance(new, (list, tuple)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got %s" % type(new).__name__)
        self.is_tensor = _is_tensor(new)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            for kind in ("dtype", "device"):
                if getattr(original, kind) != getattr(new, kind):
                    raise ValueError("When `right_inverse` outputs one tensor, it may not change the %s.\noriginal.%s: %s\nright_inverse(original).%s: %s"
                                     % (kind, kind, getattr(original, kind), kind, getattr(new, kind)))
            with no_grad():
                original.set_(new)
            _keep(self, "original", original)
        else:
            for i, part in enumerate(new):
                if not _is_tensor(part):
                    raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element %d of the sequence with type %s."
                                     % (i, type(part).__name__))
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _keep(self, "original%d" % i, part)
        if not self.unsafe:
            z = self()
            if not _is_tensor(z):
                raise ValueError("A parametrization must return a tensor. Got %s." % type(z).__name__)
            _check_same("", "unparametrized ", shape, dtype, z, "parametrized ")

    def right_inverse(self, value):
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError("parametrization %s does not implement right_inverse." % type(module).__name__)
                value = module.right_inverse(value)
            if self.is_tensor:
                if not _is_tensor(value):
                    raise ValueError("`right_inverse` should return a tensor. Got %s" % type(value).__name__)
                if value.dtype != self.original.dtype:
                    raise ValueError("The tensor returned by `right_inverse` has dtype %s while `original` has dtype %s" % (value.dtype, self.original.dtype))
                self.original.set_(value)
                return
            if len(value) != self.ntensors:
                raise ValueError("'right_inverse' must return a sequence of tensors of length %d. Got a sequence of length %d." % (self.ntensors, len(value)))
            for i, part in enumerate(value):
                getattr(self, "original%d" % i).set_(part)

    def forward(self):
        x = self[0](self.original) if self.is_tensor else self[0](*(getattr(self, "original%d" % i) for i in range(self.ntensors)))
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def _give_own_class(module):
    cls = type(module)

    def deepcopy(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = memo[id(self)] = object.__new__(type(self))
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    def getstate(self):
        raise RuntimeError("Serialization of parametrized modules is only supported through state_dict(). See:\nhttps://pytorch.org/tutorials/beginner/saving_loading_models.html"
                           "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training")
    members = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = deepcopy
    module.__class__ = type("Parametrized" + cls.__name__, (cls,), members)


def _compute_when_read(module, name):
    def get(self):
        if not _caching:
            return self.parametrizations[name]()
        key = id(self), name
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set(self, value):
        self.parametrizations[name].right_inverse(value)
    setattr(type(module), name, property(get, set))


def is_parametrized(module, tensor_name=None):
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            y = getattr(module, tensor_name)
            x = parametrization(y)
            if not _is_tensor(x):
                raise ValueError("A parametrization must return a tensor. Got %s." % type(x).__name__)
            _check_same("the ", "module.%s." % tensor_name, y.shape, y.dtype, x, "parametrization(module.%s)." % tensor_name)
            if hasattr(parametrization, "right_inverse"):
                try:
                    z = parametrization.right_inverse(x)
                except NotImplementedError:
                    z = y
                if not _is_tensor(z):
                    raise ValueError("parametrization.right_inverse must return a tensor. Got: %s" % type(z).__name__)
                for kind in ("dtype", "shape"):
                    if getattr(z, kind) != getattr(y, kind):
                        raise ValueError("The tensor returned by parametrization.right_inverse must have the same %s as module.%s, unless the `unsafe` flag is enabled.\n"
                                         "module.%s.%s: %s\nreturned %s: %s" % (kind, tensor_name, tensor_name, kind, getattr(y, kind), kind, getattr(z, kind)))
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        held = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _compute_when_read(module, tensor_name)
        module.parametrizations[tensor_name] = held
    else:
        raise ValueError("Module '%s' does not have a parameter, a buffer, or a parametrized element with name '%s'" % (module, tensor_name))
    return module


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError("Module %s does not have a parametrization on %s" % (module, tensor_name))
    held = module.parametrizations[tensor_name]
    if held.is_tensor:
        original = held.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name))
    elif leave_parametrized:
        t = getattr(module, tensor_name)
        original = Parameter(t) if t.requires_grad else t
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _keep(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


__getattr__ = attribute("torch.nn.utils.parametrize")
