// Convolutions in two dimensions; one dimension is seen as two. Calls inside are those of stock's oneDNN path, or of its slow one.
#include <algorithm>
#include <tuple>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
bool given(const Optional& t) { return t && t->defined(); }

[[noreturn]] void not_yet(const std::string& what) {
  throw NotImplemented("The embedded engine has no " + what + " yet; the program can be run on stock PyTorch (--engine pytorch).");
}

SizeVector times(Sizes s, int64_t dims, int64_t otherwise) {
  if (s.empty()) return SizeVector(static_cast<size_t>(dims), otherwise);
  if (s.size() == 1) return SizeVector(static_cast<size_t>(dims), s[0]);
  return {s.begin(), s.end()};
}

struct Plane {
  int64_t n, c, h, w, o, kh, kw, oh, ow, groups;
  SizeVector stride, padding, dilation;
};
Plane plane(Sizes input, Sizes weight, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  Plane p{input[0], input[1], input[2], input[3], weight[0], weight[2], weight[3], 0, 0, groups, times(stride, 2, 1), times(padding, 2, 0), times(dilation, 2, 1)};
  p.oh = (p.h + 2 * p.padding[0] - p.dilation[0] * (p.kh - 1) - 1) / p.stride[0] + 1;
  p.ow = (p.w + 2 * p.padding[1] - p.dilation[1] * (p.kw - 1) - 1) / p.stride[1] + 1;
  return p;
}

// f(output element, input element, weight element) for every product of the sum; indices of row-major memory.
template <class F>
void each_product(const Plane& p, F f) {
  const int64_t in_group = p.c / p.groups, out_group = p.o / p.groups;
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t o = 0; o < p.o; ++o) {
      const int64_t first = o / out_group * in_group;
      for (int64_t c = 0; c < in_group; ++c) {
        for (int64_t i = 0; i < p.kh; ++i) {
          for (int64_t j = 0; j < p.kw; ++j) {
            const int64_t weight = ((o * in_group + c) * p.kh + i) * p.kw + j;
            for (int64_t y = 0; y < p.oh; ++y) {
              const int64_t row = y * p.stride[0] - p.padding[0] + i * p.dilation[0];
              if (row < 0 || row >= p.h) continue;
              for (int64_t x = 0; x < p.ow; ++x) {
                const int64_t column = x * p.stride[1] - p.padding[1] + j * p.dilation[1];
                if (column < 0 || column >= p.w) continue;
                f(((n * p.o + o) * p.oh + y) * p.ow + x, ((n * p.c + first + c) * p.h + row) * p.w + column, weight);
              }
            }
          }
        }
      }
    }
  }
}

// Stock's result: memory of oneDNN's that gets its shape, then its place. `channels_last`: oneDNN had the channels next to each other.
Tensor dense_result(Sizes shape, const Tensor& like, bool channels_last = false) {
  Tensor out = ops::empty_memory_format::call(shape, like.dtype(), Layout::Strided, like.device());
  if (channels_last && shape[1] > 1 && shape[2] * shape[3] > 1) {
    ops::as_strided_::call(out, shape, SizeVector{shape[1] * shape[2] * shape[3], 1, shape[1] * shape[3], shape[1]});
    out = ops::contiguous::call(out);
  } else {
    ops::as_strided_::call(out, shape, contiguous_strides(shape));
  }
  ops::resize_::call(out, shape);
  return out;
}
void first_buffer(const Tensor& like) { ops::empty_memory_format::call(SizeVector{0}, like.dtype(), Layout::Strided, like.device()); }

// One number stands for all dimensions.
SizeVector for_each_dim(Sizes v, int64_t dims, const char* name) {
  if (v.size() == 1) return SizeVector(static_cast<size_t>(dims), v[0]);
  if (v.size() != static_cast<size_t>(dims)) {
    throw Error(std::string("expected ") + name + " to be a single integer value or a list of " + std::to_string(dims) + " values to match the convolution dimensions, but got " + name + "=" +
                to_text(v));
  }
  return {v.begin(), v.end()};
}

void check_shapes(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  const int64_t k = weight.dim();
  for (const int64_t p : padding) {
    if (p < 0) throw Error("negative padding is not supported");
  }
  for (const int64_t s : stride) {
    if (s <= 0) throw Error("non-positive stride is not supported");
  }
  if (input.dim() != k) {
    throw Error("Expected " + std::to_string(k) + "-dimensional input for " + std::to_string(k) + "-dimensional weight " + to_text(weight.sizes()) + ", but got " +
                std::to_string(input.dim()) + "-dimensional input of size " + to_text(input.sizes()) + " instead");
  }
  const std::string given_groups = "Given groups=" + std::to_string(groups) + ", weight of size " + to_text(weight.sizes());
  if (input.size(1) != weight.size(1) * groups) {
    throw Error(given_groups + ", expected input" + to_text(input.sizes()) + " to have " + std::to_string(weight.size(1) * groups) + " channels, but got " +
                std::to_string(input.size(1)) + " channels instead");
  }
  if (weight.size(0) % groups != 0) {
    throw Error(given_groups + ", expected weight to be divisible by " + std::to_string(groups) + " at dimension 0, but got weight of size " + to_text(weight.sizes()) + " instead");
  }
  if (given(bias) && (bias->dim() != 1 || bias->size(0) != weight.size(0))) {
    throw Error(given_groups + ", expected bias to be 1-dimensional with " + std::to_string(weight.size(0)) + " elements, but got bias of size " + to_text(bias->sizes()) + " instead");
  }
  SizeVector in, kernel;
  bool fits = true;
  for (int64_t d = 2; d < k; ++d) {
    const auto at = static_cast<size_t>(d - 2);
    in.push_back(input.size(d) + 2 * padding[at]);
    kernel.push_back(dilation[at] * (weight.size(d) - 1) + 1);
    fits = fits && in.back() >= kernel.back();
  }
  const auto crossed = [](const SizeVector& s) {
    std::string out;
    for (const int64_t v : s) out += (out.empty() ? "" : " x ") + std::to_string(v);
    return out;
  };
  if (!fits) {
    throw Error("Calculated padded input size per channel: (" + crossed(in) + "). Kernel size: (" + crossed(kernel) + "). Kernel size can't be greater than actual input size");
  }
}

bool dilated(Sizes dilation) {
  return std::ranges::any_of(dilation, [](int64_t d) { return d != 1; });
}
bool steps(Sizes stride) { return dilated(stride); }
// Whether oneDNN scatters products over an image with the channels next to each other.
bool scatters_by_channels(Sizes stride, Sizes dilation, int64_t groups) { return steps(stride) && !dilated(dilation) && groups == 1; }
// Whether stock takes its path without oneDNN, on one thread: for doubles, for one small image, and for few images and a kernel of one place.
bool takes_slow_path(const Tensor& input, const Tensor& weight, Sizes stride, Sizes dilation, int64_t groups) {
  if (groups > 1 || dilated(dilation)) return false;
  if (input.dtype() == ScalarType::Double) return true;
  if (input.dtype() != ScalarType::Float) return false;
  if (weight.size(-1) == 1 && weight.size(-2) == 1 && !steps(stride) && input.size(0) < 16) return true;
  return input.size(0) == 1 && (weight.size(-1) <= 3 || weight.size(-2) <= 3) && input.numel() <= 20480;
}

Tensor batched_conv(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups, int64_t dims) {
  const bool single = input.dim() == dims + 1;
  if (!single && input.dim() != dims + 2) {
    throw Error("Expected " + std::to_string(dims + 1) + "D (unbatched) or " + std::to_string(dims + 2) + "D (batched) input to conv" + std::to_string(dims) +
                "d, but got input of size: " + to_text(input.sizes()));
  }
  const Tensor in = single ? ops::unsqueeze::call(input, 0) : input;
  const SizeVector s = times(stride, dims, 1), p = times(padding, dims, 0), d = times(dilation, dims, 1), none(static_cast<size_t>(dims), 0);
  // Stock passes an undefined tensor on where there is no bias, which brings keys of its own.
  const Tensor out = ops::convolution::call(in, weight, given(bias) ? bias : Optional(Tensor()), s, p, d, false, none, groups);
  return single ? ops::squeeze_dim::call(out, 0) : out;
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  return batched_conv(input, weight, bias, stride, padding, dilation, groups, 1);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  return batched_conv(input, weight, bias, stride, padding, dilation, groups, 2);
}
Tensor conv_transpose2d_input(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes output_padding, int64_t groups, Sizes dilation) {
  const bool single = input.dim() == 3;
  if (!single && input.dim() != 4) {
    throw Error("Expected 3D (unbatched) or 4D (batched) input to conv_transpose2d, but got input of size: " + to_text(input.sizes()));
  }
  const Tensor in = single ? ops::unsqueeze::call(input, 0) : input;
  const SizeVector s = times(stride, 2, 1), p = times(padding, 2, 0), d = times(dilation, 2, 1), more = times(output_padding, 2, 0);
  const Tensor out = ops::convolution::call(in, weight, given(bias) ? bias : Optional(Tensor()), s, p, d, true, more, groups);
  return single ? ops::squeeze_dim::call(out, 0) : out;
}

Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes output_padding, int64_t groups, Sizes dilation) {
  const bool single = input.dim() == 2;
  if (!single && input.dim() != 3) {
    throw Error("Expected 2D (unbatched) or 3D (batched) input to conv_transpose1d, but got input of size: " + to_text(input.sizes()));
  }
  const Tensor in = single ? ops::unsqueeze::call(input, 0) : input;
  const SizeVector s = times(stride, 1, 1), p = times(padding, 1, 0), d = times(dilation, 1, 1), more = times(output_padding, 1, 0);
  const Tensor out = ops::convolution::call(in, weight, given(bias) ? bias : Optional(Tensor()), s, p, d, true, more, groups);
  return single ? ops::squeeze_dim::call(out, 0) : out;
}

namespace {

// The convolution of which a transposed one is the gradient: its image is our result.
Plane mirrored(Sizes input, Sizes weight, Sizes stride, Sizes padding, Sizes dilation, Sizes output_padding, int64_t groups) {
  const SizeVector s = times(stride, 2, 1), p = times(padding, 2, 0), d = times(dilation, 2, 1), more = times(output_padding, 2, 0);
  const auto size = [&](size_t i) { return (input[i + 2] - 1) * s[i] - 2 * p[i] + d[i] * (weight[i + 2] - 1) + more[i] + 1; };
  return {input[0], weight[1] * groups, size(0), size(1), input[1], weight[2], weight[3], input[2], input[3], groups, s, p, d};
}

Tensor transposed_convolution(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, Sizes output_padding, int64_t groups) {
  if (weight.dim() != 4 || input.dim() != 4) not_yet("transposed convolution of " + std::to_string(weight.dim() - 2) + " dimensions");
  if (input.size(1) != weight.size(0)) {
    throw Error("Given transposed=1, weight of size " + to_text(weight.sizes()) + ", expected input" + to_text(input.sizes()) + " to have " + std::to_string(weight.size(0)) +
                " channels, but got " + std::to_string(input.size(1)) + " channels instead");
  }
  const Plane p = mirrored(input.sizes(), weight.sizes(), stride, padding, dilation, output_padding, groups);
  const Tensor x = made_contiguous(input), w = made_contiguous(weight);
  first_buffer(x);
  const Tensor out = dense_result(SizeVector{p.n, p.c, p.h, p.w}, x, scatters_by_channels(p.stride, p.dilation, groups));
  with_floating(x.dtype(), "conv_transpose2d", [&]<class T>(T) {
    std::vector<Math<T>> sums(static_cast<size_t>(out.numel()));
    for (size_t i = 0; i < sums.size() && given(bias); ++i) {
      sums[i] = static_cast<Math<T>>(bias->data_as<T>()[static_cast<int64_t>(i) / (p.h * p.w) % p.c * bias->strides()[0]]);
    }
    each_product(p, [&](int64_t i, int64_t o, int64_t k) {
      sums[static_cast<size_t>(o)] += static_cast<Math<T>>(x.data_as<T>()[i]) * static_cast<Math<T>>(w.data_as<T>()[k]);
    });
    for (size_t i = 0; i < sums.size(); ++i) out.data_as<T>()[i] = static_cast<T>(sums[i]);
  });
  return out;
}

Three transposed_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight, Sizes stride, Sizes padding, Sizes dilation, Sizes output_padding, int64_t groups,
                          std::array<bool, 3> wanted) {
  const Plane p = mirrored(input.sizes(), weight.sizes(), stride, padding, dilation, output_padding, groups);
  const Tensor g = made_contiguous(grad_output), x = made_contiguous(input), w = made_contiguous(weight);
  Tensor dx, dw, db;
  if (wanted[0]) {
    first_buffer(g);
    dx = dense_result(x.sizes(), x);
  }
  if (wanted[1]) dw = dense_result(w.sizes(), w);
  if (wanted[2]) db = dense_result(SizeVector{p.c}, g);
  with_floating(g.dtype(), "conv_transpose2d_backward", [&]<class T>(T) {
    using M = Math<T>;
    std::vector<M> of_x(dx.defined() ? static_cast<size_t>(dx.numel()) : 0), of_w(dw.defined() ? static_cast<size_t>(dw.numel()) : 0), of_b(db.defined() ? static_cast<size_t>(p.c) : 0);
    each_product(p, [&](int64_t i, int64_t o, int64_t k) {
      const M grad = static_cast<M>(g.data_as<T>()[o]);
      if (!of_x.empty()) of_x[static_cast<size_t>(i)] += grad * static_cast<M>(w.data_as<T>()[k]);
      if (!of_w.empty()) of_w[static_cast<size_t>(k)] += grad * static_cast<M>(x.data_as<T>()[i]);
    });
    for (int64_t i = 0; i < g.numel() && !of_b.empty(); ++i) of_b[static_cast<size_t>(i / (p.h * p.w) % p.c)] += static_cast<M>(g.data_as<T>()[i]);
    for (size_t i = 0; i < of_x.size(); ++i) dx.data_as<T>()[i] = static_cast<T>(of_x[i]);
    for (size_t i = 0; i < of_w.size(); ++i) dw.data_as<T>()[i] = static_cast<T>(of_w[i]);
    for (size_t i = 0; i < of_b.size(); ++i) db.data_as<T>()[i] = static_cast<T>(of_b[i]);
  });
  return {dx, dw, db};
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding,
                   int64_t groups) {
  return ops::_convolution::call(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, false, false, true, true);
}
Tensor _convolution(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding, int64_t groups,
                    bool, bool, bool, bool) {
  if (transposed && weight.dim() == 3 && input.dim() == 3) {  // a line is a picture of one row
    const auto row = [](Sizes v, int64_t one) { return SizeVector{one, v[0]}; };
    const Tensor x = ops::unsqueeze::call(input, 2), w = ops::unsqueeze::call(weight, 2);
    return ops::squeeze_dim::call(transposed_convolution(x, w, bias, row(stride, 1), row(padding, 0), row(dilation, 1), row(output_padding, 0), groups), 2);
  }
  if (transposed) return transposed_convolution(input, weight, bias, stride, padding, dilation, output_padding, groups);
  if (weight.dim() != 3 && weight.dim() != 4) not_yet("convolution of " + std::to_string(weight.dim() - 2) + " dimensions");
  SizeVector s = for_each_dim(stride, weight.dim() - 2, "stride"), p = for_each_dim(padding, weight.dim() - 2, "padding"), d = for_each_dim(dilation, weight.dim() - 2, "dilation");
  check_shapes(input, weight, bias, s, p, d, groups);
  Tensor x = input, w = weight;
  const bool line = weight.dim() == 3;
  if (line) {
    x = ops::unsqueeze::call(made_contiguous(x), 2);
    w = ops::unsqueeze::call(w, 2);
    s.insert(s.begin(), 1);
    p.insert(p.begin(), 0);
    d.insert(d.begin(), 1);
  }
  Tensor out;
  if (takes_slow_path(x, w, s, d, groups)) {
    ops::_nnpack_available::call();
    out = ops::thnn_conv2d::call(made_contiguous(x), made_contiguous(w), SizeVector{w.size(2), w.size(3)}, bias, s, p);
  } else {
    out = ops::mkldnn_convolution::call(made_contiguous(x), made_contiguous(w), bias, p, s, d, groups);
  }
  return line ? ops::squeeze_dim::call(out, 2) : out;
}

namespace {

// out = bias + sum of products, all row-major.
void forward(const Plane& p, const Tensor& in, const Tensor& weight, const Optional& bias, const Tensor& out) {
  with_floating(in.dtype(), "mkldnn_convolution", [&]<class T>(T) {
    std::vector<Math<T>> sums(static_cast<size_t>(out.numel()));
    for (size_t i = 0; i < sums.size() && given(bias); ++i) {
      sums[i] = static_cast<Math<T>>(bias->data_as<T>()[static_cast<int64_t>(i) / (p.oh * p.ow) % p.o * bias->strides()[0]]);
    }
    each_product(p, [&](int64_t o, int64_t i, int64_t w) {
      sums[static_cast<size_t>(o)] += static_cast<Math<T>>(in.data_as<T>()[i]) * static_cast<Math<T>>(weight.data_as<T>()[w]);
    });
    for (size_t i = 0; i < sums.size(); ++i) out.data_as<T>()[i] = static_cast<T>(sums[i]);
  });
}
// Those of dx, dw and db that are defined.
void backward(const Plane& p, const Tensor& g, const Tensor& x, const Tensor& w, const Tensor& dx, const Tensor& dw, const Tensor& db) {
  with_floating(g.dtype(), "mkldnn_convolution_backward", [&]<class T>(T) {
    using M = Math<T>;
    std::vector<M> of_x(dx.defined() ? static_cast<size_t>(dx.numel()) : 0), of_w(dw.defined() ? static_cast<size_t>(dw.numel()) : 0);
    each_product(p, [&](int64_t o, int64_t i, int64_t k) {
      const M grad = static_cast<M>(g.data_as<T>()[o]);
      if (!of_x.empty()) of_x[static_cast<size_t>(i)] += grad * static_cast<M>(w.data_as<T>()[k]);
      if (!of_w.empty()) of_w[static_cast<size_t>(k)] += grad * static_cast<M>(x.data_as<T>()[i]);
    });
    for (size_t i = 0; i < of_x.size(); ++i) dx.data_as<T>()[i] = static_cast<T>(of_x[i]);
    for (size_t i = 0; i < of_w.size(); ++i) dw.data_as<T>()[i] = static_cast<T>(of_w[i]);
    if (!db.defined()) return;
    std::vector<double> of_b(static_cast<size_t>(p.o));
    for (int64_t i = 0; i < g.numel(); ++i) of_b[static_cast<size_t>(i / (p.oh * p.ow) % p.o)] += static_cast<double>(static_cast<M>(g.data_as<T>()[i]));
    for (size_t i = 0; i < of_b.size(); ++i) db.data_as<T>()[i] = static_cast<T>(of_b[i]);
  });
}
Tensor fresh(Sizes shape, const Tensor& like) { return ops::empty_memory_format::call(shape, like.dtype(), Layout::Strided, like.device()); }
SizeVector columns(const Plane& p) { return {p.n, p.c * p.kh * p.kw, p.oh * p.ow}; }
bool is_pointwise(const Plane& p) {
  return p.kh == 1 && p.kw == 1 && p.stride[0] == 1 && p.stride[1] == 1 && p.padding[0] == 0 && p.padding[1] == 0;
}

// Stock's columns of the input: it itself for a kernel of one place.
void unfolded(const Plane& p, const Tensor& self) {
  if (is_pointwise(p)) ops::detach::call(ops::view::call(self, columns(p)));
  else fresh(columns(p), self);
}

}  // namespace

bool _nnpack_available() { return false; }
Tensor thnn_conv2d(const Tensor& self, const Tensor& weight, Sizes kernel_size, const Optional& bias, Sizes stride, Sizes padding) {
  return ops::_slow_conv2d_forward::call(self, weight, kernel_size, bias, stride, padding);
}
Tensor _slow_conv2d_forward(const Tensor& self, const Tensor& weight, Sizes, const Optional& bias, Sizes stride, Sizes padding) {
  const Plane p = plane(self.sizes(), weight.sizes(), stride, padding, SizeVector{1, 1}, 1);
  Tensor out = fresh(SizeVector{0}, self);
  ops::view::call(weight, SizeVector{p.o, -1});
  unfolded(p, self);
  ops::resize_::call(out, SizeVector{p.n, p.o, p.oh, p.ow});
  if (given(bias)) {
    const Tensor wide = ops::reshape::call(*bias, SizeVector{1, p.o, 1, 1});
    ops::copy_::call(out, wide);
  }
  forward(p, self, weight, bias, out);
  return out;
}
Three _slow_conv2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight, Sizes, Sizes stride, Sizes padding, std::array<bool, 3> output_mask) {
  const Plane p = plane(self.sizes(), weight.sizes(), stride, padding, SizeVector{1, 1}, 1);
  Tensor dx, dw, db;
  if (output_mask[0]) dx = fresh(SizeVector{0}, grad_output);
  if (output_mask[1]) dw = fresh(SizeVector{0}, grad_output);
  if (output_mask[2]) db = fresh(SizeVector{0}, grad_output);
  Tensor g = grad_output;
  if (dx.defined()) {
    ops::view::call(weight, SizeVector{p.o, -1});
    g = made_contiguous(grad_output);
    ops::resize_as_::call(dx, self);
    ops::zero_::call(dx);
  }
  if (db.defined()) ops::sum_IntList_out::call(grad_output, Sizes(SizeVector{0, 2, 3}), false, {}, db);
  if (dw.defined()) {
    ops::resize_::call(dw, weight.sizes());
    ops::zero_::call(dw);
    ops::view::call(dw, SizeVector{p.o, -1});
    g = made_contiguous(grad_output);
    unfolded(p, self);
  }
  backward(p, g, self, weight, dx, dw, {});
  return {dx, dw, db};
}

Tensor mkldnn_convolution(const Tensor& self, const Tensor& weight, const Optional& bias, Sizes padding, Sizes stride, Sizes dilation, int64_t groups) {
  const Plane p = plane(self.sizes(), weight.sizes(), stride, padding, dilation, groups);
  first_buffer(self);
  const Tensor out = dense_result(SizeVector{p.n, p.o, p.oh, p.ow}, self);
  forward(p, self, weight, bias, out);
  return out;
}

Three convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight, std::optional<Sizes>, Sizes stride, Sizes padding, Sizes dilation,
                           bool transposed, Sizes output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  if (transposed && weight.dim() == 3) {
    const auto row = [](Sizes v, int64_t one) { return SizeVector{one, v[0]}; };
    const Tensor g = ops::unsqueeze::call(grad_output, 2), x = ops::unsqueeze::call(input, 2), w = ops::unsqueeze::call(weight, 2);
    auto [dx, dw, db] = transposed_backward(g, x, w, row(stride, 1), row(padding, 0), row(dilation, 1), row(output_padding, 0), groups, output_mask);
    if (dx.defined()) dx = ops::squeeze_dim::call(dx, 2);
    if (dw.defined()) dw = ops::squeeze_dim::call(dw, 2);
    return {dx, dw, db};
  }
  if (transposed) return transposed_backward(grad_output, input, weight, stride, padding, dilation, output_padding, groups, output_mask);
  Tensor g = grad_output, x = input, w = weight;
  SizeVector s(stride.begin(), stride.end()), pad(padding.begin(), padding.end()), d(dilation.begin(), dilation.end());
  const bool line = weight.dim() == 3;
  if (line) {
    x = made_contiguous(x);
    g = ops::unsqueeze::call(g, 2);
    x = ops::unsqueeze::call(x, 2);
    w = ops::unsqueeze::call(w, 2);
    s.insert(s.begin(), 1);
    pad.insert(pad.begin(), 0);
    d.insert(d.begin(), 1);
  }
  Tensor dx, dw, db;
  if (takes_slow_path(x, w, s, d, groups)) {
    ops::_nnpack_available::call();
    const SizeVector kernel{w.size(2), w.size(3)};
    std::tie(dx, dw, db) = ops::_slow_conv2d_backward_output_mask::call(g, made_contiguous(x), made_contiguous(w), kernel, s, pad, output_mask);
  } else {
    g = made_contiguous(g);
    x = made_contiguous(x);
    w = made_contiguous(w);
    if (output_mask[0]) first_buffer(g);
    const Plane p = plane(x.sizes(), w.sizes(), s, pad, d, groups);
    if (output_mask[0]) dx = dense_result(x.sizes(), x, scatters_by_channels(s, d, groups));
    if (output_mask[1]) dw = dense_result(w.sizes(), w);
    if (output_mask[2]) db = dense_result(SizeVector{p.o}, g);
    backward(p, g, x, w, dx, dw, db);
  }
  if (line) {
    if (dx.defined()) dx = ops::squeeze_dim::call(dx, 2);
    if (dw.defined()) dw = ops::squeeze_dim::call(dw, 2);
  }
  return {dx, dw, db};
}

}  // namespace peel::kernels
