"""Python code of a graph."""
import enum
import re
import types
import typing
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch.utils import _pytree as pytree

from . import _names
from ._names import type_text

# Functions of the module `operator`, as the code has them.
reflectable_magic_methods = {"add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}",
                             "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}"}
magic_methods = {"eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}",
                 **reflectable_magic_methods}
inplace_methods = {**{"i" + name: "{} %s= {}" % sign for name, sign in (("add", "+"), ("and", "&"), ("floordiv", "//"), ("lshift", "<<"), ("mod", "%"), ("mul", "*"), ("matmul", "@"), ("or", "|"),
                                                                          ("pow", "**"), ("rshift", ">>"), ("sub", "-"), ("truediv", "/"), ("xor", "^"))}, "setitem": "{}[{}] = {}"}
_TYPING = {list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet, tuple: typing.Tuple}
_SHORT = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "complex32": "c32", "complex64": "c64", "complex128": "c128", "int8": "i8", "int16": "i16", "int32": "i32",
          "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "b8"}


@dataclass
class PythonCode:
    src: str
    globals: dict
    _lineno_map: dict


class _PyTreeInfo(NamedTuple):
    """How nested arguments and results go to leaves: the arguments' names, and the shapes of both."""
    orig_args: list
    in_spec: object
    out_spec: object


def _path(base, target):
    for part in target.split("."):
        base = "%s.%s" % (base, part) if part.isidentifier() else 'getattr(%s, "%s")' % (base, part)
    return base


def last_uses(nodes):
    """{node: the nodes whose values nobody uses after it}"""
    seen, by_user = set(), {}
    for node in reversed(nodes):
        for used in node._input_nodes:
            if used not in seen:
                seen.add(used)
                by_user.setdefault(node, []).append(used)
    return by_user


class _Globals:
    """What the code refers to beside its own values."""

    def __init__(self, namespace):
        self.held, self._namespace = {}, namespace
        for name, (_, obj) in _names.AMBIENT.items():
            self.add(name, obj)

    def add(self, hint, obj):
        """By which name the code reaches it."""
        if _names.is_from_torch(obj) and obj is not torch.device:
            return _names.qualified_name(obj)
        name = self._namespace.create_name(hint, obj)
        self.held.setdefault(name, obj)
        return name

    def type(self, kind):
        if kind == ():
            return "()"
        text = type_text(kind)
        if isinstance(kind, types.UnionType) and "|" in text:
            return "|".join(map(self.type, typing.get_args(kind)))
        origin = getattr(kind, "__origin__", None)
        if not origin:
            return self.add(text, kind)
        if isinstance(kind, typing._GenericAlias):
            origin = _TYPING.get(origin, origin)
        name, inner = self.add(type_text(origin), origin), typing.get_args(kind)
        return "%s[%s]" % (name, ",".join(map(self.type, inner))) if inner else name

    def value(self, a):
        from .node import Node
        if isinstance(a, Node):
            return repr(a)
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.add(_names.qualified_name(type(a)), type(a)) + repr(tuple(a))
        if isinstance(a, torch._ops.OpOverload):
            return self.add(_names.qualified_name(a), a)
        if isinstance(a, enum.Enum):
            return "%s.%s" % (self.add(type(a).__name__, type(a)), a.name)
        if isinstance(a, torch.Tensor):
            return "torch.Tensor(size=%s, dtype=%s)" % (list(a.size()), str(a.dtype).split(".")[-1])
        if isinstance(a, tuple):
            return "(%s%s)" % (", ".join(map(self.value, a)), "," if len(a) == 1 else "")
        if isinstance(a, list):
            return "[%s]" % ", ".join(map(self.value, a))
        if isinstance(a, slice):
            return "slice(%s, %s, %s)" % tuple(map(self.value, (a.start, a.stop, a.step)))
        return repr(a)

    def call(self, args, kwargs):
        return "(%s)" % ", ".join([*map(self.value, args), *("%s = %s" % (k, self.value(v)) for k, v in kwargs.items())])


def _shape(sizes):
    return "[%s]" % ", ".join(map(str, sizes))


def _measured(node, with_stride, with_device):
    """What a pass has found out about the node's value."""
    found = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
    if isinstance(found, torch.Tensor):
        return ': "%s%s%s%s"' % (_SHORT[str(found.dtype)[6:]], _shape(found.shape), _shape(found.stride()) if with_stride else "", found.device if with_device else "")
    from .passes.shape_prop import TensorMetadata
    return ': "%s%s"' % (_SHORT[str(found.dtype)[6:]], _shape(found.shape)) if isinstance(found, TensorMetadata) else None


class CodeGen:
    def __init__(self):
        self._body_transformer = None

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        if free_vars[:1] != ["self"]:
            free_vars.insert(0, "self")
        return "def forward(%s)%s:" % (", ".join(free_vars), maybe_return_annotation)

    def generate_output(self, output_args, repr_fn=repr):
        return "return %s" % repr_fn(output_args)

    def process_inputs(self, *args):
        return args

    def process_outputs(self, outputs):
        return outputs

    def additional_globals(self):
        return []

    def _statement(self, node, kind, refer, root_module):
        """The node's line, but for a placeholder's and the output's."""
        left = repr(node) + kind
        if node.op == "get_attr":
            return "%s = %s" % (left, _path(root_module, node.target))
        if node.op == "call_module":
            return "%s = %s%s" % (left, _path(root_module, node.target), refer.call(node.args, node.kwargs))
        if node.op == "call_method":
            return "%s = %s%s" % (left, _path(refer.value(node.args[0]), node.target), refer.call(node.args[1:], node.kwargs))
        if getattr(node.target, "__module__", "") == "_operator":
            values = [refer.value(a) for a in node.args]
            if node.target.__name__ in magic_methods:
                return "%s = %s" % (left, magic_methods[node.target.__name__].format(*values))
            if node.target.__name__ in inplace_methods:
                return "%s;  %s = %s" % (inplace_methods[node.target.__name__].format(*values), left, values[0])
        name = refer.add(_names.qualified_name(node.target), node.target)
        if name == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
            return "%s = %s" % (left, _path(refer.value(node.args[0]), node.args[1]))
        return "%s = %s%s" % (left, name, refer.call(node.args, node.kwargs))

    def _gen_python_code(self, nodes, root_module, namespace, *, verbose=False, include_stride=False, include_device=False):
        refer = _Globals(namespace)
        free_vars, body, wrapped, returns, told = [], [], {}, "", None
        gone = last_uses(nodes)
        for i, node in enumerate(nodes):
            if verbose and node.op not in ("placeholder", "output"):
                line = "\n# %s\n" % _where(node)
                if line != told:
                    body.append(line)
                    told = line
            body.append("# COUNTER: %d\n" % i)
            kind = "" if node.type is None else " : " + refer.type(node.type)
            if verbose:
                kind = _measured(node, include_stride, include_device) or kind
            if node.op == "placeholder":
                free_vars.append(node.target + kind + (" = " + refer.value(node.args[0]) if node.args else ""))
                plain = node.target.replace("*", "")
                if plain != repr(node):
                    body.append("%s = %s\n" % (node, plain))
                continue
            if node.op == "output":
                if node.type is not None:
                    returns = " -> " + refer.type(node.type)
                body.append(self.generate_output(node.args[0], repr_fn=refer.value) + "\n")
                continue
            line = self._statement(node, kind, refer, root_module)
            if node.op == "call_function" and node.meta.get("is_wrapped"):
                wrapped[refer.add(_names.qualified_name(node.target), node.target)] = None
            last = gone.get(node, []) + ([] if node.users else [node])
            body.append(line + (";  %s = None\n" % " = ".join(map(repr, last)) if last else "\n"))
        if wrapped:
            wrap = refer.add("wrap", torch.fx.wrap)
            calls = "\n".join('%s("%s")' % (wrap, name) for name in wrapped)
        else:
            calls = ""
        body = body or ["pass\n"]
        if self._body_transformer:
            body = self._body_transformer(body)
        for name, value in self.additional_globals():
            refer.add(name, value)
        head = self.gen_fn_def(free_vars, returns)
        lines, of_line, now, above = [], {}, None, head.count("\n") + 1
        for line in "".join(body).split("\n"):
            count = re.match(r"# COUNTER: (\d+)", line)
            if count:
                now = int(count[1])
            else:
                of_line[len(lines) + above] = now
                lines.append(line)
        code = "\n".join("    " + line for line in "\n".join(lines).lstrip("\n").split("\n"))
        return PythonCode("\n%s\n\n%s\n%s" % (calls, head, code), refer.held, of_line)


def _where(node):
    """Of the node's stack trace the innermost place."""
    found = re.findall(r'^\s*File "(.+)", line (\d+), in (.+)\n\s*(.*)', node.stack_trace or "", re.M)
    return "File: %s:%s in %s, code: %s" % found[-1] if found else "No stacktrace found for following nodes"


class _PyTreeCodeGen(CodeGen):
    """Of functions that were traced with nested arguments."""

    def __init__(self, pytree_info):
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out):
        if self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        names = self.pytree_info.orig_args
        text = super().gen_fn_def(names[:], maybe_return_annotation)
        if names[:1] == ["self"]:
            free_vars.insert(0, "self")
        if free_vars:
            annotated = [v for v in free_vars if ":" in v]
            if annotated:
                text += "\n    " + "".join(v + "; " for v in annotated) + "\n"
            text += "\n    %s, = fx_pytree.tree_flatten_spec([%s], self._in_spec)" % (", ".join(v.split(":")[0] for v in free_vars), ", ".join(names))
        return text

    def generate_output(self, output_args, repr_fn=repr):
        if not self.pytree_info.out_spec:
            return super().generate_output(output_args, repr_fn)
        return "return pytree.tree_unflatten(%s, self._out_spec)" % repr_fn(output_args)
