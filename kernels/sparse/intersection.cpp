// What a tensor of coordinates has at the coordinates of another one.
#include <algorithm>
#include <unordered_map>

#include "core/dispatch/error.h"
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

}  // namespace

// The calls are stock's of a source that is coalesced: its kernel looks both up in hashes of their coordinates.
Tensor mask_of_coordinates(const Tensor& self, const Tensor& mask) {
  if (!sparse_of(self).coalesced) return mask_of_coordinates(ops::coalesce::call(self), mask);
  const int64_t m = sparse_of(mask).values.size(0), n = ops::_nnz::call(self);
  if (n == 0) return ops::zeros_like::call(mask, self.dtype());
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Sparse, self.device());
  ask(&ops::sparse_dim::call, self, 2);
  ask_whether_coalesced(self, 3);
  ask(&ops::sparse_dim::call, self, 4);
  const Tensor mask_indices = ops::_indices::call(mask), self_indices = ops::_indices::call(self);
  ops::sparse_dim::call(self);
  ops::result_type_Tensor::call(self, mask);
  ask_whether_coalesced(mask, 3);
  ops::sparse_dim::call(mask);
  ops::_indices::call(mask);
  ask(&ops::_nnz::call, mask, 2);
  const Tensor numbers = ops::arange::call(n, ScalarType::Long, Layout::Strided, self.device());
  ops::narrow::call(numbers, -1, 0, ops::_nnz::call(self));
  ops::sparse_dim::call(self);
  ops::_indices::call(self);
  const Tensor hashes = whole_numbers(SizeVector{ops::_nnz::call(self)});
  ops::is_coalesced::call(self);
  ops::narrow::call(hashes, -1, 0, ops::_nnz::call(self));
  const Tensor counts = whole_numbers(SizeVector{2, ops::_nnz::call(mask)});
  ops::select_int::call(counts, 0, 0);
  const Tensor first = ops::select_int::call(counts, 0, 1);
  ops::_indices::call(mask);
  ops::narrow::call(hashes, -1, 0, n);
  const Tensor one = whole_numbers(SizeVector{1});
  ops::_indices::call(mask);
  whole_numbers(SizeVector{0});
  ops::expand_as::call(one, first);
  const Tensor indices = ops::clone::call(ops::_indices::call(mask));
  const Tensor values = made_contiguous(ops::_values::call(self));
  ops::result_type_Tensor::call(values, ops::_values::call(mask));
  ops::to_dtype::call(first, ScalarType::Long);
  const Tensor source = ops::to_dtype::call(ops::_values::call(self), self.dtype());
  ops::narrow::call(hashes, -1, 0, ops::_nnz::call(self));
  const Tensor other = ops::to_dtype::call(ops::_values::call(mask), mask.dtype());
  SizeVector size(source.sizes().begin(), source.sizes().end());
  size[0] = m;
  const Tensor found = ops::empty_memory_format::call(size, self.dtype(), Layout::Strided, self.device());
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

  std::unordered_map<int64_t, int64_t> places;
  const auto flat = [](const Tensor& t, Sizes sizes, int64_t i) {
    int64_t at = 0;
    for (int64_t d = 0; d < t.size(0); ++d) at = at * sizes[static_cast<size_t>(d)] + t.data_as<int64_t>()[d * t.strides()[0] + i * t.strides()[1]];
    return at;
  };
  for (int64_t i = 0; i < n; ++i) places[flat(self_indices, self.sizes(), i)] = i;
  const size_t bytes = m ? static_cast<size_t>(found.numel() / m) * element_size(self.dtype()) : 0;
  for (int64_t i = 0; i < m; ++i) {
    char* to = static_cast<char*>(found.data()) + static_cast<size_t>(i) * bytes;
    const auto at = places.find(flat(mask_indices, self.sizes(), i));
    if (at == places.end()) std::fill_n(to, bytes, '\0');
    else std::copy_n(static_cast<const char*>(values.data()) + static_cast<size_t>(at->second) * bytes, bytes, to);
  }

  const Tensor result = ops::to_dtype::call(found, self.dtype());
  const int64_t sparse_dim = ops::sparse_dim::call(mask), dense_dim = ops::dense_dim::call(mask);
  SparseParts& p = sparse_of(out);
  p.sparse_dim = sparse_dim;
  p.dense_dim = dense_dim;
  out.impl().sizes.assign(mask.sizes().begin(), mask.sizes().end());
  out.impl().strides = contiguous_strides(out.impl().sizes);
  set_parts(out, indices, result);
  narrow_parts(out, ops::_nnz::call(mask));
  ops::_coalesced_::call(out, ops::is_coalesced::call(mask));
  return ops::_coalesced_::call(out, ops::is_coalesced::call(mask));
}

}  // namespace peel::kernels
