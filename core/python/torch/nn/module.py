"""The base of all modules."""
from collections import OrderedDict, namedtuple

from .. import _C
from .._missing import missing
from ..autograd.modes import no_grad
from .parameter import Parameter

_COLLECTIONS = ("_parameters", "_buffers", "_modules")


class Module:
    def __init__(self, *args, **kwargs):
        if args or kwargs:
            raise TypeError("%s.__init__() takes 1 positional argument but %d were given" % (type(self).__name__, 1 + len(args)))
        own = self.__dict__
        own["training"] = True
        own["_parameters"], own["_buffers"], own["_modules"] = {}, {}, {}
        own["_non_persistent_buffers_set"] = set()
        own["_forward_hooks"], own["_forward_pre_hooks"] = OrderedDict(), OrderedDict()

    def forward(self, *input):
        raise NotImplementedError('Module [%s] is missing the required "forward" function' % type(self).__name__)

    def __call__(self, *args, **kwargs):
        _C._begin_module(self)
        try:
            for hook in tuple(self._forward_pre_hooks.values()):
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
            result = self.forward(*args, **kwargs)
            for hook in tuple(self._forward_hooks.values()):
                changed = hook(self, args, result)
                if changed is not None:
                    result = changed
            return result
        finally:
            _C._end_module()

    # ---- what a module holds

    def __setattr__(self, name, value):
        own = self.__dict__
        if isinstance(value, Parameter):
            kind = "_parameters"
        elif isinstance(value, Module):
            kind = "_modules"
        elif name in own.get("_buffers", ()) and (value is None or isinstance(value, _C.TensorBase)):
            kind = "_buffers"
        elif isinstance(value, _C.TensorBase) and getattr(value, "__dict__", {}).get("_is_buffer"):
            return self.register_buffer(name, value, value.persistent)
        else:
            if name in own.get("_parameters", ()) and value is not None:
                raise TypeError("cannot assign '%s' as parameter '%s' (torch.nn.Parameter or None expected)" % (type(value).__name__, name))
            for held in ("_parameters", "_modules"):
                if name in own.get(held, ()):
                    own[held][name] = value  # None
                    return None
            return object.__setattr__(self, name, value)
        if kind not in own:
            raise AttributeError("cannot assign %s before Module.__init__() call" % ("parameters" if kind == "_parameters" else "module"))
        for held in _COLLECTIONS:
            if held != kind:
                own[held].pop(name, None)
        own.pop(name, None)
        own[kind][name] = value
        return None

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
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name, param):
        if param is None:
            self._parameters[name] = None
        else:
            setattr(self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError("attribute '%s' already exists" % name)
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError("%s is not a Module subclass" % type(module).__name__)
        self._modules[name] = module

    register_module = add_module

    def get_submodule(self, target):
        module = self
        for part in target.split(".") if target else ():
            module = getattr(module, part)
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return self.get_submodule(path)._parameters[name]

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

    def _named_members(self, held, prefix, recurse):
        seen = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, member in getattr(module, held).items():
                if member is not None and id(member) not in seen:
                    seen.add(id(member))
                    yield path + ("." if path else "") + name, member

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members("_parameters", prefix, recurse)

    def parameters(self, recurse=True):
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members("_buffers", prefix, recurse)

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
        device, dtype = kwargs.get("device"), kwargs.get("dtype")
        blocking = kwargs.get("non_blocking", False)
        for a in args:
            if isinstance(a, (str, device_type)):
                device = a
            elif isinstance(a, dtype_type):
                dtype = a
            elif isinstance(a, _C.TensorBase):
                device, dtype = a.device, a.dtype
            elif isinstance(a, bool):
                blocking = a
            elif a is not None:
                missing("Module.to(%s)" % type(a).__name__)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=%s" % dtype)

        def convert(t):
            options = {"non_blocking": blocking}
            if device is not None:
                options["device"] = device
            if dtype is not None and (t.is_floating_point() or t.is_complex()):
                options["dtype"] = dtype
            return t.to(**options)
        return self._apply(convert)

    def float(self):
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def bfloat16(self):
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        missing("device cuda")

    def train(self, mode=True):
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

    def register_forward_hook(self, hook, **options):
        return _Handle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook, **options):
        return _Handle(self._forward_pre_hooks, hook)

    def register_full_backward_hook(self, hook, prepend=False):
        missing("Module.register_full_backward_hook")

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        out = OrderedDict() if destination is None else destination
        for held in ("_parameters", "_buffers"):
            for name, t in getattr(self, held).items():
                if t is not None and name not in self._non_persistent_buffers_set:
                    out[prefix + name] = t if keep_vars else t.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=out, prefix=prefix + name + ".", keep_vars=keep_vars)
        return out

    def load_state_dict(self, state_dict, strict=True, assign=False):
        own = self.state_dict(keep_vars=True)
        lacking = [k for k in own if k not in state_dict]
        unknown = [k for k in state_dict if k not in own]
        wrong = []
        for name, t in own.items():
            if name not in state_dict:
                continue
            given = state_dict[name]
            if given.shape != t.shape:
                wrong.append("size mismatch for %s: copying a param with shape %s from checkpoint, the shape in current model is %s." % (name, given.shape, t.shape))
                continue
            with no_grad():
                t.copy_(given)
        if strict and unknown:
            wrong.insert(0, "Unexpected key(s) in state_dict: %s. " % ", ".join('"%s"' % k for k in unknown))
        if strict and lacking:
            wrong.insert(0, "Missing key(s) in state_dict: %s. " % ", ".join('"%s"' % k for k in lacking))
        if wrong:
            raise RuntimeError("Error(s) in loading state_dict for %s:\n\t%s" % (type(self).__name__, "\n\t".join(wrong)))
        return _IncompatibleKeys(lacking, unknown)

    def extra_repr(self):
        return ""

    def __repr__(self):
        lines = ["(%s): %s" % (name, repr(m).replace("\n", "\n  ")) for name, m in self._modules.items()]
        extra = self.extra_repr()
        if not lines:
            return "%s(%s)" % (type(self).__name__, extra)
        return "%s(%s\n  %s\n)" % (type(self).__name__, extra, "\n  ".join(lines))


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class _Handle:
    """Takes a hook away again."""

    def __init__(self, hooks, hook):
        self._hooks = hooks
        hooks[id(self)] = hook

    def remove(self):
        self._hooks.pop(id(self), None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()
