// Bessel and Airy functions, computed in double by the C++ library where it has them.
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kFar = 50;  // from here on asymptotic series: the plain functions overflow or vanish later

Tensor by_double(const char* name, const Tensor& self, double (*f)(double)) {
  return map_floating(name, {self}, [f](auto x) { return static_cast<decltype(x)>(f(static_cast<double>(x))); });
}

// The sum of (sign)^k (4 n^2 - 1) (4 n^2 - 9) ... / (k! (8 x)^k).
double far_series(int order, double x, double sign) {
  double term = 1, sum = 1;
  for (int k = 1; k < 20; ++k) {
    const double odd = 2 * k - 1;
    term *= sign * (4.0 * order * order - odd * odd) / (8 * x * k);
    sum += term;
  }
  return sum;
}
double scaled_i(int order, double x) {
  const double size = std::abs(x);
  const double value = size < kFar ? std::cyl_bessel_i(order, size) * std::exp(-size) : far_series(order, size, -1) / std::sqrt(2 * std::numbers::pi * size);
  return order == 1 && x < 0 ? -value : value;
}
double plain_i(int order, double x) {
  const double value = std::cyl_bessel_i(order, std::abs(x));
  return order == 1 && x < 0 ? -value : value;
}
double plain_k(int order, double x) { return x != x || x < 0 ? kNaN : x == 0 ? kInfinity : x > 700 ? 0 : std::cyl_bessel_k(order, x); }
double scaled_k(int order, double x) {
  if (x != x || x < 0) return kNaN;
  if (x == 0) return kInfinity;
  return x < kFar ? std::cyl_bessel_k(order, x) * std::exp(x) : far_series(order, x, 1) * std::sqrt(std::numbers::pi / (2 * x));
}

double airy(double x) {
  if (x != x) return x;
  if (x == kInfinity) return 0;
  constexpr double kThird = 1.0 / 3.0;
  if (x == 0) return 0.35502805388781723926;
  const double z = 2 * kThird * std::pow(std::abs(x), 1.5);
  if (x > 0) return z > 700 ? 0 : std::sqrt(x * kThird) * std::cyl_bessel_k(kThird, z) / std::numbers::pi;
  const double j = std::cyl_bessel_j(kThird, z), y = std::cyl_neumann(kThird, z);
  const double below = j * std::cos(kThird * std::numbers::pi) - y * std::sin(kThird * std::numbers::pi);  // of the order -1/3
  return std::sqrt(-x) * kThird * (j + below);
}

}  // namespace

Tensor special_i0e(const Tensor& self) { return by_double("i0e_cpu", self, [](double x) { return scaled_i(0, x); }); }
Tensor special_i1e(const Tensor& self) { return by_double("i1e_cpu", self, [](double x) { return scaled_i(1, x); }); }
Tensor special_bessel_j0(const Tensor& self) { return by_double("bessel_j0_cpu", self, [](double x) { return ::j0(x); }); }
Tensor special_bessel_j1(const Tensor& self) { return by_double("bessel_j1_cpu", self, [](double x) { return ::j1(x); }); }
Tensor special_bessel_y0(const Tensor& self) { return by_double("bessel_y0_cpu", self, [](double x) { return x < 0 ? kNaN : ::y0(x); }); }
Tensor special_bessel_y1(const Tensor& self) { return by_double("bessel_y1_cpu", self, [](double x) { return x < 0 ? kNaN : ::y1(x); }); }
Tensor special_modified_bessel_i0(const Tensor& self) { return by_double("modified_bessel_i0_cpu", self, [](double x) { return plain_i(0, x); }); }
Tensor special_modified_bessel_i1(const Tensor& self) { return by_double("modified_bessel_i1_cpu", self, [](double x) { return plain_i(1, x); }); }
Tensor special_modified_bessel_k0(const Tensor& self) { return by_double("modified_bessel_k0_cpu", self, [](double x) { return plain_k(0, x); }); }
Tensor special_modified_bessel_k1(const Tensor& self) { return by_double("modified_bessel_k1_cpu", self, [](double x) { return plain_k(1, x); }); }
Tensor special_scaled_modified_bessel_k0(const Tensor& self) { return by_double("scaled_modified_bessel_k0_cpu", self, [](double x) { return scaled_k(0, x); }); }
Tensor special_scaled_modified_bessel_k1(const Tensor& self) { return by_double("scaled_modified_bessel_k1_cpu", self, [](double x) { return scaled_k(1, x); }); }
Tensor special_spherical_bessel_j0(const Tensor& self) {
  return by_double("spherical_bessel_j0_cpu", self, [](double x) { return std::isinf(x) ? 0 : x == 0 ? 1 : std::sin(x) / x; });
}
Tensor special_airy_ai(const Tensor& x) { return by_double("airy_ai_cpu", x, airy); }

}  // namespace peel::kernels
