#include "core/ops/sparse.h"

#include "core/dispatch/error.h"
#include "ops_generated/ops.h"

namespace peel::core {
namespace {

Tensor empty_part(Sizes size, ScalarType type) { return ops::empty_memory_format::call(size, type, Layout::Strided, Device()); }

SparseParts empty_coo(ScalarType type) {
  SparseParts p;
  p.values = empty_part(SizeVector{0}, type);
  p.indices = empty_part(SizeVector{1, 0}, ScalarType::Long);
  return p;
}
SparseParts empty_compressed(Layout layout, ScalarType type) {
  SparseParts p;
  p.layout = layout;
  p.values = empty_part(SizeVector{0}, type);
  p.indices = empty_part(SizeVector{0}, ScalarType::Int);
  p.compressed = empty_part(SizeVector{0}, ScalarType::Int);
  p.sparse_dim = 2;
  return p;
}

Tensor made(SparseParts p, DispatchKey key, ScalarType type, SizeVector sizes) {
  return Tensor(make_ref<TensorImpl>(std::make_unique<SparseParts>(std::move(p)), DispatchKeySet(key), type, std::move(sizes)));
}

void check_dimensions(int64_t sparse_dim, int64_t dense_dim, Sizes size) {
  if (sparse_dim + dense_dim == static_cast<int64_t>(size.size())) return;
  throw Error("'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = " + std::to_string(size.size()) + ", sparse_dim = " + std::to_string(sparse_dim) +
              ", dense_dim = " + std::to_string(dense_dim));
}

SizeVector size_of_values(int64_t nnz, int64_t sparse_dim, Sizes size) {
  SizeVector out{nnz};
  out.insert(out.end(), size.begin() + sparse_dim, size.end());
  return out;
}

void set_shape(const Tensor& t, int64_t sparse_dim, int64_t dense_dim, Sizes size) {
  TensorImpl& impl = t.impl();
  impl.sizes.assign(size.begin(), size.end());
  impl.strides = contiguous_strides(impl.sizes);
  impl.sparse->sparse_dim = sparse_dim;
  impl.sparse->dense_dim = dense_dim;
}

}  // namespace

bool& sparse_invariants_checked() {
  static bool checked = false;
  return checked;
}

Tensor new_coo(ScalarType type) { return made(empty_coo(type), DispatchKey::SparseCPU, type, {0}); }
Tensor new_compressed(Layout layout, ScalarType type) { return made(empty_compressed(layout, type), DispatchKey::SparseCsrCPU, type, {0, 0}); }

Tensor shallow_copy(const Tensor& t, Ref<VersionCounter> counter) {
  if (is_coo(t)) empty_coo(t.dtype());
  else if (is_compressed(t)) empty_compressed(layout_of(t), t.dtype());
  return Tensor(Ref<KeyedObject>(t.impl().detached(std::move(counter))));
}

void resize_coo(const Tensor& t, int64_t sparse_dim, int64_t dense_dim, Sizes size) {
  check_dimensions(sparse_dim, dense_dim, size);
  SparseParts& p = sparse_of(t);
  if (p.values.size(0) > 0) {
    if (sparse_dim != p.sparse_dim) {
      throw Error("changing the number of sparse dimensions (from " + std::to_string(p.sparse_dim) + " to " + std::to_string(sparse_dim) + ") on a non-empty sparse tensor is not supported.");
    }
    if (dense_dim != p.dense_dim) {
      throw Error("changing the number of dense dimensions (from " + std::to_string(p.dense_dim) + " to " + std::to_string(dense_dim) + ") on a non-empty sparse tensor is not supported.");
    }
  }
  if (!std::ranges::equal(size, t.sizes()) || sparse_dim != p.sparse_dim || dense_dim != p.dense_dim) {
    const int64_t nnz = p.values.size(0);
    ops::resize_::call(p.values, size_of_values(nnz, sparse_dim, size));
    ops::resize_::call(p.indices, SizeVector{sparse_dim, nnz});
  }
  set_shape(t, sparse_dim, dense_dim, size);
}

void resize_and_clear_coo(const Tensor& t, int64_t sparse_dim, int64_t dense_dim, Sizes size) {
  check_dimensions(sparse_dim, dense_dim, size);
  const SizeVector sizes(size.begin(), size.end());
  Tensor indices = empty_part(SizeVector{sparse_dim, 0}, ScalarType::Long);
  Tensor values = empty_part(size_of_values(0, sparse_dim, sizes), t.dtype());
  set_shape(t, sparse_dim, dense_dim, sizes);
  set_parts(t, indices, values);
}

void set_parts(const Tensor& t, const Tensor& indices, const Tensor& values) {
  SparseParts& p = sparse_of(t);
  if (indices.dtype() != ScalarType::Long) throw Error("indices must be an int64 tensor");
  if (values.dtype() != t.dtype()) throw Error(std::string("dtype of values (") + to_string(values.dtype()) + ") must match dtype of sparse tensor (" + to_string(t.dtype()) + ")");
  if (indices.dim() != 2) throw Error("indices must be sparse_dim x nnz, but got: " + to_text(indices.sizes()));
  if (values.dim() < 1 || indices.size(1) != values.size(0)) {
    throw Error("indices and values must have same nnz, but got nnz from indices: " + std::to_string(indices.size(1)) + ", nnz from values: " +
                std::to_string(values.dim() < 1 ? 0 : values.size(0)));
  }
  if (indices.size(0) != p.sparse_dim) {
    throw Error("indices has incorrect first dimension, expected " + std::to_string(p.sparse_dim) + ", got " + std::to_string(indices.size(0)));
  }
  if (values.dim() != p.dense_dim + 1) {
    throw Error("values has incorrect number of dimensions, expected " + std::to_string(p.dense_dim + 1) + ", got " + std::to_string(values.dim()));
  }
  const SizeVector expected = size_of_values(values.size(0), p.sparse_dim, t.sizes());
  if (!std::ranges::equal(expected, values.sizes())) throw Error("values has incorrect size, expected " + to_text(expected) + ", got " + to_text(values.sizes()));
  p.indices = indices;
  p.values = values;
  p.coalesced = values.size(0) < 2;
}

void narrow_parts(const Tensor& t, int64_t nnz) {
  SparseParts& p = sparse_of(t);
  p.indices = ops::narrow::call(p.indices, 1, 0, nnz);
  p.values = ops::narrow::call(p.values, 0, 0, nnz);
  p.coalesced = nnz < 2;
}

}  // namespace peel::core
