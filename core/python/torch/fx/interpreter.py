"""Runs a graph node by node."""
import inspect

import torch

from .._missing import attribute
from ._codegen import last_uses
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import map_aggregate, map_arg
from .proxy import Proxy


class Interpreter:
    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = graph if graph is not None else module.graph
        self.env = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        if garbage_collect_values:
            self.user_to_last_uses = last_uses(self.graph.nodes)

    def run(self, *args, initial_env=None, enable_io_processing=True):
        self.env = initial_env if initial_env is not None else {}
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as e:
                if self.extra_traceback:
                    self._say_where(e, node)
                    if isinstance(e, KeyError):
                        raise RuntimeError(*e.args) from e
                raise
            if self.garbage_collect_values:
                for gone in self.user_to_last_uses.get(node, []):
                    del self.env[gone]
            if node.op == "output":
                return self.graph.process_outputs(self.env[node]) if enable_io_processing else self.env[node]

    def _say_where(self, error, node):
        text = "While executing %s" % node.format_node()
        text = "%s\n\n%s" % (error.args[0], text) if error.args else text
        text += "\nOriginal traceback:\n%s\nUse tlparse to see full graph. (https://github.com/pytorch/tlparse?tab=readme-ov-file#tlparse-parse-structured-pt2-logs)" % node.stack_trace
        error.args = (text,) + error.args[1:]

    def boxed_run(self, args_list):
        placeholders = self.graph.find_nodes(op="placeholder")
        if len(args_list) != len(placeholders):
            raise RuntimeError("Interpreter.boxed_run expected %d arguments for placeholders but received %d (%s)"
                               % (len(placeholders), len(args_list), "extra arguments" if len(args_list) > len(placeholders) else "missing arguments"))
        env = dict(zip(placeholders, args_list))
        args_list.clear()
        return self.run(initial_env=env)

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # ---- what each kind of node does

    def placeholder(self, target, args, kwargs):
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as e:
            if args:
                return args[0]
            raise RuntimeError("Expected positional argument for parameter %s, but one was not passed in!" % target) from e

    def get_attr(self, target, args, kwargs):
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        return args[0]

    # ---- values by their nodes

    def fetch_attr(self, target):
        held, parts = self.module, target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(held, part):
                raise RuntimeError("Node referenced nonexistent target %s" % ".".join(parts[:i + 1]))
            held = getattr(held, part)
        return held

    def fetch_args_kwargs_from_env(self, n):
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        def value(node):
            if node not in self.env:
                raise RuntimeError("Node %s referenced nonexistent value %s! Run Graph.lint() to diagnose such issues" % (n, node))
            return self.env[node]
        return map_arg(args, value)


class _TransformerTracer(Tracer):
    def __init__(self, graph, root):
        super().__init__()
        self.graph, self.root, self.tensor_attrs = graph, root, {}

    def is_leaf_module(self, m, module_qualified_name):
        return True


class Transformer(Interpreter):
    """An interpreter whose values are those of a new graph."""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph, module)

    def placeholder(self, target, args, kwargs):
        return Proxy(self.new_graph.placeholder(target, default_value=args[0] if args else inspect.Signature.empty), self.tracer)

    def get_attr(self, target, args, kwargs):
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        torch.overrides.ask_in(torch.Tensor)
        result = super().run(enable_io_processing=False)
        if result is not None:
            made = self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
            made.meta.update(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph)


__getattr__ = attribute("torch.fx.interpreter")
