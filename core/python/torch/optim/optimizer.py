"""What optimizers have in common: groups of parameters with their options, and a state for each parameter."""
import functools
from collections import defaultdict

from .. import _C
from .._missing import missing


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


class Optimizer:
    def __init__(self, params, defaults):
        self.defaults = defaults
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

    def add_param_group(self, group):
        params = group["params"]
        group["params"] = [params] if isinstance(params, _C.TensorBase) else [p[1] if isinstance(p, tuple) else p for p in params]
        for p in group["params"]:
            if not isinstance(p, _C.TensorBase):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + type(p).__name__)
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, value in self.defaults.items():
            group.setdefault(name, value)
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
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
        numbers = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
        return {"state": {numbers[id(p)]: s for p, s in self.state.items()},
                "param_groups": [{**{k: v for k, v in g.items() if k != "params"}, "params": [numbers[id(p)] for p in g["params"]]} for g in self.param_groups]}

    def load_state_dict(self, state_dict):
        params = [p for g in self.param_groups for p in g["params"]]
        order = [n for g in state_dict["param_groups"] for n in g["params"]]
        if len(order) != len(params):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        self.state = defaultdict(dict)
        for n, kept in state_dict["state"].items():
            p = params[order.index(n)]
            for name, value in kept.items():
                if isinstance(value, _C.TensorBase) and name != "step" and p.is_floating_point():
                    value = value.to(dtype=p.dtype, device=p.device)
                self.state[p][name] = value
        for own, given in zip(self.param_groups, state_dict["param_groups"]):
            own.update({k: v for k, v in given.items() if k != "params"})

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += "\nParameter Group %d\n" % i + "".join("    %s: %s\n" % (k, group[k]) for k in sorted(group) if k != "params")
        return text + ")"
