"""Kernels for tensors without data (device "meta"), written in Python as in PyTorch: each computes shape, strides and type of what its operator would make.

`rules` has what they share, `prims` the small operators they call, and `registry` where they are noted; the other files are the kernels by kind.
They are read when the first of them is called: few programs have such tensors, and reading takes longer than all the rest of `import torch` should.
"""
from .registry import kernels, register

NAMES = """
    _adaptive_avg_pool2d _adaptive_avg_pool2d_backward _convolution _local_scalar_dense _log_softmax _log_softmax_backward_data _prelu_kernel _safe_softmax _softmax
    _softmax_backward_data _unsafe_view abs abs_ acos acos_ acosh acosh_ adaptive_max_pool2d add.Scalar add.Tensor add_.Scalar add_.Tensor addcdiv addcdiv_ addcmul
    addcmul_ addmm addmv all all.dim amax amin aminmax any any.dim arange arange.start arange.start_step argmax argmin asin asin_ asinh asinh_ atan atan2 atan2_ atan_
    atanh atanh_ avg_pool2d avg_pool2d_backward baddbmm bernoulli bernoulli.p bernoulli_.float binary_cross_entropy binary_cross_entropy_backward
    binary_cross_entropy_with_logits bitwise_and.Scalar bitwise_and.Tensor bitwise_and_.Scalar bitwise_and_.Tensor bitwise_not bitwise_not_ bitwise_or.Scalar
    bitwise_or.Tensor bitwise_or_.Scalar bitwise_or_.Tensor bitwise_xor.Scalar bitwise_xor.Tensor bitwise_xor_.Scalar bitwise_xor_.Tensor bmm cat ceil ceil_ celu celu_
    clamp clamp.Tensor clamp_ clamp_.Tensor clamp_max clamp_max.Tensor clamp_max_ clamp_max_.Tensor clamp_min clamp_min.Tensor clamp_min_ clamp_min_.Tensor convolution
    convolution_backward copysign.Tensor cos cos_ cosh cosh_ cumprod cumprod_ cumsum cumsum_ diagonal_scatter digamma digamma_ div.Scalar div.Scalar_mode div.Tensor
    div.Tensor_mode div_.Scalar div_.Tensor dot elu elu_ elu_backward embedding embedding_dense_backward empty_like eq.Scalar eq.Tensor eq_.Scalar eq_.Tensor erf erf_
    erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expm1 expm1_ exponential_ eye eye.m eye.m_out eye.out fill_.Scalar fill_.Tensor flip floor floor_ floor_divide fmax fmin
    fmod.Scalar fmod.Tensor fmod_.Scalar fmod_.Tensor frac full full_like gather ge.Scalar ge.Tensor ge_.Scalar ge_.Tensor gelu gelu_backward glu glu_backward gt.Scalar
    gt.Tensor gt_.Scalar gt_.Tensor hardsigmoid hardsigmoid_ hardswish hardswish_ hardswish_backward hardtanh hardtanh_ hardtanh_backward huber_loss hypot index.Tensor
    index_add index_put index_put_ index_select isnan kthvalue le.Scalar le.Tensor le_.Scalar le_.Tensor leaky_relu leaky_relu_ leaky_relu_backward lerp.Scalar
    lerp.Tensor lerp_.Scalar lerp_.Tensor lgamma lgamma_ linalg_vector_norm linspace log log10 log10_ log1p log1p_ log2 log2_ log_ log_sigmoid_backward
    log_sigmoid_forward logaddexp logical_and logical_and_ logical_not logical_or logical_or_ logical_xor logical_xor_ logspace logsumexp lt.Scalar lt.Tensor lt_.Scalar
    lt_.Tensor masked_fill.Scalar masked_fill.Tensor masked_fill_.Scalar max max.dim max_pool2d_with_indices max_pool2d_with_indices_backward maximum mean mean.dim median
    median.dim min min.dim minimum mish mish_ mm mode mse_loss mse_loss_backward mul.Scalar mul.Tensor mul_.Scalar mul_.Tensor multinomial mv nan_to_num nanmedian
    nanmedian.dim native_batch_norm native_batch_norm_backward native_group_norm native_group_norm_backward native_layer_norm native_layer_norm_backward ne.Scalar
    ne.Tensor ne_.Scalar ne_.Tensor neg neg_ new_empty new_empty_strided new_full new_ones new_zeros nextafter nll_loss2d_backward nll_loss2d_forward nll_loss_backward
    nll_loss_forward nonzero normal_ ones ones_like pixel_shuffle pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor pow_.Scalar pow_.Tensor prod prod.dim_int rand rand_like
    randint randint.low randint_like randint_like.low_dtype randn randn_like random_ random_.from random_.to randperm reciprocal reciprocal_ reflection_pad2d relu relu_
    remainder.Scalar remainder.Tensor remainder_.Scalar remainder_.Tensor repeat roll round round.decimals rsqrt rsqrt_ rsub.Scalar rsub.Tensor scalar_tensor scatter.src
    scatter.value scatter_.src scatter_.value scatter_add scatter_add_ select_backward select_scatter sgn sigmoid sigmoid_ sigmoid_backward sign sign_ signbit silu silu_
    sin sin_ sinh sinh_ slice_backward slice_scatter smooth_l1_loss smooth_l1_loss_backward soft_margin_loss softplus softplus_backward sort sort.stable sqrt sqrt_ stack
    std.correction sub.Scalar sub.Tensor sub_.Scalar sub_.Tensor sum sum.dim_IntList tan tan_ tanh tanh_ tanh_backward threshold threshold_ threshold_backward topk tril
    tril_ triu triu_ trunc trunc_ unfold uniform_ unsafe_split.Tensor upsample_nearest2d var.correction var_mean.correction where.self xlogy.Tensor zero_ zeros zeros_like
""".split()


def _read():
    from . import activations, creation, elementwise, gradients, indexing, layers, matrices, reductions  # noqa: F401
    if set(NAMES) != set(kernels):
        raise AssertionError("NAMES and the kernels differ in %s" % sorted(set(NAMES) ^ set(kernels)))
    register(kernels)


def _reading(name):
    def run(*args, **kwargs):
        if name not in kernels:
            _read()
        return kernels[name](*args, **kwargs)
    return run


register({name: _reading(name) for name in NAMES})
