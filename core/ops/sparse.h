// How sparse tensors come about: by the calls of operators that stock's constructors make.
#pragma once
#include "core/ops/types.h"
#include "core/tensor/sparse.h"

namespace peel::core {

/// Whether new tensors of coordinates are checked: indices inside the sizes.
bool& sparse_invariants_checked();

/// A tensor of coordinates with one dimension of size 0.
Tensor new_coo(ScalarType);
/// A tensor of compressed indices with nothing in it yet.
Tensor new_compressed(Layout, ScalarType);
/// The same tensor without an autograd part (detach, .data): of a sparse one, stock first makes an empty one.
Tensor shallow_copy(const Tensor&, Ref<VersionCounter>);
/// Sizes and dimensions of an empty or not yet filled tensor of coordinates. Error where they don't add up.
void resize_coo(const Tensor&, int64_t sparse_dim, int64_t dense_dim, Sizes);
/// The same, and no coordinates any more.
void resize_and_clear_coo(const Tensor&, int64_t sparse_dim, int64_t dense_dim, Sizes);
/// Gives a tensor of coordinates its parts. Error where they don't fit to each other or to its sizes.
void set_parts(const Tensor&, const Tensor& indices, const Tensor& values);
/// Keeps the first `nnz` coordinates.
void narrow_parts(const Tensor&, int64_t nnz);

}  // namespace peel::core
