// The registry of operators and backend fallbacks. Registration takes a lock; calls don't come here.
// Removed kernels and operators are kept until the dispatcher goes, as another thread may be about to use them.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "core/dispatch/operator_handle.h"

namespace peel::core {

/// Undoes a registration when it goes. Must go before its dispatcher.
class [[nodiscard]] Registration {
 public:
  Registration() = default;
  explicit Registration(std::function<void()> undo) : undo_(std::move(undo)) {}
  Registration(Registration&& o) noexcept : undo_(std::exchange(o.undo_, nullptr)) {}
  Registration& operator=(Registration&& o) noexcept {
    std::swap(undo_, o.undo_);
    return *this;
  }
  ~Registration() {
    if (undo_) undo_();
  }

 private:
  std::function<void()> undo_;
};

class Dispatcher {
 public:
  /// The process's; never destroyed. Tests make their own.
  static Dispatcher& get();
  Dispatcher();
  ~Dispatcher();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  // Registration. Errors and their texts are PyTorch's.
  Registration register_library(const std::string& space, const std::string& debug);
  Registration register_schema(FunctionSchema, std::string debug, AliasAnalysis = AliasAnalysis::kFromSchema);
  /// Without a key, or with Undefined: CompositeImplicitAutograd. The newest of a key is in force; when it goes, the one before is again.
  Registration register_kernel(const OperatorName&, std::optional<DispatchKey>, KernelFunction, std::string debug);
  /// One per key, except AutogradPrivateUse1, where a newer one replaces and its removal leaves none.
  Registration register_fallback(DispatchKey, KernelFunction, std::string debug);

  // Look-up by name; keep the handle.
  std::optional<OperatorHandle> find(const OperatorName&) const;
  /// `aten::add`, `Tensor`. Throws when there is no such schema.
  OperatorHandle find_schema_or_throw(const std::string& name, const std::string& overload) const;
  std::vector<OperatorName> names() const;

  /// In PyTorch's format (`torch._C._dispatch_dump`, `_dispatch_dump_table`).
  std::string dump(const OperatorEntry&) const;
  std::string dump_table(const OperatorEntry&, std::span<const PrecedenceRule> = precedence_rules()) const;
  /// `[CPU, Meta, ...]`: the keys with a computed kernel.
  std::string available_keys(const OperatorEntry&) const;
  /// Grows with every registration and removal: tables that were looked at before may be others now.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  /// With the lock held.
  const BackendFallbacks& fallbacks() const { return fallbacks_; }

 private:
  OperatorEntry& entry_for(const OperatorName&);
  void drop_use(OperatorEntry&);
  const Kernel* keep(DispatchKey, KernelFunction, std::string debug);
  void update_all(DispatchKey);

  std::atomic<uint64_t> version_{1};
  mutable std::recursive_mutex mutex_;  // everything below; the index also for readers
  mutable std::shared_mutex index_mutex_;
  struct Hash {
    size_t operator()(const OperatorName& n) const { return std::hash<std::string>()(n.name) * 31 + std::hash<std::string>()(n.overload); }
  };
  std::unordered_map<OperatorName, OperatorEntry*, Hash> index_;
  std::vector<std::unique_ptr<OperatorEntry>> entries_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::unordered_map<std::string, std::string> libraries_;
  BackendFallbacks fallbacks_{};
};

}  // namespace peel::core
