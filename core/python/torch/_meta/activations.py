"""Activations, as made of elementwise operators."""
import torch

from .registry import inplace, kernel
from .rules import cast_for_math, check, fits, kind_of, promoted, wrap_dim

_SQRT2, _SQRT1_2, _2_SQRTPI = 1.41421356237309504880, 0.70710678118654752440, 1.12837916709551257390


def _checked(a, **factors):
    kind = kind_of(a.dtype)
    for name, factor in factors.items():
        check(fits(type(factor), kind), lambda: "%s argument of type %s cannot be safely cast to type %s!" % (name, type(factor), kind))


@kernel("relu")
@promoted(("a",))
def relu(a):
    return torch.where(torch.le(a, 0), 0, a)


@kernel("relu_")
def relu_(self):
    return self


@kernel("silu")
def silu(self):
    return torch.empty_like(self)


@kernel("gelu")
@promoted(("a",))
def gelu(a, *, approximate="none"):
    check(approximate in ("none", "tanh"), "approximate argument must be either none or tanh.")
    if approximate == "none":
        return a * 0.5 * (1 + torch.erf(a * _SQRT1_2))
    cube = a * a * a
    inner = _SQRT2 * _2_SQRTPI * 0.5 * (a + 0.044715 * cube)
    return 0.5 * a * (1 + torch.tanh(inner))


@kernel("leaky_relu")
@promoted(("a",))
def leaky_relu(a, negative_slope=0.01):
    _checked(a, negative_slope=negative_slope)
    return torch.where(torch.gt(a, 0), a, torch.mul(a, negative_slope))


@kernel("elu")
@promoted(("a",))
def elu(a, alpha=1.0, scale=1.0, input_scale=1.0):
    _checked(a, input_scale=input_scale, scale=scale, alpha=alpha)
    return torch.where(a > 0, scale * a, (alpha * scale) * torch.expm1(a * input_scale))


@kernel("celu")
@promoted(("a",), "int_to_float")
def celu(a, alpha=None):
    if alpha is None:
        right = torch.expm1(a)
    else:
        _checked(a, alpha=alpha)
        right = alpha * torch.expm1(torch.true_divide(a, alpha))
    return torch.where(a > 0, a, right)


@kernel("softplus")
@promoted(("a",))
def softplus(a, beta=None, threshold=20):
    if beta is None:
        scaled, right = a, torch.log1p(torch.exp(a))
    else:
        _checked(a, beta=beta)
        scaled = a * beta
        right = torch.true_divide(torch.log1p(torch.exp(scaled)), beta)
    return torch.where(scaled > threshold, a, right)


@kernel("mish")
@promoted(("a",), "int_to_float")
def mish(a):
    return a * torch.tanh(torch.nn.functional.softplus(a))


@kernel("hardtanh")
@promoted(("a",))
def hardtanh(a, min_val=-1, max_val=1):
    check(a.dtype is not torch.bool, "Bool inputs not supported for hardtanh")
    return torch.clamp(a, min_val, max_val)


@kernel("hardsigmoid")
@cast_for_math
def hardsigmoid(self):
    return torch.clamp(torch.clamp(self + 3, min=0), max=6) / 6


@kernel("hardswish")
@cast_for_math
def hardswish(self):
    return self * torch.clamp(torch.clamp(self + 3, min=0), max=6) / 6


@kernel("threshold")
@promoted(("a",))
def threshold(a, threshold, value):
    return torch.where(a <= threshold, value, a)


@kernel("log_sigmoid_forward")
@cast_for_math
def log_sigmoid_forward(self):
    low = torch.minimum(self.new_zeros(()), self)
    z = torch.exp(-torch.abs(self))
    return low - torch.log1p(z), z


@kernel("_prelu_kernel")
def prelu(self, weight):
    return torch.where(self > 0, self, weight * self)


@kernel("glu")
@promoted(("a",), "int_to_float")
def glu(a, dim=-1):
    dim = wrap_dim(dim, a.dim())
    check(a.shape[dim] % 2 == 0, lambda: "Halving dimension must be even, but dimension %d is size %d" % (dim, a.shape[dim]))
    kept, gate = torch.tensor_split(a, 2, dim)
    return kept * torch.sigmoid(gate)


for _f, _name in ((leaky_relu, "leaky_relu_"), (elu, "elu_"), (celu, "celu_"), (mish, "mish_"), (hardtanh, "hardtanh_"), (threshold, "threshold_"),
                  (hardsigmoid, "hardsigmoid_"), (hardswish, "hardswish_")):
    inplace(_f, _name)
inplace(lambda self: self.sigmoid() * self, "silu_")


# --- their gradients
@kernel("threshold_backward")
def threshold_backward(grad_output, self, threshold):
    return torch.where(self <= threshold, 0, grad_output)


@kernel("sigmoid_backward")
@cast_for_math
def sigmoid_backward(grad_output, output):
    return grad_output * (output * (1 - output)).conj_physical()


@kernel("tanh_backward")
@cast_for_math
def tanh_backward(grad_output, output):
    return grad_output * (1 - output * output).conj_physical()


@kernel("glu_backward")
@cast_for_math
def glu_backward(grad_output, self, dim):
    dim = wrap_dim(dim, self.dim())
    half = self.shape[dim] // 2
    kept, gate = self.narrow(dim, 0, half), self.narrow(dim, half, half)
    s = torch.sigmoid(gate)
    of_gate = (1.0 - s) * s * kept * grad_output
    return torch.cat([s * grad_output, of_gate], dim=dim)


@kernel("gelu_backward")
@cast_for_math
def gelu_backward(grad_output, self, *, approximate="none"):
    if approximate != "tanh":
        below = 0.5 * (1 + torch.erf(self * _SQRT1_2))
        density = _2_SQRTPI * _SQRT1_2 * 0.5 * torch.exp(self * self * -0.5)
        return grad_output * (below + self * density)
    beta, kappa = _SQRT2 * _2_SQRTPI * 0.5, 0.044715
    square = self * self
    cube = square * self
    inner = beta * (self + kappa * cube)
    curve = torch.tanh(inner)
    left, right = 0.5 * self, 1 + curve
    left_slope = 0.5 * right
    curve_slope = 1 - curve * curve
    inner_slope = beta * (1 + 3 * kappa * square)
    return grad_output * (left_slope + left * curve_slope * inner_slope)


@kernel("leaky_relu_backward")
@cast_for_math
def leaky_relu_backward(grad_output, self, negative_slope, self_is_result):
    return torch.where(self > 0, grad_output, grad_output * negative_slope)


@kernel("elu_backward")
@cast_for_math
def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result):
    x = self_or_result
    if is_result:
        return torch.where(x <= 0, grad_output * input_scale * (x + alpha * scale), grad_output * scale)
    return torch.where(x <= 0, grad_output * input_scale * (alpha * scale) * torch.exp(x * input_scale), grad_output * scale)


@kernel("softplus_backward")
@cast_for_math
def softplus_backward(grad_output, self, beta, threshold):
    z = (self * beta).exp()
    return torch.where((self * beta) > threshold, grad_output, grad_output * z / (z + 1.0))


@kernel("hardtanh_backward")
@cast_for_math
def hardtanh_backward(grad_output, self, min_val, max_val):
    return torch.where((self <= min_val) | (self >= max_val), 0.0, grad_output)


@kernel("hardswish_backward")
@cast_for_math
def hardswish_backward(grad_output, self):
    return torch.where(self <= -3, 0.0, torch.where(self < 3, grad_output * ((self / 3) + 0.5), grad_output))


@kernel("log_sigmoid_backward")
@cast_for_math
def log_sigmoid_backward(grad_output, self, buffer):
    negative = self < 0
    most = torch.where(negative, 1, 0)
    sign = torch.where(negative, 1, -1)
    z = buffer if buffer.numel() > 0 else torch.exp(-torch.abs(self))
    return grad_output * (most - sign * (z / (1 + z)))
