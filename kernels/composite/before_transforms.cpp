// Composites that a transform of torch.func meets before it begins: other steps than usual, so that nothing is written that a transform couldn't batch.
#include <algorithm>
#include <cmath>

#include "core/autograd/formulas.h"
#include "core/dispatch/library.h"
#include "core/functorch/layers.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/load.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using namespace core::functorch;

bool is_given(const std::optional<Tensor>& t) { return t && t->defined(); }

Tensor linear_of(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const Tensor across = ops::t::call(weight);
  if (input.dim() == 2 && is_given(bias)) return ops::addmm::call(*bias, input, across, 1, 1);
  if (input.dim() == 3 && is_given(bias) && input.is_contiguous()) {
    const Sizes s = input.sizes();
    const Tensor flat = ops::view::call(input, SizeVector{s[0] * s[1], s[2]});
    const Tensor out = ops::addmm::call(*bias, flat, across, 1, 1);
    return ops::view::call(out, SizeVector{s[0], s[1], out.sizes()[1]});
  }
  Tensor out = ops::matmul::call(input, across);
  if (!is_given(bias)) return out;
  const bool batches = std::ranges::any_of(layers(), [](const Layer& l) { return l.transform == Transform::kVmap; });
  return batches ? ops::add_Tensor::call(out, *bias, 1) : ops::add__Tensor::call(out, *bias, 1);
}

Tensor logits_loss(const Tensor& input, const Tensor& target, const std::optional<Tensor>& weight, const std::optional<Tensor>& pos_weight, int64_t reduction) {
  const Tensor low = ops::clamp_min::call(ops::neg::call(input), 0);
  const auto log_sum = [&] {
    Tensor a = ops::neg::call(low);
    ops::exp_::call(a);
    Tensor b = ops::sub_Tensor::call(ops::neg::call(input), low, 1);
    ops::exp_::call(b);
    Tensor sum = ops::add_Tensor::call(a, b, 1);
    return ops::log_::call(sum);
  };
  Tensor loss;
  if (is_given(pos_weight)) {
    Tensor log_weight = ops::mul_Tensor::call(ops::sub_Scalar::call(*pos_weight, 1, 1), target);
    ops::add__Scalar::call(log_weight, 1, 1);
    loss = ops::mul_Tensor::call(formulas::number_minus(1, target), input);
    Tensor rest = log_sum();
    ops::add__Tensor::call(rest, low, 1);
    ops::add__Tensor::call(loss, ops::mul_Tensor::call(log_weight, rest), 1);
  } else {
    loss = ops::mul_Tensor::call(formulas::number_minus(1, target), input);
    ops::add__Tensor::call(loss, low, 1);
    const Tensor rest = log_sum();
    ops::add__Tensor::call(loss, rest, 1);
  }
  if (is_given(weight)) loss = ops::mul_Tensor::call(loss, *weight);
  if (reduction == 1) return ops::mean::call(loss, {});
  return reduction == 2 ? ops::sum::call(loss, {}) : loss;
}

enum class Kind : uint8_t { kPlain, kFeature, kAlpha };

Tensor dropped(Kind kind, const Tensor& input, double p, bool train) {
  if (p < 0 || p > 1) throw Error("dropout probability has to be between 0 and 1, but got " + std::to_string(p));
  if (p == 0 || !train || input.numel() == 0) return input;
  const auto empty = [&](Sizes s) { return ops::empty_memory_format::call(s, input.dtype(), Layout::Strided, input.device(), {}, {}); };
  if (p == 1) return ops::mul_Tensor::call(input, ops::zeros::call(SizeVector{}, input.dtype(), Layout::Strided, input.device(), {}));
  Tensor noise;
  if (kind == Kind::kFeature) {
    if (input.dim() < 2) throw Error("Feature dropout requires at least 2 dimensions in the input");
    SizeVector sizes(input.sizes().begin(), input.sizes().begin() + 2);
    sizes.resize(input.sizes().size(), 1);
    noise = empty(sizes);
  } else {
    noise = ops::expand::call(empty(SizeVector{}), input.sizes(), false);
  }
  noise = ops::bernoulli_p::call(noise, 1 - p, {});
  if (kind != Kind::kAlpha) {
    ops::div__Scalar::call(noise, 1 - p);
    return ops::mul_Tensor::call(input, noise);
  }
  constexpr double kAlphaValue = 1.7580993408473766;
  const double a = 1 / std::sqrt((kAlphaValue * kAlphaValue * p + 1) * (1 - p));
  Tensor shift = ops::add_Scalar::call(noise, -1, 1);
  ops::mul__Scalar::call(shift, kAlphaValue * a);
  ops::add__Scalar::call(shift, kAlphaValue * a * p, 1);
  ops::mul__Scalar::call(noise, a);
  Tensor out = ops::mul_Tensor::call(input, noise);
  return ops::add__Tensor::call(out, shift, 1);
}
Tensor dropout_of(const Tensor& input, double p, bool train) { return dropped(Kind::kPlain, input, p, train); }
Tensor feature_dropout_of(const Tensor& input, double p, bool train) { return dropped(Kind::kFeature, input, p, train); }
Tensor alpha_dropout_of(const Tensor& input, double p, bool train) { return dropped(Kind::kAlpha, input, p, train); }

}  // namespace

void register_before_transforms(Library& m) {
  m.impl("linear", kernel_of(&linear_of)).impl("binary_cross_entropy_with_logits", kernel_of(&logits_loss));
  m.impl("dropout", kernel_of(&dropout_of)).impl("feature_dropout", kernel_of(&feature_dropout_of)).impl("alpha_dropout", kernel_of(&alpha_dropout_of));
}

}  // namespace peel::kernels
