// What kernels of sparse tensors share.
#pragma once
#include "core/ops/sparse.h"
#include "kernels/composite/factory_arguments.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/walk.h"

namespace peel::kernels {

/// One number for each column of indices, in the order of a dense tensor's elements.
Tensor flattened_indices(const Tensor& indices, Sizes sizes);

/// A factor times an element; of bool: both.
template <class T>
Math<T> product(Math<T> factor, T x) {
  if constexpr (std::is_same_v<T, bool>) return factor && x;
  else return factor * static_cast<Math<T>>(x);
}

/// Whether rows are compressed, else columns.
bool by_rows(Layout);
/// Where each row (column) begins, and the other indices; a call each.
Tensor compressed_of(const Tensor&);
Tensor plain_of(const Tensor&);
/// An element of a vector of indices, of either width.
int64_t index_at(const Tensor& t, int64_t i);
void set_compressed(const Tensor& t, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size);
/// Without a call, as a constructor of stock's does it.
Tensor made_of_lines(Layout, const Tensor& compressed, const Tensor& plain, const Tensor& values, Sizes size);

/// Blocks, of any other layout.
Tensor to_blocks(const Tensor& self, Layout, std::optional<Sizes> blocksize, std::optional<int64_t> dense_dim);
/// Of a dense matrix what the mask says, line by line.
Tensor compressed_from_mask(const Tensor& self, const Tensor& mask, bool rows);

/// sparse_mask of two tensors of coordinates.
Tensor mask_of_coordinates(const Tensor& self, const Tensor& mask);
/// Their product, element by element, at the coordinates of one of them, which need not be coalesced.
Tensor& product_at_coordinates(Tensor& out, const Tensor& a, const Tensor& b, ScalarType common);
/// A copy in the order of its elements, without a call.
inline Tensor copied_row_major(const Tensor& t) {
  const Tensor out = core::empty(t.sizes(), t.dtype());
  copy_elements(out, t);
  return out;
}

// The sparse parts of composite kernels, which ask for the layout themselves.
Tensor& resize_as_coo_(Tensor& self, const Tensor& like);
Tensor to_copy_sparse(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Device> device, bool non_blocking);
Tensor to_copy_compressed(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Device> device, bool non_blocking);
Tensor transpose_sparse(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor transpose_compressed(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor select_sparse(const Tensor& self, int64_t dim, int64_t index);
Tensor zeros_like_compressed(const Tensor& self, std::optional<ScalarType> dtype);
Tensor zeros_like_sparse(const Tensor& self, std::optional<ScalarType> dtype);

}  // namespace peel::kernels
