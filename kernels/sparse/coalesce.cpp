// Coordinates in order, each once; and tensors of coordinates to and from dense ones.
#include <algorithm>

#include "core/ops/sparse.h"

#include "core/dispatch/error.h"
#include "kernels/composite/factory_arguments.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/rows.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor flattened_indices(const Tensor& indices, Sizes sizes) {
  if (indices.size(0) == 1) return ops::squeeze_dim::call(indices, 0);
  if (indices.numel() == 0) return ops::zeros::call(SizeVector{indices.size(1)}, ScalarType::Long, Layout::Strided, indices.device());
  const Tensor out = ops::arange::call(indices.size(1), ScalarType::Long, Layout::Strided, indices.device());
  const int64_t *from = indices.data_as<int64_t>(), step = indices.strides()[1];
  for (int64_t i = 0; i < indices.size(1); ++i) {
    int64_t flat = 0;
    for (int64_t d = 0; d < indices.size(0); ++d) flat = flat * sizes[static_cast<size_t>(d)] + from[d * indices.strides()[0] + i * step];
    out.data_as<int64_t>()[i] = flat;
  }
  return out;
}

Tensor coalesce(const Tensor& self) {
  if (!is_coo(self)) throw Error(std::string("coalesce expected sparse coordinate tensor layout but got ") + to_string(layout_of(self)));
  return ops::is_coalesced::call(self) ? self : ops::_coalesce::call(self);
}

Tensor coalesce_sparse(const Tensor& self) {
  ops::is_coalesced::call(self);
  if (ops::_nnz::call(self) < 2) {
    Tensor out = ops::clone::call(self);
    return ops::_coalesced_::call(out, true);
  }
  const Tensor indices = ops::_indices::call(self), values = made_contiguous(ops::_values::call(self));
  const int64_t sparse_dim = ops::sparse_dim::call(self), dense_dim = ops::dense_dim::call(self), nnz = ops::_nnz::call(self);
  const Tensor flat = flattened_indices(indices, self.sizes());
  Tensor out = new_coo(self.dtype());
  resize_coo(out, sparse_dim, dense_dim, self.sizes());
  const Tensor new_indices = ops::empty_memory_format::call(indices.sizes(), indices.dtype(), Layout::Strided, indices.device());
  const Tensor new_values = ops::empty_memory_format::call(values.sizes(), values.dtype(), Layout::Strided, values.device());
  set_parts(out, new_indices, new_values);
  const auto [sorted, order] = ops::sort::call(flat, 0, false);
  const int64_t block = nnz ? values.numel() / nnz : 0;
  int64_t last = -1;
  with_any_type(values.dtype(), "coalesce", [&]<class T>(T) {
    for (int64_t j = 0, before = -1; j < nnz; ++j) {
      const int64_t at = sorted.data_as<int64_t>()[j], from = order.data_as<int64_t>()[j];
      const T* source = values.data_as<T>() + from * block;
      if (at == before) {
        T* to = new_values.data_as<T>() + last * block;
        for (int64_t k = 0; k < block; ++k) to[k] = static_cast<T>(static_cast<Math<T>>(to[k]) + static_cast<Math<T>>(source[k]));
        continue;
      }
      ++last;
      for (int64_t d = 0; d < sparse_dim; ++d) {
        new_indices.data_as<int64_t>()[d * nnz + last] = indices.data_as<int64_t>()[d * indices.strides()[0] + from * indices.strides()[1]];
      }
      std::copy_n(source, block, new_values.data_as<T>() + last * block);
      before = at;
    }
  });
  ops::_coalesced_::call(out, true);
  narrow_parts(out, last + 1);
  sparse_of(out).coalesced = true;
  return out;
}

Tensor to_dense(const Tensor& self, Type dtype, Flag masked_grad) {
  if (layout_of(self) != Layout::Strided) return ops::_to_dense::call(self, dtype, masked_grad);
  return dtype ? ops::to_dtype::call(self, *dtype) : self;
}
Tensor to_dense_sparse(const Tensor& self, Type dtype, Flag) {
  if (dtype) throw Error("dtype argument is not supported by sparse_to_dense");
  Tensor out = ops::zeros::call(self.sizes(), self.dtype(), Layout::Strided, self.device());
  return ops::add__Tensor::call(out, self);
}
Tensor to_dense_backward(const Tensor& grad, const Tensor& input, Flag masked_grad) {
  const bool masked = masked_grad.value_or(true);
  switch (layout_of(input)) {
    case Layout::Strided: return ops::to_dtype::call(grad, input.dtype());
    case Layout::Sparse:
      if (masked) return ops::sparse_mask::call(grad, ops::coalesce::call(input));
      return ops::to_sparse_sparse_dim::call(grad, ops::sparse_dim::call(input));
    default: {
      if (!masked) return ops::to_sparse::call(grad, layout_of(input));
      const int64_t sparse_dim = ops::sparse_dim::call(input);
      return ops::to_sparse::call(ops::sparse_mask::call(grad, ops::to_sparse_sparse_dim::call(input, sparse_dim)), layout_of(input));
    }
  }
}

Tensor to_sparse_sparse_dim(const Tensor& self, int64_t sparse_dim) {
  if (!is_coo(self)) return ops::_to_sparse_sparse_dim::call(self, sparse_dim);
  if (ops::sparse_dim::call(self) == sparse_dim) return self;
  throw Error("to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported");
}
Tensor to_sparse(const Tensor& self, LayoutArgument layout, std::optional<Sizes> blocksize, std::optional<int64_t> dense_dim) {
  if (layout_of(self) == layout.value_or(Layout::Sparse)) return self;
  return ops::_to_sparse::call(self, layout, blocksize, dense_dim);
}
Tensor to_sparse_dense(const Tensor& self, int64_t sparse_dim) {
  const int64_t dims = self.dim();
  if (sparse_dim < 0 || sparse_dim > dims) {
    throw Error("dense_to_sparse: sparse_dim argument must be in [0," + std::to_string(dims) + "] range, but " + std::to_string(sparse_dim) + " is given");
  }
  if (sparse_dim == 0 && dims > 0) throw Error("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0");
  const Tensor places = ops::transpose_int::call(ops::nonzero::call(self), 0, 1);
  if (places.size(1) == 0) {
    Tensor out = new_with_dims_sparse(sparse_dim, dims - sparse_dim, self.sizes(), self.dtype(), {}, {}, {});
    return ops::_coalesced_::call(out, true);
  }
  Tensor indices;
  if (sparse_dim == dims) {
    indices = ops::clone::call(places);
  } else {
    indices = std::get<0>(ops::unique_dim::call(ops::narrow::call(places, 0, 0, sparse_dim), 1));
    if (!indices.is_contiguous()) indices = ops::contiguous::call(indices);
  }
  Tensor values;
  if (dims > 0) {
    std::vector<std::optional<Tensor>> at;
    for (Tensor& row : ops::chunk::call(indices, indices.size(0), 0)) at.emplace_back(std::move(row));
    values = ops::clone::call(ops::squeeze_dim::call(ops::index_Tensor::call(self, at), 0), MemoryFormat::Preserve);
  } else {
    values = ops::clone::call(ops::unsqueeze::call(self, 0), MemoryFormat::Preserve);
  }
  Tensor out = ops::sparse_coo_tensor_indices_size::call(indices, values, self.sizes(), self.dtype(), Layout::Sparse, self.device(), false);
  return ops::_coalesced_::call(out, true);
}
Tensor to_sparse_dense(const Tensor& self, LayoutArgument layout, std::optional<Sizes> blocksize, std::optional<int64_t> dense_dim) {
  switch (layout.value_or(Layout::Sparse)) {
    case Layout::Sparse: return ops::to_sparse_sparse_dim::call(self, self.dim() - dense_dim.value_or(0));
    case Layout::SparseCsr: return ops::to_sparse_csr::call(self, dense_dim);
    case Layout::SparseCsc: return ops::to_sparse_csc::call(self, dense_dim);
    default: return to_blocks(self, *layout, blocksize, dense_dim);
  }
}
Tensor to_sparse_coo(const Tensor& self, int64_t sparse_dim) {
  if (sparse_dim != sparse_of(self).sparse_dim) throw Error("to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not supported");
  return self;
}
Tensor to_sparse_coo(const Tensor& self, LayoutArgument layout, std::optional<Sizes> blocksize, std::optional<int64_t> dense_dim) {
  if (layout.value_or(Layout::Sparse) != Layout::Sparse) ops::sparse_dim::call(self);
  switch (layout.value_or(Layout::Sparse)) {
    case Layout::Sparse: return self;
    case Layout::SparseCsr: return ops::to_sparse_csr::call(self, dense_dim);
    case Layout::SparseCsc: return ops::to_sparse_csc::call(self, dense_dim);
    default: return to_blocks(self, *layout, blocksize, dense_dim);
  }
}

Tensor sparse_mask_sparse(const Tensor& self, const Tensor& mask) {
  if (!std::ranges::equal(self.sizes(), mask.sizes())) {
    throw Error("sparse_mask(): operands have incompatible sizes; self has size " + to_text(self.sizes()) + " but mask has size " + to_text(mask.sizes()));
  }
  if (self.is_same(mask)) return self;
  if (ops::_nnz::call(mask) == 0) {
    Tensor out = ops::zeros_like::call(ops::clone::call(mask), self.dtype());
    return out;
  }
  if (is_coo(self)) return mask_of_coordinates(self, mask);
  const Tensor values = ops::_values::call(mask);
  const Tensor ones = ops::expand_as::call(ops::ones::call(SizeVector{1}, mask.dtype(), Layout::Strided, self.device()), values);
  const Tensor indices = ops::_indices::call(mask);
  Tensor pattern = ops::sparse_coo_tensor_indices_size::call(indices, ones, mask.sizes());
  ops::_coalesced_::call(pattern, ops::is_coalesced::call(mask));
  return ops::to_dtype::call(ops::mul_Tensor::call(self, pattern), self.dtype());
}

Tensor to_copy_sparse(const Tensor& self, Type dtype, DeviceArgument device, bool non_blocking) {
  const ScalarType t = dtype.value_or(self.dtype());
  const Device d = device.value_or(self.device());
  const Tensor at = ops::_indices::call(self);
  const Tensor indices = ops::_to_copy::call(at, at.dtype(), Layout::Strided, d, {}, non_blocking, {});
  const Tensor values = ops::_to_copy::call(ops::_values::call(self), t, Layout::Strided, d, {}, non_blocking, {});
  return ops::_sparse_coo_tensor_unsafe::call(indices, values, self.sizes(), t, Layout::Sparse, d, {}, ops::is_coalesced::call(self));
}

}  // namespace peel::kernels
