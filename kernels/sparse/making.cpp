// Tensors of coordinates: made, copied, and asked for their parts.
#include <algorithm>

#include "core/ops/sparse.h"

#include "core/dispatch/error.h"
#include "core/tensor/promotion.h"
#include "kernels/composite/factory_arguments.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor new_with_dims_sparse(int64_t sparse_dim, int64_t dense_dim, Sizes size, Type dtype, LayoutArgument, DeviceArgument, Flag) {
  const Tensor t = new_coo(dtype.value_or(default_dtype()));
  resize_and_clear_coo(t, sparse_dim, dense_dim, size);
  return t;
}
Tensor new_with_dims_and_tensors_sparse(int64_t sparse_dim, int64_t dense_dim, Sizes size, const Tensor& indices, const Tensor& values, Type dtype, LayoutArgument, DeviceArgument,
                                        Flag, Flag is_coalesced) {
  const Tensor t = new_coo(dtype.value_or(values.dtype()));
  resize_coo(t, sparse_dim, dense_dim, size);
  // Handles of their own on the same memory, without history.
  const auto own = [](const Tensor& part) { return Tensor(Ref<KeyedObject>(part.impl().detached(part.impl().version))); };
  set_parts(t, own(indices), own(values));
  if (is_coalesced) sparse_of(t).coalesced = *is_coalesced;
  return t;
}
Tensor empty_sparse(Sizes size, Type dtype, LayoutArgument, DeviceArgument, Flag, Format) {
  const Tensor t = new_coo(dtype.value_or(default_dtype()));
  resize_and_clear_coo(t, static_cast<int64_t>(size.size()), 0, size);
  return t;
}

namespace {

// Values without a dimension for nnz stand for one element each.
Tensor expanded(const Tensor& values) { return values.dim() == 0 ? ops::expand::call(values, SizeVector{1}) : values; }

void check_indices(const Tensor& indices) {
  if (indices.dim() != 2) throw Error("indices must be sparse_dim x nnz, but got: " + to_text(indices.sizes()));
}

Tensor with_parts(const Tensor& indices, const Tensor& values, Sizes size, Type dtype, Flag is_coalesced) {
  const int64_t sparse_dim = indices.size(0), dense_dim = values.dim() - 1;
  return ops::_sparse_coo_tensor_with_dims_and_tensors::call(sparse_dim, dense_dim, size, indices, values, dtype.value_or(values.dtype()), Layout::Sparse, values.device(), {}, is_coalesced);
}

}  // namespace

Tensor sparse_coo_tensor(Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return ops::_sparse_coo_tensor_with_dims::call(static_cast<int64_t>(size.size()), 0, size, dtype, layout.value_or(Layout::Sparse), device, pin);
}
Tensor sparse_coo_tensor_indices(const Tensor& indices, const Tensor& values, Type dtype, LayoutArgument, DeviceArgument, Flag, Flag is_coalesced) {
  check_indices(indices);
  const Tensor all = expanded(values);
  SizeVector size;
  if (indices.numel() > 0) {
    const Tensor least = std::get<0>(ops::min_dim::call(indices, 1, false));
    Tensor largest = std::get<0>(ops::max_dim::call(indices, 1, false));
    ops::add__Scalar::call(largest, 1);
    const Tensor low = ops::to_dtype_layout::call(least, {}, {}, Device(), {}, false, false, {}), high = ops::to_dtype_layout::call(largest, {}, {}, Device(), {}, false, false, {});
    for (int64_t d = 0; d < indices.size(0); ++d) {
      const int64_t min = low.data_as<int64_t>()[d];
      if (min < 0) throw Error("found negative index " + std::to_string(min) + " for dim " + std::to_string(d));
      size.push_back(high.data_as<int64_t>()[d]);
    }
  } else {
    size.assign(static_cast<size_t>(indices.size(0)), 0);
  }
  size.insert(size.end(), all.sizes().begin() + 1, all.sizes().end());
  return with_parts(indices, all, size, dtype, is_coalesced);
}
Tensor sparse_coo_tensor_indices_size(const Tensor& indices, const Tensor& values, Sizes size, Type dtype, LayoutArgument, DeviceArgument, Flag, Flag is_coalesced) {
  check_indices(indices);
  if (sparse_invariants_checked()) _validate_sparse_coo_tensor_args(indices, values, size, is_coalesced, {});
  return with_parts(indices, expanded(values), size, dtype, is_coalesced);
}
Tensor _sparse_coo_tensor_unsafe(const Tensor& indices, const Tensor& values, Sizes size, Type dtype, LayoutArgument, DeviceArgument, Flag, Flag is_coalesced) {
  return with_parts(indices, expanded(values), size, dtype, is_coalesced);
}

void _validate_sparse_coo_tensor_args(const Tensor& indices, const Tensor& values, Sizes size, Flag, Flag check_pinning) {
  if (check_pinning.value_or(true)) {
    ops::is_pinned::call(indices);
    ops::is_pinned::call(values);
  }
  check_indices(indices);
  const int64_t sparse_dim = indices.size(0), dense_dim = values.dim() - 1;
  if (sparse_dim + dense_dim != static_cast<int64_t>(size.size())) {
    throw Error("'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = " + std::to_string(size.size()) + ", sparse_dim = " + std::to_string(sparse_dim) +
                ", dense_dim = " + std::to_string(dense_dim));
  }
  if (indices.numel() == 0) return;
  const Tensor least = std::get<0>(ops::min_dim::call(indices, 1, false)), largest = std::get<0>(ops::max_dim::call(indices, 1, false));
  for (int64_t d = 0; d < sparse_dim; ++d) {
    const int64_t min = least.data_as<int64_t>()[d], max = largest.data_as<int64_t>()[d], n = size[static_cast<size_t>(d)];
    if (min < 0) throw Error("found negative index " + std::to_string(min) + " for dim " + std::to_string(d));
    if (max >= n) {
      throw Error("size is inconsistent with indices: for dim " + std::to_string(d) + ", size is " + std::to_string(n) + " but found index " + std::to_string(max));
    }
  }
}

int64_t sparse_dim_sparse(const Tensor& self) { return sparse_of(self).sparse_dim; }
int64_t dense_dim_sparse(const Tensor& self) { return sparse_of(self).dense_dim; }
int64_t sparse_dim_default(const Tensor&) { return 0; }
int64_t dense_dim_default(const Tensor& self) { return self.dim(); }
int64_t nnz_sparse(const Tensor& self) { return sparse_of(self).values.size(0); }
bool is_coalesced_sparse(const Tensor& self) { return sparse_of(self).coalesced; }
Tensor indices_unchecked_sparse(const Tensor& self) { return sparse_of(self).indices; }
Tensor values_unchecked_sparse(const Tensor& self) { return sparse_of(self).values; }
Tensor& coalesced_sparse_(Tensor& self, bool coalesced) {
  sparse_of(self).coalesced = coalesced;
  return self;
}
Tensor indices_sparse(const Tensor& self) {
  if (!ops::is_coalesced::call(self)) throw Error("Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  return ops::alias::call(sparse_of(self).indices);
}
Tensor values_sparse(const Tensor& self) {
  if (!ops::is_coalesced::call(self)) throw Error("Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  return ops::alias::call(sparse_of(self).values);
}

namespace {

[[noreturn]] void refuse(const char* what, const char* kind, const Tensor& self) {
  throw Error(std::string(what) + " expected " + kind + " tensor layout but got " + to_string(layout_of(self)));
}

}  // namespace

bool is_coalesced_default(const Tensor& self) { refuse("is_coalesced", "sparse coordinate", self); }
Tensor indices_default(const Tensor& self) { refuse("indices", "sparse coordinate", self); }
Tensor values_default(const Tensor& self) { refuse("values", "sparse", self); }
Tensor crow_indices_default(const Tensor& self) { refuse("crow_indices", "sparse row compressed", self); }
Tensor col_indices_default(const Tensor& self) { refuse("col_indices", "sparse row compressed", self); }
Tensor ccol_indices_default(const Tensor& self) { refuse("ccol_indices", "sparse column compressed", self); }
Tensor row_indices_default(const Tensor& self) { refuse("row_indices", "sparse column compressed", self); }

namespace {

// Copies of the parts, in the dtype and so on that `to` has.
void copy_parts(Tensor& to, const Tensor& indices, const Tensor& values, bool non_blocking) {
  const auto converted = [&](const Tensor& part, const Tensor& like) {
    return ops::to_dtype_layout::call(part, like.dtype(), Layout::Strided, like.device(), {}, non_blocking, true, {});
  };
  const Tensor new_values = converted(values, ops::_values::call(to));
  const Tensor new_indices = converted(indices, ops::_indices::call(to));
  set_parts(to, new_indices, new_values);
}

}  // namespace

Tensor clone_sparse(const Tensor& self, Format) {
  const int64_t dense_dim = ops::dense_dim::call(self), sparse_dim = ops::sparse_dim::call(self);
  Tensor out = new_with_dims_sparse(sparse_dim, dense_dim, self.sizes(), self.dtype(), {}, {}, {});
  const Tensor values = ops::_values::call(self), indices = ops::_indices::call(self);
  copy_parts(out, indices, values, true);
  return ops::_coalesced_::call(out, ops::is_coalesced::call(self));
}
Tensor& copy_sparse_to_sparse_(Tensor& self, const Tensor& src, bool non_blocking) {
  if (self.is_same(src)) return self;
  const int64_t dense_dim = ops::dense_dim::call(src), sparse_dim = ops::sparse_dim::call(src);
  resize_coo(self, sparse_dim, dense_dim, src.sizes());
  const Tensor values = ops::_values::call(src), indices = ops::_indices::call(src);
  copy_parts(self, indices, values, non_blocking);
  return ops::_coalesced_::call(self, ops::is_coalesced::call(src));
}
Tensor& copy_sparse_wrapper_(Tensor& self, const Tensor& src, bool non_blocking) {
  if (!is_coo(self) || !is_coo(src)) throw Error("copy_() between dense and sparse Tensors is not implemented! Found self type = " + std::string("torch.") + (is_coo(self) ? "sparse." : "") + to_string(self.dtype()) +
                                                 "Tensor and src type = torch." + (is_coo(src) ? "sparse." : "") + to_string(src.dtype()) + "Tensor");
  return ops::copy_sparse_to_sparse_::call(self, src, non_blocking);
}
Tensor& sparse_resize_(Tensor& self, Sizes size, int64_t sparse_dim, int64_t dense_dim) {
  resize_coo(self, sparse_dim, dense_dim, size);
  return self;
}
Tensor& sparse_resize_and_clear_(Tensor& self, Sizes size, int64_t sparse_dim, int64_t dense_dim) {
  resize_and_clear_coo(self, sparse_dim, dense_dim, size);
  return self;
}
Tensor& resize_as_coo_(Tensor& self, const Tensor& like) {
  const auto same = [&] {
    return ops::sparse_dim::call(self) == ops::sparse_dim::call(like) && ops::dense_dim::call(self) == ops::dense_dim::call(like) && std::ranges::equal(self.sizes(), like.sizes());
  };
  if (same()) return self;
  const int64_t dense_dim = ops::dense_dim::call(like), sparse_dim = ops::sparse_dim::call(like);
  resize_coo(self, sparse_dim, dense_dim, like.sizes());
  return self;
}
Tensor& resize_as_sparse_(Tensor& self, const Tensor& like) { return resize_as_coo_(self, like); }
Tensor& zero_sparse_(Tensor& self) {
  const int64_t dense_dim = ops::dense_dim::call(self), sparse_dim = ops::sparse_dim::call(self);
  const SizeVector sizes(self.sizes().begin(), self.sizes().end());
  ops::sparse_resize_and_clear_::call(self, sizes, sparse_dim, dense_dim);
  return ops::_coalesced_::call(self, true);
}
Tensor empty_like_sparse(const Tensor& self, Type dtype, LayoutArgument, DeviceArgument device, Flag pin, Format) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, dtype.value_or(self.dtype()), Layout::Sparse, device.value_or(self.device()), pin);
  const int64_t dense_dim = ops::dense_dim::call(self), sparse_dim = ops::sparse_dim::call(self);
  return ops::sparse_resize_and_clear_::call(out, self.sizes(), sparse_dim, dense_dim);
}

}  // namespace peel::kernels
