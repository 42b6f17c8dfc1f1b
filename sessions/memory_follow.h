// The first pass through a history: one device's allocator, fed with its events in order, writes down what became of every
// allocation and segment. Only load_memory and tests need this; everything else asks replay() (memory_replay.h).
//
// The history tells where an allocation was put, not how big its block became: that follows from rounding and splitting
// (memory_rules.h), applied to the free block at that address. A free block joins its free neighbours of the same segment.
// Snapshots in the recording are the truth: they are taken over, and what differed is counted as trouble.
#pragma once
#include <map>

#include "sessions/memory.h"

namespace peel {

class AllocatorReplay {
 public:
  AllocatorReplay(MemoryHistory&, uint16_t device);
  void apply(MemoryIndex);
  const MemoryTotals& totals() const { return totals_; }
  size_t blocks() const { return blocks_.size(); }
  AllocatorCheckpoint checkpoint(size_t position) const;

 private:
  struct Segment {
    int64_t size;
    uint16_t stream, pool;
    bool large, expandable, older;
    uint32_t row;      // in the history's segments
  };
  struct Block {
    int64_t size, requested;
    LifeIndex life;    // kNoIndex = free
    BlockState state;
  };
  using Blocks = std::map<uint64_t, Block>;
  using Segments = std::map<uint64_t, Segment>;
  void allocate(MemoryIndex);
  void free_requested(MemoryIndex);
  void free_completed(MemoryIndex);
  void add_segment(MemoryIndex, bool mapped);
  void remove_range(MemoryIndex, bool mapped);
  void adopt(const Snapshot&);
  void compare(const Snapshot&);

  Segments::iterator segment_at(uint64_t address);  // the one that holds it, or end
  Blocks::iterator block_at(uint64_t address);      // the one that holds it, or end
  void begin_segment(uint64_t address, Segment&, MemoryIndex);
  void end_segment(Segment&, MemoryIndex);
  void clear_for(uint64_t address, int64_t size, MemoryIndex);  // blocks that lie where a new one begins
  void give_back(Blocks::iterator, MemoryIndex);
  Blocks::iterator join_free(Blocks::iterator);     // with free neighbours of its segment
  void end_life(LifeIndex, MemoryIndex);
  void say(const char* what, MemoryIndex at) { h_.note(what, at); }

  MemoryHistory& h_;
  uint16_t device_;
  bool plain_;
  Segments segments_;
  Blocks blocks_;
  MemoryTotals totals_;
};

}  // namespace peel
