// Derivatives and tangents of normalisations (batch, layer, group) and of their backward.
#include "core/autograd/formulas.h"
#include "core/autograd/forward.h"

namespace peel::core::formulas {
namespace {

Tensor defined_or_none(const std::vector<Tensor>& all, size_t i) { return i < all.size() ? all[i] : Tensor(); }  // last results that nobody asked for have no place

// Sums over all but dimension 1, one dimension at a time: the first, then from the last.
Tensor sum_all_but_channels(const Tensor& t, bool keepdim) {
  const auto along = [keepdim](const Tensor& x, int64_t dim) { return sum(x, SizeVector{dim}, keepdim); };
  Tensor out = along(t, 0);
  for (int64_t d = out.dim() - 1; d > (keepdim ? 1 : 0); --d) out = along(out, d);
  return out;
}

// One number a channel, to be broadcast over an input.
Tensor per_channel(Tensor t, const Tensor& input) {
  while (t.dim() < input.dim() - 1) t = unsqueeze(t, 1);
  return t.dim() == input.dim() - 1 ? unsqueeze(t, 0) : t;
}
Tensor expanded_over(Tensor t, const Tensor& input) {
  while (t.dim() < input.dim() - 1) t = unsqueeze(t, 1);
  return expand_as(t, input);
}

Tensor divided_in_place(Tensor t, int64_t by) { return ops::div__Scalar::call(t, by); }

// What the second derivative of every normalisation is made of. `Sum` adds up what one mean was taken of and keeps dimensions.
template <class Sum>
struct Normalised {
  int64_t count;
  Sum sum;
  Tensor centred, inv_std, inv_var, inv_cube, scaled;  // x - mean; 1 / std to the powers 1, 2, 3; centred * inv_cube

  Normalised(int64_t n, Sum s, const Tensor& x_less_mean, const Tensor& one_over_std)
      : count(n), sum(s), centred(x_less_mean), inv_std(one_over_std), inv_var(pow(inv_std, 2)), inv_cube(pow(inv_std, 3)), scaled(mul(centred, inv_cube)) {}

  // The gradient of the input of the gradient `g` of the output, for outputs that were multiplied by `gamma`.
  Tensor backward(const Tensor& g, const Tensor& gamma) const {
    const Tensor share = divided_in_place(mul(gamma, inv_std), count);
    Tensor out = mul(g, count);
    sub_(out, sum(g));
    const Tensor along = sum(mul(g, centred));
    sub_(out, mul(mul(centred, inv_var), along));
    return mul(share, out);
  }

  // Of <ggI, backward(g)> by the input; g's sum and its sum along x are known.
  Tensor input_by_input(const Tensor& g, const Tensor& g_sum, const Tensor& g_along, const Tensor& ggI) const {
    const Tensor total = sum(ggI);
    const Tensor along = sum(mul(ggI, centred));
    Tensor all = divided_in_place(mul(total, g_sum), count);
    sub_(all, sum(mul(g, ggI)));
    const Tensor both = mul(mul(inv_var, g_along), along);
    add_(all, mul_(both, 3.0 / static_cast<double>(count)));
    Tensor out = divided_in_place(mul(scaled, all), count);
    const auto part = [this](const Tensor& one_along, const Tensor& other, const Tensor& other_sum) {
      const Tensor away = sub(div(other_sum, count), other);
      return mul(divided_in_place(mul(one_along, inv_cube), count), away);
    };
    const Tensor first = part(along, g, g_sum), second = part(g_along, ggI, total);
    add_(out, first);
    return add_(out, second);
  }

 private:
  static Tensor mul_(Tensor t, double by) { return ops::mul__Scalar::call(t, by); }
};

}  // namespace

std::tuple<Tensor, Tensor, Tensor> batch_norm_twice(const std::vector<Tensor>& grads, const Tensor& grad_out, const Tensor& input, const Tensor& weight, const BatchStatistics& s) {
  const Tensor ggI = defined_or_none(grads, 0), ggG = defined_or_none(grads, 1), ggB = defined_or_none(grads, 2);
  Tensor gamma, gamma_more, bias_more;
  if (weight.defined()) {
    gamma = expanded_over(weight, input);
    if (ggG.defined()) gamma_more = expanded_over(ggG, input);
    if (ggB.defined()) bias_more = expanded_over(ggB, input);
  } else {
    gamma = ones(Sizes(), input.dtype(), Layout::Strided, input.device());
  }
  const int64_t count = input.numel() / input.size(1);
  const auto total = [](const Tensor& t) { return sum_all_but_channels(t, true); };
  const Tensor centred = sub(input, per_channel(s.training ? to(s.save_mean, input.dtype()) : s.running_mean, input));
  const Tensor inv_std = per_channel(s.training ? to(s.save_invstd, input.dtype()) : pow(add(s.running_var, s.eps), -0.5), input);
  const Normalised n(count, total, centred, inv_std);
  const Tensor along = total(mul(grad_out, n.centred)), g_sum = total(grad_out);

  Tensor of_input;
  if (ggI.defined() && s.training) of_input = mul(gamma, n.input_by_input(grad_out, g_sum, along, ggI));
  if (gamma_more.defined()) {
    Tensor part = mul(grad_out, n.inv_std);
    if (s.training) {
      const Tensor mean_part = divided_in_place(mul(g_sum, n.inv_std), -count);
      const Tensor along_part = divided_in_place(mul(n.scaled, total(mul(grad_out, n.centred))), -count);
      add_(add_(part, mean_part), along_part);
    }
    part = mul(gamma_more, part);
    of_input = of_input.defined() ? add_(of_input, part) : part;
  }
  Tensor of_weight;
  if (weight.defined() && ggI.defined()) {
    Tensor product;
    if (s.training) {
      const Tensor one = ones(Sizes(), input.dtype(), Layout::Strided, input.device());
      product = mul(grad_out, n.backward(ggI, one));
    } else {
      product = mul(mul(ggI, grad_out), n.inv_std);
    }
    of_weight = sum_all_but_channels(product, false);
  }
  Tensor of_grad;
  if (ggI.defined()) of_grad = s.training ? n.backward(ggI, gamma) : mul(mul(ggI, n.inv_std), gamma);
  if (gamma_more.defined()) {
    const Tensor part = mul(mul(gamma_more, n.centred), n.inv_std);
    of_grad = of_grad.defined() ? add_(of_grad, part) : part;
  }
  if (bias_more.defined()) of_grad = of_grad.defined() ? add_(of_grad, bias_more) : bias_more;
  return {of_input, of_weight, of_grad};
}

std::tuple<Tensor, Tensor, Tensor> layer_norm_twice(const std::vector<Tensor>& grads, const Tensor& grad_out, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                    const Tensor& rstd, Sizes normalized_shape) {
  int64_t count = 1;
  for (const int64_t size : normalized_shape) count *= size;
  const int64_t rows = count == 0 ? 0 : input.numel() / count;
  const SizeVector matrix{rows, count}, column{rows, 1}, row{1, count};
  Tensor ggI = defined_or_none(grads, 0), ggG = defined_or_none(grads, 1), ggB = defined_or_none(grads, 2);
  const Tensor x = reshape(input, matrix), g = reshape(grad_out, matrix), m = reshape(mean, column), r = reshape(rstd, column);
  Tensor gamma;
  if (weight.defined()) {
    gamma = reshape(weight, row);
    if (ggG.defined()) ggG = reshape(ggG, row);
    if (ggB.defined()) ggB = reshape(ggB, row);
  } else {
    gamma = ones(SizeVector{1}, input.dtype(), Layout::Strided, input.device());
  }
  if (ggI.defined()) ggI = reshape(ggI, matrix);
  const auto total = [](const Tensor& t) { return sum(t, SizeVector{1}, true); };
  const Tensor centred = sub(x, to(m, x.dtype()));
  const Normalised n(count, total, centred, to(r, x.dtype()));

  Tensor of_input;
  if (ggI.defined()) {
    const Tensor by_gamma = mul(g, gamma);
    const Tensor along = total(mul(by_gamma, n.centred));
    of_input = n.input_by_input(by_gamma, total(by_gamma), along, ggI);
  }
  if (weight.defined() && ggG.defined()) {
    Tensor part = mul(mul(g, ggG), n.inv_std);
    const Tensor mean_part = divided_in_place(mul(total(mul(g, ggG)), n.inv_std), -count);
    const Tensor along = total(mul(mul(g, ggG), n.centred));
    const Tensor along_part = divided_in_place(mul(n.scaled, along), -count);
    add_(add_(part, mean_part), along_part);
    of_input = of_input.defined() ? add_(of_input, part) : part;
  }
  if (of_input.defined()) of_input = reshape_as(of_input, input);
  Tensor of_weight;
  if (weight.defined() && ggI.defined()) {
    const Tensor one = ones(Sizes(), input.dtype(), Layout::Strided, input.device());
    of_weight = reshape_as(sum(mul(g, n.backward(ggI, one)), SizeVector{0}, false), weight);
  }
  Tensor of_grad;
  if (ggI.defined()) of_grad = n.backward(ggI, gamma);
  if (weight.defined() && ggG.defined()) {
    const Tensor part = mul(mul(ggG, n.centred), n.inv_std);
    of_grad = of_grad.defined() ? add_(of_grad, part) : part;
  }
  if (weight.defined() && ggB.defined()) of_grad = of_grad.defined() ? add_(of_grad, ggB) : ggB;
  if (of_grad.defined()) of_grad = reshape_as(expand(of_grad, matrix), grad_out);
  return {of_input, of_weight, of_grad};
}

namespace {

// By operators that have derivatives themselves. The statistics are results too: their gradients come along in a second pass.
std::tuple<Tensor, Tensor, Tensor> differentiable_group_norm_backward(const Tensor& grad, const Tensor& of_mean, const Tensor& of_rstd, const Tensor& input, const Tensor& mean,
                                                                      const Tensor& rstd, const Tensor& weight, GroupShape s, double eps, std::array<bool, 3> wanted) {
  const int64_t inside = s.c / s.groups;
  const double share = 1.0 / static_cast<double>(inside * s.inner);
  const SizeVector whole{s.n, s.groups, inside, s.inner}, single{s.n, s.groups, 1, 1};
  const Tensor x = reshape(input, whole), m = reshape(mean, single), r = reshape(rstd, single);
  // Where tangents come along the shape isn't changed in place: they have one of their own.
  const auto back_at = [](Tensor t, int64_t dim) { return in_dual_level() ? unsqueeze(t, dim) : Tensor(unsqueeze_(t, dim)); };
  Tensor g, along, total, gamma;
  if (grad.defined()) {
    g = reshape(grad, whole);
    along = back_at(sum(mul(g, x), SizeVector{3}, false), -1);
    total = back_at(sum(g, SizeVector{3}, false), -1);
  }
  if (weight.defined()) gamma = reshape(weight, SizeVector{1, s.groups, inside, 1});
  Tensor var = mul(r, r);
  reciprocal_(var);
  var = clamp_min(sub(var, eps), 0);
  const Tensor cube = mul(mul(r, r), r);
  const Tensor of_var = of_rstd.defined() ? mul(mul(view(of_rstd, single), -0.5), cube) : Tensor();

  Tensor of_input;
  if (wanted[0]) {
    if (grad.defined()) {
      const auto weighed = [&gamma, &back_at](const Tensor& t) {
        return back_at(sum(gamma.defined() ? mul(t, gamma) : t, SizeVector{2}, false), -2);
      };
      const Tensor a = gamma.defined() ? mul(r, gamma) : r;
      const Tensor by_x = weighed(along), by_one = weighed(total);
      const Tensor b = mul(mul(sub(mul(by_one, m), by_x), cube), share);
      const Tensor last = mul(mul(by_one, r), share);
      const Tensor c = sub(mul(neg(b), m), last);
      const Tensor bx = mul(b, x);
      of_input = add(add(mul(a, g), bx), c);
    }
    if (of_mean.defined() || of_var.defined()) {
      const Tensor part = var_mean_backward(of_var, of_mean.defined() ? view(of_mean, single) : of_mean, x, SizeVector{2, 3}, Scalar(0), true);
      of_input = of_input.defined() ? add_(of_input, part) : part;
    }
    if (of_input.defined()) of_input = reshape_as(of_input, input);
  }
  Tensor of_weight, of_bias;
  if (wanted[1] && grad.defined()) of_weight = reshape_as(sum(mul(sub(along, mul(total, m)), r), SizeVector{0}, false), weight);
  if (wanted[2] && grad.defined()) of_bias = reshape_as(sum(total, SizeVector{0}, false), weight);
  return {of_input, of_weight, of_bias};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> group_norm_backward_of(const std::vector<Tensor>& grads, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                                          GroupShape s, double eps, std::array<bool, 3> wanted) {
  const Tensor grad = defined_or_none(grads, 0), of_mean = defined_or_none(grads, 1), of_rstd = defined_or_none(grads, 2);
  if (grad_state.grad_mode || of_mean.defined() || of_rstd.defined()) {
    return differentiable_group_norm_backward(grad, of_mean, of_rstd, input, mean, rstd, weight, s, eps, wanted);
  }
  return native_group_norm_backward(made_contiguous(grad), made_contiguous(input), mean, rstd, weight, s.n, s.c, s.inner,
                                    s.groups, wanted);
}

// --- tangents
namespace {

// An input less its mean, over its standard deviation, and how that and 1 / the deviation move with the input.
struct Standard {
  Tensor x, x_t, rstd, rstd_t;  // rstd_t is undefined where the statistics stand still
};

Standard standardised(const Dual& input, const Tensor& mean_of, const Tensor& rstd, Sizes dims) {
  Standard out{mul(sub(input.primal, mean_of), rstd), {}, rstd, {}};
  if (dims.empty()) {
    out.x_t = mul(input.tangent, rstd);
    return out;
  }
  const Tensor moved = sub(input.tangent, mean(input.tangent, dims, true));
  const Tensor along = mean(mul(moved, out.x), dims, true);
  out.x_t = mul(sub(moved, mul(out.x, along)), rstd);
  out.rstd_t = neg(mul(mul(rstd, rstd), along));
  return out;
}

Tensor scaled_tangent(const Standard& s, const Dual& weight, const Tensor& bias) {
  Tensor out = s.x_t;
  if (weight.primal.defined()) out = mul(out, weight.primal);
  if (weight.tangent.defined()) out = add(out, mul(s.x, weight.tangent));
  return bias.defined() ? add(out, bias) : out;
}

// Of the gradient of the input.
Tensor backward_tangent(const Standard& s, const Dual& grad, const Dual& weight, Sizes dims) {
  Tensor g = grad.primal, g_t = grad.tangent;
  if (weight.primal.defined()) {
    g_t = mul(g_t, weight.primal);
    if (weight.tangent.defined()) g_t = add(g_t, mul(g, weight.tangent));
    g = mul(g, weight.primal);
  }
  if (dims.empty()) return mul(g_t, s.rstd);
  const auto average = [dims](const Tensor& t) { return mean(t, dims, true); };
  const Tensor along = average(mul(g, s.x)), along_t = average(add(mul(g_t, s.x), mul(g, s.x_t)));
  const Tensor inner = sub(sub(g, average(g)), mul(s.x, along));
  const Tensor inner_t = sub(sub(g_t, average(g_t)), add(mul(s.x_t, along), mul(s.x, along_t)));
  return add(mul(s.rstd_t, inner), mul(s.rstd, inner_t));
}

SizeVector trailing(const Tensor& t, Sizes normalized_shape) {
  SizeVector dims;
  for (int64_t d = t.dim() - static_cast<int64_t>(normalized_shape.size()); d < t.dim(); ++d) dims.push_back(d);
  return dims;
}
SizeVector all_but_channels(const Tensor& t) {
  SizeVector dims{0};
  for (int64_t d = 2; d < t.dim(); ++d) dims.push_back(d);
  return dims;
}
Tensor along_channels(const Tensor& t, const Tensor& input) {
  if (!t.defined()) return t;
  SizeVector shape(static_cast<size_t>(input.dim()), 1);
  shape[1] = t.numel();
  return view(t, shape);
}
Dual along_channels(const Dual& d, const Tensor& input) { return {along_channels(d.primal, input), along_channels(d.tangent, input)}; }

Standard of_batch(const Dual& input, const BatchStatistics& s) {
  const Tensor& x = input.primal;
  if (s.training) return standardised(input, along_channels(s.save_mean, x), along_channels(s.save_invstd, x), all_but_channels(x));
  return standardised(input, along_channels(s.running_mean, x), along_channels(rsqrt(add(s.running_var, s.eps)), x), {});
}

Standard of_groups(const Dual& input, const Tensor& mean, const Tensor& rstd, GroupShape s) {
  const SizeVector groups{s.n, s.groups, s.c / s.groups * s.inner}, one{s.n, s.groups, 1};
  return standardised({reshape(input.primal, groups), reshape(input.tangent, groups)}, view(mean, one), view(rstd, one), SizeVector{2});
}

}  // namespace

Tensor layer_norm_tangent(const Dual& input, const Dual& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd, Sizes normalized_shape) {
  return scaled_tangent(standardised(input, mean, rstd, trailing(input.primal, normalized_shape)), weight, bias);
}
Tensor layer_norm_backward_tangent(const Dual& grad, const Dual& input, const Dual& weight, const Tensor& mean, const Tensor& rstd, Sizes normalized_shape) {
  const SizeVector dims = trailing(input.primal, normalized_shape);
  return backward_tangent(standardised(input, mean, rstd, dims), grad, weight, dims);
}
Tensor layer_norm_weight_tangent(const Dual& grad, const Dual& input, const Tensor& mean, const Tensor& rstd, Sizes normalized_shape) {
  const Standard s = standardised(input, mean, rstd, trailing(input.primal, normalized_shape));
  return sum_to(add(mul(grad.tangent, s.x), mul(grad.primal, s.x_t)), normalized_shape);
}

Tensor batch_norm_tangent(const Dual& input, const Dual& weight, const Tensor& bias, const BatchStatistics& s) {
  return scaled_tangent(of_batch(input, s), along_channels(weight, input.primal), along_channels(bias, input.primal));
}
Tensor batch_norm_backward_tangent(const Dual& grad, const Dual& input, const Dual& weight, const BatchStatistics& s) {
  const SizeVector dims = s.training ? all_but_channels(input.primal) : SizeVector();
  return backward_tangent(of_batch(input, s), grad, along_channels(weight, input.primal), dims);
}
Tensor batch_norm_weight_tangent(const Dual& grad, const Dual& input, const BatchStatistics& st) {
  const Standard s = of_batch(input, st);
  return sum_all_but_channels(add(mul(grad.tangent, s.x), mul(grad.primal, s.x_t)), false);
}
Tensor batch_norm_bias_tangent(const Tensor& grad) { return sum_all_but_channels(grad, false); }

Tensor group_norm_tangent(const Dual& input, const Dual& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd, GroupShape shape) {
  Standard s = of_groups(input, mean, rstd, shape);
  s.x = view(s.x, input.primal.sizes());
  s.x_t = view(s.x_t, input.primal.sizes());
  return scaled_tangent(s, along_channels(weight, input.primal), along_channels(bias, input.primal));
}
Tensor group_mean_tangent(const Tensor& tangent, GroupShape s) {
  return mean(reshape(tangent, SizeVector{s.n, s.groups, s.c / s.groups * s.inner}), SizeVector{2}, false);
}
Tensor group_rstd_tangent(const Dual& input, const Tensor& mean, const Tensor& rstd, GroupShape s) {
  return view(of_groups(input, mean, rstd, s).rstd_t, rstd.sizes());
}

}  // namespace peel::core::formulas
