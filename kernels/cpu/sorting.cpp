// Orders: sort, the k largest, what is not zero.
#include <algorithm>
#include <memory>
#include <numeric>

#include "kernels/cpu/matrices.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// NaN is larger than any number.
template <class M>
bool before(M a, M b, bool descending) {
  if (descending) return (a != a && b == b) || a > b;
  return (b != b && a == a) || a < b;
}

template <class T>
void sort_row(const T* in, T* values, int64_t* indices, int64_t n, bool descending) {
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return before(static_cast<Math<T>>(in[a]), static_cast<Math<T>>(in[b]), descending); });
  for (int64_t k = 0; k < n; ++k) {
    values[k] = in[order[static_cast<size_t>(k)]];
    indices[k] = order[static_cast<size_t>(k)];
  }
}

}  // namespace

namespace {

void sort_into(Tensor& values, Tensor& indices, const Tensor& self, int64_t d, bool descending) {
  ops::copy_::call(values, self);
  if (self.dim() == 0) {
    ops::zero_::call(indices);
    return;
  }
  // Stock writes the places first, and sorts both.
  const int64_t n = self.size(d);
  const Tensor places = ops::arange_start::call(0, n, ScalarType::Long, {}, self.device(), {});
  SizeVector seen(self.sizes().size(), 0);
  seen[static_cast<size_t>(d)] = 1;
  const Tensor wide = ops::as_strided::call(places, self.sizes(), seen);
  ops::copy_::call(indices, wide);
  const auto named = named_dims(d, self.dim());
  const Rows in = rows_of(self, named), out = rows_like(values, named), where = rows_like(indices, named);
  with_real_type(self.dtype(), "sort_stable", [&]<class T>(T) {
    for (int64_t r = 0; r < in.count; ++r) {
      const int64_t at = r * in.length;
      sort_row<T>(in.data.data_as<T>() + at, out.data.data_as<T>() + at, where.data.data_as<int64_t>() + at, in.length, descending);
    }
  });
  put_rows(values, named, out);
  put_rows(indices, named, where);
}

}  // namespace

std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) {
  const int64_t d = wrap_dimension(dim, self.dim());
  const SizeVector strides = like_strides(self.sizes(), self.strides());
  Tensor values = empty_strided(self.sizes(), strides, self.dtype(), self.device());
  Tensor indices = empty_strided(self.sizes(), strides, ScalarType::Long, self.device());
  sort_into(values, indices, self, d, descending);
  return {values, indices};
}
std::tuple<Tensor&, Tensor&> sort_out(const Tensor& self, std::optional<bool>, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  const int64_t d = wrap_dimension(dim, self.dim());
  const SizeVector strides = like_strides(self.sizes(), self.strides());
  Target v(values, self.sizes(), strides), i(indices, self.sizes(), strides);
  sort_into(v.tensor(), i.tensor(), self, d, descending);
  v.finish();
  i.finish();
  return {values, indices};
}
std::tuple<Tensor, Tensor> sort(const Tensor& self, int64_t dim, bool descending) { return ops::sort_stable::call(self, false, dim, descending); }
Tensor argsort(const Tensor& self, int64_t dim, bool descending) { return std::get<1>(ops::sort::call(self, dim, descending)); }
Tensor argsort_stable(const Tensor& self, bool stable, int64_t dim, bool descending) { return std::get<1>(ops::sort_stable::call(self, stable, dim, descending)); }

std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool) {
  const int64_t d = wrap_dimension(dim, self.dim());
  const int64_t n = self.dim() ? self.size(d) : 1;
  if (k < 0 || k > n) throw Error("selected index k out of range");
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  if (!shape.empty()) shape[static_cast<size_t>(d)] = k;
  Tensor values = empty(shape, self.dtype(), self.device()), indices = empty(shape, ScalarType::Long, self.device());
  if (self.dim() == 0) {
    copy_elements(values, self);
    *indices.data_as<int64_t>() = 0;
    return {values, indices};
  }
  const auto named = named_dims(d, self.dim());
  const Rows in = rows_of(self, named), out = rows_like(values, named), where = rows_like(indices, named);
  with_real_type(self.dtype(), "topk_cpu", [&]<class T>(T) {
    const auto sorted = std::make_unique<T[]>(static_cast<size_t>(n));
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (int64_t r = 0; r < in.count; ++r) {
      sort_row<T>(in.data.data_as<T>() + r * n, sorted.get(), order.data(), n, largest);
      std::copy_n(sorted.get(), k, out.data.data_as<T>() + r * k);
      std::copy_n(order.data(), k, where.data.data_as<int64_t>() + r * k);
    }
  });
  put_rows(values, named, out);
  put_rows(indices, named, where);
  return {values, indices};
}

Tensor& nonzero_out(const Tensor& self, Tensor& out) {
  if (out.dtype() != ScalarType::Long) throw Error(std::string("nonzero: Expected out tensor to have scalar type Long but got scalar type") + to_string(out.dtype()));
  std::vector<int64_t> found;  // flat places
  const Tensor flat = rows_of(self, named_dims(std::nullopt, self.dim())).data;
  with_any_type(self.dtype(), "nonzero", [&]<class T>(T) {
    for (int64_t i = 0; i < self.numel(); ++i) {
      if (static_cast<Math<T>>(flat.data_as<T>()[i]) != Math<T>{}) found.push_back(i);
    }
  });
  const auto count = static_cast<int64_t>(found.size()), dims = self.dim();
  // Column by column, as stock lays it out.
  TensorImpl& impl = out.impl();
  impl.storage->resize(static_cast<size_t>(count * dims) * sizeof(int64_t));
  impl.sizes = {count, dims};
  impl.strides = contiguous_strides(impl.sizes);
  ops::as_strided_::call(out, impl.sizes, SizeVector{1, count}, {});
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = found[static_cast<size_t>(i)];
    for (int64_t d = dims; d-- > 0;) {
      out.data_as<int64_t>()[d * count + i] = at % self.sizes()[static_cast<size_t>(d)];
      at /= self.sizes()[static_cast<size_t>(d)];
    }
  }
  return out;
}
Tensor nonzero(const Tensor& self) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, Layout::Strided, self.device());
  return nonzero_out(self, out);
}

}  // namespace peel::kernels
