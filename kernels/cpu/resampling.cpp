// Pictures made larger or smaller: by the nearest element, or by sums of 2 or 4 with weights along each dimension.
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

enum class Method : uint8_t { kNearest, kExact, kLinear, kCubic };
using Scale = std::optional<double>;

// What one dimension's results are made of: `taps` places and weights each.
struct Axis {
  int64_t in = 1, out = 1;
  size_t taps = 1;
  std::vector<int64_t> places{0};
  std::vector<double> weights{1};
};

// R: the type that stock computes places in.
template <class R>
Axis axis_of(Method method, int64_t in, int64_t out, bool align, Scale given) {
  Axis a{in, out, method == Method::kCubic ? 4u : method == Method::kLinear ? 2u : 1u, {}, {}};
  const bool scaled = given && *given > 0;
  R step = scaled ? static_cast<R>(1.0 / *given) : static_cast<R>(in) / static_cast<R>(out);
  if (align && a.taps > 1) step = out > 1 ? static_cast<R>(in - 1) / static_cast<R>(out - 1) : R{0};
  for (int64_t o = 0; o < out; ++o) {
    if (a.taps == 1) {
      const R at = method == Method::kExact ? (static_cast<R>(o) + R(0.5)) * step : static_cast<R>(o) * step;
      a.places.push_back(std::min(static_cast<int64_t>(std::floor(at)), in - 1));
      a.weights.push_back(1);
      continue;
    }
    R at = align ? step * static_cast<R>(o) : step * (static_cast<R>(o) + R(0.5)) - R(0.5);
    if (method == Method::kLinear) {
      at = std::max(at, R{0});
      const int64_t first = std::min(static_cast<int64_t>(at), in - 1);
      const double part = std::min(std::max(static_cast<double>(at - static_cast<R>(first)), 0.0), 1.0);
      a.places.insert(a.places.end(), {first, first + (first < in - 1)});
      a.weights.insert(a.weights.end(), {1 - part, part});
      continue;
    }
    const R whole = std::floor(at);
    const double t = static_cast<double>(at - whole), A = -0.75;
    const auto near = [A](double x) { return ((A + 2) * x - (A + 3)) * x * x + 1; };
    const auto far = [A](double x) { return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A; };
    const double w[] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
    for (int64_t k = -1; k <= 2; ++k) {
      a.places.push_back(std::clamp(static_cast<int64_t>(whole) + k, int64_t{0}, in - 1));
      a.weights.push_back(w[k + 1]);
    }
  }
  return a;
}

using Axes = std::array<Axis, 3>;
// f(place in the result, place in the input, weight) of one plane.
template <class F>
void each_tap(const Axes& a, F f) {
  for (int64_t x = 0; x < a[0].out; ++x) {
    for (int64_t y = 0; y < a[1].out; ++y) {
      for (int64_t z = 0; z < a[2].out; ++z) {
        const int64_t to = (x * a[1].out + y) * a[2].out + z;
        for (size_t i = 0; i < a[0].taps; ++i) {
          for (size_t j = 0; j < a[1].taps; ++j) {
            for (size_t k = 0; k < a[2].taps; ++k) {
              const size_t p = static_cast<size_t>(x) * a[0].taps + i, q = static_cast<size_t>(y) * a[1].taps + j, r = static_cast<size_t>(z) * a[2].taps + k;
              f(to, (a[0].places[p] * a[1].in + a[1].places[q]) * a[2].in + a[2].places[r], a[0].weights[p] * a[1].weights[q] * a[2].weights[r]);
            }
          }
        }
      }
    }
  }
}

struct Picture {
  Method method;
  bool align;
  std::array<Scale, 3> scales;  // of the last dimensions
};
Axes axes_of(const Picture& p, Sizes in, Sizes out, ScalarType t) {
  Axes a;
  const size_t n = in.size();
  for (size_t d = 0; d < n; ++d) {
    const Scale s = p.scales[3 - n + d];
    a[3 - n + d] = t == ScalarType::Double ? axis_of<double>(p.method, in[d], out[d], p.align, s) : axis_of<float>(p.method, in[d], out[d], p.align, s);
  }
  return a;
}

void check(Sizes in, Sizes out, size_t n) {
  if (out.size() != n) throw Error("It is expected output_size equals to " + std::to_string(n) + ", but got size " + std::to_string(out.size()));
  if (in.size() != n + 2) throw Error("It is expected input_size equals to " + std::to_string(n + 2) + ", but got size " + std::to_string(in.size()));
  const char* const names[] = {"D", "H", "W"};
  std::string a, b;
  bool positive = true;
  for (size_t d = 0; d < n; ++d) {
    a += (d ? ", " : "") + std::string(names[3 - n + d]) + ": " + std::to_string(in[d + 2]);
    b += (d ? ", " : "") + std::string(names[3 - n + d]) + ": " + std::to_string(out[d]);
    positive = positive && in[d + 2] > 0 && out[d] > 0;
  }
  if (!positive) throw Error("Input and output sizes should be greater than 0, but got input (" + a + ") output (" + b + ")");
}

// The calls of stock's kernels: one for channels that lie innermost, one that walks with tables of places and weights.
void calls_of(const Tensor& self, const Tensor& out, const Picture& p, Sizes size) {
  const size_t n = size.size();
  const bool inner = n == 2 && p.method != Method::kCubic &&
                     ((self.is_contiguous(MemoryFormat::ChannelsLast) && self.size(1) > 3) || size[0] + size[1] <= 128);
  if (inner) {
    if (!self.is_contiguous(MemoryFormat::ChannelsLast)) ops::contiguous::call(self, MemoryFormat::ChannelsLast);
    if (!out.is_contiguous(MemoryFormat::ChannelsLast)) {
      Tensor copy = ops::contiguous::call(out, MemoryFormat::ChannelsLast), to = out;
      ops::copy_::call(to, copy);
    }
    return;
  }
  SizeVector seen(self.sizes().begin(), self.sizes().end()), strides(self.strides().begin(), self.strides().end());
  for (size_t d = 0; d < n; ++d) {
    seen[d + 2] = size[d];
    strides[d + 2] = 0;
  }
  ops::as_strided::call(self, seen, strides);
  const int taps = p.method == Method::kCubic ? 4 : p.method == Method::kLinear ? 2 : 1;
  for (size_t d = 0; d < n; ++d) {
    SizeVector table(n + 2, 1);
    table[d + 2] = size[d];
    for (int k = 0; k < taps; ++k) {
      ops::empty_memory_format::call(table, ScalarType::Long);
      if (taps == 1) ops::ones::call(table, self.dtype());
      else ops::empty_memory_format::call(table, self.dtype());
    }
  }
}

std::vector<bool> planes_of(size_t n) {
  std::vector<bool> out(n + 2, true);
  out[0] = out[1] = false;
  return out;
}

Tensor resampled(const char* name, const Tensor& self, Sizes size, const Picture& p, size_t n) {
  check(self.sizes(), size, n);
  if (self.numel() == 0 && self.size(1) * self.size(0) == 0 && self.size(1) == 0) {
    throw Error("Non-empty " + std::to_string(n + 2) + "D data tensor expected but got a tensor with sizes " + to_text(self.sizes()));
  }
  SizeVector shape(self.sizes().begin(), self.sizes().begin() + 2);
  shape.insert(shape.end(), size.begin(), size.end());
  const bool inner = n == 2 && !self.is_contiguous() && self.is_contiguous(MemoryFormat::ChannelsLast);
  const Tensor out = empty_strided(shape, inner ? channels_last_strides(shape) : contiguous_strides(shape), self.dtype(), self.device());
  calls_of(self, out, p, size);
  const Axes axes = axes_of(p, self.sizes().subspan(2), size, self.dtype());
  const Rows in = rows_of(self, planes_of(n)), to = rows_like(out, planes_of(n));
  with_floating(self.dtype(), name, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(to.length));
    for (int64_t r = 0; r < in.count; ++r) {
      std::ranges::fill(sums, 0.0);
      each_tap(axes, [&](int64_t o, int64_t i, double w) { sums[static_cast<size_t>(o)] += w * static_cast<double>(static_cast<Math<T>>(in.data.data_as<T>()[r * in.length + i])); });
      for (int64_t o = 0; o < to.length; ++o) to.data.data_as<T>()[r * to.length + o] = static_cast<T>(sums[static_cast<size_t>(o)]);
    }
  });
  put_rows(out, planes_of(n), to);
  return out;
}
Tensor resampled_backward(const char* name, const Tensor& grad, Sizes size, Sizes input_size, const Picture& p, size_t n) {
  check(input_size, size, n);
  Tensor out = empty(input_size, grad.dtype(), grad.device());
  ops::zero_::call(out);
  const Tensor g = made_contiguous(grad);
  const Axes axes = axes_of(p, input_size.subspan(2), size, grad.dtype());
  const Rows from = rows_of(g, planes_of(n)), to = rows_like(out, planes_of(n));
  with_floating(grad.dtype(), name, [&]<class T>(T) {
    std::vector<double> sums(static_cast<size_t>(to.length));
    for (int64_t r = 0; r < to.count; ++r) {
      std::ranges::fill(sums, 0.0);
      each_tap(axes, [&](int64_t o, int64_t i, double w) { sums[static_cast<size_t>(i)] += w * static_cast<double>(static_cast<Math<T>>(from.data.data_as<T>()[r * from.length + o])); });
      for (int64_t i = 0; i < to.length; ++i) to.data.data_as<T>()[r * to.length + i] = static_cast<T>(sums[static_cast<size_t>(i)]);
    }
  });
  put_rows(out, planes_of(n), to);
  return out;
}

using Factors = std::optional<std::span<const double>>;
// The result's shape, from sizes or from factors.
SizeVector size_of(const Tensor& input, std::optional<Sizes> size, const Factors& factors) {
  if (size && factors) throw Error("Must specify exactly one of output_size and scale_factors");
  if (size) return {size->begin(), size->end()};
  if (!factors) throw Error("Must specify exactly one of output_size and scale_factors");
  SizeVector out;
  for (size_t d = 0; d < factors->size(); ++d) out.push_back(static_cast<int64_t>(static_cast<double>(input.sizes()[d + 2]) * (*factors)[d]));
  return out;
}
Scale factor(const Factors& f, size_t d) { return f ? Scale((*f)[d]) : Scale(); }

}  // namespace

#define PEEL_ONE(name, method, text)                                                                                                                     \
  Tensor name(const Tensor& self, Sizes size, Scale s) { return resampled(text, self, size, {method, false, {Scale(), Scale(), s}}, 1); }                \
  Tensor name##_backward(const Tensor& grad, Sizes size, Sizes input, Scale s) {                                                                         \
    return resampled_backward(text, grad, size, input, {method, false, {Scale(), Scale(), s}}, 1);                                                       \
  }                                                                                                                                                      \
  Tensor name##_vec(const Tensor& input, std::optional<Sizes> size, Factors f) { return ops::name::call(input, size_of(input, size, f), factor(f, 0)); }
#define PEEL_TWO(name, method, text)                                                                                                                     \
  Tensor name(const Tensor& self, Sizes size, Scale h, Scale w) { return resampled(text, self, size, {method, false, {Scale(), h, w}}, 2); }             \
  Tensor name##_backward(const Tensor& grad, Sizes size, Sizes input, Scale h, Scale w) {                                                                \
    return resampled_backward(text, grad, size, input, {method, false, {Scale(), h, w}}, 2);                                                             \
  }                                                                                                                                                      \
  Tensor name##_vec(const Tensor& input, std::optional<Sizes> size, Factors f) {                                                                         \
    return ops::name::call(input, size_of(input, size, f), factor(f, 0), factor(f, 1));                                                                  \
  }
#define PEEL_THREE(name, method, text)                                                                                                                   \
  Tensor name(const Tensor& self, Sizes size, Scale d, Scale h, Scale w) { return resampled(text, self, size, {method, false, {d, h, w}}, 3); }          \
  Tensor name##_backward(const Tensor& grad, Sizes size, Sizes input, Scale d, Scale h, Scale w) {                                                       \
    return resampled_backward(text, grad, size, input, {method, false, {d, h, w}}, 3);                                                                   \
  }                                                                                                                                                      \
  Tensor name##_vec(const Tensor& input, std::optional<Sizes> size, Factors f) {                                                                         \
    return ops::name::call(input, size_of(input, size, f), factor(f, 0), factor(f, 1), factor(f, 2));                                                    \
  }
#define PEEL_ALIGNED_TWO(name, method, text)                                                                                                             \
  Tensor name(const Tensor& self, Sizes size, bool align, Scale h, Scale w) { return resampled(text, self, size, {method, align, {Scale(), h, w}}, 2); } \
  Tensor name##_backward(const Tensor& grad, Sizes size, Sizes input, bool align, Scale h, Scale w) {                                                    \
    return resampled_backward(text, grad, size, input, {method, align, {Scale(), h, w}}, 2);                                                             \
  }                                                                                                                                                      \
  Tensor name##_vec(const Tensor& input, std::optional<Sizes> size, bool align, Factors f) {                                                             \
    return ops::name::call(input, size_of(input, size, f), align, factor(f, 0), factor(f, 1));                                                           \
  }
PEEL_ONE(upsample_nearest1d, Method::kNearest, "compute_indices_weights_nearest")
PEEL_TWO(upsample_nearest2d, Method::kNearest, "upsample_nearest2d_channels_last")
PEEL_THREE(upsample_nearest3d, Method::kNearest, "compute_indices_weights_nearest")
PEEL_ONE(_upsample_nearest_exact1d, Method::kExact, "compute_indices_weights_nearest")
PEEL_TWO(_upsample_nearest_exact2d, Method::kExact, "upsample_nearest2d_channels_last")
PEEL_ALIGNED_TWO(upsample_bilinear2d, Method::kLinear, "upsample_bilinear2d_channels_last")
PEEL_ALIGNED_TWO(upsample_bicubic2d, Method::kCubic, "compute_indices_weights_cubic")
#undef PEEL_ONE
#undef PEEL_TWO
#undef PEEL_THREE
#undef PEEL_ALIGNED_TWO

Tensor upsample_linear1d(const Tensor& self, Sizes size, bool align, Scale s) {
  return resampled("compute_indices_weights_linear", self, size, {Method::kLinear, align, {Scale(), Scale(), s}}, 1);
}
Tensor upsample_linear1d_backward(const Tensor& grad, Sizes size, Sizes input, bool align, Scale s) {
  return resampled_backward("compute_indices_weights_linear", grad, size, input, {Method::kLinear, align, {Scale(), Scale(), s}}, 1);
}
Tensor upsample_linear1d_vec(const Tensor& input, std::optional<Sizes> size, bool align, Factors f) {
  return ops::upsample_linear1d::call(input, size_of(input, size, f), align, factor(f, 0));
}
Tensor upsample_trilinear3d(const Tensor& self, Sizes size, bool align, Scale d, Scale h, Scale w) {
  return resampled("compute_indices_weights_linear", self, size, {Method::kLinear, align, {d, h, w}}, 3);
}
Tensor upsample_trilinear3d_backward(const Tensor& grad, Sizes size, Sizes input, bool align, Scale d, Scale h, Scale w) {
  return resampled_backward("compute_indices_weights_linear", grad, size, input, {Method::kLinear, align, {d, h, w}}, 3);
}
Tensor upsample_trilinear3d_vec(const Tensor& input, std::optional<Sizes> size, bool align, Factors f) {
  return ops::upsample_trilinear3d::call(input, size_of(input, size, f), align, factor(f, 0), factor(f, 1), factor(f, 2));
}

}  // namespace peel::kernels
