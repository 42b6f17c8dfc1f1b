// Counts, medians, what differs, and drawing by weights.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/random.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

Tensor flat(const Tensor& t) { return rows_of(t, named_dims(std::nullopt, t.dim())).data; }

// NaN first: it is every median's, unless it is left out.
template <class T>
size_t middle_of(const T* row, size_t n, std::vector<size_t>* order, bool without_nan) {
  order->clear();
  for (size_t i = 0; i < n; ++i) {
    if (static_cast<Math<T>>(row[i]) == static_cast<Math<T>>(row[i])) order->push_back(i);
    else if (!without_nan) return i;
  }
  if (order->empty()) return 0;
  n = order->size();
  const auto at = order->begin() + static_cast<ptrdiff_t>((n - 1) / 2);
  std::nth_element(order->begin(), at, order->end(), [row](size_t a, size_t b) {
    const auto x = static_cast<Math<T>>(row[a]), y = static_cast<Math<T>>(row[b]);
    return x < y || (x == y && a < b);
  });
  return *at;
}

}  // namespace

Tensor bincount(const Tensor& given, const std::optional<Tensor>& weights, int64_t minlength) {
  const Tensor self = given.dim() == 1 && !given.is_contiguous() ? ops::contiguous::call(given, MemoryFormat::Contiguous) : given;
  if (minlength < 0) throw Error("minlength should be >= 0");
  const bool weighed = weights && weights->defined();
  if (self.dim() == 1 && self.numel() == 0) return ops::zeros::call(SizeVector{minlength}, ScalarType::Long, Layout::Strided, self.device());
  if (is_floating(self.dtype()) || self.dtype() == ScalarType::Bool) no_kernel_for("bincount_cpu", self.dtype());
  if (self.dim() != 1) throw Error("bincount only supports 1-d non-negative integral inputs.");
  const Tensor all = self.is_contiguous() ? self : ops::contiguous::call(self);
  const std::vector<int64_t> values = whole_numbers_of(all);
  ops::min::call(all);
  if (std::ranges::min(values) < 0) throw Error("bincount only supports 1-d non-negative integral inputs.");
  if (weighed && (weights->dim() != 1 || weights->size(0) != self.size(0))) throw Error("weights should be 1-d and have the same length as input");
  ops::max::call(all);
  const int64_t n = std::max(minlength, std::ranges::max(values) + 1);
  const ScalarType type = !weighed ? ScalarType::Long : weights->dtype() == ScalarType::Float ? ScalarType::Float : ScalarType::Double;
  const Tensor out = ops::zeros::call(SizeVector{n}, type, Layout::Strided, self.device());
  if (!weighed) {
    for (const int64_t v : values) ++out.data_as<int64_t>()[v];
    return out;
  }
  const Tensor w = type == weights->dtype() ? *weights : ops::to_dtype::call(*weights, ScalarType::Double);
  const Tensor each_weight = flat(w);
  with_floating(type, "bincount_cpu", [&]<class T>(T) {
    if constexpr (!kIsSmallFloat<T>) {
      for (size_t i = 0; i < values.size(); ++i) out.data_as<T>()[values[i]] += each_weight.data_as<T>()[i];
    }
  });
  return out;
}

Tensor count_nonzero(const Tensor& self, Sizes dim) {
  if (!dim.empty()) return ops::sum_dim_IntList::call(ops::ne_Scalar::call(self, 0), dim, false, {});
  Tensor out = ops::empty_memory_format::call(SizeVector{1}, ScalarType::Long, Layout::Strided, self.device());
  const Tensor all = flat(self);
  int64_t n = 0;
  with_real_type(self.dtype(), "count_nonzero_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < self.numel(); ++i) n += static_cast<Math<T>>(all.data_as<T>()[i]) != Math<T>{};
  });
  *out.data_as<int64_t>() = n;
  out.impl().sizes.clear();
  out.impl().strides.clear();
  return out;
}
Tensor count_nonzero(const Tensor& self, std::optional<int64_t> dim) {
  return ops::count_nonzero_dim_IntList::call(self, dim ? SizeVector{*dim} : SizeVector());
}

namespace {

Tensor median_of(const Tensor& self, bool without_nan) {
  const Tensor copy = ops::clone::call(self);
  const Tensor out = ops::empty_memory_format::call(Sizes(), self.dtype(), Layout::Strided, self.device());
  const Tensor all = flat(copy);
  with_type(self.dtype(), "median_cpu", [&]<class T>(T) {
    if (self.numel() == 0) {
      if constexpr (kIsFloating<T>) *out.data_as<T>() = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
      else throw Error("median() operation does not have an identity for empty input");
      return;
    }
    std::vector<size_t> order;
    *out.data_as<T>() = all.data_as<T>()[middle_of(all.data_as<T>(), static_cast<size_t>(self.numel()), &order, without_nan)];
  });
  return out;
}
std::tuple<Tensor&, Tensor&> medians_into(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices, bool without_nan) {
  const int64_t d = wrap_dimension(dim, self.dim());
  const auto gone = named_dims(d, self.dim());
  if (self.dim() > 0 && self.size(d) == 0) throw IndexError("median(): Expected reduction dim " + std::to_string(d) + " to have non-zero size.");
  const SizeVector shape = reduced_shape(self.sizes(), gone, keepdim);
  reshape_out(values, shape);
  reshape_out(indices, shape);
  if (self.dim() == 0) ops::unsqueeze::call(self, d);
  const bool adds_dim = self.dim() == 0 || !keepdim;
  const Tensor v_dims = adds_dim ? ops::unsqueeze::call(values, d) : values, i_dims = adds_dim ? ops::unsqueeze::call(indices, d) : indices;
  if (self.dim() > 0 && self.strides()[static_cast<size_t>(d)] > 1) {  // stock works along what lies together
    const auto moved_last = [d](const Tensor& t) {
      Tensor out = ops::unsqueeze::call(t, -1);
      ops::transpose_::call(out, d, -1);
      return ops::squeeze__dim::call(out, d);
    };
    made_contiguous(moved_last(self));
    moved_last(v_dims);
    moved_last(i_dims);
  }
  const Rows rows = rows_of(self, gone);
  const Tensor v = empty(SizeVector{rows.count}, self.dtype()), i = empty(SizeVector{rows.count}, ScalarType::Long);
  with_type(self.dtype(), "median_out", [&]<class T>(T) {
    std::vector<size_t> order;
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* row = rows.data.data_as<T>() + r * rows.length;
      const size_t at = middle_of(row, static_cast<size_t>(rows.length), &order, without_nan);
      v.data_as<T>()[r] = row[at];
      i.data_as<int64_t>()[r] = static_cast<int64_t>(at);
    }
  });
  copy_elements(values, view_of(v, values.sizes(), contiguous_strides(values.sizes()), 0));
  copy_elements(indices, view_of(i, indices.sizes(), contiguous_strides(indices.sizes()), 0));
  return {values, indices};
}

}  // namespace

Tensor median(const Tensor& self) { return median_of(self, false); }
Tensor nanmedian(const Tensor& self) { return median_of(self, true); }
std::tuple<Tensor&, Tensor&> median_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  return medians_into(self, dim, keepdim, values, indices, false);
}
std::tuple<Tensor&, Tensor&> nanmedian_out(const Tensor& self, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  return medians_into(self, dim, keepdim, values, indices, true);
}
std::tuple<Tensor, Tensor> nanmedian(const Tensor& self, int64_t dim, bool keepdim) {
  Tensor values = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  Tensor indices = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, Layout::Strided, self.device());
  ops::nanmedian_dim_values::call(self, dim, keepdim, values, indices);
  return {values, indices};
}
std::tuple<Tensor, Tensor> median(const Tensor& self, int64_t dim, bool keepdim) {
  Tensor values = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  Tensor indices = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, Layout::Strided, self.device());
  ops::median_dim_values::call(self, dim, keepdim, values, indices);
  return {values, indices};
}

std::tuple<Tensor, Tensor, Tensor> unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  const auto none = [&self](ScalarType t) { return ops::empty_memory_format::call(SizeVector{0}, t, Layout::Strided, self.device()); };
  Tensor out = none(self.dtype()), inverse = none(ScalarType::Long), counts = none(ScalarType::Long), places = none(ScalarType::Long);
  if (self.numel() == 0) return {out, inverse, counts};
  const auto [sorted, order] = ops::sort::call(ops::flatten_using_ints::call(self), -1, false);
  std::vector<int64_t> firsts;
  with_real_type(self.dtype(), "unique", [&]<class T>(T) {
    const T* v = sorted.data_as<T>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      if (i == 0 || static_cast<Math<T>>(v[i]) != static_cast<Math<T>>(v[i - 1])) firsts.push_back(i);
    }
    const auto n = static_cast<int64_t>(firsts.size());
    ops::resize_::call(out, SizeVector{n});
    for (size_t k = 0; k < firsts.size(); ++k) out.data_as<T>()[k] = v[firsts[k]];
    if (return_inverse) {
      ops::resize_::call(inverse, self.sizes());
      size_t group = 0;
      for (int64_t i = 0; i < self.numel(); ++i) {
        while (group + 1 < firsts.size() && firsts[group + 1] <= i) ++group;
        inverse.data_as<int64_t>()[order.template data_as<int64_t>()[i]] = static_cast<int64_t>(group);
      }
    }
    if (return_counts) {
      ops::resize_::call(counts, SizeVector{n});
      ops::resize_::call(places, SizeVector{n});
      for (size_t k = 0; k < firsts.size(); ++k) counts.data_as<int64_t>()[k] = (k + 1 < firsts.size() ? firsts[k + 1] : self.numel()) - firsts[k];
    }
  });
  return {out, inverse, counts};
}

void assert_async(const Tensor& self, std::string_view assert_msg) {
  if (ops::item::call(self).value.to_complex() == 0.0) throw Error(std::string(assert_msg));
}
void assert_async(const Tensor& self) {
  if (ops::item::call(self).value.to_complex() == 0.0) throw Error("Expected Tensor with single nonzero value, but got zero");
}

Tensor& multinomial_out(const Tensor& self, int64_t num_samples, bool replacement, const std::optional<GeneratorHandle>& generator, Tensor& out) {
  if (self.dim() != 1 && self.dim() != 2) throw Error("prob_dist must be 1 or 2 dim");
  if (!is_floating(self.dtype())) throw Error(std::string("multinomial only supports floating-point dtypes for input, got: ") + to_string(self.dtype()));
  if (num_samples <= 0) throw Error("cannot sample n_sample <= 0 samples");
  const int64_t kinds = self.size(-1), rows = self.dim() == 2 ? self.size(0) : 1;
  if (!replacement && num_samples > kinds) throw Error("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  ops::resize_::call(out, self.dim() == 2 ? SizeVector{rows, num_samples} : SizeVector{num_samples});
  if (out.numel() == 0) return out;
  if (!replacement || num_samples == 1) {  // the largest of weights over exponential numbers
    const auto [low, high] = ops::aminmax::call(self);
    const Tensor no_debt = ops::ge_Scalar::call(low, 0);
    const Tensor fits = ops::bitwise_and_Tensor::call(no_debt, ops::lt_Scalar::call(high, std::numeric_limits<double>::infinity()));
    ops::_assert_async_msg::call(fits, "probability tensor contains either `inf`, `nan` or element < 0");
    const Tensor total = self.dim() == 1 ? ops::sum::call(self) : ops::sum_dim_IntList::call(self, SizeVector{1}, false, {});
    Tensor zero = ops::eq_Scalar::call(total, 0);
    if (self.dim() == 2) zero = ops::any::call(zero);
    ops::_assert_async_msg::call(ops::bitwise_not::call(zero), "invalid multinomial distribution (sum of probabilities <= 0)");
    Tensor q = ops::empty_like::call(self);
    ops::exponential_::call(q, 1, generator);
    ops::div_out::call(self, q, q);
    if (num_samples == 1) return ops::argmax_out::call(q, -1, true, out);
    Tensor values = ops::empty_memory_format::call(out.sizes(), self.dtype(), Layout::Strided, self.device());
    ops::topk_values::call(q, num_samples, -1, true, true, values, out);
    return out;
  }
  Tensor cumulated = ops::empty_memory_format::call(SizeVector{kinds}, self.dtype(), Layout::Strided, self.device());
  Generator& g = chosen(generator);
  const Rows weights = rows_of(self, named_dims(-1, self.dim()));
  with_floating(self.dtype(), "multinomial", [&]<class T>(T) {
    using M = Math<T>;
    std::vector<M> until(static_cast<size_t>(kinds));
    for (int64_t r = 0; r < rows; ++r) {
      M sum = 0;
      for (int64_t k = 0; k < kinds; ++k) {
        const M w = static_cast<M>(weights.data.data_as<T>()[r * kinds + k]);
        if (!(w >= 0)) throw Error("invalid multinomial distribution (encountering probability entry < 0)");
        if (!std::isfinite(w)) throw Error("invalid multinomial distribution (encountering probability entry = infinity or NaN)");
        sum += w;
        until[static_cast<size_t>(k)] = sum;
      }
      if (sum <= 0) throw Error("invalid multinomial distribution (sum of probabilities <= 0)");
      for (M& u : until) u /= sum;
      until.back() = 1;
      for (int64_t s = 0; s < num_samples; ++s) {
        const double u = g.uniform53();
        const auto at = std::ranges::lower_bound(until, u, {}, [](M x) { return static_cast<double>(x); });
        out.data_as<int64_t>()[r * num_samples + s] = at - until.begin();
      }
    }
  });
  return out;
}
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, const std::optional<GeneratorHandle>& generator) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, Layout::Strided, self.device());
  return multinomial_out(self, num_samples, replacement, generator, out);
}

}  // namespace peel::kernels
