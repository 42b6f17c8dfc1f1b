// Parts of tensors of coordinates, and the same with other dimensions. In stock these are views by name; the memory is new.
#include <algorithm>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void set_sizes(const Tensor& t, SizeVector sizes) {
  t.impl().strides = contiguous_strides(sizes);
  t.impl().sizes = std::move(sizes);
}

// Of tensors that are joined: all of coordinates, of the same sizes but for one.
void require_alike(const Tensor& t, const Tensor& first, int64_t dim, int64_t place) {
  if (!is_coo(t)) throw Error("Concatenating sparse tensors, but a dense tensor was found at position " + std::to_string(place) + ".");
  bool fits = t.dim() == first.dim();
  for (int64_t d = 0; fits && d < t.dim(); ++d) fits = d == dim || t.size(d) == first.size(d);
  if (fits) {
    const int64_t sparse_dim = ops::sparse_dim::call(t), dense_dim = ops::dense_dim::call(t);
    fits = sparse_dim == sparse_of(first).sparse_dim && dense_dim == sparse_of(first).dense_dim;
  }
  if (fits) return;
  throw Error("All tensors must have the same shape: " + to_text(first.sizes()) + " (except in the concatenating dimension), but found shape: " + to_text(t.sizes()) + " at position " +
              std::to_string(place) + ".");
}

Tensor with_dims(int64_t sparse_dim, int64_t dense_dim, Sizes size, const Tensor& indices, const Tensor& values, std::optional<bool> coalesced = {}) {
  return ops::_sparse_coo_tensor_with_dims_and_tensors::call(sparse_dim, dense_dim, size, indices, values, values.dtype(), Layout::Sparse, values.device(), {}, coalesced);
}

}  // namespace

Tensor transpose_sparse(const Tensor& self, int64_t dim0, int64_t dim1) {
  if (dim0 == dim1) return ops::clone::call(self);
  Tensor out = ops::clone::call(self);
  const int64_t sparse_dim = ops::sparse_dim::call(out);
  if (dim0 >= sparse_dim || dim1 >= sparse_dim) {
    throw Error("sparse transpose: transposed dimensions must be sparse Got sparse_dim: " + std::to_string(sparse_dim) + ", d0: " + std::to_string(dim0) + ", d1: " + std::to_string(dim1));
  }
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  std::swap(sizes[static_cast<size_t>(dim0)], sizes[static_cast<size_t>(dim1)]);
  ops::_indices::call(out);
  const Tensor indices = ops::_indices::call(out);
  Tensor row0 = ops::select_int::call(indices, 0, dim0), row1 = ops::select_int::call(indices, 0, dim1);
  Tensor kept = ops::zeros_like::call(row0, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::copy_::call(kept, row0);
  ops::copy_::call(row0, row1);
  ops::copy_::call(row1, kept);
  ops::_coalesced_::call(out, false);
  ops::_values::call(out);
  ops::_indices::call(out);
  set_sizes(out, std::move(sizes));
  return out;
}

Tensor unsqueeze_sparse(const Tensor& self, int64_t dim_) {
  const int64_t dim = wrap_dimension(dim_, self.dim() + 1), sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self);
  const Tensor indices = ops::_indices::call(self);
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes.insert(sizes.begin() + dim, 1);
  if (dim > sparse_dim) return with_dims(sparse_dim, dense_dim + 1, sizes, indices, ops::unsqueeze::call(ops::_values::call(self), dim - sparse_dim + 1));
  const Tensor above = ops::narrow::call(indices, 0, 0, dim);
  const Tensor row = ops::zeros::call(SizeVector{1, indices.size(1)}, indices.dtype(), Layout::Strided, indices.device());
  const Tensor rows[] = {above, row, ops::narrow::call(indices, 0, dim, indices.size(0) - dim)};
  const Tensor all = ops::cat::call(rows, 0);
  return with_dims(sparse_dim + 1, dense_dim, sizes, all, ops::_values::call(self));
}

Tensor index_select_sparse(const Tensor& self, int64_t dim_, const Tensor& index) {
  if (index.dim() != 1) throw IndexError("index_select() argument index must be 1-D strided (non-sparse) long-tensor.");
  if (self.dim() == 0) throw IndexError("index_select() cannot be applied to a 0-dim tensor.");
  const int64_t dim = wrap_dimension(dim_, self.dim()), size = self.size(dim);
  const int64_t sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self);
  const Tensor indices = ops::_indices::call(self), values = ops::_values::call(self);
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[static_cast<size_t>(dim)] = index.size(0);
  if (dim >= sparse_dim) {
    const int64_t along = dim - sparse_dim + 1;
    SizeVector one(values.sizes().size(), 1), all(values.sizes().begin(), values.sizes().end());
    one[static_cast<size_t>(along)] = all[static_cast<size_t>(along)] = index.size(0);
    return with_dims(sparse_dim, dense_dim, sizes, indices, ops::gather::call(values, along, ops::expand::call(ops::view::call(index, one), all)));
  }
  const Tensor wanted = ops::empty_like::call(index.is_contiguous() ? index : ops::contiguous::call(index), ScalarType::Long);
  copy_elements(wanted, index);
  std::vector<std::vector<int64_t>> places(static_cast<size_t>(size));  // where each element of the index stands
  for (int64_t k = 0; k < wanted.numel(); ++k) {
    int64_t& i = wanted.data_as<int64_t>()[k];
    if (i < -size || i >= size) throw IndexError("index_select(): index contains " + std::to_string(i) + " that is out of range for tensor of size " + to_text(self.sizes()) + " at dimension " + std::to_string(dim));
    if (i < 0) i += size;
    places[static_cast<size_t>(i)].push_back(k);
  }
  const Tensor along = ops::select_int::call(indices, 0, dim);
  std::vector<int64_t> from, to;
  for (int64_t k = 0; k < wanted.numel(); ++k) {
    for (int64_t i = 0; i < along.numel(); ++i) {
      if (along.data_as<int64_t>()[i * along.strides()[0]] != wanted.data_as<int64_t>()[k]) continue;
      from.push_back(i);
      to.push_back(k);
    }
  }
  const auto n = static_cast<int64_t>(from.size());
  const auto listed = [&](const std::vector<int64_t>& list) {
    Tensor t = core::empty(SizeVector{n}, ScalarType::Long);
    std::copy(list.begin(), list.end(), t.data_as<int64_t>());
    return t;
  };
  const Tensor sources = listed(from);
  const Tensor grid = ops::expand::call(ops::view::call(sources, SizeVector{1, n}), SizeVector{sparse_dim, n});
  const Tensor new_indices = ops::gather::call(indices, 1, grid);
  Tensor row = ops::select_int::call(new_indices, 0, dim);
  ops::copy_::call(row, listed(to));
  SizeVector one(values.sizes().size(), 1), all(values.sizes().begin(), values.sizes().end());
  one[0] = all[0] = n;
  const Tensor new_values = ops::gather::call(values, 0, ops::expand::call(ops::view::call(sources, one), all));
  return with_dims(sparse_dim, dense_dim, sizes, new_indices, new_values);
}

Tensor select_sparse(const Tensor& self, int64_t dim, int64_t index) {
  const int64_t sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self);
  const Tensor indices = ops::_indices::call(self), values = ops::_values::call(self);
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes.erase(sizes.begin() + dim);
  if (dim >= sparse_dim) return with_dims(sparse_dim, dense_dim - 1, sizes, indices, ops::select_int::call(values, dim - sparse_dim + 1, index));
  const Tensor matches = ops::view::call(ops::nonzero::call(ops::eq_Scalar::call(ops::select_int::call(indices, 0, dim), index)), SizeVector{-1});
  const Tensor new_values = ops::index_select::call(values, 0, matches);
  if (sparse_dim == 1) {  // what is there once is it; else the sum
    return new_values.size(0) == 1 ? ops::select_int::call(new_values, 0, 0) : ops::sum_dim_IntList::call(new_values, Sizes(SizeVector{0}), false, self.dtype());
  }
  Tensor dims = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, {}, self.device());
  ops::arange_start_out::call(0, sparse_dim, 1, dims);
  const Tensor kept = ops::view::call(ops::nonzero::call(ops::ne_Scalar::call(dims, dim)), SizeVector{-1});
  const Tensor new_indices = ops::index_select::call(ops::index_select::call(indices, 1, matches), 0, kept);
  return with_dims(sparse_dim - 1, dense_dim, sizes, new_indices, new_values);
}

Tensor narrow_copy_dense(const Tensor& self, int64_t dim_, int64_t start_, int64_t length) {
  const Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  if (self.dim() == 0) throw Error("narrow() cannot be applied to a 0-dim tensor.");
  if (length < 0) throw Error("narrow(): length must be non-negative.");
  const int64_t dim = wrap_dimension(dim_, self.dim()), size = self.size(dim);
  const int64_t start = start_ == size ? start_ : start_ < 0 ? start_ + size : start_;
  if (start < 0 || start > size - length) throw Error("start (" + std::to_string(start) + ") + length (" + std::to_string(length) + ") exceeds dimension size (" + std::to_string(size) + ").");
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[static_cast<size_t>(dim)] = length;
  const Tensor from = self.is_contiguous() ? self : ops::contiguous::call(self);
  reshape_out(out, sizes);
  const int64_t outer = element_count(Sizes(sizes).first(static_cast<size_t>(dim)));
  const size_t inner = static_cast<size_t>(element_count(Sizes(sizes).subspan(static_cast<size_t>(dim) + 1))) * element_size(self.dtype());
  const size_t run = static_cast<size_t>(length) * inner, row = static_cast<size_t>(size) * inner;
  for (int64_t i = 0; i < outer; ++i) {
    std::copy_n(static_cast<const char*>(from.data()) + static_cast<size_t>(i) * row + static_cast<size_t>(start) * inner, run, static_cast<char*>(out.data()) + static_cast<size_t>(i) * run);
  }
  return out;
}
Tensor narrow_copy_sparse(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  if (self.dim() == 0) throw Error("narrow() cannot be applied to a 0-dim tensor.");
  if (length < 0) throw Error("narrow(): length must be non-negative.");
  if (dim < 0 || dim >= self.dim()) throw Error("Dimension " + std::to_string(dim) + " out of range. Expecting 0 <= dim < " + std::to_string(self.dim()) + ".");
  const int64_t d = dim, size = self.size(d), end = start + length;
  if (end > size) throw Error("Invalid range to narrow. range(start, start+length) must be a subset of range(0, " + std::to_string(size) + ").");
  const Tensor indices = ops::_indices::call(self);
  const int64_t sparse_dim = ops::sparse_dim::call(self);
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[static_cast<size_t>(d)] = length;
  Tensor new_indices, new_values;
  if (d < sparse_dim) {
    const Tensor from = ops::ge_Scalar::call(ops::select_int::call(indices, 0, d), start);
    const Tensor mask = ops::__and___Tensor::call(from, ops::lt_Scalar::call(ops::select_int::call(indices, 0, d), end));
    new_indices = ops::view::call(ops::masked_select::call(indices, mask), SizeVector{sparse_dim, -1});
    Tensor row = ops::select_int::call(new_indices, 0, d);
    ops::sub__Scalar::call(row, start);
    const Tensor places = ops::view::call(ops::nonzero::call(mask), SizeVector{-1});
    new_values = ops::index_select::call(ops::_values::call(self), 0, places);
  } else {
    new_indices = indices;
    new_values = ops::narrow_copy::call(ops::_values::call(self), d - sparse_dim + 1, start, length);
  }
  const bool coalesced = ops::is_coalesced::call(self);
  return ops::sparse_coo_tensor_indices_size::call(new_indices, new_values, sizes, new_values.dtype(), Layout::Sparse, new_values.device(), {}, coalesced);
}

Tensor permute_sparse(const Tensor& self, Sizes dims) {
  if (static_cast<int64_t>(dims.size()) != self.dim()) {
    throw Error("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = " +
                std::to_string(self.dim()) + " is not equal to len(dims) = " + std::to_string(dims.size()));
  }
  std::vector<bool> named(dims.size());
  for (const int64_t d : dims) {
    const auto at = static_cast<size_t>(wrap_dimension(d, self.dim()));
    if (named[at]) throw Error("permute(): duplicate dims are not allowed.");
    named[at] = true;
  }
  const int64_t sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self);
  SizeVector sizes, rows, of_values{0};
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = wrap_dimension(dims[i], self.dim());
    if ((static_cast<int64_t>(i) < sparse_dim) != (d < sparse_dim)) throw Error("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.");
    sizes.push_back(self.size(d));
    if (d < sparse_dim) rows.push_back(d);
    else of_values.push_back(d - sparse_dim + 1);
  }
  Tensor indices = ops::_indices::call(self), values = ops::_values::call(self);
  const bool same_rows = std::ranges::is_sorted(rows);
  if (!same_rows) {
    const Tensor order = core::empty(SizeVector{sparse_dim}, ScalarType::Long);
    std::ranges::copy(rows, order.data_as<int64_t>());
    indices = ops::index_select::call(indices, 0, ops::to_dtype_layout::call(order, ScalarType::Long, Layout::Strided, self.device(), {}, false, false, {}));
  }
  if (dense_dim > 0 && !std::ranges::is_sorted(of_values)) values = ops::permute::call(values, of_values);
  const bool coalesced = ops::is_coalesced::call(self) && same_rows;
  return with_dims(sparse_dim, dense_dim, sizes, indices, values, coalesced);
}

namespace {

// Along a dense dimension: each tensor's values between zeros where the others' are.
Tensor cat_of_values(std::span<const Tensor> tensors, int64_t dim, SizeVector sizes) {
  const int64_t sparse_dim = sparse_of(tensors[0]).sparse_dim, along = dim - sparse_dim + 1;
  int64_t total = 0, before = 0;
  for (const Tensor& t : tensors) total += t.size(dim);
  std::vector<Tensor> values, indices;
  ops::_values::call(tensors[0]);
  for (const Tensor& t : tensors) ops::_values::call(t);
  for (const Tensor& t : tensors) {
    require_alike(t, tensors[0], dim, &t - tensors.data());
    for (int i = 0; i < 2; ++i) ops::_values::call(t);
    const auto zeros = [&](int64_t n) {
      for (int i = 0; i < 3; ++i) ops::_values::call(t);
      const Tensor own = ops::_values::call(t);
      SizeVector size(own.sizes().begin(), own.sizes().end());
      size[static_cast<size_t>(along)] = n;
      return ops::zeros::call(size, own.dtype(), Layout::Strided, own.device());
    };
    const Tensor left = zeros(before), right = zeros(total - before - t.size(dim));
    const Tensor parts[] = {left, ops::_values::call(t), right};
    values.push_back(ops::cat::call(parts, along));
    indices.push_back(ops::_indices::call(t));
    before += t.size(dim);
  }
  sizes[static_cast<size_t>(dim)] = total;
  const Tensor all = ops::cat::call(values, 0);
  return with_dims(sparse_dim, sparse_of(tensors[0]).dense_dim, sizes, ops::cat::call(indices, 1), all);
}

}  // namespace

Tensor cat_sparse(std::span<const Tensor> tensors, int64_t dim_) {
  if (tensors.empty()) throw Error("torch.cat(): expected a non-empty list of Tensors");
  const Tensor& first = tensors[0];
  const int64_t dim = wrap_dimension(dim_, first.dim()), sparse_dim = ops::sparse_dim::call(first), dense_dim = ops::dense_dim::call(first);
  SizeVector sizes(first.sizes().begin(), first.sizes().end());
  if (dim >= sparse_dim) return cat_of_values(tensors, dim, std::move(sizes));
  std::vector<Tensor> indices, values;
  for (const Tensor& t : tensors) {
    require_alike(t, first, dim, &t - tensors.data());
    indices.push_back(ops::_indices::call(t));
    values.push_back(ops::_values::call(t));
  }
  const Tensor all = ops::cat::call(indices, 1), all_values = ops::cat::call(values, 0);
  // Each tensor's places come after those of the ones before it.
  int64_t column = 0, before = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t count = ops::_nnz::call(tensors[i]);
    if (i > 0) {
      Tensor row = ops::narrow::call(ops::select_int::call(all, 0, dim), 0, column, count);
      ops::add__Scalar::call(row, before);
    }
    column += count;
    before += tensors[i].size(dim);
  }
  sizes[static_cast<size_t>(dim)] = before;
  return with_dims(sparse_dim, dense_dim, sizes, all, all_values);
}

Tensor zeros_like_compressed(const Tensor& self, std::optional<ScalarType> dtype) {
  ops::dense_dim::call(self);
  const ScalarType index_type = compressed_of(self).dtype();
  const auto part = [&](int64_t n, ScalarType type) { return ops::empty_memory_format::call(SizeVector{n}, type, Layout::Strided, self.device(), false); };
  const Tensor compressed = part(self.size(by_rows(layout_of(self)) ? 0 : 1) + 1, index_type), plain = part(0, index_type);
  const Tensor values = part(0, dtype.value_or(self.dtype()));
  const Tensor out = made_of_lines(layout_of(self), compressed, plain, values, self.sizes());
  plain_of(out);
  Tensor begins = compressed_of(out);
  ops::zero_::call(begins);
  return out;
}
Tensor zeros_like_sparse(const Tensor& self, std::optional<ScalarType> dtype) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, dtype.value_or(self.dtype()), Layout::Sparse, self.device());
  const int64_t dense_dim = ops::dense_dim::call(self), sparse_dim = ops::sparse_dim::call(self);
  ops::sparse_resize_and_clear_::call(out, self.sizes(), sparse_dim, dense_dim);
  return ops::_coalesced_::call(out, true);
}

}  // namespace peel::kernels
