#include "core/autograd/formulas.h"

#include <algorithm>

#include "core/dispatch/error.h"
#include "core/tensor/sparse.h"

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

Tensor not_implemented(const char* what) { throw NotImplemented(std::string("the derivative for '") + what + "' is not implemented."); }

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

Tensor to_copy_backward(const Tensor& grad, ScalarType t) { return ops::to_dtype_layout::call(grad, t, layout_of(grad), grad.device(), false, false, false); }

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

namespace {

// Of dimensions of more than one element, innermost last.
bool may_overlap(Sizes sizes, Sizes strides) {
  std::vector<size_t> order(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&strides](size_t i) { return strides[i]; });
  int64_t reach = 0;
  for (const size_t i : order) {
    if (strides[i] <= reach) return true;
    reach += strides[i] * (sizes[i] - 1);
  }
  return false;
}

}  // namespace

// Elements of the view that are one element of memory add up; where elements of the base are one, each gets its part.
Tensor as_strided_backward(const Tensor& gradient, const Place& base, const Place& view) {
  Tensor grad = gradient;
  Place seen{{}, {}, view.offset}, given{{}, {}, base.offset};
  for (size_t d = view.sizes.size(); d-- > 0;) {
    const int64_t size = view.sizes[d], stride = view.strides[d];
    if (size == 0) return zeros(base.sizes, grad.dtype(), Layout::Strided, grad.device());
    if (size == 1) {
      grad = squeeze(grad, static_cast<int64_t>(d));
    } else if (stride == 0) {
      grad = sum(grad, SizeVector{static_cast<int64_t>(d)}, false);
    } else {
      seen.sizes.insert(seen.sizes.begin(), size);
      seen.strides.insert(seen.strides.begin(), stride);
    }
  }
  for (size_t d = 0; d < base.sizes.size(); ++d) {
    if (base.sizes[d] == 0) return zeros(base.sizes, grad.dtype(), Layout::Strided, grad.device());
    if (base.sizes[d] == 1) continue;
    given.sizes.push_back(base.sizes[d]);
    given.strides.push_back(base.strides[d]);
  }
  const bool base_overlaps = may_overlap(given.sizes, given.strides), view_overlaps = may_overlap(seen.sizes, seen.strides);
  const int64_t start = std::min(base.offset, view.offset);
  const auto extent = [start](const Place& p) { return static_cast<int64_t>(storage_bytes(p.sizes, p.strides, p.offset - start, 1)); };
  const SizeVector size{std::max(extent(given), extent(seen))};
  Tensor storage = new_zeros(grad, size);
  const Tensor places = base_overlaps || view_overlaps ? arange(0, size[0], ScalarType::Long, Layout::Strided, grad.device()) : Tensor();
  if (view_overlaps) {
    const Tensor at = as_strided(places, seen.sizes, seen.strides, view.offset - start);
    const Tensor flat = reshape(grad, SizeVector{-1});
    index_add_(storage, 0, reshape(at, SizeVector{-1}), flat);
  } else {
    Tensor part = as_strided(storage, seen.sizes, seen.strides, view.offset - start);
    copy_(part, grad);
  }
  if (base_overlaps) {
    Tensor count = zeros_like(storage, {}, {}, {}, {}, MemoryFormat::Contiguous);
    const Tensor at = reshape(as_strided(places, given.sizes, given.strides, base.offset - start), SizeVector{-1});
    const Tensor one = ones(SizeVector{1}, grad.dtype(), Layout::Strided, grad.device());
    index_add_(count, 0, at, expand_as(one, at));
    div_(storage, count);  // NaN where nobody looks
  }
  return as_strided(storage, base.sizes, base.strides, base.offset - start);
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
