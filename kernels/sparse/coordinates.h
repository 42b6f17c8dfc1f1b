// What kernels of sparse tensors share.
#pragma once
#include "core/ops/sparse.h"
#include "kernels/composite/factory_arguments.h"
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

/// sparse_mask of two tensors of coordinates.
Tensor mask_of_coordinates(const Tensor& self, const Tensor& mask);

// The sparse parts of composite kernels, which ask for the layout themselves.
Tensor& resize_as_coo_(Tensor& self, const Tensor& like);
Tensor to_copy_sparse(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Device> device, bool non_blocking);
Tensor transpose_sparse(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor transpose_compressed(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor select_sparse(const Tensor& self, int64_t dim, int64_t index);
Tensor zeros_like_sparse(const Tensor& self, std::optional<ScalarType> dtype);

}  // namespace peel::kernels
