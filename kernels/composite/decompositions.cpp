// Losses and the like as other operators, in the order of PyTorch's Python decompositions: what vmap runs for those that it has no rule for.
#include "core/dispatch/library.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/load.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

ScalarType computed_in(ScalarType t) { return t == ScalarType::Half || t == ScalarType::BFloat16 ? ScalarType::Float : t; }
Tensor cast(const Tensor& t, ScalarType type) { return ops::to_dtype::call(t, type, false, false, {}); }
Tensor times(const Tensor& t, double number) { return ops::mul_Tensor::call(t, wrapped(number)); }
double share(const Tensor& t, int64_t reduction, double whole) { return reduction == kMean ? whole / static_cast<double>(t.numel()) : whole; }

// Element by element in a type that is large enough, as the decompositions of losses are.
struct Cast {
  ScalarType result;
  Tensor grad, self, target;
  Cast(const Tensor& g, const Tensor& s, const Tensor& t) {
    const Operand all[] = {as_operand(g), as_operand(s), as_operand(t)};
    result = result_type(all);
    const ScalarType in = computed_in(result);
    grad = cast(g, in);
    self = cast(s, in);
    target = cast(t, in);
  }
  Tensor back(const Tensor& t) const { return cast(t, result); }
};

Tensor mse_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction) {
  const Cast c(grad, self, target);
  const Tensor scaled = times(ops::sub_Tensor::call(c.self, c.target), share(self, reduction, 2.0));
  return c.back(ops::mul_Tensor::call(scaled, c.grad));
}

Tensor smooth_l1_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  const Cast c(grad, self, target);
  const Tensor x = ops::sub_Tensor::call(c.self, c.target), size = ops::abs::call(x), g = times(c.grad, share(self, reduction, 1.0));
  const Tensor small = ops::lt_Scalar::call(size, beta);
  const Tensor inside = ops::div_Tensor::call(ops::mul_Tensor::call(g, x), wrapped(beta));
  const Tensor sign = ops::sign::call(x);
  return c.back(ops::where_self::call(small, inside, ops::mul_Tensor::call(g, sign)));
}

Tensor huber_loss_backward(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  const Cast c(grad, self, target);
  const double norm = share(self, reduction, 1.0);
  const Tensor x = ops::sub_Tensor::call(c.self, c.target);
  const Tensor below = ops::lt_Scalar::call(x, -delta), low = times(times(c.grad, -norm), delta);
  const Tensor above = ops::gt_Scalar::call(x, delta), high = times(times(c.grad, norm), delta);
  const Tensor between = ops::mul_Tensor::call(times(x, norm), c.grad);
  const Tensor right = ops::where_self::call(above, high, between);
  return c.back(ops::where_self::call(below, low, right));
}

Tensor counted(const Tensor& target, int64_t ignored) { return ops::ne_Scalar::call(target, ignored); }

std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& given, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignored) {
  const int64_t rank = given.dim(), channel = rank < 2 ? 0 : 1;
  Tensor self = given, w;
  if (weight && weight->defined()) {
    w = *weight;
    if (rank > 1) {
      SizeVector shape(static_cast<size_t>(rank), 1);
      shape[static_cast<size_t>(channel)] = w.sizes()[0];
      w = ops::view::call(w, shape);
    }
    self = ops::mul_Tensor::call(self, w);
  }
  const Tensor safe = ops::unsqueeze::call(ops::where_ScalarOther::call(counted(target, ignored), target, 0), channel);
  Tensor result = ops::neg::call(ops::squeeze_dim::call(ops::gather::call(self, channel, safe, false), channel));
  result = ops::where_ScalarOther::call(counted(target, ignored), result, 0);
  if (reduction == kNone && rank > 1) {
    return {result, ops::new_full::call(self, SizeVector{}, 0.0, {}, {}, {}, {})};
  }
  Tensor total;
  if (w.defined()) {
    const Tensor all = ops::expand::call(w, self.sizes(), false);
    const Tensor own = ops::squeeze_dim::call(ops::gather::call(all, channel, safe, false), channel);
    total = ops::sum::call(ops::where_ScalarOther::call(counted(target, ignored), own, 0), {});
  } else {
    total = ops::to_device::call(ops::sum::call(counted(target, ignored), {}), self.device(), self.dtype(), false, false, {});
  }
  if (reduction == kSum) result = ops::sum::call(result, {});
  else if (reduction == kMean) result = ops::div_Tensor::call(ops::sum::call(result, {}), total);
  return {result, total};
}

Tensor nll_loss_backward(const Tensor& given, const Tensor& self, const Tensor& given_target, const std::optional<Tensor>& weight, int64_t reduction, int64_t ignored,
                         const Tensor& total) {
  const int64_t channel = self.dim() < 2 ? 0 : 1;
  Tensor grad = reduction == kMean ? ops::div_Tensor::call(given, total) : given;
  Tensor target = self.dim() == 1 && given_target.dim() > 0 ? ops::select_int::call(given_target, 0, 0) : given_target;
  target = ops::unsqueeze::call(target, channel);
  const Tensor safe = ops::where_ScalarOther::call(counted(target, ignored), target, 0);
  const Tensor minus_one = ops::scatter_value::call(ops::zeros_like::call(self, {}, {}, {}, false, {}), channel, safe, -1.0);
  if (minus_one.dim() > grad.dim() && grad.dim() > 0) grad = ops::unsqueeze::call(grad, channel);
  if (weight && weight->defined()) {
    SizeVector shape(static_cast<size_t>(self.dim()), 1);
    shape[static_cast<size_t>(channel)] = weight->sizes()[0];
    grad = ops::mul_Tensor::call(grad, ops::reshape::call(*weight, shape));
  }
  grad = ops::where_ScalarOther::call(counted(target, ignored), grad, 0);
  return ops::mul_Tensor::call(minus_one, grad);
}

Tensor addr(const Tensor& given, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  const Tensor self = ops::expand::call(given, SizeVector{a.sizes()[0], b.sizes()[0]}, false);
  if (beta.value.to_complex() == 0.0) return ops::mul_Tensor::call(ops::outer::call(a, b), wrapped(alpha));
  const Tensor scaled = ops::mul_Tensor::call(self, wrapped(beta));
  return ops::add_Tensor::call(scaled, ops::mul_Tensor::call(ops::outer::call(a, b), wrapped(alpha)), 1);
}

}  // namespace

void register_decompositions(Library& m) {
  m.impl("mse_loss_backward", kernel_of(&mse_loss_backward)).impl("smooth_l1_loss_backward", kernel_of(&smooth_l1_loss_backward));
  m.impl("huber_loss_backward", kernel_of(&huber_loss_backward)).impl("addr", kernel_of(&addr));
  for (const char* name : {"nll_loss_forward", "nll_loss2d_forward"}) m.impl(name, kernel_of(&nll_loss_forward));
  for (const char* name : {"nll_loss_backward", "nll_loss2d_backward"}) m.impl(name, kernel_of(&nll_loss_backward));
}

}  // namespace peel::kernels
