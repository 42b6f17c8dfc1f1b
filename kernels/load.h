// Puts the embedded engine's operators into the dispatcher.
#pragma once
#include "core/dispatch/operator_handle.h"

namespace peel::kernels {

/// Once a process; calls after the first do nothing. Everything else here and in core/ops needs it.
void load_operators();

/// The fallback at Conjugate or Negative (kernels/composite/complex.cpp): arguments that have the key's bit are made real, then the operator runs below.
void materialise(core::DispatchKey, const core::OperatorHandle&, core::DispatchKeySet, core::Stack*);

}  // namespace peel::kernels
