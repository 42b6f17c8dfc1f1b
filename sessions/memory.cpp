#include "sessions/memory.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <unordered_set>

#include "sessions/memory_follow.h"

namespace peel {
namespace {

constexpr const char* kActions[] = {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom", "?"};
constexpr size_t kCheckpointEvery = 8192;  // events at least; a quarter of what lives, so that all checkpoints together stay small

MemoryTotals highest_of(const MemoryTotals& a, const MemoryTotals& b) {
  return {std::max(a.allocated, b.allocated), std::max(a.active, b.active), std::max(a.reserved, b.reserved)};
}

}  // namespace

const char* memory_action_name(MemoryAction a) {
  const auto i = static_cast<size_t>(a);
  return kActions[std::min(i, std::size(kActions) - 1)];
}

std::string bytes_text(int64_t n) {
  char b[40];
  const double v = static_cast<double>(n), size = v < 0 ? -v : v;
  if (size < 1024) std::snprintf(b, sizeof b, "%lld B", static_cast<long long>(n));
  else if (size < 1024.0 * 1024) std::snprintf(b, sizeof b, "%.*f KiB", size < 10 * 1024.0 ? 1 : 0, v / 1024);
  else if (size < 1024.0 * 1024 * 1024) std::snprintf(b, sizeof b, "%.*f MiB", size < 100 * 1048576.0 ? 1 : 0, v / 1048576);
  else std::snprintf(b, sizeof b, "%.2f GiB", v / 1073741824);
  return b;
}

// ---- totals

void TotalsIndex::push_back(const MemoryTotals& t) {
  MemoryTotals carry = t;
  for (size_t level = 0;; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    std::vector<MemoryTotals>& l = levels_[level];
    l.push_back(carry);
    if (l.size() % kFold) return;
    carry = l[l.size() - kFold];
    for (size_t i = l.size() - kFold + 1; i < l.size(); ++i) carry = highest_of(carry, l[i]);
  }
}

MemoryTotals TotalsIndex::highest(size_t from, size_t to) const {
  to = std::min(to, size());
  MemoryTotals out;
  if (from >= to) return out;
  out = levels_[0][from];
  // Up while whole groups fit, then down again.
  size_t level = 0, step = 1;
  while (from < to) {
    while (level + 1 < levels_.size() && from % (step * kFold) == 0 && from + step * kFold <= to && from / (step * kFold) < levels_[level + 1].size()) ++level, step *= kFold;
    while (level && from + step > to) --level, step /= kFold;
    out = highest_of(out, levels_[level][from / step]);
    from += step;
  }
  return out;
}

size_t TotalsIndex::bytes() const {
  size_t n = 0;
  for (const auto& l : levels_) n += l.capacity() * sizeof(MemoryTotals);
  return n;
}

// ---- devices and moments

size_t MemoryDevice::position(MemoryIndex moment) const {
  return static_cast<size_t>(std::lower_bound(events.begin(), events.end(), moment) - events.begin());
}

MemoryTotals MemoryDevice::at(MemoryIndex moment) const {
  const size_t n = std::min(position(moment), totals.size());
  return n ? totals[n - 1] : MemoryTotals{};
}

MemoryIndex MemoryHistory::moment_of(Nanoseconds t) const {
  return static_cast<MemoryIndex>(std::upper_bound(events.begin(), events.end(), t, [](Nanoseconds a, const MemoryEvent& e) { return a < e.time; }) - events.begin());
}

MemoryIndex MemoryHistory::moment_of_id(uint32_t id) const {
  const auto e = std::lower_bound(events.begin(), events.end(), id, [](const MemoryEvent& a, uint32_t b) { return a.id < b; });
  return e != events.end() && e->id == id ? static_cast<MemoryIndex>(e - events.begin()) + 1 : 0;
}

void MemoryHistory::note(const char* what, MemoryIndex at, uint64_t n) {
  for (MemoryTrouble& t : trouble) {
    if (t.what != what) continue;
    t.count += n;
    return;
  }
  trouble.push_back({what, n, at < events.size() ? events[at].id : 0});
}

std::string MemoryHistory::trouble_text() const {
  std::string out;
  for (const MemoryTrouble& t : trouble)
    out += (out.empty() ? "" : "; ") + std::to_string(t.count) + " " + t.what + (t.first ? " (first: memory event " + std::to_string(t.first) + ")" : "");
  return out;
}

size_t MemoryHistory::bytes() const {
  size_t n = events.capacity() * sizeof(MemoryEvent) + lives.capacity() * sizeof(Life) + segments.capacity() * sizeof(SegmentLife) + tensor_of.capacity() * 4 + saved.capacity() * 8;
  for (const MemoryDevice& d : devices) {
    n += d.events.capacity() * sizeof(MemoryIndex) + d.lives.capacity() * sizeof(LifeIndex) + d.totals.bytes();
    for (const auto& c : d.checkpoints) n += (c.lives.capacity() + c.segments.capacity()) * 4;
  }
  return n;
}

// ---- the first pass

void follow_history(MemoryHistory& h, const std::atomic<bool>* cancel) {
  std::vector<AllocatorReplay> replays;
  std::vector<size_t> next_checkpoint(h.devices.size(), kCheckpointEvery);
  replays.reserve(h.devices.size());
  for (uint16_t d = 0; d < h.devices.size(); ++d) replays.emplace_back(h, d);
  // On the heap the address of a second free is either older than the recording or free already: those that were seen tell.
  std::unordered_set<uint64_t> seen;
  const auto feed = [&](uint16_t d, MemoryIndex i) {
    MemoryDevice& device = h.devices[d];
    AllocatorReplay& r = replays[d];
    const uint64_t older = h.older_frees;
    r.apply(i);
    if (!device.caching() && h.events[i].action == MemoryAction::kAlloc) seen.insert(h.events[i].address);
    if (!device.caching() && h.older_frees != older && seen.count(h.events[i].address)) --h.older_frees, h.note("frees of a block that was not in use", i);
    device.events.push_back(i);
    device.totals.push_back(r.totals());
    if (r.totals().allocated > device.peak.allocated) device.peak_at = i;
    device.peak = highest_of(device.peak, r.totals());
    if (device.events.size() >= next_checkpoint[d]) {
      device.checkpoints.push_back(r.checkpoint(device.events.size()));
      next_checkpoint[d] = device.events.size() + std::max(kCheckpointEvery, r.blocks() / 4);
    }
  };
  for (MemoryIndex i = 0; i < h.events.size(); ++i) {
    if (cancel && i % 4096 == 0 && *cancel) return;
    const MemoryEvent& e = h.events[i];
    if (e.action == MemoryAction::kOom) h.ooms.push_back(i);
    if (e.device < h.devices.size()) feed(e.device, i);
    else if (e.action == MemoryAction::kSnapshot)
      for (uint16_t d = 0; d < h.devices.size(); ++d) if (h.devices[d].caching()) feed(d, i);
  }
  for (const Life& l : h.lives) if (l.older) ++h.devices[l.device].live_at_start;
}

}  // namespace peel
