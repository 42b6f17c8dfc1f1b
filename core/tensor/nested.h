// Nested tensors: parts of different sizes, one after the other in one storage. A tensor's own sizes say nothing then (zeros, as many as it has dimensions).
#pragma once
#include "core/tensor/tensor.h"

namespace peel::core {

struct NestedParts {
  Tensor sizes, strides;  // int64, one row a part
  Tensor offsets;         // int64, where each part begins in the storage
};

inline bool is_nested(const Tensor& t) { return t.impl().nested != nullptr; }
/// Of a tensor that is known to be nested.
inline NestedParts& nested_of(const Tensor& t) { return *t.impl().nested; }
inline int64_t part_count(const Tensor& t) { return nested_of(t).sizes.sizes().empty() ? 0 : nested_of(t).sizes.size(0); }

/// Elements of all parts.
int64_t nested_numel(const Tensor&);
/// The size that all parts have there; none where they differ. Dimension 0 counts the parts.
std::optional<int64_t> nested_size(const Tensor&, int64_t dim);
/// Whether the parts lie one after the other, each row-major.
bool is_nested_contiguous(const Tensor&);
/// A nested tensor over the storage of `like`, a dense or nested tensor.
Tensor nested_over(const Tensor& like, NestedParts);
/// All of a nested tensor's storage as a dense vector.
Tensor nested_buffer(const Tensor&);

}  // namespace peel::core
