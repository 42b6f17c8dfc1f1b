// Functions of derivatives.yaml for tangents.
#include "core/autograd/formulas.h"
#include "core/autograd/forward.h"

namespace peel::core::formulas {
namespace {

Tensor sum_along(const Tensor& t, Sizes dims, bool keepdim) { return ops::sum_dim_IntList::call(t, dims, keepdim, {}); }

}  // namespace

Tensor sum_of_products(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
  const Tensor second = mul(c, d);
  return add(mul(a, b), second);
}

Tensor logsumexp_tangent(const Tensor& self, const Tensor& tangent, Sizes dim, bool keepdim) {
  const Tensor e = exp(sub(self, amax(real(self), dim, true)));
  const Tensor total = sum_along(e, dim, keepdim);
  Tensor out = sum_along(mul(e, tangent), dim, keepdim);
  return div_(out, total);
}

Tensor reduced(const Tensor& t, int64_t reduction) { return reduction == 1 ? mean(t) : reduction == 2 ? sum(t) : t; }

Tensor gathered(const Tensor& t, int64_t dim, const Tensor& indices, bool keepdim) {
  if (keepdim) return gather(t, dim, indices);
  return squeeze(gather(t, dim, unsqueeze(indices, dim)), dim);
}

Tensor extreme_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result) {
  const Tensor mask = eq(self, result);
  const Tensor share = div(tangent, sum(mask));
  return sum(mul(mask, share));
}

Tensor extreme_dims_tangent(const Tensor& self, const Tensor& tangent, const Tensor& result, Sizes dim, bool keepdim) {
  SizeVector dims(dim.begin(), dim.end());
  if (dims.empty()) {
    for (int64_t d = 0; d < self.dim(); ++d) dims.push_back(d);
  }
  const Tensor mask = eq(self, restored(result, Sizes(dims), keepdim, self));
  const Tensor count = sum_along(mask, dims, keepdim);
  return div(sum_along(where(mask, tangent, 0.0), dims, keepdim), count);
}

Tensor var_tangent(const Tensor& tangent, const Tensor& self, const std::optional<Sizes>& dim, const std::optional<Scalar>& correction, bool keepdim) {
  const Dims dims = dim ? Dims(SizeVector(dim->begin(), dim->end())) : Dims();
  return ops::real::call(sum_along(var_backward(tangent, self, dims, correction, true), dim.value_or(Sizes{}), keepdim));
}
Tensor std_tangent(const Tensor& tangent, const Tensor& self, const Tensor& result, const std::optional<Sizes>& dim, const std::optional<Scalar>& correction, bool keepdim) {
  const Tensor twice = mul(result, 2.0);
  Tensor out = div(var_tangent(tangent, self, dim, correction, keepdim), twice);
  return masked_fill(out, eq(result, 0), 0);
}

Tensor vector_norm_tangent(const Tensor& self, const Tensor& tangent, const Scalar& ord, const Tensor& norm, const std::optional<Sizes>& dim, bool keepdim) {
  const double p = ord.value.to_double();
  const Sizes dims = dim.value_or(Sizes{});
  if (p == 1.0) return sum_along(ops::real::call(mul(sgn(self), tangent)), dims, keepdim);
  const auto without_zeros = [&norm](Tensor t) {
    ops::masked_fill__Scalar::call(t, eq(norm, 0), 0);
    return t;
  };
  if (p == 2.0) {
    Tensor out = sum_along(ops::real::call(mul(self, tangent)), dims, keepdim);
    ops::div__Tensor::call(out, norm);
    return without_zeros(out);
  }
  const Tensor product = ops::real::call(mul(self, tangent));
  Tensor size = abs(self);
  ops::pow__Scalar::call(size, p - 2);
  const Tensor total = sum_along(mul(size, product), dims, keepdim);
  return without_zeros(div(total, pow(norm, p - 1)));
}

Tensor cat_tangent(std::span<const Tensor> all, int64_t dim) {
  std::vector<Tensor> tangents;
  for (const Tensor& t : all) tangents.push_back(has_tangent(t) ? tangent_of(t) : zeros_like(t));
  return cat(tangents, dim);
}
Tensor stack_tangent(std::span<const Tensor> all, int64_t dim) {
  std::vector<Tensor> tangents;
  for (const Tensor& t : all) tangents.push_back(has_tangent(t) ? tangent_of(t) : zeros_like(t));
  return stack(tangents, dim);
}

Tensor convolution_tangent(const Dual& input, const Dual& weight, const Tensor& bias, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes output_padding,
                           int64_t groups) {
  const auto of = [&](const Tensor& x, const Tensor& w, const std::optional<Tensor>& b) {
    return convolution(x, w, b, stride, padding, dilation, transposed, output_padding, groups);
  };
  const std::optional<Tensor> b = bias.defined() ? std::optional<Tensor>(bias) : std::nullopt;
  return add(of(input.tangent, weight.primal, {}), of(input.primal, weight.tangent, b));
}

Tensor softmax_backward_tangent(const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim) {
  const int64_t dims[] = {dim};
  const Tensor inner = sum_along(mul(grad, output), dims, true);
  const Tensor inner_t = sum_along(add(mul(grad_t, output), mul(grad, output_t)), dims, true);
  return add(mul(output_t, sub(grad, inner)), mul(output, sub(grad_t, inner_t)));
}
Tensor log_softmax_backward_tangent(const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim) {
  const int64_t dims[] = {dim};
  const Tensor p = exp(output), total = sum_along(grad, dims, true), total_t = sum_along(grad_t, dims, true);
  return sub(grad_t, mul(p, add(total_t, mul(output_t, total))));
}

Tensor layer_norm_tangent(const Dual& input, const Dual& weight, const Tensor& bias, const Tensor& mean, const Tensor& rstd, Sizes normalized_shape) {
  SizeVector dims;
  for (int64_t d = input.primal.dim() - static_cast<int64_t>(normalized_shape.size()); d < input.primal.dim(); ++d) dims.push_back(d);
  const Tensor centred = sub(input.primal, mean), x = mul(centred, rstd);
  const Tensor moved = sub(input.tangent, ops::mean_dim::call(input.tangent, Sizes(dims), true, {}));
  const Tensor along = ops::mean_dim::call(mul(moved, x), Sizes(dims), true, {});
  Tensor out = mul(sub(moved, mul(x, along)), rstd);
  if (weight.primal.defined()) out = mul(out, weight.primal);
  if (weight.tangent.defined()) out = add(out, mul(x, weight.tangent));
  return bias.defined() ? add(out, bias) : out;
}

}  // namespace peel::core::formulas
