// What a tensor of coordinates has at the coordinates of another one.
#include <algorithm>
#include <unordered_map>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/rows.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

Tensor whole_numbers(Sizes size) { return ops::empty_memory_format::call(size, ScalarType::Long, Layout::Strided, Device()); }

void ask(int64_t (*question)(const Tensor&), const Tensor& t, int times) {
  for (int i = 0; i < times; ++i) question(t);
}
void ask_whether_coalesced(const Tensor& t, int times) {
  for (int i = 0; i < times; ++i) ops::is_coalesced::call(t);
}

// The calls are stock's, whose kernel looks both up in hashes of their coordinates: values at the coordinates of `other`, of `self` alone or times those of `other`.
struct Found {
  Tensor indices, values;
};
// `sorted`: the coordinates of `self` are sorted already, though not each is there once.
Found found_at(const Tensor& self, const Tensor& other, ScalarType type, bool product, bool sorted = false) {
  const int64_t m = sparse_of(other).values.size(0), n = sparse_of(self).values.size(0);
  const Tensor other_indices = ops::_indices::call(other), self_indices = ops::_indices::call(self);
  if (sorted) ops::_indices::call(self);
  ops::sparse_dim::call(self);
  ops::result_type_Tensor::call(self, other);
  const bool in_order = sorted || sparse_of(self).coalesced;
  ask_whether_coalesced(other, in_order ? 3 : 2);
  if (!in_order) {  // who has more is looked up
    ops::_nnz::call(other);
    ops::_nnz::call(self);
    ops::sparse_dim::call(other);
    ops::_nnz::call(other);
  }
  ops::sparse_dim::call(other);
  ops::_indices::call(other);
  ask(&ops::_nnz::call, other, 2);
  const Tensor numbers = ops::arange::call(std::max(n, m), ScalarType::Long, Layout::Strided, self.device());
  ops::narrow::call(numbers, -1, 0, ops::_nnz::call(self));
  ops::sparse_dim::call(self);
  Tensor hashes;
  if (!sorted) {
    ops::_indices::call(self);
    hashes = whole_numbers(SizeVector{ops::_nnz::call(self)});
  }
  ops::is_coalesced::call(self);
  if (in_order) {
    ops::narrow::call(numbers, -1, 0, ops::_nnz::call(self));
  } else {
    std::fill_n(hashes.data_as<int64_t>(), hashes.numel(), 0);
    const Tensor order = std::get<1>(ops::sort::call(hashes, -1, false));
    ops::to_dtype::call(order, ScalarType::Long);
  }
  const Tensor counts = whole_numbers(SizeVector{2, ops::_nnz::call(other)});
  ops::select_int::call(counts, 0, 0);
  const Tensor first = ops::select_int::call(counts, 0, 1);
  ops::_indices::call(other);
  ops::narrow::call(numbers, -1, 0, m);
  const Tensor one = whole_numbers(SizeVector{1});
  ops::_indices::call(other);
  whole_numbers(SizeVector{0});
  ops::expand_as::call(one, first);
  const Tensor indices = ops::clone::call(ops::_indices::call(other));
  const Tensor values = ops::_values::call(self);
  ops::result_type_Tensor::call(values, ops::_values::call(other));
  ops::to_dtype::call(first, ScalarType::Long);
  const Tensor source = ops::to_dtype::call(ops::_values::call(self), type);
  ops::narrow::call(numbers, -1, 0, ops::_nnz::call(other));
  const Tensor factors = ops::to_dtype::call(ops::_values::call(other), product ? type : other.dtype());
  SizeVector size(source.sizes().begin(), source.sizes().end());
  size[0] = m;
  const Tensor found = ops::empty_memory_format::call(size, type, Layout::Strided, self.device());
  const auto looked_over = [](const Tensor& t, int64_t stride) {
    SizeVector strides(t.strides().begin(), t.strides().end());
    strides[0] = stride;
    ops::as_strided::call(t, t.sizes(), strides);
  };
  looked_over(found, 0);
  looked_over(first, 1);
  looked_over(source, 0);
  looked_over(first, 1);
  looked_over(first, 1);

  std::unordered_map<int64_t, std::vector<int64_t>> places;
  const auto flat = [](const Tensor& t, Sizes sizes, int64_t i) {
    int64_t at = 0;
    for (int64_t d = 0; d < t.size(0); ++d) at = at * sizes[static_cast<size_t>(d)] + t.data_as<int64_t>()[d * t.strides()[0] + i * t.strides()[1]];
    return at;
  };
  for (int64_t i = 0; i < n; ++i) places[flat(self_indices, self.sizes(), i)].push_back(i);
  const int64_t block = m ? found.numel() / m : 0;
  const auto row_major = [](const Tensor& t) { return t.is_contiguous() ? t : copied_row_major(t); };
  const Tensor in = row_major(source), by = row_major(factors);
  with_any_type(type, "sparse_intersection", [&]<class T>(T) {
    for (int64_t i = 0; i < m; ++i) {
      T* to = found.data_as<T>() + i * block;
      std::fill_n(to, block, T{});
      const auto at = places.find(flat(other_indices, self.sizes(), i));
      if (at == places.end()) continue;
      for (const int64_t place : at->second) {
        const T* from = in.data_as<T>() + place * block;
        for (int64_t k = 0; k < block; ++k) {
          const auto x = static_cast<Math<T>>(from[k]);
          to[k] = static_cast<T>(static_cast<Math<T>>(to[k]) + (product ? x * static_cast<Math<T>>(by.data_as<T>()[i * block + k]) : x));
        }
      }
    }
  });
  return {indices, ops::to_dtype::call(found, type)};
}

void put_found(Tensor& out, const Tensor& like, const Found& f) {
  const int64_t sparse_dim = ops::sparse_dim::call(like), dense_dim = ops::dense_dim::call(like);
  SparseParts& p = sparse_of(out);
  p.sparse_dim = sparse_dim;
  p.dense_dim = dense_dim;
  out.impl().sizes.assign(like.sizes().begin(), like.sizes().end());
  out.impl().strides = contiguous_strides(out.impl().sizes);
  set_parts(out, f.indices, f.values.dtype() == out.dtype() ? f.values : ops::to_dtype::call(f.values, out.dtype()));
  narrow_parts(out, ops::_nnz::call(like));
}

}  // namespace

namespace {

// Of the same shape, without parts.
Tensor shaped_like(const Tensor& like) {
  const Tensor out = ops::empty_memory_format::call(SizeVector{0}, like.dtype(), Layout::Sparse, like.device());
  SparseParts& p = sparse_of(out);
  p.dense_dim = ops::dense_dim::call(like);
  p.sparse_dim = ops::sparse_dim::call(like);
  out.impl().sizes.assign(like.sizes().begin(), like.sizes().end());
  out.impl().strides = contiguous_strides(out.impl().sizes);
  return out;
}
// In the order of its coordinates, each as often as it is there.
Tensor in_order_of_coordinates(const Tensor& self) {
  const Tensor indices = ops::_indices::call(self);
  const Tensor flat = ops::arange::call(indices.size(1), ScalarType::Long, Layout::Strided, self.device());
  for (int64_t i = 0; i < indices.size(1); ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < indices.size(0); ++d) at = at * self.size(d) + indices.data_as<int64_t>()[d * indices.strides()[0] + i * indices.strides()[1]];
    flat.data_as<int64_t>()[i] = at;
  }
  const Tensor order = std::get<1>(ops::sort::call(flat, 0, false));
  const Tensor new_indices = ops::index_select::call(ops::_indices::call(self), 1, order), values = ops::index_select::call(ops::_values::call(self), 0, order);
  ops::index_select::call(flat, 0, order);
  Tensor out = shaped_like(self);
  set_parts(out, new_indices, values);
  narrow_parts(out, ops::_nnz::call(self));
  ops::_coalesced_::call(out, false);
  return ops::_coalesced_::call(out, true);
}
// The mask as one whose coordinates may come in any order.
Tensor not_in_order(const Tensor& mask) {
  Tensor out = shaped_like(mask);
  const Tensor indices = ops::_indices::call(mask), values = ops::_values::call(mask);
  set_parts(out, indices, values);
  narrow_parts(out, ops::_nnz::call(mask));
  return ops::_coalesced_::call(out, false);
}

}  // namespace

Tensor mask_of_coordinates(const Tensor& self, const Tensor& mask) {
  const int64_t n = ops::_nnz::call(self);
  if (n == 0) return ops::zeros_like::call(mask, self.dtype());
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Sparse, self.device());
  ask(&ops::sparse_dim::call, self, 2);
  const bool sorted = !ops::is_coalesced::call(self);
  const Tensor looked_up = sorted ? in_order_of_coordinates(self) : self;
  // So that who is looked up is the one that is in order.
  const Tensor other = ops::is_coalesced::call(mask) ? not_in_order(mask) : mask;
  ops::is_coalesced::call(other);
  ask(&ops::sparse_dim::call, self, 4);
  put_found(out, mask, found_at(looked_up, other, self.dtype(), false, sorted));
  ops::_coalesced_::call(out, ops::is_coalesced::call(other));
  return ops::_coalesced_::call(out, ops::is_coalesced::call(mask));
}

Tensor& product_at_coordinates(Tensor& out, const Tensor& a, const Tensor& b, ScalarType common) {
  // Looked up is who is coalesced, else who has more.
  const bool one_coalesced = sparse_of(a).coalesced != sparse_of(b).coalesced;
  const bool a_first = one_coalesced ? sparse_of(a).coalesced : sparse_of(a).values.size(0) >= sparse_of(b).values.size(0);
  const Tensor &looked_up = a_first ? a : b, &other = a_first ? b : a;
  ask(&ops::sparse_dim::call, looked_up, 4);
  const Found f = found_at(looked_up, other, common, true);
  put_found(out, other, f);
  return ops::_coalesced_::call(out, ops::is_coalesced::call(other));
}

}  // namespace peel::kernels
