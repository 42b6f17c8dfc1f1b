#include "core/dispatch/operator_entry.h"

#include <algorithm>

#include "core/dispatch/dispatcher.h"
#include "core/dispatch/error.h"

namespace peel::core {

FallthroughMasks::FallthroughMasks() : all_(DispatchKeySet::full().raw()) {
  for (auto& m : per_backend_) m = all_.load();
}

// The last writer wins in the common word, as measured: a fallthrough at AutogradCUDA alone takes the whole functionality
// out of it, and calls are right only because the words per backend then decide.
void FallthroughMasks::set(DispatchKey k, bool fallthrough) {
  const auto change = [&](std::atomic<uint64_t>& word) {
    const auto s = DispatchKeySet::from_raw(word.load());
    word.store((fallthrough ? s - k : s | k).raw(), std::memory_order_release);
  };
  if (!is_per_backend(functionality_of(k)) || backend_of(k) == BackendComponent::InvalidBit) {
    change(all_);
    for (auto& m : per_backend_) change(m);
    return;
  }
  change(per_backend_[static_cast<int>(backend_of(k)) - 1]);
  const bool differ = std::any_of(per_backend_.begin(), per_backend_.end(), [&](const auto& m) { return m.load() != per_backend_[0].load(); });
  // While the words differ the common one is not read: it changes before they are equal, and after they have come to differ.
  if (differ) per_backend_needed_.store(true, std::memory_order_release);
  change(all_);
  if (!differ) per_backend_needed_.store(false, std::memory_order_release);
}

OperatorEntry::OperatorEntry(OperatorName name, Dispatcher* d) : name_(std::move(name)), dispatcher_(d) {
  for (auto& s : slots_) s.store(&kMissingKernel, std::memory_order_relaxed);
  for (auto& p : provenance_) p.store(Provenance::kMissing, std::memory_order_relaxed);
  update_slot(DispatchKey::Undefined);
  for (const DispatchKey k : DispatchKeySet::full()) update_slot(k);
}

DispatchKeySet OperatorEntry::keys_of(const Stack& s) const {
  DispatchKeySet out;
  for (uint64_t left = key_positions_.load(std::memory_order_relaxed); left; left &= left - 1) {
    const auto from_end = static_cast<size_t>(std::countr_zero(left));
    if (from_end < s.size()) out = out | s[s.size() - 1 - from_end].keys();
  }
  return out;
}

const Kernel* OperatorEntry::settle(DispatchKeySet arguments, DispatchKeySet* set, const Kernel* found) const {
  while (found->function.is_fallthrough()) {
    const DispatchKeySet again = effective(arguments);
    const Kernel* kernel_now = kernel(again);
    if (again == *set && kernel_now == found) break;  // not a race: its kernel will say what is wrong
    *set = again;
    found = kernel_now;
  }
  return found;
}

const Kernel* OperatorEntry::require(DispatchKeySet set, const Kernel* found) const {
  if (!found->function.valid()) report_missing(set);
  return found;
}

void OperatorEntry::report_missing(DispatchKeySet set) const {
  const DispatchKey k = set.highest();
  const std::string available = dispatcher_->available_keys(*this), table = dispatcher_->dump_table(*this);
  if (k == DispatchKey::Undefined) {
    throw NotImplemented("There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback function is "
                         "registered for schema " + name_.text() + ".  This usually means that this function requires a non-empty list of "
                         "Tensors, or that you (the operator writer) forgot to register a fallback function.  Available functions are " +
                         available + ".\n\n" + table);
  }
  if (k == DispatchKey::Meta) {
    throw NotImplemented(name_.text() + ": attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. You may have run into this message "
                         "while using an operator with PT2 compilation APIs (torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. "
                         "Please see the following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html");
  }
  throw NotImplemented("Could not run '" + name_.text() + "' with arguments from the '" + to_string(k) + "' backend. This could be because the operator "
                       "doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom build). If you are a "
                       "Facebook employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for possible resolutions. '" + name_.text() +
                       "' is only available for these backends: " + available + ".\n\n" + table);
}

void OperatorEntry::register_schema(RegisteredSchema registered) {
  const FunctionSchema& s = registered.schema;
  for (const auto& [key, kernels] : registrations_) {
    for (const Kernel* k : kernels) {
      if (k->function.inferred) check_inferred_schema(s, *k, registered.debug);
    }
  }
  uint64_t positions = 0;
  for (size_t i = 0; i < s.arguments.size() && i < 64; ++i) {
    const size_t from_end = s.arguments.size() - 1 - i;
    if (s.arguments[i].type.gives_keys() && from_end < 64) positions |= uint64_t{1} << from_end;
  }
  key_positions_.store(positions, std::memory_order_relaxed);
  schemas_.push_back(std::make_unique<RegisteredSchema>(std::move(registered)));
  schema_now_.store(schemas_.back().get(), std::memory_order_release);
}

void OperatorEntry::deregister_schema() { schema_now_.store(nullptr, std::memory_order_release); }

void OperatorEntry::register_kernel(const Kernel* k) {
  const RegisteredSchema* registered = registered_schema();
  if (k->function.inferred && registered) check_inferred_schema(registered->schema, *k, registered->debug);
  if (k->function.signature) {
    const std::type_info* known = signature();
    if (known && *known != *k->function.signature) {
      throw Error("\nMismatch in kernel C++ signatures\n  operator: " + name_.text() + "\n    " + (registered ? registered->debug : "no debug info") +
                  "\n  kernel 1: " + known->name() + "\n    " + signature_debug_ + "\n  kernel 2: " + k->function.signature->name() + "\n    " +
                  k->debug + "\n");
    }
    if (!known) signature_debug_ = k->debug;
    signature_.store(k->function.signature, std::memory_order_release);
  }
  registrations_[k->key].push_back(k);
  update(k->key);
}

void OperatorEntry::deregister_kernel(const Kernel* k) {
  const auto found = registrations_.find(k->key);
  if (found == registrations_.end()) return;
  std::erase(found->second, k);
  if (found->second.empty()) registrations_.erase(found);
  update(k->key);
}

// Only the slots that stock refreshes. It leaves some that the rules would decide otherwise now (CompositeImplicit first, then
// CompositeExplicit: the autograd slots keep the composite kernel), and so do we.
void OperatorEntry::update(DispatchKey k) {
  for (const DispatchKey runtime : runtime_keys(k)) update_slot(runtime);
  if (k == DispatchKey::CompositeImplicitAutograd || k == DispatchKey::CompositeExplicitAutograd ||
      k == DispatchKey::CompositeExplicitAutogradNonFunctional) {
    update_slot(DispatchKey::Undefined);
  }
  if (is_backend_key(k)) update_slot(autograd_key_of(backend_of(k)));
}

void OperatorEntry::update_slot(DispatchKey k) {
  const TableEntry e = computed(k);
  const int index = slot_of(k);
  const bool fallthrough = e.kernel->function.is_fallthrough();
  // A call reads the mask first. A key leaves the mask before its slot becomes a fallthrough and returns after.
  if (fallthrough) masks_.set(k, true);
  slots_[index].store(e.kernel, std::memory_order_release);
  provenance_[index].store(e.provenance, std::memory_order_relaxed);
  if (!fallthrough) masks_.set(k, false);
}

TableEntry OperatorEntry::computed(DispatchKey k, std::span<const PrecedenceRule> rules) const {
  return compute_entry(registrations_, dispatcher_->fallbacks(), k, rules);
}

}  // namespace peel::core
