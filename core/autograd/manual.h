// Kernels at Autograd that are written by hand.
#pragma once
#include "core/tensor/tensor.h"

namespace peel::core::manual {

Tensor& copy_(DispatchKeySet, Tensor& self, const Tensor& src, bool non_blocking);

Tensor& detach_(DispatchKeySet, Tensor& self);

}  // namespace peel::core::manual
