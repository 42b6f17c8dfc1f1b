// Incomplete gamma functions and their kin, Hurwitz's zeta function, tails of the normal distribution, powers of two.
#include <cmath>
#include <limits>
#include <numbers>

#include "core/tensor/geometry.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/special.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

double front(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a)); }

// The share below x of a gamma distribution with shape a: a series.
double below_by_series(double a, double x) {
  double term = 1 / a, sum = term;
  for (double n = a + 1; term > sum * 1e-17; ++n) sum += term *= x / n;
  return front(a, x) * sum;
}
// The share above: a continued fraction, by Lentz's method.
double above_by_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int k = 1; k < 100000; ++k) {
    const double n = -k * (k - a);
    b += 2;
    d = n * d + b;
    c = b + n / c;
    if (std::abs(d) < kTiny) d = kTiny;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    h *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return front(a, x) * h;
}
bool by_series(double a, double x) { return x < a + 1; }

double lower_share(double a, double x) {
  if (a != a || x != x || a < 0 || x < 0) return kNaN;
  if (a == 0) return x > 0 ? 1 : kNaN;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 0;
  if (std::isinf(x)) return 1;
  return by_series(a, x) ? below_by_series(a, x) : 1 - above_by_fraction(a, x);
}
double upper_share(double a, double x) {
  if (a != a || x != x || a < 0 || x < 0) return kNaN;
  if (a == 0) return x > 0 ? 0 : kNaN;
  if (x == 0) return 1;
  if (std::isinf(a)) return std::isinf(x) ? kNaN : 1;
  if (std::isinf(x)) return 0;
  return by_series(a, x) ? 1 - below_by_series(a, x) : above_by_fraction(a, x);
}

// exp(x^2) erfc(x).
double scaled_erfc(double x) {
  if (x < 10) return std::exp(x * x) * std::erfc(x);
  const double z = 1 / (2 * x * x);
  return std::numbers::inv_sqrtpi / x * (1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z * (1 - 9 * z)))));
}

// The number that a normal variable is below with a probability of p: a guess, then Halley's steps.
double inverse_normal(double p) {
  if (p != p || p < 0 || p > 1) return kNaN;
  if (p == 0.5) return 0;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  const bool upper = p > 0.5;
  const double q = upper ? 1 - p : p, t = std::sqrt(-2 * std::log(q));
  double y = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int k = 0; k < 3; ++k) {
    const double away = (0.5 * std::erfc(-y / std::numbers::sqrt2) - q) * std::sqrt(2 * std::numbers::pi) * std::exp(y * y / 2);
    y -= away / (1 + y * away / 2);
  }
  return upper ? -y : y;
}

double zeta(double s, double q) {
  if (s == 1) return kInfinity;
  if (s < 1 || s != s) return kNaN;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (s != std::floor(s)) return kNaN;
  }
  return hurwitz_zeta(s, q);
}

template <class F>
Tensor of_two(const char* name, const Tensor& a, const Tensor& b, F f, Plan plan = {Want::kFloating}) {
  return map_floating(name, {a, b}, [f](auto x, auto y) { return static_cast<decltype(x)>(f(static_cast<double>(x), static_cast<double>(y))); }, {}, plan);
}
Tensor of_one(const char* name, const Tensor& self, double (*f)(double)) {
  return map_floating(name, {self}, [f](auto x) { return static_cast<decltype(x)>(f(static_cast<double>(x))); });
}

}  // namespace

Tensor igamma(const Tensor& self, const Tensor& other) { return of_two("igamma_cpu", self, other, lower_share, {}); }
Tensor igammac(const Tensor& self, const Tensor& other) { return of_two("igammac_cpu", self, other, upper_share, {}); }
Tensor special_gammainc(const Tensor& self, const Tensor& other) { return ops::igamma::call(self, other); }
Tensor special_gammaincc(const Tensor& self, const Tensor& other) { return ops::igammac::call(self, other); }
Tensor special_zeta(const Tensor& self, const Tensor& other) { return of_two("zeta_cpu", self, other, zeta); }
Tensor special_zeta(const Scalar& self, const Tensor& other) { return ops::special_zeta::call(wrapped(self), other); }
Tensor special_zeta(const Tensor& self, const Scalar& other) { return ops::special_zeta::call(self, wrapped(other)); }
Tensor special_erfcx(const Tensor& self) { return of_one("erfcx_cpu", self, scaled_erfc); }
Tensor special_ndtri(const Tensor& self) { return of_one("ndtri_cpu", self, inverse_normal); }

Tensor& polygamma_(Tensor& self, int64_t n) { return ops::polygamma_out::call(n, self, self); }

Tensor mvlgamma(const Tensor& self, int64_t p) {
  if (p < 1) throw Error("p has to be greater than or equal to 1");
  const ScalarType type = !is_differentiable(self.dtype()) ? default_dtype() : self.dtype();
  Tensor steps = ops::empty_memory_format::call(SizeVector{0}, type, Layout::Strided, self.device());
  ops::arange_start_out::call(-static_cast<double>(p) / 2 + 0.5, 0.5, 0.5, steps);
  Tensor all = ops::add_Tensor::call(steps, ops::unsqueeze::call(self, -1));
  ops::lgamma_::call(all);
  const double q = static_cast<double>(p);
  Tensor out = ops::sum_dim_IntList::call(all, SizeVector{-1});
  return ops::add__Scalar::call(out, q * (q - 1) * std::log(std::numbers::pi) / 4);
}
Tensor& mvlgamma_out(const Tensor& self, int64_t p, Tensor& out) {
  const Tensor made = ops::mvlgamma::call(self, p);
  if (!ops::can_cast::call(made.dtype(), out.dtype())) {
    throw Error(std::string("mvlgamma: result type ") + to_string(made.dtype()) + " can't be cast to the desired output type " + to_string(out.dtype()));
  }
  if (!std::ranges::equal(out.sizes(), made.sizes())) ops::resize_::call(out, made.sizes());
  return ops::copy_::call(out, made);
}
Tensor& mvlgamma_(Tensor& self, int64_t p) { return ops::mvlgamma_out::call(self, p, self); }
Tensor special_multigammaln(const Tensor& self, int64_t p) { return ops::mvlgamma::call(self, p); }

// --- powers of two
namespace {

// Whole exponents are added to floating-point numbers' own; else it is a product.
bool shifts(const Tensor& self, const Tensor& other) {
  return is_floating(self.dtype()) && !is_differentiable(other.dtype()) && std::ranges::equal(broadcast(self.sizes(), other.sizes()), self.sizes());
}
void shift_into(const Tensor& out, const Tensor& self, const Tensor& other) {
  Walk<3> walk(self.sizes());
  walk.set(0, out);
  walk.set(1, self);
  walk.set(2, other);
  with_floating(self.dtype(), "ldexp", [&]<class T>(T) {
    with_integral(other.dtype(), "ldexp", [&]<class I>(I) {
      each<T, T, I>(walk, [](T& o, T x, I by) { o = static_cast<T>(std::ldexp(static_cast<Math<T>>(x), static_cast<int>(by))); });
    });
  });
}

}  // namespace

Tensor ldexp(const Tensor& self, const Tensor& other) {
  if (!shifts(self, other)) return ops::mul_Tensor::call(self, ops::pow_Scalar::call(2.0, other));
  Tensor out = ops::empty_like::call(self);
  shift_into(out, self, other);
  return out;
}
Tensor& ldexp_out(const Tensor& self, const Tensor& other, Tensor& out) {
  if (!shifts(self, other) || out.dtype() != self.dtype()) return ops::mul_out::call(self, ops::pow_Scalar::call(2.0, other), out);
  if (!std::ranges::equal(out.sizes(), self.sizes())) ops::resize_::call(out, self.sizes());
  shift_into(out, self, other);
  return out;
}
Tensor& ldexp_(Tensor& self, const Tensor& other) { return ops::ldexp_out::call(self, other, self); }

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  Tensor mantissa = ops::empty_like::call(self), exponent = ops::empty_like::call(self, ScalarType::Int, Layout::Strided, self.device());
  ops::frexp_Tensor_out::call(self, mantissa, exponent);
  return {mantissa, exponent};
}
std::tuple<Tensor&, Tensor&> frexp_out(const Tensor& self, Tensor& mantissa, Tensor& exponent) {
  if (!is_floating(self.dtype())) throw Error("torch.frexp() only supports floating-point dtypes");
  Walk<3> walk(self.sizes());
  walk.set(0, mantissa);
  walk.set(1, exponent);
  walk.set(2, self);
  with_floating(self.dtype(), "frexp", [&]<class T>(T) {
    walk.run([](char* const* data, const int64_t* step, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        int e = 0;
        const auto x = static_cast<Math<T>>(*reinterpret_cast<const T*>(data[2] + i * step[2]));
        *reinterpret_cast<T*>(data[0] + i * step[0]) = static_cast<T>(std::frexp(x, &e));
        *reinterpret_cast<int32_t*>(data[1] + i * step[1]) = e;
      }
    });
  });
  return {mantissa, exponent};
}

}  // namespace peel::kernels
