// The sums of convolutions and of their gradients.
#include <algorithm>

#include "kernels/cpu/convolution.h"

namespace peel::kernels {
namespace {

int64_t at(Sizes s, size_t d, int64_t otherwise) { return s.empty() ? otherwise : s.size() == 1 ? s[0] : s[d]; }

// f(output element, input element, weight element) for every product of the sum; indices of row-major memory.
template <class F>
void each_product(const Box& b, F f) {
  const int64_t in_group = b.c / b.groups, out_group = b.o / b.groups, image = b.in[0] * b.in[1] * b.in[2];
  const auto source = [&b](size_t d, int64_t out, int64_t k) { return out * b.stride[d] - b.padding[d] + k * b.dilation[d]; };
  const auto inside = [&b](size_t d, int64_t at) { return at >= 0 && at < b.in[d]; };
  for (int64_t n = 0; n < b.n; ++n) {
    for (int64_t o = 0; o < b.o; ++o) {
      const int64_t first = n * b.c + o / out_group * in_group;
      for (int64_t w = 0; w < in_group * b.kernel[0] * b.kernel[1] * b.kernel[2]; ++w) {
        const int64_t j = w % b.kernel[2], i = w / b.kernel[2] % b.kernel[1], h = w / (b.kernel[1] * b.kernel[2]) % b.kernel[0];
        const int64_t c = w / (b.kernel[0] * b.kernel[1] * b.kernel[2]), weight = o * in_group * b.kernel[0] * b.kernel[1] * b.kernel[2] + w;
        for (int64_t z = 0; z < b.out[0]; ++z) {
          const int64_t layer = source(0, z, h);
          if (!inside(0, layer)) continue;
          for (int64_t y = 0; y < b.out[1]; ++y) {
            const int64_t row = source(1, y, i);
            if (!inside(1, row)) continue;
            const int64_t to = (((n * b.o + o) * b.out[0] + z) * b.out[1] + y) * b.out[2], from = (first + c) * image + (layer * b.in[1] + row) * b.in[2];
            for (int64_t x = 0; x < b.out[2]; ++x) {
              const int64_t column = source(2, x, j);
              if (inside(2, column)) f(to + x, from + column, weight);
            }
          }
        }
      }
    }
  }
}

template <class T>
using Sums = std::vector<Math<T>>;
template <class T>
Sums<T> zeros_for(const Tensor& t) {
  return Sums<T>(t.defined() ? static_cast<size_t>(t.numel()) : 0);
}
template <class T>
void store(const Sums<T>& sums, const Tensor& t) {
  for (size_t i = 0; i < sums.size(); ++i) t.data_as<T>()[i] = static_cast<T>(sums[i]);
}
// Every element starts as its channel's bias.
template <class T>
Sums<T> from_bias(const std::optional<Tensor>& bias, const Tensor& out, int64_t channels) {
  Sums<T> sums = zeros_for<T>(out);
  const int64_t image = out.numel() / std::max<int64_t>(1, out.size(0) * channels);
  for (size_t i = 0; i < sums.size() && given(bias); ++i) sums[i] = static_cast<Math<T>>(bias->data_as<T>()[static_cast<int64_t>(i) / image % channels * bias->strides()[0]]);
  return sums;
}
template <class T>
void bias_gradient(const Tensor& grad, const Tensor& db, int64_t channels) {
  std::vector<double> sums(static_cast<size_t>(channels));
  const int64_t image = grad.numel() / std::max<int64_t>(1, grad.size(0) * channels);
  for (int64_t i = 0; i < grad.numel(); ++i) sums[static_cast<size_t>(i / image % channels)] += static_cast<double>(static_cast<Math<T>>(grad.data_as<T>()[i]));
  for (size_t i = 0; i < sums.size(); ++i) db.data_as<T>()[i] = static_cast<T>(sums[i]);
}

}  // namespace

Box box_of(Sizes input, Sizes weight, Sizes stride, Sizes padding, Sizes dilation, int64_t groups) {
  Box b{.n = input[0], .c = input[1], .o = weight[0], .groups = groups, .dims = weight.size() - 2};
  for (size_t d = 0; d < b.dims; ++d) {
    const size_t to = d + 3 - b.dims;
    b.in[to] = input[d + 2];
    b.kernel[to] = weight[d + 2];
    b.stride[to] = at(stride, d, 1);
    b.padding[to] = at(padding, d, 0);
    b.dilation[to] = at(dilation, d, 1);
    b.out[to] = (b.in[to] + 2 * b.padding[to] - b.dilation[to] * (b.kernel[to] - 1) - 1) / b.stride[to] + 1;
  }
  return b;
}
Box mirrored(Sizes input, Sizes weight, Sizes stride, Sizes padding, Sizes dilation, Sizes output_padding, int64_t groups) {
  Box b = box_of(input, weight, stride, padding, dilation, groups);
  b.c = weight[1] * groups;
  b.o = input[1];
  for (size_t d = 0; d < b.dims; ++d) {
    const size_t to = d + 3 - b.dims;
    b.out[to] = input[d + 2];
    b.in[to] = (b.out[to] - 1) * b.stride[to] - 2 * b.padding[to] + b.dilation[to] * (b.kernel[to] - 1) + at(output_padding, d, 0) + 1;
  }
  return b;
}

void convolve(const Box& b, const Tensor& in, const Tensor& weight, const std::optional<Tensor>& bias, const Tensor& out) {
  with_floating(in.dtype(), "convolution", [&]<class T>(T) {
    Sums<T> sums = from_bias<T>(bias, out, b.o);
    each_product(b, [&, x = in.data_as<T>(), w = weight.data_as<T>()](int64_t o, int64_t i, int64_t k) {
      sums[static_cast<size_t>(o)] += static_cast<Math<T>>(x[i]) * static_cast<Math<T>>(w[k]);
    });
    store<T>(sums, out);
  });
}
void convolve_backward(const Box& b, const Tensor& grad, const Tensor& in, const Tensor& weight, const Tensor& dx, const Tensor& dw, const Tensor& db) {
  with_floating(grad.dtype(), "convolution_backward", [&]<class T>(T) {
    Sums<T> of_x = zeros_for<T>(dx), of_w = zeros_for<T>(dw);
    each_product(b, [&, g = grad.data_as<T>(), x = in.data_as<T>(), w = weight.data_as<T>()](int64_t o, int64_t i, int64_t k) {
      if (!of_x.empty()) of_x[static_cast<size_t>(i)] += static_cast<Math<T>>(g[o]) * static_cast<Math<T>>(w[k]);
      if (!of_w.empty()) of_w[static_cast<size_t>(k)] += static_cast<Math<T>>(g[o]) * static_cast<Math<T>>(x[i]);
    });
    store<T>(of_x, dx);
    store<T>(of_w, dw);
    if (db.defined()) bias_gradient<T>(grad, db, b.o);
  });
}
void convolve_transposed(const Box& b, const Tensor& in, const Tensor& weight, const std::optional<Tensor>& bias, const Tensor& out) {
  with_floating(in.dtype(), "transposed_convolution", [&]<class T>(T) {
    Sums<T> sums = from_bias<T>(bias, out, b.c);
    each_product(b, [&, x = in.data_as<T>(), w = weight.data_as<T>()](int64_t i, int64_t o, int64_t k) {
      sums[static_cast<size_t>(o)] += static_cast<Math<T>>(x[i]) * static_cast<Math<T>>(w[k]);
    });
    store<T>(sums, out);
  });
}
void convolve_transposed_backward(const Box& b, const Tensor& grad, const Tensor& in, const Tensor& weight, const Tensor& dx, const Tensor& dw, const Tensor& db) {
  with_floating(grad.dtype(), "transposed_convolution_backward", [&]<class T>(T) {
    Sums<T> of_x = zeros_for<T>(dx), of_w = zeros_for<T>(dw);
    each_product(b, [&, g = grad.data_as<T>(), x = in.data_as<T>(), w = weight.data_as<T>()](int64_t i, int64_t o, int64_t k) {
      if (!of_x.empty()) of_x[static_cast<size_t>(i)] += static_cast<Math<T>>(g[o]) * static_cast<Math<T>>(w[k]);
      if (!of_w.empty()) of_w[static_cast<size_t>(k)] += static_cast<Math<T>>(g[o]) * static_cast<Math<T>>(x[i]);
    });
    store<T>(of_x, dx);
    store<T>(of_w, dw);
    if (db.defined()) bias_gradient<T>(grad, db, b.c);
  });
}

}  // namespace peel::kernels
