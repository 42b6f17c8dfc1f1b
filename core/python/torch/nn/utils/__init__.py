"""Gradients and parameters of many tensors at once."""
import functools
import importlib
import inspect

from ... import _C
from ..._missing import attribute
from ...autograd.modes import no_grad

_V = _C._VariableFunctions


def _without_grad(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with no_grad():
            return function(*args, **kwargs)
    return wrapper


def _list(tensors):
    return [tensors] if isinstance(tensors, _C.TensorBase) else list(tensors)


def _by_type(tensors):
    """PyTorch's lists are of one device and dtype."""
    groups = {}
    for t in tensors:
        groups.setdefault((t.device.type, t.dtype), []).append(t)
    return groups.values()


def _one_by_one(group, foreach):
    return foreach is False or foreach is None and group[0].is_meta


@_without_grad
def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    tensors = _list(tensors)
    if not tensors:
        return _C.tensor(0.0)
    norms = []
    for group in _by_type(tensors):
        norms += [_C._linalg.linalg_vector_norm(t, float(norm_type)) for t in group] if _one_by_one(group, foreach) else _V._foreach_norm(group, float(norm_type))
    device = tensors[0].device
    total = _C._linalg.linalg_vector_norm(_V.stack([n.to(device) for n in norms]), float(norm_type))
    if error_if_nonfinite and _V.logical_or(total.isnan(), total.isinf()):
        raise RuntimeError("The total norm of order %s for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients by "
                           "the non-finite norm anyway, set `error_if_nonfinite=False`" % float(norm_type))
    return total


@_without_grad
def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    grads = [p.grad for p in _list(parameters) if p.grad is not None]
    if not grads:
        return
    factor = float(max_norm) / (total_norm + 1e-6)
    clamped = _V.clamp(factor, max=1.0)
    for group in _by_type(grads):
        if _one_by_one(group, foreach):
            there = clamped.to(group[0].device)
            for g in group:
                g.mul_(there)
        else:
            _V._foreach_mul_(group, clamped.to(group[0].device))


@_without_grad
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = _list(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


@_without_grad
def clip_grad_value_(parameters, clip_value, foreach=None):
    grads = [p.grad for p in _list(parameters) if p.grad is not None]
    for group in _by_type(grads):
        if _one_by_one(group, foreach):
            for g in group:
                g.clamp_(min=-float(clip_value), max=float(clip_value))
        else:
            _V._foreach_clamp_min_(group, -float(clip_value))
            _V._foreach_clamp_max_(group, float(clip_value))


def parameters_to_vector(parameters):
    return _V.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    if not isinstance(vec, _C.TensorBase):
        raise TypeError("expected torch.Tensor, but got: " + type(vec).__name__)
    at = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[at:at + n].view_as(p).data
        at += n


def skip_init(module_cls, *args, **kwargs):
    from ..module import Module
    if not issubclass(module_cls, Module):
        raise RuntimeError("Expected a Module; got %s" % module_cls)
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)


from . import rnn  # noqa: E402,F401
from .fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval, fuse_linear_bn_weights  # noqa: E402,F401

_PARTS = {"weight_norm": "_norms", "remove_weight_norm": "_norms", "spectral_norm": "_norms", "remove_spectral_norm": "_norms", "parametrize": "", "parametrizations": "", "prune": "",
          "stateless": ""}
_missing = attribute("torch.nn.utils")


def __getattr__(name):
    """These need torch.nn, which is made of what stands here."""
    if name not in _PARTS:
        return _missing(name)
    module = importlib.import_module("torch.nn.utils." + (_PARTS[name] or name))
    return getattr(module, name) if _PARTS[name] else module
