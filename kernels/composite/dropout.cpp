// Dropout in its forms.
#include <cmath>

#include "core/dispatch/error.h"
#include "core/tensor/nested.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// Whole features: one number for each image and channel.
enum class Noise : uint8_t { kElements, kFeatures };
// The numbers that the input is multiplied with, and for alpha dropout those that are added then; none: the input stays as it is, or all of it goes.
struct Dropped {
  bool nothing = false;
  Tensor noise, shift;
};
Dropped dropped(const Tensor& input, double p, bool train, Noise kind, bool alpha) {
  if (p < 0 || p > 1) throw Error("dropout probability has to be between 0 and 1, but got " + std::to_string(p));
  Dropped d;
  d.nothing = p == 0 || !train || input.numel() == 0;
  if (d.nothing) return d;
  if (p == 1) {
    d.noise = ops::zeros::call(Sizes(), input.dtype(), Layout::Strided, input.device());
    return d;
  }
  if (kind == Noise::kFeatures) {
    if (input.dim() < 2) throw Error("Feature dropout requires at least 2 dimensions in the input");
    SizeVector shape{input.size(0), input.size(1)};
    shape.resize(input.sizes().size(), 1);
    d.noise = ops::new_empty::call(input, shape);
  } else {
    d.noise = ops::empty_like::call(input);
  }
  ops::bernoulli__float::call(d.noise, 1 - p);
  if (!alpha) {
    ops::div__Scalar::call(d.noise, 1 - p);
    return d;
  }
  constexpr double kAlpha = 1.7580993408473766;
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  d.shift = ops::add_Scalar::call(d.noise, -1);
  ops::mul__Scalar::call(d.shift, kAlpha * a);
  ops::add__Scalar::call(d.shift, kAlpha * a * p);
  ops::mul__Scalar::call(d.noise, a);
  return d;
}
Tensor drop(const Tensor& input, const Dropped& d) {
  if (d.nothing) return input;
  Tensor out = ops::mul_Tensor::call(input, d.noise);
  return d.shift.defined() ? ops::add__Tensor::call(out, d.shift) : out;
}
Tensor& drop_in_place(Tensor& self, const Dropped& d) {
  if (d.nothing) return self;
  ops::mul__Tensor::call(self, d.noise);
  return d.shift.defined() ? ops::add__Tensor::call(self, d.shift) : self;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  if (is_nested(input) && p >= 0 && p <= 1) return std::get<0>(ops::native_dropout::call(input, p, train));
  return drop(input, dropped(input, p, train, Noise::kElements, false));
}
Tensor feature_dropout(const Tensor& input, double p, bool train) { return drop(input, dropped(input, p, train, Noise::kFeatures, false)); }
Tensor alpha_dropout(const Tensor& input, double p, bool train) { return drop(input, dropped(input, p, train, Noise::kElements, true)); }
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) { return drop(input, dropped(input, p, train, Noise::kFeatures, true)); }
Tensor& dropout_(Tensor& self, double p, bool train) { return drop_in_place(self, dropped(self, p, train, Noise::kElements, false)); }
Tensor& feature_dropout_(Tensor& self, double p, bool train) { return drop_in_place(self, dropped(self, p, train, Noise::kFeatures, false)); }
Tensor& alpha_dropout_(Tensor& self, double p, bool train) { return drop_in_place(self, dropped(self, p, train, Noise::kElements, true)); }
Tensor& feature_alpha_dropout_(Tensor& self, double p, bool train) { return drop_in_place(self, dropped(self, p, train, Noise::kFeatures, true)); }

}  // namespace peel::kernels
