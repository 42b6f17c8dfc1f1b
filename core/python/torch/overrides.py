"""Classes and modes with handlers of their own for torch's functions (`__torch_function__`).

Functions and methods that are operators ask for handlers themselves. What Python or the tensor's own class does (indices, `len`, attributes, functions of
several steps) gets a form that asks: in each class that derives from Tensor, when it is made; in Tensor when the first mode is entered; functions at once.
Of plain tensors only the class is looked at."""
import functools
import inspect

from . import _C
from ._missing import attribute
from ._tensor import Tensor

# Operators' signs come to operators or ask themselves, and in a derived class would be asked before the other operand is; the rest is Python's own.
_SIGNS = {"__%s%s__" % (side, name) for side in ("", "r", "i") for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")}
_LEFT = _SIGNS | {"__class__", "__init__", "__new__", "__torch_function__", "__init_subclass__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__hash__",
                  "__dict__", "__doc__", "__module__", "__weakref__", "__subclasshook__", "__dir__", "__sizeof__", "__slots__", "as_subclass", "_same_class", "_make_subclass",
                  "__iter__", "__neg__", "__abs__", "__pos__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__reduce__", "__getstate__", "__class_getitem__",
                  "__array_priority__", "_number"}
_asking = set()  # classes that have been given the forms that ask


def has_torch_function(relevant_args):
    return _C._overridden(tuple(relevant_args), None)


def has_torch_function_unary(arg):
    return _C._overridden((arg,), None)


def has_torch_function_variadic(*args):
    return _C._overridden(args, None)


def handle_torch_function(public_api, relevant_args, /, *args, **kwargs):
    return _C._call_overridden(public_api, args, kwargs)


def is_tensor_like(inp):
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    return getattr(func, "__name__", None) == "__get__" or type(func) is type(_C.TensorBase.add) or func in {v for v in (getattr(Tensor, n, None) for n in dir(Tensor)) if callable(v) and getattr(v, "__hash__", None)}


def resolve_name(f):
    if isinstance(f, str):
        return f
    owner = "torch.Tensor" if is_tensor_method_or_property(f) else getattr(f, "__module__", "torch")
    return "%s.%s" % (owner, getattr(f, "__name__", f))


def get_default_nowrap_functions():
    return {Tensor._base.__get__, Tensor.grad.__get__}


def asks(function, positional=None):
    """The function with a look for handlers before it. Handlers of a function that is Python in PyTorch too get its first arguments, so many, by position and
    every other one by its name, also where it is left at its default; those of an operator get what it was called with."""
    @functools.wraps(function)
    def public(*args, **kwargs):
        if _C._overridden(args, kwargs):
            if positional is not None:
                args, kwargs = _by_name(function, positional, args, kwargs)
            return _C._call_overridden(public, args, kwargs)
        return function(*args, **kwargs)
    return public


@functools.lru_cache(None)
def _signature(function):
    return inspect.signature(function)


def _by_name(function, positional, args, kwargs):
    bound = _signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    values, kinds = list(bound.arguments.items()), _signature(function).parameters
    first = [v for name, value in values[:positional] for v in (value if kinds[name].kind is inspect.Parameter.VAR_POSITIONAL else (value,))]
    return tuple(first), dict(values[positional:])


def wrap_torch_function(dispatcher):
    def wrap(function):
        @functools.wraps(function)
        def public(*args, **kwargs):
            relevant = tuple(dispatcher(*args, **kwargs))
            return _C._call_overridden(public, args, kwargs) if _C._overridden(relevant, None) else function(*args, **kwargs)
        return public
    return wrap


def _method(name, function):
    def public(*args, **kwargs):
        if _C._overridden(args, kwargs):
            return _C._call_overridden(function, args, kwargs)
        return function(*args, **kwargs)
    public.__name__ = name
    return public


def _attribute(descriptor):
    get, put = descriptor.__get__, getattr(descriptor, "__set__", None)

    def read(self):
        return _C._call_overridden(get, (self,), {}) if _C._overridden((self,), None) else get(self)

    def write(self, value):
        _C._call_overridden(put, (self, value), {}) if _C._overridden((self,), None) else put(self, value)
    return property(read, write if put is not None else None)


def ask_in(cls):
    """Puts the forms that ask into a class, where none of those that it derives from has them."""
    if cls in _asking or any(base in _asking for base in cls.__mro__):
        return
    _asking.add(cls)
    operators = _C._methods()
    for name in dir(Tensor):
        if name in _LEFT or getattr(Tensor, name, None) is operators.get(name, _LEFT) or (cls is not Tensor and inspect.getattr_static(cls, name, None) is not inspect.getattr_static(Tensor, name)):
            continue
        held = inspect.getattr_static(Tensor, name)
        if isinstance(held, (staticmethod, classmethod)):
            continue
        if callable(held):
            setattr(cls, name, _method(name, held))
        elif hasattr(type(held), "__get__") and hasattr(type(held), "__set__"):
            setattr(cls, name, _attribute(held))


class TorchFunctionMode:
    """Within it, every function of torch is handled by its `__torch_function__`."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        ask_in(Tensor)
        _C._push_function_mode(self)
        return self

    def __exit__(self, *error):
        _C._pop_function_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack():
    return _C._function_modes()


def _get_current_function_mode():
    found = _C._function_modes()
    return found[-1] if found else None


__getattr__ = attribute("torch.overrides")
