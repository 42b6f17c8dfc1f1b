// What stands at the Autograd keys of operators that have no kernel there.
#pragma once
#include "core/dispatch/operator_handle.h"

namespace peel::core {

/// Goes on to the next layer, with grad mode as it is. Results that come back without a graph, of arguments that need gradients, get a node
/// that warns when backward reaches it and gives no gradient.
void autograd_fallback(const OperatorHandle&, DispatchKeySet, Stack*);

/// Where warnings go; null: to stderr. PyTorch's become Python's.
void set_warning_handler(void (*)(const std::string&));
void warn(const std::string&);

}  // namespace peel::core
