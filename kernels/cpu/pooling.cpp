// Pooling in two dimensions.
#include <algorithm>
#include <limits>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

struct Window {
  int64_t k, stride, padding, dilation, in, out;
};
int64_t at(Sizes s, size_t d, int64_t otherwise) { return s.empty() ? otherwise : s.size() == 1 ? s[0] : s[d]; }

Window window(const Tensor& self, size_t d, Sizes kernel, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode) {
  Window w{at(kernel, d, 1), 0, at(padding, d, 0), at(dilation, d, 1), self.size(static_cast<int64_t>(d) - 2), 0};
  w.stride = at(stride, d, w.k);
  if (w.k <= 0) throw Error("kernel size should be greater than zero, but got kH: " + std::to_string(at(kernel, 0, 1)) + " kW: " + std::to_string(at(kernel, 1, 1)));
  if (w.stride <= 0) throw Error("stride should not be zero");
  if (w.padding < 0) throw Error("pad must be non-negative, but got pad: " + std::to_string(w.padding));
  if (w.padding > ((w.k - 1) * w.dilation + 1) / 2) {
    throw Error("pad should be at most half of effective kernel size, but got pad=" + std::to_string(w.padding) + ", kernel_size=" + std::to_string(w.k) +
                " and dilation=" + std::to_string(w.dilation));
  }
  const int64_t reach = w.in + 2 * w.padding - w.dilation * (w.k - 1) - 1;
  w.out = (reach + (ceil_mode ? w.stride - 1 : 0)) / w.stride + 1;
  if (reach < 0 && !ceil_mode) w.out = 0;
  if (ceil_mode && (w.out - 1) * w.stride >= w.in + w.padding) --w.out;
  return w;
}
void check_input(const Tensor& self, const Window& h, const Window& w) {
  if (self.dim() != 3 && self.dim() != 4) {
    throw Error(std::string("Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:") + to_text(self.sizes()));
  }
  if (h.out >= 1 && w.out >= 1) return;
  const int64_t c = self.size(-3);
  const auto size = [](int64_t a, int64_t b, int64_t d) { return "(" + std::to_string(a) + "x" + std::to_string(b) + "x" + std::to_string(d) + ")"; };
  throw Error("Given input size: " + size(c, h.in, w.in) + ". Calculated output size: " + size(c, h.out, w.out) + ". Output size is too small");
}
SizeVector pooled_shape(const Tensor& self, int64_t h, int64_t w) {
  SizeVector out(self.sizes().begin(), self.sizes().end());
  out[out.size() - 2] = h;
  out[out.size() - 1] = w;
  return out;
}
const std::vector<bool> kPlane2{false, false, true, true}, kPlane1{false, true, true};
const std::vector<bool>& planes(const Tensor& t) { return t.dim() == 4 ? kPlane2 : kPlane1; }

Tensor contiguous_zeros(const Tensor& like) {
  Tensor out = empty(like.sizes(), like.dtype(), like.device());
  return ops::zero_::call(out);
}

}  // namespace

Tensor max_pool2d(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode) {
  return std::get<0>(ops::max_pool2d_with_indices::call(self, kernel_size, stride, padding, dilation, ceil_mode));
}
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode) {
  const Window h = window(self, 0, kernel_size, stride, padding, dilation, ceil_mode), w = window(self, 1, kernel_size, stride, padding, dilation, ceil_mode);
  check_input(self, h, w);
  const SizeVector shape = pooled_shape(self, h.out, w.out);
  const Tensor out = empty(shape, self.dtype(), self.device()), indices = empty(shape, ScalarType::Long, self.device());
  const bool channels_last = self.dim() == 4 && std::ranges::equal(self.strides(), channels_last_strides(self.sizes()));
  const Rows rows = rows_of(channels_last ? self : made_contiguous(self), planes(self));
  with_type(self.dtype(), "max_pool2d", [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* in = rows.data.data_as<T>() + r * rows.length;
      for (int64_t y = 0; y < h.out; ++y) {
        for (int64_t x = 0; x < w.out; ++x) {
          int64_t best = -1;
          for (int64_t i = 0; i < h.k; ++i) {
            for (int64_t j = 0; j < w.k; ++j) {
              const int64_t row = y * h.stride - h.padding + i * h.dilation, column = x * w.stride - w.padding + j * w.dilation;
              if (row < 0 || row >= h.in || column < 0 || column >= w.in) continue;
              const int64_t place = row * w.in + column;
              const auto v = static_cast<Math<T>>(in[place]);
              if (best < 0 || v > static_cast<Math<T>>(in[best]) || v != v) best = place;
            }
          }
          const int64_t to = (r * h.out + y) * w.out + x;
          out.data_as<T>()[to] = in[best];
          indices.data_as<int64_t>()[to] = best;
        }
      }
    }
  });
  return {out, indices};
}
Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, Sizes, Sizes, Sizes, Sizes, bool, const Tensor& indices) {
  Tensor out = contiguous_zeros(self);
  const Tensor grad = made_contiguous(grad_output), places = made_contiguous(indices);
  const int64_t plane = self.size(-2) * self.size(-1), pooled = grad.size(-2) * grad.size(-1);
  with_floating(self.dtype(), "max_pool2d_backward", [&]<class T>(T) {
    for (int64_t i = 0; i < grad.numel(); ++i) {
      T& o = out.data_as<T>()[i / pooled * plane + places.data_as<int64_t>()[i]];
      o = static_cast<T>(static_cast<Math<T>>(o) + static_cast<Math<T>>(grad.data_as<T>()[i]));
    }
  });
  return out;
}

Tensor max_unpool2d(const Tensor& self, const Tensor& indices, Sizes output_size) {
  if (indices.dtype() != ScalarType::Long) throw Error("elements in indices should be type int64 but got: " + std::string(to_string(indices.dtype())));
  if (output_size.size() != 2) throw Error("There should be exactly two elements (height, width) in output_size, but got " + std::to_string(output_size.size()) + " elements.");
  if (self.dim() != 3 && self.dim() != 4) throw Error("Input to max_unpooling2d should be a 3d or 4d Tensor, but got a tensor with " + std::to_string(self.dim()) + " dimensions.");
  if (!std::ranges::equal(self.sizes(), indices.sizes())) {
    throw Error("Expected shape of indices to be same as that of the input tensor (" + to_text(self.sizes()) + ") but got indices tensor with shape: " + to_text(indices.sizes()));
  }
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  const Tensor in = made_contiguous(self), places = made_contiguous(indices);
  ops::resize_::call(out, pooled_shape(self, output_size[0], output_size[1]));
  ops::zero_::call(out);
  const int64_t plane = output_size[0] * output_size[1], pooled = self.size(-1) * self.size(-2);
  with_type(self.dtype(), "max_unpool2d", [&]<class T>(T) {
    for (int64_t i = 0; i < in.numel(); ++i) {
      const int64_t to = places.data_as<int64_t>()[i];
      if (to < 0 || to >= plane) {
        throw Error("Found an invalid max index: " + std::to_string(to) + " (output volumes are of size " + std::to_string(output_size[0]) + "x" + std::to_string(output_size[1]) + ")");
      }
      out.data_as<T>()[i / pooled * plane + to] = in.data_as<T>()[i];
    }
  });
  return out;
}

namespace {

// The elements under one window: f(row, column) in the input, and by how much their sum is divided.
struct Averaged {
  int64_t top, bottom, left, right;
  double divisor;
};
Averaged averaged(const Window& h, const Window& w, int64_t y, int64_t x, bool count_include_pad, std::optional<int64_t> divisor) {
  Averaged a{y * h.stride - h.padding, 0, x * w.stride - w.padding, 0, 0};
  a.bottom = std::min(a.top + h.k, h.in + h.padding);
  a.right = std::min(a.left + w.k, w.in + w.padding);
  const int64_t padded = (a.bottom - a.top) * (a.right - a.left);
  a.top = std::max<int64_t>(a.top, 0);
  a.left = std::max<int64_t>(a.left, 0);
  a.bottom = std::min(a.bottom, h.in);
  a.right = std::min(a.right, w.in);
  a.divisor = static_cast<double>(divisor ? *divisor : count_include_pad ? padded : (a.bottom - a.top) * (a.right - a.left));
  return a;
}
std::pair<Window, Window> average_windows(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, bool ceil_mode) {
  const SizeVector one{1};
  return {window(self, 0, kernel_size, stride, padding, one, ceil_mode), window(self, 1, kernel_size, stride, padding, one, ceil_mode)};
}

}  // namespace

Tensor avg_pool2d(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  if (divisor_override && *divisor_override == 0) throw Error("divisor must be not zero");
  const auto [h, w] = average_windows(self, kernel_size, stride, padding, ceil_mode);
  check_input(self, h, w);
  const Tensor out = empty(pooled_shape(self, h.out, w.out), self.dtype(), self.device());
  const Rows rows = rows_of(self, planes(self));
  with_floating(self.dtype(), "avg_pool2d", [&, h = h, w = w]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* in = rows.data.data_as<T>() + r * rows.length;
      for (int64_t y = 0; y < h.out; ++y) {
        for (int64_t x = 0; x < w.out; ++x) {
          const Averaged a = averaged(h, w, y, x, count_include_pad, divisor_override);
          double total = 0;
          for (int64_t i = a.top; i < a.bottom; ++i) {
            for (int64_t j = a.left; j < a.right; ++j) total += static_cast<double>(static_cast<Math<T>>(in[i * w.in + j]));
          }
          out.data_as<T>()[(r * h.out + y) * w.out + x] = static_cast<T>(total / a.divisor);
        }
      }
    }
  });
  return out;
}
Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, bool ceil_mode, bool count_include_pad,
                           std::optional<int64_t> divisor_override) {
  const auto [h, w] = average_windows(self, kernel_size, stride, padding, ceil_mode);
  Tensor out = contiguous_zeros(self);
  const Tensor grad = made_contiguous(grad_output);
  const int64_t plane = h.in * w.in;
  with_floating(self.dtype(), "avg_pool2d_backward", [&, h = h, w = w]<class T>(T) {
    for (int64_t k = 0; k < grad.numel(); ++k) {
      const Averaged a = averaged(h, w, k / w.out % h.out, k % w.out, count_include_pad, divisor_override);
      const double g = static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[k])) / a.divisor;
      for (int64_t i = a.top; i < a.bottom; ++i) {
        for (int64_t j = a.left; j < a.right; ++j) {
          T& o = out.data_as<T>()[k / (h.out * w.out) * plane + i * w.in + j];
          o = static_cast<T>(static_cast<double>(static_cast<Math<T>>(o)) + g);
        }
      }
    }
  });
  return out;
}

Tensor adaptive_avg_pool2d(const Tensor& self, Sizes output_size) {
  if (output_size.size() != 2) throw Error("adaptive_avg_pool2d: output_size must be 2");
  if (output_size[0] < 0 || output_size[1] < 0) {
    throw Error("adaptive_avg_pool2d: elements of output_size must be greater than or equal to 0 but received {" + std::to_string(output_size[0]) + ", " +
                std::to_string(output_size[1]) + "}");
  }
  if (output_size[0] == 1 && output_size[1] == 1) return ops::mean_dim::call(self, Sizes(SizeVector{-1, -2}), true);
  return ops::_adaptive_avg_pool2d::call(self, output_size);
}

namespace {

int64_t start_of(int64_t i, int64_t out, int64_t in) { return i * in / out; }
int64_t end_of(int64_t i, int64_t out, int64_t in) { return ((i + 1) * in + out - 1) / out; }
Tensor resized(Sizes shape, const Tensor& like) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, like.dtype(), Layout::Strided, like.device());
  return ops::resize_::call(out, shape);
}

}  // namespace

Tensor _adaptive_avg_pool2d(const Tensor& self, Sizes output_size) {
  if (self.dim() != 3 && self.dim() != 4) throw Error("adaptive_avg_pool2d(): Expected 3D or 4D tensor, but got " + to_text(self.sizes()));
  const int64_t oh = output_size[0], ow = output_size[1], ih = self.size(-2), iw = self.size(-1);
  const Tensor out = resized(pooled_shape(self, oh, ow), self);
  const Rows rows = rows_of(self, planes(self));
  with_floating(self.dtype(), "adaptive_avg_pool2d_cpu", [&]<class T>(T) {
    for (int64_t k = 0; k < out.numel(); ++k) {
      const T* in = rows.data.data_as<T>() + k / (oh * ow) * rows.length;
      const int64_t y = k / ow % oh, x = k % ow, top = start_of(y, oh, ih), bottom = end_of(y, oh, ih), left = start_of(x, ow, iw), right = end_of(x, ow, iw);
      double total = 0;
      for (int64_t i = top; i < bottom; ++i) {
        for (int64_t j = left; j < right; ++j) total += static_cast<double>(static_cast<Math<T>>(in[i * iw + j]));
      }
      out.data_as<T>()[k] = static_cast<T>(total / static_cast<double>((bottom - top) * (right - left)));
    }
  });
  return out;
}
Tensor _adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self) {
  Tensor out = resized(self.sizes(), self);
  ops::zero_::call(out);
  const Tensor grad = made_contiguous(grad_output);
  const int64_t oh = grad.size(-2), ow = grad.size(-1), ih = self.size(-2), iw = self.size(-1);
  with_floating(self.dtype(), "adaptive_avg_pool2d_backward_cpu", [&]<class T>(T) {
    for (int64_t k = 0; k < grad.numel(); ++k) {
      const int64_t y = k / ow % oh, x = k % ow, top = start_of(y, oh, ih), bottom = end_of(y, oh, ih), left = start_of(x, ow, iw), right = end_of(x, ow, iw);
      const double g = static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[k])) / static_cast<double>((bottom - top) * (right - left));
      for (int64_t i = top; i < bottom; ++i) {
        for (int64_t j = left; j < right; ++j) {
          T& o = out.data_as<T>()[(k / (oh * ow) * ih + i) * iw + j];
          o = static_cast<T>(static_cast<double>(static_cast<Math<T>>(o)) + g);
        }
      }
    }
  });
  return out;
}

}  // namespace peel::kernels
