// Which registration a slot of an operator's table gets: the rules as data, first match wins. Measured on 2.13.0: with
// these rules all tables of all operators come out equal (tests/conformance/dispatch_tables.py).
// Header and std only, in no numbering of keys: the embedded engine uses it, and sessions/ for what would change in a recording.
#pragma once
#include <cstdint>
#include <span>

namespace peel::core {

/// As PyTorch's table dump words it.
enum class Provenance : uint8_t {
  kMissing, kKernel, kDefaultBackend, kNested, kAmbiguousAutogradOther, kMath, kAutograd, kBatched, kBackendFallback
};
constexpr const char* to_string(Provenance p) {
  constexpr const char* names[] = {"missing", "kernel", "default backend kernel", "nested kernel", "ambiguous autogradother", "math kernel",
                                   "autograd kernel", "batched kernel", "backend fallback"};
  return names[static_cast<int>(p)];
}

/// Keys that stand for several at registration only.
enum class Alias : uint8_t { kNone, kAutograd, kCompositeImplicit, kBatchedDecomposition, kCompositeImplicitNested, kCompositeExplicit, kCompositeExplicitNonFunctional };
constexpr const char* to_string(Alias a) {
  constexpr const char* names[] = {"", "Autograd", "CompositeImplicitAutograd", "FuncTorchBatchedDecomposition", "CompositeImplicitAutogradNestedTensor",
                                   "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"};
  return names[static_cast<int>(a)];
}

struct PrecedenceRule {
  enum class From : uint8_t { kKey, kAlias, kErrorKernel, kBackendFallback };
  Provenance provenance;
  From from;
  Alias alias = Alias::kNone;          // for kAlias, kErrorKernel: must have a kernel and include the key
  bool undefined_too = false;          // the alias serves the slot of Undefined also
  bool only_autograd_other = false;
  bool if_backend_kernel = false;      // only when a backend behind this autograd key has a kernel of its own
  bool unless_backend_kernel = false;  // the opposite
  bool unless_explicit = false;        // not when CompositeExplicitAutograd has a kernel
};
inline constexpr PrecedenceRule kPrecedenceRules[] = {
    {.provenance = Provenance::kKernel, .from = PrecedenceRule::From::kKey},
    {.provenance = Provenance::kDefaultBackend, .from = PrecedenceRule::From::kAlias, .alias = Alias::kCompositeExplicitNonFunctional, .undefined_too = true},
    {.provenance = Provenance::kDefaultBackend, .from = PrecedenceRule::From::kAlias, .alias = Alias::kCompositeExplicit, .undefined_too = true},
    {.provenance = Provenance::kNested, .from = PrecedenceRule::From::kAlias, .alias = Alias::kCompositeImplicitNested},
    {.provenance = Provenance::kAmbiguousAutogradOther, .from = PrecedenceRule::From::kErrorKernel, .alias = Alias::kCompositeImplicit,
     .only_autograd_other = true, .if_backend_kernel = true},
    {.provenance = Provenance::kMath, .from = PrecedenceRule::From::kAlias, .alias = Alias::kCompositeImplicit, .undefined_too = true,
     .unless_backend_kernel = true, .unless_explicit = true},
    {.provenance = Provenance::kAutograd, .from = PrecedenceRule::From::kAlias, .alias = Alias::kAutograd},
    {.provenance = Provenance::kBatched, .from = PrecedenceRule::From::kAlias, .alias = Alias::kBatchedDecomposition},
    {.provenance = Provenance::kBackendFallback, .from = PrecedenceRule::From::kBackendFallback},
};

/// One slot of one operator, as the rules look at it. `Kernel` converts to bool: false = none.
template <class Kernel>
struct Entry {
  Kernel kernel{};
  Provenance provenance = Provenance::kMissing;
};
/// Slot has: Kernel own(), fallback(), registered(Alias), error_kernel(); bool undefined(), autograd_other(), includes(Alias) (never asked for
/// Undefined), backend_has_kernel() (a backend behind this autograd key has one registered at its own key).
template <class Slot>
auto decide(const Slot& slot, std::span<const PrecedenceRule> rules = kPrecedenceRules) -> Entry<decltype(slot.own())> {
  using From = PrecedenceRule::From;
  const auto apply = [&slot](const PrecedenceRule& rule) -> decltype(slot.own()) {
    if (rule.from == From::kKey) return slot.undefined() ? decltype(slot.own()){} : slot.own();
    if (rule.from == From::kBackendFallback) return slot.fallback();
    if (slot.undefined() ? !rule.undefined_too : !slot.includes(rule.alias)) return {};
    const auto kernel = slot.registered(rule.alias);
    if (!kernel) return {};
    if (rule.only_autograd_other && !slot.autograd_other()) return {};
    if (rule.if_backend_kernel || rule.unless_backend_kernel) {
      if (slot.backend_has_kernel() ? rule.unless_backend_kernel : rule.if_backend_kernel) return {};
    }
    if (rule.unless_explicit && slot.registered(Alias::kCompositeExplicit)) return {};
    return rule.from == From::kErrorKernel ? slot.error_kernel() : kernel;
  };
  for (const PrecedenceRule& rule : rules) {
    if (const auto kernel = apply(rule)) return {kernel, rule.provenance};
  }
  return {};
}

}  // namespace peel::core
