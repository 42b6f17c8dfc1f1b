// Gradients of distances, of sums without NaN, and of what runs along a dimension.
#include <limits>

#include "core/autograd/formulas.h"

namespace peel::core::formulas {

Tensor nansum_backward(const Tensor& grad, const Tensor& self, const Dims& dims, bool keepdim) {
  const Tensor g = to(grad, self.dtype());
  const Tensor numbers = logical_not(isnan(self));
  return mul(sum_backward(g, self.sizes(), dims, keepdim), numbers);
}

Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& result) {
  return _cdist_backward(made_contiguous(grad), x1, x2, p, result);
}
Tensor cdist_other_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& result) {
  const Tensor turned = made_contiguous(mT(result));
  return _cdist_backward(made_contiguous(mT(grad)), x2, x1, p, turned);
}
std::tuple<Tensor, Tensor> euclidean_dist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, const Tensor& result) {
  Tensor ratio = div(grad, result);
  masked_fill_(ratio, eq(result, 0), 0);
  const Tensor down = matmul(ratio, x2), first = sub(mul(x1, sum(ratio, SizeVector{-1}, true)), down);
  const Tensor across = matmul(mT(ratio), x1);
  return {first, sub(mul(x2, unsqueeze(sum(ratio, SizeVector{-2}, false), -1)), across)};
}

Tensor renorm_backward(const Tensor& grad, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  const int64_t d = wrap_dimension(dim, self.dim());
  SizeVector others;
  for (int64_t k = 0; k < self.dim(); ++k) {
    if (k != d) others.push_back(k);
  }
  const ScalarType wide = self.dtype() == ScalarType::Float ? ScalarType::Double : self.dtype();
  const Tensor norm = linalg_vector_norm(self, p, Sizes(others), true, wide);
  Tensor out = sum(mul(self, grad), Sizes(others), true, wide);
  out = norm_backward(out, self, p, norm, others, true);
  const Tensor inverse = reciprocal(add(norm, 1e-7));
  const Tensor inner = sub(grad, mul(inverse, out));
  const Tensor of_norm = to(mul(mul(inverse, maxnorm), inner), grad.dtype());
  return where(gt(norm, maxnorm), of_norm, grad);
}

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (grad.dim() == 0 || grad.numel() == 0) return grad;
  const SizeVector d{dim};
  const auto backwards = [&](const Tensor& t) { return flip(logcumsumexp(flip(t, d), dim), d); };
  const double least = grad.dtype() == ScalarType::Double ? std::numeric_limits<double>::lowest() : static_cast<double>(std::numeric_limits<float>::lowest());
  const Tensor low = scalar_tensor(least, grad.dtype(), Layout::Strided, grad.device());
  const Tensor size = log(abs(grad));
  const Tensor above = where(gt(grad, 0), size, low), below = where(lt(grad, 0), size, low);
  const Tensor plus = exp(add(backwards(sub(above, result)), self));
  const Tensor minus = exp(add(backwards(sub(below, result)), self));
  return sub(plus, minus);
}

}  // namespace peel::core::formulas
