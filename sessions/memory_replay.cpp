#include "sessions/memory_replay.h"

#include <algorithm>

namespace peel {
namespace {

/// Those of `known` (by address) and of `fresh` that span the moment, by address.
template <class Row>
std::vector<uint32_t> spanning(const std::vector<Row>& rows, const std::vector<uint32_t>* known, std::vector<uint32_t> fresh, MemoryIndex moment) {
  const auto gone = [&](uint32_t i) { return rows[i].begin >= moment || rows[i].end < moment; };
  const auto lower = [&](uint32_t a, uint32_t b) { return rows[a].address < rows[b].address; };
  std::erase_if(fresh, gone);
  std::sort(fresh.begin(), fresh.end(), lower);
  if (!known) return fresh;
  std::vector<uint32_t> old, all;
  old.reserve(known->size());
  std::remove_copy_if(known->begin(), known->end(), std::back_inserter(old), gone);
  all.reserve(old.size() + fresh.size());
  std::merge(old.begin(), old.end(), fresh.begin(), fresh.end(), std::back_inserter(all), lower);
  return all;
}

/// Rows of `order` (indices by beginning) that began in [from, to).
template <class Row>
std::vector<uint32_t> begun(const std::vector<Row>& rows, const std::vector<uint32_t>& order, MemoryIndex from, MemoryIndex to) {
  const auto before = [&](uint32_t i, MemoryIndex m) { return rows[i].begin < m; };
  const auto a = std::lower_bound(order.begin(), order.end(), from, before);
  return {a, std::lower_bound(a, order.end(), to, before)};
}

}  // namespace

const char* block_state_name(BlockState s) {
  return s == BlockState::kActive ? "active_allocated" : s == BlockState::kPendingFree ? "active_pending_free" : "inactive";
}

MemoryState replay(const MemoryHistory& h, uint16_t device, MemoryIndex moment) {
  MemoryState out;
  out.device = device, out.moment = moment;
  if (device >= h.devices.size()) return out;
  const MemoryDevice& d = h.devices[device];
  out.totals = d.at(moment);
  const size_t to = d.position(moment);
  const auto after = std::upper_bound(d.checkpoints.begin(), d.checkpoints.end(), to, [](size_t p, const AllocatorCheckpoint& c) { return p < c.position; });
  const AllocatorCheckpoint* c = after == d.checkpoints.begin() ? nullptr : &*std::prev(after);
  const MemoryIndex from = c ? d.events[c->position - 1] + 1 : 0;
  const auto segments = spanning(h.segments, c ? &c->segments : nullptr, begun(h.segments, d.segments, from, moment), moment);
  const auto lives = spanning(h.lives, c ? &c->lives : nullptr, begun(h.lives, d.lives, from, moment), moment);

  for (const uint32_t i : segments) {
    const SegmentLife& s = h.segments[i];
    out.segments.push_back({s.address, s.size, s.stream, s.pool, s.large, s.expandable, s.older});
  }
  out.blocks.reserve(lives.size() + segments.size());
  // In the order of addresses; between blocks in use, and at the ends of segments, is what is free.
  size_t at = 0;
  uint64_t filled = out.segments.empty() ? 0 : out.segments[0].address;
  const auto put = [&](MemoryBlock b, size_t segment) {
    MemorySegment& s = out.segments[segment];
    if (!s.blocks++) s.first_block = static_cast<uint32_t>(out.blocks.size());
    b.segment = static_cast<uint32_t>(segment);
    out.blocks.push_back(b);
  };
  const auto fill = [&](uint64_t end) {
    if (end > filled) put({filled, static_cast<int64_t>(end - filled), 0, kNoIndex, 0, BlockState::kInactive}, at);
    filled = end;
  };
  const auto end_of = [&](size_t s) { return out.segments[s].address + static_cast<uint64_t>(out.segments[s].size); };
  const auto next_segment = [&] {
    fill(end_of(at));
    if (++at < out.segments.size()) filled = out.segments[at].address;
  };
  for (const uint32_t i : lives) {
    const Life& l = h.lives[i];
    while (at < out.segments.size() && l.address >= end_of(at)) next_segment();
    const MemoryBlock b{l.address, l.size, l.requested, i, kNoIndex, l.freed < moment ? BlockState::kPendingFree : BlockState::kActive};
    if (at >= out.segments.size() || l.address < out.segments[at].address) {
      out.blocks.push_back(b);
      continue;
    }
    fill(std::max(filled, l.address));
    put(b, at);
    filled = std::max(filled, std::min(end_of(at), l.address + static_cast<uint64_t>(l.size)));
  }
  while (at < out.segments.size()) next_segment();
  return out;
}

}  // namespace peel
