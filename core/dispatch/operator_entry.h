// One operator: its schema, its registrations, and the table that a call looks into. Calls read it without a lock while
// registrations change it: slots and masks are atomic words, and kernels are never freed before the dispatcher.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "core/dispatch/local_keys.h"
#include "core/dispatch/precedence.h"

namespace peel::core {

class Dispatcher;

/// How PyTorch's compiler may reason about an operator's memory; only its dump shows it here.
enum class AliasAnalysis : uint8_t { kFromSchema, kPureFunction, kConservative, kDefault };

/// Keys that a call may go to: those without a fallthrough. Usually one word; a fallthrough for one backend alone of a
/// per-backend functionality makes a word per backend necessary.
class FallthroughMasks {
 public:
  FallthroughMasks();
  DispatchKeySet apply(DispatchKeySet s) const {
    if (per_backend_needed_.load(std::memory_order_acquire)) [[unlikely]] return s & for_backend(s.backend_index());
    return s & all();
  }
  /// The slot of `k` holds a fallthrough or does not.
  void set(DispatchKey k, bool fallthrough);
  DispatchKeySet all() const { return DispatchKeySet::from_raw(all_.load(std::memory_order_acquire)); }
  DispatchKeySet for_backend(int index) const { return DispatchKeySet::from_raw(per_backend_[index].load(std::memory_order_acquire)); }
  bool per_backend_needed() const { return per_backend_needed_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> per_backend_needed_{false};
  std::atomic<uint64_t> all_;
  std::array<std::atomic<uint64_t>, kBackends> per_backend_;
};

/// A schema as it was registered.
struct RegisteredSchema {
  FunctionSchema schema;
  std::string debug;
  AliasAnalysis alias_analysis;
};

class OperatorEntry {
 public:
  OperatorEntry(OperatorName, Dispatcher*);
  OperatorEntry(const OperatorEntry&) = delete;
  OperatorEntry& operator=(const OperatorEntry&) = delete;

  // Hot: what a call reads.
  /// The set that a call with these argument keys is looked up with.
  DispatchKeySet effective(DispatchKeySet arguments) const {
    const LocalKeys l = local_keys();
    return masks_.apply((arguments | l.included) - l.excluded);
  }
  /// Never null; kMissingKernel for an empty slot.
  const Kernel* kernel(DispatchKeySet s) const { return slots_[s.slot()].load(std::memory_order_acquire); }
  const Kernel* slot(int index) const { return slots_[index].load(std::memory_order_acquire); }
  /// Union of the keys of the arguments on the stack, by position: tensors only, no generators.
  DispatchKeySet keys_of(const Stack&) const;
  /// For a call that found no ready kernel. When a registration came between its look at the mask and its look at the slot, it
  /// has met a fallthrough: looks again.
  const Kernel* settle(DispatchKeySet arguments, DispatchKeySet* set, const Kernel* found) const;
  /// `found`, or throws when it is the missing kernel.
  const Kernel* require(DispatchKeySet set, const Kernel* found) const;

  const OperatorName& name() const { return name_; }
  const FallthroughMasks& masks() const { return masks_; }
  /// Null until a schema was registered.
  const RegisteredSchema* registered_schema() const { return schema_now_.load(std::memory_order_acquire); }
  const FunctionSchema* schema() const {
    const RegisteredSchema* s = registered_schema();
    return s ? &s->schema : nullptr;
  }
  /// Why the slot holds what it holds, as of the last update of that slot.
  Provenance provenance(int index) const { return provenance_[index].load(std::memory_order_relaxed); }
  /// The C++ type that unboxed calls must have; null when no unboxed kernel was registered.
  const std::type_info* signature() const { return signature_.load(std::memory_order_acquire); }

  // The rest is called with the dispatcher's lock held.
  void register_schema(RegisteredSchema);
  void deregister_schema();
  void register_kernel(const Kernel*);
  void deregister_kernel(const Kernel*);
  void update(DispatchKey);
  const Registrations& registrations() const { return registrations_; }
  /// Recomputed, which a stored slot need not equal.
  TableEntry computed(DispatchKey, std::span<const PrecedenceRule> = precedence_rules()) const;
  int definitions = 0, uses = 0;  // uses counts definitions and implementations

 private:
  void update_slot(DispatchKey);
  [[noreturn]] void report_missing(DispatchKeySet) const;

  FallthroughMasks masks_;
  std::atomic<uint64_t> key_positions_{0};  // bit i: the i-th argument from the end gives keys
  std::array<std::atomic<const Kernel*>, kSlots> slots_;
  std::array<std::atomic<Provenance>, kSlots> provenance_;
  OperatorName name_;
  Dispatcher* dispatcher_;
  std::atomic<const RegisteredSchema*> schema_now_{nullptr};
  std::atomic<const std::type_info*> signature_{nullptr};
  std::string signature_debug_;
  std::vector<std::unique_ptr<RegisteredSchema>> schemas_;  // old ones stay: a reader may hold one
  Registrations registrations_;
};

}  // namespace peel::core
