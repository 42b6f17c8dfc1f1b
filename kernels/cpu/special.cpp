// Rarer functions of one and two tensors, element by element: gamma and Bessel functions, angles, signs, divisors.
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/special.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// By its recurrence up to 10, then its asymptotic series.
double digamma_of(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    if (x == std::trunc(x)) return kNaN;
    double whole = 0;
    return digamma_of(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * std::modf(x, &whole));
  }
  double below = 0;
  for (; x < 10; ++x) below += 1 / x;
  const double z = 1 / (x * x);
  return std::log(x) - 0.5 / x - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z / 132)))) - below;
}

// The sum of 1 / (x + k)^s by Euler and Maclaurin.
double hurwitz_zeta(double s, double x) {
  if (x <= 0 && x == std::trunc(x)) return kInfinity;
  double sum = 0;
  for (; x < 12; ++x) sum += std::pow(x, -s);
  const double z = 1 / (x * x);
  return sum + std::pow(x, -s) * (x / (s - 1) + 0.5 + s / (12 * x) * (1 - (s + 1) * (s + 2) * z / 60 * (1 - (s + 3) * (s + 4) * z / 42)));
}
namespace {

double inverse_erf(double x) {
  if (std::abs(x) >= 1) return std::abs(x) == 1 ? std::copysign(kInfinity, x) : kNaN;
  const double l = std::log(1 - x * x), b = 2 / (std::numbers::pi * 0.147) + l / 2;
  double y = std::copysign(std::sqrt(std::sqrt(b * b - l / 0.147) - b), x);
  for (int k = 0; k < 3; ++k) {  // Halley's steps
    const double away = (std::erf(y) - x) / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= away / (1 + y * away);
  }
  return y;
}
double log_normal_distribution(double x) {
  if (x > -10) return x < 1 ? std::log(0.5 * std::erfc(-x / std::numbers::sqrt2)) : std::log1p(-0.5 * std::erfc(x / std::numbers::sqrt2));
  const double z = 1 / (x * x);
  return -0.5 * x * x - std::log(-x) - 0.5 * std::log(2 * std::numbers::pi) + std::log1p(-z * (1 - z * (3 - z * (15 - 105 * z))));
}
double bessel(int order, double x) {
  const double size = std::cyl_bessel_i(order, std::abs(x));
  return order == 1 && x < 0 ? -size : size;
}

// Computed in double.
Tensor by_double(const char* name, const Tensor& self, double (*f)(double)) {
  return map_floating(name, {self}, [f](auto x) { return static_cast<decltype(x)>(f(static_cast<double>(x))); });
}

template <class F>
Tensor told(const char* name, const Tensor& self, F f) {  // a truth for each element
  Elementwise e({self}, {}, {.result = ScalarType::Bool});
  with_type(e.type(), name, [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<bool, T>(walk, [f](bool& o, T x) { o = f(static_cast<Math<T>>(x)); });
  });
  return e.finish();
}

template <class F>
Tensor of_two(const char* name, const Tensor& a, const Tensor& b, F f) {
  Elementwise e({a, b});
  with_type(e.type(), name, [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [f](T& o, T x, T y) { o = static_cast<T>(f(static_cast<M>(x), static_cast<M>(y))); });
  });
  return e.finish();
}

template <class F>
Tensor of_integers(const char* name, const Tensor& a, const Tensor& b, F f, Tensor out = {}, Plan plan = {}) {
  Elementwise e({a, b}, std::move(out), plan);
  with_integral(e.type(), name, [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>) {
      no_kernel_for(name, e.type());
    } else {
      auto walk = e.walk<3>();
      each<T, T, T>(walk, [f](T& o, T x, T y) { o = static_cast<T>(f(x, y)); });
    }
  });
  return e.finish();
}
constexpr auto kShiftLeft = [](auto x, auto n) { return n < 0 || n >= static_cast<int>(8 * sizeof x) ? 0 : static_cast<decltype(x)>(static_cast<std::make_unsigned_t<decltype(x)>>(x) << n); };
constexpr auto kShiftRight = [](auto x, auto n) { return n < 0 || n >= static_cast<int>(8 * sizeof x) ? (x < 0 ? -1 : 0) : x >> n; };

}  // namespace

Tensor acosh(const Tensor& self) { return by_double("acosh_cpu", self, [](double x) { return std::acosh(x); }); }
Tensor asinh(const Tensor& self) { return by_double("asinh_cpu", self, [](double x) { return std::asinh(x); }); }
Tensor atanh(const Tensor& self) { return by_double("atanh_cpu", self, [](double x) { return std::atanh(x); }); }
Tensor digamma(const Tensor& self) { return by_double("digamma", self, digamma_of); }
Tensor lgamma(const Tensor& self) { return by_double("lgamma_vml_cpu", self, [](double x) { return std::lgamma(x); }); }
Tensor erfinv(const Tensor& self) { return by_double("erfinv_vml_cpu", self, inverse_erf); }
Tensor i0(const Tensor& self) { return by_double("i0_vml_cpu", self, [](double x) { return bessel(0, x); }); }
Tensor special_i1(const Tensor& self) { return by_double("i1_cpu", self, [](double x) { return bessel(1, x); }); }
Tensor special_log_ndtr(const Tensor& self) { return by_double("log_ndtr_cpu", self, log_normal_distribution); }
Tensor special_entr(const Tensor& self) {
  return by_double("entr_cpu", self, [](double x) { return x > 0 ? -x * std::log(x) : x == 0 ? 0 : x != x ? x : -kInfinity; });
}
Tensor sinc(const Tensor& self) {
  return by_double("sinc_cpu", self, [](double x) { return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x); });
}
Tensor polygamma(int64_t n, const Tensor& self) {
  if (n < 0) throw Error("polygamma(n, x) does not support negative n.");
  if (n == 0) return digamma(self);
  return map_floating("polygamma", {self}, [n](auto x) {
    const auto order = static_cast<double>(n);
    return static_cast<decltype(x)>((n % 2 ? 1 : -1) * std::exp(std::lgamma(order + 1)) * hurwitz_zeta(order + 1, static_cast<double>(x)));
  });
}
Tensor special_ndtr(const Tensor& self) {
  const Tensor e = ops::erf::call(ops::mul_Scalar::call(self, 1 / std::numbers::sqrt2));
  return ops::mul_Scalar::call(ops::add_Scalar::call(e, 1), 0.5);
}

Tensor frac(const Tensor& self) {
  Elementwise e({self});
  with_floating(e.type(), "frac_cpu", [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<T, T>(walk, [](T& o, T x) { o = static_cast<Math<T>>(x) - std::trunc(static_cast<Math<T>>(x)); });
  });
  return e.finish();
}
Tensor round(const Tensor& self, int64_t decimals) {
  Elementwise e({self});
  with_floating(e.type(), "round_vml_cpu", [&]<class T>(T) {
    using M = Math<T>;
    const M ten = static_cast<M>(std::pow(10.0, static_cast<double>(std::abs(decimals))));
    auto walk = e.walk<2>();
    each<T, T>(walk, [ten, up = decimals > 0](T& o, T x) { o = up ? std::nearbyint(static_cast<M>(x) * ten) / ten : std::nearbyint(static_cast<M>(x) / ten) * ten; });
  });
  return e.finish();
}
Tensor signbit(const Tensor& self) {
  return told("signbit_cpu", self, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>) return std::signbit(x);
    else return x < decltype(x){};
  });
}
Tensor isposinf(const Tensor& self) {
  return told("isposinf_cpu", self, [](auto x) { return static_cast<double>(x) == kInfinity; });
}
Tensor isreal(const Tensor& self) {
  return is_complex(self.dtype()) ? ops::eq_Scalar::call(ops::imag::call(self), 0)
                                  : ops::ones_like::call(self, ScalarType::Bool, {}, {}, {}, MemoryFormat::Preserve);
}
Tensor positive(const Tensor& self) {
  if (self.dtype() == ScalarType::Bool) throw Error("The `+` operator, on a bool tensor is not supported.");
  return self;
}
// The angle of a real number: 0 or pi.
Tensor angle(const Tensor& self) {
  if (is_complex(self.dtype())) {
    Tensor out = ops::empty_memory_format::call(SizeVector{0}, value_type_of(self.dtype()), Layout::Strided, self.device());
    return ops::angle_out::call(self, out);
  }
  return map_floating("angle_cpu", {self}, [](auto x) { return x != x ? x : x < 0 ? static_cast<decltype(x)>(std::numbers::pi) : decltype(x){}; }, {},
                      {.want = Want::kFloating, .allocates_by_call = true});
}
Tensor& angle_out(const Tensor& self, Tensor& out) {
  if (!is_complex(self.dtype())) return write_into(out, angle(self));
  // Stock computes complex numbers without imaginary parts, whose real parts are copied.
  const Tensor angles = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  reshape_out(angles, self.sizes());
  with_any_type(self.dtype(), "angle_cpu", [&]<class T>(T) {
    if constexpr (kIsComplex<T>) {
      Walk<2> walk(self.sizes());
      walk.set(0, angles);
      walk.set(1, self);
      each<T, T>(walk, [](T& o, T x) { o = std::arg(x); });
    }
  });
  if (!std::ranges::equal(out.sizes(), self.sizes())) reshape_out(out, self.sizes());
  return ops::copy_::call(out, ops::real::call(angles));
}
Tensor deg2rad(const Tensor& self) {
  Tensor out = ops::empty_like::call(self, is_floating(self.dtype()) ? self.dtype() : ScalarType::Float, Layout::Strided, self.device());
  return ops::deg2rad_out::call(self, out);
}
Tensor rad2deg(const Tensor& self) {
  Tensor out = ops::empty_like::call(self, is_floating(self.dtype()) ? self.dtype() : ScalarType::Float, Layout::Strided, self.device());
  return ops::rad2deg_out::call(self, out);
}

namespace {

Tensor logit_of(const Tensor& self, std::optional<double> eps, Tensor out, Plan plan) {
  return map_floating("logit_cpu", {self}, [eps](auto x) {
    using X = decltype(x);
    if (eps) x = std::min(std::max(x, static_cast<X>(*eps)), static_cast<X>(1 - *eps));
    return x == X(1) ? static_cast<X>(kInfinity) : std::log(x / (X(1) - x));
  }, std::move(out), plan);
}

}  // namespace

Tensor logit(const Tensor& self, std::optional<double> eps) { return logit_of(self, eps, {}, {.want = Want::kFloating, .allocates_by_call = true}); }
Tensor& logit_out(const Tensor& self, std::optional<double> eps, Tensor& out) { return write_into(out, logit_of(self, eps, {}, {Want::kFloating})); }
Tensor& logit_(Tensor& self, std::optional<double> eps) {
  logit_of(self, eps, self, {Want::kFloating});
  return self;
}
Tensor logit_backward(const Tensor& grad_output, const Tensor& self, std::optional<double> eps) {
  return map_floating("logit_cpu", {grad_output, self}, [eps](auto g, auto x) {
    using X = decltype(x);
    if (eps && (x < static_cast<X>(*eps) || x > static_cast<X>(1 - *eps))) return X{};
    if (!eps && (x < 0 || x > 1)) return static_cast<X>(kNaN);
    return x == 0 || x == 1 ? static_cast<X>(g * static_cast<X>(kInfinity)) : static_cast<X>(g / (x * (X(1) - x)));
  });
}

// The other one where one is NaN.
Tensor fmax(const Tensor& self, const Tensor& other) { return of_two("fmax_cpu", self, other, [](auto a, auto b) { return a != a || b > a ? b : a; }); }
Tensor fmin(const Tensor& self, const Tensor& other) { return of_two("fmin_cpu", self, other, [](auto a, auto b) { return a != a || b < a ? b : a; }); }
Tensor hypot(const Tensor& self, const Tensor& other) {
  return map_floating("hypot_cpu", {self, other}, [](auto a, auto b) { return std::hypot(a, b); }, {}, {Want::kPromoted});
}
Tensor copysign(const Tensor& self, const Tensor& other) {
  return map_floating("copysign_cpu", {self, other}, [](auto a, auto b) { return std::copysign(a, b); });
}
Tensor copysign(const Tensor& self, const Scalar& other) { return ops::copysign_Tensor::call(self, wrapped(other)); }
Tensor logaddexp(const Tensor& self, const Tensor& other) {
  return map_floating("logaddexp_cpu", {self, other}, [](auto a, auto b) { return std::isinf(a) && a == b ? a : std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }, {},
                      {Want::kPromoted});
}
Tensor logaddexp2(const Tensor& self, const Tensor& other) {
  return map_floating("logaddexp2_cpu", {self, other}, [](auto a, auto b) {
    using X = decltype(a);
    return std::isinf(a) && a == b ? a : std::max(a, b) + std::log1p(std::exp2(-std::abs(a - b))) / static_cast<X>(std::numbers::ln2);
  }, {}, {Want::kPromoted});
}
Tensor heaviside(const Tensor& self, const Tensor& values) {
  if (self.dtype() != values.dtype()) throw Error("heaviside is not yet implemented for tensors with different dtypes.");
  return of_two("heaviside_cpu", self, values, [](auto a, auto b) { return a == decltype(a){} ? b : static_cast<decltype(a)>(a > decltype(a){}); });
}
Tensor gcd(const Tensor& self, const Tensor& other) { return of_integers("gcd_cpu", self, other, [](auto a, auto b) { return std::gcd(a, b); }); }
Tensor lcm(const Tensor& self, const Tensor& other) { return of_integers("lcm_cpu", self, other, [](auto a, auto b) { return std::lcm(a, b); }); }
Tensor nextafter(const Tensor& self, const Tensor& other) {
  Elementwise e({self, other});
  with_floating(e.type(), "nextafter_cpu", [&]<class T>(T) {
    if constexpr (kIsSmallFloat<T>) {
      no_kernel_for("nextafter_cpu", e.type());
    } else {
      auto walk = e.walk<3>();
      each<T, T, T>(walk, [](T& o, T x, T y) { o = std::nextafter(x, y); });
    }
  });
  return e.finish();
}
Tensor special_xlog1py(const Tensor& self, const Tensor& other) {
  return map_floating("xlog1py_cpu", {self, other}, [](auto a, auto b) { return b != b ? b : a == 0 ? decltype(a){} : a * std::log1p(b); });
}

Tensor float_power_Tensor_Tensor(const Tensor& self, const Tensor& exponent) {
  const Tensor to = ops::to_dtype::call(exponent, ScalarType::Double);
  return ops::pow_Tensor_Tensor::call(ops::to_dtype::call(self, ScalarType::Double), to);
}
Tensor float_power_Tensor_Scalar(const Tensor& self, const Scalar& exponent) {
  return ops::pow_Tensor_Scalar::call(ops::to_dtype::call(self, ScalarType::Double), exponent.value.to_double());
}
Tensor float_power_Scalar(const Scalar& self, const Tensor& exponent) {
  return ops::pow_Scalar::call(self.value.to_double(), ops::to_dtype::call(exponent, ScalarType::Double));
}

Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) { return of_integers("lshift_cpu", self, other, kShiftLeft); }
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) { return of_integers("rshift_cpu", self, other, kShiftRight); }
Tensor lshift(const Tensor& self, const Tensor& other) { return of_integers("lshift_cpu", self, other, kShiftLeft, {}, {.allocates_by_call = true}); }
Tensor rshift(const Tensor& self, const Tensor& other) { return of_integers("rshift_cpu", self, other, kShiftRight, {}, {.allocates_by_call = true}); }
Tensor lshift(const Tensor& self, const Scalar& other) { return lshift(self, wrapped(other)); }
Tensor rshift(const Tensor& self, const Scalar& other) { return rshift(self, wrapped(other)); }
Tensor& lshift_(Tensor& self, const Scalar& other) {
  of_integers("lshift_cpu", self, wrapped(other), kShiftLeft, self);
  return self;
}
Tensor& rshift_(Tensor& self, const Scalar& other) {
  of_integers("rshift_cpu", self, wrapped(other), kShiftRight, self);
  return self;
}

}  // namespace peel::kernels
