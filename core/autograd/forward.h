// Forward-mode AD: dual tensors, which carry a tangent along. There is one level, as in stock; transforms of torch.func nest by wrapping tensors.
#pragma once
#include "core/autograd/history.h"
#include "core/ops/types.h"

namespace peel::core {

/// Undefined for a tensor without one.
Tensor tangent_of(const Tensor&);
inline Tensor tangent_of(const std::optional<Tensor>& t) { return t ? tangent_of(*t) : Tensor(); }
inline bool has_tangent(const Tensor& t) { return t.defined() && tangent_of(t).defined(); }
inline bool has_tangent(const std::optional<Tensor>& t) { return t && has_tangent(*t); }
inline bool has_tangent(std::span<const Tensor> list) {
  return std::ranges::any_of(list, [](const Tensor& t) { return has_tangent(t); });
}
inline bool has_tangent(std::span<const std::optional<Tensor>> list) {
  return std::ranges::any_of(list, [](const auto& t) { return has_tangent(t); });
}
/// Whether a dual level is open: no tensor has a tangent else.
bool in_dual_level();
template <class... T>
bool any_tangent(const T&... tensors) {
  return in_dual_level() && (has_tangent(tensors) || ...);
}
/// A tangent of zeros where there is none.
Tensor tangent_or_zeros(const Tensor&);
inline Tensor tangent_or_zeros(const std::optional<Tensor>& t) { return tangent_of(t); }
/// The tensor without its tangent, as a new one where it has one.
Tensor primal_of(const Tensor&);
inline std::optional<Tensor> primal_of(const std::optional<Tensor>& t) { return t && t->defined() ? std::optional<Tensor>(primal_of(*t)) : t; }
/// `in_place`: the tensor that was written has one already, which is written too.
void set_tangent(const Tensor&, const Tensor& tangent, bool in_place = false);

void set_tangent(const std::vector<Tensor>&, const std::vector<Tensor>& tangents);
/// The error of an operator whose tangent has no formula.
[[noreturn]] void no_forward_derivative(const char* op);

/// Each gives the level: 0. Errors for more than one.
int64_t enter_dual_level();
void exit_dual_level(int64_t level);

// Functions of derivatives.yaml for tangents (formulas_forward.cpp).
namespace formulas {

struct BatchStatistics;
struct GroupShape;

/// With its tangent, undefined where it has none.
struct Dual {
  Tensor primal, tangent;
  Dual(Tensor p, Tensor t) : primal(std::move(p)), tangent(std::move(t)) {}
  Dual(const std::optional<Tensor>& p, Tensor t) : primal(p ? *p : Tensor()), tangent(std::move(t)) {}
};
/// a b + c d, the second product first.
Tensor sum_of_products(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d);
Tensor logsumexp_tangent(const Tensor& self, const Tensor& tangent, Sizes dim, bool keepdim);
Tensor reduced(const Tensor&, int64_t reduction);
Tensor gathered(const Tensor& t, int64_t dim, const Tensor& indices, bool keepdim);
Tensor extreme_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result);
Tensor extreme_dims_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result, Sizes dim, bool keepdim);
Tensor var_tangent(const Tensor& tangent, const Tensor& self, const std::optional<Sizes>& dim, const std::optional<Scalar>& correction, bool keepdim);
Tensor std_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, const std::optional<Sizes>& dim, const std::optional<Scalar>& correction, bool keepdim);
Tensor vector_norm_tangent(const Tensor& self, const Tensor& tangent, const Scalar& ord, const Tensor& norm, const std::optional<Sizes>& dim, bool keepdim);
Tensor cat_tangent(std::span<const Tensor>, int64_t dim);
Tensor stack_tangent(std::span<const Tensor>, int64_t dim);
Tensor convolution_tangent(const Dual& input, const Dual& weight, const Tensor& bias, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding,
                           int64_t groups);
Tensor softmax_backward_tangent(const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim);
Tensor log_softmax_backward_tangent(const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim);
Tensor convolution_backward_tangent(size_t which, const Dual& grad, const Dual& input, const Dual& weight, std::optional<Sizes> bias_sizes, Sizes stride, Sizes padding,
                                    Sizes dilation, bool transposed, Sizes output_padding, int64_t groups, std::array<bool, 3> wanted);
Tensor abs_tangent(const Tensor& tangent, const Tensor& self);
Tensor glu_tangent(const Tensor& self, const Tensor& tangent, int64_t dim);
Tensor scatter_reduce_tangent(const Dual& self, int64_t dim, const Tensor& index, const Dual& src, std::string_view reduce, bool include_self, const Tensor& result);
Tensor prod_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result);
Tensor prod_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim);
Tensor logcumsumexp_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result, int64_t dim);
Tensor dist_tangent(const Tensor& away, const Tensor& tangent, const Scalar& p, const Tensor& result);
Tensor solve_tangent(const Dual& A, const Tensor& B_t, const Tensor& X, bool left);
Tensor solve_triangular_tangent(const Dual& A, const Tensor& B_t, const Tensor& X, bool upper, bool left, bool unitriangular);
Tensor cholesky_tangent(const Tensor& A_t, const Tensor& factor, bool upper);
/// Of the logarithm of a determinant.
Tensor slogdet_tangent(const Dual& A);
Tensor eigenvalues_tangent(const Tensor& A_t, const Tensor& V);
Tensor eigenvectors_tangent(const Tensor& A_t, const Tensor& L, const Tensor& V);
Tensor singular_values_tangent(const Tensor& A_t, const Tensor& U, const Tensor& S, const Tensor& Vh);

// Of normalisations (formulas_normalisation.cpp).
Tensor layer_norm_tangent(const Dual& input, const Dual& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd, Sizes normalized_shape);
Tensor layer_norm_backward_tangent(const Dual& grad, const Dual& input, const Dual& weight, const Tensor& mean, const Tensor& rstd, Sizes normalized_shape);
Tensor layer_norm_weight_tangent(const Dual& grad, const Dual& input, const Tensor& mean, const Tensor& rstd, Sizes normalized_shape);
Tensor batch_norm_tangent(const Dual& input, const Dual& weight, const Tensor& bias, const BatchStatistics&);
Tensor batch_norm_backward_tangent(const Dual& grad, const Dual& input, const Dual& weight, const BatchStatistics&);
Tensor batch_norm_weight_tangent(const Dual& grad, const Dual& input, const BatchStatistics&);
Tensor batch_norm_bias_tangent(const Tensor& grad);
Tensor group_norm_tangent(const Dual& input, const Dual& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd, GroupShape);
Tensor group_mean_tangent(const Tensor& tangent, GroupShape);
Tensor group_rstd_tangent(const Dual& input, const Tensor& mean, const Tensor& rstd, GroupShape);

}  // namespace formulas
}  // namespace peel::core
