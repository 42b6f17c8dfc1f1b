"""Operators and kernels of a program's own."""
import functools
import re
import sys
from types import SimpleNamespace

from . import _C
from ._missing import attribute, missing
from ._library import autograd as _autograd
from ._library.custom_ops import OPDEFS, CustomOpDef, custom_op, device_key
from ._library.infer_schema import infer_schema
from ._ops import OpOverload, ops, overload


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

    def _register_fake(self, op_name, fn, _stacklevel=1, *, allow_override=True):
        """The kernel for tensors without data."""
        self.impl(op_name, fn, "Meta")

    def _destroy(self):
        if self.m is not None:
            self.m.reset()
        self.m = None


_kept = []  # libraries that nobody holds: their registrations stay
_NAMELESS = re.compile(r"\(.*\) -> .*")


def _library(space, lib):
    if lib is None:
        lib = Library(space, "FRAGMENT")
        _kept.append(lib)
    return lib


def _parts(qualname):
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError("Expected `qualname` to be of the form \"namespace::name\", but got %s. The qualname passed to the torch.library APIs must consist of a namespace and a "
                         "name, e.g. aten::sin" % qualname)
    return parts


def _definition(op, what):
    """(what custom_op made under this name, else None; the name)."""
    if not isinstance(op, (str, OpOverload, CustomOpDef)):
        raise ValueError("%s(%s): got unexpected type for op: %s" % (what, op, type(op)))
    name = op._name if isinstance(op, OpOverload) else op._qualname if isinstance(op, CustomOpDef) else op
    return OPDEFS.get(name), name


@functools.singledispatch
def define(qualname, schema, *, lib=None, tags=()):
    if not isinstance(qualname, str):
        raise ValueError("define(qualname, schema): expected qualname to be instance of str, got %s" % type(qualname))
    space, name = _parts(qualname)
    lib = _library(space, lib)
    if not _NAMELESS.fullmatch(schema):
        raise ValueError('define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got "%s"' % schema)
    lib.define(name + schema, tags=tags)


@define.register
def _(lib: Library, schema, alias_analysis=""):
    def wrap(f):
        lib.impl(lib.define(schema, alias_analysis), f)
        return f
    return wrap


@functools.singledispatch
def impl(qualname, types, func=None, *, lib=None):
    keys = {t if _C._is_dispatch_key(t) else "CompositeExplicitAutograd" if t == "default" else device_key(t) for t in ([types] if isinstance(types, str) else types)}

    def register(f):
        used = _library(_parts(qualname)[0], lib)
        for key in keys:
            used.impl(qualname, f, key)
    return register if func is None else register(func)


@impl.register
def _(lib: Library, name, dispatch_key=""):
    def wrap(f):
        lib.impl(name, f, dispatch_key)
        return f
    return wrap


def register_kernel(op, device_types, func=None, /, *, lib=None):
    made, name = _definition(op, "register_kernel")
    if made is not None:
        return made.register_kernel(device_types, func)
    return impl(name, "CompositeExplicitAutograd" if device_types is None else device_types, func, lib=lib)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    made, name = _definition(op, "register_fake")

    def register(f):
        if made is not None:
            return made.register_fake(f)
        space, op_name = _parts(name)
        _library(space, lib)._register_fake(op_name, f)
        return f
    return register if func is None else register(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    made, name = _definition(op, "register_autograd")
    if made is not None:
        made.register_autograd(backward, setup_context=setup_context)
        return
    space, op_name = _parts(name)
    called, _, which = op_name.partition(".")
    op = overload(space + "::" + called, which)
    if op._schema.is_mutable:
        raise RuntimeError("Cannot register autograd formula for non-functional operator %s with schema %s. Please create a functional operator and register an autograd formula "
                           "for that." % (op, op._schema))
    if any(a.kwarg_only and "Tensor" in a.type for a in op._schema.arguments):
        raise NotImplementedError("register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your tensors not kwarg-only. Got: %s" % op._schema)
    info = SimpleNamespace(_backward_fn=backward, _setup_context_fn=setup_context)
    _library(space, lib).impl(op_name, _autograd.make_autograd_impl(op, info), "Autograd", with_keyset=True)


__getattr__ = attribute("torch.library")
__all__ = ["Library", "custom_op", "define", "fallthrough_kernel", "impl", "infer_schema", "ops", "register_autograd", "register_fake", "register_kernel"]
