"""The base of all modules."""
from .. import _C
from .._missing import missing
from ..autograd.modes import no_grad
from . import _calling
from ._calling import Calling
from ._state import State
from .parameter import Buffer, Parameter

_COLLECTIONS = ("_parameters", "_buffers", "_modules")


def _typename(value):
    from .. import typename
    return typename(value)


class Module(Calling, State):
    call_super_init = False
    dump_patches = False

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError("%s.__init__() got an unexpected keyword argument '%s'" % (type(self).__name__, next(iter(kwargs))))
            if args:
                raise TypeError("%s.__init__() takes 1 positional argument but %d were given" % (type(self).__name__, 1 + len(args)))
        own = self.__dict__
        own["training"] = True
        own["_parameters"], own["_buffers"] = {}, {}
        own["_non_persistent_buffers_set"] = set()
        self._begin_hooks()
        own["_modules"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self._begin_hooks()

    def forward(self, *input):
        raise NotImplementedError('Module [%s] is missing the required "forward" function' % type(self).__name__)

    # ---- what a module holds

    def _forget(self, name, *held):
        for d in (self.__dict__, *(self.__dict__[h] for h in held)):
            d.pop(name, None)
        if "_buffers" in held:
            self._non_persistent_buffers_set.discard(name)

    def __setattr__(self, name, value):
        own = self.__dict__
        params, modules, buffers = (own.get(held) for held in ("_parameters", "_modules", "_buffers"))
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError("cannot assign '%s' as parameter '%s' (torch.nn.Parameter or None expected)" % (_typename(value), name))
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, "_parameters", "_buffers")
            modules[name] = _calling.registered(_calling.module_registration, self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError("cannot assign '%s' as child module '%s' (torch.nn.Module or None expected)" % (_typename(value), name))
            modules[name] = _calling.registered(_calling.module_registration, self, name, value)
        elif isinstance(value, Buffer) or (buffers is not None and name in buffers):
            if value is not None and not isinstance(value, _C.TensorBase):
                raise TypeError("cannot assign '%s' as buffer '%s' (torch.nn.Buffer, torch.Tensor or None expected)" % (_typename(value), name))
            self.register_buffer(name, value, value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set)
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for held in _COLLECTIONS:
            found = self.__dict__.get(held, {})
            if name in found:
                return found[name]
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))

    def __delattr__(self, name):
        for held in _COLLECTIONS:
            if name in self.__dict__[held]:
                del self.__dict__[held][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(n for n in names if not n[0].isdigit())

    def _check_name(self, kind, name, held, quoted):
        if not isinstance(name, str):
            raise TypeError("%s name should be a string. Got %s" % (kind, _typename(name)))
        if hasattr(self, name) and name not in held and (kind == "module" or ("." not in name and name)):
            raise KeyError("attribute '%s' already exists" % name)
        if "." in name:
            raise KeyError(quoted)
        if not name:
            raise KeyError('%s name can\'t be empty string ""' % kind)

    def register_parameter(self, name, param):
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters, 'parameter name can\'t contain "."')
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError("cannot assign '%s' object to parameter '%s' (torch.nn.Parameter or None required)" % (_typename(param), name))
            if param.grad_fn is not None:
                raise ValueError("Cannot assign non-leaf Tensor to parameter '%s'. Model parameters must be created explicitly. To express '%s' as a function of another Tensor, "
                                 "compute the value in the forward() method." % (name, name))
            param = _calling.registered(_calling.parameter_registration, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers, 'buffer name can\'t contain "."')
        if tensor is not None and not isinstance(tensor, _C.TensorBase):
            raise TypeError("cannot assign '%s' object to buffer '%s' (torch Tensor or None required)" % (_typename(tensor), name))
        self._buffers[name] = _calling.registered(_calling.buffer_registration, self, name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError("%s is not a Module subclass" % _typename(module))
        self._check_name("module", name, self._modules, 'module name can\'t contain ".", got: %s' % name)
        self._modules[name] = _calling.registered(_calling.module_registration, self, name, module)

    def register_module(self, name, module):
        self.add_module(name, module)

    def _member(self, target):
        """(the module that holds it, its name, it itself)"""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError("%s has no attribute `%s`" % (module._get_name(), name))
        return module, name, getattr(module, name)

    def get_submodule(self, target):
        module = self
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError("%s has no attribute `%s`" % (module._get_name(), part))
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError("`%s` is not an nn.Module" % part)
        return module

    def set_submodule(self, target, module, strict=False):
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError("`module` is not an nn.Module, found %s" % type(module))
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError("%s has no attribute `%s`" % (parent._get_name(), name))
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError("`%s` is not an nn.Module" % name)
        setattr(parent, name, module)

    def get_parameter(self, target):
        _, name, found = self._member(target)
        if not isinstance(found, Parameter):
            raise AttributeError("`%s` is not an nn.Parameter" % name)
        return found

    def get_buffer(self, target):
        module, name, found = self._member(target)
        if name not in module._buffers:
            raise AttributeError("`%s` is not a buffer" % name)
        return found

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, prefix + ("." if prefix else "") + name, remove_duplicate)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield path + ("." if path else "") + name, member

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    # ---- what can be done to it

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        """Each tensor replaced by fn of it; parameters stay the objects that they are where their memory can be exchanged."""
        from .. import _has_compatible_shallow_copy_type as compatible
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, p in self._parameters.items():
            if p is None:
                continue
            with no_grad():
                new = fn(p)
            if compatible(p, new):
                p.data = new
            else:
                self._parameters[name] = Parameter(new, p.requires_grad)
            if p.grad is not None:
                with no_grad():
                    grad = fn(p.grad)
                if compatible(p.grad, grad):
                    p.grad.data = grad
        for name, b in self._buffers.items():
            if b is not None:
                self._buffers[name] = fn(b)
        return self

    def to(self, *args, **kwargs):
        from .. import device as device_type
        from .. import dtype as dtype_type
        from .. import memory_format as format_type
        device, dtype, blocking = kwargs.get("device"), kwargs.get("dtype"), kwargs.get("non_blocking", False)
        layout = kwargs.get("memory_format")
        for a in args:
            if isinstance(a, (str, int, device_type)) and not isinstance(a, bool):
                device = a
            elif isinstance(a, dtype_type):
                dtype = a
            elif isinstance(a, _C.TensorBase):
                device, dtype = a.device, a.dtype
            elif isinstance(a, bool):
                blocking = a
            elif isinstance(a, format_type):
                layout = a
            elif a is not None:
                missing("Module.to(%s)" % type(a).__name__)
        if layout is not None:
            missing("Module.to(memory_format=%s)" % layout)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=%s" % dtype)

        def convert(t):
            options = {"non_blocking": blocking}
            if device is not None:
                options["device"] = device
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                options["dtype"] = dtype
            try:
                return t.to(**options)
            except NotImplementedError as error:
                if str(error) != "Cannot copy out of meta tensor; no data!":
                    raise
                raise NotImplementedError(str(error) + " Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() when moving module from meta to a different device.") from None
        return self._apply(convert)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def half(self):
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def to_empty(self, *, device, recurse=True):
        from .. import empty_like
        return self._apply(lambda t: empty_like(t, device=device), recurse=recurse)

    def share_memory(self):
        return self._apply(lambda t: t.share_memory_())

    def float(self):
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def bfloat16(self):
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        return self._apply(lambda t: t.cuda(device))

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        for p in self.parameters():
            if p.grad is not None:
                if set_to_none:
                    p.grad = None
                else:
                    p.grad.requires_grad_(False) if p.grad.grad_fn is None else p.grad.detach_()
                    p.grad.zero_()

    def extra_repr(self):
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        extra = extra.split("\n") if extra else []
        lines = ["(%s): %s" % (name, repr(m).replace("\n", "\n  ")) for name, m in self._modules.items()]
        if len(extra) == 1 and not lines:
            return "%s(%s)" % (self._get_name(), extra[0])
        return "%s(%s)" % (self._get_name(), "\n  " + "\n  ".join(extra + lines) + "\n" if extra or lines else "")
