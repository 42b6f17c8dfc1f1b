#include "kernels/cpu/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>
#include <numeric>

#include "kernels/cpu/walk.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

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
Generator& chosen(const std::optional<GeneratorHandle>& g) {
  return g && g->defined() ? static_cast<GeneratorObject&>(*g->object()).get() : default_generator();
}

namespace {

template <class T>
T uniform(Generator& g) {
  if constexpr (std::is_same_v<T, float>) return g.uniform24();
  else return g.uniform53();
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

namespace {

// The same elements in the order in which they lie, which is stock's order of drawing.
Tensor as_it_lies(const Tensor& t) {
  std::vector<size_t> order(t.sizes().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&t](size_t a, size_t b) { return t.strides()[a] > t.strides()[b]; });
  SizeVector sizes, strides;
  for (const size_t d : order) {
    sizes.push_back(t.sizes()[d]);
    strides.push_back(t.strides()[d]);
  }
  return view_of(t, sizes, strides, t.storage_offset());
}
Walk<1> drawing(const Tensor& t) {
  const Tensor lying = as_it_lies(t);
  Walk<1> walk(lying.sizes());
  walk.set(0, lying);
  return walk;
}

}  // namespace

Tensor& normal_(Tensor& self, double mean, double std, const std::optional<GeneratorHandle>& generator) {
  Generator& g = chosen(generator);
  if (std < 0) throw Error("normal expects std >= 0.0, but found std " + std::to_string(std));
  if (is_complex(self.dtype())) {  // half of the variance for each part
    Tensor parts = ops::view_as_real::call(self);
    normal_(parts, mean, std / std::numbers::sqrt2, generator);
    return self;
  }
  with_floating(self.dtype(), "normal_kernel_cpu", [&]<class T>(T) {
    const int64_t n = self.numel();
    if (n >= 16 && self.is_contiguous()) {
      T* data = self.data_as<T>();
      for (int64_t i = 0; i < n; ++i) data[i] = uniform<T>(g);
      for (int64_t i = 0; i < n - 15; i += 16) normal_16(data + i, mean, std);
      if (n % 16 != 0) {  // the last 16 anew
        data += n - 16;
        for (int64_t i = 0; i < 16; ++i) data[i] = uniform<T>(g);
        normal_16(data, mean, std);
      }
      return;
    }
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(g.normal() * std + mean); });
  });
  return self;
}

Tensor& uniform_(Tensor& self, double from, double to, const std::optional<GeneratorHandle>& generator) {
  Generator& g = chosen(generator);
  if (from > to) {
    throw Error("uniform_ expects to return a [from, to) range, but found from=" + std::to_string(from) + " > to=" + std::to_string(to));
  }
  with_floating(self.dtype(), "uniform_kernel_cpu", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    const T low = static_cast<T>(from), high = static_cast<T>(to);
    each<T>(walk, [&](T& o) { o = uniform<T>(g) * (high - low) + low; });
  });
  return self;
}

namespace {

Tensor& whole_numbers(Tensor& self, int64_t from, int64_t to, Generator& g) {
  if (from >= to) throw Error("random_ expects 'from' to be less than 'to', but got from=" + std::to_string(from) + " >= to=" + std::to_string(to));
  const auto range = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  with_real_type(self.dtype(), "random_from_to_kernel_cpu", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) {
      const uint64_t drawn = range >= (uint64_t{1} << 28) ? g.next64() : g.next32();
      o = static_cast<T>(static_cast<int64_t>(drawn % range + static_cast<uint64_t>(from)));
    });
  });
  return self;
}

}  // namespace

Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to, const std::optional<GeneratorHandle>& generator) {
  if (!to) throw NotImplemented("The embedded engine has no random_ without an end yet; the program can be run on stock PyTorch (--engine pytorch).");
  return whole_numbers(self, from, *to, chosen(generator));
}
Tensor& random_(Tensor& self, int64_t to, const std::optional<GeneratorHandle>& generator) { return whole_numbers(self, 0, to, chosen(generator)); }
// Any number of the type; of a floating one, any whole number that it holds exactly.
Tensor& random_(Tensor& self, const std::optional<GeneratorHandle>& generator) {
  Generator& g = chosen(generator);
  with_real_type(self.dtype(), "random_kernel_cpu", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) {
      if constexpr (std::is_same_v<T, bool>) o = g.next32() & 1;
      else if constexpr (std::is_same_v<T, double>) o = static_cast<T>(g.next64() % ((uint64_t{1} << 53) + 1));
      else if constexpr (std::is_same_v<T, int64_t>) o = static_cast<T>(g.next64() & (~uint64_t{0} >> 1));
      else if constexpr (std::is_integral_v<T>) o = static_cast<T>(g.next32() % (static_cast<uint32_t>(std::numeric_limits<T>::max()) + 1u));
      else o = static_cast<T>(static_cast<float>(g.next32() % ((1u << (std::is_same_v<T, float> ? 24 : 8)) + 1)));
    });
  });
  return self;
}

Tensor& bernoulli_(Tensor& self, double p, const std::optional<GeneratorHandle>& generator) {
  Generator& g = chosen(generator);
  if (!(0 <= p && p <= 1)) throw Error("bernoulli_ expects p to be in [0, 1], but got p=" + std::to_string(p));
  with_type(self.dtype(), "bernoulli_scalar_cpu_", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(g.uniform53() < p ? 1 : 0); });
  });
  return self;
}
// Each element by its own probability.
Tensor& bernoulli_(Tensor& self, const Tensor& p, const std::optional<GeneratorHandle>& generator) {
  Generator& g = chosen(generator);
  const Tensor chances = ops::to_dtype_layout::call(p, {}, {}, Device(), {}, false, false, {});
  with_type(self.dtype(), "bernoulli_tensor_cpu_self_", [&]<class T>(T) {
    with_floating(chances.dtype(), "bernoulli_tensor_cpu_p_", [&]<class P>(P) {
      Walk<2> walk(self.sizes());
      walk.set(0, self);
      walk.set(1, chances);
      each<T, P>(walk, [&](T& o, P p_here) {
        const auto chance = static_cast<Math<P>>(p_here);
        if (!(0 <= chance && chance <= 1)) throw Error("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)");
        using Drawn = std::conditional_t<std::is_same_v<P, double>, double, float>;
        o = static_cast<T>(uniform<Drawn>(g) < static_cast<Drawn>(chance) ? 1 : 0);
      });
    });
  });
  return self;
}
Tensor bernoulli(const Tensor& self, const std::optional<GeneratorHandle>& generator) {
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return ops::bernoulli__Tensor::call(out, self, generator);
}
Tensor bernoulli(const Tensor& self, double p, const std::optional<GeneratorHandle>& generator) {
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return ops::bernoulli__float::call(out, p, generator);
}
Tensor& exponential_(Tensor& self, double lambd, const std::optional<GeneratorHandle>& generator) {
  if (lambd <= 0) throw Error("exponential_ expects lambda > 0.0, but found lambda=" + std::to_string(lambd));
  Generator& g = chosen(generator);
  with_floating(self.dtype(), "exponential_cpu", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(-1.0 / lambd * std::log1p(-g.uniform53())); });
  });
  return self;
}

Tensor& cauchy_(Tensor& self, double median, double sigma, const std::optional<GeneratorHandle>& generator) {
  if (sigma <= 0) throw Error("cauchy_ expects sigma > 0.0, but found sigma=" + std::to_string(sigma));
  if (!is_floating(self.dtype())) throw Error(std::string("Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified ") + to_string(self.dtype()));
  Generator& g = chosen(generator);
  with_floating(self.dtype(), "cauchy", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(median + sigma * std::tan(std::numbers::pi * (g.uniform53() - 0.5))); });
  });
  return self;
}
Tensor& geometric_(Tensor& self, double p, const std::optional<GeneratorHandle>& generator) {
  if (p <= 0 || p >= 1) {
    std::ostringstream text;  // as C++ prints it
    text << p;
    throw Error("geometric_ expects p to be in (0, 1), but got p=" + text.str());
  }
  Generator& g = chosen(generator);
  with_real_type(self.dtype(), "geometric", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(static_cast<Math<T>>(std::ceil(std::log(g.uniform53()) / std::log1p(-p)))); });
  });
  return self;
}
Tensor& log_normal_(Tensor& self, double mean, double std, const std::optional<GeneratorHandle>& generator) {
  if (std <= 0) throw Error("log_normal_ expects std > 0.0, but found std=" + std::to_string(std));
  Generator& g = chosen(generator);
  with_floating(self.dtype(), "log_normal", [&]<class T>(T) {
    Walk<1> walk = drawing(self);
    each<T>(walk, [&](T& o) { o = static_cast<T>(std::exp(g.normal() * std + mean)); });
  });
  return self;
}

namespace {

void check_spread(const Tensor& std) {
  if (std.numel() != 0 && !ops::item::call(ops::ge_Scalar::call(ops::min::call(std), 0)).value.to_bool()) {
    throw Error("normal expects all elements of std >= 0.0");
  }
}
Tensor like_contiguous(const Tensor& t) { return ops::empty_like::call(t, {}, {}, {}, {}, MemoryFormat::Contiguous); }

}  // namespace

// The numbers are drawn below dispatch; stock checks the spread twice, and asks twice for a shape.
Tensor normal(const Tensor& mean, double std, const std::optional<GeneratorHandle>& generator) {
  Tensor out = like_contiguous(mean);
  like_contiguous(mean);
  normal_(out, 0, std, generator);
  return ops::add__Tensor::call(out, mean);
}
Tensor normal(double mean, const Tensor& std, const std::optional<GeneratorHandle>& generator) {
  check_spread(std);
  Tensor out = like_contiguous(std);
  check_spread(std);
  const Tensor center = ops::full::call(Sizes(), mean, out.dtype(), Layout::Strided, out.device());
  normal_(out, 0, 1, generator);
  ops::mul__Tensor::call(out, std);
  return ops::add__Tensor::call(out, center);
}
Tensor normal(const Tensor& mean, const Tensor& std, const std::optional<GeneratorHandle>& generator) {
  check_spread(std);
  Tensor out = ops::empty_memory_format::call(broadcast(mean.sizes(), std.sizes()), mean.dtype(), Layout::Strided, mean.device(), {}, MemoryFormat::Contiguous);
  check_spread(std);
  normal_(out, 0, 1, generator);
  ops::mul__Tensor::call(out, std);
  return ops::add__Tensor::call(out, mean);
}

}  // namespace peel::kernels
