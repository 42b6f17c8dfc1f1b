// Convolutions: shapes, and which of stock's paths a call takes. A line is seen as a picture of one row.
#include "kernels/cpu/convolution.h"

#include <algorithm>

#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

SizeVector times(Sizes s, int64_t dims, int64_t otherwise) {
  if (s.empty()) return SizeVector(static_cast<size_t>(dims), otherwise);
  if (s.size() == 1) return SizeVector(static_cast<size_t>(dims), s[0]);
  return {s.begin(), s.end()};
}

// Stock's result: memory of oneDNN's that gets its shape, then its place. `channels_last`: oneDNN had the channels next to each other.
Tensor dense_result(Sizes shape, const Tensor& like, bool channels_last = false) {
  Tensor out = ops::empty_memory_format::call(shape, like.dtype(), Layout::Strided, like.device());
  if (channels_last && shape[1] > 1 && element_count(shape.subspan(2)) > 1) {
    ops::as_strided_::call(out, shape, channels_last_strides(shape));
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

void check_shapes(const Tensor& input, const Tensor& weight, const Optional& bias, const Steps& s, int64_t groups) {
  const int64_t k = weight.dim();
  for (const int64_t p : s.padding) {
    if (p < 0) throw Error("negative padding is not supported");
  }
  for (const int64_t step : s.stride) {
    if (step <= 0) throw Error("non-positive stride is not supported");
  }
  if (input.dim() != k) {
    throw Error("Expected " + std::to_string(k) + "-dimensional input for " + std::to_string(k) + "-dimensional weight " + to_text(weight.sizes()) + ", but got " +
                std::to_string(input.dim()) + "-dimensional input of size " + to_text(input.sizes()) + " instead");
  }
  if (s.transposed) {
    const std::string what = "Given transposed=1, weight of size " + to_text(weight.sizes()) + ", expected ";
    if (input.size(1) != weight.size(0)) {
      throw Error(what + "input" + to_text(input.sizes()) + " to have " + std::to_string(weight.size(0)) + " channels, but got " + std::to_string(input.size(1)) + " channels instead");
    }
    if (given(bias) && (bias->dim() != 1 || bias->size(0) != weight.size(1) * groups)) {
      throw Error(what + "bias to be 1-dimensional with " + std::to_string(weight.size(1) * groups) + " elements, but got bias of size " + to_text(bias->sizes()) + " instead");
    }
    return;
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
    in.push_back(input.size(d) + 2 * s.padding[at]);
    kernel.push_back(s.dilation[at] * (weight.size(d) - 1) + 1);
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

// Whether oneDNN scatters products over an image with the channels next to each other.
bool scatters_by_channels(const Steps& s, int64_t groups) { return more_than_one(s.stride) && !more_than_one(s.dilation) && groups == 1; }
// Whether stock takes its path without oneDNN, on one thread: for doubles, for one small image, and for few images and a kernel of one place.
bool takes_slow_path(const Tensor& input, const Tensor& weight, const Steps& s, int64_t groups) {
  for (size_t d = 0; s.transposed && d < s.stride.size(); ++d) {
    if (s.output_padding[d] >= s.stride[d]) return true;
  }
  if (input.dtype() == ScalarType::Double) return true;
  if (input.dtype() != ScalarType::Float) return false;
  const bool point = weight.size(-1) == 1 && weight.size(-2) == 1, large = weight.size(-1) > 3 && weight.size(-2) > 3;
  if (point && !more_than_one(s.stride) && !more_than_one(s.dilation) && input.size(0) < 16) return true;
  return groups == 1 && !large && input.size(0) == 1 && element_count(input.sizes().first(4)) <= 20480;
}

Tensor batched_conv(const char* name, const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups, int64_t dims,
                    std::optional<Sizes> output_padding = {}) {
  const bool single = input.dim() == dims + 1;
  if (!single && input.dim() != dims + 2) {
    throw Error("Expected " + std::to_string(dims + 1) + "D (unbatched) or " + std::to_string(dims + 2) + "D (batched) input to " + name + ", but got input of size: " + to_text(input.sizes()));
  }
  const Tensor in = single ? ops::unsqueeze::call(input, 0) : input;
  const SizeVector s = times(stride, dims, 1), p = times(padding, dims, 0), d = times(dilation, dims, 1), more = times(output_padding.value_or(Sizes()), dims, 0);
  // Stock passes an undefined tensor on where there is no bias, which brings keys of its own.
  const Tensor out = ops::convolution::call(in, weight, given(bias) ? bias : Optional(Tensor()), s, p, d, output_padding.has_value(), more, groups);
  return single ? ops::squeeze_dim::call(out, 0) : out;
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  return batched_conv("conv1d", input, weight, bias, stride, padding, dilation, groups, 1);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  return batched_conv("conv2d", input, weight, bias, stride, padding, dilation, groups, 2);
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  return batched_conv("conv3d", input, weight, bias, stride, padding, dilation, groups, 3);
}
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes output_padding, int64_t groups, Sizes dilation) {
  return batched_conv("conv_transpose1d", input, weight, bias, stride, padding, dilation, groups, 1, output_padding);
}
Tensor conv_transpose2d_input(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes output_padding, int64_t groups, Sizes dilation) {
  return batched_conv("conv_transpose2d", input, weight, bias, stride, padding, dilation, groups, 2, output_padding);
}
Tensor conv_transpose3d_input(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes output_padding, int64_t groups, Sizes dilation) {
  return batched_conv("conv_transpose3d", input, weight, bias, stride, padding, dilation, groups, 3, output_padding);
}

namespace {

Steps steps_of(const Tensor& weight, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding) {
  const int64_t n = weight.dim() - 2;
  return {for_each_dim(stride, n, "stride"), for_each_dim(padding, n, "padding"), for_each_dim(dilation, n, "dilation"), transposed, for_each_dim(output_padding, n, "output_padding")};
}
// Of a line as a picture of one row.
void add_row(Steps* s) {
  s->stride.insert(s->stride.begin(), 1);
  s->padding.insert(s->padding.begin(), 0);
  s->dilation.insert(s->dilation.begin(), 1);
  s->output_padding.insert(s->output_padding.begin(), 0);
}
// Stock asks for NNPACK where it would do.
void look_for_nnpack(const Tensor& input, const Steps& s) {
  if (input.dim() == 4 && !s.transposed && !more_than_one(s.dilation)) ops::_nnpack_available::call();
}
// What belongs to one group.
Tensor part(const Tensor& t, int64_t dim, int64_t groups, int64_t g) {
  if (!t.defined()) return t;
  const int64_t n = t.size(dim) / groups;
  return made_contiguous(ops::narrow::call(t, dim, n * g, n));
}
Tensor by_groups(const Tensor& x, const Tensor& w, const Optional& bias, const Steps& s, int64_t groups) {
  look_for_nnpack(x, s);
  if (groups == 1) return slow_convolution(made_contiguous(x), made_contiguous(w), bias, s);
  std::vector<Tensor> outs;
  for (int64_t g = 0; g < groups; ++g) {
    const Tensor one = part(x, 1, groups, g), weight = part(w, 0, groups, g);
    outs.push_back(slow_convolution(one, weight, given(bias) ? part(*bias, 0, groups, g) : Tensor(), s));
  }
  return ops::cat::call(outs, 1);
}
ThreeGradients by_groups_backward(const Tensor& grad, const Tensor& x, const Tensor& w, const Steps& s, int64_t groups, std::array<bool, 3> wanted) {
  look_for_nnpack(x, s);
  if (groups == 1) return slow_convolution_backward(grad, made_contiguous(x), made_contiguous(w), s, wanted);
  std::array<std::vector<Tensor>, 3> all;
  for (int64_t g = 0; g < groups; ++g) {
    const Tensor one = part(grad, 1, groups, g), in = part(x, 1, groups, g), weight = part(w, 0, groups, g);
    auto [dx, dw, db] = slow_convolution_backward(one, in, weight, s, wanted);
    all[0].push_back(dx);
    all[1].push_back(dw);
    all[2].push_back(db);
  }
  return {wanted[0] ? ops::cat::call(all[0], 1) : Tensor(), wanted[1] ? ops::cat::call(all[1], 0) : Tensor(), wanted[2] ? ops::cat::call(all[2], 0) : Tensor()};
}

// oneDNN's, whose calls are that of its results' memory.
Tensor transposed_by_onednn(const Tensor& input, const Tensor& weight, const Optional& bias, const Steps& s, int64_t groups) {
  const Tensor x = made_contiguous(input), w = made_contiguous(weight);
  const Box b = mirrored(x.sizes(), w.sizes(), s.stride, s.padding, s.dilation, s.output_padding, groups);
  first_buffer(x);
  const Tensor out = dense_result(b.shape(b.c, b.in), x, scatters_by_channels(s, groups));
  convolve_transposed(b, x, w, bias, out);
  return out;
}
ThreeGradients onednn_backward(const Tensor& grad, const Tensor& input, const Tensor& weight, const Steps& s, int64_t groups, std::array<bool, 3> wanted) {
  const Tensor g = made_contiguous(grad), x = made_contiguous(input), w = made_contiguous(weight);
  const Box b = s.transposed ? mirrored(x.sizes(), w.sizes(), s.stride, s.padding, s.dilation, s.output_padding, groups) : box_of(x.sizes(), w.sizes(), s.stride, s.padding, s.dilation, groups);
  Tensor dx, dw, db;
  if (wanted[0]) {
    first_buffer(g);
    dx = dense_result(x.sizes(), x, !s.transposed && scatters_by_channels(s, groups));
  }
  if (wanted[1]) dw = dense_result(w.sizes(), w);
  if (wanted[2]) db = dense_result(SizeVector{s.transposed ? b.c : b.o}, g);
  (s.transposed ? convolve_transposed_backward : convolve_backward)(b, g, x, w, dx, dw, db);
  return {dx, dw, db};
}

}  // namespace

Tensor convolution(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding,
                   int64_t groups) {
  return ops::_convolution::call(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, false, false, true, true);
}
Tensor _convolution(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding, int64_t groups,
                    bool, bool, bool, bool) {
  Steps s = steps_of(weight, stride, padding, dilation, transposed, output_padding);
  check_shapes(input, weight, bias, s, groups);
  Tensor x = input, w = weight;
  const bool line = weight.dim() == 3;
  if (line) {
    x = ops::unsqueeze::call(transposed ? x : made_contiguous(x), 2);
    w = ops::unsqueeze::call(w, 2);
    add_row(&s);
  }
  Tensor out;
  if (takes_slow_path(x, w, s, groups)) out = by_groups(x, w, bias, s, groups);
  else if (transposed) out = transposed_by_onednn(x, w, bias, s, groups);
  else out = ops::mkldnn_convolution::call(made_contiguous(x), made_contiguous(w), bias, s.padding, s.stride, s.dilation, groups);
  return line ? ops::squeeze_dim::call(out, 2) : out;
}

bool _nnpack_available() { return false; }
Tensor mkldnn_convolution(const Tensor& self, const Tensor& weight, const Optional& bias, Sizes padding, Sizes stride, Sizes dilation, int64_t groups) {
  const Box b = box_of(self.sizes(), weight.sizes(), stride, padding, dilation, groups);
  first_buffer(self);
  const Tensor out = dense_result(b.shape(b.o, b.out), self);
  convolve(b, self, weight, bias, out);
  return out;
}

ThreeGradients convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight, std::optional<Sizes>, Sizes stride, Sizes padding, Sizes dilation,
                                    bool transposed, Sizes output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  Steps s = steps_of(weight, stride, padding, dilation, transposed, output_padding);
  Tensor g = grad_output, x = input, w = weight;
  const bool line = weight.dim() == 3;
  if (line) {
    if (!transposed) x = made_contiguous(x);
    g = ops::unsqueeze::call(g, 2);
    x = ops::unsqueeze::call(x, 2);
    w = ops::unsqueeze::call(w, 2);
    add_row(&s);
  }
  auto [dx, dw, db] = takes_slow_path(x, w, s, groups) ? by_groups_backward(g, x, w, s, groups, output_mask) : onednn_backward(g, x, w, s, groups, output_mask);
  if (line) {
    if (dx.defined()) dx = ops::squeeze_dim::call(dx, 2);
    if (dw.defined()) dw = ops::squeeze_dim::call(dw, 2);
  }
  return {dx, dw, db};
}

}  // namespace peel::kernels
