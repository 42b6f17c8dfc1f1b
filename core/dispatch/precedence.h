// Which registration a slot of an operator's table gets: the rules as data, first match wins. Measured on 2.13.0: with
// these rules all tables of all operators come out equal (tests/conformance/dispatch_tables.py).
#pragma once
#include <map>
#include <span>
#include <vector>

#include "core/dispatch/kernel.h"

namespace peel::core {

/// As PyTorch's table dump words it.
enum class Provenance : uint8_t {
  kMissing, kKernel, kDefaultBackend, kNested, kAmbiguousAutogradOther, kMath, kAutograd, kBatched, kBackendFallback
};
const char* to_string(Provenance);

struct PrecedenceRule {
  enum class From : uint8_t { kKey, kAlias, kErrorKernel, kBackendFallback };
  Provenance provenance;
  From from;
  DispatchKey alias = DispatchKey::Undefined;  // for kAlias, kErrorKernel: must have a kernel and include the key
  bool undefined_too = false;                  // the alias serves the slot of Undefined also
  bool only_autograd_other = false;
  bool if_backend_kernel = false;      // only when a backend behind this autograd key has a kernel of its own
  bool unless_backend_kernel = false;  // the opposite
  bool unless_explicit = false;        // not when CompositeExplicitAutograd has a kernel
};
std::span<const PrecedenceRule> precedence_rules();

/// All registrations of one operator, per key; newest last. A key that is there has at least one.
using Registrations = std::map<DispatchKey, std::vector<const Kernel*>>;
using BackendFallbacks = std::array<const Kernel*, kSlots>;  // null: none

struct TableEntry {
  const Kernel* kernel;  // never null
  Provenance provenance;
};
/// The entry for a runtime key or Undefined. `autograd kernel`, ... as the rules say; kMissing when none holds.
TableEntry compute_entry(const Registrations&, const BackendFallbacks&, DispatchKey, std::span<const PrecedenceRule> = precedence_rules());

}  // namespace peel::core
