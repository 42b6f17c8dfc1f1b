"""Layers over pictures."""
import math

from .. import _C
from . import functional as F
from . import init
from .layers import _empty
from .module import Module
from .parameter import Parameter


class _ConvNd(Module):
    dimensions = 2
    transposed = False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError("Invalid padding string %r, should be one of {'same', 'valid'}" % padding)
            if padding == "same" and any(s != 1 for s in self._sizes(stride)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError("padding_mode must be one of {'zeros', 'reflect', 'replicate', 'circular'}, but got padding_mode='%s'" % padding_mode)
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size, self.stride, self.dilation = (self._sizes(v) for v in (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else self._sizes(padding)
        shape = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        self.weight = Parameter(_empty(*shape, *self.kernel_size, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _sizes(self, value):
        return (value,) * self.dimensions if isinstance(value, int) else tuple(value)

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._fans(self.weight)
            if fan_in != 0:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    @property
    def _reversed_padding_repeated_twice(self):
        """As F.pad takes it: the last dimension first, before and after."""
        if not isinstance(self.padding, str):
            return [p for p in reversed(self.padding) for _ in range(2)]
        if self.padding == "valid":
            return [0] * (2 * self.dimensions)
        totals = [d * (k - 1) for d, k in zip(reversed(self.dilation), reversed(self.kernel_size))]
        return [part for total in totals for part in (total // 2, total - total // 2)]

    def forward(self, input):
        convolve, padding = getattr(F, "conv%dd" % self.dimensions), self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), self._sizes(0)
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self):
        text = "%s, %s, kernel_size=%s, stride=%s" % (self.in_channels, self.out_channels, self.kernel_size, self.stride)
        for name, usual in (("padding", self._sizes(0)), ("dilation", self._sizes(1)), ("output_padding", self._sizes(0)), ("groups", 1)):
            if getattr(self, name, usual) != usual:
                text += ", %s=%s" % (name, getattr(self, name))
        return text + (", bias=False" if self.bias is None else "") + ("" if self.padding_mode == "zeros" else ", padding_mode=%s" % self.padding_mode)


class Conv1d(_ConvNd):
    dimensions = 1


class Conv2d(_ConvNd):
    dimensions = 2


class _ConvTranspose(_ConvNd):
    transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        if padding_mode != "zeros":
            raise ValueError('Only "zeros" padding mode is supported for %s' % type(self).__name__)
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype)
        self.output_padding = self._sizes(output_padding)

    def _padding_for(self, input, output_size):
        """What is added at the end for the result to be as large as asked."""
        n = self.dimensions
        if len(output_size) == n + 2 or (len(output_size) == n + 1 and input.dim() == n + 1):
            output_size = output_size[-n:]
        if len(output_size) != n:
            raise ValueError("ConvTranspose%dD: for %dD input, output_size must have %d or %d elements (got %d)" % (n, input.dim(), n, input.dim(), len(output_size)))
        sizes = input.size()[-n:]
        least = [(size - 1) * self.stride[i] - 2 * self.padding[i] + self.dilation[i] * (self.kernel_size[i] - 1) + 1 for i, size in enumerate(sizes)]
        most = [size + stride - 1 for size, stride in zip(least, self.stride)]
        if not all(low <= size <= high for low, size, high in zip(least, output_size, most)):
            raise ValueError("requested an output size of %s, but valid sizes range from %s to %s (for an input of %s)" % (output_size, least, most, sizes))
        return tuple(size - low for size, low in zip(output_size, least))

    def forward(self, input, output_size=None):
        added = self.output_padding if output_size is None else self._padding_for(input, output_size)
        return getattr(F, "conv_transpose%dd" % self.dimensions)(input, self.weight, self.bias, self.stride, self.padding, added, self.groups, self.dilation)


class ConvTranspose1d(_ConvTranspose):
    dimensions = 1


class ConvTranspose2d(_ConvTranspose):
    dimensions = 2


class _MaxPool(Module):
    function = ""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode

    def forward(self, input):
        return getattr(F, self.function)(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)

    def extra_repr(self):
        return "kernel_size=%s, stride=%s, padding=%s, dilation=%s, ceil_mode=%s" % (self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool1d(_MaxPool):
    function = "max_pool1d"


class MaxPool2d(_MaxPool):
    function = "max_pool2d"


class AvgPool1d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__()
        self.kernel_size, self.stride = (kernel_size,), (kernel_size if stride is None else stride,)
        self.padding, self.ceil_mode, self.count_include_pad = (padding,), ceil_mode, count_include_pad

    def forward(self, input):
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)

    def extra_repr(self):
        return "kernel_size=%s, stride=%s, padding=%s" % (self.kernel_size, self.stride, self.padding)


class AvgPool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, input):
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)

    def extra_repr(self):
        return "kernel_size=%s, stride=%s, padding=%s" % (self.kernel_size, self.stride, self.padding)


class AdaptiveAvgPool1d(Module):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self.output_size)

    def extra_repr(self):
        return "output_size=%s" % (self.output_size,)


class AdaptiveAvgPool2d(Module):
    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)

    def extra_repr(self):
        return "output_size=%s" % (self.output_size,)


class _NormBase(Module):
    _version = 2
    dimensions = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum, self.affine, self.track_running_stats = num_features, eps, momentum, affine, track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(_empty(num_features, device=device, dtype=dtype)) if wanted else None)
        functions = _C._VariableFunctions
        self.register_buffer("running_mean", functions.zeros(num_features, device=device, dtype=dtype) if track_running_stats else None)
        self.register_buffer("running_var", functions.ones(num_features, device=device, dtype=dtype) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", _C.tensor(0, dtype=_C.int64, device=device) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        if input.dim() not in self.dimensions:
            raise ValueError("expected %s input (got %dD input)" % (" or ".join("%dD" % d for d in self.dimensions), input.dim()))

    def extra_repr(self):
        return "%s, eps=%s, momentum=%s, affine=%s, bias=%s, track_running_stats=%s" % (self.num_features, self.eps, self.momentum, self.affine, self.bias is not None,
                                                                                        self.track_running_stats)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = _C.tensor(0, dtype=_C.int64) if self.num_batches_tracked is None else self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if tracked else None, self.running_var if tracked else None, self.weight, self.bias, batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    dimensions = (2, 3)


class BatchNorm2d(_BatchNorm):
    dimensions = (4,)


class BatchNorm3d(_BatchNorm):
    dimensions = (5,)


class _InstanceNorm(_NormBase):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input):
        self._check_input_dim(input)
        given = input
        if input.dim() == min(self.dimensions):
            input = input.unsqueeze(0)
        out = F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias, self.training or not self.track_running_stats,
                              self.momentum if self.momentum is not None else 0.0, self.eps)
        return out.squeeze(0) if given is not input else out


class InstanceNorm1d(_InstanceNorm):
    dimensions = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    dimensions = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    dimensions = (4, 5)
