"""Layers: normalisation, convolution, pooling, embedding, softmax, losses."""
import torch

from .registry import kernel
from .rules import cast_for_math, check, computed_in, contiguous_strides, convert, memory_format_of, promoted, result_type


def unsqueezed(t, rank):
    """With dimensions of size one behind, up to this many."""
    for _ in range(rank - t.dim()):
        t = t.unsqueeze(-1)
    return t


@kernel("_softmax")
def softmax(self, dim, half_to_float):
    computed, result = result_type([self])
    return torch.empty_like(self, dtype=computed if half_to_float else result, memory_format=torch.contiguous_format)


@kernel("_log_softmax")
def log_softmax(self, dim, half_to_float):
    x = self.contiguous()
    computed, result = result_type([x])
    x = x.to(computed)
    shifted = x - torch.amax(x, dim, keepdim=True)
    out = shifted - torch.log(torch.sum(torch.exp(shifted), dim, keepdim=True))
    return out if half_to_float else out.to(result)


@kernel("_safe_softmax")
def safe_softmax(self, dim, dtype=None):
    out = torch.softmax(self, dim=dim, dtype=dtype)
    masked = self.eq(float("-inf"))
    rows = torch.all(masked, dim=dim, keepdim=True)
    return torch.where(rows, torch.zeros_like(out), out)


def _normalized(a, dims, eps):
    a = convert(a, computed_in(a.dtype))
    variance, mean = torch.var_mean(a, dim=dims, unbiased=False, keepdim=True)
    rstd = torch.rsqrt(variance + eps)
    return (a - mean) * rstd, mean, rstd


@kernel("native_layer_norm")
def native_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):  # noqa: A002
    shape = list(normalized_shape)
    check(len(shape) >= 1, lambda: "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = %s" % str(normalized_shape))
    for name, t in (("weight", weight), ("bias", bias)):
        check(t is None or list(t.shape) == shape, lambda: "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and normalized_shape = %s" % (name, name, t.shape, normalized_shape))
    axis = input.dim() - len(shape)
    check(axis >= 0 and list(input.shape[axis:]) == shape,
          lambda: "Given normalized_shape=%s, expected input with shape %s, but got input of size %s" % (normalized_shape, normalized_shape, input.shape))
    check(not input.is_complex(), "native_layer_norm does not support complex inputs")
    input = _plain(input)  # noqa: A001
    weight, bias = _plain(weight), _plain(bias)
    out, mean, rstd = _normalized(input, list(range(axis, input.dim())), eps)
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return convert(out, input.dtype), mean, rstd


def _plain(t):
    return t if t is None or t.is_contiguous() else torch.clone(t, memory_format=torch.contiguous_format)


@kernel("native_group_norm")
def native_group_norm(input, weight, bias, N, C, HxW, group, eps):  # noqa: A002
    check(input.dim() >= 2, lambda: "Expected at least 2 dimensions for input tensor but received %d" % input.dim())
    check(C % group == 0, lambda: "Expected number of channels in input to be divisible by num_groups, but got input of shape %s and num_groups = %d" % (input.shape, group))
    parts = torch.reshape(convert(input, computed_in(input.dtype)), [N, group, C // group, HxW])
    out, mean, rstd = _normalized(parts, [2, 3], eps)
    out = out.view(input.shape)
    if weight is not None:
        out = out * _channels(weight, input.dim())
    if bias is not None:
        out = out + _channels(bias, input.dim())
    out, mean, rstd = (convert(t, input.dtype) for t in (out, mean, rstd))
    return out, torch.squeeze(mean, [2, 3]), torch.squeeze(rstd, [2, 3])


def _channels(t, rank):
    for d in [0, *range(2, rank)]:
        t = t.unsqueeze(d)
    return t


@kernel("native_batch_norm")
def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):  # noqa: A002
    dims = [0, *range(2, input.dim())]
    computed = computed_in(input.dtype)
    if training:
        variance, mean = torch.var_mean(input.to(dtype=computed), dim=dims, correction=0, keepdim=True)
        rstd = torch.rsqrt(variance + eps)
        out = (input - mean) * rstd
        saved = torch.squeeze(mean, dims), torch.squeeze(rstd, dims)
        if running_mean is not None:
            running_mean.copy_(momentum * saved[0] + (1 - momentum) * running_mean)
        if running_var is not None:
            n = input.numel() / input.shape[1]
            unbiased = torch.squeeze(variance, dims) * (n / (n - 1))
            running_var.copy_(momentum * unbiased + (1 - momentum) * running_var)
    else:
        check(running_mean is not None and running_var is not None, "running_mean and running_var must not be None in eval mode", AssertionError)
        mean = running_mean.to(dtype=computed, copy=True)
        variance = running_var.to(dtype=computed, copy=True)
        inverse = 1 / (torch.sqrt(variance + eps))
        saved = mean, inverse
        mean = unsqueezed(mean, input.dim() - 1)
        inverse = unsqueezed(inverse, input.dim() - 1)
        out = (input - mean) * inverse
    if weight is not None:
        out = out * unsqueezed(weight.flatten(), input.dim() - 1)
    if bias is not None:
        out = out + unsqueezed(bias.flatten(), input.dim() - 1)
    return (out.to(dtype=input.dtype), *saved)


def _each(values, dims):
    return list(values) * dims if len(values) == 1 else list(values)


@kernel("convolution")
def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):  # noqa: A002
    sizes, kernels = input.shape[2:], weight.shape[2:]
    n = len(sizes)
    stride, padding, dilation, extra = (_each(v, n) for v in (stride, padding, dilation, output_padding))
    shape = [input.shape[0], groups * weight.shape[1] if transposed else weight.shape[0]]
    if transposed:
        shape += [(sizes[i] - 1) * stride[i] - 2 * padding[i] + dilation[i] * (kernels[i] - 1) + extra[i] + 1 for i in range(n)]
    else:
        check(weight.shape[1] * groups == input.shape[1], "Invalid channel dimensions")
        padded = [sizes[i] + 2 * padding[i] for i in range(n)]
        reached = [dilation[i] * (kernels[i] - 1) + 1 for i in range(n)]
        check(all(p >= r for p, r in zip(padded, reached)), lambda: "Calculated padded input size per channel: (%s). Kernel size: (%s). Kernel size can't be greater than actual input size"
              % (" x ".join(map(str, padded)), " x ".join(map(str, reached))))
        shape += [(padded[i] - reached[i]) // stride[i] + 1 for i in range(n)]
    check(all(s > 0 for s in shape[2:]), lambda: "Given input size per channel: %s. Calculated output size per channel: %s. Output size is too small" % (list(sizes), shape[2:]))
    if input.shape[1] == 0:
        shape[1] = 0
    return input.new_empty(shape)


@kernel("_convolution")
def _convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, *settings):  # noqa: A002
    return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)


def _pooled(size, k, pad, stride, dilation, ceil):
    check(stride != 0, "stride should not be zero")
    check(pad >= 0, lambda: "pad must be non-negative, but got pad: %d" % pad)
    check(pad <= ((k - 1) * dilation + 1) // 2, lambda: "pad should be at most half of effective kernel size, but got pad=%d, kernel_size=%d and dilation=%d" % (pad, k, dilation))
    out = (size + 2 * pad - dilation * (k - 1) - 1 + (stride - 1 if ceil else 0)) // stride + 1
    return out - 1 if ceil and (out - 1) * stride >= size + pad else out


def pooled_shape(name, t, kernel_size, stride, padding, dilation, ceil):
    for what, v in (("kernel_size", kernel_size), ("padding", padding), ("dilation", dilation)):
        check(len(v) in (1, 2), lambda: "%s: %s must either be a single int, or a tuple of two ints" % (name, what))
    check(len(stride) in (0, 1, 2), lambda: "%s: stride must either be omitted, a single int, or a tuple of two ints" % name)
    (kh, kw), (ph, pw), (dh, dw) = (_each(v, 2) for v in (kernel_size, padding, dilation))
    sh, sw = _each(stride, 2) if stride else (kh, kw)
    if name == "max_pool2d":
        check(t.dim() in (3, 4), "non-empty 3D or 4D (batch mode) tensor expected for input")
    planes, height, width = t.shape[-3:]
    h, w = _pooled(height, kh, ph, sh, dh, ceil), _pooled(width, kw, pw, sw, dw, ceil)
    check(kw > 0 and kh > 0, lambda: "kernel size should be greater than zero, but got kH: %d, kW: %d" % (kh, kw))
    check(sw > 0 and sh > 0, lambda: "stride should be greater than zero, but got dH: %d, dW: %d" % (sh, sw))
    check(t.dim() in (3, 4) and all(t.shape[t.dim() - 3:]), lambda: "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got: %s" % str(t.shape))
    check(kw // 2 >= pw and kh // 2 >= ph, lambda: "pad should be smaller than or equal to half of kernel size, but got padW = %d, padH = %d, kW = %d, kH = %d" % (pw, ph, kw, kh))
    check(w >= 1 and h >= 1, lambda: "Given input size: (%dx%dx%d). Calculated output size: (%dx%dx%d). Output size is too small" % (planes, height, width, planes, h, w))
    return [*t.shape[:-2], h, w]


@kernel("max_pool2d_with_indices")
def max_pool2d(self, kernel_size, stride=(), padding=(0,), dilation=(1,), ceil_mode=False):
    shape = pooled_shape("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode)
    form = memory_format_of(self)
    return torch.empty(shape, dtype=self.dtype, device=self.device, memory_format=form), torch.empty(shape, dtype=torch.int64, device=self.device, memory_format=form)


@kernel("avg_pool2d")
def avg_pool2d(self, kernel_size, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, divisor_override=None):
    check(divisor_override is None or divisor_override != 0, "divisor must be not zero")
    shape = pooled_shape("avg_pool2d", self, kernel_size, stride, padding, (1,), ceil_mode)
    return torch.empty(shape, dtype=self.dtype, device=self.device, memory_format=memory_format_of(self))


@kernel("_adaptive_avg_pool2d")
def adaptive_avg_pool2d(self, output_size):
    check(self.dim() in (3, 4), lambda: "Expected 3D or 4D tensor, but got %s" % str(self.shape))
    return torch.empty([*self.shape[:-2], *output_size], dtype=self.dtype, device=self.device, memory_format=memory_format_of(self))


@kernel("adaptive_max_pool2d")
def adaptive_max_pool2d(self, output_size):
    check(self.dim() in (3, 4), lambda: "adaptive_max_pool2d(): Expected 3D or 4D tensor, but got: %s" % str(self.shape))
    check(len(output_size) == 2, "adaptive_max_pool2d(): internal error: output_size.size() must be 2")
    shape, form = [*self.shape[:-2], *output_size], memory_format_of(self)
    out = self.new_empty(shape).to(memory_format=form)
    return out, self.new_empty(shape, dtype=torch.int64).to(memory_format=form)


@kernel("upsample_nearest2d")
def upsample_nearest2d(self, output_size, scales_h=None, scales_w=None):
    check(len(output_size) == 2, lambda: "It is expected output_size equals to 2, but got size %d" % len(output_size))
    check(self.dim() == 4, lambda: "It is expected input_size equals to 4, but got size %d" % self.dim())
    out = self.new_empty([*self.shape[:2], *output_size])
    return out if memory_format_of(self) is torch.contiguous_format else out.to(memory_format=memory_format_of(self))


@kernel("pixel_shuffle")
def pixel_shuffle(self, upscale_factor):
    n, r = self.dim(), upscale_factor
    check(n > 2 and self.shape[-3] % (r * r) == 0, lambda: "Invalid input shape for pixel_shuffle: %s with upscale_factor = %d" % (str(self.shape), r), AssertionError)
    shape = [*self.shape[:-3], self.shape[-3] // (r * r), self.shape[-2] * r, self.shape[-1] * r]
    return torch.empty_strided(shape, contiguous_strides(shape), dtype=self.dtype, device=self.device)


@kernel("reflection_pad2d")
def reflection_pad2d(self, padding):
    left, right, top, bottom = padding
    height, width = self.shape[-2:]
    check(left < width and right < width, lambda: "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (%d, %d) at dimension %d of input %s"
          % (left, right, self.dim() - 1, self.shape))
    check(top < height and bottom < height, lambda: "Argument #6: Padding size should be less than the corresponding input dimension, but got: padding (%d, %d) at dimension %d of input %s"
          % (top, bottom, self.dim() - 2, self.shape))
    return self.new_empty([*self.shape[:-2], height + top + bottom, width + left + right])


@kernel("embedding")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    check(weight.dim() == 2, lambda: "'weight' must be 2-D, got %d-D" % weight.dim(), AssertionError)
    check(indices.dtype in (torch.int64, torch.int32),
          lambda: "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got %s instead" % indices.dtype)
    return weight.new_empty((*indices.shape, weight.shape[1]), dtype=weight.dtype)


@kernel("multinomial")
def multinomial(self, num_samples, replacement=False, *, generator=None):
    check(0 < self.dim() <= 2, lambda: "The probability distributions dimensions must be 1 or 2, but got %d" % self.dim())
    return torch.empty([*self.shape[:-1], num_samples], dtype=torch.int64, device=self.device)


# --- losses
def reduced_loss(loss, reduction):
    return torch.mean(loss) if reduction == 1 else torch.sum(loss) if reduction == 2 else loss


@kernel("mse_loss")
@cast_for_math
def mse_loss(self, target, reduction=1):
    return reduced_loss((self - target) ** 2, reduction)


@kernel("smooth_l1_loss")
@cast_for_math
def smooth_l1_loss(self, target, reduction=1, beta=1.0):
    loss = (self - target).abs()
    return reduced_loss(torch.where(loss < beta, 0.5 * loss ** 2 / beta, loss - 0.5 * beta), reduction)


@kernel("huber_loss")
@promoted(("self", "target"))
def huber_loss(self, target, reduction=1, delta=1.0):
    z = (self - target).abs()
    return reduced_loss(torch.where(z < delta, 0.5 * z * z, delta * (z - 0.5 * delta)), reduction)


@kernel("soft_margin_loss")
@cast_for_math
def soft_margin_loss(self, target, reduction=1):
    return reduced_loss(torch.log1p(torch.exp(-self * target)), reduction)


@kernel("binary_cross_entropy")
@cast_for_math
def binary_cross_entropy(self, target, weight=None, reduction=1):
    loss = (target - 1) * torch.maximum(torch.log1p(-self), self.new_full((), -100)) - target * torch.maximum(torch.log(self), self.new_full((), -100))
    return reduced_loss(loss if weight is None else loss * weight, reduction)


@kernel("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1):
    if pos_weight is None:
        loss = (1 - target) * self - torch.nn.functional.logsigmoid(self)
    else:
        more = (pos_weight - 1) * target + 1
        loss = (1 - target) * self - (more * torch.nn.functional.logsigmoid(self))
    if weight is not None:
        loss = loss * weight
    return reduced_loss(loss.to(target.dtype), reduction)


@kernel("nll_loss_forward")
def nll_loss_forward(self, target, weight, reduction, ignore_index):
    check(0 < self.dim() <= 2, lambda: "input tensor should be 1D or 2D, got %dD" % self.dim(), AssertionError)
    check(target.dim() <= 1, lambda: "0D or 1D target tensor expected, multi-target not supported, got %dD" % target.dim(), AssertionError)
    check(self.dim() == 1 and target.dim() == 0 or self.shape[0] == target.shape[0], lambda: "size mismatch (got input: %s, target: %s)" % (self.shape, target.shape))
    check(weight is None or weight.dim() == 1 and weight.numel() == self.shape[-1], lambda: "weight tensor should be defined either for all %d classes or no classes but got weight tensor of shape: %s"
          % (self.shape[-1], weight.shape), AssertionError)
    return _nll(self, target, weight, reduction, ignore_index)


@kernel("nll_loss2d_forward")
def _nll(self, target, weight, reduction, ignore_index):
    channel = 0 if self.dim() < 2 else 1
    if weight is not None:
        weight = weight.view([weight.shape[0] if d == channel else 1 for d in range(self.dim())]) if self.dim() > 1 else weight
        self = self * weight
    safe = torch.where(target != ignore_index, target, 0).unsqueeze(channel)
    loss = -torch.gather(self, channel, safe).squeeze(channel)
    loss = torch.where(target != ignore_index, loss, 0)
    if reduction == 0 and self.dim() > 1:
        return loss, self.new_full((), 0.0)
    if weight is None:
        total = (target != ignore_index).sum().to(self)
    else:
        each = torch.gather(weight.expand(self.shape), channel, safe).squeeze(channel)
        total = torch.where(target != ignore_index, each, 0).sum()
    return loss.sum() / total if reduction == 1 else loss.sum() if reduction == 2 else loss, total
