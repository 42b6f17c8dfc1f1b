// Gradients of what takes elements from places or puts them there, and of blocks.
#include "core/autograd/formulas.h"
#include "core/dispatch/error.h"

namespace peel::core::formulas {

SizeVector last_two(Sizes s) { return {s[s.size() - 2], s[s.size() - 1]}; }
SizeVector last_three(Sizes s) { return {s[s.size() - 3], s[s.size() - 2], s[s.size() - 1]}; }

Tensor picked_gradient(const Tensor& grad, const Tensor& indices, int64_t dims) {
  SizeVector shape(indices.sizes().begin(), indices.sizes().end() - static_cast<ptrdiff_t>(dims));
  shape.push_back(-1);
  const Tensor places = view(indices, Sizes(shape)), dense = made_contiguous(grad);
  return view(gather(view(dense, Sizes(shape)), -1, places), indices.sizes());
}
Tensor take_backward(const Tensor& grad, const Tensor& self, const Tensor& index) {
  Tensor out = zeros_like(self);
  return put_(out, index, grad, true);
}

namespace {

// Of products that `reduce` makes of self and of src, which `add` would add up and whose places `pick` looks up: where one factor alone is 0, it gets the
// product of the others.
template <class Reduce, class Add, class Pick>
std::pair<Tensor, Tensor> product_backward(const Tensor& grad, const Tensor& self, const Tensor& src, const Tensor& result, Reduce reduce, Add add, Pick pick) {
  const Tensor whole = masked_fill(self, eq(self, 0), 1);
  const Tensor product = reduce(whole, src);
  const Tensor of_self = div(mul(grad, product), whole);
  const Tensor zero = eq(src, 0), none = zeros_like(self);
  const Tensor zeros_there = pick(add(none, to(zero, self.dtype())));
  const Tensor only_zero = bitwise_and(zero, eq(zeros_there, 1));
  const Tensor others = reduce(self, masked_fill(src, only_zero, 1));
  const Tensor divisor = masked_fill(src, zero, 1);
  const Tensor usual = div(pick(mul(grad, result)), divisor);
  return {of_self, where(only_zero, pick(mul(grad, others)), usual)};
}

}  // namespace

std::tuple<Tensor, Tensor> scatter_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce,
                                                   bool include_self, const Tensor& result) {
  if (!grad.defined()) return {};
  Tensor of_self, of_src;
  if (reduce == "sum") {
    of_self = grad;
    of_src = gather(grad, dim, index);
  } else if (reduce == "mean") {
    const Tensor one = ones_like(src);
    Tensor count = scatter_add(include_self ? ones_like(grad) : zeros_like(grad), dim, index, one);
    masked_fill_(count, eq(count, 0), 1);
    of_self = div(grad, count);
    const Tensor count_of_src = gather(count, dim, index);
    of_src = div(gather(grad, dim, index), count_of_src);
  } else if (reduce == "amax" || reduce == "amin") {
    const Tensor value = gather(result, dim, index);
    const Tensor self_is = to(eq(self, result), self.dtype()), src_is = to(eq(src, value), src.dtype());
    const Tensor shared = div(grad, scatter_add(self_is, dim, index, src_is));
    of_self = mul(eq(self, result), shared);
    const Tensor picked = gather(shared, dim, index);
    of_src = mul(eq(src, value), picked);
  } else {
    std::tie(of_self, of_src) = product_backward(
        grad, self, src, result, [&](const Tensor& to, const Tensor& from) { return scatter_reduce(to, dim, index, from, reduce, include_self); },
        [&](const Tensor& to, const Tensor& from) { return scatter_add(to, dim, index, from); }, [&](const Tensor& t) { return gather(t, dim, index); });
  }
  if (!include_self) of_self = scatter(of_self, dim, index, 0);
  return {of_self, of_src};
}

std::tuple<Tensor, Tensor> index_reduce_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce,
                                                 bool include_self, const Tensor& result) {
  if (!grad.defined()) return {};
  Tensor of_self, of_source;
  if (reduce == "mean") {
    const Tensor self_count = include_self ? ones_like(grad) : zeros_like(grad);
    Tensor count = index_add(self_count, dim, index, ones_like(source));
    masked_fill_(count, eq(count, 0), 1);
    of_self = div(grad, count);
    const Tensor count_of_source = index_select(count, dim, index);
    of_source = div(index_select(grad, dim, index), count_of_source);
  } else if (reduce == "amax" || reduce == "amin") {
    const Tensor value = index_select(result, dim, index);
    const Tensor self_is = to(eq(self, result), self.dtype()), source_is = to(eq(source, value), source.dtype());
    const Tensor shared = div(grad, index_add(self_is, dim, index, source_is));
    of_self = mul(self_is, shared);
    of_source = mul(source_is, index_select(shared, dim, index));
  } else {
    std::tie(of_self, of_source) = product_backward(
        grad, self, source, result, [&](const Tensor& to, const Tensor& from) { return index_reduce(to, dim, index, from, reduce, include_self); },
        [&](const Tensor& to, const Tensor& from) { return index_add(to, dim, index, from); }, [&](const Tensor& t) { return index_select(t, dim, index); });
  }
  if (!include_self) of_self = index_fill(of_self, dim, index, 0);
  return {of_self, of_source};
}

std::tuple<Tensor, Tensor, Tensor> trilinear_backward(const Tensor& grad, const Tensor& i1, const Tensor& i2, const Tensor& i3, const std::array<SizeVector, 3>& expand, Sizes sumdim,
                                                      std::array<bool, 3> wanted) {
  const auto& [e1, e2, e3] = expand;
  Tensor of_1, of_2, of_3;
  if (wanted[0]) of_1 = _trilinear(grad, i2, i3, sumdim, e2, e3, e1);
  if (wanted[1]) of_2 = _trilinear(i1, grad, i3, e1, sumdim, e3, e2);
  if (wanted[2]) of_3 = _trilinear(i1, i2, grad, e1, e2, sumdim, e3);
  return {of_1, of_2, of_3};
}

std::vector<Tensor> block_diag_backward(const Tensor& grad, const std::vector<SizeVector>& sizes) {
  std::vector<Tensor> out;
  int64_t row = 0, column = 0;
  for (const SizeVector& s : sizes) {
    const int64_t rows = s.size() == 2 ? s[0] : 1, columns = s.empty() ? 1 : s.back();
    Tensor part = slice(slice(grad, 0, row, row + rows), 1, column, column + columns);
    if (s.size() == 1) part = squeeze(part, -1);
    else if (s.empty()) part = squeeze(squeeze(part, -1), -1);
    out.push_back(part);
    row += rows;
    column += columns;
  }
  return out;
}

Tensor addbmm_first_backward(const Tensor& grad, const Tensor& batch2, const Scalar& alpha) {
  const Tensor wide = expand(unsqueeze(grad, 0), SizeVector{batch2.size(0), grad.size(0), grad.size(1)});
  return maybe_multiply(bmm(wide, transpose(batch2, 1, 2)), alpha);
}
Tensor addbmm_second_backward(const Tensor& grad, const Tensor& batch1, const Scalar& alpha) {
  const Tensor turned = transpose(batch1, 1, 2);
  return maybe_multiply(bmm(turned, expand(unsqueeze(grad, 0), SizeVector{batch1.size(0), grad.size(0), grad.size(1)})), alpha);
}

}  // namespace peel::core::formulas
