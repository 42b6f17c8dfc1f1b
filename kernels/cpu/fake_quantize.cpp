// Numbers rounded as if they were kept in few bits, and which of them fitted: gradients go through those.
#include <algorithm>
#include <cmath>

#include "core/dispatch/error.h"
#include "kernels/cpu/walk.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void check_range(int64_t low, int64_t high) {
  if (low > high) throw Error("`quant_min` should be less than or equal to `quant_max`.");
}

// What stock makes of them; the mask's dtype is bool.
std::tuple<Tensor, Tensor> results(const Tensor& self) {
  const Tensor out = ops::empty_like::call(self, self.dtype(), Layout::Strided, self.device(), {}, MemoryFormat::Preserve);
  return {out, ops::empty_like::call(self, ScalarType::Bool, {}, {}, {}, MemoryFormat::Preserve)};
}

// In float, as stock computes it: to the nearest even step, with the zero point added afterwards.
struct Steps {
  float scale, inverse;
  int64_t zero, low, high;
  Steps(float scale, int64_t zero, int64_t low, int64_t high) : scale(scale), inverse(1.0F / scale), zero(zero), low(low), high(high) {}
  // A walk writes one tensor: the values, then which of them fitted.
  template <class T>
  void apply(const Tensor& out, const Tensor& mask, const Tensor& in) const {
    Walk<2> values(in.sizes()), fits(in.sizes());
    values.set(0, out);
    values.set(1, in);
    each<T, T>(values, [this](T& o, T x) { o = static_cast<T>(static_cast<float>(std::clamp(step(x), low, high) - zero) * scale); });
    fits.set(0, mask);
    fits.set(1, in);
    each<bool, T>(fits, [this](bool& m, T x) { m = low <= step(x) && step(x) <= high; });
  }
  template <class T>
  int64_t step(T x) const {
    return static_cast<int64_t>(std::nearbyint(static_cast<float>(x) * inverse)) + zero;
  }
};

}  // namespace

std::tuple<Tensor, Tensor> fake_quantize_per_tensor_affine_cachemask(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  check_range(quant_min, quant_max);
  if (zero_point < quant_min || zero_point > quant_max) throw Error("`zero_point` must be between `quant_min` and `quant_max`.");
  const auto [out, mask] = results(self);
  const Steps steps(static_cast<float>(scale), zero_point, quant_min, quant_max);
  with_floating(self.dtype(), "fake_quantize_tensor_cachemask_kernel_type_handling", [&, &out = out, &mask = mask]<class T>(T) {
    steps.apply<T>(out, mask, self);
  });
  return {out, mask};
}

std::tuple<Tensor, Tensor> fake_quantize_per_channel_affine_cachemask(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min,
                                                                      int64_t quant_max) {
  if (scale.dtype() != ScalarType::Float) throw Error(std::string("Scale must be Float, found ") + to_string(scale.dtype()));
  if (scale.dim() != 1) throw Error("scale should be a 1-D tensor");
  if (zero_point.dim() != 1) throw Error("zero point should be a 1-D tensor");
  if (scale.numel() != zero_point.numel()) throw Error("scale and zero-point need to have the same dimensions");
  if (axis < 0 || axis >= self.dim()) throw Error("`axis` must be between 0 and number of dimensions of input");
  if (scale.numel() != self.size(axis)) throw Error("dimensions of scale and zero-point are not consistent with input tensor");
  check_range(quant_min, quant_max);
  const int64_t least = ops::item::call(ops::min::call(zero_point)).value.to_int(), most = ops::item::call(ops::max::call(zero_point)).value.to_int();
  if (least < quant_min || most > quant_max) throw Error("`zero_point` must be between `quant_min` and `quant_max`.");
  const auto [out, mask] = results(self);
  for (int64_t i = 0; i < self.size(axis); ++i) {
    const auto part = [&](const Tensor& t) {
      SizeVector sizes(t.sizes().begin(), t.sizes().end());
      sizes[static_cast<size_t>(axis)] = 1;
      return view_of(t, sizes, t.strides(), t.storage_offset() + i * t.strides()[static_cast<size_t>(axis)]);
    };
    const float s = scale.data_as<float>()[i * scale.strides()[0]];
    const int64_t at = i * zero_point.strides()[0];
    const int64_t zero = zero_point.dtype() == ScalarType::Int ? zero_point.data_as<int32_t>()[at] : ops::item::call(ops::select_int::call(zero_point, 0, i)).value.to_int();
    const Steps steps(s, zero, quant_min, quant_max);
    with_floating(self.dtype(), "fake_quantize_channel_cachemask_cpu_type_handling", [&, &out = out, &mask = mask]<class T>(T) {
      steps.apply<T>(part(out), part(mask), part(self));
    });
  }
  return {out, mask};
}

Tensor fake_quantize_per_tensor_affine(const Tensor& self, double scale, int64_t zero_point, int64_t quant_min, int64_t quant_max) {
  return std::get<0>(ops::fake_quantize_per_tensor_affine_cachemask::call(self, scale, zero_point, quant_min, quant_max));
}
Tensor fake_quantize_per_channel_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, int64_t axis, int64_t quant_min, int64_t quant_max) {
  return std::get<0>(ops::fake_quantize_per_channel_affine_cachemask::call(self, scale, zero_point, axis, quant_min, quant_max));
}

namespace {

Tensor through_mask(const Tensor& grad, const Tensor& mask) {
  if (mask.dtype() != ScalarType::Bool) throw Error("Expected `mask` to be of type `at::kBool`");
  if (mask.numel() != grad.numel()) throw Error("`mask` and `dY` are not the same size");
  return ops::mul_Tensor::call(grad, mask);
}

}  // namespace

Tensor fake_quantize_per_tensor_affine_cachemask_backward(const Tensor& grad, const Tensor& mask) { return through_mask(grad, mask); }
Tensor fake_quantize_per_channel_affine_cachemask_backward(const Tensor& grad, const Tensor& mask) { return through_mask(grad, mask); }

}  // namespace peel::kernels
