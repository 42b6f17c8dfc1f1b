"""A layer and the batch norm behind it as one layer."""
import copy

from ... import _C
from ..._missing import attribute
from ..parameter import Parameter

_V = _C._VariableFunctions


def fuse_conv_bn_eval(conv, bn, transpose=False):
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear, bn):
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got linear.out_features=%s and bn.num_features=%s"
                             % (linear.out_features, bn.num_features))
    return _fused(linear, bn, fuse_linear_bn_weights)


def _fused(layer, bn, weights, *options):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(layer)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, *options)
    return fused


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    dtype = conv_w.dtype
    bias_dtype = dtype if conv_b is None else conv_b.dtype
    conv_b = _V.zeros_like(bn_rm) if conv_b is None else conv_b
    bn_w = _V.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = _V.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = _V.rsqrt(bn_rv + bn_eps)
    shape = ([1, -1] if transpose else [-1, 1]) + [1] * (len(conv_w.shape) - 2)
    weight = (conv_w * (bn_w * scale).reshape(shape)).to(dtype=dtype)
    bias = ((conv_b - bn_rm) * scale * bn_w + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, conv_w.requires_grad), Parameter(bias, conv_b.requires_grad)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    dtype = linear_w.dtype
    bias_dtype = dtype if linear_b is None else linear_b.dtype
    linear_b = _V.zeros_like(bn_rm) if linear_b is None else linear_b
    scale = bn_w * _V.rsqrt(bn_rv + bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(dtype=dtype)
    bias = ((linear_b - bn_rm) * scale + bn_b).to(dtype=bias_dtype)
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)


__getattr__ = attribute("torch.nn.utils.fusion")
