"""Modules that hold modules, or parameters."""
import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import chain

from .. import _C
from .module import Module
from .parameter import Parameter


class _Numbered(Module):
    """Its modules are numbered from 0."""

    def _key(self, i):
        i = operator.index(i)
        if not -len(self) <= i < len(self):
            raise IndexError("index %d is out of range" % i)
        return list(self._modules)[i]

    def __setitem__(self, i, module):
        setattr(self, self._key(i), module)

    def __delitem__(self, i):
        for key in list(self._modules)[i] if isinstance(i, slice) else [self._key(i)]:
            delattr(self, key)
        self._modules = {str(n): module for n, module in enumerate(self._modules.values())}

    def __iter__(self):
        return iter(self._modules.values())

    def __len__(self):
        return len(self._modules)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def _insert(self, index, module):
        for i in range(len(self._modules), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module


class Sequential(_Numbered):
    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else ((str(i), m) for i, m in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(OrderedDict(list(self._modules.items())[i]))
        return self._modules[self._key(i)]

    def _check_other(self, other):
        if not isinstance(other, Sequential):
            raise ValueError("add operator supports only objects of Sequential class, but %s is given." % type(other))

    def __add__(self, other):
        self._check_other(other)
        return Sequential(*self, *other)

    def __iadd__(self, other):
        self._check_other(other)
        return self.extend(list(other))

    def __mul__(self, times):
        if not isinstance(times, int):
            raise TypeError("unsupported operand type(s) for *: %s and %s" % (type(self), type(times)))
        if times <= 0:
            raise ValueError("Non-positive multiplication factor %d for %s" % (times, type(self)))
        return Sequential(*(list(self) * times))

    __rmul__ = __mul__

    def insert(self, index, module):
        if not isinstance(module, Module):
            raise AssertionError("module should be of type: %s" % Module)
        n = len(self._modules)
        if not -n <= index <= n:
            raise IndexError("Index out of range: %d" % index)
        self._insert(index + n if index < 0 else index, module)
        return self

    def extend(self, sequential):
        for module in sequential:
            self.append(module)
        return self


class ModuleList(_Numbered):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(list(self._modules.values())[i])
        return self._modules[self._key(i)]

    def extend(self, modules):
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        for module in list(modules):
            self.append(module)
        return self

    __iadd__ = extend

    def __add__(self, other):
        return ModuleList(list(chain(self, other)))

    def insert(self, index, module):
        self._insert(index, module)

    def __repr__(self):
        """Neighbours that look alike are told once."""
        lines, start = [], 0
        texts = [repr(m) for m in self]
        for i, text in enumerate(texts):
            if i + 1 < len(texts) and texts[i + 1] == text:
                continue
            body = text.replace("\n", "\n  ")
            lines.append("(%d): %s" % (i, body) if start == i else "(%d-%d): %d x %s" % (start, i, i - start + 1, body))
            start = i + 1
        return "%s(\n  %s\n)" % (self._get_name(), "\n  ".join(lines)) if lines else self._get_name() + "()"


def _pairs(what, given):
    """The keys and values of a dictionary or of a list of pairs."""
    if not isinstance(given, Iterable):
        raise TypeError("%s.update should be called with an iterable of key/value pairs, but got %s" % (what, type(given).__name__))
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        return list(given.items())
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError("%s update sequence element #%d should be Iterable; is%s" % (what, i, type(pair).__name__))
        if len(pair) != 2:
            raise ValueError("%s update sequence element #%d has length %d; 2 is required" % (what, i, len(pair)))
    return list(given)


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __contains__(self, key):
        return key in self._modules

    def __iter__(self):
        return iter(self._modules)

    def __len__(self):
        return len(self._modules)

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        return self._modules.pop(key)

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()

    def update(self, modules):
        for key, module in _pairs("ModuleDict", modules):
            self[key] = module


def _line(key, value, kind_of):
    if not isinstance(value, _C.TensorBase):
        return "  (%s): Object of type: %s" % (key, type(value).__name__)
    return "  (%s): %s containing: [%s of size %s]" % (key, "Parameter" if isinstance(value, Parameter) else "Tensor", kind_of(value), "x".join(str(n) for n in value.size()))


def _as_parameter(value):
    return Parameter(value) if isinstance(value, _C.TensorBase) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, i):
        i = operator.index(i)
        if not -len(self) <= i < len(self):
            raise IndexError("index %d is out of range" % i)
        return str(i + len(self) if i < 0 else i)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)([self[k] for k in range(*i.indices(len(self)))])
        return getattr(self, self._key(i))

    def __setitem__(self, i, value):
        setattr(self, self._key(i), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def append(self, value):
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        if not isinstance(values, Iterable) or isinstance(values, _C.TensorBase):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in list(values):
            self.append(value)
        return self

    __iadd__ = extend

    def extra_repr(self):
        return "\n".join(_line(i, p, lambda t: t.dtype) for i, p in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key):
        if not isinstance(key, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is '%s'). Open an issue on github if you need non-string keys."
                            % type(key).__name__)
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._attribute(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key, default=None):
        if key not in self._keys:
            self[key] = default
        return self[key]

    def get(self, key, default=None):
        return self[key] if key in self else default

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key, _ = self._keys.popitem()
        value = self[key]
        delattr(self, key)
        return key, value

    def keys(self):
        return self._keys.keys()

    def values(self):
        return (self[k] for k in self._keys)

    def items(self):
        return ((k, self[k]) for k in self._keys)

    def update(self, parameters):
        for key, value in _pairs("ParameterDict", parameters):
            self[key] = value

    def extra_repr(self):
        return "\n".join(_line(k, p, lambda t: t.type()) for k, p in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")
