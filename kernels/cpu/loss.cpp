// Mean squared error.
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

Tensor squared_errors(const Tensor& self, const Tensor& target, Tensor out) {
  Elementwise e({self, target}, std::move(out));
  with_floating(e.type(), "mse_cpu", [&]<class T>(T) {
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [](T& o, T a, T b) { o = (a - b) * (a - b); });
  });
  return e.finish();
}

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  if (reduction == kNone) return squared_errors(self, target, {});
  Tensor out = empty({}, self.dtype(), self.device());
  ops::resize_::call(out, Sizes());
  const SizeVector shape = broadcast(self.sizes(), target.sizes());
  const auto geometry = [](const Tensor& t) { return Geometry{{t.sizes().begin(), t.sizes().end()}, {t.strides().begin(), t.strides().end()}}; };
  const Geometry operands[] = {geometry(self), geometry(target)};
  const SizeVector strides = elementwise_strides(operands, shape);
  const Tensor place = strides == contiguous_strides(shape) ? ops::empty_memory_format::call(shape, self.dtype(), Layout::Strided, self.device())
                                                     : ops::empty_strided::call(shape, strides, self.dtype(), Layout::Strided, self.device());
  const Tensor all = squared_errors(self, target, place);
  if (reduction == kMean) ops::mean_out::call(all, Sizes(), false, {}, out);
  else ops::sum_IntList_out::call(all, Sizes(), false, {}, out);
  return out;
}

Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  Tensor out = ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return ops::mse_loss_backward_grad_input::call(grad_output, self, target, reduction, out);
}

Tensor& mse_loss_backward_out(const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, Tensor& grad_input) {
  const double norm = reduction == kMean ? 2.0 / static_cast<double>(self.numel()) : 2.0;
  Elementwise e({self, target, grad_output}, grad_input);
  with_floating(e.type(), "mse_backward_cpu", [&]<class T>(T) {
    auto walk = e.walk<4>();
    each<T, T, T, T>(walk, [factor = static_cast<T>(norm)](T& o, T a, T b, T g) { o = factor * (a - b) * g; });
  });
  e.finish();
  return grad_input;
}

}  // namespace peel::kernels
