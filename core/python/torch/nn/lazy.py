"""Layers that learn the size of what they get from the first of it."""
import itertools

from ..autograd.modes import no_grad
from . import images, volumes
from .layers import Linear
from .parameter import UninitializedBuffer, UninitializedParameter, is_lazy


class LazyModuleMixin:
    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        kept = {k: b for k, b in self._buffers.items() if k not in self._non_persistent_buffers_set}
        for name, t in itertools.chain(self._parameters.items(), kept.items()):
            if t is not None:
                destination[prefix + name] = t if keep_vars or is_lazy(t) else t.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name, t in itertools.chain(self._parameters.items(), self._buffers.items()):
            given = state_dict.get(prefix + name)
            if t is not None and given is not None and is_lazy(t) and not is_lazy(given):
                with no_grad():
                    t.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError("initialize_parameters is not implemented for %s" % type(self).__name__)

    def has_uninitialized_params(self):
        return any(is_lazy(t) for t in itertools.chain(self._parameters.values(), self._buffers.values()))

    def _infer_parameters(self, module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError("module %s has not been fully initialized" % self._get_name())
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if not self.has_uninitialized_params():
            return
        with no_grad():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()


class _LazyConv(LazyModuleMixin):
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._wanted(out_channels, bias, device, dtype)

    def _wanted(self, out_channels, bias, device, dtype):
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        if not self.has_uninitialized_params():
            return
        self.in_channels = input.shape[1 if input.dim() == self.dimensions + 2 else 0]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        shape = (self.in_channels, self.out_channels // self.groups) if self.transposed else (self.out_channels, self.in_channels // self.groups)
        self.weight.materialize((*shape, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, images.Conv1d):
    cls_to_become = images.Conv1d


class LazyConv2d(_LazyConv, images.Conv2d):
    cls_to_become = images.Conv2d


class LazyConv3d(_LazyConv, volumes.Conv3d):
    cls_to_become = volumes.Conv3d


class _LazyConvTranspose(_LazyConv):
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        LazyModuleMixin.__init__(self, 0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype)
        self._wanted(out_channels, bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, images.ConvTranspose1d):
    cls_to_become = images.ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, images.ConvTranspose2d):
    cls_to_become = images.ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, volumes.ConvTranspose3d):
    cls_to_become = volumes.ConvTranspose3d


class _LazyNorm(LazyModuleMixin):
    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            self.weight, self.bias = UninitializedParameter(**options), UninitializedParameter(**options)
        if track_running_stats:
            from .. import int64, tensor
            self.running_mean, self.running_var = UninitializedBuffer(**options), UninitializedBuffer(**options)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for t in (*((self.weight, self.bias) if self.affine else ()), *((self.running_mean, self.running_var) if self.track_running_stats else ())):
            t.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, images.BatchNorm1d):
    cls_to_become = images.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, images.BatchNorm2d):
    cls_to_become = images.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, images.BatchNorm3d):
    cls_to_become = images.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, images.InstanceNorm1d):
    cls_to_become = images.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, images.InstanceNorm2d):
    cls_to_become = images.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, images.InstanceNorm3d):
    cls_to_become = images.InstanceNorm3d
