// Pooling in three dimensions.
#include <algorithm>
#include <array>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// What one place of the result is made of along one dimension; `padded`: how many there are with those that lie in the padding.
struct Run {
  int64_t begin, end, step, padded;
};
struct Pool {
  std::array<std::vector<Run>, 3> runs;
  std::array<int64_t, 3> in;
  int64_t out(size_t d) const { return static_cast<int64_t>(runs[d].size()); }
  int64_t places() const { return out(0) * out(1) * out(2); }
  // The runs of the result's place number `i`.
  std::array<Run, 3> at(int64_t i) const {
    return {runs[0][static_cast<size_t>(i / (out(1) * out(2)))], runs[1][static_cast<size_t>(i / out(2) % out(1))], runs[2][static_cast<size_t>(i % out(2))]};
  }
};
// f(place in the volume) for all that the runs hold.
template <class F>
void each_place(const Pool& p, const std::array<Run, 3>& r, F f) {
  for (int64_t z = r[0].begin; z < r[0].end; z += r[0].step) {
    for (int64_t y = r[1].begin; y < r[1].end; y += r[1].step) {
      for (int64_t x = r[2].begin; x < r[2].end; x += r[2].step) f((z * p.in[1] + y) * p.in[2] + x);
    }
  }
}

int64_t at(Sizes s, size_t d, int64_t otherwise) { return s.empty() ? otherwise : s.size() == 1 ? s[0] : s[d]; }
// `kT: 2 kH: 2 kW: 2`.
std::string named(const char* what, Sizes s, const char* between = " ") {
  std::string out;
  for (size_t d = 0; d < 3; ++d) out += (d ? between : "") + std::string(what) + "THW"[d] + ": " + std::to_string(at(s, d, 0));
  return out;
}
std::string crossed(int64_t first, int64_t a, int64_t b, int64_t c) {
  return std::to_string(first) + "x" + std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(c);
}

void check_three(const char* op, const char* what, Sizes s, bool may_be_empty = false) {
  if (s.size() == 1 || s.size() == 3 || (may_be_empty && s.empty())) return;
  const std::string numbers = std::string(what) == "padding" || std::string(what) == "dilation" || std::string(what) == "kernel_size" ? " must either be a single int, or a tuple of three ints"
                                                                                                                                     : " must either be omitted, a single int, or a tuple of three ints";
  throw Error(std::string(op) + ": " + what + numbers);
}

// `whole`: windows have to fit into the volume without its padding, as averages' do.
Pool windows(const Tensor& self, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode, bool whole) {
  if (self.dim() != 4 && self.dim() != 5) throw Error("non-empty 4D or 5D (batch mode) tensor expected for input");
  if (stride.empty()) stride = kernel;
  Pool p;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t in = self.size(static_cast<int64_t>(d) - 3), k = at(kernel, d, 1), s = at(stride, d, k), pad = at(padding, d, 0), apart = at(dilation, d, 1);
    if (s == 0) throw Error("stride should not be zero");
    if (pad < 0) throw Error("pad must be non-negative, but got pad: " + std::to_string(pad));
    if (pad > ((k - 1) * apart + 1) / 2) {
      throw Error("pad should be at most half of effective kernel size, but got pad=" + std::to_string(pad) + ", kernel_size=" + std::to_string(k) + " and dilation=" + std::to_string(apart));
    }
    const int64_t reach = in + 2 * pad - apart * (k - 1) - 1 + (ceil_mode ? s - 1 : 0);
    int64_t out = (reach < 0 ? -((-reach + s - 1) / s) : reach / s) + 1;
    if (ceil_mode && (out - 1) * s >= in + pad) --out;
    p.in[d] = in;
    for (int64_t o = 0; o < out; ++o) {
      Run r{o * s - pad, std::min(o * s - pad + (k - 1) * apart + 1, in), apart, std::min(o * s + k, in + 2 * pad) - o * s};
      while (r.begin < 0) r.begin += apart;
      p.runs[d].push_back(r);
    }
  }
  const auto some_below = [](Sizes s, int64_t least) {
    return std::ranges::any_of(s, [least](int64_t v) { return v < least; });
  };
  if (some_below(kernel, 1)) throw Error("kernel size should be greater than zero, but got " + named("k", kernel));
  if (some_below(stride, 1)) throw Error("stride should be greater than zero, but got " + named("d", stride));
  if (some_below(dilation, 1)) throw Error("dilation should be greater than zero, but got " + named("dilation", dilation, ", "));
  const std::array<int64_t, 3>& in = p.in;
  const bool fits = in[0] >= at(kernel, 0, 1) && in[1] >= at(kernel, 1, 1) && in[2] >= at(kernel, 2, 1);
  if (whole && !fits) throw Error("input image (" + named("", in) + ") smaller than kernel size (" + named("k", kernel) + ")");
  if (p.places() < 1) {
    const int64_t c = self.size(-4);
    throw Error("Given input size: (" + crossed(c, in[0], in[1], in[2]) + "). Calculated output size: (" + crossed(c, p.out(0), p.out(1), p.out(2)) + "). Output size is too small");
  }
  return p;
}
// As many places as asked for, each of its share of the volume.
Pool shares(const Tensor& self, Sizes output_size) {
  Pool p;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t in = p.in[d] = self.size(static_cast<int64_t>(d) - 3), out = output_size[d];
    for (int64_t o = 0; o < out; ++o) p.runs[d].push_back({o * in / out, ((o + 1) * in + out - 1) / out, 1, 0});
  }
  return p;
}

SizeVector pooled_shape(const Tensor& self, const Pool& p) {
  SizeVector out(self.sizes().begin(), self.sizes().end());
  for (size_t d = 0; d < 3; ++d) out[out.size() - 3 + d] = p.out(d);
  return out;
}
Rows volumes_of(const Tensor& t) {
  std::vector<bool> named(t.sizes().size(), false);
  for (size_t d = 1; d <= 3; ++d) named[named.size() - d] = true;
  return rows_of(t, named);
}
Tensor sized(Sizes shape, ScalarType type, const Tensor& like) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, type, Layout::Strided, like.device());
  return ops::resize_::call(out, shape);
}

void largest(const Tensor& self, const Pool& p, const Tensor& out, const Tensor& indices) {
  const Rows rows = volumes_of(self);
  with_type(self.dtype(), "max_pool3d", [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) {
      const T* in = rows.data.data_as<T>() + i / p.places() * rows.length;
      int64_t best = -1;
      each_place(p, p.at(i % p.places()), [&](int64_t place) {
        const auto v = static_cast<Math<T>>(in[place]);
        if (best < 0 || v > static_cast<Math<T>>(in[best]) || v != v) best = place;
      });
      out.data_as<T>()[i] = in[best];
      indices.data_as<int64_t>()[i] = best;
    }
  });
}
Tensor to_largest(const Tensor& out, const Tensor& grad, const Tensor& indices) {
  const Tensor places = made_contiguous(indices);
  const int64_t volume = element_count(out.sizes().last(3)), pooled = element_count(grad.sizes().last(3));
  with_floating(out.dtype(), "max_pool3d_backward", [&]<class T>(T) {
    for (int64_t i = 0; i < grad.numel(); ++i) {
      T& o = out.data_as<T>()[i / pooled * volume + places.data_as<int64_t>()[i]];
      o = static_cast<T>(static_cast<Math<T>>(o) + static_cast<Math<T>>(grad.data_as<T>()[i]));
    }
  });
  return out;
}

// divisor(runs): by how much their sum is divided.
template <class F>
Tensor averages(const Tensor& out, const Tensor& self, const Pool& p, F divisor) {
  const Rows rows = volumes_of(self);
  with_floating(self.dtype(), "avg_pool3d", [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) {
      const T* in = rows.data.data_as<T>() + i / p.places() * rows.length;
      const auto runs = p.at(i % p.places());
      double total = 0;
      each_place(p, runs, [&](int64_t place) { total += static_cast<double>(static_cast<Math<T>>(in[place])); });
      out.data_as<T>()[i] = static_cast<T>(total / divisor(runs));
    }
  });
  return out;
}
template <class F>
Tensor spread(const Tensor& out, const Tensor& grad, const Pool& p, F divisor) {
  const int64_t volume = p.in[0] * p.in[1] * p.in[2];
  with_floating(out.dtype(), "avg_pool3d_backward", [&]<class T>(T) {
    for (int64_t i = 0; i < grad.numel(); ++i) {
      const auto runs = p.at(i % p.places());
      const double g = static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[i])) / divisor(runs);
      each_place(p, runs, [&](int64_t place) {
        T& o = out.data_as<T>()[i / p.places() * volume + place];
        o = static_cast<T>(static_cast<double>(static_cast<Math<T>>(o)) + g);
      });
    }
  });
  return out;
}
double count_of(const std::array<Run, 3>& r) { return static_cast<double>((r[0].end - r[0].begin) * (r[1].end - r[1].begin) * (r[2].end - r[2].begin)); }
auto divisor_of(bool count_include_pad, std::optional<int64_t> given) {
  return [=](const std::array<Run, 3>& r) {
    if (given) return static_cast<double>(*given);
    return count_include_pad ? static_cast<double>(r[0].padded * r[1].padded * r[2].padded) : count_of(r);
  };
}
const SizeVector kOne{1};

}  // namespace

Tensor max_pool3d(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode) {
  return std::get<0>(ops::max_pool3d_with_indices::call(self, kernel_size, stride, padding, dilation, ceil_mode));
}
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  Tensor indices = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, Layout::Strided, self.device());
  check_three("max_pool3d", "kernel_size", kernel_size);
  check_three("max_pool3d", "stride", stride, true);
  check_three("max_pool3d", "padding", padding);
  check_three("max_pool3d", "dilation", dilation);
  const Pool p = windows(self, kernel_size, stride, padding, dilation, ceil_mode, false);
  const SizeVector shape = pooled_shape(self, p);
  ops::resize_::call(out, shape, MemoryFormat::Contiguous);
  ops::resize_::call(indices, shape, MemoryFormat::Contiguous);
  if (self.dim() == 4) ops::unsqueeze::call(self, 0);
  largest(made_contiguous(self), p, out, indices);
  return {out, indices};
}
Tensor max_pool3d_with_indices_backward(const Tensor& grad_output, const Tensor& self, Sizes, Sizes, Sizes, Sizes, bool, const Tensor& indices) {
  Tensor out = sized(self.sizes(), self.dtype(), self);
  ops::zero_::call(out);
  if (self.dim() == 4) ops::unsqueeze::call(self, 0);
  return to_largest(out, made_contiguous(grad_output), indices);
}

Tensor avg_pool3d(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  check_three("avg_pool3d", "kernel_size", kernel_size);
  check_three("avg_pool3d", "stride", stride, true);
  check_three("avg_pool3d", "padding", padding);
  if (divisor_override && *divisor_override == 0) throw Error("divisor must be not zero");
  const Pool p = windows(self, kernel_size, stride, padding, kOne, ceil_mode, true);
  return averages(empty(pooled_shape(self, p), self.dtype(), self.device()), self, p, divisor_of(count_include_pad, divisor_override));
}
Tensor avg_pool3d_backward(const Tensor& grad_output, const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  const Pool p = windows(self, kernel_size, stride, padding, kOne, ceil_mode, true);
  Tensor out = empty(self.sizes(), self.dtype(), self.device());
  const Tensor grad = made_contiguous(grad_output);
  ops::zero_::call(out);
  return spread(out, grad, p, divisor_of(count_include_pad, divisor_override));
}

Tensor adaptive_avg_pool3d(const Tensor& self, Sizes output_size) {
  if (output_size.size() != 3) throw Error("adaptive_avg_pool3d: output_size must be 3");
  if (std::ranges::any_of(output_size, [](int64_t n) { return n < 0; })) {
    throw Error("adaptive_avg_pool3d: elements of output_size must be greater than or equal to 0 but received {" + std::to_string(output_size[0]) + ", " + std::to_string(output_size[1]) + ", " +
                std::to_string(output_size[2]) + "}");
  }
  if (std::ranges::all_of(output_size, [](int64_t n) { return n == 1; })) return ops::mean_dim::call(self, Sizes(SizeVector{-1, -2, -3}), true);
  return ops::_adaptive_avg_pool3d::call(self, output_size);
}
Tensor _adaptive_avg_pool3d(const Tensor& self, Sizes output_size) {
  if (self.dim() != 4 && self.dim() != 5) throw Error("adaptive_avg_pool3d(): Expected 4D or 5D tensor, but got " + to_text(self.sizes()));
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  const Pool p = shares(self, output_size);
  ops::resize_::call(out, pooled_shape(self, p));
  return averages(out, self, p, &count_of);
}
Tensor _adaptive_avg_pool3d_backward(const Tensor& grad_output, const Tensor& self) {
  const Tensor out = ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  return spread(out, made_contiguous(grad_output), shares(self, grad_output.sizes().last(3)), &count_of);
}

std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, Sizes output_size) {
  if (self.dim() != 4 && self.dim() != 5) throw Error("adaptive_max_pool3d(): Expected 4D or 5D tensor, but got: " + to_text(self.sizes()));
  if (output_size.size() != 3) throw Error("adaptive_max_pool3d(): internal error: output_size.size() must be 3");
  const Pool p = shares(self, output_size);
  const SizeVector shape = pooled_shape(self, p);
  const Tensor out = empty(shape, self.dtype(), self.device()), indices = empty(shape, ScalarType::Long, self.device());
  largest(self, p, out, indices);
  return {out, indices};
}
Tensor adaptive_max_pool3d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) {
  Tensor out = empty(self.sizes(), self.dtype(), self.device());
  const Tensor grad = made_contiguous(grad_output);
  ops::zero_::call(out);
  return to_largest(out, grad, indices);
}

}  // namespace peel::kernels
