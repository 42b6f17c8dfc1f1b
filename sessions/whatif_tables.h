// The dispatch tables of a recording under changed registrations: per operator and version of its table, the slots and mask bits that differ.
#pragma once
#include <map>
#include <unordered_map>
#include <vector>

#include "sessions/whatif.h"

namespace peel {

class PlannedTables {
 public:
  PlannedTables(const Session&, const std::vector<WhatIfChange>&);
  bool touches(OpId) const;        // is any slot of it looked at anew?

  struct Table {
    EventId since;
    std::vector<KernelRef> slots;  // by index; what is recorded, with what would change
    std::vector<bool> changed;     // by index
    bool understood = true;        // the rules give the recorded table where nothing is changed
  };
  const Table& table(OpId, EventId);
  /// The operator's mask for that backend, given the recorded one.
  uint64_t mask(OpId, EventId, int backend, uint64_t recorded);

 private:
  std::vector<Table> make(OpId) const;
  void plan(OpId, EventId at, KernelsByKey* kernels, KernelsByKey* fallbacks) const;

  const Session& s_;
  const KeyFamilies families_;
  std::vector<WhatIfChange> changes_;
  KernelsByKey fallbacks_shown_;   // older recordings: the fallbacks that their tables show
  std::unordered_map<uint32_t, std::vector<Table>> tables_;
  std::vector<const Key*> key_of_slot_;
};

}  // namespace peel
