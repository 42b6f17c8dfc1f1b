// Places in sorted numbers, distinct values, running extremes, values by rank or by how often they come.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

Tensor nothing(ScalarType t) { return ops::empty_memory_format::call(SizeVector{0}, t, Layout::Strided, Device()); }
Tensor flat(const Tensor& t) { return rows_of(t, named_dims(std::nullopt, t.dim())).data; }

// Where each value would stand among its row of boundaries.
Tensor places_among(const Tensor& boundaries, const Tensor& values, bool out_int32, bool right, std::optional<std::string_view> side, const Optional& sorter, const char* op) {
  if (side && *side != "left" && *side != "right") throw Error(std::string(op) + ": side can only be 'left' or 'right' but got " + std::string(*side));
  if (side && *side == "left" && right) throw Error(std::string(op) + ": side and right can't be set to opposites, got side of left while right was True");
  if (boundaries.dim() == 0) throw Error(std::string(op) + ": boundaries tensor should have positive dimension, but got 0 dimension");
  if (sorter && sorter->defined()) throw NotImplemented("The embedded engine has no " + std::string(op) + " with a sorter yet; the program can be run on stock PyTorch (--engine pytorch).");
  const bool batched = boundaries.dim() > 1;
  if (batched && (boundaries.dim() != values.dim() || !std::ranges::equal(boundaries.sizes().first(boundaries.sizes().size() - 1), values.sizes().first(values.sizes().size() - 1)))) {
    throw Error(std::string(op) + ": boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor " +
                to_text(boundaries.sizes()) + " and input value tensor " + to_text(values.sizes()));
  }
  const bool upper = right || (side && *side == "right");
  const Tensor out = nothing(out_int32 ? ScalarType::Int : ScalarType::Long);
  reshape_out(out, values.sizes());
  if (values.numel() == 0) return out;
  const Tensor in = values.dtype() == boundaries.dtype() ? values : ops::to_dtype::call(values, values.dim() == 0 ? boundaries.dtype() : promote(values.dtype(), boundaries.dtype()));
  const Tensor edges = in.dtype() == boundaries.dtype() ? boundaries : ops::to_dtype::call(boundaries, in.dtype());
  const Tensor rows = flat(edges), wanted = flat(in);
  const int64_t n = edges.size(-1), per_row = batched ? values.size(-1) : values.numel();
  with_real_type(in.dtype(), op, [&]<class T>(T) {
    using M = Math<T>;
    for (int64_t i = 0; i < values.numel(); ++i) {
      const T* first = rows.data_as<T>() + (batched ? i / per_row * n : 0);
      const M v = static_cast<M>(wanted.data_as<T>()[i]);
      const T* at = std::partition_point(first, first + n, [v, upper](T x) {
        const M e = static_cast<M>(x);
        return upper ? !(e > v) : v != v ? e == e : e < v;
      });
      if (out_int32) out.data_as<int32_t>()[i] = static_cast<int32_t>(at - first);
      else out.data_as<int64_t>()[i] = at - first;
    }
  });
  return out;
}

}  // namespace

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right, std::optional<std::string_view> side, const Optional& sorter) {
  return places_among(sorted_sequence, self, out_int32, right, side, sorter, "torch.searchsorted()");
}
Tensor searchsorted(const Tensor& sorted_sequence, const Scalar& self, bool out_int32, bool right, std::optional<std::string_view> side, const Optional& sorter) {
  return places_among(sorted_sequence, wrapped(self), out_int32, right, side, sorter, "torch.searchsorted()");
}
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  if (boundaries.dim() != 1) throw Error("boundaries tensor must be 1 dimension, but got dim(" + std::to_string(boundaries.dim()) + ")");
  return places_among(boundaries, self, out_int32, right, {}, {}, "torch.searchsorted()");
}
Tensor bucketize(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  if (boundaries.dim() != 1) throw Error("boundaries tensor must be 1 dimension, but got dim(" + std::to_string(boundaries.dim()) + ")");
  return places_among(boundaries, wrapped(self), out_int32, right, {}, {}, "torch.searchsorted()");
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  Tensor out = empty(elements.sizes(), ScalarType::Bool, elements.device());
  if (elements.numel() == 0) return out;
  if (test_elements.numel() == 0) return ops::fill__Scalar::call(out, invert);
  ops::fill__Scalar::call(out, invert);
  const Operand both[] = {as_operand(elements), as_operand(test_elements)};
  const ScalarType t = result_type(both);
  const Tensor given = flat(ops::to_dtype::call(elements, t)), tests = ops::view::call(made_contiguous(ops::to_dtype::call(test_elements, t)), SizeVector{-1});
  with_real_type(t, "isin_default_cpu", [&]<class T>(T) {
    const T *first = tests.data_as<T>(), *last = first + tests.numel();
    for (int64_t i = 0; i < elements.numel(); ++i) {
      const auto v = static_cast<Math<T>>(given.data_as<T>()[i]);
      if (std::any_of(first, last, [v](T x) { return static_cast<Math<T>>(x) == v; })) out.data_as<bool>()[i] = !invert;
    }
  });
  return out;
}

// Numbers outside of the range don't count; its end belongs to the last bin.
Tensor histc(const Tensor& self, int64_t bins, const Scalar& min, const Scalar& max) {
  if (!is_floating(self.dtype())) no_kernel_for("histogram_cpu", self.dtype());
  if (bins <= 0) throw Error("torch.histc(): bins must be > 0, but got " + std::to_string(bins));
  const Tensor hist = nothing(self.dtype());
  Tensor edges = nothing(self.dtype());
  reshape_out(hist, SizeVector{bins});
  reshape_out(edges, SizeVector{bins + 1});
  const Tensor in = ops::reshape::call(self, SizeVector{self.numel(), 1});
  double low = min.value.to_double(), high = max.value.to_double();
  if (low == high && self.numel() > 0) {
    const auto [a, b] = ops::aminmax::call(self);
    low = ops::item::call(a).value.to_double();
    high = ops::item::call(b).value.to_double();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!std::isfinite(low) || !std::isfinite(high)) throw Error("torch.histc: range of [" + to_text(IValue(low)) + ", " + to_text(IValue(high)) + "] is not finite");
  if (low > high) throw Error("torch.histc: max must be larger than min");
  ops::linspace_out::call(low, high, bins + 1, edges);
  Tensor filled = hist;
  ops::fill__Scalar::call(filled, 0);
  const Tensor values = ops::reshape::call(in, SizeVector{self.numel(), 1});
  const Tensor parts = ops::zeros::call(SizeVector{1, bins}, self.dtype());
  with_floating(self.dtype(), "histogram_cpu", [&]<class T>(T) {
    using M = Math<T>;
    const M first = static_cast<M>(edges.data_as<T>()[0]), last = static_cast<M>(edges.data_as<T>()[bins]);
    const Tensor all = flat(values);
    for (int64_t i = 0; i < self.numel(); ++i) {
      const M v = static_cast<M>(all.data_as<T>()[i]);
      if (!(v >= first && v <= last)) continue;
      auto at = static_cast<int64_t>((v - first) / (last - first) * static_cast<M>(bins));
      at = std::min(at, bins - 1);
      T& count = parts.data_as<T>()[at];
      count = static_cast<T>(static_cast<M>(count) + M{1});
    }
  });
  return ops::sum_IntList_out::call(parts, SizeVector{0}, false, {}, filled);
}

std::tuple<Tensor, Tensor> _unique(const Tensor& self, bool sorted, bool return_inverse) {
  const auto [values, inverse, counts] = unique2(self, sorted, return_inverse, false);
  return {values, inverse};
}

namespace {

// Runs of equal rows of `in` [n, m], in the order of `order`, and what stock calls for them.
std::tuple<Tensor, Tensor, Tensor> distinct_rows(const Tensor& self, int64_t dim, bool consecutive) {
  const Tensor moved = ops::moveaxis_int::call(self, dim, 0);
  const int64_t n = moved.size(0);
  if (self.numel() == 0) throw Error("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  const Tensor rows = ops::view::call(made_contiguous(moved), SizeVector{n, -1});
  const int64_t m = rows.size(1);
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  Tensor sorted = rows;
  if (!consecutive) {
    with_type(self.dtype(), "unique_dim", [&]<class T>(T) {
      const T* data = rows.data_as<T>();
      std::ranges::sort(order, [data, m](int64_t a, int64_t b) {
        for (int64_t k = 0; k < m; ++k) {
          const auto x = static_cast<Math<T>>(data[a * m + k]), y = static_cast<Math<T>>(data[b * m + k]);
          if (x != y) return x < y;
        }
        return false;
      });
    });
    sorted = ops::empty_memory_format::call(rows.sizes(), self.dtype(), Layout::Strided, self.device());
    for (int64_t i = 0; i < n; ++i) {
      const Tensor from = ops::select_int::call(rows, 0, order[static_cast<size_t>(i)]);
      Tensor to = ops::select_int::call(sorted, 0, i);
      ops::copy_::call(to, from);
    }
  }
  const Tensor inverse = ops::empty_memory_format::call(SizeVector{n}, ScalarType::Long, Layout::Strided, self.device());
  Tensor counts = ops::zeros::call(SizeVector{n}, ScalarType::Long, Layout::Strided, self.device());
  const std::vector<Tensor> each_row = ops::unbind_int::call(sorted, 0);
  std::vector<Tensor> kept;
  for (int64_t i = 0; i < n; ++i) {
    const Tensor& row = each_row[static_cast<size_t>(i)];
    if (kept.empty() || !ops::equal::call(row, kept.back())) kept.push_back(row);
    inverse.data_as<int64_t>()[order[static_cast<size_t>(i)]] = static_cast<int64_t>(kept.size()) - 1;
    ++counts.data_as<int64_t>()[kept.size() - 1];
  }
  counts = ops::narrow::call(counts, 0, 0, static_cast<int64_t>(kept.size()));
  SizeVector shape(moved.sizes().begin(), moved.sizes().end());
  shape[0] = -1;
  const Tensor out = ops::moveaxis_int::call(ops::view::call(ops::stack::call(kept, 0), shape), 0, dim);
  return {out, inverse, counts};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, int64_t dim, bool, bool, bool) {
  return distinct_rows(self, dim, false);
}
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  if (dim && !(self.dim() <= 1 && *dim == 0 && self.dim() == 0)) return distinct_rows(self, *dim, true);
  Tensor out = ops::empty_memory_format::call(SizeVector{self.numel()}, self.dtype(), Layout::Strided, self.device());
  Tensor inverse = nothing(ScalarType::Long), counts = nothing(ScalarType::Long);
  if (return_inverse) ops::resize_::call(inverse, self.sizes());
  if (return_counts) ops::resize_::call(counts, SizeVector{self.numel()});
  if (self.numel() == 0) return {out, inverse, counts};
  const Tensor in = flat(self);
  int64_t found = 0;
  with_real_type(self.dtype(), "unique", [&]<class T>(T) {
    const T* v = in.data_as<T>();
    for (int64_t i = 0; i < self.numel(); ++i) {
      const bool fresh = i == 0 || static_cast<Math<T>>(v[i]) != static_cast<Math<T>>(v[i - 1]);
      if (fresh) {
        out.data_as<T>()[found++] = v[i];
        if (return_counts) counts.data_as<int64_t>()[found - 1] = 0;
      }
      if (return_counts) ++counts.data_as<int64_t>()[found - 1];
      if (return_inverse) inverse.data_as<int64_t>()[i] = found - 1;
    }
  });
  ops::resize_::call(out, SizeVector{found});
  if (return_counts) ops::resize_::call(counts, SizeVector{found});
  return {out, inverse, counts};
}

namespace {

void need_dim(const Tensor& self, int64_t dim, const char* op) {
  if (self.dim() > 0 && self.size(dim) == 0) throw IndexError(std::string(op) + "(): Expected reduction dim " + std::to_string(wrap_dimension(dim, self.dim())) + " to have non-zero size.");
}
// Results of a reduction that has a dimension of size 1 for a while.
void fold(Tensor& values, Tensor& indices, int64_t d, bool back) {
  for (Tensor* t : {&values, &indices}) {
    if (back) ops::squeeze__dim::call(*t, d);
    else ops::unsqueeze_::call(*t, d);
  }
}

// Gives a value and its place along dimension d their shapes; whether that dimension has to be folded away again.
bool shape_pair(const Tensor& self, const std::vector<bool>& gone, int64_t d, bool keepdim, Tensor& values, Tensor& indices) {
  const SizeVector kept = reduced_shape(self.sizes(), gone, true);
  const bool folds = self.dim() > 0 && !keepdim;
  if (folds) fold(values, indices, std::min<int64_t>(d, 1), false);
  reshape_out(values, kept);
  reshape_out(indices, kept);
  return folds;
}

}  // namespace

std::tuple<Tensor&, Tensor&> kthvalue_values(const Tensor& self, int64_t k, int64_t dim, bool keepdim, Tensor& values, Tensor& indices) {
  const int64_t d = wrap_dimension(dim, self.dim()), n = self.dim() ? self.size(d) : 1;
  need_dim(self, dim, "kthvalue");
  if (k < 1 || k > n) throw Error("kthvalue(): selected number k out of range for dimension " + std::to_string(d));
  const auto gone = named_dims(d, self.dim());
  const bool folds = shape_pair(self, gone, d, keepdim, values, indices);
  const Tensor copy = ops::clone::call(self, MemoryFormat::Contiguous);
  ops::empty_memory_format::call(self.sizes(), ScalarType::Long, Layout::Strided, self.device());
  const Rows rows = rows_of(copy, gone);
  const Tensor v = empty(SizeVector{rows.count}, self.dtype()), i = empty(SizeVector{rows.count}, ScalarType::Long);
  with_type(self.dtype(), "kthvalue_cpu", [&]<class T>(T) {
    std::vector<int64_t> order(static_cast<size_t>(rows.length));
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* row = rows.data.data_as<T>() + r * rows.length;
      std::iota(order.begin(), order.end(), int64_t{0});
      std::ranges::stable_sort(order, [row](int64_t a, int64_t b) {
        const auto x = static_cast<Math<T>>(row[a]), y = static_cast<Math<T>>(row[b]);
        return (y != y && x == x) || x < y;
      });
      i.data_as<int64_t>()[r] = order[static_cast<size_t>(k - 1)];
      v.data_as<T>()[r] = row[order[static_cast<size_t>(k - 1)]];
    }
  });
  put_reduced(values, gone, v);
  put_reduced(indices, gone, i);
  if (folds) fold(values, indices, d, true);
  return {values, indices};
}
std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  Tensor values = nothing(self.dtype()), indices = nothing(ScalarType::Long);
  ops::kthvalue_values::call(self, k, dim, keepdim, values, indices);
  return {values, indices};
}

// The smallest of the most frequent values, and where it comes last.
std::tuple<Tensor, Tensor> mode(const Tensor& self, int64_t dim, bool keepdim) {
  Tensor values = nothing(self.dtype()), indices = nothing(ScalarType::Long);
  const int64_t d = wrap_dimension(dim, self.dim());
  need_dim(self, dim, "mode");
  const auto gone = named_dims(d, self.dim());
  const bool folds = shape_pair(self, gone, d, keepdim, values, indices);
  const Rows rows = rows_of(self, gone);
  const Tensor v = empty(SizeVector{rows.count}, self.dtype()), i = empty(SizeVector{rows.count}, ScalarType::Long);
  with_type(self.dtype(), "mode_cpu", [&]<class T>(T) {
    std::vector<int64_t> order(static_cast<size_t>(rows.length));
    for (int64_t r = 0; r < rows.count; ++r) {
      const T* row = rows.data.data_as<T>() + r * rows.length;
      std::iota(order.begin(), order.end(), int64_t{0});
      std::ranges::stable_sort(order, [row](int64_t a, int64_t b) { return static_cast<Math<T>>(row[a]) < static_cast<Math<T>>(row[b]); });
      int64_t run = 0, longest = 0, at = 0;
      for (size_t k = 0; k < order.size(); ++k) {
        ++run;
        if (k + 1 < order.size() && static_cast<Math<T>>(row[order[k]]) == static_cast<Math<T>>(row[order[k + 1]])) continue;
        if (run > longest) {
          longest = run;
          at = order[k];
        }
        run = 0;
      }
      v.data_as<T>()[r] = row[at];
      i.data_as<int64_t>()[r] = at;
    }
  });
  put_reduced(values, gone, v);
  put_reduced(indices, gone, i);
  if (folds) fold(values, indices, d, true);
  return {values, indices};
}

namespace {

template <class Better>
void running(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim, const char* op, Better better) {
  const auto named = named_dims(dim, self.dim());
  const Rows in = rows_of(self, named), v = rows_like(values, named), i = rows_like(indices, named);
  with_type(self.dtype(), op, [&]<class T>(T) {
    for (int64_t r = 0; r < in.count; ++r) {
      const T* row = in.data.data_as<T>() + r * in.length;
      int64_t at = 0;
      for (int64_t k = 0; k < in.length; ++k) {
        const auto x = static_cast<Math<T>>(row[k]), top = static_cast<Math<T>>(row[at]);
        if (x != x || (top == top && better(x, top))) at = k;
        v.data.data_as<T>()[r * in.length + k] = row[at];
        i.data.data_as<int64_t>()[r * in.length + k] = at;
      }
    }
  });
  put_rows(values, named, v);
  put_rows(indices, named, i);
}

}  // namespace

void _cummax_helper(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  running(self, values, indices, dim, "cummax_helper_cpu", [](auto a, auto b) { return a >= b; });
}
void _cummin_helper(const Tensor& self, Tensor& values, Tensor& indices, int64_t dim) {
  running(self, values, indices, dim, "cummin_helper_cpu", [](auto a, auto b) { return a <= b; });
}
#define PEEL_RUNNING(name)                                                                                                                               \
  std::tuple<Tensor&, Tensor&> name##_out(const Tensor& self, int64_t dim, Tensor& values, Tensor& indices) {                                            \
    nothing(ScalarType::Long);                                                                                                                           \
    if (!std::ranges::equal(values.sizes(), self.sizes())) reshape_out(values, self.sizes());                                                            \
    if (!std::ranges::equal(indices.sizes(), self.sizes())) reshape_out(indices, self.sizes());                                                          \
    if (self.dim() == 0) {                                                                                                                               \
      ops::fill__Tensor::call(values, self);                                                                                                             \
      ops::fill__Scalar::call(indices, 0);                                                                                                               \
    } else if (self.numel() > 0) {                                                                                                                       \
      ops::_##name##_helper::call(self, values, indices, wrap_dimension(dim, self.dim()));                                                               \
    }                                                                                                                                                    \
    return {values, indices};                                                                                                                            \
  }                                                                                                                                                      \
  std::tuple<Tensor, Tensor> name(const Tensor& self, int64_t dim) {                                                                                     \
    Tensor values = ops::empty_memory_format::call(self.sizes(), self.dtype(), Layout::Strided, self.device());                                          \
    Tensor indices = ops::empty_memory_format::call(self.sizes(), ScalarType::Long, Layout::Strided, self.device());                                     \
    wrap_dimension(dim, self.dim());                                                                                                                     \
    ops::name##_out::call(self, dim, values, indices);                                                                                                   \
    return {values, indices};                                                                                                                            \
  }
PEEL_RUNNING(cummax)
PEEL_RUNNING(cummin)
#undef PEEL_RUNNING
Tensor cummaxmin_backward(const Tensor& grad, const Tensor& input, const Tensor& indices, int64_t dim) {
  if (input.numel() == 0) return input;
  Tensor out = ops::zeros::call(input.sizes(), input.dtype(), Layout::Strided, input.device());
  return ops::scatter_add_::call(out, dim, indices, grad);
}

Tensor _logcumsumexp(const Tensor& self, int64_t dim) {
  const Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const auto named = named_dims(dim, self.dim());
  const Rows in = rows_of(self, named), result = rows_like(out, named);
  with_floating(self.dtype(), "logcumsumexp_out_cpu", [&]<class T>(T) {
    for (int64_t r = 0; r < in.count; ++r) {
      double total = -std::numeric_limits<double>::infinity();
      for (int64_t k = 0; k < in.length; ++k) {
        const auto x = static_cast<double>(static_cast<Math<T>>(in.data.data_as<T>()[r * in.length + k]));
        const double low = std::min(x, total), high = std::max(x, total);
        total = x != x || total != total ? std::numeric_limits<double>::quiet_NaN() : low != high || std::isfinite(low) ? std::log1p(std::exp(low - high)) + high : x;
        result.data.data_as<T>()[r * in.length + k] = static_cast<T>(total);
      }
    }
  });
  put_rows(out, named, result);
  return out;
}
Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  wrap_dimension(dim, self.dim());
  return ops::_logcumsumexp::call(self, dim);
}

Tensor msort(const Tensor& self) { return std::get<0>(ops::sort::call(self, 0, false)); }

Tensor nansum(const Tensor& self, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  if (!is_floating(self.dtype())) return ops::sum_dim_IntList::call(self, dim, keepdim, dtype);
  const ScalarType t = dtype.value_or(self.dtype());
  const auto gone = named_dims(dim, self.dim());
  const Tensor result = ops::empty_memory_format::call(reduced_shape(self.sizes(), gone, keepdim), t, Layout::Strided, self.device());
  Tensor out = with_all_dims(result, self.sizes(), gone, keepdim);
  if (self.numel() == 0) {
    Tensor all = result;
    return ops::zero_::call(all);
  }
  const Tensor in = self.dtype() == t ? self : ops::to_dtype::call(self, t);
  ops::fill__Scalar::call(out, 0.0);
  const Rows rows = rows_of(in, gone);
  const Tensor sums = empty(SizeVector{rows.count}, t);
  with_floating(t, "nansum_cpu", [&]<class T>(T) {
    for (int64_t r = 0; r < rows.count; ++r) {
      double total = 0;
      for (int64_t k = 0; k < rows.length; ++k) {
        const auto x = static_cast<double>(static_cast<Math<T>>(rows.data.data_as<T>()[r * rows.length + k]));
        if (x == x) total += x;
      }
      sums.data_as<T>()[r] = static_cast<T>(total);
    }
  });
  put_reduced(out, gone, sums);
  return result;
}

}  // namespace peel::kernels
