#include "sessions/memory_follow.h"

#include <algorithm>

namespace peel {

namespace {
constexpr int64_t kMostTotal = int64_t{1} << 60;  // bytes: sums stay far from overflow
}

AllocatorReplay::AllocatorReplay(MemoryHistory& h, uint16_t device) : h_(h), device_(device), plain_(!h.devices[device].caching()) {}

AllocatorCheckpoint AllocatorReplay::checkpoint(size_t position) const {
  AllocatorCheckpoint c{position, {}, {}};
  for (const auto& [address, s] : segments_) c.segments.push_back(s.row);
  for (const auto& [address, b] : blocks_) if (b.life != kNoIndex) c.lives.push_back(b.life);
  return c;
}

void AllocatorReplay::apply(MemoryIndex i) {
  switch (h_.events[i].action) {
    case MemoryAction::kAlloc: return allocate(i);
    case MemoryAction::kFreeRequested: return free_requested(i);
    case MemoryAction::kFreeCompleted: return free_completed(i);
    case MemoryAction::kSegmentAlloc: return add_segment(i, false);
    case MemoryAction::kSegmentMap: return add_segment(i, true);
    case MemoryAction::kSegmentFree: return remove_range(i, false);
    case MemoryAction::kSegmentUnmap: return remove_range(i, true);
    case MemoryAction::kSnapshot: {
      const auto s = std::lower_bound(h_.snapshots.begin(), h_.snapshots.end(), i, [](const Snapshot& a, MemoryIndex b) { return a.at < b; });
      if (s == h_.snapshots.end() || s->at != i || plain_) return;
      // PyTorch's own trace has an entry of this name when the program asks for a snapshot: nothing hangs on that one.
      if (std::none_of(s->segments.begin(), s->segments.end(), [&](const SnapshotSegment& g) { return g.device == device_; })) return;
      compare(*s);
      return adopt(*s);
    }
    case MemoryAction::kOom:
    case MemoryAction::kNone: return;
  }
}

// ---- finding

AllocatorReplay::Segments::iterator AllocatorReplay::segment_at(uint64_t address) {
  auto s = segments_.upper_bound(address);
  if (s == segments_.begin()) return segments_.end();
  --s;
  return address - s->first < static_cast<uint64_t>(s->second.size) ? s : segments_.end();
}

AllocatorReplay::Blocks::iterator AllocatorReplay::block_at(uint64_t address) {
  auto b = blocks_.upper_bound(address);
  if (b == blocks_.begin()) return blocks_.end();
  --b;
  return address - b->first < static_cast<uint64_t>(b->second.size) ? b : blocks_.end();
}

void AllocatorReplay::begin_segment(uint64_t address, Segment& s, MemoryIndex at) {
  s.row = static_cast<uint32_t>(h_.segments.size());
  h_.devices[device_].segments.push_back(s.row);
  h_.segments.push_back({address, s.size, at, kNoIndex, device_, s.stream, s.pool, s.large, s.expandable, s.older});
}
void AllocatorReplay::end_segment(Segment& s, MemoryIndex at) {
  if (s.row != kNoIndex) h_.segments[s.row].end = at;
  s.row = kNoIndex;
}

// ---- allocations and frees

void AllocatorReplay::end_life(LifeIndex life, MemoryIndex at) {
  if (life == kNoIndex) return;
  Life& l = h_.lives[life];
  if (l.freed == kNoIndex) l.freed = at;
  l.end = at;
}

void AllocatorReplay::clear_for(uint64_t address, int64_t size, MemoryIndex at) {
  auto b = blocks_.upper_bound(address);
  if (b != blocks_.begin() && address - std::prev(b)->first < static_cast<uint64_t>(std::prev(b)->second.size)) --b;
  while (b != blocks_.end() && b->first < address + static_cast<uint64_t>(size)) {
    say("allocations at a place that was in use: the free of the block before was not told", at);
    if (b->second.state == BlockState::kActive) totals_.allocated -= b->second.size;
    totals_.active -= b->second.size;
    end_life(b->second.life, at);
    b = blocks_.erase(b);
  }
}

void AllocatorReplay::allocate(MemoryIndex i) {
  const MemoryEvent& e = h_.events[i];
  if (totals_.active > kMostTotal) return say("allocations beyond what any device has", i);
  int64_t size = plain_ ? e.size : rounded_size(h_.settings, e.size);
  const auto segment = plain_ ? segments_.end() : segment_at(e.address);
  if (segment == segments_.end()) {
    if (!plain_) say("allocations outside of every segment that is known", i);
    clear_for(e.address, size, i);
  } else {
    auto b = block_at(e.address);
    if (b != blocks_.end() && b->second.state != BlockState::kInactive) {
      say("allocations at a place that was in use: the free of the block before was not told", i);
      end_life(b->second.life, i);
      give_back(b, i);
      b = block_at(e.address);
    }
    if (b == blocks_.end()) return say("allocations outside of every segment that is known", i);
    if (b->first != e.address) {
      // The allocator always takes the front: the events before are not all here.
      say("allocations in the middle of a free block", i);
      const auto front = static_cast<int64_t>(e.address - b->first);
      const Block rest{b->second.size - front, 0, kNoIndex, BlockState::kInactive};
      b->second.size = front;
      b = blocks_.emplace(e.address, rest).first;
    }
    if (b->second.size < size) {
      say("allocations bigger than the free block at their place", i);
      size = b->second.size;
    }
    if (is_split(h_.settings, b->second.size, size, segment->second.large, segment->second.expandable)) {
      if (b->second.size > size) blocks_.emplace_hint(std::next(b), e.address + static_cast<uint64_t>(size), Block{b->second.size - size, 0, kNoIndex, BlockState::kInactive});
    } else {
      size = b->second.size;
    }
  }
  const auto life = static_cast<LifeIndex>(h_.lives.size());
  h_.lives.push_back({e.address, size, e.size, i, kNoIndex, kNoIndex, device_, false});
  h_.devices[device_].lives.push_back(life);
  h_.events[i].life = life;
  blocks_[e.address] = {size, e.size, life, BlockState::kActive};
  totals_.allocated += size, totals_.active += size;
}

void AllocatorReplay::free_requested(MemoryIndex i) {
  const MemoryEvent& e = h_.events[i];
  const auto b = blocks_.find(e.address);
  if (b == blocks_.end() || b->second.state != BlockState::kActive) {
    const bool known = b != blocks_.end() || segment_at(e.address) != segments_.end();
    if (known) return say("frees of a block that was not in use", i);
    ++h_.older_frees;
    return;
  }
  b->second.state = BlockState::kPendingFree;
  totals_.allocated -= b->second.size;
  h_.events[i].life = b->second.life;
  if (b->second.life != kNoIndex) h_.lives[b->second.life].freed = i;
}

void AllocatorReplay::free_completed(MemoryIndex i) {
  const MemoryEvent& e = h_.events[i];
  const auto b = blocks_.find(e.address);
  if (b == blocks_.end() || b->second.state == BlockState::kInactive) {
    const bool known = b != blocks_.end() || segment_at(e.address) != segments_.end();
    if (known) return say("frees of a block that was not in use", i);
    ++h_.older_frees;
    return;
  }
  h_.events[i].life = b->second.life;
  end_life(b->second.life, i);
  give_back(b, i);
}

void AllocatorReplay::give_back(Blocks::iterator b, MemoryIndex) {
  if (b->second.state == BlockState::kActive) totals_.allocated -= b->second.size;
  totals_.active -= b->second.size;
  if (plain_ || segment_at(b->first) == segments_.end()) {
    blocks_.erase(b);
    return;
  }
  b->second = {b->second.size, 0, kNoIndex, BlockState::kInactive};
  join_free(b);
}

AllocatorReplay::Blocks::iterator AllocatorReplay::join_free(Blocks::iterator b) {
  const auto touches = [](Blocks::iterator a, Blocks::iterator z) { return a->first + static_cast<uint64_t>(a->second.size) == z->first; };
  if (const auto next = std::next(b); next != blocks_.end() && next->second.state == BlockState::kInactive && touches(b, next) && !segments_.count(next->first)) {
    b->second.size += next->second.size;
    blocks_.erase(next);
  }
  if (b != blocks_.begin() && !segments_.count(b->first)) {
    if (const auto before = std::prev(b); before->second.state == BlockState::kInactive && touches(before, b)) {
      before->second.size += b->second.size;
      blocks_.erase(b);
      return before;
    }
  }
  return b;
}

// ---- segments

void AllocatorReplay::add_segment(MemoryIndex i, bool mapped) {
  const MemoryEvent& e = h_.events[i];
  const uint64_t end = e.address + static_cast<uint64_t>(e.size);
  if (plain_ || e.size == 0 || totals_.reserved > kMostTotal) return say("segments that cannot be", i);
  auto s = segments_.lower_bound(e.address);
  if ((s != segments_.end() && s->first < end) || segment_at(e.address) != segments_.end()) return say("segments that overlap another one", i);
  if (auto b = blocks_.lower_bound(e.address); (b != blocks_.end() && b->first < end) || block_at(e.address) != blocks_.end()) {
    // Blocks were seen here before their segment was: their events are out of order or missing.
    clear_for(e.address, e.size, i);
  }
  blocks_.emplace(e.address, Block{e.size, 0, kNoIndex, BlockState::kInactive});
  totals_.reserved += e.size;
  // Of an expandable segment the mapped ranges that touch are one: that is how PyTorch's snapshot tells it.
  const auto same = [&](const Segment& o) { return mapped && o.expandable && o.stream == e.stream && o.pool == e.pool; };
  uint64_t joint = 0;
  if (s != segments_.begin()) {
    if (const auto before = std::prev(s); same(before->second) && before->first + static_cast<uint64_t>(before->second.size) == e.address) {
      end_segment(before->second, i);
      before->second.size += e.size;
      joint = before->first;
    }
  }
  if (!joint) {
    joint = e.address;
    segments_.emplace(joint, Segment{e.size, e.stream, e.pool, e.size != kSmallSegment, mapped, false, kNoIndex});
  }
  if (s != segments_.end() && s->first == end && same(s->second)) {
    segments_.at(joint).size += s->second.size;
    segments_.at(joint).large |= s->second.large;
    end_segment(s->second, i);
    segments_.erase(s);
    if (const auto after = blocks_.find(end); after != blocks_.end() && after->second.state == BlockState::kInactive) join_free(after);
  }
  if (const auto b = blocks_.find(e.address); b != blocks_.end()) join_free(b);
  begin_segment(joint, segments_.at(joint), i);
}

void AllocatorReplay::remove_range(MemoryIndex i, bool mapped) {
  const MemoryEvent& e = h_.events[i];
  const auto s = segment_at(e.address);
  const uint64_t end = e.address + static_cast<uint64_t>(e.size);
  if (s == segments_.end()) {
    ++h_.older_frees;
    return;
  }
  const uint64_t begin = s->first, segment_end = begin + static_cast<uint64_t>(s->second.size);
  if (end > segment_end || (!mapped && (e.address != begin || end != segment_end))) return say("segments given back in another size than they had", i);
  // Nothing in it may be in use.
  auto b = block_at(e.address);
  if (b == blocks_.end()) return say("segments given back in another size than they had", i);
  if (b->first < e.address) {
    const Block rest{static_cast<int64_t>(b->first + static_cast<uint64_t>(b->second.size) - e.address), b->second.requested, b->second.life, b->second.state};
    if (rest.state != BlockState::kInactive) return say("segments given back while a block in them was in use", i);
    b->second.size -= rest.size;
    b = blocks_.emplace(e.address, rest).first;
  }
  while (b != blocks_.end() && b->first < end) {
    const uint64_t block_end = b->first + static_cast<uint64_t>(b->second.size);
    if (b->second.state != BlockState::kInactive) {
      say("segments given back while a block in them was in use", i);
      if (b->second.state == BlockState::kActive) totals_.allocated -= b->second.size;
      totals_.active -= b->second.size;
      end_life(b->second.life, i);
    }
    if (block_end > end) blocks_.emplace(end, Block{static_cast<int64_t>(block_end - end), 0, kNoIndex, BlockState::kInactive});
    b = blocks_.erase(b);
  }
  const Segment whole = s->second;
  end_segment(s->second, i);
  segments_.erase(s);
  const auto keep = [&](uint64_t from, uint64_t to) {
    if (to <= from) return;
    Segment part = whole;
    part.size = static_cast<int64_t>(to - from);
    begin_segment(from, segments_.emplace(from, part).first->second, i);
  };
  keep(begin, e.address), keep(end, segment_end);
  totals_.reserved -= e.size;
}

// ---- snapshots

/// What the replay had and the snapshot does not have, or has otherwise.
void AllocatorReplay::compare(const Snapshot& snap) {
  if (segments_.empty() && blocks_.empty()) return;  // the first one: nothing was known before
  uint64_t different = 0, held = 0;
  for (const SnapshotSegment& s : snap.segments) {
    if (s.device != device_) continue;
    const auto mine = segments_.find(s.address);
    different += mine == segments_.end() || mine->second.size != s.size;
    for (const SnapshotBlock& b : s.blocks) {
      const auto block = blocks_.find(b.address);
      different += block == blocks_.end() || block->second.size != b.size || block->second.state != b.state;
      held += block != blocks_.end();
    }
  }
  different += blocks_.size() - std::min<uint64_t>(blocks_.size(), held);
  if (different) h_.note("blocks and segments that a later snapshot has otherwise than the events before it", snap.at, different);
}

void AllocatorReplay::adopt(const Snapshot& snap) {
  Segments segments;
  Blocks blocks;
  MemoryTotals totals;
  for (const SnapshotSegment& s : snap.segments) {
    if (s.device != device_) continue;
    const auto known = segments_.find(s.address);
    segments.emplace_hint(segments.end(), s.address, Segment{s.size, s.stream, s.pool, s.large, s.expandable, known == segments_.end() || known->second.older, kNoIndex});
    totals.reserved += s.size;
    for (const SnapshotBlock& b : s.blocks) {
      const BlockState state = b.state;
      LifeIndex life = kNoIndex;
      if (state != BlockState::kInactive) {
        const auto known = blocks_.find(b.address);
        if (known != blocks_.end() && known->second.state != BlockState::kInactive && known->second.size == b.size) {
          life = known->second.life;
        } else {
          life = static_cast<LifeIndex>(h_.lives.size());
          h_.lives.push_back({b.address, b.size, b.requested, snap.at, kNoIndex, kNoIndex, device_, true});
          h_.devices[device_].lives.push_back(life);
        }
      }
      blocks.emplace_hint(blocks.end(), b.address, Block{b.size, b.requested, state == BlockState::kInactive ? kNoIndex : life, state});
      if (state == BlockState::kActive) totals.allocated += b.size;
      if (state != BlockState::kInactive) totals.active += b.size;
    }
  }
  for (const auto& [address, b] : blocks_) {
    if (b.life == kNoIndex) continue;
    const auto now = blocks.find(address);
    if (now == blocks.end() || now->second.life != b.life) end_life(b.life, snap.at);
  }
  for (auto& [address, s] : segments_) end_segment(s, snap.at);
  segments_ = std::move(segments), blocks_ = std::move(blocks), totals_ = totals;
  for (auto& [address, s] : segments_) begin_segment(address, s, snap.at);
}

}  // namespace peel
