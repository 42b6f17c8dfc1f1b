// Convolutions whose padding is told by a word: "valid" pads nothing, "same" as much as the result takes to be as large as the input.
#include "core/autograd/fallback.h"
#include "core/dispatch/error.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

Optional or_undefined(const Optional& bias) { return bias ? bias : Optional(Tensor()); }

Tensor batched(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, std::string_view padding, Sizes dilation, int64_t groups, int64_t dims) {
  const bool single = input.dim() == dims + 1;
  if (!single && input.dim() != dims + 2) {
    throw Error("Expected " + std::to_string(dims + 1) + "D (unbatched) or " + std::to_string(dims + 2) + "D (batched) input to conv" + std::to_string(dims) +
                "d, but got input of size: " + to_text(input.sizes()));
  }
  const Tensor out = ops::_convolution_mode::call(single ? ops::unsqueeze::call(input, 0) : input, weight, bias, stride, padding, dilation, groups);
  return single ? ops::squeeze_dim::call(out, 0) : out;
}

Tensor same(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, Sizes dilation, int64_t groups) {
  const auto dims = static_cast<size_t>(weight.dim() - 2);
  for (const int64_t s : stride) {
    if (s != 1) throw Error("padding='same' is not supported for strided convolutions");
  }
  SizeVector padding(dims), more(2 * dims, 0);
  bool uneven = false;
  for (size_t d = 0; d < dims; ++d) {
    const int64_t total = dilation[dilation.size() == 1 ? 0 : d] * (weight.sizes()[d + 2] - 1);
    padding[d] = total / 2;
    more[2 * (dims - 1 - d) + 1] = total % 2;
    uneven = uneven || total % 2;
  }
  Tensor in = input;
  if (uneven) {
    warn("Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be created");
    in = ops::constant_pad_nd::call(input, more, Scalar(int64_t{0}));
  }
  return ops::convolution::call(in, weight, or_undefined(bias), stride, padding, dilation, false, SizeVector(dims, 0), groups);
}

}  // namespace

Tensor conv1d_padding(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, std::string_view padding, Sizes dilation, int64_t groups) {
  return batched(input, weight, bias, stride, padding, dilation, groups, 1);
}
Tensor conv2d_padding(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, std::string_view padding, Sizes dilation, int64_t groups) {
  return batched(input, weight, bias, stride, padding, dilation, groups, 2);
}
Tensor conv3d_padding(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, std::string_view padding, Sizes dilation, int64_t groups) {
  return batched(input, weight, bias, stride, padding, dilation, groups, 3);
}
Tensor _convolution_mode(const Tensor& input, const Tensor& weight, const Optional& bias, Sizes stride, std::string_view padding, Sizes dilation, int64_t groups) {
  if (padding == "same") return same(input, weight, bias, stride, dilation, groups);
  if (padding != "valid") throw Error("Invalid padding string: '" + std::string(padding) + "'");
  return ops::convolution::call(input, weight, or_undefined(bias), stride, SizeVector{0}, dilation, false, SizeVector{0}, groups);
}

}  // namespace peel::kernels
