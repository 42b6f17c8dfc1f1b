// Kernels as the dispatch table holds them: boxed entry (works on a stack), unboxed entry (a C++ function), or both.
#pragma once
#include <memory>
#include <string>
#include <typeinfo>

#include "core/dispatch/schema.h"

namespace peel::core {

class OperatorHandle;

/// State of a kernel: what a closure captured. Both entries get it.
struct OperatorKernel : RefCounted {};

using BoxedFunction = void(OperatorKernel*, const OperatorHandle&, DispatchKeySet, Stack*);

/// What someone registers. The set that a kernel is given is the one it was looked up with: to redispatch it masks its
/// own key and those above (`set & kAfterAutograd`).
struct KernelFunction {
  /// `Return(OperatorKernel*, DispatchKeySet, Arguments...)` with the argument types exactly as spelled in `signature`.
  void* unboxed = nullptr;
  BoxedFunction* boxed = nullptr;  // null: invalid
  Ref<OperatorKernel> functor;
  const std::type_info* signature = nullptr;       // of `Return(Arguments...)`; null without an unboxed entry
  std::shared_ptr<const FunctionSchema> inferred;  // from the C++ types; null for boxed kernels

  bool valid() const { return boxed != nullptr; }
  bool is_fallthrough() const;
  /// Never runs: a call goes to the next key.
  static KernelFunction fallthrough();
};

/// A registered kernel. Lives as long as its dispatcher even after removal: a thread may be about to run it.
struct Kernel {
  KernelFunction function;
  DispatchKey key = DispatchKey::Undefined;  // where it was registered
  std::string debug;                         // `registered at file:line`
};

/// The kernel of an empty slot: valid() is false.
extern const Kernel kMissingKernel;
/// Stands at AutogradOther when composite and backend registrations contradict each other there.
extern const Kernel kAmbiguousAutogradOther;

/// Throws Error when the C++ types of a kernel cannot serve the operator's schema.
void check_inferred_schema(const FunctionSchema&, const Kernel&, const std::string& schema_debug);

}  // namespace peel::core
