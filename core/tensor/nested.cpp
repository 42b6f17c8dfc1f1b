#include "core/tensor/nested.h"

namespace peel::core {
namespace {

const int64_t* row(const Tensor& t, int64_t i) { return t.data_as<int64_t>() + i * t.size(1); }

}  // namespace

int64_t nested_numel(const Tensor& t) {
  int64_t sum = 0;
  const Tensor& sizes = nested_of(t).sizes;
  for (int64_t i = 0; i < part_count(t); ++i) sum += element_count(Sizes(row(sizes, i), static_cast<size_t>(sizes.size(1))));
  return sum;
}

std::optional<int64_t> nested_size(const Tensor& t, int64_t dim_) {
  const int64_t dim = wrap_dimension(dim_, t.dim());
  if (dim == 0) return part_count(t);
  const Tensor& sizes = nested_of(t).sizes;
  for (int64_t i = 1; i < part_count(t); ++i) {
    if (row(sizes, i)[dim - 1] != row(sizes, 0)[dim - 1]) return {};
  }
  return part_count(t) ? std::optional(row(sizes, 0)[dim - 1]) : std::nullopt;
}

bool is_nested_contiguous(const Tensor& t) {
  const NestedParts& p = nested_of(t);
  int64_t at = 0;
  for (int64_t i = 0; i < part_count(t); ++i) {
    const Sizes size(row(p.sizes, i), static_cast<size_t>(p.sizes.size(1)));
    const SizeVector usual = contiguous_strides(size);
    if (p.offsets.data_as<int64_t>()[i] != at || !std::equal(usual.begin(), usual.end(), row(p.strides, i))) return false;
    at += element_count(size);
  }
  return true;
}

Tensor nested_over(const Tensor& like, NestedParts parts) {
  const auto dims = static_cast<size_t>(parts.sizes.dim() == 2 ? parts.sizes.size(1) + 1 : 1);
  return Tensor(make_ref<TensorImpl>(std::make_unique<NestedParts>(std::move(parts)), like.impl().storage, DispatchKeySet(DispatchKey::NestedTensorCPU), like.dtype(), dims));
}

Tensor nested_buffer(const Tensor& t) {
  const int64_t count = static_cast<int64_t>(t.impl().storage->bytes() / element_size(t.dtype()));
  return Tensor(make_ref<TensorImpl>(t.impl().storage, DispatchKeySet(DispatchKey::CPU), t.dtype(), SizeVector{count}, SizeVector{1}, 0));
}

}  // namespace peel::core
