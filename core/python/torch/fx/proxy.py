"""Values in tracing: what is done with one becomes a node."""
import copy
import dis
import enum
import inspect
import operator
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import fields, is_dataclass

import torch

from .._missing import attribute
from ._codegen import magic_methods, reflectable_magic_methods
from .node import Node, base_types, map_aggregate, map_arg


class TraceError(ValueError):
    pass


class Scope:
    """The module that is being traced."""

    def __init__(self, module_path, module_type):
        self.module_path, self.module_type = module_path, module_type


class ScopeContextManager:
    def __init__(self, scope, current_scope):
        self._scope, self._before = scope, copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self):
        return self._scope

    def __exit__(self, *error):
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


def _no_node(node):
    raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node. Got key: %s" % node)


class TracerBase:
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def _begin(self):
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    def proxy(self, node):
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a):
        """What a node holds for an argument of the traced program."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple):
            parts = [self.create_arg(x) for x in a]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {self._key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, (slice, range)):
            return type(a)(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, (*base_types, Node, enum.Enum)) or a is None or a is ...:
            return a
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if is_dataclass(a):
            return self.create_node("call_function", type(a), (), {f.name: self.create_arg(getattr(a, f.name)) for f in fields(a)})
        raise NotImplementedError("argument of type: %s" % type(a))

    def _key(self, key):
        if isinstance(key, str):
            return key
        key = self.create_arg(key)
        map_arg(key, _no_node)
        return key

    def to_bool(self, obj):
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        raise TraceError("Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function argument. See the torch.fx docs on "
                         "pytorch.org for a more detailed explanation of what types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration "
                         "errors")

    def keys(self, obj):
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Of values whose nodes go to a graph that is there."""

    def __init__(self, graph):
        self._begin()
        self.graph = graph


def find_tracers(values):
    found = []
    map_aggregate(values, lambda a: found.append(a.tracer) if isinstance(a, Proxy) and not any(a.tracer is t for t in found) else None)
    return found


def _instruction(frame):
    """What the frame is just doing, and the code around it."""
    all_of = list(dis.get_instructions(frame.f_code))
    at = bisect_left(all_of, frame.f_lasti, key=lambda x: x.offset)
    return all_of, at


def assert_fn(x):
    if not x:
        raise AssertionError("Assertion failed")


class Proxy:
    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return "Proxy(%s)" % self.node.name

    def __getattr__(self, k):
        return Attribute(self, k)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__ = state

    def __deepcopy__(self, memo):
        made = Proxy.__new__(Proxy)
        made.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return made

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self,) + args, kwargs)

    def __iter__(self):
        code, at = _instruction(inspect.currentframe().f_back)
        if code[at].opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(code[at].argval))
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        if self.tracer.trace_asserts:
            code, at = _instruction(inspect.currentframe().f_back)
            if code[at].opname.endswith("JUMP_IF_TRUE") or code[at].opname.endswith("JUMP_FORWARD_IF_TRUE"):
                if code[at + 1].opname == "LOAD_ASSERTION_ERROR":
                    self.tracer.create_proxy("call_function", assert_fn, (self,), {})
                    return True
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        args, kwargs = args or (), kwargs or {}
        tracers = find_tracers((args, kwargs))
        if len(tracers) > 1:
            raise RuntimeError("Found multiple different tracers %s while trying to trace operations %s" % (tracers, orig_method))
        name = orig_method.__name__
        if torch.overrides.is_tensor_method_or_property(orig_method):
            return tracers[0].create_proxy("call_method", "eq" if name == "__eq__" else name, args, kwargs)
        return tracers[0].create_proxy("call_function", orig_method, args, kwargs, name=tracers[0].graph._target_to_str(name))


class Attribute(Proxy):
    """An attribute of a value: a node of its own only if it isn't called."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root,) + args, kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is known in tracing."""

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, torch.nn.Parameter):
            raise AssertionError("Expected Parameter, got %s" % type(param))
        self.param, self.name = param, name

    def __repr__(self):
        return "ParameterProxy(%s)" % self.name

    @property
    def shape(self):
        return self.param.shape

    @property
    def ndim(self):
        return self.param.ndim

    def size(self):
        return self.param.size()

    def dim(self):
        return self.param.dim()

    def numel(self):
        return self.param.numel()

    nelement = numel


def _sign(name):
    target = getattr(operator, name)

    def call(*args):
        return args[0].tracer.create_proxy("call_function", target, args, {})

    def swapped(self, other):
        return self.tracer.create_proxy("call_function", target, (other, self), {})
    setattr(Proxy, "__%s__" % name.strip("_"), call)
    if name in reflectable_magic_methods:
        setattr(Proxy, "__r%s__" % name.strip("_"), swapped)


for _name in magic_methods:
    if hasattr(operator, _name):
        _sign(_name)
__getattr__ = attribute("torch.fx.proxy")
