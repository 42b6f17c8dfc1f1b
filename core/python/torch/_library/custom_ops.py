"""`torch.library.custom_op`: an operator that is a Python function, with a kernel at each layer that its schema asks for."""
import contextlib
import inspect
import warnings
import weakref

from .. import _C, _ops
from .._missing import attribute, missing
from ..autograd.graph import increment_version
from ..utils import _pytree
from . import Tag
from .autograd import make_autograd_impl, with_defaults
from .infer_schema import infer_schema

OPDEFS = weakref.WeakValueDictionary()
_libraries = {}  # by name: one that is defined again replaces the one before


def device_key(device_type):
    """The dispatch key of a device's kernels."""
    keys = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "xpu": "XPU", "mps": "MPS", "xla": "XLA", "mtia": "MTIA", "hpu": "HPU", "ipu": "IPU", "ve": "VE"}
    if device_type not in keys:
        raise ValueError("Unsupported device type: %s" % device_type)
    return keys[device_type]


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    def define(fn):
        kinds = (tags,) if isinstance(tags, Tag) else tuple(dict.fromkeys(tags or ()))
        text = schema if schema is not None else infer_schema(fn, mutates_args=mutates_args, tags=kinds)
        space, op = name.split("::")
        made = CustomOpDef(space, op, text, fn, kinds)
        written = {a.name for a in made._opoverload._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
        if schema is not None and written != set(mutates_args):
            raise ValueError("Attempted to create a custom op with `mutates_args=%s` and `schema=%s. The schema suggests that the op mutates %swhich is different from what was "
                             "provided to us in `mutates_args`. Please make these consistent." % (mutates_args, schema, written))
        made.register_kernel(device_types)(fn)
        return made
    return define if fn is None else define(fn)


class CustomOpDef:
    def __init__(self, namespace, name, schema, fn, tags=()):
        from ..library import Library
        self._namespace, self._name, self._schema, self._init_fn, self._tags = namespace, name, schema, fn, tags
        self._qualname = namespace + "::" + name
        self._kernels, self._disabled = {}, set()
        self._abstract_fn = self._setup_context_fn = self._backward_fn = None
        if self._qualname in _libraries:
            _libraries.pop(self._qualname)._destroy()
        self._lib = _libraries[self._qualname] = Library(namespace, "FRAGMENT")
        self._lib.define(name + schema, tags=tags)
        self._opoverload = _ops.overload(self._qualname, "")
        arguments = self._opoverload._schema.arguments
        if any(a.kwarg_only and "Tensor" in a.type for a in arguments) and Tag.out not in tags:
            raise NotImplementedError("custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: %s" % (name + schema))
        self._lib._register_fake(name, self._fake)
        self._lib.impl(name, make_autograd_impl(self._opoverload, self), "Autograd", with_keyset=True)
        if self._opoverload._schema.is_mutable:
            self._lib.impl(name, self._written, "ADInplaceOrView", with_keyset=True)
        OPDEFS[self._qualname] = self

    def __repr__(self):
        return "<CustomOpDef(%s)>" % self._qualname

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def _fake(self, *args, **kwargs):
        schema = self._opoverload._schema
        if self._abstract_fn is not None:
            return self._abstract_fn(*args, **kwargs)
        if schema.is_mutable and not schema.returns:
            return None
        raise RuntimeError("There was no fake impl registered for %s. This is necessary for torch.compile/export/fx tracing to work. Please use `%s.register_fake` to add an fake "
                           "impl." % (self, self._init_fn.__name__))

    def _written(self, keys, *args, **kwargs):
        schema = self._opoverload._schema
        given, named = with_defaults(schema, args, kwargs)
        named.update(zip((a.name for a in schema.arguments if not a.kwarg_only), given))
        for a in schema.arguments:
            if a.alias_info is not None and a.alias_info.is_write:
                increment_version([t for t in _pytree.tree_leaves(named[a.name]) if t is not None])
        return self._opoverload.redispatch(keys & _C._after_ADInplaceOrView_keyset, *args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        devices = [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)
        if devices != [None] and not any("Tensor" in a.type for a in self._opoverload._schema.arguments):
            if not any(a.type == "Device" for a in self._opoverload._schema.arguments):
                raise ValueError("Functions without tensor inputs are required to have a `device: torch.device` argument")
            missing("custom_op without tensors at a device's key")

        def register(fn):
            for device in devices:
                if device not in self._kernels:
                    self._lib.impl(self._name, self._kernel(device), "CompositeExplicitAutograd" if device is None else device_key(device))
                self._kernels[device] = fn
            return fn
        return register if fn is None else register(fn)

    def _kernel(self, device):
        def kernel(*args, **kwargs):
            fn = self._init_fn if device in self._disabled else self._kernels[device]
            result = fn(*args, **kwargs)
            if Tag.inplace in self._tags:
                if result is not args[0]:
                    raise RuntimeError("%s (with implementation in %s): An operator tagged with torch.Tag.inplace must return its first argument." % (self._name, inspect.getmodule(fn)))
            elif Tag.out not in self._tags:
                self._check_aliases(fn, args, kwargs, result)
            return result
        return kernel

    def _check_aliases(self, fn, args, kwargs, result):
        def storages(values):
            return [_C._storage_id(t) for t in _pytree.tree_leaves(values) if isinstance(t, _C.TensorBase)]
        returned = storages(list(result) if isinstance(result, (tuple, list)) else [result])
        if len(set(returned)) < len(returned) or set(returned) & set(storages([list(args), kwargs])):
            raise RuntimeError("%s (with implementation in %s): The output of this custom operator (1) must not also be an input to this custom operator and (2) may not alias any "
                               "inputs to this custom operator or other returns. The most common way to trigger this error is if we have y = custom_op(x) and y and x are the same "
                               "Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
                               % (self._name, inspect.getmodule(fn)))

    def register_fake(self, fn, /):
        if Tag.inplace in self._tags or Tag.out in self._tags:
            warnings.warn("The fake registration for %s is unnecessary. Custom ops tagged with torch.Tag.%s already get an autogenerated fake kernel. The provided fake impl will be "
                          "used instead." % (self, "inplace" if Tag.inplace in self._tags else "out"), stacklevel=2)
        self._abstract_fn = fn
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        if self._opoverload._schema.is_mutable:
            raise RuntimeError("Cannot register autograd formula for non-functional operator %s with schema %s. Please create a functional operator and register an autograd formula "
                               "for that." % (self, self._opoverload._schema))
        self._backward_fn, self._setup_context_fn = backward, setup_context

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type, enabled=True):
        change, undo = (self._disabled.discard, self._disabled.add) if enabled else (self._disabled.add, self._disabled.discard)
        was = device_type in self._disabled
        change(device_type)
        try:
            yield
        finally:
            if was == enabled:
                undo(device_type)

    def register_vmap(self, func=None):
        missing("CustomOpDef.register_vmap")

    def register_autocast(self, device_type, cast_inputs):
        missing("CustomOpDef.register_autocast")

    def register_torch_dispatch(self, torch_dispatch_class, fn=None, /):
        missing("CustomOpDef.register_torch_dispatch")


__getattr__ = attribute("torch._library.custom_ops")
