"""Modules as functions of their parameters."""
from .. import _C
from .._missing import attribute
from ..nn.utils.stateless import _functional_call
from .utils import exposed_in


@exposed_in("torch.func")
def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        keys = [key for d in parameter_and_buffer_dicts for key in d]
        repeated = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
        if repeated:
            raise ValueError("%s appeared in multiple dictionaries; behavior of functional call is ambiguous" % repeated)
        given = {k: v for d in parameter_and_buffer_dicts for k, v in d.items()}
    else:
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got %s" % type(parameter_and_buffer_dicts))
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


def _stacked(values, name):
    wants = [v.requires_grad for v in values]
    if any(wants) and not all(wants):
        raise RuntimeError("Expected %s from each model to have the same .requires_grad" % name)
    made = _C._VariableFunctions.stack(values)
    return made.detach().requires_grad_() if all(wants) else made


@exposed_in("torch.func")
def stack_module_state(models):
    if not len(models):
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({bool(m.training) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(states):
        return {k: _stacked(tuple(s[k] for s in states), k) for k in states[0]}
    return stacked([dict(m.named_parameters()) for m in models]), stacked([dict(m.named_buffers()) for m in models])


__getattr__ = attribute("torch._functorch.functional_call")
