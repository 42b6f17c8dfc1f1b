"""The schema of a function, from its type hints."""
import collections.abc
import inspect
import types
import typing

import torch

from .._missing import attribute
from ..types import Number
from . import Tag


def _parameter_types():
    """{hint: type of the schema language}, in the order in which PyTorch lists what may be given."""
    found = {}
    for hint, name, lists, lists_of_optional, optional_lists in (
            (torch.Tensor, "Tensor", True, True, False), (int, "SymInt", True, False, True), (float, "float", True, False, True), (bool, "bool", True, False, True),
            (str, "str", False, False, False), (Number, "Scalar", True, False, False), (torch.dtype, "ScalarType", False, False, False),
            (torch.device, "Device", False, False, False)):
        def sequences(of):
            return typing.Sequence[of], typing.List[of], collections.abc.Sequence[of], list[of]
        found[hint], found[typing.Optional[hint]] = name, name + "?"
        if lists:
            found.update(dict.fromkeys(sequences(hint), name + "[]"))
        if lists_of_optional:
            found.update(dict.fromkeys(sequences(typing.Optional[hint]), name + "?[]"))
        if optional_lists:
            found.update((typing.Optional[s], name + "[]?") for s in sequences(hint))
    return found


SUPPORTED_PARAM_TYPES = _parameter_types()
SUPPORTED_RETURN_TYPES = {torch.Tensor: "Tensor", typing.List[torch.Tensor]: "Tensor[]", list[torch.Tensor]: "Tensor[]", int: "SymInt", float: "float", bool: "bool",
                          Number: "Scalar"}


class _Reader:
    def __init__(self, function):
        self.names, self.signature = function.__globals__, inspect.signature(function)

    def fail(self, what):
        raise ValueError("infer_schema(func): %s Got func with signature %s)" % (what, self.signature))

    def hint(self, written):
        """The type that a hint, or one inside of it, names as a string."""
        if isinstance(written, str):
            try:
                return eval(written, self.names)
            except NameError as e:
                self.fail("Unsupported type annotation %s. It is not a type. (%s). If you are using 'from __future__ import annotations', note that annotations are evaluated "
                          "lazily as strings; make sure all types referenced in annotations are importable at module scope, not only inside a local function." % (written, e))
            except Exception as e:
                self.fail("Unsupported type annotation %s. It is not a type. (%s: %s)" % (written, type(e).__name__, e))
        inner = typing.get_args(written)
        if any(isinstance(i, str) for i in inner):
            return types.GenericAlias(typing.get_origin(written), tuple(map(self.hint, inner)))
        return written

    def parameter_type(self, name, parameter):
        if parameter.kind not in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            self.fail("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.annotation is inspect.Parameter.empty:
            self.fail("Parameter %s must have a type annotation." % name)
        hint = self.hint(parameter.annotation)
        if hint in SUPPORTED_PARAM_TYPES:
            return SUPPORTED_PARAM_TYPES[hint]
        listed = "The valid types are: %s." % SUPPORTED_PARAM_TYPES.keys()
        if typing.get_origin(hint) is tuple:
            members = [m for m in typing.get_args(hint) if m is not Ellipsis]
            instead = list if not members else list[members[0]] if len(members) == 1 else list[typing.Union[tuple(members)]]
            example = "For example, %s.\n\n" % instead if instead in SUPPORTED_PARAM_TYPES else "\n\n"
            self.fail("Parameter %s has unsupported type %s. We do not support Tuple inputs in schema. As a workaround, please try to use List instead. %s%s"
                      % (name, parameter.annotation, example, listed))
        self.fail("Parameter %s has unsupported type %s. %s" % (name, parameter.annotation, listed))

    def default(self, name, value):
        if value is None or isinstance(value, (int, float)):
            return str(value)
        if isinstance(value, (str, torch.device)):
            return '"%s"' % value
        if isinstance(value, torch.dtype):
            return str(value).removeprefix("torch.")
        self.fail("Parameter %s has an unsupported default value type %s. Please file an issue on GitHub so we can prioritize this." % (name, type(value)))

    def returned(self):
        hint = self.hint(self.signature.return_annotation)
        if hint is None:
            return "()"
        if hint is inspect.Parameter.empty:
            self.fail("No return type annotation was provided. Please add one.")
        members = typing.get_args(hint) if typing.get_origin(hint) is tuple else (hint,)
        if any(m not in SUPPORTED_RETURN_TYPES for m in members):
            self.fail("Return has unsupported type %s. The valid types are: %s." % (hint, SUPPORTED_RETURN_TYPES))
        names = [SUPPORTED_RETURN_TYPES[m] for m in members]
        if members == (hint,):
            return names[0]
        return "((%s))" % names[0] if len(names) == 1 else "(%s)" % ", ".join(names)


def infer_schema(prototype_function, /, *, mutates_args, op_name=None, tags=()):
    reader = _Reader(prototype_function)
    tags = (tags,) if isinstance(tags, Tag) else tuple(tags or ())
    if isinstance(mutates_args, str):
        if mutates_args != "unknown":
            raise ValueError("mutates_args must either be a sequence of the names of the arguments that are mutated or the string 'unknown'. ")
    else:
        mutates_args = tuple(mutates_args)
    texts, written, keywords = [], [], False
    for at, (name, parameter) in enumerate(reader.signature.parameters.items()):
        kind = reader.parameter_type(name, parameter)
        if parameter.kind == inspect.Parameter.KEYWORD_ONLY and not keywords:
            texts.append("*")
            keywords = True
        tensors = kind.startswith("Tensor")
        if name in mutates_args and not isinstance(mutates_args, str) and not tensors:
            reader.fail("Parameter %s is in mutable_args but only Tensors or collections of Tensors can be mutated" % name)
        if tensors and (mutates_args == "unknown" or name in mutates_args):
            written.append((name, "Tensor(a%d!)" % at, kind, keywords))
            kind = "Tensor(a%d!)%s" % (at, kind[len("Tensor"):])
        usual = "" if parameter.default is inspect.Parameter.empty else "=" + reader.default(name, parameter.default)
        texts.append("%s %s%s" % (kind, name, usual))
    if not isinstance(mutates_args, str) and set(mutates_args) - set(reader.signature.parameters):
        reader.fail("%s in mutates_args were not found in the custom op's signature. mutates_args should contain the names of all args that the custom op mutates, "
                    "or just the string 'unknown' if you don't know." % (set(mutates_args) - set(reader.signature.parameters)))
    returned = reader.returned()
    if Tag.inplace in tags:
        first = next(iter(reader.signature.parameters), None)
        if [w[0] for w in written] != [first] or written[0][2] != "Tensor":
            reader.fail("torch.Tag.inplace requires mutates_args to contain exactly the first positional argument, got %s." % (mutates_args,))
        if returned != "Tensor":
            reader.fail("torch.Tag.inplace requires the return annotation to be torch.Tensor.")
        returned = written[0][1]
    elif Tag.out in tags:
        if not written:
            reader.fail("torch.Tag.out requires at least one mutable keyword-only Tensor argument.")
        if not all(w[3] for w in written):
            reader.fail("torch.Tag.out requires mutable arguments to be keyword-only.")
        if returned != ("Tensor" if len(written) == 1 else "(%s)" % ", ".join(["Tensor"] * len(written))):
            reader.fail("torch.Tag.out requires the return annotation to match the mutable keyword-only Tensor arguments %s." % (tuple(w[0] for w in written),))
        returned = written[0][1] if len(written) == 1 else "(%s)" % ", ".join(w[1] for w in written)
    return "%s(%s) -> %s" % (op_name or "", ", ".join(texts), returned)


__getattr__ = attribute("torch._library.infer_schema")
