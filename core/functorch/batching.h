// vmap's backend fallback, and its switches.
#pragma once
#include "core/dispatch/operator_handle.h"

namespace peel::core::functorch {

struct FallbackSettings {
  bool enabled = true, warns = true;
};
/// Of the process.
FallbackSettings& fallback_settings();

/// At FuncTorchBatched, for operators without a rule: calls the operator for each sample and stacks what comes out.
void loop_over_samples(const OperatorHandle&, DispatchKeySet, Stack*);

}  // namespace peel::core::functorch
