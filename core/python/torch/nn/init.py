"""First values of parameters, by PyTorch's rules."""
import math

from .. import _C
from .._missing import attribute, missing
from ..autograd.modes import no_grad

_GAINS = {"linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "leaky_relu":
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




def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with no_grad():
        return tensor.uniform_(a, b)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with no_grad():
        return tensor.normal_(mean, std)


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
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)))


def _deviation(tensor, a, mode, nonlinearity):
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError("Mode %s not supported, please use one of ['fan_in', 'fan_out']" % mode.lower())
    return calculate_gain(nonlinearity, a) / math.sqrt(_fans(tensor)[mode.lower() == "fan_out"])


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    bound = math.sqrt(3.0) * _deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    return normal_(tensor, 0, _deviation(tensor, a, mode, nonlinearity))


__getattr__ = attribute("torch.nn.init")


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    def below(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0
    if below((b - mean) / std) - below((a - mean) / std) <= 0.3:
        missing("trunc_normal_ of a narrow part")
    with no_grad():
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
