// Functions of one tensor, element by element.
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// Integers count as float32.
template <class F>
Tensor floating(const char* name, const Tensor& self, F f, Tensor out = {}) {
  Elementwise e({self}, std::move(out), Want::kFloating);
  with_floating(e.type(), name, [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<T, T>(walk, [f](T& o, T x) { o = f(x); });
  });
  return e.finish();
}

}  // namespace

Tensor exp(const Tensor& self) {
  return floating("exp_vml_cpu", self, [](auto x) { return std::exp(x); });
}
Tensor& exp_(Tensor& self) {
  floating("exp_vml_cpu", self, [](auto x) { return std::exp(x); }, self);
  return self;
}
Tensor log(const Tensor& self) {
  return floating("log_vml_cpu", self, [](auto x) { return std::log(x); });
}
Tensor sin(const Tensor& self) {
  return floating("sin_vml_cpu", self, [](auto x) { return std::sin(x); });
}
Tensor cos(const Tensor& self) {
  return floating("cos_vml_cpu", self, [](auto x) { return std::cos(x); });
}
Tensor tanh(const Tensor& self) {
  return floating("tanh_vml_cpu", self, [](auto x) { return std::tanh(x); });
}

Tensor neg(const Tensor& self) {
  if (self.dtype() == ScalarType::Bool) {
    throw Error("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` "
                "operator instead.");
  }
  Elementwise e({self});
  with_type(e.type(), "neg_cpu", [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<T, T>(walk, [](T& o, T x) { o = static_cast<T>(-x); });
  });
  return e.finish();
}

Tensor clamp_min(const Tensor& self, const Scalar& min) {
  const Operand operands[] = {as_operand(self), as_operand(wrapped(min))};
  Elementwise e({is_floating(self.dtype()) ? self : ops::to_dtype::call(self, result_type(operands))});
  with_type(e.type(), "clamp_min_scalar_cpu", [&]<class T>(T) {
    const T low = static_cast<T>(min.value.to_double());
    auto walk = e.walk<2>();
    each<T, T>(walk, [low](T& o, T x) { o = x < low ? low : x; });  // NaN stays
  });
  return e.finish();
}

Tensor relu(const Tensor& self) {
  if (self.dtype() == ScalarType::Bool) throw Error("Boolean inputs not supported for relu");
  return ops::clamp_min::call(self, 0);
}

Tensor threshold_backward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold) {
  Elementwise e({self, grad_output});
  with_type(e.type(), "threshold_cpu", [&]<class T>(T) {
    const T t = static_cast<T>(threshold.value.to_double());
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [t](T& o, T x, T g) { o = x <= t ? T{} : g; });
  });
  return e.finish();
}

Tensor tanh_backward(const Tensor& grad_output, const Tensor& output) {
  Elementwise e({grad_output, output});
  with_floating(e.type(), "tanh_backward_cpu", [&]<class T>(T) {
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [](T& o, T g, T y) { o = g * (T{1} - y * y); });
  });
  return e.finish();
}

}  // namespace peel::kernels
