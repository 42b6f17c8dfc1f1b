// The allocator's state at any moment of a history, replayed from its events: segments, blocks, who has them.
//
// The history tells where an allocation was put, not how big its block became: that follows from rounding and splitting
// (memory_rules.h), applied to the free block at that address. A free block joins its free neighbours of the same segment.
// Snapshots in the recording are the truth: the replay takes them over, and what differed is counted as trouble.
//
// Any moment is quick: a checkpoint is kept every few thousand events (at least four times as many as it has blocks, so
// that all of them together are no bigger than the history), and a state is the nearest one before it plus the rest.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "sessions/memory.h"

namespace peel {

enum class BlockState : uint8_t { kInactive, kActive, kPendingFree };
const char* block_state_name(BlockState);  // PyTorch's word

struct MemoryBlock {
  uint64_t address;
  int64_t size, requested;
  LifeIndex life;      // kNoIndex = free
  uint32_t segment;    // index into the state's segments, kNoIndex = none is known (heap memory has none)
  BlockState state;
};
struct MemorySegment {
  uint64_t address;
  int64_t size;
  uint16_t stream, pool;
  bool large, expandable, older;
  uint32_t first_block = 0, blocks = 0;  // range of the state's blocks, without gaps
};
/// All of one device, by address.
struct MemoryState {
  uint16_t device = 0;
  MemoryIndex moment = 0;
  std::vector<MemorySegment> segments;
  std::vector<MemoryBlock> blocks;
  MemoryTotals totals;
};

struct AllocatorCheckpoint {
  struct Segment {
    int64_t size;
    uint16_t stream, pool;
    bool large, expandable, older;
  };
  struct Block {
    int64_t size, requested;
    LifeIndex life;
    BlockState state;
  };
  size_t position = 0;  // how many of the device's events are in it
  std::vector<std::pair<uint64_t, Segment>> segments;
  std::vector<std::pair<uint64_t, Block>> blocks;
  MemoryTotals totals;
};

/// One device's allocator, fed with its events in order.
class AllocatorReplay {
 public:
  using Segment = AllocatorCheckpoint::Segment;
  using Block = AllocatorCheckpoint::Block;
  /// `recorder`: the history to write lives and trouble to (the first pass); null: only the state is followed.
  AllocatorReplay(const MemoryHistory&, uint16_t device, MemoryHistory* recorder = nullptr);
  explicit AllocatorReplay(const MemoryHistory&, uint16_t device, const AllocatorCheckpoint&);

  void apply(MemoryIndex);
  const MemoryTotals& totals() const { return totals_; }
  size_t blocks() const { return blocks_.size(); }
  AllocatorCheckpoint checkpoint(size_t position) const;
  MemoryState state(MemoryIndex moment) const;

 private:
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
  void clear_for(uint64_t address, int64_t size, MemoryIndex);  // heap blocks that lie where a new one begins
  void give_back(Blocks::iterator, MemoryIndex);
  Blocks::iterator join_free(Blocks::iterator);     // with free neighbours of its segment
  void end_life(LifeIndex, MemoryIndex);
  void say(const char* what, MemoryIndex at) {
    if (recorder_) recorder_->note(what, at);
  }

  const MemoryHistory& history_;
  MemoryHistory* recorder_;
  uint16_t device_;
  bool cpu_;
  Segments segments_;
  Blocks blocks_;
  MemoryTotals totals_;
};

/// The state of a device at a moment.
MemoryState replay(const MemoryHistory&, uint16_t device, MemoryIndex moment);

}  // namespace peel
