"""torch.ops: any operator by its name."""
import functools
import types

from . import _C


class AliasInfo:
    def __init__(self, is_write):
        self.is_write = is_write


def _type_text(text):
    """A type of the schema language as its object prints."""
    if text.endswith("?"):
        return "Optional[%s]" % _type_text(text[:-1])
    if text.endswith("]"):
        return "List[%s]" % _type_text(text[:text.rindex("[")])
    return {"SymInt": "int", "Scalar": "number", "ScalarType": "int", "Layout": "int", "MemoryFormat": "int"}.get(text, text)


class Argument:
    """An argument or a result of a schema."""

    def __init__(self, name, type, default, kwarg_only, shared, written):  # noqa: A002
        self.name, self.type, self.kwarg_only, self._default = name, _type_text(type), kwarg_only, default
        self.alias_info = AliasInfo(written) if shared else None

    @property
    def default_value(self):
        return self._default[0] if self._default else None

    def has_default_value(self):
        return self._default is not None


class Schema(str):
    def __new__(cls, op):
        made = super().__new__(cls, _C._schema(op._name_only, op._overload))
        made.name, made.overload_name = op._name_only, op._overload
        made.arguments, made.returns = ([Argument(*v) for v in values] for values in _C._schema_values(op._name_only, op._overload))
        made.is_mutable = any(a.alias_info is not None and a.alias_info.is_write for a in made.arguments)
        return made


class OpOverload:
    def __init__(self, name, overload):
        self._name_only, self._overload = name, overload
        self._name = name + ("." + overload if overload else "")
        self._overloadname = overload or "default"
        self._namespace, self._opname = name.split("::")
        self.__name__, self.__module__ = "%s.%s" % (self._opname, self._overloadname), "torch._ops." + self._namespace

    def redispatch(self, keys, /, *args, **kwargs):
        return _C._redispatch_operator(self._name_only, self._overload, keys, *args, **kwargs)

    def __call__(self, /, *args, **kwargs):
        if _C._overridden(args, kwargs):
            return _C._call_overridden(self, args, kwargs)
        return _C._call_operator(self._name_only, self._overload, False, *args, **kwargs)

    def __deepcopy__(self, memo):
        return self

    def name(self):
        return self._name

    @functools.cached_property
    def _schema(self):
        return Schema(self)

    @property
    def overloadpacket(self):
        space, name = self._name_only.split("::")
        return getattr(getattr(ops, space), name)

    @property
    def namespace(self):
        return self._name_only.split("::")[0]

    def __repr__(self):
        return "<OpOverload(op='%s', overload='%s')>" % (self._name_only.replace("::", "."), self._overloadname)

    def __str__(self):
        return self._name_only.replace("::", ".") + "." + self._overloadname


class OpOverloadPacket:
    def __init__(self, name):
        self._qualified_op_name = name
        space, self.__name__ = name.split("::")
        self.__module__ = "torch._ops." + space

    def __call__(self, /, *args, **kwargs):
        if _C._overridden(args, kwargs):
            return _C._call_overridden(self, args, kwargs)
        return _C._call_operator(self._qualified_op_name, "", True, *args, **kwargs)

    def overloads(self):
        return [o or "default" for o in _C._overloads(self._qualified_op_name)]

    def __getattr__(self, overload):
        if overload.startswith("__"):
            raise AttributeError(overload)
        wanted = "" if overload == "default" else overload
        if wanted not in _C._overloads(self._qualified_op_name):
            raise AttributeError("The underlying op of '%s' has no overload name '%s'" % (self._qualified_op_name.replace("::", "."), overload))
        made = OpOverload(self._qualified_op_name, wanted)
        setattr(self, overload, made)
        return made

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")


class _Space(types.ModuleType):
    def __init__(self, name):
        super().__init__("torch.ops." + name)
        self.name = name

    def __getattr__(self, op):
        if op.startswith("__"):
            raise AttributeError(op)
        full = self.name + "::" + op
        if not _C._overloads(full):
            if self.name == "aten":
                from ._missing import missing
                missing("aten::" + op)
            raise AttributeError("'_OpNamespace' '%s' object has no attribute '%s'" % (self.name, op))
        made = OpOverloadPacket(full)
        setattr(self, op, made)
        return made


class _Ops(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = _Space(name)
        setattr(self, name, made)
        return made


ops = _Ops("torch.ops")


def overload(name, which):
    """Of `aten::add` the overload `Tensor`."""
    space, op = name.split("::")
    return getattr(getattr(getattr(ops, space), op), which or "default")
