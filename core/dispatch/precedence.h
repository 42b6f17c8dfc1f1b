// The rules of rules.h, applied to an operator's registrations.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "core/dispatch/kernel.h"
#include "core/dispatch/rules.h"

namespace peel::core {

inline std::span<const PrecedenceRule> precedence_rules() { return kPrecedenceRules; }

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
