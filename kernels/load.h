// Puts the embedded engine's operators into the dispatcher.
#pragma once

namespace peel::kernels {

/// Once a process; calls after the first do nothing. Everything else here and in core/ops needs it.
void load_operators();

}  // namespace peel::kernels
