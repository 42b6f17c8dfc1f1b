// Products of three tensors, for layers that take two inputs.
#include <algorithm>

#include "core/dispatch/error.h"
#include "kernels/composite/pair.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
using namespace core;
namespace {

bool has(Sizes dims, int64_t d) { return std::ranges::find(dims, d) != dims.end(); }

}  // namespace

Tensor _trilinear(const Tensor& i1, const Tensor& i2, const Tensor& i3, Sizes expand1, Sizes expand2, Sizes expand3, Sizes sumdim, int64_t unroll_dim) {
  const int64_t dims = i1.dim() + static_cast<int64_t>(expand1.size());
  if (unroll_dim < 0 || unroll_dim >= dims) throw Error("unroll_dim must be in [0," + std::to_string(dims - 1) + "]");
  Tensor a = i1, b = i2, c = i3;
  SizeVector size, first, second;  // of the result; what the first product of two sums, and the second
  for (int64_t d = 0; d < dims; ++d) {
    int64_t n = 0;
    if (has(expand1, d)) a = ops::unsqueeze::call(a, d);
    else n = a.size(d);
    if (has(expand2, d)) b = ops::unsqueeze::call(b, d);
    else n = b.size(d);
    if (has(expand3, d)) {
      c = ops::unsqueeze::call(c, d);
      if (has(sumdim, d) && d != unroll_dim) first.push_back(d);
    } else {
      n = c.size(d);
      if (has(sumdim, d) && d != unroll_dim) second.push_back(d);
    }
    size.push_back(has(sumdim, d) ? 1 : n);
  }
  const int64_t steps = std::max({has(expand1, unroll_dim) ? 1 : a.size(unroll_dim), has(expand2, unroll_dim) ? 1 : b.size(unroll_dim), has(expand3, unroll_dim) ? 1 : c.size(unroll_dim)});
  const auto at = [unroll_dim](const Tensor& t, Sizes expanded, int64_t k) { return ops::narrow::call(t, unroll_dim, has(expanded, unroll_dim) ? 0 : k, 1); };
  const auto product = [](const Tensor& x, const Tensor& y, const SizeVector& summed) { return summed.empty() ? ops::mul_Tensor::call(x, y) : pair(x, y, summed); };
  Tensor out = ops::zeros::call(size, a.dtype(), Layout::Strided, a.device());
  if (i1.numel() == 0 || i2.numel() == 0 || i3.numel() == 0) return out;
  for (int64_t k = 0; k < steps; ++k) {
    const Tensor of_b = at(b, expand2, k), of_a = at(a, expand1, k);
    const Tensor both = product(of_a, of_b, first);
    const Tensor all = product(both, at(c, expand3, k), second);
    Tensor place = has(sumdim, unroll_dim) ? out : ops::narrow::call(out, unroll_dim, k, 1);
    ops::add__Tensor::call(place, all);
  }
  for (int64_t d = dims - 1; d >= 0; --d) {
    if (has(sumdim, d)) ops::squeeze__dim::call(out, d);
  }
  return out;
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const std::optional<Tensor>& bias) {
  const auto number = [](int64_t n) { return std::to_string(n); };
  if (bias && bias->defined() && bias->dtype() != weight.dtype()) throw Error("bilinear: bias and weight must have the same dtype");
  if (input1.dim() != input2.dim()) throw Error("bilinear(): input dimensions do not match: got " + number(input1.dim()) + " and " + number(input2.dim()));
  for (int64_t d = 0; d + 1 < input1.dim(); ++d) {
    if (input1.size(d) != input2.size(d)) {
      throw Error("bilinear(): input batch dimensions do not match at dim " + number(d) + ": got " + number(input1.size(d)) + " and " + number(input2.size(d)));
    }
  }
  const auto fits = [&](const Tensor& input, int64_t place) {
    if (input.size(-1) == weight.size(place)) return;
    throw Error("bilinear(): input" + number(place) + " size does not match weight size: got " + number(input.size(-1)) + " but expected " + number(weight.size(place)));
  };
  fits(input1, 1);
  fits(input2, 2);
  if (bias && bias->defined() && bias->size(0) != weight.size(0)) {
    throw Error("bilinear(): bias size does not match weight size: got " + number(bias->size(0)) + " but expected " + number(weight.size(0)));
  }
  SizeVector size(input1.sizes().begin(), input1.sizes().end() - 1);
  size.push_back(weight.size(0));
  const Tensor first = ops::reshape::call(input1, SizeVector{-1, input1.size(-1)}), second = ops::reshape::call(input2, SizeVector{-1, input2.size(-1)});
  const SizeVector outer{1, 3}, zero{0}, inner{1, 2}, summed{2, 3};
  const Tensor out = ops::reshape::call(ops::_trilinear::call(first, weight, second, outer, zero, inner, summed), size);
  return bias && bias->defined() ? ops::add_Tensor::call(out, *bias) : out;
}

}  // namespace peel::kernels
