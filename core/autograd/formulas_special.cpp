// Gradients of rarer functions of one and two tensors.
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

}  // namespace peel::core::formulas
