#include "sessions/drain_ledger.h"

namespace peel {

/// `complete_until_ns`: no hop that began before it is still to come.
void Ledger::write_tables(int64_t complete_until_ns) {
  while (!tables.empty()) {
    PendingTable& t = tables.front();
    if (!t.since_event && t.since_ns > complete_until_ns) return;
    const uint32_t since = t.since_event ? t.since_event : history.first_at_or_after(t.since_ns, hops);
    for (const PendingTable::Slot& s : t.slots) batch()[Table::kTableSlot].add(t.op, s.slot, cell(s.kernel), since, s.stale != 0);
    for (size_t i = 0; i < t.masks.size(); ++i) {
      batch()[Table::kOpMask].add(t.op, t.masks.size() == 1 ? kNullCell : static_cast<int64_t>(i), t.masks[i], since);
    }
    for (const PendingTable::Registration& r : t.registrations) batch()[Table::kRegistration].add(cell(t.op), r.key, r.position, cell(r.kernel), since);
    tables.pop_front();
  }
}

}  // namespace peel
