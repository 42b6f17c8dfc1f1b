"""The rarer functions of torch.nn.functional."""
import warnings

from .. import _C
from ..autograd.modes import no_grad
from .functional import _nn, _reduction, _torch, avg_pool1d, avg_pool2d, logsigmoid, max_pool1d, max_pool2d, pad, relu


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got %s" % p)


def dropout3d(input, p=0.5, training=True, inplace=False):
    _check_probability(p)
    if input.dim() not in (4, 5):
        warnings.warn("dropout3d: Received a %d-D input to dropout3d, which is deprecated and will result in an error in a future release. To retain the behavior and silence this "
                      "warning, please use dropout instead. Note that dropout3d exists to provide channel-wise dropout on inputs with 3 spatial dimensions, a channel dimension, and "
                      "an optional batch dimension (i.e. 4D or 5D inputs)." % input.dim(), stacklevel=2)
    end = "_" if inplace else ""
    batched = input.dim() == 5
    input = input if batched else getattr(input, "unsqueeze" + end)(0)
    result = _torch("feature_dropout" + end)(input, p, training)
    return result if batched else getattr(result, "squeeze" + end)(0)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    _check_probability(p)
    return _torch("feature_alpha_dropout_" if inplace else "feature_alpha_dropout")(input, p, training)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    return _torch("rrelu_" if inplace else "rrelu")(input, lower, upper, training)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    dim = input.dim()
    if dim < 3:
        raise ValueError("Expected 3D or higher dimensionality                          input (got %d dimensions)" % dim)
    if input.numel() == 0:
        return input
    square = input.mul(input)
    if dim == 3:
        square = pad(square.unsqueeze(1), (0, 0, size // 2, (size - 1) // 2))
        square = avg_pool2d(square, (size, 1), stride=1).squeeze(1)
    else:
        sizes = input.size()
        square = pad(square.view(sizes[0], 1, sizes[1], sizes[2], -1), (0, 0, 0, 0, size // 2, (size - 1) // 2))
        square = _nn("avg_pool3d")(square, (size, 1, 1), stride=1).squeeze(1).view(sizes)
    return input / square.mul(alpha).add(k).pow(beta)


def _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, largest, mean, count):
    if norm_type == float("inf"):
        return largest(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    if norm_type == -float("inf"):
        return -largest(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
    out = mean(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (_torch("sign")(out) * relu(_torch("abs")(out))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, max_pool1d, avg_pool1d, kernel_size)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    width, height = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size, kernel_size)
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, max_pool2d, avg_pool2d, width * height)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    depth, width, height = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * 3

    def mean(x, size, step, padding, ceil_mode):
        return _nn("avg_pool3d")(x, size, () if step is None else step, padding, ceil_mode)
    return _lp_pool(input, norm_type, kernel_size, stride, ceil_mode, max_pool3d, mean, depth * width * height)


def _sizes(input, output_size, n):
    if not isinstance(output_size, (tuple, list)):
        return output_size
    return [size if size is not None else input.size(i - n) for i, size in enumerate(output_size)]


def adaptive_avg_pool3d(input, output_size):
    return _nn("adaptive_avg_pool3d")(input, _sizes(input, output_size, 3))


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        return _nn("max_pool3d_with_indices")(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)
    return _torch("max_pool3d")(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


def _unpooled_sizes(input, kernel_size, stride, padding, output_size):
    n = len(kernel_size)
    natural = [(size - 1) * s + k - 2 * p for size, k, s, p in zip(input.size()[-n:], kernel_size, stride, padding)]
    if output_size is None:
        return natural
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError("output_size should be a sequence containing %d or %d elements, but it has a length of '%d'" % (n, n + 2, len(output_size)))
    for d in range(n):
        least, most = natural[d] - stride[d], natural[d] + stride[d]
        if not least < output_size[d] < most:
            raise ValueError('invalid output_size "%s" (dim %d must be between %d and %d)' % (output_size, d, least, most))
    return list(output_size)


def _times(n, value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = _unpooled_sizes(input, _times(1, kernel_size), _times(1, kernel_size if stride is None else stride), _times(1, padding), output_size)
    return _nn("max_unpool2d")(input.unsqueeze(-1), indices.unsqueeze(-1), size + [1]).squeeze(-1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    size = _unpooled_sizes(input, _times(2, kernel_size), _times(2, kernel_size if stride is None else stride), _times(2, padding), output_size)
    return _nn("max_unpool2d")(input, indices, size)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _nn("multilabel_margin_loss")(input, target, _reduction(reduction))


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    return _torch("ctc_loss")(log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction), zero_infinity)


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False,
                  padding_idx=None):
    if weight.dtype == _C.int64 and input.is_floating_point():
        warnings.warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is deprecated, and should now be "
                      "`embedding_bag(input, weight, ...)`.", stacklevel=2)
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError("embedding_bag: If per_sample_weights (%s) is not None, then it must have the same shape as the input (%s)" % (per_sample_weights.shape, input.shape))
    if weight.dim() != 2:
        raise ValueError("weight has to be a 2D Tensor, but got Tensor of dimension %d" % weight.dim())
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found offsets of type %s" % type(offsets))
        offsets = _torch("arange")(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        include_last_offset = False
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() != 1:
        raise ValueError("input has to be 1D or 2D Tensor, but got Tensor of dimension %d" % input.dim())
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    modes = ("sum", "mean", "max")
    if mode not in modes:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        with no_grad():
            _torch("embedding_renorm_")(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='%s'). Please open a feature request on "
                                  "GitHub." % mode)
    return _torch("embedding_bag")(weight, input, offsets, scale_grad_by_freq, modes.index(mode), sparse, per_sample_weights, include_last_offset, padding_idx)[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    values, indices = _nn("adaptive_max_pool3d")(input, _sizes(input, output_size, 3))
    return (values, indices) if return_indices else values


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    return _nn("soft_margin_loss")(input, target, _reduction(reduction))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    dim = input.dim() - 1
    loss = loss.sum(dim=dim) / input.size(dim)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _nn("multi_margin_loss")(input, target, p, margin, weight, _reduction(reduction))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    if reduction not in ("mean", "sum", "none"):
        raise ValueError("%s is not a valid value for reduction" % reduction)
    if margin <= 0:
        raise ValueError("margin must be greater than 0, got %s" % margin)
    dims = anchor.ndim, positive.ndim, negative.ndim
    if len(set(dims)) != 1:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor %dD, positive %dD, and negative %dD inputs" % dims)
    distance = _C._VariableFunctions.pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _torch("minimum")(far, distance(positive, negative))
    loss = _torch("clamp_min")(margin + near - far, 0)
    return _torch("sum")(loss) if reduction == "sum" else _torch("mean")(loss) if reduction == "mean" else loss
