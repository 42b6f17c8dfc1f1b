"""A graph's nodes, and functions over the nodes in nested arguments."""
import operator

import torch

from .._missing import attribute
from ._names import qualified_name, type_text
from .immutable_collections import immutable_dict, immutable_list

base_types = (str, int, float, bool, complex, torch.dtype, torch.Tensor, torch.device, torch.memory_format, torch.layout, torch._ops.OpOverload)
OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")
_RANDOM = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "poisson", "bernoulli", "multinomial", "dropout", "native_dropout")
_side_effectful_functions = {torch._assert, operator.setitem}


def has_side_effect(fn):
    """Says of a function that its calls are not dead code."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a, fn):
    """`a` with fn of every value in its lists, tuples, dictionaries and slices."""
    if isinstance(a, tuple):
        mapped = [map_aggregate(x, fn) for x in a]
        return type(a)(*mapped) if hasattr(a, "_fields") else tuple(mapped)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict([(k, map_aggregate(v, fn)) for k, v in a.items()])
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a, fn):
    """`a` with fn of every node in it."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def _argument_text(a):
    if isinstance(a, list):
        return "[%s]" % ", ".join(map(_argument_text, a))
    if isinstance(a, tuple):
        return "(%s%s)" % (", ".join(map(_argument_text, a)), "," if len(a) == 1 else "")
    if isinstance(a, dict):
        return "{%s}" % ", ".join("%s: %s" % (k, _argument_text(v)) for k, v in a.items())
    return "%" + str(a) if isinstance(a, Node) else str(a)


class Node:
    """One value of a graph and how it comes about. The nodes of a graph are a ring; its root stands between the last and the first."""

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op == "call_function":
            if not callable(target):
                raise ValueError("Node [graph = %s, name = '%s'] target %s has type %s but a Callable is expected" % (graph, name, target, torch.typename(target)))
        else:
            if op not in OPS:
                raise AssertionError("op '%s' is not in _legal_ops" % op)
            if not isinstance(target, str):
                raise ValueError("Node [graph = %s, name = '%s'] target %s has type %s but a str is expected" % (graph, name, target, torch.typename(target)))
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self._prev = self._next = self
        self._erased = False
        self._repr_fn = None
        self._input_nodes, self.users, self.meta = {}, {}, {}
        self._set_arguments(args, kwargs)

    def _set_arguments(self, args, kwargs):
        for used in self._input_nodes:
            used.users.pop(self, None)
        self._input_nodes = {}

        def use(node):
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node
        self._args, self._kwargs = map_arg(args, use), map_arg(kwargs, use)

    @property
    def args(self):
        return self._args

    @args.setter
    def args(self, a):
        self._set_arguments(a, self._kwargs)

    @property
    def kwargs(self):
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k):
        self._set_arguments(self._args, k)

    @property
    def all_input_nodes(self):
        return list(self._input_nodes)

    @property
    def next(self):
        return self._next

    @property
    def prev(self):
        return self._prev

    def update_arg(self, idx, arg):
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        if not 0 <= idx <= len(self._args):
            raise AssertionError("insert_args index must be between 0 and len(self.args), got %s" % idx)
        self.args = self._args[:idx] + (arg,) + self._args[idx:]

    def update_kwarg(self, key, arg):
        self.kwargs = {**self._kwargs, key: arg}

    # ---- its place

    def _leave(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def prepend(self, x):
        """Puts x before this node."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._leave()
        x._prev, x._next = self._prev, self
        self._prev._next = self._prev = x

    def append(self, x):
        """Puts x after this node."""
        if x is not self._next:
            self._next.prepend(x)

    def __lt__(self, other):
        after = self._next
        while after.op != "root":
            if after is other:
                return True
            after = after._next
        return False

    def __gt__(self, other):
        return other < self

    def __le__(self, other):
        return self is other or self < other

    def __ge__(self, other):
        return self is other or other < self

    # ---- its uses

    def replace_input_with(self, old_input, new_input):
        def other(node):
            return new_input if node is old_input else node
        self._set_arguments(map_arg(self._args, other), map_arg(self._kwargs, other))

    def replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has .meta keys")
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def is_impure(self, impure_random=True):
        """Whether the node has to stay though nobody uses its value."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            if self.graph.owning_module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        if self.op != "call_function":
            return False
        of_operator = self.target.default if isinstance(self.target, torch._ops.OpOverloadPacket) and hasattr(self.target, "default") else self.target
        if isinstance(of_operator, torch._ops.OpOverload):
            return of_operator._schema.is_mutable or of_operator in _side_effectful_functions or (impure_random and of_operator._opname in _RANDOM)
        return self.target in _side_effectful_functions or any(self.target is getattr(torch, name, None) for name in _RANDOM)

    # ---- as text

    @property
    def stack_trace(self):
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def __repr__(self):
        return self._repr_fn(self) if self._repr_fn else self.name

    @staticmethod
    def _pretty_print_target(target):
        if isinstance(target, str):
            return target
        place = getattr(target, "__module__", None)
        if place in ("builtins", "_operator"):
            return "%s.%s" % ({"_operator": "operator"}.get(place, place), target.__name__)
        return qualified_name(target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *, include_tensor_metadata=False):
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = " -> " + type_text(self.type)
            return "return %s" % (self._args[0],)
        if self.op == "placeholder" and placeholder_names:
            placeholder_names.append(self.target)
            return None
        kind = type_text(self.type) + " " if (self.type if self.op == "placeholder" else self.type is not None) else ""
        text = "%%%s : %s[num_users=%d] = %s[target=%s]" % (self.name, kind, len(self.users), self.op, self._pretty_print_target(self.target))
        if self.op == "placeholder":
            return text + ("(default=%s)" % (self._args[0],) if self._args else "")
        if self.op == "get_attr":
            return text
        return text + "(args = %s, kwargs = %s)" % (_argument_text(self._args), _argument_text(self._kwargs))

    def _rename(self, candidate):
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace.rename(self, self.name)


_get_qualified_name = qualified_name
__getattr__ = attribute("torch.fx.node")
