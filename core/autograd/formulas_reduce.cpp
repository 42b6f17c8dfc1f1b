// Gradients of sums, extremes, norms and what runs along a dimension.
#include <cmath>
#include <limits>

#include "core/autograd/formulas.h"
#include "core/dispatch/error.h"
#include "core/dispatch/modes.h"

namespace peel::core::formulas {

Tensor restored(const Tensor& t, Sizes dims, bool keepdim, const Tensor& self) {
  if (keepdim || self.dim() == 0) return t;
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  if (dims.empty()) shape.assign(shape.size(), 1);
  for (const int64_t d : dims) shape[static_cast<size_t>(wrap_dimension(d, self.dim()))] = 1;
  return reshape(t, shape);
}

namespace {

// Dimensions that a reduction took away come back with size 1.
Tensor unsqueeze_dims(Tensor t, const Dims& dims, int64_t count) {
  if (!dims || dims->empty()) return t;
  if (dims->size() == 1) return unsqueeze(t, dims->front());
  std::vector<bool> gone(static_cast<size_t>(count));
  for (const int64_t d : *dims) gone[static_cast<size_t>(wrap_dimension(d, count))] = true;
  for (int64_t d = 0; d < count; ++d) {
    if (gone[static_cast<size_t>(d)]) t = unsqueeze(t, d);
  }
  return t;
}

// The product of all others, also where one is zero.
Tensor product_of_others(const Tensor& grad, const Tensor& self, int64_t dim) {
  if (self.numel() == 0) return zeros_like(self, self.dtype(), Layout::Strided, self.device(), false);
  const int64_t n = self.size(dim);
  if (n == 1) return grad;
  SizeVector one(self.sizes().begin(), self.sizes().end());
  one[static_cast<size_t>(wrap_dimension(dim, self.dim()))] = 1;
  const Tensor first = ones(one, grad.dtype(), Layout::Strided, grad.device());
  const Tensor before[] = {first, narrow(self, dim, 0, n - 1)};
  const Tensor up = cumprod(cat(before, dim), dim);
  const Tensor after[] = {first, flip(narrow(self, dim, 1, n - 1), SizeVector{dim})};
  const Tensor down = flip(cumprod(cat(after, dim), dim), SizeVector{dim});
  return mul(grad, mul(up, down));
}

double correction_of(const Bound& b) { return b ? b->value.to_double() : 1; }

}  // namespace

Tensor evenly_distribute_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (self.keys().has(DispatchKey::Meta)) {  // nobody can ask whether the result is a number
    const Tensor unknown = isnan(self);
    Tensor all = logical_and(unknown, isnan(result));
    logical_or_(all, eq(self, result));
    return mul(all, div(grad, sum(all)));
  }
  const Tensor chosen = item(isnan(result)).value.to_bool() ? isnan(self) : eq(self, result);
  Tensor out = new_zeros(grad, self.sizes(), self.dtype(), Layout::Strided, self.device(), false);
  return masked_fill_(out, chosen, div(grad, sum(chosen)));
}

Tensor extreme_backward(const Tensor& grad, const Tensor& self, const Tensor& result, Sizes dims, bool keepdim) {
  const Tensor chosen = eq(restored(result, dims, keepdim, self), self);
  const Tensor wide = restored(grad, dims, keepdim, self);
  return mul(div(wide, sum(chosen, dims, true)), chosen);
}

Tensor aminmax_backward(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, std::optional<int64_t> dim, bool keepdim, const Tensor& min,
                        const Tensor& max) {
  const SizeVector dims = dim ? SizeVector{*dim} : SizeVector();
  Tensor out;
  if (grad_min.defined()) out = extreme_backward(grad_min, self, min, dims, keepdim);
  if (!grad_max.defined()) return out;
  const Tensor of_max = extreme_backward(grad_max, self, max, dims, keepdim);
  return out.defined() ? add(out, of_max) : of_max;
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (self.dim() == 0) return grad;
  const Tensor zeros = nonzero(eq(self, 0));
  if (zeros.numel() == 0) return mul(grad, div(result, self));
  if (zeros.size(0) > 1) return zeros_like(self);
  return view_as(product_of_others(grad, view(made_contiguous(self), SizeVector{-1}), 0), self);
}
Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return grad;
  const int64_t d = wrap_dimension(dim, self.dim());
  Tensor g = grad, r = result;
  if (!keepdim) {
    g = unsqueeze(g, d);
    r = unsqueeze(r, d);
  }
  const Tensor zeros = sum(sum(eq(self, 0), SizeVector{d}, true));
  if (item(zeros).value.to_int() == 0) return mul(g, div(r, self));
  return product_of_others(g, self, d);
}

Tensor var_backward(const Tensor& grad, const Tensor& self, const Dims& dims, const Bound& correction, bool keepdim) {
  if (self.dim() == 0 || !dims) {
    const double n = static_cast<double>(self.numel()) - correction_of(correction);
    if (n <= 0) return mul(grad, where(eq(self, mean(self)), std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()));  // 2 / 0 times what is 0, and what is not
    const Tensor away = sub(self, mean(self));
    return mul(mul(grad, 2.0 / n), away);
  }
  const Tensor g = keepdim || self.dim() == 1 ? grad : unsqueeze_dims(grad, dims, self.dim());
  int64_t count = 1;
  for (const int64_t d : *dims) count *= self.size(d);
  if (dims->empty()) count = self.numel();
  const double n = static_cast<double>(count) - correction_of(correction);
  const Tensor away = sub(self, mean(self, Sizes(*dims), true));
  return mul(mul(g, 2.0 / n), away);
}
Tensor std_backward(const Tensor& result, const Tensor& grad, const Tensor& self, const Dims& dims, const Bound& correction, bool keepdim) {
  Tensor g = div(grad, mul(result, 2));
  masked_fill_(g, eq(result, 0), 0);
  return var_backward(g, self, dims, correction, keepdim);
}
Tensor var_mean_backward(const Tensor& var, const Tensor& mean, const Tensor& self, const Dims& dims, const Bound& correction, bool keepdim) {
  Tensor out;
  if (var.defined()) out = var_backward(var, self, dims, correction, keepdim);
  if (!mean.defined()) return out;
  const Tensor of_mean = mean_backward(mean, self.sizes(), dims, self.numel(), keepdim);
  return out.defined() ? add(out, of_mean) : of_mean;
}

Tensor std_mean_backward(const Tensor& std, const Tensor& mean, const Tensor& self, const Tensor& result, const Dims& dims, const Bound& correction, bool keepdim) {
  Tensor out;
  if (std.defined()) out = std_backward(result, std, self, dims, correction, keepdim);
  if (!mean.defined()) return out;
  const Tensor of_mean = mean_backward(mean, self.sizes(), dims, self.numel(), keepdim);
  return out.defined() ? add(out, of_mean) : of_mean;
}
Tensor norm_backward(const Tensor& grad, const Tensor& self, const Bound& p, const Tensor& norm, Sizes dims, bool keepdim) {
  return vector_norm_backward(grad, self, p.value_or(Scalar(2.0)), norm, SizeVector(dims.begin(), dims.end()), keepdim);
}

std::tuple<Tensor, Tensor> weight_norm_backward(const Tensor& grad, const Tensor& v, const Tensor& g, const Tensor& norms, int64_t dim) {
  if (!grad.defined()) return {};
  const Tensor dw = made_contiguous(grad);
  return grad_state.grad_mode ? _weight_norm_differentiable_backward(dw, v, g, norms, dim) : _weight_norm_interface_backward(dw, v, g, norms, dim);
}

Tensor vector_norm_backward(const Tensor& grad, const Tensor& self, const Scalar& ord, const Tensor& norm, const Dims& dims, bool keepdim) {
  Tensor g = grad, n = norm;
  if (!keepdim && self.dim() != 0) {
    n = unsqueeze_dims(n, dims, self.dim());
    g = unsqueeze_dims(g, dims, self.dim());
  }
  const double p = ord.value.to_double();
  if (p == 0) return zeros_like(self, self.dtype(), Layout::Strided, self.device(), false);
  if (p == 1) return mul(sgn(self), g);
  if (p == 2) {
    Tensor scale = div(self, n);
    masked_fill_(scale, eq(n, 0), 0);
    return mul(g, scale);
  }
  const Tensor size = abs(self);
  if (std::isinf(p)) {
    const Tensor chosen = eq(size, n);
    const Tensor count = dims ? sum(chosen, Sizes(*dims), true) : sum(chosen);
    return mul(mul(sgn(self), g), div(chosen, count));
  }
  if (p < 2) {
    Tensor scaled = mul(sgn(self), pow(size, p - 1));
    masked_fill_(scaled, eq(self, 0), 0);
    return mul(mul(scaled, g), pow(n, 1 - p));
  }
  Tensor scale = div(g, pow(n, p - 1));
  masked_fill_(scale, eq(n, 0), 0);
  return mul(mul(self, pow(size, p - 2)), scale);
}

Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, Sizes dims, bool keepdim) {
  Tensor g = grad, r = result;
  if (!keepdim && self.dim() != 0) {
    const Dims d(std::in_place, dims.begin(), dims.end());
    g = unsqueeze_dims(g, d, self.dim());
    r = unsqueeze_dims(r, d, self.dim());
  }
  return mul(g, exp(sub(self, r)));
}

Tensor logits_backward(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight, int64_t reduction) {
  // In place where no graph is made of it.
  const bool anew = grad_state.grad_mode || self.keys().has(DispatchKey::Meta);
  Tensor out;
  const auto less = [&](const Tensor& by) { anew ? void(out = sub(out, by)) : void(sub_(out, by)); };
  const auto times = [&](const Tensor& by) { anew ? void(out = mul(out, by)) : void(mul_(out, by)); };
  if (pos_weight.defined()) {
    const Tensor scaled = mul(pos_weight, target);
    out = add(scaled, 1);
    less(target);
    times(sigmoid(self));
    less(scaled);
  } else {
    out = sigmoid(self);
    less(target);
  }
  times(grad);
  if (weight.defined()) times(weight);
  constexpr int64_t kMean = 1;
  if (reduction != kMean) return out;
  return grad_state.grad_mode ? div(out, self.numel()) : div_(out, self.numel());
}

namespace {

Tensor scaled(Tensor out, const Tensor& self, const Tensor& weight, int64_t reduction) {
  if (weight.defined()) out = mul(out, weight);
  constexpr int64_t kMean = 1;
  return reduction == kMean ? div(out, self.numel()) : out;
}

}  // namespace

Tensor logits_target_backward(const Tensor& grad, const Tensor& self, const Tensor& weight, const Tensor& pos_weight, int64_t reduction) {
  if (!pos_weight.defined()) return scaled(mul(neg(self), grad), self, weight, reduction);
  const Tensor likely = log_sigmoid(neg(self));
  return scaled(mul(sub(likely, mul(pos_weight, log_sigmoid(self))), grad), self, weight, reduction);
}
Tensor cross_entropy_target_backward(const Tensor& grad, const Tensor& self, const Tensor& weight, int64_t reduction) {
  const Tensor unlikely = log(number_minus(1, self));
  return scaled(mul(sub(unlikely, log(self)), grad), self, weight, reduction);
}

Tensor cumsum_backward(const Tensor& grad, int64_t dim) {
  if (grad.numel() <= 1 || grad.size(dim) == 1) return grad;
  const SizeVector d{dim};
  return flip(cumsum(flip(grad, d), dim), d);
}

Tensor softmax_double_backward(const Tensor& grad, const Tensor& grad_output, int64_t dim, const Tensor& output) {
  const SizeVector d{dim};
  const Tensor a = mul(sum(mul(output, grad_output), d, true), grad);
  const Tensor b = mul(grad_output, sum(mul(output, grad), d, true));
  return sub(sub(mul(grad_output, grad), a), b);
}
Tensor log_softmax_output_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
  const Tensor g = to(grad, output.dtype()), e = exp(output);
  return to(mul(mul(neg(sum(grad_output, SizeVector{dim}, true)), e), g), output.dtype());
}
Tensor log_softmax_double_backward(const Tensor& grad, const Tensor& output, int64_t dim) {
  const Tensor e = exp(output);
  const Tensor total = sum(mul(to(grad, output.dtype()), e), SizeVector{dim}, true);
  return sub(to(grad, output.dtype()), total);
}

}  // namespace peel::core::formulas
