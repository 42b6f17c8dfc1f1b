"""Functions of torch.nn.functional that make pictures larger, smaller, or look at them through a grid."""
import math

from .. import _C
from .._missing import missing

_UPSAMPLE = {("nearest", 3): "upsample_nearest1d", ("nearest", 4): "upsample_nearest2d", ("nearest", 5): "upsample_nearest3d",
             ("nearest-exact", 3): "_upsample_nearest_exact1d", ("nearest-exact", 4): "_upsample_nearest_exact2d",
             ("linear", 3): "upsample_linear1d", ("bilinear", 4): "upsample_bilinear2d", ("bicubic", 4): "upsample_bicubic2d", ("trilinear", 5): "upsample_trilinear3d"}


def _pair(v, n=2):
    return (v,) * n if isinstance(v, int) else tuple(v)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    elif align_corners is None:
        align_corners = False
    dim = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        factors = None
        if isinstance(size, (list, tuple)):
            if len(size) != dim:
                raise ValueError("Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of %s and output size of %s. "
                                 "Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format." % (list(input.shape[2:]), size))
            size = list(size)
        else:
            size = [size] * dim
    elif scale_factor is not None:
        if isinstance(scale_factor, (list, tuple)):
            if len(scale_factor) != dim:
                raise ValueError("Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of %s and scale_factor of "
                                 "shape %s. Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format." % (list(input.shape[2:]), scale_factor))
            factors = [float(f) for f in scale_factor]
        else:
            factors = [float(scale_factor)] * dim
    else:
        raise ValueError("either size or scale_factor should be defined")
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if mode == "area" and size is None:
        recompute_scale_factor = True
    if recompute_scale_factor:
        size = [int(math.floor(float(input.shape[i + 2]) * factors[i])) for i in range(dim)]
        factors = None
    if antialias:
        missing("torch.nn.functional.interpolate(antialias=True)")
    if mode == "area" and 3 <= input.dim() <= 4:
        from . import functional as F
        return F.adaptive_avg_pool1d(input, size) if input.dim() == 3 else F.adaptive_avg_pool2d(input, size)
    name = _UPSAMPLE.get((mode, input.dim()))
    if name is None:
        wanted = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}.get(mode)
        if wanted is not None and 3 <= input.dim() <= 5 and mode != "bicubic":
            raise NotImplementedError("Got %dD input, but %s mode needs %dD input" % (input.dim(), mode, wanted))
        if mode in ("area", "nearest-exact") and 3 <= input.dim() <= 5:
            missing("torch.nn.functional.interpolate(mode=%r) of %d dimensions" % (mode, input.dim()))
        raise NotImplementedError("Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact "
                                  "(got %s)" % (input.dim(), mode))
    function = getattr(_C._nn, name)
    return function(input, size, factors) if align_corners is None else function(input, size, align_corners, factors)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)


def _deprecated(name):
    import warnings
    warnings.warn("`nn.functional.%s` is deprecated. Use `nn.functional.interpolate` instead." % name, stacklevel=3)


def upsample_nearest(input, size=None, scale_factor=None):
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    modes, paddings = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
    if mode not in modes:
        raise ValueError("nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '%s'" % mode)
    if padding_mode not in paddings:
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '%s'" % padding_mode)
    return _C._VariableFunctions.grid_sampler(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align_corners))


def affine_grid(theta, size, align_corners=None):
    if not theta.is_floating_point():
        raise ValueError("Expected theta to have floating point type, but got %s" % theta.dtype)
    if len(size) == 4 and (theta.dim() != 3 or theta.shape[-2] != 2 or theta.shape[-1] != 3):
        raise ValueError("Expected a batch of 2D affine matrices of shape Nx2x3 for size %s. Got %s." % (size, theta.shape))
    return _C._VariableFunctions.affine_grid_generator(theta, list(size), bool(align_corners))


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    return _C._nn.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return _C._nn.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def pixel_shuffle(input, upscale_factor):
    return _C._VariableFunctions.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input, downscale_factor):
    return _C._VariableFunctions.pixel_unshuffle(input, downscale_factor)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    values, indices = _C._VariableFunctions.adaptive_max_pool1d(input, output_size)
    return (values, indices) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    size = _pair(output_size)
    values, indices = _C._nn.adaptive_max_pool2d(input, [s if s is not None else n for s, n in zip(size, input.shape[-2:])])
    return (values, indices) if return_indices else values


def pdist(input, p=2):
    return _C._VariableFunctions.pdist(input, p)
