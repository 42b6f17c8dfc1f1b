"""Gradients of many parameters at once."""
from ... import _C
from ..._missing import attribute
from ...autograd.modes import no_grad


@no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    from ... import clamp, linalg, stack
    parameters = [parameters] if isinstance(parameters, _C.TensorBase) else list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return _C.tensor(0.0)
    total = linalg.vector_norm(stack([linalg.vector_norm(g, norm_type) for g in grads]), norm_type)
    if error_if_nonfinite and not float(total) < float("inf"):
        raise RuntimeError("The total norm of order %s for gradients from `parameters` is non-finite, so it cannot be clipped." % norm_type)
    factor = clamp(max_norm / (total + 1e-6), max=1.0)
    for g in grads:
        g.mul_(factor)
    return total


@no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    parameters = [parameters] if isinstance(parameters, _C.TensorBase) else list(parameters)
    for p in parameters:
        if p.grad is not None:
            p.grad.clamp_(min=-clip_value, max=clip_value)


__getattr__ = attribute("torch.nn.utils")
