// Draws from gamma, Dirichlet, Poisson and binomial distributions, random slopes: the numbers that stock's generator gives.
#include <cmath>
#include <limits>

#include "kernels/cpu/elementwise.h"
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

// What Stirling's formula leaves of log(k!).
double stirling_rest(double k) {
  static constexpr double kFirst[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                                      0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<size_t>(k)];
  const double z = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / z) / z) / (k + 1);
}
// Few successes: waiting times are added up. Others: Hörmann's transformed rejection.
double few_successes(double count, double p, Generator& g) {
  const double log_failure = std::log1p(-p);
  double waited = 0;
  for (int64_t k = 0;; ++k) {
    waited += std::ceil(std::log(g.uniform53()) / log_failure);
    if (waited > count) return static_cast<double>(k);
  }
}
double many_successes(double count, double p, Generator& g) {
  const double deviation = std::sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const double inside = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = std::floor((count + 1) * p);
  for (;;) {
    const double u = g.uniform53() - 0.5, v = g.uniform53(), us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= inside) return k;
    if (k < 0 || k > count) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (odds * (count - m + 1))) + (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(count - m) - stirling_rest(k) - stirling_rest(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}
double binomial_draw(double count, double p, Generator& g) {
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  if (p != p) return p;
  const double rarer = p <= 0.5 ? p : 1 - p;
  const double k = count * rarer >= 10 ? many_successes(count, rarer, g) : few_successes(count, rarer, g);
  return p <= 0.5 ? k : count - k;
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
Tensor binomial(const Tensor& count, const Tensor& prob, const std::optional<GeneratorHandle>& generator) {
  const auto floating = [](const Tensor& t, const char* name) {
    if (!is_floating(t.dtype())) throw ValueError(std::string("binomial only supports floating-point dtypes for ") + name + ", got: " + to_string(t.dtype()));
  };
  floating(count, "count");
  floating(prob, "prob");
  if (count.dtype() != prob.dtype()) throw Error(std::string("Found dtype ") + to_string(prob.dtype()) + " but expected " + to_string(count.dtype()));
  const Tensor out = zeros_of(count, count.dtype());
  broadcast(count.sizes(), prob.sizes());
  Walk<3> walk(out.sizes());
  walk.set(0, out);
  walk.set(1, count);
  walk.set(2, prob);
  Generator& g = chosen(generator);
  with_floating(out.dtype(), "binomial_cpu", [&]<class T>(T) {
    each<T, T, T>(walk, [&g](T& o, T n, T p) { o = static_cast<T>(binomial_draw(static_cast<double>(n), static_cast<double>(p), g)); });
  });
  return out;
}

// Negative numbers are multiplied by a random slope each, or by the middle of the slopes.
namespace {

void check_slopes(const Scalar& lower, const Scalar& upper) {
  if (lower.value.to_double() > upper.value.to_double()) throw Error("Lower bound should be less than or equal to the upper bound");
}
void leak(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training, const std::optional<GeneratorHandle>& generator, Tensor& out) {
  check_slopes(lower, upper);
  if (!training) {
    const auto number = [](const Scalar& s) {
      const Tensor t = empty(SizeVector(), ScalarType::Double);
      *t.data_as<double>() = s.value.to_double();
      return t;
    };
    const Tensor middle = ops::div_Scalar::call(ops::add_Tensor::call(number(lower), number(upper)), 2);
    ops::leaky_relu_out::call(self, ops::item::call(middle), out);
    return;
  }
  const double low = lower.value.to_double(), high = upper.value.to_double();
  Generator& g = chosen(generator);
  Walk<3> walk(self.sizes());
  walk.set(0, out);
  walk.set(1, noise);
  walk.set(2, self);
  with_floating(self.dtype(), "rrelu_with_noise_out_cpu", [&]<class T>(T) {
    walk.run([&](char* const* data, const int64_t* step, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const auto x = static_cast<Math<T>>(*reinterpret_cast<const T*>(data[2] + i * step[2]));
        const T slope = x <= 0 ? static_cast<T>(g.uniform53() * (high - low) + low) : T(1);
        *reinterpret_cast<T*>(data[0] + i * step[0]) = static_cast<T>(x * static_cast<Math<T>>(slope));
        *reinterpret_cast<T*>(data[1] + i * step[1]) = slope;
      }
    });
  });
}

}  // namespace

Tensor rrelu_with_noise(const Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training, const std::optional<GeneratorHandle>& generator) {
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  leak(self, noise, lower, upper, training, generator, out);
  return out;
}
Tensor& rrelu_with_noise_(Tensor& self, Tensor& noise, const Scalar& lower, const Scalar& upper, bool training, const std::optional<GeneratorHandle>& generator) {
  leak(self, noise, lower, upper, training, generator, self);
  return self;
}
Tensor rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training, const std::optional<GeneratorHandle>& generator) {
  check_slopes(lower, upper);
  Tensor noise = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return ops::rrelu_with_noise::call(self, noise, lower, upper, training, generator);
}
Tensor& rrelu_(Tensor& self, const Scalar& lower, const Scalar& upper, bool training, const std::optional<GeneratorHandle>& generator) {
  check_slopes(lower, upper);
  Tensor noise = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return ops::rrelu_with_noise_::call(self, noise, lower, upper, training, generator);
}
Tensor rrelu_with_noise_backward(const Tensor& grad_output, const Tensor& self, const Tensor& noise, const Scalar& lower, const Scalar& upper, bool training, bool self_is_result) {
  const double low = lower.value.to_double(), high = upper.value.to_double();
  if (training && high - low > 1e-6) return ops::mul_Tensor::call(grad_output, noise);
  return ops::leaky_relu_backward::call(grad_output, self, (low + high) / 2, self_is_result);
}

}  // namespace peel::kernels
