// The functions of derivatives.yaml that are no operators: a few operators each, called in the order of stock's formula. Operators have their own
// names there (ops_generated/call.h).
#pragma once
#include "ops_generated/call.h"

namespace peel::core::formulas {

using Dims = std::optional<SizeVector>;

/// The formula of what has a node and no gradient.
Tensor not_implemented(const char* what);
/// Nothing to do, and no call, for real numbers.
inline Tensor conjugate(const Tensor& t) { return t.defined() && is_complex(t.dtype()) ? _conj(t) : t; }
/// The gradient of a real factor of complex numbers.
inline Tensor real_for(const Tensor& grad, ScalarType t) { return is_complex(grad.dtype()) && !is_complex(t) ? real(grad) : grad; }
/// Nothing to do, and no call, where it lies in order already.
inline Tensor made_contiguous(const Tensor& t) { return t.is_contiguous() ? t : contiguous(t); }
/// A number minus or divided by a tensor, in the calls of C++'s operators on tensors.
Tensor number_minus(const Scalar&, const Tensor&);
Tensor number_over(const Scalar&, const Tensor&);
bool is_one(const Scalar&);
/// Nothing to do for 1.
Tensor maybe_multiply(const Tensor&, const Scalar&);
/// Sums over the dimensions that broadcasting added or repeated.
Tensor sum_to(const Tensor&, Sizes);
Tensor unsqueeze_to(const Tensor& grad, int64_t dim, Sizes);
Tensor to_copy_backward(const Tensor& grad, ScalarType);
Tensor div_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other);
Tensor pow_backward(const Tensor& grad, const Tensor& self, const Scalar& exponent);
Tensor sum_backward(const Tensor& grad, Sizes, const Dims&, bool keepdim);
Tensor mean_backward(const Tensor& grad, Sizes, const Dims&, int64_t numel, bool keepdim);
struct Place {
  SizeVector sizes, strides;
  int64_t offset = 0;
};
/// Of a look at `view` in the storage of a tensor at `base`.
Tensor as_strided_backward(const Tensor& grad, const Place& base, const Place& view);
/// Of a product's factors; each comes out in the memory order that the factor had.
Tensor left_factor_backward(const Tensor& grad, const Tensor& right, Sizes, Sizes strides, const Scalar& alpha);
Tensor right_factor_backward(const Tensor& grad, const Tensor& left, Sizes, Sizes strides, const Scalar& alpha);


// Functions of one and two tensors.
using Bound = std::optional<Scalar>;
Tensor clamp_backward(const Tensor& grad, const Tensor& self, const Bound& min, const Bound& max);
/// By operators that have derivatives themselves where a graph is made of it.
Tensor silu_backward_of(const Tensor& grad, const Tensor& self);
Tensor mish_backward_of(const Tensor& grad, const Tensor& self);
Tensor logit_backward_of(const Tensor& grad, const Tensor& self, std::optional<double> eps);
/// Of maximum and minimum: half where both are equal, nothing where self is the smaller (or larger) one.
Tensor larger_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool zero_where_greater);
Tensor div_mode_backward(const Tensor& grad, const Tensor& other, const std::optional<std::string>& rounding);
Tensor div_mode_backward(const Tensor& grad, const Scalar& other, const std::optional<std::string>& rounding);
Tensor div_mode_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding);
Tensor pow_backward_base(const Tensor& grad, const Tensor& self, const Tensor& exponent);
Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result);
Tensor pow_backward_exponent(const Tensor& grad, const Scalar& self, const Tensor& exponent, const Tensor& result);
std::tuple<Tensor, Tensor> atan2_backward(const Tensor& grad, const Tensor& self, const Tensor& other, std::array<bool, 2> wanted);

// Of rarer ones.
Tensor atanh_backward(const Tensor& grad, const Tensor& self);
Tensor angle_backward(const Tensor& grad, const Tensor& self);
Tensor sinc_backward(const Tensor& grad, const Tensor& self);
Tensor i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor i0e_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor zeta_backward(const Tensor& grad, const Tensor& self, const Tensor& other);
Tensor zeta_backward(const Tensor& grad, const Scalar& self, const Tensor& other);
/// Of a gamma distribution at x.
Tensor gamma_density(const Tensor& shape, const Tensor& x);
Tensor mvlgamma_backward(const Tensor& grad, const Tensor& self, int64_t p);
/// Of fmax, and of fmin (`smaller`).
Tensor fmax_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool smaller, bool of_self);
Tensor copysign_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor xlog1py_backward(const Tensor& grad, const Tensor& self, const Tensor& other);
Tensor xlog1py_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other);
Tensor clamp_tensor_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max);
std::tuple<Tensor, Tensor> clamp_bounds_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max, std::array<bool, 2> wanted);

// Of what reduces.
Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor extreme_backward(const Tensor& grad, const Tensor& self, const Tensor& result, Sizes dims, bool keepdim);
Tensor aminmax_backward(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, std::optional<int64_t> dim, bool keepdim, const Tensor& min,
                        const Tensor& max);
Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim);
/// Dimensions that a reduction took away come back with size 1.
Tensor restored(const Tensor&, Sizes dims, bool keepdim, const Tensor& self);
Tensor var_backward(const Tensor& grad, const Tensor& self, const Dims&, const Bound& correction, bool keepdim);
Tensor std_backward(const Tensor& result, const Tensor& grad, const Tensor& self, const Dims&, const Bound& correction, bool keepdim);
Tensor var_mean_backward(const Tensor& var, const Tensor& mean, const Tensor& self, const Dims&, const Bound& correction, bool keepdim);
Tensor std_mean_backward(const Tensor& std, const Tensor& mean, const Tensor& self, const Tensor& result, const Dims&, const Bound& correction, bool keepdim);
Tensor norm_backward(const Tensor& grad, const Tensor& self, const Bound& p, const Tensor& norm, Sizes dims, bool keepdim);
std::tuple<Tensor, Tensor> weight_norm_backward(const Tensor& grad, const Tensor& v, const Tensor& g, const Tensor& norms, int64_t dim);
Tensor vector_norm_backward(const Tensor& grad, const Tensor& self, const Scalar& ord, const Tensor& norm, const Dims&, bool keepdim);
Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, Sizes dims, bool keepdim);
Tensor cumsum_backward(const Tensor& grad, int64_t dim);
Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, int64_t dim, const Tensor& output);
Tensor log_softmax_output_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim);
Tensor log_softmax_double_backward(const Tensor& grad, const Tensor& output, int64_t dim);

Tensor nansum_backward(const Tensor& grad, const Tensor& self, const Dims&, bool keepdim);
Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& result);
Tensor cdist_other_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& result);
std::tuple<Tensor, Tensor> euclidean_dist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, const Tensor& result);
Tensor renorm_backward(const Tensor& grad, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm);
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim);

// Of nested tensors.
Tensor to_padded_tensor_backward(const Tensor& grad, const Tensor& self);
Tensor nested_from_padded_backward(const Tensor& grad, Sizes sizes, bool transposed);
Tensor nested_unbind_backward(const std::vector<Tensor>& grads, const Tensor& self);
double dropout_scale(double p, std::optional<bool> train);

// Of sparse tensors.
std::tuple<Tensor, Tensor, Tensor> sampled_addmm_backward(const Tensor& grad, const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& alpha, const Scalar& beta,
                                                          const std::array<bool, 3>& wanted);
Tensor sparse_constructor_values_backward(const Tensor& grad, const Tensor& result);
Tensor values_backward(const Tensor& grad, const Tensor& self);
/// In the layout that self has.
Tensor to_layout_of(const Tensor& grad, const Tensor& self);
Tensor sparse_mask_backward(const Tensor& grad, const Tensor& mask, const Tensor& self);
/// Of a product's left factor: where it has coordinates.
Tensor sparse_factor_backward(const Tensor& grad, const Tensor& left, const Tensor& right, const Scalar& alpha);

// Of Fourier transforms.
Tensor fft_r2c_backward(const Tensor& grad, Sizes dim, int64_t normalization, bool onesided, Sizes);
Tensor fft_c2r_backward(const Tensor& grad, Sizes dim, int64_t normalization);

// Of what takes elements from places, or joins blocks.
SizeVector last_two(Sizes);
SizeVector last_three(Sizes);
/// Of what was put to the places in `indices`, which count within the last `dims` dimensions.
Tensor picked_gradient(const Tensor& grad, const Tensor& indices, int64_t dims);
Tensor take_backward(const Tensor& grad, const Tensor& self, const Tensor& index);
std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce,
                                                   bool include_self, const Tensor& result);
std::tuple<Tensor, Tensor> index_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce,
                                                 bool include_self, const Tensor& result);
/// `expand`: the dimensions that each of the three gets.
std::tuple<Tensor, Tensor, Tensor> trilinear_backward(const Tensor& grad, const Tensor& i1, const Tensor& i2, const Tensor& i3, const std::array<SizeVector, 3>& expand, Sizes sumdim,
                                                      std::array<bool, 3> wanted);
std::vector<Tensor> block_diag_backward(const Tensor& grad, const std::vector<SizeVector>& sizes);
Tensor addbmm_first_backward(const Tensor& grad, const Tensor& batch2, const Scalar& alpha);
Tensor addbmm_second_backward(const Tensor& grad, const Tensor& batch1, const Scalar& alpha);

// Of linear algebra.
std::tuple<Tensor, Tensor> solve_backward(const Tensor& grad, const Tensor& result, const Tensor& A, const Tensor& lu, const Tensor& pivots, bool left, std::array<bool, 2> wanted);
Tensor inverse_backward(const Tensor& grad, const Tensor& inverse);
Tensor det_backward(const Tensor& grad, const Tensor& det, const Tensor& A, const Tensor& lu, const Tensor& pivots);
Tensor slogdet_backward(const Tensor& grad, const Tensor& A, const Tensor& lu, const Tensor& pivots);
Tensor cholesky_backward(const Tensor& grad, const Tensor& result, bool upper);
std::tuple<Tensor, Tensor> cholesky_solve_backward(const Tensor& grad, const Tensor& L, const Tensor& result, bool upper, std::array<bool, 2> wanted);
std::tuple<Tensor, Tensor> solve_triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper, bool left, bool unitriangular, std::array<bool, 2> wanted);
Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, std::string_view mode);
Tensor eigh_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V);
Tensor svd_backward(const Tensor& gU, const Tensor& gS, const Tensor& gVh, const Tensor& U, const Tensor& S, const Tensor& Vh);
Tensor pinv_backward(const Tensor& grad, const Tensor& inverse, const Tensor& A);
std::tuple<Tensor, Tensor> lstsq_backward(const Tensor& grad, const Tensor& A, const Tensor& B, std::array<bool, 2> wanted);

// Of factors.
Tensor lu_unpack_backward(const Tensor& gL, const Tensor& gU, Sizes);
Tensor lu_backward(const Tensor& gL, const Tensor& gU, const Tensor& P, const Tensor& L, const Tensor& U, bool pivot);
Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots, bool pivot);
Tensor lu_solve_factors_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots, const Tensor& X, bool left, bool adjoint);
Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& L, bool upper, const Tensor& inverse);
Tensor matrix_exp_backward(const Tensor& grad, const Tensor& self);
std::tuple<Tensor, Tensor> householder_product_backward(const Tensor& grad, const Tensor& product, const Tensor& input, const Tensor& tau);
/// Of what has a gradient in stock and none here: says so.
Tensor lacking_gradient(const std::vector<Tensor>& grads, const char* name);

// Of layers and losses.
struct GroupShape {
  int64_t n, c, inner, groups;
};
std::tuple<Tensor, Tensor, Tensor> group_norm_backward_of(const std::vector<Tensor>& grads, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                                          GroupShape, double eps, std::array<bool, 3> wanted);
/// What batch norm takes off and divides by: those of the batch in training, else the running ones.
struct BatchStatistics {
  Tensor running_mean, running_var, save_mean, save_invstd;
  bool training;
  double eps;
  using Given = std::optional<Tensor>;
  BatchStatistics(const Given& mean, const Given& var, const Given& saved_mean, const Given& saved_invstd, bool t, double e)
      : running_mean(mean.value_or(Tensor())), running_var(var.value_or(Tensor())), save_mean(saved_mean.value_or(Tensor())), save_invstd(saved_invstd.value_or(Tensor())), training(t), eps(e) {}
};
/// By input, weight and gradient.
std::tuple<Tensor, Tensor, Tensor> batch_norm_twice(const std::vector<Tensor>& grads, const Tensor& grad_out, const Tensor& input, const Tensor& weight, const BatchStatistics&);
std::tuple<Tensor, Tensor, Tensor> layer_norm_twice(const std::vector<Tensor>& grads, const Tensor& grad_out, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                    const Tensor& rstd, Sizes normalized_shape);
Tensor logits_backward(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight, int64_t reduction);
Tensor logits_target_backward(const Tensor& grad, const Tensor& self, const Tensor& weight, const Tensor& pos_weight, int64_t reduction);
Tensor cross_entropy_target_backward(const Tensor& grad, const Tensor& self, const Tensor& weight, int64_t reduction);

// Of what is itself the backward of something (formulas_twice.cpp).
using MaybeTensor = std::optional<Tensor>;
Tensor mse_loss_twice(const Tensor& grad, const Tensor& input, int64_t reduction);
Tensor mse_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction);
Tensor smooth_l1_loss_twice(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double beta);
Tensor smooth_l1_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double beta);
Tensor huber_loss_twice(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double delta);
Tensor huber_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double delta);
Tensor max_pool_twice(const Tensor& grad, const Tensor& indices, int64_t dims);
std::tuple<Tensor, Tensor, Tensor> convolution_twice(const std::vector<Tensor>& grads, const Tensor& grad_output, const Tensor& input, const Tensor& weight, Sizes stride,
                                                     Sizes padding, Sizes dilation, bool transposed, Sizes output_padding, int64_t groups);
Tensor embedding_twice(const Tensor& grad, const Tensor& indices, int64_t padding_idx);
Tensor log_sigmoid_twice(const Tensor& grad, const Tensor& self);
Tensor softplus_twice(const Tensor& grad, const Tensor& self, const Scalar& beta, const Scalar& threshold);
Tensor elu_twice(const Tensor& grad, const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result, const Tensor& x);
Tensor gelu_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self, std::string_view approximate);
Tensor glu_twice_grad_output(const Tensor& grad, const Tensor& self, int64_t dim);
Tensor glu_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self, int64_t dim);
/// Of the gradient that came, and of the input or weight, given that of the other one's gradient.
Tensor prelu_twice_grad_output(const std::vector<Tensor>& grads, const Tensor& self, const Tensor& weight);
Tensor prelu_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& of);
Tensor soft_margin_loss_twice(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction);
Tensor soft_margin_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction);
Tensor hardswish_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self);
Tensor binary_cross_entropy_twice_grad_output(const Tensor& grad, const Tensor& self, const Tensor& target, const MaybeTensor& weight, int64_t reduction);
Tensor binary_cross_entropy_twice(const Tensor& grad_output, const Tensor& grad, const Tensor& self, const Tensor& target, const MaybeTensor& weight, int64_t reduction);
Tensor binary_cross_entropy_twice_target(const Tensor& grad_output, const Tensor& grad, const Tensor& self, const MaybeTensor& weight, int64_t reduction);

// Of views, and of what picks and joins.
Tensor permute_backward(const Tensor& grad, Sizes dims);
Tensor unsqueeze_all(const Tensor& grad, Sizes);
Tensor unsqueeze_to(const Tensor& grad, Sizes dims, Sizes);
Tensor split_backward(const std::vector<Tensor>& grads, int64_t size, int64_t dim, Sizes);
Tensor split_with_sizes_backward(const std::vector<Tensor>& grads, Sizes sizes, int64_t dim, Sizes);
Tensor unbind_backward(const std::vector<Tensor>& grads, int64_t dim);
std::vector<Tensor> cat_backward(const Tensor& grad, const std::vector<SizeVector>& sizes, int64_t dim);
std::vector<Tensor> stack_backward(const Tensor& grad, int64_t dim, size_t count);
Tensor index_backward(Tensor zeros, std::span<const std::optional<Tensor>> indices, const Tensor& grad);
Tensor index_add_backward(const Tensor& grad, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha);
Tensor index_copy_backward(const Tensor& grad, int64_t dim, const Tensor& index, const Tensor& source);
Tensor repeat_backward(const Tensor& grad, Sizes repeats, Sizes);
Tensor roll_backward(const Tensor& grad, Sizes shifts, Sizes dims);
Tensor constant_pad_nd_backward(const Tensor& grad, Sizes pad);

}  // namespace peel::core::formulas
