#include "core/dispatch/dispatcher.h"

#include "core/dispatch/error.h"

namespace peel::core {

Dispatcher& Dispatcher::get() {
  static Dispatcher& dispatcher = *new Dispatcher;
  return dispatcher;
}

Dispatcher::Dispatcher() = default;
Dispatcher::~Dispatcher() = default;

const Kernel* Dispatcher::keep(DispatchKey key, KernelFunction f, std::string debug) {
  auto kernel = std::make_unique<Kernel>();
  kernel->function = std::move(f);
  kernel->key = key;
  kernel->debug = std::move(debug);
  kernels_.push_back(std::move(kernel));
  return kernels_.back().get();
}

OperatorEntry& Dispatcher::entry_for(const OperatorName& name) {
  if (const auto found = index_.find(name); found != index_.end()) return *found->second;
  entries_.push_back(std::make_unique<OperatorEntry>(name, this));
  const std::unique_lock lock(index_mutex_);
  return *(index_[name] = entries_.back().get());
}

void Dispatcher::drop_use(OperatorEntry& e) {
  if (--e.uses > 0) return;
  const std::unique_lock lock(index_mutex_);
  index_.erase(e.name());
}

Registration Dispatcher::register_library(const std::string& space, const std::string& debug) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = libraries_.emplace(space, debug);
  if (!added) {
    throw Error("Only a single TORCH_LIBRARY can be used to register the namespace " + space +
                "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying to specify implementations, consider "
                "using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define operators for a single namespace in a "
                "distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous registration of TORCH_LIBRARY was " +
                found->second + "; latest registration was " + debug);
  }
  return Registration([this, space] {
    const std::lock_guard undo(mutex_);
    libraries_.erase(space);
  });
}

Registration Dispatcher::register_schema(FunctionSchema schema, std::string debug, AliasAnalysis analysis) {
  const std::lock_guard lock(mutex_);
  OperatorEntry& e = entry_for(schema.name);
  if (e.definitions > 0) {
    throw Error("Tried to register an operator (" + schema.text() + ") with the same name and overload name multiple times. Each overload's schema "
                "should only be registered with a single call to def(). Duplicate registration: " + debug +
                ". Original registration: " + e.registered_schema()->debug);
  }
  ++e.uses;
  try {
    e.register_schema({std::move(schema), std::move(debug), analysis});
  } catch (...) {
    drop_use(e);
    throw;
  }
  ++e.definitions;
  ++version_;
  return Registration([this, &e] {
    const std::lock_guard undo(mutex_);
    --e.definitions;
    e.deregister_schema();
    drop_use(e);
    ++version_;
  });
}

Registration Dispatcher::register_kernel(const OperatorName& name, std::optional<DispatchKey> key, KernelFunction f, std::string debug) {
  const std::lock_guard lock(mutex_);
  OperatorEntry& e = entry_for(name);
  if (!key || *key == DispatchKey::Undefined) key = DispatchKey::CompositeImplicitAutograd;
  const Kernel* k = keep(*key, std::move(f), std::move(debug));
  ++e.uses;
  try {
    e.register_kernel(k);
  } catch (...) {
    drop_use(e);
    throw;
  }
  ++version_;
  return Registration([this, &e, k] {
    const std::lock_guard undo(mutex_);
    e.deregister_kernel(k);
    drop_use(e);
    ++version_;
  });
}

void Dispatcher::update_all(DispatchKey k) {
  for (const auto& [name, entry] : index_) entry->update(k);
  ++version_;
}

Registration Dispatcher::register_fallback(DispatchKey key, KernelFunction f, std::string debug) {
  const std::lock_guard lock(mutex_);
  const Kernel*& slot = fallbacks_[slot_of(key)];
  if (slot && key != DispatchKey::AutogradPrivateUse1) {
    throw Error(std::string("Tried to register multiple backend fallbacks for the same dispatch key ") + to_string(key) + "; previous registration " +
                slot->debug + ", new registration " + debug);
  }
  slot = keep(key, std::move(f), std::move(debug));
  update_all(key);
  return Registration([this, key] {
    const std::lock_guard undo(mutex_);
    fallbacks_[slot_of(key)] = nullptr;
    update_all(key);
  });
}

std::optional<OperatorHandle> Dispatcher::find(const OperatorName& name) const {
  const std::shared_lock lock(index_mutex_);
  const auto found = index_.find(name);
  if (found == index_.end()) return std::nullopt;
  return OperatorHandle(found->second);
}

OperatorHandle Dispatcher::find_schema_or_throw(const std::string& name, const std::string& overload) const {
  const auto found = find({name, overload});
  if (found && found->has_schema()) return *found;
  const std::string text = "Could not find schema for " + name + "." + overload;
  throw Error(found ? text + " but we found an implementation; did you forget to def() the operator?" : text);
}

std::vector<OperatorName> Dispatcher::names() const {
  const std::shared_lock lock(index_mutex_);
  std::vector<OperatorName> out;
  out.reserve(index_.size());
  for (const auto& [name, entry] : index_) out.push_back(name);
  return out;
}

}  // namespace peel::core
