// The functions of derivatives.yaml. Each is an operator called as stock's formula calls it, or a few of them.
#pragma once
#include "ops_generated/ops.h"

namespace peel::core::formulas {

using Dims = std::optional<SizeVector>;

inline Tensor t(const Tensor& g) { return ops::t::call(g); }
inline Tensor transpose(const Tensor& g, int64_t a, int64_t b) { return ops::transpose_int::call(g, a, b); }
inline Tensor reshape(const Tensor& g, Sizes s) { return ops::reshape::call(g, s); }
inline Tensor expand(const Tensor& g, Sizes s) { return ops::expand::call(g, s); }
inline Tensor squeeze(const Tensor& g, int64_t d) { return ops::squeeze_dim::call(g, d); }
inline Tensor select_backward(const Tensor& g, Sizes s, int64_t d, int64_t i) { return ops::select_backward::call(g, s, d, i); }
inline Tensor zeros_like(const Tensor& g) { return ops::zeros_like::call(g); }
inline Tensor sum(const Tensor& g) { return ops::sum::call(g); }
inline Tensor neg(const Tensor& a) { return ops::neg::call(a); }
inline Tensor sin(const Tensor& a) { return ops::sin::call(a); }
inline Tensor cos(const Tensor& a) { return ops::cos::call(a); }
inline Tensor mul(const Tensor& a, const Tensor& b) { return ops::mul_Tensor::call(a, b); }
inline Tensor mul(const Tensor& a, const Scalar& b) { return ops::mul_Scalar::call(a, b); }
inline Tensor div(const Tensor& a, const Tensor& b) { return ops::div_Tensor::call(a, b); }
inline Tensor div(const Tensor& a, const Scalar& b) { return ops::div_Scalar::call(a, b); }
inline Tensor tanh_backward(const Tensor& g, const Tensor& out) { return ops::tanh_backward::call(g, out); }
inline Tensor threshold_backward(const Tensor& g, const Tensor& a, const Scalar& s) { return ops::threshold_backward::call(g, a, s); }
inline Tensor mse_loss_backward(const Tensor& g, const Tensor& a, const Tensor& b, int64_t r) { return ops::mse_loss_backward::call(g, a, b, r); }

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

}  // namespace peel::core::formulas
