// Slices of tensors, for kernels that pick and put by indices.
#pragma once
#include "core/tensor/tensor.h"

namespace peel::kernels {

/// Room for a result in the memory order of self. No call.
core::Tensor like(const core::Tensor& self);
/// The slice at `i` along dimension `d`, which it hasn't; a number is its own only slice. No call.
core::Tensor slice_at(const core::Tensor&, int64_t d, int64_t i);

}  // namespace peel::kernels
