// Products of two tensors that are summed over some dimensions.
#pragma once
#include "core/ops/types.h"

namespace peel::kernels {

/// The product of two operands of the same dimensions, summed over some; those keep size 1.
core::Tensor pair(const core::Tensor& a, const core::Tensor& b, const core::SizeVector& summed);

}  // namespace peel::kernels
