"""torch.func, as far as it needs no transforms: functional_call."""
from ._missing import attribute
from .nn.utils.stateless import _functional_call


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        keys = [key for d in parameter_and_buffer_dicts for key in d]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError("%s appears in multiple dictionaries; behavior of functional call is ambiguous" % key)
        given = {k: v for d in parameter_and_buffer_dicts for k, v in d.items()}
    else:
        raise ValueError("Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got %s" % type(parameter_and_buffer_dicts))
    return _functional_call(module, given, args, kwargs, tie_weights=tie_weights, strict=strict)


__getattr__ = attribute("torch.func")
