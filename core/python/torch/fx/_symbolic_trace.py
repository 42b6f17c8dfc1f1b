"""Runs a function on values that write down what is done with them."""
import functools
import inspect
import math
import warnings
from types import FunctionType

import torch
from torch.utils import _pytree as pytree

from .._missing import attribute
from ._codegen import _PyTreeCodeGen, _PyTreeInfo
from ._patching import Patches, wrap
from .graph import Graph
from .graph_module import GraphModule
from .node import base_types, map_aggregate
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase

_VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_module_call = torch.nn.Module.__call__
_module_getattr = torch.nn.Module.__getattr__
_proxyable = set()
_tracing = False


def is_fx_tracing():
    return _tracing


is_fx_symbolic_tracing = is_fx_tracing


class PHBase:
    """An argument in `concrete_args` that stays one."""

    def __repr__(self):
        return "PH"


class PHWithMeta(PHBase):
    def __init__(self, ph_key=None):
        self.ph_key = ph_key


PH = PHBase()


class ProxyableClassMeta(type):
    """Of classes whose making, of traced values, is a node."""

    def __init__(cls, name, bases, attrs):
        _proxyable.add(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args, **kwargs):
        found = []
        if _tracing:
            map_aggregate((args, kwargs), lambda a: found.append(a) if isinstance(a, Proxy) else None)
        return found[0].tracer.create_proxy("call_function", cls, args, kwargs) if found else super().__call__(*args, **kwargs)


def _without_stars(function, count):
    """The function with `*args` and `**kwargs` as two more arguments."""
    code = function.__code__
    code = code.replace(co_flags=code.co_flags & ~_VARIABLE, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0)
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def _default_of(signature, name):
    default = inspect.Parameter.empty if name.startswith("*") else signature.parameters[name].default
    return () if default is inspect.Parameter.empty else (default,)


@wrap
def _assert_is_none(value, msg):
    if value is not None:
        raise AssertionError(msg)


class Tracer(TracerBase):
    _last_name = {}

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self._autowrap_search = list(autowrap_modules)
        self._autowrap_function_ids = {id(f) for f in autowrap_functions}
        self._autowrap_function_ids.update(id(f) for m in autowrap_modules for name, f in vars(m).items() if not name.startswith("_") and callable(f))
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths, self.root_module_name, self.num_calls = None, "", {}
        self._begin()

    def get_fresh_qualname(self, prefix):
        if not hasattr(self.root, prefix + "0"):
            self._last_name[prefix] = 0
            return prefix + "0"
        i = self._last_name.get(prefix, 0)
        while hasattr(self.root, prefix + str(i)):
            i += 1
        self._last_name[prefix] = i + 1
        return prefix + str(i)

    def _constant(self, a, prefix):
        """A node for a value that the root module is given to hold."""
        name = self.get_fresh_qualname(prefix)
        setattr(self.root, name, a)
        return name

    def create_arg(self, a):
        if isinstance(a, torch.nn.Parameter):
            for name, p in self.root.named_parameters():
                if a is p:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, (torch.Tensor, torch.nn.Module)):
            for name, held in self.root.named_buffers() if isinstance(a, torch.Tensor) else self.root.named_modules():
                if a is held:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(x) for x in a), {})
        if isinstance(a, (torch.Tensor, pytree.TreeSpec)):
            if id(a) not in self.tensor_attrs:
                self.tensor_attrs[id(a)] = a, self._constant(a, "_tensor_constant" if isinstance(a, torch.Tensor) else "_tree_spec_constant")
            return self.create_node("get_attr", self.tensor_attrs[id(a)][1], (), {})
        if type(a) in _proxyable:
            return self.create_node("get_attr", self._constant(a, "_%s_constant_" % type(a).__name__), (), {})
        return super().create_arg(a)

    def is_leaf_module(self, m, module_qualified_name):
        return m.__module__.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod):
        paths = self.submodule_paths or {m: name for name, m in self.root.named_modules()}
        if mod not in paths:
            raise NameError("module is not installed as a submodule")
        return paths[mod]

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            calls = self.num_calls.get(path, 0)
            key = "%s@%d" % (path, calls) if calls else path
            self.module_stack[key] = (path, scope.module_type)
            self.num_calls[path] = calls + 1
            result = self.create_proxy("call_module", path, args, kwargs) if self.is_leaf_module(m, path) else forward(*args, **kwargs)
            self.module_stack.popitem()
        return result

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What a traced program gets for a module's attribute."""
        members = ()
        if isinstance(attr_val, torch.nn.Parameter):
            members = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            members = self.root.named_buffers()
        for name, held in members:
            if held is attr_val:
                if name not in parameter_proxy_cache:
                    how = {"proxy_factory_fn": lambda node: ParameterProxy(self, node, name, attr_val)} if self.param_shapes_constant else {}
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **how)
                return parameter_proxy_cache[name]
        return attr_val

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """(the function to run, what it is given)"""
        known = inspect.unwrap(root_fn)
        code, signature = known.__code__, inspect.signature(known)
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        if is_module and total == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        args, own = ([self.root], names[1:total]) if is_module else ([], names[:total])
        if isinstance(concrete_args, tuple):
            if len(own) != len(concrete_args):
                raise RuntimeError("Tracing expected %d arguments but got %d concrete arguments" % (len(own), len(concrete_args)))
            concrete_args = dict(zip(own, concrete_args))
        placeholder = functools.partial(self._proxy_placeholder, concrete_args=concrete_args, sig=signature, fn_for_analysis=known)
        args += map(placeholder, own)
        if code.co_kwonlyargcount or code.co_flags & _VARIABLE:
            stars = iter(names[total:])
            args += [placeholder(sign + next(stars)) for sign, flag in (("*", inspect.CO_VARARGS), ("**", inspect.CO_VARKEYWORDS)) if code.co_flags & flag]
            root_fn = _without_stars(root_fn, len(args))
        leaves, shape = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in shape.children()):
            return root_fn, args
        codegen = self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names[:total], shape, None))

        def of_leaves(*leaves):
            out, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(list(leaves), shape)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return out
        return of_leaves, leaves

    def _proxy_placeholder(self, name, concrete_args, sig, fn_for_analysis):
        if concrete_args is None or name not in concrete_args:
            return self.create_proxy("placeholder", name, _default_of(sig, name), {}, type_expr=fn_for_analysis.__annotations__.get(name))
        count = 0

        def stand_in(value):
            nonlocal count
            count += 1
            made = self.create_proxy("placeholder", "%s_%d" % (name, count), _default_of(sig, name), {})
            if isinstance(value, PHBase):
                for attr in () if value is PH else dir(value):
                    if not attr.startswith("__") and not callable(getattr(value, attr)) and not hasattr(made.node, attr):
                        setattr(made.node, attr, getattr(value, attr))
                return made
            if type(value) is bool or (type(value) in base_types and type(value) is not torch.Tensor):
                torch._assert(made == value, "%s has been specialized to have value %s but got another value" % (name, value))
            elif value is None:
                self.create_proxy("call_function", _assert_is_none, (made, "%s has been specialized to have value None but got another value" % name), {})
            else:
                warnings.warn("Was not able to add assertion to guarantee correct input %s to specialized function. It is up to the user to make sure that your inputs match the inputs you "
                              "specialized the function with." % name)
            return value
        return pytree.tree_map(stand_in, concrete_args[name])

    def _keep_tensors_of(self, module, path=""):
        for name, held in vars(module).items():
            if isinstance(held, (torch.Tensor, pytree.TreeSpec)):
                self.tensor_attrs[id(held)] = held, path + name
        for name, child in module.named_children():
            self._keep_tensors_of(child, path + name + ".")

    def trace(self, root, concrete_args=None):
        global _tracing
        is_module = isinstance(root, torch.nn.Module)
        if is_module:
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError("traced_func_name=%s doesn't exist in %s" % (self.traced_func_name, type(root).__name__))
            self.root, function = root, getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {m: name for name, m in root.named_modules()}
        else:
            self.root, function = torch.nn.Module(), root
        torch.overrides.ask_in(torch.Tensor)
        self.graph = Graph(tracer_cls=type(self))
        if hasattr(function, "__code__"):
            code = function.__code__
            self.graph._co_fields = {"co_name": code.co_name, "co_filename": code.co_filename, "co_firstlineno": code.co_firstlineno}
        self.tensor_attrs = {}
        self._keep_tensors_of(self.root)
        if not isinstance(function, FunctionType):
            raise AssertionError("Expected FunctionType, got %s" % type(function))
        before, _tracing = _tracing, True
        try:
            self._run(function, is_module, concrete_args)
            self.submodule_paths = None
        finally:
            _tracing = before
        return self.graph

    def _run(self, function, is_module, concrete_args):
        names, returns = function.__globals__, inspect.get_annotations(inspect.unwrap(function)).get("return")
        run, args = self.create_args_for_root(function, is_module, concrete_args)
        if run is not function:
            returns = inspect.get_annotations(inspect.unwrap(run)).get("return")
        parameters = {}

        @functools.wraps(_module_getattr)
        def module_getattr(module, attr):
            return self.getattr(attr, _module_getattr(module, attr), parameters)

        @functools.wraps(_module_call)
        def module_call(module, *args, **kwargs):
            patches.keep_known(getattr(getattr(module, "forward", module), "__globals__", {}), self._autowrap_function_ids)
            return self.call_module(module, functools.partial(_module_call, module), args, kwargs)
        with Patches() as patches:
            patches.attribute(torch.nn.Module, "__getattr__", module_getattr)
            patches.attribute(torch.nn.Module, "__call__", module_call)
            patches.keep_wrapped()
            for held in (names, *map(vars, self._autowrap_search)):
                patches.keep_known(held, self._autowrap_function_ids)
            self.create_node("output", "output", (self.create_arg(run(*args)),), {}, type_expr=returns)


def symbolic_trace(root, concrete_args=None):
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, type(root).__name__ if isinstance(root, torch.nn.Module) else root.__name__)


__getattr__ = attribute("torch.fx._symbolic_trace")
