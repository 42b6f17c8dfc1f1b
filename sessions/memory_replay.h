// What the allocator held at any moment: segments, blocks, who has them.
//
// The first pass wrote down from when to when each block was in use and each segment was there. So the state at a moment is those
// that span it, and what lies between blocks in use is free: free neighbours always join. Every few thousand events (at least a
// quarter of what lives) a checkpoint lists what lived then; a state costs what lives plus one such stretch.
#pragma once
#include <vector>

#include "sessions/memory.h"

namespace peel {

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

/// The state of a device at a moment.
MemoryState replay(const MemoryHistory&, uint16_t device, MemoryIndex moment);

}  // namespace peel
