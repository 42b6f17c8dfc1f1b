// Quantiles, areas under curves, covariances: made of other operators.
#include <algorithm>
#include <cmath>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

enum class Between : uint8_t { kLinear, kLower, kHigher, kMidpoint, kNearest };
Between between(const std::string& op, std::string_view word) {
  const char* const words[] = {"linear", "lower", "higher", "midpoint", "nearest"};
  for (size_t i = 0; i < 5; ++i) {
    if (word == words[i]) return static_cast<Between>(i);
  }
  throw Error(op + " interpolation must be one of linear, lower, higher, midpoint or nearest, but got " + std::string(word));
}

Tensor quantile_of(const std::string& op, const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation, bool ignore_nan) {
  if (self.numel() == 0) throw Error(op + " input tensor must be non-empty");
  if (q.dim() > 1) throw Error(op + " q must be a scalar or 1D tensor");
  if (self.dtype() != ScalarType::Float && self.dtype() != ScalarType::Double) throw Error(op + " input tensor must be either float or double dtype");
  if (self.dtype() != q.dtype()) throw Error(op + " q tensor must be same dtype as the input tensor");
  const Between how = between(op, interpolation);
  const int64_t d = wrap_dimension(dim.value_or(0), self.dim());
  Tensor inside = ops::ge_Scalar::call(q, 0);
  ops::logical_and_::call(inside, ops::le_Scalar::call(q, 1));
  const Tensor all = ops::all::call(inside);
  if (!ops::equal::call(all, ops::new_ones::call(all, Sizes(), ScalarType::Bool, Layout::Strided, all.device(), {}))) throw Error(op + " q values must be in the range [0, 1]");
  SizeVector shape;
  if (dim) {
    shape.assign(self.sizes().begin(), self.sizes().end());
    if (self.dim() > 0 && keepdim) shape[static_cast<size_t>(d)] = 1;
    else if (self.dim() > 0) shape.erase(shape.begin() + static_cast<ptrdiff_t>(d));
  } else if (keepdim) {
    shape.assign(self.sizes().size(), 1);
  }
  Tensor sorted;
  if (!dim) sorted = std::get<0>(ops::sort::call(ops::flatten_using_ints::call(self, 0, -1)));
  else if (self.dim() == 0 || d == self.dim() - 1) sorted = std::get<0>(ops::sort::call(self));
  else sorted = std::get<0>(ops::sort::call(ops::transpose_int::call(ops::unsqueeze::call(self, -1), d, -1)));
  shape.push_back(sorted.dim() ? sorted.size(-1) : 1);
  sorted = ops::view::call(sorted, shape);
  const int64_t last = sorted.size(-1) - 1;
  Tensor ranks;
  if (ignore_nan) {
    Tensor numbers = ops::isnan::call(sorted);
    ops::logical_not_::call(numbers);
    ranks = ops::mul_Tensor::call(q, ops::sub_Scalar::call(ops::sum_dim_IntList::call(numbers, SizeVector{-1}, true, {}), 1));
    ops::masked_fill__Scalar::call(ranks, ops::lt_Scalar::call(ranks, 0), 0);
  } else {
    const Tensor places = ops::mul_Scalar::call(q, last), nan = ops::any_dim::call(ops::isnan::call(sorted), -1, true);
    const Tensor two[] = {places, nan};
    const std::vector<Tensor> wide = ops::broadcast_tensors::call(two);
    ranks = ops::masked_fill_Scalar::call(wide[0], wide[1], last);
  }
  if (how == Between::kLower) ops::floor_::call(ranks);
  else if (how == Between::kHigher) ops::ceil_::call(ranks);
  else if (how == Between::kNearest) ops::round_::call(ranks);
  const auto whole = [](const Tensor& t) { return ops::to_dtype_layout::call(t, ScalarType::Long, Layout::Strided, {}, {}, false, false, {}); };
  const Tensor below = whole(ranks);
  Tensor values = ops::gather::call(sorted, -1, below);
  if (how == Between::kLinear || how == Between::kMidpoint) {
    const Tensor weights = how == Between::kMidpoint ? ops::full_like::call(ranks, 0.5) : ops::sub_Tensor::call(ranks, below);
    ops::ceil_::call(ranks);
    ops::lerp__Tensor::call(values, ops::gather::call(sorted, -1, whole(ranks)), weights);
  }
  if (q.dim() == 0) return ops::squeeze__dim::call(values, -1);
  ops::unsqueeze_::call(values, 0);
  ops::transpose_::call(values, 0, -1);
  return ops::squeeze__dim::call(values, -1);
}
Tensor as_tensor(const Tensor& self, double q, const std::string& op) {
  if (!(q >= 0 && q <= 1)) throw Error(op + " q must be in the range [0, 1] but got " + to_text(IValue(q)));
  return ops::scalar_tensor::call(q, self.dtype(), Layout::Strided);
}

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of("quantile()", self, q, dim, keepdim, interpolation, false);
}
Tensor quantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of("quantile()", self, as_tensor(self, q, "quantile()"), dim, keepdim, interpolation, false);
}
Tensor nanquantile(const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of("nanquantile()", self, q, dim, keepdim, interpolation, true);
}
Tensor nanquantile_scalar(const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of("nanquantile()", self, as_tensor(self, q, "nanquantile()"), dim, keepdim, interpolation, true);
}

Tensor nanmean(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  if (!is_floating(self.dtype()) && !is_complex(self.dtype())) {
    throw Error(std::string("nanmean(): expected input to have floating point or complex dtype but got ") + to_string(self.dtype()));
  }
  const Tensor seen = ops::detach::call(self);
  Tensor numbers = ops::ne_Tensor::call(seen, seen);
  ops::logical_not_::call(numbers);
  const Tensor count = ops::sum_dim_IntList::call(numbers, dim, keepdim, {});
  return ops::div_Tensor::call(ops::nansum::call(self, dim, keepdim, dtype), count);
}

namespace {

Tensor without_first(const Tensor& t, int64_t d) { return ops::slice_Tensor::call(t, d, 1, {}, 1); }
Tensor without_last(const Tensor& t, int64_t d) { return ops::slice_Tensor::call(t, d, 0, -1, 1); }
// The distances between neighbours, in a shape that fits y's.
Tensor steps_of(const Tensor& y, const Tensor& x, int64_t d) {
  if (x.dim() == 1) {
    if (x.size(0) != y.size(d)) throw Error("trapezoid: There must be one `x` value for each sample point");
    SizeVector shape(y.sizes().size(), 1);
    shape[static_cast<size_t>(d)] = x.size(0);
    const Tensor seen = ops::view::call(x, shape), left = without_last(seen, d);
    return ops::sub_Tensor::call(without_first(seen, d), left);
  }
  Tensor seen = x;
  if (x.dim() < y.dim()) {
    SizeVector shape(y.sizes().size() - x.sizes().size(), 1);
    shape.insert(shape.end(), x.sizes().begin(), x.sizes().end());
    seen = ops::view::call(x, shape);
  }
  const Tensor left = without_last(seen, d);
  return ops::sub_Tensor::call(without_first(seen, d), left);
}
Tensor neighbours(const Tensor& y, int64_t d) {
  const Tensor left = without_last(y, d);
  return ops::add_Tensor::call(left, without_first(y, d));
}
Tensor zeros_without(const Tensor& y, int64_t d) {
  SizeVector shape(y.sizes().begin(), y.sizes().end());
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(d));
  return ops::zeros::call(shape, y.dtype(), Layout::Strided, y.device());
}
void no_bool(const Tensor& y, const char* name) {
  if (y.dtype() == ScalarType::Bool) throw Error(std::string(name) + ": received a bool input for `y`, but bool is not supported");
}

}  // namespace

Tensor trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  no_bool(y, "trapezoid");
  if (y.size(dim) == 0) return zeros_without(y, wrap_dimension(dim, y.dim()));
  const Tensor last = ops::select_int::call(y, dim, -1);
  const Tensor ends = ops::mul_Scalar::call(ops::add_Tensor::call(ops::select_int::call(y, dim, 0), last), 0.5);
  const Tensor inner = ops::sub_Tensor::call(ops::sum_dim_IntList::call(y, SizeVector{dim}, false, {}), ends);
  return ops::mul_Scalar::call(inner, dx.value.to_double());
}
Tensor trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t d = wrap_dimension(dim, y.dim());
  no_bool(y, "trapezoid");
  if (y.size(d) == 0) return zeros_without(y, d);
  const Tensor dx = steps_of(y, x, d);
  return ops::div_Scalar::call(ops::sum_dim_IntList::call(ops::mul_Tensor::call(neighbours(y, d), dx), SizeVector{d}, false, {}), 2.0);
}
Tensor trapz_x(const Tensor& y, const Tensor& x, int64_t dim) { return trapezoid_x(y, x, dim); }
Tensor trapz_dx(const Tensor& y, double dx, int64_t dim) { return trapezoid_dx(y, dx, dim); }
Tensor cumulative_trapezoid_dx(const Tensor& y, const Scalar& dx, int64_t dim) {
  no_bool(y, "cumulative_trapezoid");
  if (y.size(dim) == 0) return zeros_without(y, wrap_dimension(dim, y.dim()));
  return ops::cumsum::call(ops::mul_Scalar::call(neighbours(y, dim), dx.value.to_double() / 2), dim);
}
Tensor cumulative_trapezoid_x(const Tensor& y, const Tensor& x, int64_t dim) {
  const int64_t d = wrap_dimension(dim, y.dim());
  no_bool(y, "cumulative_trapezoid");
  const Tensor dx = steps_of(y, x, d);
  return ops::div_Scalar::call(ops::cumsum::call(ops::mul_Tensor::call(neighbours(y, d), dx), d), 2.0);
}

Tensor cov(const Tensor& self, int64_t correction, const Optional& fweights, const Optional& aweights) {
  if (self.dim() > 2) throw Error("cov(): expected input to have two or fewer dimensions but got an input with " + std::to_string(self.dim()) + " dimensions");
  if (self.dtype() == ScalarType::Bool) throw Error("cov(): bool dtype is not supported for input");
  if ((fweights && fweights->defined()) || (aweights && aweights->defined())) {
    throw NotImplemented("The embedded engine has no cov of weights yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  const Tensor in = self.dim() < 2 ? ops::view::call(self, SizeVector{1, -1}) : self;
  const int64_t n = in.size(1);
  const auto number = [&](int64_t v) { return ops::scalar_tensor::call(v, ScalarType::Long, Layout::Strided, in.device()); };
  const Tensor count = number(n);
  const Tensor mean = ops::div_Tensor::call(ops::sum_dim_IntList::call(in, SizeVector{1}, false, {}), count);
  Tensor over = number(n - correction);
  const Tensor none = ops::le_Scalar::call(over, 0);
  ops::equal::call(none, ops::new_ones::call(none, Sizes(), ScalarType::Bool, Layout::Strided, none.device(), {}));
  if (n - correction <= 0) ops::zero_::call(over);
  const Tensor away = ops::sub_Tensor::call(in, ops::unsqueeze::call(mean, 1));
  const Tensor product = ops::mm::call(away, ops::t::call(away));
  return ops::squeeze::call(ops::true_divide_Tensor::call(product, over));
}
Tensor corrcoef(const Tensor& self) {
  if (self.dim() > 2) throw Error("corrcoef(): expected input to have two or fewer dimensions but got an input with " + std::to_string(self.dim()) + " dimensions");
  const Tensor c = ops::cov::call(self, 1, std::optional<Tensor>(), std::optional<Tensor>());
  if (c.dim() == 0) return ops::div_Tensor::call(c, c);
  const Tensor spread = ops::sqrt::call(ops::diagonal::call(c, 0, 0, 1));
  const Tensor down = ops::div_Tensor::call(c, ops::view::call(spread, SizeVector{-1, 1}));
  return ops::clip::call(ops::div_Tensor::call(down, ops::view::call(spread, SizeVector{1, -1})), -1, 1);
}

Tensor dist(const Tensor& self, const Tensor& other, const Scalar& p) { return ops::norm_Scalar::call(ops::sub_Tensor::call(self, other), p); }
Tensor norm(const Tensor& self, const Scalar& p) { return ops::norm_ScalarOpt_dim::call(self, p, Sizes(), false); }

}  // namespace peel::kernels
