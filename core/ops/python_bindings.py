"""The table from which core/python makes functions and methods: an operator's name, where it stands in Python, and its entry point."""
TOP = "// Generated from native_functions.yaml.\n"

# Where PyTorch 2.13 has an operator, where it isn't what its name and its first argument say. tests/conformance/engine_python.py compares.
NN = set("""thnn_conv2d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d binary_cross_entropy col2im
cross_entropy_loss elu elu_ gelu gelu_ glu hardsigmoid hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ huber_loss im2col l1_loss leaky_relu
leaky_relu_ linear log_sigmoid max_pool2d_with_indices max_pool3d_with_indices max_unpool2d mish mish_ mse_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d
nll_loss_nd one_hot pad pad_sequence reflection_pad1d reflection_pad2d relu6 relu6_ replication_pad1d replication_pad2d
scaled_dot_product_attention silu silu_ slow_conv3d smooth_l1_loss soft_margin_loss softplus softshrink upsample_bicubic2d upsample_bilinear2d
upsample_linear1d upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_trilinear3d _upsample_nearest_exact1d _upsample_nearest_exact2d
replication_pad3d _pad_circular slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d slow_conv_transpose3d rrelu_with_noise rrelu_with_noise_""".split())
ONLY_METHOD = set("""__iand__ __ilshift__ __ior__ __irshift__ __ixor__ contiguous coalesce cpu dense_dim expand expand_as is_coalesced is_contiguous item new_empty new_empty_strided new_full new_ones
new_zeros repeat reshape_as sum_to_size to to_dense to_sparse type_as unfold view view_as to_sparse_csr to_sparse_csc _to_dense _to_sparse
_to_sparse_csr _to_sparse_csc _coalesced_ _indices _nnz _values indices values crow_indices col_indices ccol_indices row_indices sparse_dim
sparse_mask sparse_resize_ sparse_resize_and_clear_ is_pinned to_sparse_bsr to_sparse_bsc _to_sparse_bsr _to_sparse_bsc
to_padded_tensor _nested_tensor_size _nested_tensor_strides _nested_tensor_storage_offsets""".split())
ONLY_FUNCTION = set("""embedding_renorm_ fake_quantize_per_tensor_affine fake_quantize_per_channel_affine _masked_softmax _coalesce _convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo _sparse_sum _sparse_sparse_matmul
_sparse_softmax_backward_data _sparse_log_softmax_backward_data _validate_sparse_coo_tensor_args _assert_async _nnpack_available _prelu_kernel
_scaled_dot_product_flash_attention_for_cpu _transform_bias_rescale_qkv _adaptive_avg_pool2d _batch_norm_impl_index _convolution
_has_compatible_shallow_copy_type _index_put_impl_ _log_softmax _foreach_clamp_max_ _foreach_clamp_min_ _foreach_lerp_ _foreach_mul_ _foreach_norm
_log_softmax_backward_data _pack_padded_sequence _pad_packed_sequence _native_batch_norm_legit _native_multi_head_attention _efficientzerotensor
_make_dual _unpack_dual _adaptive_avg_pool3d
_convolution_mode _weight_norm_interface _transformer_encoder_layer_fwd _safe_softmax
_scaled_dot_product_attention_math _softmax _softmax_backward_data _stack _trilinear _unique2 _weight_norm adaptive_avg_pool1d adaptive_max_pool1d
atleast_1d atleast_2d avg_pool1d norm_except_dim binary_cross_entropy_with_logits bucketize celu celu_ channel_shuffle native_channel_shuffle combinations constant_pad_nd conv_tbc cudnn_is_acceptable diagonal_copy dropout_ empty_like
feature_dropout_ fill full_like hinge_embedding_loss kl_div max_pool1d max_pool1d_with_indices max_pool2d max_pool3d mkldnn_convolution native_norm normal ones_like pdist
pixel_shuffle pixel_unshuffle poisson rand_like randint_like randn_like rrelu rrelu_ rsub selu selu_ std_mean tensordot threshold threshold_
_standard_gamma _standard_gamma_grad _dirichlet_grad _ctc_loss _embedding_bag _embedding_bag_forward_only _lu_with_info alpha_dropout_ ctc_loss feature_alpha_dropout_ embedding_bag lu_unpack vander _sample_dirichlet _fft_c2c _fft_c2r _fft_r2c _fused_rms_norm _linalg_check_errors _linalg_svd _linalg_eigh _linalg_solve_ex _linalg_det _linalg_slogdet _euclidean_dist _unique _cummax_helper _cummin_helper _logcumsumexp
_nested_tensor_from_mask _nested_tensor_from_mask_left_aligned _nested_from_padded _nested_from_padded_and_nested_example _nested_tensor_softmax_with_shape
_nested_tensor_from_tensor_list native_dropout _sparse_csr_sum atleast_3d gradient unique_consecutive unique_dim var_mean view_as_complex view_as_real polar zeros_like""".split())
SPARSE = {"_sparse_mm", "_sparse_addmm", "_sparse_softmax", "_sparse_log_softmax", "_spdiags", "sparse_sampled_addmm"}
# In place, and a function all the same; or private, and a method.
BOTH = set("""__and__ __lshift__ __or__ __rshift__ __xor__ _addmm_activation _conj _conj_physical _is_all_true _is_any_true _neg_view abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_
asinh_ atan_ atanh_ clip_ deg2rad_ fix_ gcd_ i0_ lcm_ ldexp_ polygamma rad2deg_ ceil_ clamp_ clamp_max_ clamp_min_ conj_physical_ cos_ cosh_ detach_ erf_ erfc_
exp2_ exp_ expm1_ fill_ floor_ frac_ index_put_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ reciprocal_ relu_ resize_as_ resize_as_sparse_ round_ rsqrt_ sigmoid_ sin_
sinc_ sinh_ sqrt_ square_ tan_ tanh_ trunc_ where xlogy_ zero_""".split())
NOWHERE = set("""nested_to_padded_tensor fake_quantize_per_tensor_affine_cachemask fake_quantize_per_channel_affine_cachemask multilabel_margin_loss_forward alias convolution_overrideable slow_conv3d_forward copy_sparse_to_sparse_ index lift lift_fresh log_sigmoid_forward mH mT matrix_H nll_loss2d_forward nll_loss_forward nonzero_numpy numpy_T random
set slice uniform""".split())


def places(f):
    """Which of the places of core/python/bindings.h it has."""
    name = f.base
    if name in NN:
        return {"kNn"}
    if name in SPARSE:
        return {"kSparse"}
    for prefix, place in (("linalg_", "kLinalg"), ("_linalg_eigvals", "kLinalg"), ("special_", "kSpecial"), ("fft_", "kFft")):
        if name.startswith(prefix):
            return {place}
    if name in BOTH:
        return {"kFunction", "kMethod"}
    if name in ONLY_METHOD:
        return {"kMethod"}
    if name in ONLY_FUNCTION:
        return {"kFunction"}
    if name in NOWHERE or name.startswith("_") or name.endswith("_backward"):
        return set()
    if name.endswith("_"):
        return {"kMethod"}
    takes_self = bool(f.arguments) and f.arguments[0].name == "self" and f.arguments[0].tensor and not f.arguments[0].list
    return {"kFunction", "kMethod"} if takes_self else {"kFunction"}


# A Python number stands for the second tensor of these; their overloads that take a number are for C++ alone.
WITH_NUMBERS = {"add", "sub", "mul", "div"}


def bindings(functions):
    out = [TOP + '#include "core/python/bindings.h"\n#include "core/dispatch/make_kernel.h"\n#include "ops_generated/ops.h"\n\n'
           "namespace peel::core::python {\n\nstd::span<const Binding> bindings() {\n  static const Binding all[] = {\n"]
    # Python tries what takes a correction before what takes `unbiased` alone.
    for f in sorted(functions, key=lambda f: f.base in ("std", "var", "std_mean", "var_mean") and not f.overload):
        if f.base.rstrip("_") in WITH_NUMBERS and f.overload in ("Scalar", "Scalar_mode"):
            continue
        where = places(f) - ({"kMethod"} if f.out else set())
        options = {"dtype", "layout", "device", "pin_memory"} <= {a.name for a in f.arguments}
        if options and where & {"kFunction", "kFft"} and not f.base.startswith("_nested_tensor_from"):  # that keeps its tensors' history
            where.add("kFactory")
        if where:
            out.append('      {"%s", "%s", &kernel<&ops::%s::call>, %s},\n' % (f.base, f.overload or "", f.id, " | ".join(sorted(where))))
    out.append("  };\n  return all;\n}\n\n}  // namespace peel::core::python\n")
    return "".join(out)
