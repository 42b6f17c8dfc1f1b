// What a convolution computes, whatever path its calls take: pictures are volumes of one layer.
#pragma once
#include <algorithm>
#include <array>
#include <tuple>

#include "kernels/cpu/rows.h"

namespace peel::kernels {

using ThreeGradients = std::tuple<Tensor, Tensor, Tensor>;  // of input, weight and bias

struct Box {
  using Three = std::array<int64_t, 3>;  // layers, rows, columns
  int64_t n, c, o, groups;
  Three in{1, 1, 1}, kernel{1, 1, 1}, out{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};
  size_t dims;
  int64_t places() const { return out[0] * out[1] * out[2]; }
  /// `n, channels` and the sizes of the dimensions that there are.
  SizeVector shape(int64_t channels, const Three& sizes) const {
    SizeVector s{n, channels};
    s.insert(s.end(), sizes.end() - static_cast<ptrdiff_t>(dims), sizes.end());
    return s;
  }
};
/// Of a batch and a weight of four or five dimensions.
Box box_of(Sizes input, Sizes weight, Sizes stride, Sizes padding, Sizes dilation, int64_t groups);
/// The convolution of which a transposed one is the gradient: its input is our result.
Box mirrored(Sizes input, Sizes weight, Sizes stride, Sizes padding, Sizes dilation, Sizes output_padding, int64_t groups);

/// out = bias + sum of products; everything row-major.
void convolve(const Box&, const Tensor& in, const Tensor& weight, const std::optional<Tensor>& bias, const Tensor& out);
/// Those of dx, dw and db that are defined.
void convolve_backward(const Box&, const Tensor& grad, const Tensor& in, const Tensor& weight, const Tensor& dx, const Tensor& dw, const Tensor& db);
/// The same of a transposed one, by the box that `mirrored` gives.
void convolve_transposed(const Box&, const Tensor& in, const Tensor& weight, const std::optional<Tensor>& bias, const Tensor& out);
void convolve_transposed_backward(const Box&, const Tensor& grad, const Tensor& in, const Tensor& weight, const Tensor& dx, const Tensor& dw, const Tensor& db);

/// Stock's path without oneDNN, of one group: which operator it calls follows from the shapes.
struct Steps {
  SizeVector stride, padding, dilation;
  bool transposed;
  SizeVector output_padding;
};
Tensor slow_convolution(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias, const Steps&);
ThreeGradients slow_convolution_backward(const Tensor& grad, const Tensor& input, const Tensor& weight, const Steps&, std::array<bool, 3> wanted);

inline bool given(const std::optional<Tensor>& t) { return t && t->defined(); }
inline bool more_than_one(Sizes s) {
  return std::ranges::any_of(s, [](int64_t v) { return v != 1; });
}

}  // namespace peel::kernels
