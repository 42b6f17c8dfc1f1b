"""Modules whose forward is a graph's code."""
import copy
import itertools
import linecache
import sys
import traceback

import torch

from .._missing import attribute
from . import _names
from ._codegen import _PyTreeCodeGen
from .graph import Graph


class _Sources:
    """The generated code by the names that stand for its files, for tracebacks."""

    def __init__(self):
        self._texts, self._next = {}, 0

    def get_source(self, name):
        return self._texts.get(name)

    def run(self, text, names, fields):
        key = "<eval_with_key>.%d" % self._next
        self._next += 1
        if fields:
            key += " from %s:%s in %s" % (fields["co_filename"], fields["co_firstlineno"], fields["co_name"])
        self._texts[key] = text
        linecache.lazycache(key, {**names, "__file__": key, "__name__": key, "__loader__": self})
        exec(compile(text, key, "exec", dont_inherit=True), names)


_sources = _Sources()


def _forward(code, names, fields=None):
    names = dict(names)
    _sources.run(code, names, fields)
    return names["forward"]


def _imports(names):
    def line(name, obj):
        if name in _names.AMBIENT:
            return _names.AMBIENT[name][0]
        return "import torch" if _names.is_from_torch(name) else "from %s import %s as %s" % (obj.__module__, obj.__qualname__, name)
    return "\n".join(sorted({line(name, obj) for name, obj in names.items()}))


class _CodeOnlyModule(torch.nn.Module):
    """A GraphModule's state without its graph."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def reduce_graph_module(body, import_block):
    """A GraphModule of its state and its code, which is traced again."""
    from ._symbolic_trace import Tracer
    _CodeOnlyModule.forward = _forward(import_block + body["_code"], {})
    tracer = body.get("_tracer_cls") or Tracer

    class KeepModules(tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True
    state = _CodeOnlyModule(body)
    graph = KeepModules().trace(state, **body.get("_tracer_extras", {}))
    graph._tracer_cls = tracer
    made = GraphModule(state, graph, class_name=body.get("_graphmodule_cls_name", "GraphModule"))
    for name, value in body.items():
        if not hasattr(made, name):
            setattr(made, name, value)
    return made


def _put(value, module, path):
    """Holds a value at a path, with empty modules where there are none on the way."""
    *way, name = path.split(".")
    for item in way:
        if getattr(module, item, None) is None:
            setattr(module, item, torch.nn.Module())
        module = getattr(module, item)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _copy_attr(from_module, to_module, target):
    *way, name = target.split(".")
    source, held = from_module, to_module
    for item in way:
        source, held = getattr(source, item), getattr(held, item, None)
        if source is held:
            return  # there with what it holds
        if held is None:
            break
    _put(get_attr(from_module, target), to_module, target)


def get_attr(model, attr_name):
    for item in attr_name.split("."):
        model = getattr(model, item)
    return model


_get_attr = get_attr


class _WrappedCall:
    """Calls a GraphModule; an error in its code is shown with the line."""

    def __init__(self, cls, cls_call):
        self.cls, self.cls_call = cls, cls_call

    @staticmethod
    def _message(frame):
        lines = linecache.getlines(frame.filename)
        return "\n".join([traceback.format_exc(), "Call using an FX-traced Module, line %d of the traced Module's generated forward function:" % frame.lineno,
                          "".join(lines[frame.lineno - 2:frame.lineno]), "~" * len(frame.line) + "~~~ <--- HERE", "\n".join(lines[frame.lineno:frame.lineno + 2])])

    def __call__(self, obj, *args, **kwargs):
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)
        except Exception as e:
            top = traceback.StackSummary.extract(traceback.walk_tb(e.__traceback__))[-1]
            if "eval_with_key" in top.filename:
                print(self._message(top), file=sys.stderr)
                raise e.with_traceback(None)
            raise e


class GraphModule(torch.nn.Module):
    def __new__(cls, *args, **kwargs):
        # Each has a class of its own, as `forward` is the class's.
        base = next(c for c in cls.__mro__ if c.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(base):
            pass
        return super().__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        targets = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, torch.nn.Module):
            if hasattr(root, "training"):
                self.training = root.training
            if isinstance(root, _CodeOnlyModule):
                targets = [name for members in (root.named_children(), root.named_buffers(), root.named_parameters()) for name, _ in members] + targets
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError("Node " + str(node) + " referenced target " + node.target + " but that target was not provided in ``root``!")
            for target in sorted(targets, key=lambda t: t.count(".")):
                _put(root[target], self, target)
        else:
            raise RuntimeError("Unsupported type " + str(root) + " passed for root!")
        self.graph = graph
        self._tracer_cls = graph._tracer_cls if graph._tracer_cls and "<locals>" not in graph._tracer_cls.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta = {}

    @property
    def graph(self):
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError("Expected a Graph instance, but got %s" % type(g))
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self):
        """Makes forward anew of the graph; to be called when the graph was changed."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self._code, self._lineno_map = made.src, made._lineno_map
        cls = type(self)
        cls.forward = _forward(made.src, made.globals, self._graph._co_fields)
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, vars(cls).get("__call__"))
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()

        def call_wrapped(self, *args, **kwargs):
            return self._wrapped_call(self, *args, **kwargs)
        cls.__call__ = call_wrapped
        return made

    # ---- its modules

    def add_submodule(self, target, m):
        *way, name = target.split(".")
        held = self
        for item in way:
            inner = getattr(held, item, None)
            if inner is None:
                inner = torch.nn.Module()
                setattr(held, item, inner)
            if not isinstance(inner, torch.nn.Module):
                return False
            held = inner
        held.add_module(name, m)
        return True

    def delete_submodule(self, target):
        *way, name = target.split(".")
        held = self
        for item in way:
            held = getattr(held, item, None)
            if not isinstance(held, torch.nn.Module):
                return False
        if not isinstance(getattr(held, name, None), torch.nn.Module):
            return False
        delattr(held, name)
        return True

    def delete_all_unused_submodules(self):
        used = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            used.update(itertools.accumulate(node.target.split("."), "{}.{}".format))
            if node.op == "call_module":
                try:
                    used.update("%s.%s" % (node.target, name) for name, _ in self.get_submodule(node.target).named_modules() if name)
                except AttributeError:
                    pass
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # ---- copies

    def __reduce__(self):
        state = self.__dict__.copy()
        made = self.recompile()
        del state["_graph"]
        return reduce_graph_module, (state, _imports(made.globals))

    def _deepcopy_init(self):
        return GraphModule.__init__

    def __deepcopy__(self, memo):
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        state = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(made, state, state.__dict__["_graph"])
        for name in ("_state_dict_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"):
            if name in self.__dict__:
                setattr(made, name, copy.deepcopy(self.__dict__[name], memo))
        made.meta = copy.deepcopy(getattr(self, "meta", {}), memo)
        return made

    def __copy__(self):
        made = GraphModule(self, self.graph)
        made.meta = getattr(self, "meta", {})
        return made

    # ---- as text

    def _readable(self, name, **how):
        def indented(text):
            first, *rest = text.split("\n")
            return "\n".join([first, *("    " + line if line.strip() else "" for line in rest)])
        own = "class %s(torch.nn.Module):\n%s" % (name, self._graph.python_code(root_module="self", verbose=True, **how).src.lstrip("\n"))
        inner = ["", *(child._readable(child_name, **how) for child_name, child in self.named_children() if isinstance(child, GraphModule))]
        return indented(own) + indented("\n".join(inner))

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False):
        text = self._readable(self._get_name(), include_stride=include_stride, include_device=include_device)
        if print_output:
            print(text)
        return text

    def __str__(self):
        return "\n".join([super().__str__(), self._code, "# To see more debug info, please use `graph_module.print_readable()`"])


__getattr__ = attribute("torch.fx.graph_module")
