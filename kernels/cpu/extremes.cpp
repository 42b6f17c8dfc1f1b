// Largest and smallest values, products, truth of all or any.
#include <algorithm>
#include <limits>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

constexpr auto kGreater = [](auto a, auto b) { return a > b; };
constexpr auto kLess = [](auto a, auto b) { return a < b; };

// Index of the first extreme; a NaN is more extreme than any number.
template <class T, class Better>
int64_t best(const T* row, int64_t n, Better better) {
  int64_t at = 0;
  for (int64_t k = 0; k < n; ++k) {
    const auto v = static_cast<Math<T>>(row[k]), top = static_cast<Math<T>>(row[at]);
    if (v != v) return k;
    if (better(v, top)) at = k;
  }
  return at;
}

template <class Better>
void fill_best(const Tensor& in, const std::vector<bool>& gone, Tensor* values, Tensor* indices, const char* name, Better better) {
  const Rows rows = rows_of(in, gone);
  *values = empty(SizeVector{rows.count}, in.dtype());
  *indices = empty(SizeVector{rows.count}, ScalarType::Long);
  with_real_type(in.dtype(), name, [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* row = rows.data.data_as<T>() + r * rows.length;
      const int64_t at = best(row, rows.length, better);
      values->data_as<T>()[r] = row[at];
      indices->data_as<int64_t>()[r] = at;
    }
  });
}

template <class Better>
Tensor of_all(const Tensor& self, const char* name, Better better, Tensor* given = nullptr) {
  if (self.numel() == 0) {
    throw Error(std::string(name) + "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  }
  Tensor out = given ? *given : ops::empty_memory_format::call(Sizes(), self.dtype(), Layout::Strided, self.device());
  if (given && out.dim() != 0) reshape_out(out, Sizes());
  const Tensor in = made_contiguous(self);
  Tensor values, indices;
  fill_best(in, named_dims(std::nullopt, in.dim()), &values, &indices, name, better);
  return ops::fill__Scalar::call(out, with_real_type(in.dtype(), name, [&]<class T>(T) { return Scalar(static_cast<Math<T>>(*values.data_as<T>())); }));
}

/// `named`: what the error calls it.
void check_not_empty(const Tensor& self, int64_t d, int64_t named, const char* name) {
  if (self.dim() > 0 && self.numel() == 0 && self.sizes()[static_cast<size_t>(d)] == 0) {
    throw IndexError(std::string(name) + "(): Expected reduction dim " + std::to_string(named) + " to have non-zero size.");
  }
}

template <class Better>
std::tuple<Tensor, Tensor> along(const Tensor& self, int64_t dim, bool keepdim, const char* name, Better better) {
  const int64_t d = wrap_dimension(dim, self.dim());
  check_not_empty(self, d, d, name);
  const auto gone = named_dims(dim, self.dim());
  const SizeVector shape = reduced_shape(self.sizes(), gone, keepdim);
  Tensor out = empty(shape, self.dtype(), self.device()), where = empty(shape, ScalarType::Long, self.device());
  if (self.dim() == 0) {  // a number is its own extreme
    ops::fill__Tensor::call(out, self);
    ops::fill__Scalar::call(where, 0);
    return {out, where};
  }
  const bool folded = !keepdim && self.numel() > 0;
  if (folded) {  // stock gives its results the dimension and takes it away again
    ops::unsqueeze_::call(out, d);
    ops::unsqueeze_::call(where, d);
  }
  Tensor values, indices;
  fill_best(self, gone, &values, &indices, name, better);
  put_reduced(out, gone, values);
  put_reduced(where, gone, indices);
  if (folded) {
    ops::squeeze__dim::call(out, d);
    ops::squeeze__dim::call(where, d);
  }
  return {out, where};
}

template <class Better>
Tensor extreme(const Tensor& self, Sizes dims, bool keepdim, const char* name, Better better) {
  const auto gone = named_dims(dims, self.dim());
  for (const int64_t named : dims) check_not_empty(self, wrap_dimension(named, self.dim()), named, name);
  if (self.numel() == 0 && dims.empty()) {
    throw Error(std::string(name) + "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  }
  const Tensor result = empty(reduced_shape(self.sizes(), gone, keepdim), self.dtype(), self.device());
  Tensor out = with_all_dims(result, self.sizes(), gone, keepdim);
  if (self.numel() == 0) return result;
  const double start = better(1.0, 0.0) ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (is_floating(self.dtype())) ops::fill__Scalar::call(out, start);
  else ops::fill__Scalar::call(out, self.dtype() == ScalarType::Bool ? Scalar(start > 0) : Scalar(int64_t{0}));
  Tensor values, indices;
  fill_best(self, gone, &values, &indices, name, better);
  put_reduced(out, gone, values);
  return result;
}

template <class Better>
Tensor index_of(const Tensor& self, std::optional<int64_t> dim, bool keepdim, const char* name, Better better) {
  if (self.dtype() == ScalarType::Bool) throw Error(std::string(name) + "(): does not support bool input");
  if (!dim && self.numel() == 0) {
    throw IndexError(std::string(name) + "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  }
  if (dim) check_not_empty(self, wrap_dimension(*dim, self.dim()), wrap_dimension(*dim, self.dim()), name);
  const std::vector<bool> gone = dim ? named_dims(*dim, self.dim()) : named_dims(std::nullopt, self.dim());
  Tensor result = empty(reduced_shape(self.sizes(), gone, keepdim), ScalarType::Long, self.device());
  if (dim && self.dim() > 0 && self.size(*dim) == 1) return ops::fill__Scalar::call(result, 0);
  const Tensor in = dim ? self : ops::reshape::call(self, SizeVector{-1});
  const std::vector<bool> in_gone = dim ? gone : std::vector<bool>{true};
  const Tensor out = with_all_dims(result, in.sizes(), in_gone, keepdim);
  Tensor values, indices;
  fill_best(in, in_gone, &values, &indices, name, better);
  put_reduced(out, in_gone, indices);
  return result;
}

Tensor truth_of(const Tensor& self, std::optional<Sizes> dims, bool keepdim, bool any) {
  const auto gone = named_dims(dims, self.dim());
  const Tensor result = empty(reduced_shape(self.sizes(), gone, keepdim), ScalarType::Bool, self.device());
  if (self.numel() <= 1) {
    Tensor all = result;
    if (self.numel() == 0) return ops::fill__Scalar::call(all, any ? 0 : 1);
    return ops::copy_::call(all, ops::to_dtype::call(ops::view_as::call(self, result), ScalarType::Bool));
  }
  Tensor out = with_all_dims(result, self.sizes(), gone, keepdim);
  const Tensor in = self.dtype() == ScalarType::Bool ? self : ops::to_dtype::call(self, ScalarType::Bool);
  ops::fill__Scalar::call(out, !any);
  const Rows rows = rows_of(in, gone);
  const Tensor values = empty(SizeVector{rows.count}, ScalarType::Bool);
  for (int64_t r = 0; r < rows.count; ++r) {
    const bool* row = rows.data.data_as<bool>() + r * rows.length;
    values.data_as<bool>()[r] = any ? std::any_of(row, row + rows.length, [](bool v) { return v; }) : std::all_of(row, row + rows.length, [](bool v) { return v; });
  }
  put_reduced(out, gone, values);
  return result;
}

void product_into(const Tensor& result, const Tensor& self, const std::vector<bool>& gone, bool keepdim) {
  Tensor out = with_all_dims(result, self.sizes(), gone, keepdim);
  const Tensor in = self.dtype() == result.dtype() ? self : ops::to_dtype::call(self, result.dtype());
  ops::fill__Scalar::call(out, 1);
  const Rows rows = rows_of(in, gone);
  const Tensor values = empty(SizeVector{rows.count}, in.dtype());
  with_any_type(in.dtype(), "prod_cpu", [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      Math<T> all = 1;
      for (int64_t k = 0; k < rows.length; ++k) all = static_cast<Math<T>>(all * static_cast<Math<T>>(rows.data.data_as<T>()[r * rows.length + k]));
      values.data_as<T>()[r] = static_cast<T>(all);
    }
  });
  put_reduced(out, gone, values);
}
ScalarType type_of_product(const Tensor& self, std::optional<ScalarType> dtype) { 
  return dtype.value_or(is_floating(self.dtype()) || is_complex(self.dtype()) ? self.dtype() : ScalarType::Long);
}

}  // namespace

Tensor max(const Tensor& self) { return of_all(self, "max", kGreater); }
Tensor min(const Tensor& self) { return of_all(self, "min", kLess); }
Tensor& max_all_out(const Tensor& self, Tensor& out) {
  of_all(self, "max", kGreater, &out);
  return out;
}
Tensor& min_all_out(const Tensor& self, Tensor& out) {
  of_all(self, "min", kLess, &out);
  return out;
}
std::tuple<Tensor, Tensor> max(const Tensor& self, int64_t dim, bool keepdim) { return along(self, dim, keepdim, "max", kGreater); }
std::tuple<Tensor, Tensor> min(const Tensor& self, int64_t dim, bool keepdim) { return along(self, dim, keepdim, "min", kLess); }
Tensor amax(const Tensor& self, Sizes dim, bool keepdim) { return extreme(self, dim, keepdim, "amax", kGreater); }
Tensor amin(const Tensor& self, Sizes dim, bool keepdim) { return extreme(self, dim, keepdim, "amin", kLess); }
Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) { return index_of(self, dim, keepdim, "argmax", kGreater); }
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) { return index_of(self, dim, keepdim, "argmin", kLess); }
std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const std::vector<bool> gone = dim ? named_dims(*dim, self.dim()) : named_dims(std::nullopt, self.dim());
  if (self.numel() == 0) throw Error("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  const SizeVector shape = reduced_shape(self.sizes(), gone, keepdim), all = reduced_shape(self.sizes(), gone, true);
  Tensor low = empty(shape, self.dtype(), self.device()), high = empty(shape, self.dtype(), self.device());
  if (!dim) {
    ops::fill__Scalar::call(low, 0);
    ops::fill__Scalar::call(high, 0);
  }
  for (const bool top : {false, true}) {
    Tensor values, indices;
    if (top) fill_best(self, gone, &values, &indices, "aminmax_cpu", kGreater);
    else fill_best(self, gone, &values, &indices, "aminmax_cpu", kLess);
    put_reduced(view_of(top ? high : low, all, contiguous_strides(all), 0), gone, values);
  }
  return {low, high};
}

Tensor _is_all_true(const Tensor& self) { return ops::all::call(self); }
Tensor _is_any_true(const Tensor& self) { return ops::any::call(self); }
Tensor any(const Tensor& self) { return truth_of(self, std::nullopt, false, true); }
Tensor all(const Tensor& self) { return truth_of(self, std::nullopt, false, false); }
Tensor any(const Tensor& self, int64_t dim, bool keepdim) { return truth_of(self, Sizes(&dim, 1), keepdim, true); }
Tensor all(const Tensor& self, int64_t dim, bool keepdim) { return truth_of(self, Sizes(&dim, 1), keepdim, false); }

Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
  Tensor result = ops::empty_memory_format::call(Sizes(), type_of_product(self, dtype), Layout::Strided, self.device());
  product_into(result, self, named_dims(std::nullopt, self.dim()), false);
  return result;
}
Tensor prod(const Tensor& self, int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
  const auto gone = named_dims(dim, self.dim());
  const Tensor result = empty(reduced_shape(self.sizes(), gone, keepdim), type_of_product(self, dtype), self.device());
  product_into(result, self, gone, keepdim);
  return result;
}

}  // namespace peel::kernels
