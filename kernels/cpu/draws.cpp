// Draws from gamma, Dirichlet and Poisson distributions: the numbers that stock's generator gives.
#include <cmath>
#include <limits>

#include "kernels/cpu/random.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// Marsaglia and Tsang: a normal number, stretched, is taken or thrown away.
double gamma_draw(double alpha, Generator& g) {
  double scale = 1;
  if (alpha < 1) {
    if (alpha == 0) return 0;
    scale = std::pow(1 - g.uniform53(), 1 / alpha);
    alpha += 1;
  }
  const double d = alpha - static_cast<double>(1.0f / 3.0f), c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x = 0, y = 0;
    do {
      x = g.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - g.uniform53(), xx = x * x;
    if (u < 1 - 0.0331 * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

// Small means: factors until their product is small enough. Others: Hörmann's transformed rejection.
double poisson_draw(double lambda, Generator& g) {
  if (lambda < 0) throw Error("invalid Poisson rate, expected rate to be non-negative");
  if (lambda == 0) return 0;
  if (lambda < 10) {
    const double limit = std::exp(-lambda);
    double product = 1;
    for (int64_t k = 0;; ++k) {
      product *= g.uniform53();
      if (product <= limit) return static_cast<double>(k);
    }
  }
  const double b = 0.931 + 2.53 * std::sqrt(lambda), a = -0.059 + 0.02483 * b, scale = 1.1239 + 1.1328 / (b - 3.4), inside = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = g.uniform53() - 0.5, v = g.uniform53(), us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= inside) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(scale) - std::log(a / (us * us) + b) <= -lambda + k * std::log(lambda) - std::lgamma(k + 1)) return k;
  }
}

template <class F>
void draw_into(const Tensor& out, const Tensor& of, const char* name, F f) {
  const Tensor in = made_contiguous(of);
  with_floating(out.dtype(), name, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) out.data_as<T>()[i] = static_cast<T>(f(static_cast<double>(in.data_as<T>()[i])));
  });
}
Tensor zeros_of(const Tensor& like, ScalarType t) { return ops::zeros::call(like.sizes(), t, Layout::Strided, like.device(), false); }
double smallest(ScalarType t) { return t == ScalarType::Double ? std::numeric_limits<double>::min() : static_cast<double>(std::numeric_limits<float>::min()); }

}  // namespace

Tensor _standard_gamma(const Tensor& self, const std::optional<GeneratorHandle>& generator) {
  const Tensor out = zeros_of(self, self.dtype());
  draw_into(out, self, "gamma_cpu", [&g = chosen(generator), least = smallest(self.dtype())](double alpha) { return std::max(least, gamma_draw(alpha, g)); });
  return out;
}
Tensor _sample_dirichlet(const Tensor& self, const std::optional<GeneratorHandle>& generator) {
  const Tensor out = zeros_of(self, self.dtype()), gamma = zeros_of(self, ScalarType::Double), alpha = empty(self.sizes(), self.dtype(), self.device());
  copy_elements(alpha, self);
  Generator& g = chosen(generator);
  with_floating(self.dtype(), "dirichlet", [&]<class T>(T) {
    for (int64_t i = 0; i < alpha.numel(); ++i) gamma.data_as<double>()[i] = gamma_draw(static_cast<double>(alpha.data_as<T>()[i]), g);
  });
  const Tensor sums = ops::sum_dim_IntList::call(gamma, Sizes(SizeVector{-1}), true);
  ops::expand::call(sums, self.sizes());
  with_floating(self.dtype(), "dirichlet", [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) {
      out.data_as<T>()[i] = static_cast<T>(std::max(smallest(self.dtype()), gamma.data_as<double>()[i] / sums.data_as<double>()[i / self.size(-1)]));
    }
  });
  return out;
}
Tensor poisson(const Tensor& self, const std::optional<GeneratorHandle>& generator) {
  const Tensor out = zeros_of(self, self.dtype());
  draw_into(out, self, "poisson_cpu", [&g = chosen(generator)](double lambda) { return poisson_draw(lambda, g); });
  return out;
}

}  // namespace peel::kernels
