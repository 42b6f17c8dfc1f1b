"""Gradients of layers and losses."""
import math

import torch

from .registry import kernel
from .rules import cast_for_math, check, computed_in, memory_format_of
from .layers import pooled_shape, unsqueezed


@kernel("_softmax_backward_data")
@cast_for_math(back=False)
def softmax_backward(grad_output, output, dim, input_dtype):
    new = grad_output * output
    out = new - output * torch.sum(new, dim=dim, keepdim=True)
    return (out if grad_output.dtype is input_dtype else out.to(input_dtype)).contiguous()


@kernel("_log_softmax_backward_data")
@cast_for_math(back=False)
def log_softmax_backward(grad_output, output, dim, input_dtype):
    out = grad_output - torch.exp(output) * torch.sum(grad_output, dim=dim, keepdim=True)
    return out if grad_output.dtype is input_dtype else out.to(input_dtype)


def _cast(t, dtype):
    return None if t is None else t.to(dtype)


@kernel("native_layer_norm_backward")
def native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):  # noqa: A002
    computed = computed_in(input.dtype)
    g, x, w, b = (t if t is None else t.to(computed, memory_format=torch.contiguous_format) for t in (grad_out, input, weight, bias))
    axis = input.dim() - len(normalized_shape)
    inner, outer = list(range(axis, input.dim())), list(range(axis))
    n = math.prod(input.shape[axis:])
    if n == 0 or math.prod(input.shape[:axis]) == 0:
        return tuple(input.new_zeros(shape) if wanted else None for shape, wanted in zip((input.shape, input.shape[axis:], input.shape[axis:]), output_mask))
    mean, rstd = unsqueezed(mean, x.dim()), unsqueezed(rstd, x.dim())
    normal = (x - mean) * rstd
    gx = g if w is None else g * w
    a = gx * n
    first = torch.sum(gx, inner, True)
    second = torch.sum(torch.mul(gx, normal), inner, True)
    third = torch.mul(normal, second)
    inside = a - first - third
    d_input = (rstd / n) * inside if output_mask[0] else None
    d_weight = d_bias = None
    if output_mask[1] and w is not None:
        d_weight = torch.sum(g * normal, outer, False) if outer else g * normal
    if output_mask[2] and b is not None:
        d_bias = torch.sum(g, outer, False) if outer else g.clone()
    return _cast(d_input, input.dtype), _cast(d_weight, weight.dtype) if weight is not None else None, _cast(d_bias, bias.dtype) if bias is not None else None


def _in_channel(t, shape):
    for d, size in enumerate(shape):
        if size == 1 and not (d < t.dim() and t.shape[d] == 1):
            t = t.unsqueeze(d)
    return t


@kernel("native_batch_norm_backward")
def native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask):  # noqa: A002
    computed = computed_in(input.dtype)
    g, x, w, moving_mean, moving_var, mean, inverse = (t if t is None else t.to(computed) for t in (grad_out, input, weight, running_mean, running_var, save_mean, save_invstd))
    check(input.dim() >= 2, lambda: "rank of the input must be at least 2, got %d" % input.dim(), AssertionError)
    if not train:
        mean, inverse = moving_mean, torch.rsqrt(moving_var + eps)
    shape = [input.shape[1] if d == 1 else 1 for d in range(input.dim())]
    axes = [d for d in range(input.dim()) if d != 1]
    mean = _in_channel(mean, shape)
    norm = 1.0 / (math.prod(input.shape) / input.shape[1])
    total = torch.sum(g, axes)
    dot = torch.sum(g * (x - mean), axes)
    grad_mean = _in_channel(total * norm, shape)
    scale = _in_channel(torch.mul(dot * norm, inverse * inverse), shape)
    grad_scale = _in_channel(inverse, shape) * 1.0 if w is None else _in_channel(inverse * w, shape)
    out = ((g - (x - mean) * scale) - grad_mean) * grad_scale if train else g * grad_scale
    kept = weight.dtype if weight is not None else input.dtype
    d_weight = dot * inverse if output_mask[1] else None
    return out.to(input.dtype), _cast(d_weight, kept), _cast(total, kept) if output_mask[2] else None


@kernel("convolution_backward")
def convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask):  # noqa: A002
    last = torch.channels_last in (memory_format_of(input), memory_format_of(weight))
    form = torch.channels_last if last else torch.contiguous_format
    return (grad_output.new_empty(input.size()).to(memory_format=form) if output_mask[0] else None,
            grad_output.new_empty(weight.size()).to(memory_format=form) if output_mask[1] else None,
            grad_output.new_empty(bias_sizes) if output_mask[2] else None)


@kernel("max_pool2d_with_indices_backward")
def max_pool2d_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    shape = pooled_shape("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode)
    check(self.dtype == grad_output.dtype, lambda: "Expected dtype %s for `gradOutput` but got dtype %s" % (self.dtype, grad_output.dtype))
    for t in (grad_output, indices):
        check(list(t.shape[-3:]) == shape[-3:], lambda: "Expected a tensor of shape %s but got %s" % (shape, list(t.shape)))
    return torch.empty(self.shape, dtype=self.dtype, device=self.device, memory_format=memory_format_of(self))


@kernel("avg_pool2d_backward")
def avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    check(divisor_override is None or divisor_override != 0, "divisor must be not zero")
    pooled_shape("avg_pool2d", self, kernel_size, stride, padding, (1,), ceil_mode)
    return torch.empty(self.shape, dtype=self.dtype, device=self.device, memory_format=memory_format_of(self))


@kernel("_adaptive_avg_pool2d_backward")
def adaptive_avg_pool2d_backward(grad_output, self):
    check(self.dtype == grad_output.dtype, lambda: "expected dtype %s for `grad_output` but got dtype %s" % (self.dtype, grad_output.dtype))
    return self.new_empty(self.shape).to(memory_format=memory_format_of(self))


@kernel("embedding_dense_backward")
def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    return grad_output.new_empty((num_weights, grad_output.size(-1)))


@kernel("mse_loss_backward")
@cast_for_math
def mse_loss_backward(grad_output, self, target, reduction):
    return (2.0 / self.numel() if reduction == 1 else 2.0) * (self - target) * grad_output


@kernel("nll_loss_backward", "nll_loss2d_backward")
def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    channel = 0 if self.dim() < 2 else 1
    if reduction == 1:
        grad_output = grad_output / total_weight
    target = target.unsqueeze(channel)
    safe = torch.where(target != ignore_index, target, 0)
    out = torch.scatter(torch.zeros_like(self), channel, safe, -1.0)
    if out.dim() > grad_output.dim() > 0:
        grad_output = grad_output.unsqueeze(channel)
    if weight is not None:
        grad_output = grad_output * weight.reshape([weight.shape[0] if d == channel else 1 for d in range(self.dim())])
    return out * torch.where(target != ignore_index, grad_output, 0)


@kernel("slice_backward")
def slice_backward(grad_output, input_sizes, dim, start, end, step):
    return torch.slice_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, start, end, step)


@kernel("select_backward")
def select_backward(grad_output, input_sizes, dim, index):
    return torch.select_scatter(grad_output.new_zeros(input_sizes), grad_output, dim, index)


@kernel("smooth_l1_loss_backward")
@cast_for_math
def smooth_l1_loss_backward(grad_output, self, target, reduction, beta):
    norm = 1.0 / self.numel() if reduction == 1 else 1.0
    x = self - target
    away = torch.abs(x)
    each = norm * grad_output
    return torch.where(away < beta, each * x / beta, each * torch.sign(x))


@kernel("binary_cross_entropy_backward")
@cast_for_math
def binary_cross_entropy_backward(grad_output, self, target, weight=None, reduction=1):
    out = grad_output * (self - target) / torch.clamp(self * (1 - self), min=1e-12)
    if weight is not None:
        out = out * weight
    return out / self.numel() if reduction == 1 else out


@kernel("native_group_norm_backward")
@cast_for_math
def native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask):  # noqa: A002
    check(input.numel() == N * C * HxW, lambda: "Expect input to have %d elements" % (N * C * HxW))
    check(tuple(mean.shape) == (N, group), lambda: "Expect mean to have shape (%d, %d, but got %s" % (N, group, mean.shape))
    each = C // group
    ds = torch.mul(grad_out, input).view(N, C, HxW).sum(dim=[2])
    db = grad_out.view(N, C, HxW).sum(dim=[2])
    d_input = d_weight = d_bias = None
    if output_mask[0]:
        s = 1.0 / (HxW * each)
        if weight is not None:
            ds_group = torch.mul(ds, weight.unsqueeze(0)).reshape(N, group, each).sum(2)
            db_group = torch.mul(db, weight.unsqueeze(0)).reshape(N, group, each).sum(2)
            c1 = torch.mul(rstd.unsqueeze(-1), weight.reshape(1, group, each))
        else:
            ds_group = ds.reshape(N, group, each).sum(2)
            db_group = db.reshape(N, group, each).sum(2)
            c1 = torch.mul(rstd.unsqueeze(-1), torch.ones((1, group, each), device=rstd.device))
        c2 = (db_group * mean - ds_group) * rstd * rstd * rstd * s
        c3 = -c2 * mean - db_group * rstd * s
        c1 = c1.unsqueeze(-1)
        c2, c3 = unsqueezed(c2, 4), unsqueezed(c3, 4)
        d_input = torch.mul(grad_out.reshape(N, group, each, HxW), c1) + torch.mul(input.reshape(N, group, each, HxW), c2) + c3
        d_input = d_input.reshape(input.shape).to(input.dtype)
    if output_mask[1]:
        d_weight = ((ds.view(N, group, each) - db.view(N, group, each) * mean.unsqueeze(-1)) * rstd.unsqueeze(-1)).sum(dim=[0]).reshape(C)
    if output_mask[2]:
        d_bias = db.sum(dim=[0])
    return d_input, d_weight, d_bias
