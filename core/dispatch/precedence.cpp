#include "core/dispatch/precedence.h"

#include "core/dispatch/key_sets.h"

namespace peel::core {
namespace {

DispatchKey key_of(Alias a) {
  switch (a) {
    case Alias::kNone: break;
    case Alias::kAutograd: return DispatchKey::Autograd;
    case Alias::kCompositeImplicit: return DispatchKey::CompositeImplicitAutograd;
    case Alias::kBatchedDecomposition: return DispatchKey::FuncTorchBatchedDecomposition;
    case Alias::kCompositeImplicitNested: return DispatchKey::CompositeImplicitAutogradNestedTensor;
    case Alias::kCompositeExplicit: return DispatchKey::CompositeExplicitAutograd;
    case Alias::kCompositeExplicitNonFunctional: return DispatchKey::CompositeExplicitAutogradNonFunctional;
  }
  return DispatchKey::Undefined;
}

const Kernel* newest(const Registrations& r, DispatchKey k) {
  const auto found = r.find(k);
  return found == r.end() ? nullptr : found->second.back();
}

struct Slot {
  const Registrations& registrations;
  const BackendFallbacks& fallbacks;
  DispatchKey key;

  const Kernel* own() const { return newest(registrations, key); }
  const Kernel* fallback() const { return fallbacks[slot_of(key)]; }
  const Kernel* registered(Alias a) const { return newest(registrations, key_of(a)); }
  const Kernel* error_kernel() const { return &kAmbiguousAutogradOther; }
  bool undefined() const { return key == DispatchKey::Undefined; }
  bool autograd_other() const { return key == DispatchKey::AutogradOther; }
  bool includes(Alias a) const { return is_included_in_alias(key, key_of(a)); }
  bool backend_has_kernel() const {
    const DispatchKeySet backends = backends_of_autograd(key);
    if (backends.empty()) return false;
    for (const auto& [k, kernels] : registrations) {
      if (!is_alias(k) && backends.has(k)) return true;
    }
    return false;
  }
};

}  // namespace

TableEntry compute_entry(const Registrations& r, const BackendFallbacks& fallbacks, DispatchKey k, std::span<const PrecedenceRule> rules) {
  const Entry<const Kernel*> found = decide(Slot{r, fallbacks, k}, rules);
  return {found.kernel ? found.kernel : &kMissingKernel, found.provenance};
}

}  // namespace peel::core
