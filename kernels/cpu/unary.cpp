// Functions of one tensor, element by element.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// What has values for whole numbers too.
template <class F>
Tensor map_any(const char* name, const Tensor& self, F f, Tensor out = {}, Plan plan = {}) {
  Elementwise e({self}, std::move(out), plan);
  with_real_type(e.type(), name, [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<T, T>(walk, [f](T& o, T x) { o = static_cast<T>(f(static_cast<Math<T>>(x))); });
  });
  return e.finish();
}

// Rounding copies whole numbers.
template <class F>
Tensor rounded(const char* name, const Tensor& self, F f, Tensor out = {}) {
  if (self.dtype() == ScalarType::Bool) no_kernel_for(name, self.dtype());
  if (!is_floating(self.dtype())) {
    if (!out.defined()) out = Elementwise({self}).finish();
    return ops::copy_::call(out, self);
  }
  return map_any(name, self, [f](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return f(x);
    else return x;
  }, std::move(out));
}

constexpr auto kSign = [](auto x) {
  using X = decltype(x);
  if constexpr (std::is_same_v<X, bool>) return x;
  else return static_cast<X>((x > X{}) - (x < X{}));
};
constexpr auto kReciprocal = [](auto x) { return decltype(x){1} / x; };
constexpr auto kRsqrt = [](auto x) { return decltype(x){1} / std::sqrt(x); };

}  // namespace

// Integers count as float32 here.
#define PEEL_FLOATING(name, kernel, expression)                                                                             \
  Tensor name(const Tensor& self) {                                                                                         \
    return map_floating(kernel, {self}, [](auto x) { return expression; });                                                 \
  }
#define PEEL_FLOATING_(name, kernel, expression)                                                                            \
  Tensor& name(Tensor& self) {                                                                                              \
    map_floating(kernel, {self}, [](auto x) { return expression; }, self);                                                  \
    return self;                                                                                                            \
  }
#define PEEL_BOTH(name, kernel, expression) PEEL_FLOATING(name, kernel, expression) PEEL_FLOATING_(name##_, kernel, expression)
PEEL_FLOATING_(exp_, "exp_vml_cpu", std::exp(x))
PEEL_BOTH(log, "log_vml_cpu", std::log(x))
PEEL_FLOATING(log1p, "log1p_vml_cpu", std::log1p(x))
PEEL_FLOATING(log2, "log2_vml_cpu", std::log2(x))
PEEL_FLOATING(log10, "log10_vml_cpu", std::log10(x))
PEEL_FLOATING(expm1, "expm1_vml_cpu", std::expm1(x))
PEEL_FLOATING(erf, "erf_vml_cpu", std::erf(x))
PEEL_BOTH(sin, "sin_vml_cpu", std::sin(x))
PEEL_BOTH(cos, "cos_vml_cpu", std::cos(x))
PEEL_FLOATING(tan, "tan_vml_cpu", std::tan(x))
PEEL_FLOATING(asin, "asin_vml_cpu", std::asin(x))
PEEL_FLOATING(acos, "acos_vml_cpu", std::acos(x))
PEEL_FLOATING(atan, "atan_vml_cpu", std::atan(x))
PEEL_FLOATING(sinh, "sinh_vml_cpu", std::sinh(x))
PEEL_FLOATING(cosh, "cosh_vml_cpu", std::cosh(x))
PEEL_BOTH(tanh, "tanh_vml_cpu", std::tanh(x))
PEEL_BOTH(sqrt, "sqrt_vml_cpu", std::sqrt(x))
PEEL_BOTH(rsqrt, "rsqrt_cpu", kRsqrt(x))
PEEL_BOTH(reciprocal, "reciprocal_cpu", kReciprocal(x))
#undef PEEL_FLOATING
#undef PEEL_FLOATING_
#undef PEEL_BOTH

#define PEEL_ROUNDED(name, expression)                                                                                      \
  Tensor name(const Tensor& self) {                                                                                         \
    return rounded(#name "_vml_cpu", self, [](auto x) { return expression; });                                              \
  }
#define PEEL_ROUNDED_(name, expression)                                                                                     \
  Tensor& name##_(Tensor& self) {                                                                                           \
    rounded(#name "_vml_cpu", self, [](auto x) { return expression; }, self);                                               \
    return self;                                                                                                            \
  }
PEEL_ROUNDED(floor, std::floor(x))
PEEL_ROUNDED_(floor, std::floor(x))
PEEL_ROUNDED(ceil, std::ceil(x))
PEEL_ROUNDED_(ceil, std::ceil(x))
PEEL_ROUNDED(round, std::nearbyint(x))
PEEL_ROUNDED_(round, std::nearbyint(x))
PEEL_ROUNDED(trunc, std::trunc(x))
#undef PEEL_ROUNDED
#undef PEEL_ROUNDED_

Tensor sign(const Tensor& self) { return map_any("sign_cpu", self, kSign); }
Tensor sgn(const Tensor& self) {
  if (!is_complex(self.dtype())) return map_any("sign_cpu", self, kSign);
  Elementwise e({self});
  with_any_type(e.type(), "sgn_cpu", [&]<class T>(T) {
    if constexpr (kIsComplex<T>) {
      auto walk = e.walk<2>();
      each<T, T>(walk, [](T& o, T x) { o = x == T{} ? T{} : x / std::abs(x); });
    }
  });
  return e.finish();
}

Tensor exp(const Tensor& self) {
  if (!is_complex(self.dtype())) return map_floating("exp_vml_cpu", {self}, [](auto x) { return std::exp(x); });
  Elementwise e({self});
  with_any_type(e.type(), "exp_vml_cpu", [&]<class T>(T) {
    if constexpr (kIsComplex<T>) {
      auto walk = e.walk<2>();
      each<T, T>(walk, [](T& o, T x) { o = std::exp(x); });
    }
  });
  return e.finish();
}

namespace {

Tensor negated(const Tensor& self, Tensor out) {
  if (self.dtype() == ScalarType::Bool) {
    throw Error("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` "
                "operator instead.");
  }
  Elementwise e({self}, std::move(out));
  with_any_type(e.type(), "neg_cpu", [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<T, T>(walk, [](T& o, T x) { o = static_cast<T>(-x); });
  });
  return e.finish();
}

Tensor magnitude(const Tensor& self) {
  if (self.dtype() == ScalarType::Bool) no_kernel_for("abs_cpu", self.dtype());
  return map_any("abs_cpu", self, [](auto x) { return x < decltype(x){} ? static_cast<decltype(x)>(-x) : x; }, {});
}

}  // namespace

Tensor neg(const Tensor& self) { return negated(self, {}); }
Tensor& neg_(Tensor& self) {
  negated(self, self);
  return self;
}

// Stock makes the result by a call of empty, then asks the out= form, which gives it its shape.
Tensor abs(const Tensor& self) {
  if (is_complex(self.dtype())) {
    Tensor out = ops::empty_like::call(self, value_type_of(self.dtype()), Layout::Strided, self.device());
    return ops::abs_out::call(self, out);
  }
  Tensor out = ops::empty_memory_format::call(Sizes(), value_type_of(self.dtype()), Layout::Strided, self.device());
  return ops::abs_out::call(self, out);
}
Tensor& abs_out(const Tensor& self, Tensor& out) {
  if (!is_complex(self.dtype())) return write_into(out, magnitude(self));
  // Stock computes complex numbers without imaginary parts, whose real parts are copied.
  const Tensor sizes = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  reshape_out(sizes, self.sizes());
  const SizeVector strides = like_strides(self.sizes(), self.strides());
  if (!std::ranges::equal(strides, sizes.strides())) ops::as_strided_::call(const_cast<Tensor&>(sizes), self.sizes(), strides, {});
  with_any_type(self.dtype(), "abs_cpu", [&]<class T>(T) {
    if constexpr (kIsComplex<T>) {
      Walk<2> walk(self.sizes());
      walk.set(0, sizes);
      walk.set(1, self);
      each<T, T>(walk, [](T& o, T x) { o = std::abs(x); });
    }
  });
  if (!std::ranges::equal(out.sizes(), self.sizes())) reshape_out(out, self.sizes());
  return ops::copy_::call(out, ops::real::call(sizes));
}
Tensor& abs_(Tensor& self) { return ops::abs_out::call(self, self); }

Tensor square(const Tensor& self) { return ops::pow_Tensor_Scalar::call(self, 2); }
Tensor isnan(const Tensor& self) { return ops::ne_Tensor::call(self, self); }
Tensor isinf(const Tensor& self) {
  if (!is_floating(self.dtype())) return ops::zeros_like::call(self, ScalarType::Bool, Layout::Strided, self.device(), false, MemoryFormat::Preserve);
  return ops::eq_Scalar::call(ops::abs::call(self), std::numeric_limits<double>::infinity());
}
Tensor isfinite(const Tensor& self) {
  if (!is_floating(self.dtype())) return ops::ones_like::call(self, ScalarType::Bool, Layout::Strided, self.device(), false, MemoryFormat::Preserve);
  const Tensor below = ops::ne_Scalar::call(ops::abs::call(self), std::numeric_limits<double>::infinity());
  return ops::mul_Tensor::call(ops::eq_Tensor::call(self, self), below);
}

}  // namespace peel::kernels
