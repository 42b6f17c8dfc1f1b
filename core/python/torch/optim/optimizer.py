"""What optimizers have in common: groups of parameters with their options, and a state for each parameter."""
import functools
import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy

from .. import _C
from .._missing import missing
from ..autograd.profiler import record_function
from ..utils.hooks import add

# Of all optimizers.
_pre_hooks, _post_hooks = OrderedDict(), OrderedDict()


def register_optimizer_step_pre_hook(hook):
    return add(_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    return add(_post_hooks, hook)


def _with_hooks(step):
    """step() as programs call it: between the hooks, in a span with a name."""
    @functools.wraps(step)
    def wrapper(self, *args, **kwargs):
        with record_function("Optimizer.step#%s.step" % type(self).__name__):
            return hooked(self, *args, **kwargs)

    def hooked(self, *args, **kwargs):
        self._opt_called = True
        for hook in (*_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, (self, *args), kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError("%s must return None or a tuple of (new_args, new_kwargs), but got %s." % (step, changed))
                (self, *args), kwargs = changed
        result = step(self, *args, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_post_hooks.values()):
            hook(self, (self, *args), kwargs)
        return result
    wrapper.hooked = True
    return wrapper


def without_grad(step):
    """step() runs without grad mode; its closure, and who called it, have theirs."""
    @functools.wraps(step)
    def wrapper(self, *args, **kwargs):
        before = _C.is_grad_enabled()
        _C._set_grad_enabled(False)
        try:
            return step(self, *args, **kwargs)
        finally:
            _C._set_grad_enabled(before)
    return wrapper


def only_loops(name, options):
    for word in ("foreach", "fused", "capturable", "differentiable"):
        if options.pop(word, None):
            missing("%s(%s=True)" % (name, word))
    if options:
        raise TypeError("%s got an unexpected keyword argument '%s'" % (name, next(iter(options))))


_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks", "_optimizer_state_dict_post_hooks",
          "_optimizer_load_state_dict_pre_hooks", "_optimizer_load_state_dict_post_hooks")


class Optimizer:
    def __init__(self, params, defaults):
        self.defaults = defaults
        if not getattr(type(self).step, "hooked", False):  # of the class that is made; one below it stays as it is written
            type(self).step = _with_hooks(type(self).step)
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        if isinstance(params, _C.TensorBase):
            raise TypeError("params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + params.type())
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.state = defaultdict(dict)
        self.param_groups = []
        for group in groups:
            self.add_param_group(group)

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())

    def register_step_pre_hook(self, hook):
        return add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        return add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        return add(self._optimizer_state_dict_pre_hooks, hook, prepend=prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        return add(self._optimizer_state_dict_post_hooks, hook, prepend=prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        return add(self._optimizer_load_state_dict_pre_hooks, hook, prepend=prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        return add(self._optimizer_load_state_dict_post_hooks, hook, prepend=prepend)

    def add_param_group(self, group):
        if not isinstance(group, dict):
            raise TypeError("param_group must be a dict, but got %s" % type(group))
        params = group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead.")
        params = [params] if isinstance(params, _C.TensorBase) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            group["param_names"] = names
        group["params"] = params = [p[1] if isinstance(p, tuple) else p for p in params]
        for p in params:
            if not isinstance(p, _C.TensorBase):
                from .. import typename
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(p))
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        if len(params) != len({id(p) for p in params}):
            warnings.warn("optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
                          "information", stacklevel=3)
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
        with record_function("Optimizer.zero_grad#%s.zero_grad" % type(self).__name__):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if set_to_none:
                        p.grad = None
                        continue
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    def _loss(self, closure):
        if closure is None:
            return None
        from ..autograd.modes import enable_grad
        with enable_grad():
            return closure()

    def step(self, closure=None):
        raise NotImplementedError

    def state_dict(self):
        for hook in self._optimizer_state_dict_pre_hooks.values():
            hook(self)
        numbers = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
        state = {"state": {numbers[id(p)] if isinstance(p, _C.TensorBase) else p: s for p, s in self.state.items()},
                 "param_groups": [{**{k: v for k, v in g.items() if k != "params"}, "params": [numbers[id(p)] for p in g["params"]]} for g in self.param_groups]}
        for hook in self._optimizer_state_dict_post_hooks.values():
            changed = hook(self, state)
            state = state if changed is None else changed
        return state

    def _cast(self, p, value, key=None):
        """A saved value as the parameter's state has it."""
        if isinstance(value, _C.TensorBase):
            if key == "step":
                return value
            return value.to(dtype=p.dtype, device=p.device) if p.is_floating_point() else value.to(device=p.device)
        if isinstance(value, dict):
            return {k: self._cast(p, v, k) for k, v in value.items()}
        return type(value)(self._cast(p, v) for v in value) if isinstance(value, (list, tuple)) else value

    def load_state_dict(self, state_dict):
        state_dict = state_dict.copy()
        for hook in self._optimizer_load_state_dict_pre_hooks.values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = deepcopy(state_dict["param_groups"])
        if len(self.param_groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(own["params"]) != len(given["params"]) for own, given in zip(self.param_groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        by_number = {n: p for own, given in zip(self.param_groups, saved) for n, p in zip(given["params"], own["params"])}
        state = defaultdict(dict)
        for n, kept in state_dict["state"].items():
            if n in by_number:
                state[by_number[n]] = self._cast(by_number[n], kept)
            else:
                state[n] = kept
        for own, given in zip(self.param_groups, saved):
            given["params"] = own["params"]
            if "param_names" in own:
                given.setdefault("param_names", own["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += "\nParameter Group %d\n" % i + "".join("    %s: %s\n" % (k, group[k]) for k in sorted(group) if k != "params")
        return text + ")"
