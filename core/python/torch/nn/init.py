"""First values of parameters, by PyTorch's rules."""
import functools
import math
import warnings

from .. import _C
from .._missing import attribute
from ..autograd.modes import no_grad

_GAINS = {"linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1, "conv_transpose3d": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError("negative_slope %s not a valid number" % param)
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError("Unsupported nonlinearity %s" % nonlinearity)
    return _GAINS[nonlinearity]


def _fans(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = 1
    for size in tensor.shape[2:]:
        field *= size
    return tensor.size(1) * field, tensor.size(0) * field


_calculate_fan_in_and_fan_out = _fans


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor, val):
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1.0)


def zeros_(tensor):
    with no_grad():
        return tensor.zero_()


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _fans(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _deviation(tensor, a, mode, nonlinearity):
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError("Mode %s not supported, please use one of ['fan_in', 'fan_out']" % mode.lower())
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode.lower() == "fan_out"])


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0, _deviation(tensor, a, mode, nonlinearity), generator)


def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        _C._VariableFunctions.eye(*tensor.shape, out=tensor)
    return tensor


def dirac_(tensor, groups=1):
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.is_meta:
        return tensor
    channels = tensor.size(0) // groups
    middle = tuple(n // 2 for n in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(channels, tensor.size(1))):
                tensor[(g * channels + d, d) + middle] = 1
    return tensor


def orthogonal_(tensor, gain=1, generator=None):
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0 or tensor.is_meta:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    if rows < columns:
        flat.t_()
    q, r = _C._linalg.linalg_qr(flat)
    q *= _C._VariableFunctions.diag(r, 0).sign()
    if rows < columns:
        q.t_()
    with no_grad():
        tensor.view_as(q).copy_(q)
        tensor.mul_(gain)
    return tensor


def sparse_(tensor, sparsity, std=0.01, generator=None):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.is_meta:
        return tensor
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[_C._VariableFunctions.randperm(rows)[:zeros], column] = 0
    return tensor


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    def below(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0
    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.", stacklevel=2)
    with no_grad():
        if below((b - mean) / std) - below((a - mean) / std) <= 0.3:
            return _narrow_normal(tensor, mean, std, a, b, generator)
        low, high = tensor.new_tensor(a, device="cpu").item(), tensor.new_tensor(b, device="cpu").item()
        result = tensor.normal_(mean, std, generator=generator)
        while True:
            outside = (result < low) | (result > high)
            if not outside.any():
                break
            result = _C._VariableFunctions.where(outside, _C._VariableFunctions.empty_like(result).normal_(mean, std, generator=generator), result)
        if tensor is not result:
            tensor.copy_(result)
    return tensor


def _narrow_normal(tensor, mean, std, a, b, generator):
    """By rejecting uniform candidates."""
    empty_like, where = _C._VariableFunctions.empty_like, _C._VariableFunctions.where
    top = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    candidates, accept = empty_like(tensor), empty_like(tensor)
    tensor.uniform_(a, b, generator=generator)
    candidates.copy_(tensor)

    def refused():
        candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(top)
        return accept.uniform_(generator=generator).log_().gt(candidates)
    pending = refused()
    if pending.any():
        result = tensor
        while True:
            candidates.uniform_(a, b, generator=generator)
            result = where(pending, candidates, result)
            pending = where(pending, refused(), pending)
            if not pending.any():
                break
        tensor.copy_(result)
    return tensor


def _older(function):
    """Without the line below at the end of its name, as it was once."""
    @functools.wraps(function)
    def older(*args, **kwargs):
        warnings.warn("`nn.init.%s` is now deprecated in favor of `nn.init.%s`." % (function.__name__[:-1], function.__name__), FutureWarning, stacklevel=2)
        return function(*args, **kwargs)
    return older


uniform, normal, constant, eye, dirac, sparse, orthogonal = map(_older, (uniform_, normal_, constant_, eye_, dirac_, sparse_, orthogonal_))
xavier_uniform, xavier_normal, kaiming_uniform, kaiming_normal = map(_older, (xavier_uniform_, xavier_normal_, kaiming_uniform_, kaiming_normal_))
__getattr__ = attribute("torch.nn.init")
