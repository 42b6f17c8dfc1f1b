// Convolutions as stock makes them without oneDNN: the calls are those of its columns and products, the sums are computed at once.
#include "kernels/cpu/convolution.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

Tensor fresh(Sizes shape, const Tensor& like) { return ops::empty_memory_format::call(shape, like.dtype(), Layout::Strided, like.device()); }
Tensor nothing_yet(const Tensor& like) { return fresh(SizeVector{0}, like); }
SizeVector kernel_of(const Tensor& weight) { return {weight.sizes().begin() + 2, weight.sizes().end()}; }
SizeVector columns(const Box& b) { return {b.n, b.c * b.kernel[0] * b.kernel[1] * b.kernel[2], b.places()}; }

bool of_one_place(const Box& b) {
  const Box::Three one{1, 1, 1}, none{0, 0, 0};
  return b.kernel == one && b.stride == one && b.padding == none;
}
// Stock's columns of the input: it itself for a kernel of one place.
void unfolded(const Box& b, const Tensor& self) {
  if (of_one_place(b)) ops::detach::call(ops::view::call(self, columns(b)));
  else fresh(columns(b), self);
}
void sum_bias(const Tensor& grad, Tensor& db) {
  SizeVector dims{0};
  for (int64_t d = 2; d < grad.dim(); ++d) dims.push_back(d);
  ops::sum_IntList_out::call(grad, dims, false, {}, db);
}
// Each image of a batch is looked at alone, in so many tensors.
void look_at_images(const Tensor& batch, int64_t tensors) {
  for (int64_t i = 0; i < batch.size(0) * tensors; ++i) ops::select_int::call(batch, 0, i / tensors);
}

// ---- a product of columns

Tensor by_columns(const Tensor& self, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding) {
  const Box b = box_of(self.sizes(), weight.sizes(), stride, padding, {}, 1);
  Tensor out = nothing_yet(self);
  ops::view::call(weight, SizeVector{b.o, -1});
  unfolded(b, self);
  ops::resize_::call(out, b.shape(b.o, b.out));
  if (given(bias)) {
    SizeVector one(b.dims + 2, 1);
    one[1] = b.o;
    const Tensor wide = ops::reshape::call(*bias, one);
    ops::copy_::call(out, wide);
  }
  convolve(b, self, weight, bias, out);
  return out;
}
ThreeGradients by_columns_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight, Sizes stride, Sizes padding, std::array<bool, 3> wanted) {
  const Box b = box_of(self.sizes(), weight.sizes(), stride, padding, {}, 1);
  Tensor dx, dw, db;
  if (wanted[0]) dx = nothing_yet(grad_output);
  if (wanted[1]) dw = nothing_yet(grad_output);
  if (wanted[2]) db = nothing_yet(grad_output);
  Tensor g = grad_output;
  if (dx.defined()) {
    ops::view::call(weight, SizeVector{b.o, -1});
    g = made_contiguous(grad_output);
    ops::resize_as_::call(dx, self);
    if (b.dims == 3) fresh(columns(b), self);
    else ops::zero_::call(dx);
  }
  if (db.defined()) sum_bias(grad_output, db);
  if (dw.defined()) {
    ops::resize_::call(dw, weight.sizes());
    ops::zero_::call(dw);
    ops::view::call(dw, SizeVector{b.o, -1});
    g = made_contiguous(grad_output);
    unfolded(b, self);
  }
  convolve_backward(b, g, self, weight, dx, dw, {});
  return {dx, dw, db};
}

// ---- dilated

Tensor dilated(const Tensor& self, const Tensor& weight, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation) {
  const Box b = box_of(self.sizes(), weight.sizes(), stride, padding, dilation, 1);
  Tensor out = fresh(b.shape(b.o, b.out), self), memory = nothing_yet(self);
  ops::resize_::call(memory, Sizes(columns(b)).last(2));
  if (!given(bias)) ops::zero_::call(out);
  for (int64_t n = 0; n < b.n; ++n) {
    ops::select_int::call(self, 0, n);
    const Tensor image = ops::select_int::call(out, 0, n);
    for (int64_t c = 0; c < b.o && given(bias); ++c) {
      const Tensor value = ops::select_int::call(*bias, 0, c);
      Tensor channel = ops::select_int::call(image, 0, c);
      ops::fill__Tensor::call(channel, value);
    }
  }
  convolve(b, self, weight, bias, out);
  return out;
}
ThreeGradients dilated_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight, const Steps& s, std::array<bool, 3> wanted) {
  const Box b = box_of(self.sizes(), weight.sizes(), s.stride, s.padding, s.dilation, 1);
  const Tensor g = made_contiguous(grad_output);
  Tensor dx, dw, db;
  if (wanted[0]) dx = fresh(self.sizes(), g);
  if (wanted[1]) dw = fresh(weight.sizes(), g);
  if (wanted[2]) db = fresh(SizeVector{b.o}, g);
  Tensor memory = nothing_yet(self);
  if (wanted[0] || wanted[1]) ops::resize_::call(memory, Sizes(columns(b)).last(2));
  if (wanted[1]) ops::zero_::call(dw);
  if (wanted[2]) ops::zero_::call(db);
  for (int64_t n = 0; n < b.n; ++n) {
    const Tensor image = ops::select_int::call(g, 0, n);
    if (wanted[0]) ops::select_int::call(dx, 0, n);
    ops::select_int::call(self, 0, n);
    if (!wanted[2]) continue;
    SizeVector dims;
    for (int64_t d = 1; d < image.dim(); ++d) dims.push_back(d);
    const Tensor sum = ops::sum_dim_IntList::call(image, dims, false, {});
    ops::add__Tensor::call(db, sum);
  }
  convolve_backward(b, g, self, weight, dx, dw, {});
  return {dx, dw, db};
}

// ---- transposed

ThreeGradients transposed_picture_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight, const Steps& s, std::array<bool, 3> wanted) {
  const Box b = mirrored(self.sizes(), weight.sizes(), s.stride, s.padding, s.dilation, s.output_padding, 1);
  const SizeVector memory{b.c * b.kernel[1] * b.kernel[2], b.places()};
  Tensor dx, dw, db, g = grad_output;
  if (wanted[0]) dx = nothing_yet(grad_output);
  if (wanted[1]) dw = nothing_yet(grad_output);
  if (wanted[2]) db = nothing_yet(grad_output);
  const auto fold = [&](Tensor& result, Sizes shape) {
    g = made_contiguous(grad_output);
    ops::resize_::call(result, shape);
    ops::zero_::call(result);
    Tensor held = nothing_yet(self);
    ops::resize_::call(held, memory);
    look_at_images(self, 2);
  };
  if (dx.defined()) fold(dx, self.sizes());
  if (db.defined()) sum_bias(grad_output, db);
  if (dw.defined()) fold(dw, weight.sizes());
  convolve_transposed_backward(b, g, self, weight, dx, dw, {});
  return {dx, dw, db};
}
ThreeGradients transposed_volume_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight, const Steps& s, std::array<bool, 3> wanted) {
  const Box b = mirrored(self.sizes(), weight.sizes(), s.stride, s.padding, s.dilation, s.output_padding, 1);
  const SizeVector memory{b.c * b.kernel[0] * b.kernel[1] * b.kernel[2], b.places()};
  Tensor dx, dw, db, g = grad_output;
  if (wanted[0]) dx = nothing_yet(grad_output);
  if (wanted[1]) dw = nothing_yet(grad_output);
  if (wanted[2]) db = nothing_yet(grad_output);
  if (dx.defined()) {
    g = made_contiguous(grad_output);
    ops::resize_::call(dx, self.sizes());
    ops::zero_::call(dx);
    if (!of_one_place(b)) fresh(memory, self);
    look_at_images(self, 2);
  }
  if (dw.defined()) {
    ops::resize_::call(dw, weight.sizes());
    ops::zero_::call(dw);
  }
  if (db.defined()) {
    ops::resize_::call(db, SizeVector{b.c});
    ops::zero_::call(db);
  }
  if (dw.defined() || db.defined()) {
    g = made_contiguous(grad_output);
    if (dw.defined()) {
      if (!of_one_place(b)) fresh(memory, self);
      look_at_images(self, 2);
    }
    if (db.defined()) sum_bias(g, db);
  }
  convolve_transposed_backward(b, g, self, weight, dx, dw, {});
  return {dx, dw, db};
}

}  // namespace

Tensor slow_convolution(const Tensor& input, const Tensor& weight, const Optional& bias, const Steps& s) {
  const SizeVector kernel = kernel_of(weight);
  const bool volume = kernel.size() == 3;
  if (s.transposed) {
    return volume ? ops::slow_conv_transpose3d::call(input, weight, kernel, bias, s.stride, s.padding, s.output_padding, s.dilation)
                  : ops::slow_conv_transpose2d::call(input, weight, kernel, bias, s.stride, s.padding, s.output_padding, s.dilation);
  }
  if (more_than_one(s.dilation)) {
    return volume ? ops::slow_conv_dilated3d::call(input, weight, kernel, bias, s.stride, s.padding, s.dilation)
                  : ops::slow_conv_dilated2d::call(input, weight, kernel, bias, s.stride, s.padding, s.dilation);
  }
  return volume ? ops::slow_conv3d::call(input, weight, kernel, bias, s.stride, s.padding) : ops::thnn_conv2d::call(input, weight, kernel, bias, s.stride, s.padding);
}
ThreeGradients slow_convolution_backward(const Tensor& grad, const Tensor& input, const Tensor& weight, const Steps& s, std::array<bool, 3> wanted) {
  const bool volume = weight.dim() == 5;
  if (s.transposed) return volume ? transposed_volume_backward(grad, input, weight, s, wanted) : transposed_picture_backward(grad, input, weight, s, wanted);
  if (more_than_one(s.dilation)) return dilated_backward(grad, input, weight, s, wanted);
  if (volume) return by_columns_backward(grad, input, weight, s.stride, s.padding, wanted);
  return ops::_slow_conv2d_backward_output_mask::call(grad, input, weight, kernel_of(weight), s.stride, s.padding, wanted);
}

Tensor thnn_conv2d(const Tensor& self, const Tensor& weight, Sizes kernel_size, const Optional& bias, Sizes stride, Sizes padding) {
  return ops::_slow_conv2d_forward::call(self, weight, kernel_size, bias, stride, padding);
}
Tensor _slow_conv2d_forward(const Tensor& self, const Tensor& weight, Sizes, const Optional& bias, Sizes stride, Sizes padding) {
  return by_columns(self, weight, bias, stride, padding);
}
ThreeGradients _slow_conv2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight, Sizes, Sizes stride, Sizes padding, std::array<bool, 3> output_mask) {
  return by_columns_backward(grad_output, self, weight, stride, padding, output_mask);
}
Tensor slow_conv3d(const Tensor& self, const Tensor& weight, Sizes kernel_size, const Optional& bias, Sizes stride, Sizes padding) {
  return ops::slow_conv3d_forward::call(self, weight, kernel_size, bias, stride, padding);
}
Tensor slow_conv3d_forward(const Tensor& self, const Tensor& weight, Sizes, const Optional& bias, Sizes stride, Sizes padding) {
  return by_columns(self, weight, bias, stride, padding);
}
Tensor slow_conv_dilated2d(const Tensor& self, const Tensor& weight, Sizes, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation) {
  return dilated(self, weight, bias, stride, padding, dilation);
}
Tensor slow_conv_dilated3d(const Tensor& self, const Tensor& weight, Sizes, const Optional& bias, Sizes stride, Sizes padding, Sizes dilation) {
  return dilated(self, weight, bias, stride, padding, dilation);
}
Tensor slow_conv_transpose2d(const Tensor& self, const Tensor& weight, Sizes, const Optional& bias, Sizes stride, Sizes padding, Sizes output_padding, Sizes dilation) {
  const Box b = mirrored(self.sizes(), weight.sizes(), stride, padding, dilation, output_padding, 1);
  Tensor out = empty(b.shape(b.c, b.in), self.dtype(), self.device()), held = nothing_yet(self);
  ops::resize_::call(held, SizeVector{b.c * b.kernel[1] * b.kernel[2], b.places()});
  ops::zero_::call(held);
  look_at_images(self, 3);
  if (!given(bias)) {
    convolve_transposed(b, self, weight, {}, out);
    return out;
  }
  const Tensor wide = ops::reshape::call(*bias, SizeVector{1, b.c, 1, 1});
  convolve_transposed(b, self, weight, {}, out);
  return ops::add__Tensor::call(out, wide);
}
Tensor slow_conv_transpose3d(const Tensor& self, const Tensor& weight, Sizes, const Optional& bias, Sizes stride, Sizes padding, Sizes output_padding, Sizes dilation) {
  const Box b = mirrored(self.sizes(), weight.sizes(), stride, padding, dilation, output_padding, 1);
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::resize_::call(out, b.shape(b.c, b.in));
  fresh(SizeVector{b.c * b.kernel[0] * b.kernel[1] * b.kernel[2], b.places()}, self);
  if (given(bias)) ops::ones::call(SizeVector{b.in[0], b.in[1], b.in[2]}, self.dtype(), Layout::Strided, self.device(), {});
  look_at_images(self, 2);
  convolve_transposed(b, self, weight, bias, out);
  return out;
}

}  // namespace peel::kernels
