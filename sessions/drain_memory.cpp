#include "sessions/drain_memory.h"

#include <string>

#include "sessions/memory_replay.h"

namespace peel {
namespace {

int64_t number(uint64_t v) { return static_cast<int64_t>(v); }

}  // namespace

int64_t MemoryBook::pool(const uint64_t id[2]) {
  if (id[0] == 0 && id[1] == 0) return kNullCell;
  return ledger_.catalog.string("(" + std::to_string(id[0]) + ", " + std::to_string(id[1]) + ")");
}

void MemoryBook::record(const wire::Allocation& m, uint32_t thread, uint32_t event, uint32_t stack, uint32_t device, int64_t ns) {
  using wire::MemoryAction;
  const auto action = static_cast<MemoryAction>(m.head.a & 0xff);
  if (action > MemoryAction::kOom) return ledger_.damaged();
  const uint32_t id = ++ledger_.memory_events;
  uint32_t storage = 0;
  uint64_t size = m.size;
  if (action == MemoryAction::kAlloc) {
    live_[m.address] = {id, 0, event, m.size, 0};
  } else if (action == MemoryAction::kFreeRequested || action == MemoryAction::kFreeCompleted) {
    const auto at = live_.find(m.address);
    if (at != live_.end()) {
      storage = at->second.storage;
      if (!size) size = at->second.size;  // CPU blocks don't tell
      if (storage) tensors_.freed(at->second.impl, storage, ns);
      if (action == MemoryAction::kFreeCompleted) live_.erase(at);
    }
  } else if (action == MemoryAction::kSnapshot) {
    snapshot_ = id;
    snapshot_device_ = device;
    segment_ = 0;
  }
  ledger_.batch()[Table::kMemoryEvent].add(id, cell(event), thread, cell(stack), ns, static_cast<int64_t>(action), cell(device), number(m.address), number(size),
                                           number(m.stream), pool(m.pool), cell(storage), action == MemoryAction::kOom ? number(m.free) : kNullCell);
}

void MemoryBook::segment(const wire::Segment& s) {
  if (!snapshot_) return ledger_.damaged();
  segment_ = s.address;
  ledger_.batch()[Table::kSegment].add(snapshot_, cell(snapshot_device_), number(s.address), number(s.total_size), number(s.allocated_size), number(s.active_size),
                                       number(s.requested_size), number(s.stream), ledger_.catalog.string(s.head.a & wire::kLargePool ? "large" : "small"), pool(s.pool),
                                       (s.head.a & wire::kExpandable) != 0);
}

void MemoryBook::block(const wire::Block& b) {
  if (!segment_ || b.head.a > static_cast<uint32_t>(wire::BlockState::kActivePendingFree)) return ledger_.damaged();
  ledger_.batch()[Table::kBlock].add(snapshot_, number(segment_), number(b.address), number(b.size), number(b.requested_size), ledger_.catalog.string(block_state_name(static_cast<BlockState>(b.head.a))));
}

uint32_t MemoryBook::made_in(uint64_t address) const {
  const auto at = live_.find(address);
  return at == live_.end() || at->second.storage ? 0 : at->second.event;
}

void MemoryBook::meet(uint64_t address, uint32_t storage, uint64_t impl) {
  const auto at = live_.find(address);
  if (at == live_.end() || at->second.storage) return;
  at->second.storage = storage;
  at->second.impl = impl;
  if (int64_t* row = ledger_.pending_memory(at->second.id)) {
    row[11] = storage;
  } else {
    ledger_.batch().add(Small::kMemoryFill, {int64_t{at->second.id}, int64_t{storage}});
  }
}

}  // namespace peel
