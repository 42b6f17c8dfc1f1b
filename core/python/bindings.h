// Which operators Python sees, and where. The table is generated (core/ops/python_bindings.py).
#pragma once
#include <cstdint>
#include <span>

#include "core/dispatch/kernel.h"

namespace peel::core::python {

/// Bits of Binding::where. A factory makes new tensors: in Python it also takes requires_grad, and runs below ADInplaceOrView.
enum Place : uint8_t { kFunction = 1, kMethod = 2, kNn = 4, kFactory = 8, kLinalg = 16, kSpecial = 32, kFft = 64, kSparse = 128 };

/// An operator under the name that Python has for it. `entry` gives its unboxed call, ready to be run on a stack of arguments.
struct Binding {
  const char* name;
  const char* overload;
  KernelFunction (*entry)();
  uint8_t where;
};
std::span<const Binding> bindings();

}  // namespace peel::core::python
