// Functions of derivatives.yaml for tangents.
#include <limits>

#include "core/autograd/formulas.h"
#include "core/autograd/forward.h"
#include "core/dispatch/error.h"

namespace peel::core::formulas {
namespace {

Tensor sum_along(const Tensor& t, Sizes dims, bool keepdim) { return ops::sum_dim_IntList::call(t, dims, keepdim, {}); }

}  // namespace

Tensor sum_of_products(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
  const Tensor second = mul(c, d);
  return add(mul(a, b), second);
}

Tensor logsumexp_tangent(const Tensor& self, const Tensor& tangent, Sizes dim, bool keepdim) {
  const Tensor e = exp(sub(self, amax(real(self), dim, true)));
  const Tensor total = sum_along(e, dim, keepdim);
  Tensor out = sum_along(mul(e, tangent), dim, keepdim);
  return div_(out, total);
}

Tensor reduced(const Tensor& t, int64_t reduction) { return reduction == 1 ? mean(t) : reduction == 2 ? sum(t) : t; }

Tensor gathered(const Tensor& t, int64_t dim, const Tensor& indices, bool keepdim) {
  if (keepdim) return gather(t, dim, indices);
  return squeeze(gather(t, dim, unsqueeze(indices, dim)), dim);
}

Tensor extreme_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result) {
  const Tensor mask = eq(self, result);
  const Tensor share = div(tangent, sum(mask));
  return sum(mul(mask, share));
}

Tensor extreme_dims_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result, Sizes dim, bool keepdim) {
  SizeVector dims(dim.begin(), dim.end());
  if (dims.empty()) {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }
  const Tensor mask = eq(self, restored(result, Sizes(dims), keepdim, self));
  const Tensor count = sum_along(mask, dims, keepdim);
  return div(sum_along(where(mask, tangent, 0.0), dims, keepdim), count);
}

Tensor var_tangent(const Tensor& tangent, const Tensor& self, const std::optional<Sizes>& dim, const std::optional<Scalar>& correction, bool keepdim) {
  const Dims dims = dim ? Dims(SizeVector(dim->begin(), dim->end())) : Dims();
  return ops::real::call(sum_along(var_backward(tangent, self, dims, correction, true), dim.value_or(Sizes{}), keepdim));
}
Tensor std_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, const std::optional<Sizes>& dim, const std::optional<Scalar>& correction, bool keepdim) {
  const Tensor twice = mul(result, 2.0);
  Tensor out = div(var_tangent(tangent, self, dim, correction, keepdim), twice);
  return masked_fill(out, eq(result, 0), 0);
}

Tensor vector_norm_tangent(const Tensor& self, const Tensor& tangent, const Scalar& ord, const Tensor& norm, const std::optional<Sizes>& dim, bool keepdim) {
  const double p = ord.value.to_double();
  const Sizes dims = dim.value_or(Sizes{});
  if (p == 1.0) return sum_along(ops::real::call(mul(sgn(self), tangent)), dims, keepdim);
  const auto without_zeros = [&norm](Tensor t) {
    ops::masked_fill__Scalar::call(t, eq(norm, 0), 0);
    return t;
  };
  if (p == 2.0) {
    Tensor out = sum_along(ops::real::call(mul(self, tangent)), dims, keepdim);
    ops::div__Tensor::call(out, norm);
    return without_zeros(out);
  }
  const Tensor product = ops::real::call(mul(self, tangent));
  Tensor size = abs(self);
  ops::pow__Scalar::call(size, p - 2);
  const Tensor total = sum_along(mul(size, product), dims, keepdim);
  return without_zeros(div(total, pow(norm, p - 1)));
}

Tensor cat_tangent(std::span<const Tensor> all, int64_t dim) {
  std::vector<Tensor> tangents;
  for (const Tensor& t : all) tangents.push_back(has_tangent(t) ? tangent_of(t) : zeros_like(t));
  return cat(tangents, dim);
}
Tensor stack_tangent(std::span<const Tensor> all, int64_t dim) {
  std::vector<Tensor> tangents;
  for (const Tensor& t : all) tangents.push_back(has_tangent(t) ? tangent_of(t) : zeros_like(t));
  return stack(tangents, dim);
}

Tensor convolution_tangent(const Dual& input, const Dual& weight, const Tensor& bias, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding,
                           int64_t groups) {
  const auto of = [&](const Tensor& x, const Tensor& w, const std::optional<Tensor>& b) {
    return convolution(x, w, b, stride, padding, dilation, transposed, output_padding, groups);
  };
  const std::optional<Tensor> b = bias.defined() ? std::optional<Tensor>(bias) : std::nullopt;
  return add(of(input.tangent, weight.primal, {}), of(input.primal, weight.tangent, b));
}

Tensor softmax_backward_tangent(const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim) {
  const int64_t dims[] = {dim};
  const Tensor inner = sum_along(mul(grad, output), dims, true);
  const Tensor inner_t = sum_along(add(mul(grad_t, output), mul(grad, output_t)), dims, true);
  return add(mul(output_t, sub(grad, inner)), mul(output, sub(grad_t, inner_t)));
}
Tensor log_softmax_backward_tangent(const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim) {
  const int64_t dims[] = {dim};
  const Tensor p = exp(output), total = sum_along(grad, dims, true), total_t = sum_along(grad_t, dims, true);
  return sub(grad_t, mul(p, add(total_t, mul(output_t, total))));
}

Tensor abs_tangent(const Tensor& tangent, const Tensor& self) {
  const Tensor direction = sgn(self);
  return is_complex(tangent.dtype()) ? real(mul(conjugate(tangent), direction)) : mul(tangent, direction);
}

Tensor glu_tangent(const Tensor& self, const Tensor& tangent, int64_t dim) {
  const int64_t half = self.size(dim) / 2;
  const Tensor gate = sigmoid(narrow(self, dim, half, half)), value = narrow(self, dim, 0, half);
  const Tensor by_gate = mul(value, sigmoid_backward(narrow(tangent, dim, half, half), gate));
  return add(mul(narrow(tangent, dim, 0, half), gate), by_gate);
}

Tensor scatter_reduce_tangent(const Dual& self, int64_t dim, const Tensor& index, const Dual& src, std::string_view reduce, bool include_self, const Tensor& result) {
  if (reduce == "sum" || reduce == "mean") return scatter_reduce(self.tangent, dim, index, src.tangent, reduce, include_self);
  if (reduce == "prod") throw NotImplemented("Trying to use forward AD with scatter_reduce that does not support it because it has not been implemented yet.");
  // Of the largest or smallest: the average of the tangents of those that are it.
  Tensor from_self = to(eq(self.primal, result), result.dtype());
  if (!include_self) from_self = scatter(from_self, dim, index, 0);
  const Tensor from_src = to(eq(src.primal, gather(result, dim, index)), result.dtype());
  const Tensor count = scatter_add(from_self, dim, index, from_src);
  return div(scatter_add(mul(from_self, self.tangent), dim, index, mul(from_src, src.tangent)), count);
}

Tensor prod_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result) { return sum(mul(prod_backward(ones_like(result), self, result), tangent)); }
Tensor prod_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim) {
  const int64_t dims[] = {dim};
  return sum_along(mul(prod_backward(ones_like(result), self, result, dim, keepdim), tangent), dims, keepdim);
}
Tensor logcumsumexp_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result, int64_t dim) {
  const Tensor largest = amax(self, SizeVector{dim}, true);
  return div(cumsum(mul(exp(sub(self, largest)), tangent), dim), exp(sub(result, largest)));
}
Tensor dist_tangent(const Tensor& away, const Tensor& tangent, const Scalar& p, const Tensor& result) {
  return sum(mul(norm_backward(ones_like(result), away, p, result, Sizes(), false), tangent));
}

// Of factors and solutions.
Tensor solve_tangent(const Dual& A, const Tensor& B_t, const Tensor& X, bool left) {
  const Tensor moved = left ? matmul(A.tangent, X) : matmul(X, A.tangent);
  return linalg_solve(A.primal, sub(B_t, moved), left);
}
Tensor solve_triangular_tangent(const Dual& A, const Tensor& B_t, const Tensor& X, bool upper, bool left, bool unitriangular) {
  const Tensor part = upper ? triu(A.tangent, unitriangular ? 1 : 0) : tril(A.tangent, unitriangular ? -1 : 0);
  return linalg_solve_triangular(A.primal, sub(B_t, left ? matmul(part, X) : matmul(X, part)), upper, left, unitriangular);
}
Tensor cholesky_tangent(const Tensor& A_t, const Tensor& factor, bool upper) {
  const Tensor L = upper ? mH(factor) : factor;
  const Tensor half = linalg_solve_triangular(L, A_t, false);
  const Tensor middle = linalg_solve_triangular(mH(L), half, true, false);
  const Tensor below = sub(tril(middle), diag_embed(div(diagonal(middle, 0, -2, -1), 2)));
  const Tensor out = matmul(L, below);
  return upper ? mH(out) : out;
}
Tensor slogdet_tangent(const Dual& A) { return sum_along(diagonal(linalg_solve(A.primal, A.tangent), 0, -2, -1), SizeVector{-1}, false); }
Tensor eigenvalues_tangent(const Tensor& A_t, const Tensor& V) { return real(diagonal(matmul(mH(V), matmul(A_t, V)), 0, -2, -1)); }
Tensor eigenvectors_tangent(const Tensor& A_t, const Tensor& L, const Tensor& V) {
  const Tensor inner = matmul(mH(V), matmul(A_t, V));
  Tensor gaps = sub(unsqueeze(L, -2), unsqueeze(L, -1));
  Tensor diagonal_of = diagonal(gaps, 0, -2, -1);
  ops::fill__Scalar::call(diagonal_of, std::numeric_limits<double>::infinity());
  return matmul(V, div(inner, gaps));
}
Tensor singular_values_tangent(const Tensor& A_t, const Tensor& U, const Tensor& S, const Tensor& Vh) {
  const int64_t k = S.size(-1);
  const Tensor inner = matmul(mH(narrow(U, -1, 0, k)), matmul(A_t, mH(narrow(Vh, -2, 0, k))));
  return real(diagonal(inner, 0, -2, -1));
}

Tensor convolution_backward_tangent(size_t which, const Dual& grad, const Dual& input, const Dual& weight, std::optional<Sizes> bias_sizes, Sizes stride, Sizes padding,
                                    Sizes dilation, bool transposed, Sizes output_padding, int64_t groups, std::array<bool, 3> wanted) {
  if (!wanted[which]) return {};
  std::array<bool, 3> mask{};
  mask[which] = true;
  const auto of = [&](const Tensor& g, const Tensor& x, const Tensor& w) {
    auto all = convolution_backward(g, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask);
    return which == 0 ? std::get<0>(all) : which == 1 ? std::get<1>(all) : std::get<2>(all);
  };
  const Tensor first = of(grad.tangent, input.primal, weight.primal);
  if (which == 2) return first;
  return add(first, which == 0 ? of(grad.primal, input.primal, weight.tangent) : of(grad.primal, input.tangent, weight.primal));
}

}  // namespace peel::core::formulas
