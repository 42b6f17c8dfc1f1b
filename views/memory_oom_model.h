// Why an allocation failed: the request, what PyTorch's rules made of it, and for every free block why it was refused.
// All from what is recorded; what is not recorded is said to be so. Background work: the moment is replayed.
#pragma once
#include "views/memory_model.h"

namespace peel::views {

struct OomReport {
  struct Fact {
    const char* name;       // "asked for"
    std::string text, note;
  };
  /// Free blocks that were refused for one reason.
  struct Reason {
    Refusal why = Refusal::kFits;
    std::string words;      // "belongs to another stream"
    uint64_t blocks = 0;
    int64_t bytes = 0, largest = 0;
  };
  /// One free block, or one that waits to become free.
  struct Block {
    MemoryBlock block{};
    bool pending = false;
    Refusal why = Refusal::kFits;
    std::string where;      // "large, stream 0x55d0"
    std::string reason;     // "12 MiB: too small by 500 MiB"
    EventId event;          // pending: the hop that freed it
  };
  MemoryIndex at = kNoIndex;
  uint16_t device = 0;
  EventId event;            // the hop that failed
  int64_t asked = 0, rounded = 0, segment = 0, device_free = -1;
  Parts sentence;
  std::vector<Fact> facts;
  std::vector<Reason> reasons;   // most bytes first
  std::vector<Block> blocks;     // those that would have been big enough first, then by size; at most kMostBlocks
  uint64_t all_blocks = 0;
  int64_t pending = 0, releasable = 0, usable_largest = 0;
  std::vector<std::string> hints;  // what would have helped, from the numbers
  static constexpr size_t kMostBlocks = 500;
};
OomReport explain_oom(const MemoryNames&, MemoryIndex oom, const std::atomic<bool>& cancelled);
/// The out-of-memory that a moment is about: the last one before it, else the first after it; kNoIndex = there is none.
MemoryIndex oom_near(const MemoryHistory&, uint16_t device, MemoryIndex moment);

}  // namespace peel::views
