// What kernels of nested tensors share.
#pragma once
#include "core/tensor/nested.h"
#include "kernels/composite/factory_arguments.h"

namespace peel::kernels {

/// Row `i` of a nested tensor's sizes or strides.
Sizes row_of(const Tensor& rows, int64_t i);
/// A nested tensor over a vector, its parts one after the other; the calls are those of stock's constructor.
Tensor wrap_buffer(const Tensor& buffer, const Tensor& sizes);
/// The largest size in each dimension.
SizeVector largest_sizes(const Tensor& sizes);
/// The parts of a padded tensor without what pads them.
Tensor nested_from_padded_rows(const Tensor& padded, const Tensor& sizes);
/// A copy of the sizes with another last one in each row.
Tensor sizes_with_last(const Tensor& sizes, int64_t last);
/// The last size, which all parts share. Error where they don't.
int64_t consistent_last_size(const Tensor& t);
/// A linear map, with an activation where `gelu` says which.
Tensor rows_with_activation(const Tensor& x, const Tensor& weight, const Tensor& bias, std::optional<bool> gelu);
[[noreturn]] void nested_missing(const char* what);

}  // namespace peel::kernels
