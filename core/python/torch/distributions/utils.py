"""What distributions have in common beside their base."""
import torch

from .. import _C
from .._missing import attribute
from ..autograd.modes import enable_grad

euler_constant = 0.57721566490153286060


def is_number(v):
    return isinstance(v, (int, float, complex))


def broadcast_all(*values):
    if not all(isinstance(v, _C.TensorBase) or is_number(v) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    like = next((v for v in values if isinstance(v, _C.TensorBase)), None)
    options = {"dtype": torch.get_default_dtype()} if like is None else {"dtype": like.dtype, "device": like.device}
    return torch.broadcast_tensors(*(v if isinstance(v, _C.TensorBase) else torch.tensor(v, **options) for v in values))


def clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


def logits_to_probs(logits, is_binary=False):
    return torch.sigmoid(logits) if is_binary else torch.nn.functional.softmax(logits, dim=-1)


def standard_normal(shape, like):
    return torch.empty(shape, dtype=like.dtype, device=like.device).normal_()


def sum_rightmost(value, dim):
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


class lazy_property:
    """Computed when first read, with gradients."""

    def __init__(self, compute):
        self.compute, self.name = compute, compute.__name__

    def __get__(self, owner, kind=None):
        if owner is None:
            return self
        with enable_grad():
            value = self.compute(owner)
        setattr(owner, self.name, value)
        return value


__getattr__ = attribute("torch.distributions.utils")
