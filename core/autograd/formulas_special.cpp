// Gradients of rarer functions of one and two tensors.
#include <limits>
#include <numbers>

#include "core/autograd/formulas.h"
#include "core/dispatch/error.h"

namespace peel::core::formulas {
namespace {

Tensor zero_of(const Tensor& grad) { return scalar_tensor(0.0, grad.dtype(), Layout::Strided, grad.device()); }

}  // namespace

Tensor atanh_backward(const Tensor& grad, const Tensor& self) {
  const Tensor below = number_minus(1, pow(self, 2));
  return div(mul(grad, 1), below);
}
Tensor angle_backward(const Tensor&, const Tensor& self) {
  if (!is_complex(self.dtype())) return zeros_like(self);
  throw NotImplemented("The embedded engine has no gradient of angle for complex numbers yet; the program can be run on stock PyTorch (--engine pytorch).");
}
Tensor sinc_backward(const Tensor& grad, const Tensor& self) {
  const Tensor turn = mul(self, std::numbers::pi), squared = mul(mul(self, self), std::numbers::pi);
  const Tensor s = sin(turn);
  const Tensor slope = mul(grad, div(sub(mul(turn, cos(turn)), s), squared));
  const Tensor zero = zero_of(grad);
  return where(eq(squared, 0.0), zero, slope);
}

Tensor fmax_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool smaller, bool of_self) {
  Tensor first = smaller ? le(self, other) : ge(self, other);  // whose value it was: self's
  logical_or_(first, isnan(other));
  if (of_self) logical_not_(first);
  return masked_fill(grad, first, 0);
}

Tensor copysign_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  Tensor ratio = div(result, self);
  masked_fill_(ratio, eq(self, 0), 0);
  return mul(grad, ratio);
}

Tensor xlog1py_backward(const Tensor& grad, const Tensor& self, const Tensor& other) {
  const Tensor value = special_xlog1py(grad, other), low = le(other, -1.0);
  return masked_fill(value, bitwise_and(eq(self, 0.0), low), 0.0);
}
Tensor xlog1py_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other) {
  const Tensor above = add(other, 1);
  return div(mul(grad, self), above);
}

Tensor clamp_tensor_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max) {
  if (!min.defined() && !max.defined()) return grad;
  const Tensor zero = zero_of(grad);
  if (!max.defined()) return where(ge(self, min), grad, zero);
  if (!min.defined()) return where(le(self, max), grad, zero);
  Tensor inside = ge(self, min);
  logical_and_(inside, le(self, max));
  return where(inside, grad, zero);
}
std::tuple<Tensor, Tensor> clamp_bounds_backward(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max, std::array<bool, 2> wanted) {
  Tensor of_min, of_max;
  if (!grad.defined()) return {of_min, of_max};
  const Tensor zero = zero_of(grad);
  if (max.defined() && min.defined()) {
    if (wanted[0]) {
      Tensor below = lt(self, min);
      of_min = where(logical_and_(below, lt(min, max)), grad, zero);
    }
    if (wanted[1]) {
      Tensor above = gt(self, max);
      of_max = where(logical_or_(above, lt(max, min)), grad, zero);
    }
    return {of_min, of_max};
  }
  if (min.defined() && wanted[0]) of_min = where(lt(self, min), grad, zero);
  if (max.defined() && wanted[1]) of_max = where(gt(self, max), grad, zero);
  return {of_min, of_max};
}

namespace {

// 1 / self and what is near 0 of it: there the slope is 1/2, which the formulas don't give.
struct AwayFromZero {
  Tensor away, safe;
  explicit AwayFromZero(const Tensor& self) : number_like(self) {
    const double tiny = self.dtype() == ScalarType::Float ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon();
    away = ops::gt_Scalar::call(abs(self), tiny);
    safe = where(away, self, number(tiny));
  }
  Tensor slope(const Tensor& computed) const { return where(away, computed, number(0.5)); }

 private:
  Tensor number(double v) const { return scalar_tensor(v, number_like.dtype(), Layout::Strided, number_like.device()); }
  Tensor number_like;
};

}  // namespace

Tensor i1_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const AwayFromZero x(self);
  const Tensor ratio = mul(result, reciprocal(x.safe));
  return mul(grad, x.slope(sub(i0(x.safe), ratio)));
}
Tensor i0e_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor turned = mul(sgn(self), result);
  return mul(grad, sub(special_i1e(self), turned));
}
Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const AwayFromZero x(self);
  const Tensor inverse = reciprocal(x.safe);
  const Tensor ratio = mul(result, add(sgn(self), inverse));
  return mul(grad, x.slope(sub(special_i0e(x.safe), ratio)));
}

Tensor zeta_backward(const Tensor& grad, const Tensor& self, const Tensor& other) {
  const Tensor next = special_zeta(add(self, 1.0), other);
  return mul(mul(grad, neg(self)), next);
}
Tensor zeta_backward(const Tensor& grad, const Scalar& self, const Tensor& other) {
  const double s = self.value.to_double();
  const Tensor next = ops::special_zeta_self_scalar::call(s + 1, other);
  return mul(mul(grad, -s), next);
}
Tensor gamma_density(const Tensor& shape, const Tensor& x) {
  const Tensor whole = lgamma(shape), log_x = log(x);
  return exp(sub(sub(mul(sub(shape, 1), log_x), x), whole));
}
Tensor mvlgamma_backward(const Tensor& grad, const Tensor& self, int64_t p) {
  const Tensor steps = arange(-static_cast<double>(p) / 2 + 0.5, 0.5, 0.5, self.dtype(), Layout::Strided, self.device());
  Tensor all = add(steps, unsqueeze(self, -1));
  digamma_(all);
  return mul(grad, sum(all, SizeVector{-1}, false));
}

}  // namespace peel::core::formulas
