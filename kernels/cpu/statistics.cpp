// Variances, norms, and what is computed along one dimension: softmax, running sums and products.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

struct Moments {
  double mean = 0, squares = 0;  // of the differences from the mean
};
template <class T>
Moments moments(const T* row, int64_t n) {  // one pass
  Moments m;
  for (int64_t k = 0; k < n; ++k) {
    const double x = static_cast<double>(static_cast<Math<T>>(row[k])), away = x - m.mean;
    m.mean += away / static_cast<double>(k + 1);
    m.squares += away * (x - m.mean);
  }
  return m;
}
double spread(const Moments& m, int64_t n, double correction, bool root) {
  const double v = m.squares / std::max(0.0, static_cast<double>(n) - correction);
  return root ? std::sqrt(v) : v;
}
double correction_of(const std::optional<Scalar>& s) { return s ? s->value.to_double() : 1; }

void need_floating(const char* name, const Tensor& self) {
  if (!is_floating(self.dtype()) && !is_complex(self.dtype())) {
    throw Error(std::string(name) + " only support floating point and complex dtypes");
  }
}

Tensor spread_into(Tensor result, const char* name, const Tensor& self, std::optional<Sizes> dims, const std::optional<Scalar>& correction, bool keepdim, bool root) {
  need_floating("std and var", self);
  const auto gone = named_dims(dims, self.dim());
  const SizeVector shape = reduced_shape(self.sizes(), gone, keepdim);
  if (!std::ranges::equal(result.sizes(), shape)) reshape_out(result, shape);
  const Tensor out = with_all_dims(result, self.sizes(), gone, keepdim);
  if (self.numel() == 0) return ops::fill__Scalar::call(result, std::numeric_limits<double>::quiet_NaN());
  const Rows rows = rows_of(self, gone);
  const double c = correction_of(correction);
  if (rows.count == 1 && result.numel() == 1 && (self.dtype() == ScalarType::Float || self.dtype() == ScalarType::Double)) {
    const double mean = ops::item::call(ops::mean::call(self)).value.to_double();  // as stock's for one value
    double squares = 0;
    with_floating(self.dtype(), name, [&]<class T>(T) {
      for (int64_t k = 0; k < rows.length; ++k) {
        const double away = static_cast<double>(rows.data.data_as<T>()[k]) - mean;
        squares += away * away;
      }
    });
    return ops::fill__Scalar::call(result, spread({mean, squares}, rows.length, c, root));
  }
  const Tensor values = empty(SizeVector{rows.count}, self.dtype());
  with_floating(self.dtype(), name, [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) values.data_as<T>()[r] = static_cast<T>(spread(moments(rows.data.data_as<T>() + r * rows.length, rows.length), rows.length, c, root));
  });
  put_reduced(out, gone, values);
  return result;
}
Tensor spread_of(const char* name, const Tensor& self, std::optional<Sizes> dims, const std::optional<Scalar>& correction, bool keepdim, bool root) {
  return spread_into(ops::empty_memory_format::call(Sizes(), self.dtype(), Layout::Strided, self.device()), name, self, dims, correction, keepdim, root);
}

}  // namespace

Tensor& var_out(const Tensor& self, std::optional<Sizes> dim, const std::optional<Scalar>& correction, bool keepdim, Tensor& out) {
  spread_into(out, "std_cpu", self, dim, correction, keepdim, false);
  return out;
}
Tensor& stdev_out(const Tensor& self, std::optional<Sizes> dim, const std::optional<Scalar>& correction, bool keepdim, Tensor& out) {
  spread_into(out, "std_cpu", self, dim, correction, keepdim, true);
  return out;
}

Tensor var(const Tensor& self, std::optional<Sizes> dim, const std::optional<Scalar>& correction, bool keepdim) {
  return spread_of("std_cpu", self, dim, correction, keepdim, false);
}
Tensor stdev(const Tensor& self, std::optional<Sizes> dim, const std::optional<Scalar>& correction, bool keepdim) {
  return spread_of("std_cpu", self, dim, correction, keepdim, true);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, std::optional<Sizes> dim, const std::optional<Scalar>& correction, bool keepdim) {
  need_floating("var_mean", self);
  const auto gone = named_dims(dim, self.dim());
  const SizeVector shape = reduced_shape(self.sizes(), gone, keepdim);
  Tensor var = ops::empty_memory_format::call(shape, self.dtype(), Layout::Strided, self.device());
  Tensor mean = ops::empty_memory_format::call(shape, self.dtype(), Layout::Strided, self.device());
  const Tensor out = with_all_dims(var, self.sizes(), gone, keepdim), out_mean = with_all_dims(mean, self.sizes(), gone, keepdim);
  const Rows rows = rows_of(self, gone);
  const Tensor a = empty(SizeVector{rows.count}, self.dtype()), b = empty(SizeVector{rows.count}, self.dtype());
  with_floating(self.dtype(), "std_cpu", [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      const Moments m = moments(rows.data.data_as<T>() + r * rows.length, rows.length);
      a.data_as<T>()[r] = static_cast<T>(spread(m, rows.length, correction_of(correction), false));
      b.data_as<T>()[r] = static_cast<T>(rows.length ? m.mean : std::numeric_limits<double>::quiet_NaN());
    }
  });
  put_reduced(out, gone, a);
  put_reduced(out_mean, gone, b);
  return {var, mean};
}

std::tuple<Tensor, Tensor> std_mean(const Tensor& self, std::optional<Sizes> dim, const std::optional<Scalar>& correction, bool keepdim) {
  need_floating("std_mean", self);
  auto [spread, mean] = var_mean(self, dim, correction, keepdim);
  with_floating(self.dtype(), "std_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < spread.numel(); ++i) spread.template data_as<T>()[i] = static_cast<T>(std::sqrt(static_cast<Math<T>>(spread.template data_as<T>()[i])));
  });
  return {spread, mean};
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, Sizes dim, bool keepdim) {
  const auto gone = named_dims(dim, self.dim());
  Tensor out = empty(reduced_shape(self.sizes(), gone, keepdim), self.dtype(), self.device());
  return ops::linalg_vector_norm_out::call(self, p.value_or(Scalar(2.0)), dim, keepdim, std::nullopt, out);
}

Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  if (!is_floating(self.dtype()) && !is_complex(self.dtype())) {
    throw Error(std::string("linalg.vector_norm: Expected a floating point or complex tensor as input. Got ") + to_string(self.dtype()));
  }
  const auto gone = named_dims(dim, self.dim());
  const ScalarType t = dtype.value_or(self.dtype());
  Tensor result = empty(reduced_shape(self.sizes(), gone, keepdim), t, self.device());
  int64_t length = 1;
  for (size_t d = 0; d < gone.size(); ++d) length *= gone[d] ? self.sizes()[d] : 1;
  const double p = ord.value.to_double();
  if (length == 1 && p != 0 && self.dim() > 0) {  // one element: its size
    SizeVector all;
    for (size_t d = 0; d < gone.size(); ++d) {
      if (gone[d]) all.push_back(static_cast<int64_t>(d));
    }
    const Tensor in = keepdim ? self : ops::squeeze_dims::call(self, dim && !dim->empty() ? *dim : Sizes(all));
    return ops::abs_out::call(in, result);
  }
  const Tensor out = with_all_dims(result, self.sizes(), gone, keepdim);
  const Rows rows = rows_of(t == self.dtype() ? self : ops::to_dtype::call(self, t), gone);
  const Tensor values = empty(SizeVector{rows.count}, t);
  with_floating(t, "norm_cpu", [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      double total = p < 0 && std::isinf(p) ? std::numeric_limits<double>::infinity() : 0;
      for (int64_t k = 0; k < rows.length; ++k) {
        const double x = std::abs(static_cast<double>(static_cast<Math<T>>(rows.data.data_as<T>()[r * rows.length + k])));
        if (std::isinf(p)) total = x != x || total != total ? std::numeric_limits<double>::quiet_NaN() : p > 0 ? std::max(total, x) : std::min(total, x);
        else total += p == 0 ? x != 0 : p == 1 ? x : p == 2 ? x * x : std::pow(x, p);
      }
      const double norm = std::isinf(p) || p == 0 || p == 1 ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
      values.data_as<T>()[r] = static_cast<T>(norm);
    }
  });
  put_reduced(out, gone, values);
  return result;
}

namespace {

// Rows of `in` along `dim` into rows of a new tensor: f(out, in, n).
template <class F>
Tensor along(const char* name, const Tensor& in, int64_t dim, ScalarType type, F f) {
  const auto named = named_dims(dim, in.dim());
  const Tensor out = empty(in.sizes(), type, in.device());
  const Rows rows = rows_of(in, named), results = rows_like(out, named);
  with_type(type, name, [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) f(results.data.data_as<T>() + r * rows.length, rows.data.data_as<T>() + r * rows.length, rows.length);
  });
  put_rows(out, named, results);
  return out;
}
// Two inputs.
template <class F>
Tensor along(const char* name, const Tensor& a, const Tensor& b, int64_t dim, F f) {
  const auto named = named_dims(dim, a.dim());
  const Tensor out = empty(a.sizes(), a.dtype(), a.device());
  const Rows x = rows_of(a, named), y = rows_of(b, named), results = rows_like(out, named);
  with_floating(a.dtype(), name, [&]<class T>(T) {
    for (int64_t r = 0; r < x.count; ++r) {
      const int64_t at = r * x.length;
      f(results.data.data_as<T>() + at, x.data.data_as<T>() + at, y.data.data_as<T>() + at, x.length);
    }
  });
  put_rows(out, named, results);
  return out;
}

template <class T>
using Total = std::conditional_t<kIsFloating<T>, double, int64_t>;

Tensor running(const char* name, const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, bool product) {
  wrap_dimension(dim, self.dim());
  const ScalarType t = dtype.value_or(is_floating(self.dtype()) ? self.dtype() : ScalarType::Long);
  if (self.dim() == 0 || self.numel() == 0) {
    Tensor out = empty(self.sizes(), t, self.device());
    return self.dim() == 0 ? ops::fill__Tensor::call(out, self) : ops::zero_::call(out);
  }
  const Tensor in = ops::to_dtype::call(self, t);
  return along(name, in, dim, t, [product]<class T>(T* out, const T* x, int64_t n) {
    Total<T> total = product ? 1 : 0;
    for (int64_t k = 0; k < n; ++k) {
      const auto v = static_cast<Total<T>>(static_cast<Math<T>>(x[k]));
      total = product ? static_cast<Total<T>>(total * v) : static_cast<Total<T>>(total + v);
      out[k] = static_cast<T>(total);
    }
  });
}

template <class T>
std::pair<double, double> largest_and_sum(const T* x, int64_t n) {  // of exp(x - largest)
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (int64_t k = 0; k < n; ++k) top = std::max(top, static_cast<double>(static_cast<Math<T>>(x[k])));
  for (int64_t k = 0; k < n; ++k) total += std::exp(static_cast<double>(static_cast<Math<T>>(x[k])) - top);
  return {top, total};
}
// Row-major, with a dimension; stock has a kernel for the last dimension and one for others.
Tensor softmax_input(const Tensor& t) { return t.dim() == 0 ? ops::view::call(t, SizeVector{1}) : made_contiguous(t); }
void check_softmax(const std::string& name, const Tensor& t, int64_t dim) {
  const int64_t d = wrap_dimension(dim, t.dim());
  if (!is_floating(t.dtype()) && t.numel() > 0) no_kernel_for((name + (d == std::max<int64_t>(t.dim(), 1) - 1 ? "_lastdim_kernel_impl" : "_kernel_impl")).c_str(), t.dtype());
}
Tensor softmax_along(const Tensor& in, int64_t dim) {
  return along("softmax_lastdim_kernel_impl", in, dim, in.dtype(), []<class T>(T* out, const T* x, int64_t n) {
    const auto [top, total] = largest_and_sum(x, n);
    for (int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(std::exp(static_cast<double>(static_cast<Math<T>>(x[k])) - top) / total);
  });
}
Tensor shaped(const Tensor& out, const Tensor& like) { return like.dim() == 0 ? view_of(out, Sizes(), Sizes(), 0) : out; }

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) { return running("cumsum_out_cpu", self, dim, dtype, false); }
Tensor cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) { return running("cumprod_out_cpu", self, dim, dtype, true); }

Tensor _softmax(const Tensor& self, int64_t dim, bool) {
  wrap_dimension(dim, self.dim());
  const Tensor in = softmax_input(self);
  check_softmax("softmax", in, dim);
  return shaped(softmax_along(in, dim), self);
}
Tensor _masked_softmax(const Tensor& self, const Tensor& mask, std::optional<int64_t> dim, std::optional<int64_t> mask_type) {
  constexpr int64_t kSource = 0, kPadding = 1, kWhole = 2;
  if (mask.dtype() != ScalarType::Bool) throw Error("Mask should be a boolean tensor");
  const int64_t kind = mask_type.value_or(kWhole);
  const auto of = [&](SizeVector shape) { return std::ranges::equal(mask.sizes(), shape); };
  const auto size = [&](int64_t d) { return self.size(d); };
  SizeVector before(mask.sizes().begin(), mask.sizes().end());
  if (kind == kSource) {
    if (self.dim() != 4 || !of({size(2), size(2)})) throw Error("For mask_type == 0 mask shape should be (L, L)");
    before = {1, 1, size(2), size(2)};
  } else if (kind == kPadding) {
    if (self.dim() != 4 || !of({size(0), size(2)})) throw Error("For mask_type == 1 mask shape should be (B, L)");
    before = {size(0), 1, 1, size(2)};
  } else if (kind == kWhole) {
    if (!std::ranges::equal(mask.sizes(), self.sizes())) throw Error("For mask_type == 2 mask shape should match input shape");
  } else {
    throw Error("Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)");
  }
  const Tensor out = ops::empty_like::call(self), flat = made_contiguous(mask);
  const Geometry g = core::expand(before, kind == kWhole ? contiguous_strides(before) : kind == kSource ? SizeVector{0, 0, size(2), 1} : SizeVector{size(2), 0, 0, 1}, self.sizes());
  copy_elements(out, self);
  with_floating(self.dtype(), "masked_softmax", [&]<class T>(T) {
    Walk<2> walk(self.sizes());
    walk.set(0, out);
    walk.set(1, view_of(flat, g.sizes, g.strides, flat.storage_offset()));
    each<T, bool>(walk, [](T& x, bool gone) {
      if (gone) x = static_cast<T>(-std::numeric_limits<float>::infinity());
    });
  });
  copy_elements(out, softmax_along(out, dim.value_or(self.dim() - 1)));
  return out;
}
Tensor _log_softmax(const Tensor& self, int64_t dim, bool) {
  wrap_dimension(dim, self.dim());
  const Tensor in = softmax_input(self);
  check_softmax("log_softmax", in, dim);
  const bool last = wrap_dimension(dim, self.dim()) == std::max<int64_t>(self.dim() - 1, 0);
  return shaped(along("log_softmax_lastdim_kernel_impl", in, dim, in.dtype(), [last]<class T>(T* out, const T* x, int64_t n) {
    const auto [top, total] = largest_and_sum(x, n);
    double log = std::log(total);
    if constexpr (sizeof(T) == 2) {  // stock keeps the sums of rows, and their logarithms, in the tensor's own type
      if (last) log = static_cast<Math<T>>(static_cast<T>(std::log(static_cast<Math<T>>(static_cast<T>(total)))));
    }
    for (int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(static_cast<double>(static_cast<Math<T>>(x[k])) - top - log);
  }), self);
}
Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType) {
  const Tensor grad = softmax_input(grad_output), y = softmax_input(output);
  return shaped(along("softmax_backward", grad, y, dim, []<class T>(T* out, const T* g, const T* o, int64_t n) {
    double total = 0;
    for (int64_t k = 0; k < n; ++k) total += static_cast<double>(static_cast<Math<T>>(g[k])) * static_cast<Math<T>>(o[k]);
    for (int64_t k = 0; k < n; ++k) out[k] = static_cast<T>((static_cast<Math<T>>(g[k]) - total) * static_cast<Math<T>>(o[k]));
  }), output);
}
Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, ScalarType) {
  const Tensor grad = softmax_input(grad_output), y = softmax_input(output);
  return shaped(along("log_softmax_backward", grad, y, dim, []<class T>(T* out, const T* g, const T* o, int64_t n) {
    double total = 0;
    for (int64_t k = 0; k < n; ++k) total += static_cast<double>(static_cast<Math<T>>(g[k]));
    for (int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(static_cast<Math<T>>(g[k]) - std::exp(static_cast<double>(static_cast<Math<T>>(o[k]))) * total);
  }), output);
}

}  // namespace peel::kernels
