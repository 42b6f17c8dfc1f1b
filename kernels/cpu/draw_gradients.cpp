// How draws of gamma and Dirichlet distributions follow their parameters: at a fixed probability below them. Computed as integrals, where stock has
// approximations that are right to about a thousandth.
#include <cmath>
#include <numbers>

#include "kernels/cpu/rows.h"
#include "kernels/cpu/special.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// Over all v > 0, by points that lie ever closer towards 0 and ever further apart beyond 1.
template <class F>
double integral(F f) {
  constexpr double kStep = 1.0 / 96, kEnd = 4.7;
  double sum = 0;
  for (double s = -kEnd; s < kEnd; s += kStep) {
    const double v = std::exp(std::numbers::pi / 2 * std::sinh(s)), term = f(v) * std::numbers::pi / 2 * std::cosh(s) * v;
    if (std::isfinite(term)) sum += term;
  }
  return sum * kStep;
}

double gamma_gradient(double alpha, double x) {
  const double center = digamma_of(alpha);
  // What lies below x or above it, in units of the density there: the smaller part.
  if (x < alpha) {
    return x * integral([=](double v) { return std::exp(-alpha * v - x * std::expm1(-v)) * (center - std::log(x) + v); });
  }
  return integral([=](double u) { return std::exp((alpha - 1) * std::log1p(u / x) - u) * (std::log(x + u) - center); });
}
// Of the share x of one part whose parameter is alpha, when all are `total`; in units of what is left for the others.
double share_gradient(double x, double alpha, double total) {
  const double beta = total - alpha, center = digamma_of(alpha) - digamma_of(total);
  if (x * total < alpha) {
    return x / (1 - x) * integral([=](double v) { return std::exp(-alpha * v + (beta - 1) * std::log1p(-x * std::expm1(-v) / (1 - x))) * (center - std::log(x) + v); });
  }
  const double rest = 1 - x;
  return integral([=](double v) {
    const double more = std::log1p(-rest * std::expm1(-v) / x);
    return std::exp(-beta * v + (alpha - 1) * more) * (std::log(x) + more - center);
  });
}

}  // namespace

Tensor _standard_gamma_grad(const Tensor& self, const Tensor& output) {
  const Tensor out = allocated(self.sizes(), contiguous_strides(self.sizes()), self.dtype(), self.device());
  with_floating(self.dtype(), "_standard_gamma_grad_cpu", [&]<class T>(T) {
    Walk<3> walk(self.sizes());
    walk.set(0, out);
    walk.set(1, self);
    walk.set(2, output);
    each<T, T, T>(walk, [](T& o, T alpha, T x) { o = static_cast<T>(gamma_gradient(static_cast<double>(alpha), static_cast<double>(x))); });
  });
  return out;
}
Tensor _dirichlet_grad(const Tensor& x, const Tensor& alpha, const Tensor& total) {
  const Tensor out = allocated(x.sizes(), contiguous_strides(x.sizes()), x.dtype(), x.device());
  with_floating(x.dtype(), "_dirichlet_grad_cpu", [&]<class T>(T) {
    Walk<4> walk(x.sizes());
    walk.set(0, out);
    walk.set(1, x);
    walk.set(2, alpha);
    walk.set(3, total);
    each<T, T, T, T>(walk, [](T& o, T share, T a, T all) { o = static_cast<T>(share_gradient(static_cast<double>(share), static_cast<double>(a), static_cast<double>(all))); });
  });
  return out;
}

}  // namespace peel::kernels
