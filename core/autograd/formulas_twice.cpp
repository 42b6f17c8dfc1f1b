// Derivatives of operators that are themselves the backward of something.
#include "core/autograd/formulas.h"

namespace peel::core::formulas {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

Tensor shared(Tensor t, const Tensor& input, int64_t reduction) { return reduction == kMean ? div(t, input.numel()) : t; }

// The derivative of a loss by its own gradient: what backward gives for a gradient of ones, weighed.
template <class F>
Tensor of_gradient(const Tensor& grad, const Tensor& grad_output, int64_t reduction, F backward) {
  if (reduction == kNone) return backward(grad);
  return sum(mul(backward(ones_like(grad_output)), grad));
}

}  // namespace

Tensor mse_loss_twice(const Tensor& grad, const Tensor& input, int64_t reduction) { return shared(mul(grad, 2), input, reduction); }
Tensor mse_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  return of_gradient(grad, grad_output, reduction, [&](const Tensor& g) { return mse_loss_backward(g, self, target, reduction); });
}
Tensor smooth_l1_loss_twice(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  const Tensor inside = ops::lt_Scalar::call(abs(sub(self, target)), beta);
  return shared(div(mul(grad, type_as(inside, grad)), beta), self, reduction);
}
Tensor smooth_l1_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  return of_gradient(grad, grad_output, reduction, [&](const Tensor& g) { return smooth_l1_loss_backward(g, self, target, reduction, beta); });
}
Tensor huber_loss_twice(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  return shared(mul(grad, ops::lt_Scalar::call(abs(sub(self, target)), delta)), self, reduction);
}
Tensor huber_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  return of_gradient(grad, grad_output, reduction, [&](const Tensor& g) { return huber_loss_backward(g, self, target, reduction, delta); });
}

Tensor max_pool_twice(const Tensor& grad, const Tensor& indices, int64_t dims) {
  SizeVector shape(indices.sizes().begin(), indices.sizes().end() - dims);
  shape.push_back(-1);
  return view(gather(reshape(grad, shape), -1, view(indices, shape)), indices.sizes());
}

std::tuple<Tensor, Tensor, Tensor> convolution_twice(const std::vector<Tensor>& grads, const Tensor& grad_output, const Tensor& input, const Tensor& weight, Sizes stride,
                                                     Sizes padding, Sizes dilation, bool transposed, Sizes output_padding, int64_t groups) {
  const auto of = [&grads](size_t i) { return i < grads.size() ? grads[i] : Tensor(); };  // last results that nobody asked for have no place
  const Tensor of_input = of(0), of_weight = of(1), of_bias = of(2);
  const auto forward = [&](const Tensor& x, const Tensor& w) { return convolution(x, w, {}, stride, padding, dilation, transposed, output_padding, groups); };
  const auto backward = [&](const Tensor& x, const Tensor& w, std::array<bool, 3> mask) {
    return convolution_backward(grad_output, x, w, {}, stride, padding, dilation, transposed, output_padding, groups, mask);
  };
  Tensor out, g_input, g_weight;
  const auto plus = [&out](Tensor t) { out = out.defined() ? add(out, t) : std::move(t); };
  if (of_input.defined()) {
    plus(forward(of_input, weight));
    g_weight = std::get<1>(backward(of_input, weight, {false, true, false}));
  }
  if (of_weight.defined()) {
    plus(forward(input, of_weight));
    g_input = std::get<0>(backward(input, of_weight, {true, false, false}));
  }
  if (of_bias.defined()) {
    SizeVector shape(grad_output.sizes().size(), 1);
    shape[1] = of_bias.numel();
    plus(expand(view(of_bias, shape), grad_output.sizes()));
  }
  return {out, g_input, g_weight};
}

Tensor embedding_twice(const Tensor& grad, const Tensor& indices, int64_t padding_idx) {
  Tensor out = index_select(grad, 0, reshape(indices, SizeVector{-1}));
  SizeVector shape(indices.sizes().begin(), indices.sizes().end());
  shape.push_back(-1);
  if (padding_idx >= 0) out = masked_fill(out, unsqueeze(eq(reshape(indices, SizeVector{-1}), padding_idx), -1), 0);
  return view(out, shape);
}

Tensor log_sigmoid_twice(const Tensor& grad, const Tensor& self) {
  const Tensor z = sigmoid(self);
  return mul(mul(grad, sub(z, 1)), z);
}
Tensor softplus_twice(const Tensor& grad, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  const Tensor x = mul(self, beta);
  const Tensor below = type_as(ops::lt_Scalar::call(x, threshold), grad);
  return mul(mul(sigmoid_backward(grad, sigmoid(x)), below), beta);
}
Tensor elu_twice(const Tensor& grad, const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result, const Tensor& x) {
  const Tensor below = type_as(ops::lt_Scalar::call(x, 0), grad);
  const Tensor product = mul(mul(grad, grad_output), input_scale);
  return mul(is_result ? product : elu_backward(product, alpha, scale, input_scale, is_result, x), below);
}
Tensor gelu_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  constexpr double kBeta = 0.7978845608028654, kKappa = 0.044715;  // sqrt(2 / pi), and the cubic part of the approximation
  if (approximate != "tanh") {
    const Tensor square = mul(self, self);
    const Tensor density = mul(exp(mul(square, -0.5)), kBeta / 2);
    const Tensor away = mul(square, density);
    const Tensor bend = sub(mul(density, 2), away);
    return mul(mul(grad, grad_output), bend);
  }
  const Tensor inner = mul(add(self, mul(pow(self, 3), kKappa)), kBeta);
  const Tensor t = tanh(inner), sech = number_over(1, cosh(inner));
  const Tensor f = mul(self, 0.5), g = number_minus(1, mul(t, t));  // gelu = f (1 + t); g and h: slopes of t and of inner
  const Tensor h = mul(add(mul(mul(self, 3 * kKappa), self), 1), kBeta);
  const Tensor by_f = mul(mul(g, 0.5), h);
  const Tensor down = mul(neg(sech), t);
  const Tensor by_g = mul(mul(mul(mul(mul(sech, 2), down), h), f), h);
  const Tensor by_h = mul(mul(mul(mul(self, 6 * kKappa), kBeta), f), g);
  const Tensor slope = add(add(mul(by_f, 2), by_g), by_h);
  return mul(mul(grad, grad_output), slope);
}

Tensor glu_twice_grad_output(const Tensor& grad, const Tensor& self, int64_t dim) {
  const int64_t d = dim < 0 ? dim + self.dim() : dim, half = self.size(d) / 2;
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[static_cast<size_t>(d)] = half;
  const Tensor moved = mul(grad, glu_backward(ones(sizes, self.dtype(), Layout::Strided, self.device()), self, d));
  const Tensor by_gate = narrow(moved, d, half, half);
  return add(narrow(moved, d, 0, half), by_gate);
}
Tensor glu_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const int64_t half = self.size(dim) / 2;
  const Tensor value = narrow(self, dim, 0, half), gate = sigmoid(narrow(self, dim, half, half));
  const Tensor rest = number_minus(1, gate), slope = mul(gate, rest);
  const Tensor of_value = narrow(grad, dim, 0, half), of_gate = narrow(grad, dim, half, half);
  const Tensor both = mul(of_gate, value);
  const Tensor first = mul(mul(of_gate, grad_output), slope);
  const Tensor back = mul(gate, slope), bend = sub(mul(slope, rest), back);
  const Tensor crossed = mul(mul(of_value, grad_output), slope);
  const Tensor second = add(mul(mul(both, grad_output), bend), crossed);
  return cat(std::vector<Tensor>{first, second}, dim);
}

namespace {

Tensor zero_of(const Tensor& t) { return zeros(Sizes(), t.dtype(), Layout::Strided, t.device()); }
Tensor not_below_zero(const Tensor& t) { return ops::ge_Scalar::call(t, 0); }

}  // namespace

Tensor prelu_twice_grad_output(const std::vector<Tensor>& grads, const Tensor& self, const Tensor& weight) {
  const bool of_weight = grads.size() > 1 && grads[1].defined();
  if (!grads[0].defined()) {
    const Tensor product = mul(grads[1], self), zero = zero_of(product);
    return where(not_below_zero(self), zero, product);
  }
  Tensor below;
  if (of_weight) below = mul(grads[1], self);
  below = of_weight ? add(mul(grads[0], weight), below) : mul(grads[0], weight);
  return where(not_below_zero(self), grads[0], below);
}
Tensor prelu_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& of) {
  if (!grad.defined()) return zeros_like(of);
  const Tensor product = mul(grad_output, grad), zero = zero_of(grad_output);
  return where(not_below_zero(self), zero, product);
}

Tensor soft_margin_loss_twice(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor z = exp(mul(self, neg(target))), more = add(z, 1);
  const Tensor square = mul(more, more);
  Tensor out = mul(mul(grad, mul(target, target)), z);
  out = div(out, square);
  if (reduction == kMean) ops::div__Scalar::call(out, self.numel());
  return out;
}
Tensor soft_margin_loss_twice_grad_output(const Tensor& grad, const Tensor& grad_output, const Tensor& self, const Tensor& target, int64_t reduction) {
  return of_gradient(grad, grad_output, reduction, [&](const Tensor& g) { return soft_margin_loss_backward(g, self, target, reduction); });
}

Tensor hardswish_twice(const Tensor& grad, const Tensor& grad_output, const Tensor& self) {
  const Tensor zero = zeros(Sizes(), grad.dtype(), Layout::Strided, grad.device());
  const Tensor value = div(mul(grad, grad_output), 3.0);
  const Tensor below = ops::lt_Scalar::call(self, 3.0), above = ops::gt_Scalar::call(self, -3.0);
  return where(logical_and(above, below), value, zero);
}

namespace {

Tensor weighed(Tensor t, const std::optional<Tensor>& weight) { return weight && weight->defined() ? mul(t, *weight) : t; }
// Of p in -t log p - (1 - t) log (1 - p): (p - t) / (p (1 - p)).
Tensor entropy_slope(const Tensor& self, const Tensor& target) {
  return div(sub(self, target), clamp_min(mul(self, number_minus(1, self)), 1e-12));
}

}  // namespace

Tensor binary_cross_entropy_twice_grad_output(const Tensor& grad, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction) {
  const Tensor all = mul(weighed(entropy_slope(self, target), weight), grad);
  return reduction == kNone ? all : reduction == kMean ? mean(all) : sum(all);
}
Tensor binary_cross_entropy_twice(const Tensor& grad_output, const Tensor& grad, const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight, int64_t reduction) {
  const Tensor room = clamp_min(mul(self, number_minus(1, self)), 1e-12);
  const Tensor top = add(sub(mul(self, self), mul(mul(self, target), 2)), target);  // (p^2 - 2 p t + t) / (p (1 - p))^2
  return shared(mul(mul(weighed(div(top, mul(room, room)), weight), grad), grad_output), self, reduction);
}
Tensor binary_cross_entropy_twice_target(const Tensor& grad_output, const Tensor& grad, const Tensor& self, const std::optional<Tensor>& weight, int64_t reduction) {
  const Tensor room = clamp_min(mul(self, number_minus(1, self)), 1e-12);
  return shared(mul(weighed(div(neg(grad_output), room), weight), grad), self, reduction);
}

}  // namespace peel::core::formulas
