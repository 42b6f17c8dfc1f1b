#include "kernels/cpu/random.h"

#include <cmath>
#include <numbers>

#include "kernels/cpu/walk.h"
#include "ops_generated/kernels.h"

namespace peel::kernels {

double Generator::normal() {
  if (next_normal_) {
    const double out = *next_normal_;
    next_normal_.reset();
    return out;
  }
  const double u1 = uniform53(), u2 = uniform53();
  const double radius = std::sqrt(-2.0 * std::log1p(-u2)), angle = 2.0 * std::numbers::pi * u1;
  next_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

Generator& default_generator() {
  static Generator& g = *new Generator(67280421310721u);
  return g;
}
void manual_seed(uint64_t s) { default_generator().seed(s); }

namespace {

template <class T>
T uniform() {
  if constexpr (std::is_same_v<T, float>) return default_generator().uniform24();
  else return default_generator().uniform53();
}

// Of 16 uniform numbers, 8 pairs.
template <class T>
void normal_16(T* data, double mean, double std) {
  for (int j = 0; j < 8; ++j) {
    const T u1 = T{1} - data[j], u2 = data[j + 8];
    const T radius = std::sqrt(T{-2} * std::log(u1)), angle = static_cast<T>(2.0 * std::numbers::pi) * u2;
    data[j] = static_cast<T>(radius * std::cos(angle) * static_cast<T>(std) + static_cast<T>(mean));
    data[j + 8] = static_cast<T>(radius * std::sin(angle) * static_cast<T>(std) + static_cast<T>(mean));
  }
}

}  // namespace

Tensor& normal_(Tensor& self, double mean, double std, const std::optional<GeneratorHandle>&) {
  if (std < 0) throw Error("normal expects std >= 0.0, but found std " + std::to_string(std));
  with_floating(self.dtype(), "normal_kernel_cpu", [&]<class T>(T) {
    const int64_t n = self.numel();
    if (n >= 16 && self.is_contiguous()) {
      T* data = self.data_as<T>();
      for (int64_t i = 0; i < n; ++i) data[i] = uniform<T>();
      for (int64_t i = 0; i < n - 15; i += 16) normal_16(data + i, mean, std);
      if (n % 16 != 0) {  // the last 16 anew
        data += n - 16;
        for (int64_t i = 0; i < 16; ++i) data[i] = uniform<T>();
        normal_16(data, mean, std);
      }
      return;
    }
    Walk<1> walk(self.sizes());
    walk.set(0, self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(default_generator().normal() * std + mean); });
  });
  return self;
}

Tensor& uniform_(Tensor& self, double from, double to, const std::optional<GeneratorHandle>&) {
  if (from > to) {
    throw Error("uniform_ expects to return a [from, to) range, but found from=" + std::to_string(from) + " > to=" + std::to_string(to));
  }
  with_floating(self.dtype(), "uniform_kernel_cpu", [&]<class T>(T) {
    Walk<1> walk(self.sizes());
    walk.set(0, self);
    const T low = static_cast<T>(from), high = static_cast<T>(to);
    each<T>(walk, [&](T& o) { o = uniform<T>() * (high - low) + low; });
  });
  return self;
}

namespace {

Tensor& whole_numbers(Tensor& self, int64_t from, int64_t to) {
  if (from >= to) throw Error("random_ expects 'from' to be less than 'to', but got from=" + std::to_string(from) + " >= to=" + std::to_string(to));
  const auto range = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  with_type(self.dtype(), "random_from_to_kernel_cpu", [&]<class T>(T) {
    Walk<1> walk(self.sizes());
    walk.set(0, self);
    each<T>(walk, [&](T& o) {
      const uint64_t drawn = range >= (uint64_t{1} << 28) ? default_generator().next64() : default_generator().next32();
      o = static_cast<T>(static_cast<int64_t>(drawn % range + static_cast<uint64_t>(from)));
    });
  });
  return self;
}

}  // namespace

Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to, const std::optional<GeneratorHandle>&) {
  if (!to) throw NotImplemented("The embedded engine has no random_ without an end yet; the program can be run on stock PyTorch (--engine pytorch).");
  return whole_numbers(self, from, *to);
}
Tensor& random_(Tensor& self, int64_t to, const std::optional<GeneratorHandle>&) { return whole_numbers(self, 0, to); }

Tensor& bernoulli_(Tensor& self, double p, const std::optional<GeneratorHandle>&) {
  if (!(0 <= p && p <= 1)) throw Error("bernoulli_ expects p to be in [0, 1], but got p=" + std::to_string(p));
  // As stock where it doesn't use MKL's own generator, which it does on Intel's processors.
  with_type(self.dtype(), "bernoulli_scalar_cpu_", [&]<class T>(T) {
    Walk<1> walk(self.sizes());
    walk.set(0, self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(default_generator().uniform53() < p ? 1 : 0); });
  });
  return self;
}

}  // namespace peel::kernels
