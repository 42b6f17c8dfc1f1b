"""torch.nn.functional: each function asks the operator that PyTorch's asks."""
import math
import warnings
from inspect import isfunction

from .. import _C
from .._missing import attribute, missing
from ..overrides import asks

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


def softplus(input, beta=1, threshold=20):
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


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return _torch("rms_norm")(input, normalized_shape, weight, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _torch("layer_norm")(input, normalized_shape, weight, bias, eps)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if training:
        if math.prod(input.size()) == input.size(1) != 0:
            raise ValueError("Expected more than 1 value per channel when training, got input size %s" % (input.size(),))
        if eps <= 0.0:
            raise ValueError("batch_norm eps must be positive during training, but got %s" % eps)
    if eps < 0.0:
        raise ValueError("batch_norm eps must be non-negative, but got %s" % eps)
    return _torch("batch_norm")(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if padding_idx is None:
        padding_idx = -1
    else:
        if not -weight.size(0) <= padding_idx < weight.size(0):
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx += weight.size(0) if padding_idx < 0 else 0
    if max_norm is not None:
        input = input.contiguous()
        _torch("embedding_renorm_")(weight.detach(), input, max_norm, norm_type)
    return _torch("embedding")(weight, input, padding_idx, scale_grad_by_freq, sparse)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _torch("conv2d")(input, weight, bias, stride, padding, dilation, groups)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        return _nn("max_pool2d_with_indices")(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)
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


def _weighed(errors, input, weight, reduction):
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    errors = errors * weight
    if reduction == "none":
        return errors
    if reduction not in ("sum", "mean"):
        raise ValueError("Invalid reduction mode: %s. Expected one of 'none', 'mean', 'sum'." % reduction)
    return _torch("sum")(errors) if reduction == "sum" else _torch("sum")(errors) / _torch("sum")(weight)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    _same_shape(input, target)
    a, b = _torch("broadcast_tensors")([input, target])
    if weight is not None:
        return _weighed(_torch("pow")(a - b, 2), input, weight, reduction)
    return _nn("mse_loss")(a, b, _reduction(reduction))


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    _same_shape(input, target)
    a, b = _torch("broadcast_tensors")([input, target])
    if weight is not None:
        return _weighed(_torch("abs")(a - b), input, weight, reduction)
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
    if target.size() != input.size():
        raise ValueError("Using a target size (%s) that is different to the input size (%s) is deprecated. Please ensure they have the same size." % (target.size(), input.size()))
    if weight is not None:
        from .. import broadcast_shapes
        weight = weight.expand(broadcast_shapes(target.size(), weight.size()))
    return _nn("binary_cross_entropy")(input, target, weight, _reduction(reduction))


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    if target.size() != input.size():
        raise ValueError("Target size (%s) must be the same as input size (%s)" % (target.size(), input.size()))
    return _torch("binary_cross_entropy_with_logits")(input, target, weight, pos_weight, _reduction(reduction))


def _added_mask(mask, dtype):
    """A mask as what is added to scores: minus infinity where a bool is set."""
    if mask is None or mask.dtype.is_floating_point:
        return mask
    if mask.dtype is not _C.bool:
        raise AssertionError("only bool and floating types of masks are supported")
    return _torch("zeros_like")(mask, dtype=dtype).masked_fill_(mask, float("-inf"))


def _projections(q, k, v, w, b):
    size = q.size(-1)
    if k is v:
        if q is k:
            p = linear(q, w, b)
            p = p.unflatten(-1, (3, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return p[0], p[1], p[2]
        w_q, w_kv = w.split([size, size * 2])
        b_q, b_kv = (None, None) if b is None else b.split([size, size * 2])
        first = linear(q, w_q, b_q)
        p = linear(k, w_kv, b_kv)
        p = p.unflatten(-1, (2, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return first, p[0], p[1]
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight,
                                 out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
                                 k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    if bias_k is not None or bias_v is not None or add_zero_attn or use_separate_proj_weight or static_k is not None or static_v is not None:
        missing("multi_head_attention_forward with biases of keys, zero attention, separate or static projections")
    batched = query.dim() == 3
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, size = query.shape
    key_padding_mask = _added_mask(key_padding_mask, query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint. You may use the Transformer module method `generate_square_subsequent_mask` to create this mask.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = _added_mask(attn_mask, query.dtype)
        if key_padding_mask is not None:
            is_causal = False
    if size != embed_dim_to_check:
        raise AssertionError("was expecting embedding dimension of %s, but got %s" % (embed_dim_to_check, size))
    head = size // num_heads
    if key.shape != value.shape:
        raise AssertionError("key shape %s does not match value shape %s" % (key.shape, value.shape))
    q, k, v = _projections(query, key, value, in_proj_weight, in_proj_bias)
    if attn_mask is not None and attn_mask.dim() == 2:
        if tuple(attn_mask.shape) != (length, key.shape[0]):
            raise RuntimeError("The shape of the 2D attn_mask is %s, but should be %s." % (attn_mask.shape, (length, key.shape[0])))
        attn_mask = attn_mask.unsqueeze(0)
    q = q.view(length, batch * num_heads, head).transpose(0, 1)
    k = k.view(k.shape[0], batch * num_heads, head).transpose(0, 1)
    v = v.view(v.shape[0], batch * num_heads, head).transpose(0, 1)
    keys = k.size(1)
    if key_padding_mask is not None:
        key_padding_mask = key_padding_mask.view(batch, 1, 1, keys).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, keys)
        attn_mask = key_padding_mask if attn_mask is None else attn_mask + key_padding_mask
    if not training:
        dropout_p = 0.0
    if need_weights:
        scaled = q * math.sqrt(1.0 / float(q.shape[2]))
        weights = _torch("bmm")(scaled, k.transpose(-2, -1)) if attn_mask is None else _torch("baddbmm")(attn_mask, scaled, k.transpose(-2, -1))
        weights = softmax(weights, dim=-1)
        if dropout_p > 0.0:
            weights = dropout(weights, p=dropout_p)
        out = _torch("bmm")(weights, v)
        out = out.transpose(0, 1).reshape(length * batch, size)
        out = linear(out, out_proj_weight, out_proj_bias)
        out = out.view(length, batch, out.size(1))
        weights = weights.view(batch, num_heads, length, keys)
        if average_attn_weights:
            weights = weights.mean(dim=1)
        return (out, weights) if batched else (out.squeeze(1), weights.squeeze(0))
    if attn_mask is not None:
        attn_mask = attn_mask.unsqueeze(0) if attn_mask.size(0) == 1 and attn_mask.dim() == 3 else attn_mask.view(batch, num_heads, -1, keys)
    q, k, v = q.view(batch, num_heads, length, head), k.view(batch, num_heads, keys, head), v.view(batch, num_heads, keys, head)
    out = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    out = out.permute(2, 0, 1, 3).reshape(batch * length, size)
    out = linear(out, out_proj_weight, out_proj_bias)
    out = out.view(length, batch, out.size(1))
    return (out if batched else out.squeeze(1)), None


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    return _nn("scaled_dot_product_attention")(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)


def mish(input, inplace=False):
    return _nn("mish")(input)


def hardswish(input, inplace=False):
    return _nn("hardswish")(input)


def hardsigmoid(input, inplace=False):
    return _nn("hardsigmoid")(input)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    return _nn("hardtanh_" if inplace else "hardtanh")(input, min_val, max_val)


def relu6(input, inplace=False):
    return _nn("relu6")(input)


def logsigmoid(input):
    return _nn("log_sigmoid")(input)


def selu(input, inplace=False):
    return _torch("selu")(input)


def celu(input, alpha=1.0, inplace=False):
    return _torch("celu")(input, alpha)


def glu(input, dim=-1):
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _nn("glu")(input, dim)


def prelu(input, weight):
    return _torch("prelu")(input, weight)


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def softshrink(input, lambd=0.5):
    return _nn("softshrink")(input, lambd)


def hardshrink(input, lambd=0.5):
    return _torch("hardshrink")(input, lambd)


def threshold(input, threshold, value, inplace=False):
    return _torch("threshold")(input, threshold, value)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    dim = _dimension("softmin", input.dim()) if dim is None else dim
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -_torch("empty_like")(logits, memory_format=_C.contiguous_format).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return _torch("zeros_like")(logits, memory_format=_C.contiguous_format).scatter_(dim, index, 1.0) - soft.detach() + soft


def _feature_dropout(input, p, training, inplace):
    if p < 0.0 or p > 1.0:
        raise ValueError("dropout probability has to be between 0 and 1, but got %s" % p)
    return _torch("feature_dropout_" if inplace else "feature_dropout")(input, p, training)


def dropout1d(input, p=0.5, training=True, inplace=False):
    return _feature_dropout(input, p, training, inplace)


def dropout2d(input, p=0.5, training=True, inplace=False):
    return _feature_dropout(input, p, training, inplace)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _torch("alpha_dropout_" if inplace else "alpha_dropout")(input, p, training)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    if out is None:
        return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return _torch("div")(input, input.norm(p, dim, keepdim=True).clamp_min_(eps).expand_as(input), out=out)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    return _torch("cosine_similarity")(x1, x2, dim, eps)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return _torch("pairwise_distance")(x1, x2, p, eps, keepdim)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    return _torch("group_norm")(input, num_groups, weight, bias, eps)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5):
    return _torch("instance_norm")(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    return _torch("conv1d")(input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _torch("conv_transpose1d")(input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    return _torch("conv_transpose2d")(input, weight, bias, stride, padding, output_padding, groups, dilation)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        return _torch("max_pool1d_with_indices")(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)
    return _torch("max_pool1d")(input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return _torch("avg_pool1d")(input, kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return _nn("avg_pool2d")(input, kernel_size, kernel_size if stride is None else stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool1d(input, output_size):
    return _torch("adaptive_avg_pool1d")(input, output_size)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    _same_shape(input, target)
    a, b = _torch("broadcast_tensors")([input, target])
    return _nn("huber_loss")(a, b, _reduction(reduction), delta)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if reduction == "mean":
        warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch size, and aligns with the KL div math "
                      "definition.'mean' will be changed to behave the same as 'batchmean' in the next major release.", stacklevel=2)
    if reduction == "batchmean":
        out = _torch("kl_div")(input, target, _reduction("sum"), log_target=log_target)
        return out / input.size()[0] if input.dim() != 0 else out
    return _torch("kl_div")(input, target, _reduction(reduction), log_target=log_target)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return _torch("margin_ranking_loss")(input1, input2, target, margin, _reduction(reduction))


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    return _torch("hinge_embedding_loss")(input, target, margin, _reduction(reduction))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    return _torch("cosine_embedding_loss")(input1, input2, target, margin, _reduction(reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"):
    if margin <= 0:
        raise ValueError("margin must be greater than 0, got %s" % margin)
    return _torch("triplet_margin_loss")(anchor, positive, negative, margin, p, eps, swap, _reduction(reduction))


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    return _torch("poisson_nll_loss")(input, target, log_input, full, eps, _reduction(reduction))


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if isinstance(var, float):
        var = var * _torch("ones_like")(input)
    if (var < 0).any():
        raise ValueError("var has negative entry/entries")
    var = var.clone()
    from ..autograd.modes import no_grad
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (_torch("log")(var) + (input - target) ** 2 / var)
    if full:
        loss += 0.5 * math.log(2 * math.pi)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


from .resizing import (adaptive_max_pool1d, adaptive_max_pool2d, affine_grid, fold, grid_sample, interpolate, pdist, pixel_shuffle, pixel_unshuffle,  # noqa: E402,F401
                       unfold, upsample, upsample_bilinear, upsample_nearest)


# Those that are operators just so, by where PyTorch has them; its names for the written-in-place ones too.
_PLAIN = {"_nn": ["elu_", "hardtanh_", "leaky_relu_", "adaptive_max_pool2d_with_indices", "avg_pool3d"],
          "_VariableFunctions": ["adaptive_max_pool1d_with_indices", "bilinear", "celu_", "channel_shuffle", "native_channel_shuffle", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose3d",
                                 "relu_", "rrelu_", "selu_", "threshold_"]}
_missing = attribute("torch.nn.functional")


def __getattr__(name):
    if name in _MORE:
        from . import _rarer
        globals()[name] = _public(name, getattr(_rarer, name))
        return globals()[name]
    for place, names in _PLAIN.items():
        if name in names and hasattr(getattr(_C, place), name):
            return getattr(getattr(_C, place), name)
    return _missing(name)


_MORE = {"adaptive_avg_pool3d", "adaptive_max_pool3d", "ctc_loss", "dropout3d", "embedding_bag", "feature_alpha_dropout", "local_response_norm", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool3d", "max_unpool1d", "max_unpool2d",
         "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "rrelu", "soft_margin_loss", "triplet_margin_with_distance_loss"}
# What is an operator just so in PyTorch, by where it is there; handlers of the others get one argument by position if not as many as here.
_OPERATORS = {"torch._C._nn": "avg_pool2d gelu linear logsigmoid one_hot scaled_dot_product_attention softplus softshrink",
              "torch": "adaptive_avg_pool1d avg_pool1d conv1d conv2d conv_transpose2d cosine_similarity hardshrink pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu"}
_BY_POSITION = {2: "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d affine_grid binary_cross_entropy binary_cross_entropy_with_logits "
                   "cross_entropy embedding embedding_bag grid_sample group_norm hinge_embedding_loss huber_loss kl_div l1_loss layer_norm local_response_norm max_pool1d max_pool2d max_pool3d "
                   "mse_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss nll_loss pad poisson_nll_loss rms_norm smooth_l1_loss soft_margin_loss unfold",
                3: "batch_norm cosine_embedding_loss fold gaussian_nll_loss lp_pool1d lp_pool2d margin_ranking_loss max_unpool1d max_unpool2d threshold triplet_margin_loss "
                   "triplet_margin_with_distance_loss",
                4: "ctc_loss", 13: "multi_head_attention_forward"}
_PLACES = {name: place for place, names in _OPERATORS.items() for name in names.split()}
_COUNTS = {name: count for count, names in _BY_POSITION.items() for name in names.split()}


def _public(name, function):
    """The function with a look for handlers, and called what PyTorch calls it."""
    if name in ("sigmoid", "tanh", "upsample", "upsample_bilinear", "upsample_nearest"):
        return function  # look for none themselves
    made = asks(function, None if name in _PLACES else _COUNTS.get(name, 1))
    made.__module__ = _PLACES.get(name, "torch.nn.functional")
    if name == "logsigmoid":
        made.__name__ = "log_sigmoid"
    return made


globals().update({_name: _public(_name, _held) for _name, _held in list(globals().items()) if isfunction(_held) and not _name.startswith("_") and _held is not asks and _held is not isfunction
                  and _held is not attribute and _held is not missing})
