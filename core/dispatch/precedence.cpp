#include "core/dispatch/precedence.h"

#include "core/dispatch/key_sets.h"

namespace peel::core {
namespace {

using K = DispatchKey;
using From = PrecedenceRule::From;

constexpr PrecedenceRule kRules[] = {
    {.provenance = Provenance::kKernel, .from = From::kKey},
    {.provenance = Provenance::kDefaultBackend, .from = From::kAlias, .alias = K::CompositeExplicitAutogradNonFunctional, .undefined_too = true},
    {.provenance = Provenance::kDefaultBackend, .from = From::kAlias, .alias = K::CompositeExplicitAutograd, .undefined_too = true},
    {.provenance = Provenance::kNested, .from = From::kAlias, .alias = K::CompositeImplicitAutogradNestedTensor},
    {.provenance = Provenance::kAmbiguousAutogradOther, .from = From::kErrorKernel, .alias = K::CompositeImplicitAutograd,
     .only_autograd_other = true, .if_backend_kernel = true},
    {.provenance = Provenance::kMath, .from = From::kAlias, .alias = K::CompositeImplicitAutograd, .undefined_too = true,
     .unless_backend_kernel = true, .unless_explicit = true},
    {.provenance = Provenance::kAutograd, .from = From::kAlias, .alias = K::Autograd},
    {.provenance = Provenance::kBatched, .from = From::kAlias, .alias = K::FuncTorchBatchedDecomposition},
    {.provenance = Provenance::kBackendFallback, .from = From::kBackendFallback},
};

const Kernel* newest(const Registrations& r, DispatchKey k) {
  const auto found = r.find(k);
  return found == r.end() ? nullptr : found->second.back();
}

bool any_kernel(const Registrations& r, DispatchKeySet keys) {
  if (keys.empty()) return false;
  for (const auto& [key, kernels] : r) {
    if (!is_alias(key) && keys.has(key)) return true;
  }
  return false;
}

// The kernel that the rule gives to the key, or null when it does not hold.
const Kernel* apply(const PrecedenceRule& rule, const Registrations& r, const BackendFallbacks& fallbacks, DispatchKey k) {
  switch (rule.from) {
    case From::kKey: return k == K::Undefined ? nullptr : newest(r, k);
    case From::kBackendFallback: return fallbacks[slot_of(k)];
    case From::kAlias:
    case From::kErrorKernel: break;
  }
  if (k == K::Undefined ? !rule.undefined_too : !is_included_in_alias(k, rule.alias)) return nullptr;
  const Kernel* kernel = newest(r, rule.alias);
  if (!kernel) return nullptr;
  if (rule.only_autograd_other && k != K::AutogradOther) return nullptr;
  if (rule.if_backend_kernel || rule.unless_backend_kernel) {
    const bool has = any_kernel(r, backends_of_autograd(k));
    if (has ? rule.unless_backend_kernel : rule.if_backend_kernel) return nullptr;
  }
  if (rule.unless_explicit && newest(r, K::CompositeExplicitAutograd)) return nullptr;
  return rule.from == From::kErrorKernel ? &kAmbiguousAutogradOther : kernel;
}

}  // namespace

const char* to_string(Provenance p) {
  constexpr const char* names[] = {"missing", "kernel", "default backend kernel", "nested kernel", "ambiguous autogradother", "math kernel",
                                   "autograd kernel", "batched kernel", "backend fallback"};
  return names[static_cast<int>(p)];
}

std::span<const PrecedenceRule> precedence_rules() { return kRules; }

TableEntry compute_entry(const Registrations& r, const BackendFallbacks& fallbacks, DispatchKey k, std::span<const PrecedenceRule> rules) {
  for (const PrecedenceRule& rule : rules) {
    if (const Kernel* kernel = apply(rule, r, fallbacks, k)) return {kernel, rule.provenance};
  }
  return {&kMissingKernel, Provenance::kMissing};
}

}  // namespace peel::core
