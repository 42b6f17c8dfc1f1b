#include "sessions/whatif_tables.h"

#include <algorithm>

namespace peel {
namespace {

using What = WhatIfChange::What;
constexpr int kMaxSlots = 4096;

bool is_registration(const WhatIfChange& c) { return c.what == What::kRegister || c.what == What::kFallthrough || c.what == What::kRemove; }

}  // namespace

PlannedTables::PlannedTables(const Session& s, const std::vector<WhatIfChange>& all) : s_(s), families_(s) {
  std::copy_if(all.begin(), all.end(), std::back_inserter(changes_), is_registration);
  for (const Key* k : s.keys()) {
    if (k->alias() || k->slot >= kMaxSlots) continue;
    if (static_cast<size_t>(k->slot) >= key_of_slot_.size()) key_of_slot_.resize(static_cast<size_t>(k->slot) + 1);
    key_of_slot_[static_cast<size_t>(k->slot)] = k;
  }
  if (changes_.empty() || !s.registrations(OpId{}, EventId{1}).empty()) return;
  for (uint32_t op = 1; op <= s.ops(); ++op) {
    for (const Slot& slot : s.table(OpId{op}, EventId{1})) {
      const Kernel* k = s.kernel(slot.kernel);
      if (!k || k->rule != "backend fallback" || slot.slot < 0 || static_cast<size_t>(slot.slot) >= key_of_slot_.size()) continue;
      if (const Key* key = key_of_slot_[static_cast<size_t>(slot.slot)]) fallbacks_shown_[key->id] = {{KernelRef::Kind::kRecorded, slot.kernel, 0, k->fallthrough}};
    }
  }
}

bool PlannedTables::touches(OpId op) const {
  return std::any_of(changes_.begin(), changes_.end(), [op](const WhatIfChange& c) { return !c.op || c.op == op; });
}

/// Puts the changes among what is registered: over what was there when the operator was first met, under what the program registered later.
void PlannedTables::plan(OpId op, EventId at, KernelsByKey* kernels, KernelsByKey* fallbacks) const {
  const std::vector<Registration> rows = s_.registrations(op, at);
  const auto is_later = [&rows](KeyId key, const KernelRef& k) {
    return std::any_of(rows.begin(), rows.end(), [&](const Registration& r) { return r.later && r.key == key && r.kernel == k.recorded; });
  };
  for (const WhatIfChange& c : changes_) {
    if (c.op && c.op != op) continue;
    std::vector<KernelRef>& list = (c.op ? *kernels : *fallbacks)[c.key];
    const auto above = c.op ? std::find_if_not(list.begin(), list.end(), [&](const KernelRef& k) { return is_later(c.key, k); }) : list.begin();
    const KernelRef planned{KernelRef::Kind::kPlanned, {}, c.key, c.what == What::kFallthrough};
    if (c.what == What::kRemove) {
      if (above != list.end()) list.erase(above);
    } else if (c.op) {
      list.insert(above, planned);
    } else {
      list.assign(1, planned);
    }
  }
}

std::vector<PlannedTables::Table> PlannedTables::make(OpId op) const {
  std::vector<Table> out;
  std::vector<EventId> versions = s_.table_versions(op);
  if (versions.empty()) versions.push_back(EventId{1});
  for (const EventId since : versions) {
    Table t{since, std::vector<KernelRef>(key_of_slot_.size()), std::vector<bool>(key_of_slot_.size()), true};
    std::vector<bool> stale(key_of_slot_.size());
    for (const Slot& slot : s_.table(op, since)) {
      if (slot.slot < 0 || static_cast<size_t>(slot.slot) >= t.slots.size()) continue;
      const Kernel* k = s_.kernel(slot.kernel);
      t.slots[static_cast<size_t>(slot.slot)] = k ? KernelRef{KernelRef::Kind::kRecorded, slot.kernel, 0, k->fallthrough} : KernelRef{KernelRef::Kind::kAmbiguous, {}, 0, false};
      stale[static_cast<size_t>(slot.slot)] = slot.stale;
    }
    if (touches(op)) {
      KernelsByKey kernels = kernels_by_key(s_, op, since), fallbacks = kernels_by_key(s_, OpId{}, since);
      if (fallbacks.empty()) fallbacks = fallbacks_shown_;
      const KernelsByKey kernels_were = kernels, fallbacks_were = fallbacks;
      plan(op, since, &kernels, &fallbacks);
      for (const WhatIfChange& c : changes_) {
        if (c.op && c.op != op) continue;
        for (const KeyId k : families_.reached_by(c.key)) {
          const Key* key = s_.key(k);
          const size_t slot = k == 0 ? 0 : key && key->slot > 0 ? static_cast<size_t>(key->slot) : SIZE_MAX;
          if (slot >= t.slots.size()) continue;
          const KernelRef was = families_.decide(kernels_were, fallbacks_were, k).kernel;
          if (!stale[slot] && !t.changed[slot] && !(was == t.slots[slot]) && was.kind != KernelRef::Kind::kAmbiguous) t.understood = false;
          const KernelRef now = families_.decide(kernels, fallbacks, k).kernel;
          if (now == t.slots[slot]) continue;
          t.slots[slot] = now;
          t.changed[slot] = true;
        }
      }
    }
    out.push_back(std::move(t));
  }
  return out;
}

const PlannedTables::Table& PlannedTables::table(OpId op, EventId at) {
  auto found = tables_.find(op.value);
  if (found == tables_.end()) found = tables_.emplace(op.value, make(op)).first;
  const std::vector<Table>& all = found->second;
  size_t i = all.size();
  while (i > 1 && at < all[i - 1].since) --i;
  return all[i - 1];
}

uint64_t PlannedTables::mask(OpId op, EventId at, int backend, uint64_t recorded) {
  if (!touches(op)) return recorded;
  const Table& t = table(op, at);
  // A key without a backend of its own counts for every backend. Backend bits are in every mask.
  int first_backend = 64;
  for (const Key* k : key_of_slot_) {
    if (k && k->backend_bit >= 0) first_backend = std::min(first_backend, k->backend_bit);
  }
  for (size_t i = 0; i < t.slots.size(); ++i) {
    const Key* k = key_of_slot_[i];
    if (!t.changed[i] || !k || k->functionality_bit < 0 || (k->backend_bit >= 0 && k->backend_bit - first_backend != backend)) continue;
    const uint64_t bit = uint64_t{1} << k->functionality_bit;
    recorded = t.slots[i].fallthrough ? recorded & ~bit : recorded | bit;
  }
  return recorded;
}

}  // namespace peel
