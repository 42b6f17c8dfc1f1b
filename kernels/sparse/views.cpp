// Parts of tensors of coordinates, and the same with other dimensions. In stock these are views by name; the memory is new.
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
  Tensor indices = ops::_indices::call(self), values = ops::_values::call(self);
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes.insert(sizes.begin() + dim, 1);
  if (dim > sparse_dim) return with_dims(sparse_dim, dense_dim + 1, sizes, indices, ops::unsqueeze::call(values, dim - sparse_dim + 1));
  const Tensor row = ops::zeros::call(SizeVector{1, indices.size(1)}, indices.dtype(), Layout::Strided, indices.device());
  const Tensor rows[] = {ops::narrow::call(indices, 0, 0, dim), row, ops::narrow::call(indices, 0, dim, indices.size(0) - dim)};
  return with_dims(sparse_dim + 1, dense_dim, sizes, ops::cat::call(rows, 0), values);
}

Tensor index_select_sparse(const Tensor& self, int64_t dim_, const Tensor& index) {
  if (index.dim() != 1) throw IndexError("index_select() argument index must be 1-D tensor.");
  if (self.dim() == 0) throw IndexError("index_select() cannot be applied to a 0-dim tensor.");
  const int64_t dim = wrap_dimension(dim_, self.dim()), size = self.size(dim);
  const int64_t sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self);
  const Tensor indices = ops::_indices::call(self), values = ops::_values::call(self);
  SizeVector sizes(self.sizes().begin(), self.sizes().end());
  sizes[static_cast<size_t>(dim)] = index.size(0);
  if (dim >= sparse_dim) return with_dims(sparse_dim, dense_dim, sizes, indices, ops::index_select::call(values, dim - sparse_dim + 1, index));
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
  if (sparse_dim == 1) return ops::sum_dim_IntList::call(new_values, Sizes(SizeVector{0}), false, self.dtype());
  Tensor dims = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Long, {}, self.device());
  ops::arange_start_out::call(0, sparse_dim, 1, dims);
  const Tensor kept = ops::view::call(ops::nonzero::call(ops::ne_Scalar::call(dims, dim)), SizeVector{-1});
  const Tensor new_indices = ops::index_select::call(ops::index_select::call(indices, 1, matches), 0, kept);
  return with_dims(sparse_dim - 1, dense_dim, sizes, new_indices, new_values, sparse_of(self).coalesced);
}

Tensor permute_sparse(const Tensor& self, Sizes dims) {
  const int64_t sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self);
  if (static_cast<int64_t>(dims.size()) != self.dim()) {
    throw Error("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = " +
                std::to_string(self.dim()) + " is not equal to len(dims) = " + std::to_string(dims.size()));
  }
  SizeVector sizes, rows, of_values{0};
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = wrap_dimension(dims[i], self.dim());
    if ((static_cast<int64_t>(i) < sparse_dim) != (d < sparse_dim)) throw Error("permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.");
    sizes.push_back(self.size(d));
    if (d < sparse_dim) rows.push_back(d);
    else of_values.push_back(d - sparse_dim + 1);
  }
  std::vector<Tensor> picked;
  for (const int64_t r : rows) picked.push_back(ops::select_int::call(ops::_indices::call(self), 0, r));
  Tensor values = ops::_values::call(self);
  if (dense_dim > 0) values = ops::permute::call(values, of_values);
  return with_dims(sparse_dim, dense_dim, sizes, ops::stack::call(picked, 0), values);
}

Tensor cat_sparse(std::span<const Tensor> tensors, int64_t dim_) {
  if (tensors.empty()) throw Error("torch.cat(): expected a non-empty list of Tensors");
  const Tensor& first = tensors[0];
  const int64_t dim = wrap_dimension(dim_, first.dim());
  std::vector<Tensor> indices, values;
  SizeVector sizes(first.sizes().begin(), first.sizes().end());
  int64_t offset = 0;
  for (const Tensor& t : tensors) {
    if (!is_coo(t)) throw Error("Concatenating sparse tensors, but a dense tensor was found at position " + std::to_string(&t - tensors.data()) + ".");
    bool fits = t.dim() == first.dim() && sparse_of(t).sparse_dim == sparse_of(first).sparse_dim;
    for (int64_t d = 0; fits && d < t.dim(); ++d) fits = d == dim || t.size(d) == first.size(d);
    if (!fits) throw Error("All tensors must have the same shape: " + to_text(first.sizes()) + " (except in the concatenating dimension), but found shape: " + to_text(t.sizes()) + " at position " + std::to_string(&t - tensors.data()) + ".");
    values.push_back(ops::_values::call(t));
    Tensor at = ops::_indices::call(t);
    if (dim < sparse_of(first).sparse_dim && offset > 0) {
      at = ops::clone::call(at);
      Tensor row = ops::select_int::call(at, 0, dim);
      ops::add__Scalar::call(row, offset);
    }
    indices.push_back(std::move(at));
    offset += t.size(dim);
  }
  sizes[static_cast<size_t>(dim)] = offset;
  const SparseParts& p = sparse_of(first);
  if (dim >= p.sparse_dim) throw NotImplemented("The embedded engine has no torch.cat of sparse tensors along a dense dimension yet; the program can be run on stock PyTorch (--engine pytorch).");
  return with_dims(p.sparse_dim, p.dense_dim, sizes, ops::cat::call(indices, 1), ops::cat::call(values, 0));
}

Tensor zeros_like_sparse(const Tensor& self, std::optional<ScalarType> dtype) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, dtype.value_or(self.dtype()), Layout::Sparse, self.device());
  const int64_t dense_dim = ops::dense_dim::call(self), sparse_dim = ops::sparse_dim::call(self);
  ops::sparse_resize_and_clear_::call(out, self.sizes(), sparse_dim, dense_dim);
  return ops::_coalesced_::call(out, true);
}

}  // namespace peel::kernels
