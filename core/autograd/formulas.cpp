#include "core/autograd/formulas.h"

#include <algorithm>

#include "core/dispatch/error.h"

namespace peel::core::formulas {
namespace {

bool is_column_major(Sizes sizes, Sizes strides) { return strides[0] == 1 && strides[1] == sizes[0]; }

// Of the dimensions (all, when none are named) which are summed.
std::vector<bool> chosen(const Dims& dims, int64_t count) {
  std::vector<bool> out(static_cast<size_t>(count), !dims || dims->empty());
  for (const int64_t d : dims.value_or(SizeVector())) {
    if (count > 0) out[static_cast<size_t>(wrap_dimension(d, count))] = true;
  }
  return out;
}

}  // namespace

bool is_one(const Scalar& s) {
  using Tag = IValue::Tag;
  return s.value.tag() == Tag::kInt ? s.value.to_int() == 1 : s.value.tag() == Tag::kDouble && s.value.to_double() == 1;
}

Tensor maybe_multiply(const Tensor& g, const Scalar& s) { return is_one(s) ? g : mul(g, s); }

Tensor sum_to(const Tensor& t, Sizes sizes) {
  if (sizes.empty()) return ops::sum::call(t);
  if (std::ranges::equal(t.sizes(), sizes)) return t;
  SizeVector dims;
  const int64_t leading = t.dim() - static_cast<int64_t>(sizes.size());
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d < leading || (sizes[static_cast<size_t>(d - leading)] == 1 && t.size(d) != 1)) dims.push_back(d);
  }
  const Tensor out = dims.empty() ? t : ops::sum_dim_IntList::call(t, Sizes(dims), true);
  return leading > 0 ? ops::view::call(out, sizes) : out;
}

Tensor unsqueeze_to(const Tensor& grad, int64_t dim, Sizes sizes) {
  if (sizes.empty() || sizes[static_cast<size_t>(wrap_dimension(dim, static_cast<int64_t>(sizes.size())))] != 1) return grad;
  return ops::unsqueeze::call(grad, dim);
}

Tensor to_copy_backward(const Tensor& grad, ScalarType t) { return ops::to_dtype_layout::call(grad, t, Layout::Strided, grad.device(), false, false, false); }

Tensor div_other_backward(const Tensor& grad, const Tensor& self, const Tensor& other) {
  const Tensor ratio = div(div(self, other), other);  // first, as in stock
  return mul(neg(grad), ratio);
}

Tensor pow_backward(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (exponent.value.to_double() == 0) return ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const double e = exponent.value.to_double();  // stock computes with it as a double
  return mul(grad, mul(ops::pow_Tensor_Scalar::call(self, e - 1), e));
}

Tensor sum_backward(const Tensor& grad, Sizes sizes, const Dims& dims, bool keepdim) {
  Tensor g = grad;
  if (!keepdim && !sizes.empty() && dims && !dims->empty()) {
    const auto summed = chosen(dims, static_cast<int64_t>(sizes.size()));
    if (dims->size() == 1) {
      g = ops::unsqueeze::call(g, dims->front());
    } else {
      for (size_t d = 0; d < summed.size(); ++d) {
        if (summed[d]) g = ops::unsqueeze::call(g, static_cast<int64_t>(d));
      }
    }
  }
  return ops::expand::call(g, sizes);
}

Tensor mean_backward(const Tensor& grad, Sizes sizes, const Dims& dims, int64_t numel, bool keepdim) {
  int64_t n = 1;
  const auto summed = chosen(dims, static_cast<int64_t>(sizes.size()));
  for (size_t d = 0; d < summed.size(); ++d) n *= summed[d] ? sizes[d] : 1;
  if (!dims || dims->empty()) n = numel;
  return div(sum_backward(grad, sizes, dims, keepdim), n);
}

Tensor as_strided_backward(const Tensor& grad, const Place& base, const Place& view) {
  if (internal_overlap(base.sizes, base.strides) == Overlap::kYes || internal_overlap(view.sizes, view.strides) == Overlap::kYes) {
    throw NotImplemented("The embedded engine has no gradient of views whose elements overlap yet; the program can be run on stock PyTorch "
                         "(--engine pytorch).");
  }
  const int64_t start = std::min(base.offset, view.offset);
  const auto extent = [start](const Place& p) { return static_cast<int64_t>(storage_bytes(p.sizes, p.strides, p.offset - start, 1)); };
  const SizeVector size{std::max(extent(base), extent(view))};
  const Tensor storage = ops::new_zeros::call(grad, size);
  Tensor part = ops::as_strided::call(storage, view.sizes, view.strides, view.offset - start);
  ops::copy_::call(part, grad);
  return ops::as_strided::call(storage, base.sizes, base.strides, base.offset - start);
}

Tensor left_factor_backward(const Tensor& grad, const Tensor& right, Sizes sizes, Sizes strides, const Scalar& alpha) {
  if (is_column_major(sizes, strides)) return maybe_multiply(t(ops::mm::call(right, t(grad))), alpha);
  return maybe_multiply(ops::mm::call(grad, t(right)), alpha);
}

Tensor right_factor_backward(const Tensor& grad, const Tensor& left, Sizes sizes, Sizes strides, const Scalar& alpha) {
  if (is_column_major(sizes, strides)) return maybe_multiply(t(ops::mm::call(t(grad), left)), alpha);
  return maybe_multiply(ops::mm::call(t(left), grad), alpha);
}

}  // namespace peel::core::formulas
