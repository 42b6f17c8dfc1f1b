"""Operators and kernels of a program's own."""
import sys

from . import _C
from ._missing import attribute, missing
from ._ops import ops


class _Fallthrough:
    def __call__(self, *args, **kwargs):
        raise RuntimeError("fallthrough_kernel() should never be called.")


fallthrough_kernel = _Fallthrough()


def _function(fn):
    return None if fn is fallthrough_kernel else fn


class Library:
    """Registers in one namespace: `DEF` and `FRAGMENT` define operators, `IMPL` gives kernels."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        if ns in ("prim",) and kind != "IMPL":
            raise ValueError(ns, " is a reserved namespace. Please try creating a library with another name.")
        frame = sys._getframe(1)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self.m = _C._Library(kind, ns, dispatch_key, frame.f_code.co_filename, frame.f_lineno)

    def define(self, schema, alias_analysis="", *, tags=()):
        self.m.define(schema)
        return schema.split("(")[0]

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        key = dispatch_key or self.dispatch_key
        if not callable(fn):
            raise TypeError("Input function is required to be a callable but found type %s" % type(fn))
        if isinstance(op_name, str):
            name = op_name
        else:
            name = op_name._name
        name = name.split("::")[-1]
        if name.endswith(".default"):
            name = name[:-len(".default")]
        self.m.impl(self.ns + "::" + name, key or "CompositeImplicitAutograd", _function(fn), with_keyset)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        if self.ns != "_":
            raise RuntimeError("We can only register global fallback kernels by using `Library('_', 'IMPL', key)`")
        if dispatch_key and dispatch_key != self.dispatch_key:
            missing("Library.fallback at another key than the library's")
        self.m.fallback(_function(fn), with_keyset)

    def _destroy(self):
        if self.m is not None:
            self.m.reset()
        self.m = None


__getattr__ = attribute("torch.library")
__all__ = ["Library", "fallthrough_kernel", "ops"]
