"""Names of a graph's values and of what its code refers to."""
import builtins
import keyword
import math
import re
import types

import torch
from torch.utils import _pytree as pytree

from . import _pytree as fx_pytree

# What the generated code may mention without an import: {name: (how it is imported, the object)}.
AMBIENT = {
    "inf": ("from math import inf", math.inf),
    "nan": ("from math import nan", math.nan),
    "NoneType": ("NoneType = type(None)", type(None)),
    "torch": ("import torch", torch),
    "device": ("from torch import device", torch.device),
    "fx_pytree": ("import torch.fx._pytree as fx_pytree", fx_pytree),
    "pytree": ("import torch.utils._pytree as pytree", pytree),
}
_KEYWORD = object()
_taken = {**{word: _KEYWORD for word in keyword.kwlist}, **vars(builtins), **{name: held for name, (_, held) in AMBIENT.items()}}
_IDENTIFIER = re.compile(r"([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?")


def snake_case(text):
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", text).lower()


class Namespace:
    """Gives each object one name, and each name once; names of Python's own are only given to those."""

    def __init__(self):
        self._of = {}
        self._used = set()
        self._last = {}

    def create_name(self, candidate, obj):
        if obj is not None and obj in self._of:
            return self._of[obj]
        if not _IDENTIFIER.fullmatch(candidate):
            candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
            if candidate[0].isdigit():
                candidate = "_" + candidate
        base, number = _IDENTIFIER.fullmatch(candidate).groups()
        if number is not None and candidate not in self._used:
            number = int(number)
        else:
            number = self._last.get(base, 0)
            if candidate in _taken and _taken[candidate] is not obj:
                number += 1
                candidate = "%s_%d" % (base, number)
        while candidate in self._used:
            number += 1
            candidate = "%s_%d" % (base, number)
        self._used.add(candidate)
        self._last[base] = number
        if obj is not None:
            self._of[obj] = candidate
        return candidate

    def rename(self, obj, name):
        self._of[obj] = name
        self._used.add(name)


def type_text(kind):
    if isinstance(kind, type) and not isinstance(kind, types.GenericAlias):
        return kind.__qualname__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__, kind.__qualname__)
    if kind is ...:
        return "..."
    return kind.__name__ if isinstance(kind, types.FunctionType) else repr(kind)


def is_from_torch(obj):
    """Whether the generated code reaches it through `torch`."""
    place = getattr(obj, "__module__", None)
    if place is not None:
        return place.split(".")[0] == "torch" and not place.startswith(("torch._dynamo.", "torch._inductor."))
    name = getattr(obj, "__name__", None)
    return name not in (None, "torch") and any(getattr(guess, name, None) is obj for guess in (torch, torch.nn.functional))


def qualified_name(function):
    """A function as the generated code calls it."""
    name = function.__name__
    if getattr(builtins, name, None) is function:
        return name
    if getattr(torch.Tensor, name, None) is function:
        return "torch.Tensor." + name
    if name == "<lambda>":
        import inspect
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except Exception as e:
            raise RuntimeError("Unable to represent lambda") from e
    place = function.__module__
    if place is None:
        place = next((guess.__name__ for guess in (torch, torch.nn.functional) if getattr(guess, name, None) is function), None)
        if place is None:
            raise RuntimeError("cannot find module for %s" % function)
    if place == "torch._C._VariableFunctions":
        place = "torch"
    return place.replace("torch._ops", "torch.ops") + "." + name
