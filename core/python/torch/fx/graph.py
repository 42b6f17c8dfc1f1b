"""A graph of nodes: what a traced function does, in order."""
import copy
import inspect
import warnings

import torch

from .._missing import attribute
from ._codegen import CodeGen, PythonCode, _PyTreeCodeGen, _PyTreeInfo, inplace_methods, magic_methods, reflectable_magic_methods  # noqa: F401
from ._names import Namespace, snake_case
from .immutable_collections import immutable_dict
from .node import OPS, Node, map_arg


class _InsertPoint:
    """Where nodes are put from now on, until the block that it may be used in ends."""

    def __init__(self, graph, insert):
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self):
        pass

    def __exit__(self, *error):
        self.graph._insert = self.before


class _Nodes:
    """The nodes in order, while they may be changed."""

    def __init__(self, graph):
        self.graph = graph

    def __len__(self):
        return self.graph._len

    def _along(self, step):
        node = self.graph._root
        while True:
            node = getattr(node, step)
            while node._erased:
                node = getattr(node, step)
            if node is self.graph._root:
                return
            yield node

    def __iter__(self):
        return self._along("_next")

    def __reversed__(self):
        return self._along("_prev")


class Graph:
    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self._len = 0
        self._graph_namespace = Namespace()
        self.owning_module, self._tracer_cls, self._tracer_extras = owning_module, tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._co_fields = {}

    @property
    def nodes(self):
        return _Nodes(self)

    def output_node(self):
        last = self._root._prev
        if last.op != "output":
            raise AssertionError("Expected output node, got op=%s" % last.op)
        return last

    def find_nodes(self, *, op, target=None, sort=True):
        if op == "call_function" and target is None:
            raise AssertionError("target must not be None for call_function op")
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # ---- its nodes made, copied and taken out

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        if args and not isinstance(args, tuple):
            raise AssertionError("args must be a tuple, got %s" % type(args))
        if kwargs and not isinstance(kwargs, dict):
            raise AssertionError("kwargs must be a dict, got %s" % type(kwargs))
        name = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, name, op, target, args or (), kwargs or immutable_dict(), type_expr)
        self._graph_namespace.rename(node, name)
        self._insert(node)
        self._len += 1
        return node

    def placeholder(self, name, type_expr=None, default_value=inspect.Signature.empty):
        return self.create_node("placeholder", name, () if default_value is inspect.Signature.empty else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        if self.owning_module is not None and not self._refers(qualified_name):
            warnings.warn("Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                          "GraphModule.add_parameter to add the necessary Parameter, or nn.Module.register_buffer to add the necessary buffer", stacklevel=2)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def _refers(self, path):
        place, _, name = path.rpartition(".")
        try:
            module = self.owning_module.get_submodule(place)
        except AttributeError:
            warnings.warn("Failed to fetch module %s!" % place)
            return False
        return isinstance(getattr(module, name, None), (torch.nn.Module, torch.nn.Parameter)) or name in module._buffers

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        if self.owning_module is not None:
            self.owning_module.get_submodule(module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result, type_expr=None):
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform), node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        memo = memo if memo else {}
        made = Graph(tracer_cls=self._tracer_cls)
        copied = made.graph_copy(self, val_map=memo, return_output_node=True)
        made._codegen = copy.deepcopy(self._codegen)
        if copied is not None:
            result, old = copied
            made.output(result, type_expr=old.type).meta = copy.copy(old.meta)
        return made

    def erase_node(self, to_erase):
        if to_erase.users:
            raise RuntimeError("Tried to erase Node %s but it still had %d users in the graph: %s!" % (to_erase, len(to_erase.users), to_erase.users))
        if to_erase.graph is not self:
            raise RuntimeError("Attempting to remove %s from wrong graph!" % to_erase)
        if to_erase._erased:
            warnings.warn("erase_node(%s) on an already erased node" % to_erase)
            return
        to_erase._leave()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments(map_arg(to_erase._args, lambda n: None), map_arg(to_erase._kwargs, lambda n: None))

    def inserting_before(self, n=None):
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def _target_to_str(self, target):
        name = target.__name__ if callable(target) else target
        if not callable(target) and name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return snake_case(name)

    # ---- passes of its own

    def lint(self):
        """Whether the nodes come in order and what they refer to is there."""
        names, seen = set(), set()
        for node in self.nodes:
            if node.op not in OPS:
                raise RuntimeError("Node %s had unknown opcode %s!" % (node, node.op))
            if node.graph is not self:
                raise RuntimeError("Node '%s' does not belong to this Graph!" % node)
            for used in node._input_nodes:
                if used.graph is not self:
                    raise RuntimeError("Argument '%s' of Node '%s' does not belong to this Graph, but was used as an argument! If you are copying nodes from another graph, make sure to use "
                                       "``arg_transform`` on node_copy() to remap values\n%s" % (used, node, self))
                if used not in seen:
                    raise RuntimeError("Argument '%s' of Node '%s' was used before it has been defined! Please check that Nodes in the graph are topologically ordered\n%s" % (used, node, self))
            seen.add(node)
            if node.name in names:
                raise RuntimeError("Node redefined name %s!" % node.name)
            names.add(node.name)
        for node in self.nodes if self.owning_module else ():
            if node.op in ("get_attr", "call_module"):
                self._check_target(node)

    def _check_target(self, node):
        held, parts = self.owning_module, node.target.split(".")
        for i, part in enumerate(parts):
            held = getattr(held, part, None)
            path = ".".join(parts[:i])
            if held is None:
                raise RuntimeError("Node %s target %s references nonexistent attribute %s of %s" % (node, node.target, part, path))
            if node.op == "call_module" and not isinstance(held, torch.nn.Module):
                raise RuntimeError("Node %s target %s %s of %s does not reference an nn.Module" % (node, node.target, part, path))

    def eliminate_dead_code(self, is_impure_node=None):
        self.lint()
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not (is_impure_node(node) if is_impure_node is not None else node.is_impure()):
                self.erase_node(node)
                changed = True
        held = {node.target for node in self.find_nodes(op="get_attr")}
        for name, child in self.owning_module.named_children() if self.owning_module is not None else ():
            if name in held and hasattr(child, "graph"):
                changed |= child.graph.eliminate_dead_code()
                child.recompile()
        return changed

    # ---- code and text

    def process_inputs(self, *args):
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen):
        self._codegen = codegen

    def python_code(self, root_module, *, verbose=False, include_stride=False, include_device=False):
        namespace, before = Namespace(), {}
        for node in self.nodes:
            before[node] = node._repr_fn
            node._repr_fn = lambda n: namespace.create_name(n.name, n)
        try:
            return self._codegen._gen_python_code(self.nodes, root_module, namespace, verbose=verbose, include_stride=include_stride, include_device=include_device)
        finally:
            for node, how in before.items():
                node._repr_fn = how

    def __str__(self):
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])

    def print_tabular(self):
        try:
            from tabulate import tabulate
        except ImportError:
            print("`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip install tabulate` to install the library.")
            raise
        print(tabulate([[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes], headers=["opcode", "name", "target", "args", "kwargs"]))


__getattr__ = attribute("torch.fx.graph")
