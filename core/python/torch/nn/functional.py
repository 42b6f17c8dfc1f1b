"""torch.nn.functional: each function asks the operator that PyTorch's asks."""
import warnings

from .. import _C
from .._missing import attribute, missing

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _nn(name):
    f = getattr(_C._nn, name, None)
    if f is None:
        missing("torch.nn.functional." + name)
    return f


def _torch(name):
    f = getattr(_C._VariableFunctions, name, None)
    if f is None:
        missing("torch.nn.functional." + name)
    return f


def _reduction(word):
    if word not in _REDUCTIONS:
        raise ValueError("%s is not a valid value for reduction" % word)
    return _REDUCTIONS[word]


def linear(input, weight, bias=None):
    return _nn("linear")(input, weight, bias)


def relu(input, inplace=False):
    if inplace:
        return _torch("relu_")(input)
    return _torch("relu")(input)


def tanh(input):
    return input.tanh()


def sigmoid(input):
    return input.sigmoid()


def gelu(input, approximate="none"):
    return _nn("gelu")(input, approximate=approximate)


def silu(input, inplace=False):
    return _nn("silu_" if inplace else "silu")(input)


def elu(input, alpha=1.0, inplace=False):
    return _nn("elu_" if inplace else "elu")(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return _nn("leaky_relu_" if inplace else "leaky_relu")(input, negative_slope)


def softplus(input, beta=1.0, threshold=20.0):
    return _nn("softplus")(input, beta, threshold)


def _dimension(name, ndim):
    warnings.warn("Implicit dimension choice for %s has been deprecated. Change the call to include dim=X as an argument." % name, stacklevel=3)
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _dimension("softmax", input.dim()) if dim is None else dim
    if not hasattr(_C.TensorBase, "softmax"):
        missing("torch.nn.functional.softmax")
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    dim = _dimension("log_softmax", input.dim()) if dim is None else dim
    if not hasattr(_C.TensorBase, "log_softmax"):
        missing("torch.nn.functional.log_softmax")
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def dropout(input, p=0.5, training=True, inplace=False):
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got %s" % p)
    return _torch("dropout_" if inplace else "dropout")(input, p, training)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _torch("layer_norm")(input, normalized_shape, weight, bias, eps)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return _torch("batch_norm")(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None:
        missing("embedding(max_norm=...)")
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx < 0:
        padding_idx += weight.size(0)
    return _torch("embedding")(weight, input, padding_idx, scale_grad_by_freq, sparse)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _torch("conv2d")(input, weight, bias, stride, padding, dilation, groups)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        missing("max_pool2d(return_indices=True)")
    return _torch("max_pool2d")(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


def adaptive_avg_pool2d(input, output_size):
    size = [n if n is not None else input.size(i - 2) for i, n in enumerate(output_size)] if isinstance(output_size, (tuple, list)) else output_size
    return _nn("adaptive_avg_pool2d")(input, size)


def one_hot(tensor, num_classes=-1):
    return _nn("one_hot")(tensor, num_classes)


def pad(input, pad, mode="constant", value=None):
    return _nn("pad")(input, pad, mode, value)


def _same_shape(input, target):
    if target.size() != input.size():
        warnings.warn("Using a target size (%s) that is different to the input size (%s). This will likely lead to incorrect results due to broadcasting. Please "
                      "ensure they have the same size." % (target.size(), input.size()), stacklevel=3)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if weight is not None:
        missing("mse_loss(weight=...)")
    _same_shape(input, target)
    a, b = _torch("broadcast_tensors")([input, target])
    return _nn("mse_loss")(a, b, _reduction(reduction))


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if weight is not None:
        missing("l1_loss(weight=...)")
    _same_shape(input, target)
    a, b = _torch("broadcast_tensors")([input, target])
    return _nn("l1_loss")(a, b, _reduction(reduction))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    _same_shape(input, target)
    a, b = _torch("broadcast_tensors")([input, target])
    return _nn("smooth_l1_loss")(a, b, _reduction(reduction), beta)


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    return _nn("cross_entropy_loss")(input, target, weight, _reduction(reduction), ignore_index, label_smoothing)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    return _nn("nll_loss_nd")(input, target, weight, _reduction(reduction), ignore_index)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    return _nn("binary_cross_entropy")(input, target, weight, _reduction(reduction))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    return _torch("binary_cross_entropy_with_logits")(input, target, weight, pos_weight, _reduction(reduction))


__getattr__ = attribute("torch.nn.functional")
