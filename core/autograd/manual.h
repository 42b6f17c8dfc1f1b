// Kernels at Autograd that are written by hand.
#pragma once
#include <tuple>

#include "core/tensor/tensor.h"

namespace peel::core::manual {

Tensor& copy_(DispatchKeySet, Tensor& self, const Tensor& src, bool non_blocking);

Tensor& detach_(DispatchKeySet, Tensor& self);

// Of forward-mode AD (forward.cpp).
Tensor _make_dual(DispatchKeySet, const Tensor& primal, const Tensor& tangent, int64_t level);
Tensor _fw_primal(DispatchKeySet, const Tensor& self, int64_t level);
std::tuple<Tensor, Tensor> _unpack_dual(DispatchKeySet, const Tensor& dual, int64_t level);

}  // namespace peel::core::manual
