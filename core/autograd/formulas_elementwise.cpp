// Gradients of functions of one and two tensors.
#include <cmath>
#include <limits>

#include "core/autograd/formulas.h"
#include "core/dispatch/modes.h"

namespace peel::core::formulas {
namespace {

Tensor scalar_like(double value, const Tensor& t) { return scalar_tensor(value, t.dtype(), Layout::Strided, t.device()); }
Tensor no_gradient(const Tensor& grad) { return zeros_like(grad, grad.dtype(), Layout::Strided, grad.device(), false); }

}  // namespace

Tensor number_minus(const Scalar& a, const Tensor& b) {
  Tensor out = empty_like(b);
  fill_(out, a);
  return sub_(out, b);
}
Tensor number_over(const Scalar& a, const Tensor& b) {
  Tensor out = empty_like(b);
  fill_(out, a);
  return div_(out, b);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& self, const Bound& min, const Bound& max) {
  if (!min && !max) return grad;
  const Tensor zero = scalar_like(0, grad);
  if (min && max) {
    Tensor inside = ge(self, *min);
    logical_and_(inside, le(self, *max));
    return where(inside, grad, zero);
  }
  return min ? where(ge(self, *min), grad, zero) : where(le(self, *max), grad, zero);
}

Tensor silu_backward_of(const Tensor& grad, const Tensor& self) {
  if (!grad_state.grad_mode) return silu_backward(grad, self);
  const Tensor s = sigmoid(self);  // of operators that have derivatives
  const Tensor slope = add(mul(self, number_minus(1, s)), 1);
  return mul(mul(grad, s), slope);
}

Tensor mish_backward_of(const Tensor& grad, const Tensor& self) {
  if (!grad_state.grad_mode) return mish_backward(grad, self);
  const Tensor s = sigmoid(self), t = tanh(log1p(exp(self)));
  const Tensor room = number_minus(1, mul(t, t));
  return mul(grad, add(t, mul(mul(self, s), room)));
}

Tensor logit_backward_of(const Tensor& grad, const Tensor& self, std::optional<double> eps) {
  if (!grad_state.grad_mode) return logit_backward(grad, self, eps);
  Tensor outside;
  if (eps) {
    outside = zeros(Sizes(), self.dtype(), Layout::Strided, self.device());
  } else {
    outside = ops::empty_memory_format::call(Sizes(), self.dtype(), Layout::Strided, self.device(), {}, {});
    ops::fill__Scalar::call(outside, std::numeric_limits<double>::quiet_NaN());
  }
  const double low = eps.value_or(0.0);
  const Tensor room = mul(self, number_minus(1, self)), slope = div(grad, room);
  const Tensor below = ops::le_Scalar::call(self, 1.0 - low), above = ops::ge_Scalar::call(self, low);
  return where(logical_and(above, below), slope, outside);
}

Tensor larger_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool zero_where_greater) {
  const Tensor half = div(grad, 2);
  Tensor out = where(eq(self, other), half, grad);
  return masked_fill_(out, zero_where_greater ? gt(self, other) : lt(self, other), 0);
}

Tensor div_mode_backward(const Tensor& grad, const Tensor& other, const std::optional<std::string>& rounding) {
  return rounding ? no_gradient(grad) : div(grad, other);
}
Tensor div_mode_backward(const Tensor& grad, const Scalar& other, const std::optional<std::string>& rounding) {
  return rounding ? no_gradient(grad) : div(grad, other);
}
Tensor div_mode_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding) {
  return rounding ? no_gradient(grad) : div_other_backward(grad, self, other);
}

Tensor pow_backward_base(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor value = mul(grad, mul(exponent, pow(self, sub(exponent, 1))));
  const Tensor zero = scalar_like(0, grad);
  return where(eq(exponent, 0.0), zero, value);
}
Tensor pow_backward_exponent(const Tensor& grad, const Tensor& self, const Tensor& exponent, const Tensor& result) {
  const Tensor not_negative = ge(exponent, 0);
  const Tensor flat = logical_and(eq(self, 0), not_negative);
  const Tensor value = mul(result, log(to(self, result_type(self, exponent))));
  const Tensor zero = scalar_like(0, grad);
  return mul(grad, where(flat, zero, value));
}
Tensor pow_backward_exponent(const Tensor& grad, const Scalar& self, const Tensor& exponent, const Tensor& result) {
  const double base = self.value.to_double();
  if (base != 0) return mul(grad, mul(result, std::log(base)));
  const Tensor value = mul(result, std::log(base));
  const Tensor zero = scalar_like(0, grad);
  return mul(grad, where(ge(exponent, 0), zero, value));
}

std::tuple<Tensor, Tensor> atan2_backward(const Tensor& grad, const Tensor& self, const Tensor& other, std::array<bool, 2> wanted) {
  const Tensor squares = mul(other, other);
  const Tensor distance = add(mul(self, self), squares);
  Tensor scale = reciprocal(distance);
  masked_fill_(scale, eq(distance, 0), 0);  // no direction at the origin
  Tensor a, b;
  if (wanted[0]) a = mul(mul(grad, other), scale);
  if (wanted[1]) b = mul(mul(grad, neg(self)), scale);
  return {a, b};
}

}  // namespace peel::core::formulas
