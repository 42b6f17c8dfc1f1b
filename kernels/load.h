// Puts the embedded engine's operators into the dispatcher.
#pragma once
#include "core/dispatch/operator_handle.h"

namespace peel::core {
class Library;
}

namespace peel::kernels {

/// Once a process; calls after the first do nothing. Everything else here and in core/ops needs it.
void load_operators();

/// The fallback at Conjugate or Negative (kernels/composite/complex.cpp): arguments that have the key's bit are made real, then the operator runs below.
void materialise(core::DispatchKey, const core::OperatorHandle&, core::DispatchKeySet, core::Stack*);

/// Kernels at FuncTorchBatched of operators that are taken apart (kernels/composite/decompositions.cpp).
void register_decompositions(core::Library&);
/// Kernels at FuncTorchDynamicLayerFrontMode, before any transform (kernels/composite/before_transforms.cpp).
void register_before_transforms(core::Library&);

}  // namespace peel::kernels
