// Who holds the memory, what came and stayed between two moments, how fragmented the pools are: answers from the allocator's
// history, computed apart from drawing. Meant for a background thread: a moment is replayed, names are looked up per block.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/memory_replay.h"
#include "views/words.h"

namespace peel::views {

enum class HoldBy : uint8_t { kLine, kModule, kOperator, kNode, kTensor };
constexpr int kHoldKinds = 5;
const char* hold_word(HoldBy);  // "line", "module", ...

/// Where allocations come from, in words. Reads spans once; as long as the history and the session live.
class MemoryNames {
 public:
  MemoryNames(const Session&, const MemoryHistory&);
  struct Name {
    std::string name, note;
  };
  Name of(LifeIndex, HoldBy) const;
  /// The hop that allocated it, 0 = none or not in the recording.
  EventId hop(LifeIndex) const;
  std::string line(const MemoryEvent&) const;    // "train.py:10", "" = not known
  std::string module(const MemoryEvent&) const;  // "net.0 Linear"
  std::string op(const MemoryEvent&) const;      // outermost operator; in backward "mm in AddmmBackward0"
  const Session& session() const { return s_; }
  const MemoryHistory& history() const { return h_; }

 private:
  const Session& s_;
  const MemoryHistory& h_;
  std::vector<Span> spans_;                      // modules, by thread and begin
  std::unordered_map<uint32_t, size_t> span_at_; // by id
};

/// One line of "who holds it".
struct Holder {
  std::string name, note;
  int64_t bytes = 0;
  uint64_t blocks = 0;
  LifeIndex biggest = kNoIndex;
  EventId event;          // that made the biggest
  bool known = true;      // false: older than the recording, outside of any hop, not saved
};
struct HolderTable {
  HoldBy by = HoldBy::kLine;
  std::vector<Holder> rows;   // most bytes first; what is not known last
  int64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t serial = 0;        // no two tables have the same
};
HolderTable group(const MemoryNames&, const std::vector<LifeIndex>&, HoldBy, const std::atomic<bool>& cancelled);
/// In use at a moment (what waits to become free is not).
std::vector<LifeIndex> held(const MemoryState&);
/// Allocated in [a, b) and still in use at b.
std::vector<LifeIndex> stayed(const MemoryHistory&, uint16_t device, MemoryIndex a, MemoryIndex b);
/// In use at a, given back by b.
std::vector<LifeIndex> went(const MemoryHistory&, uint16_t device, MemoryIndex a, MemoryIndex b);

/// A pool: blocks that one request may choose from. Segments of one stream, one kind, one pool id.
struct PoolRow {
  std::string name;        // "large, default stream"
  uint64_t segments = 0, free_blocks = 0;
  int64_t reserved = 0, allocated = 0, pending = 0, free = 0, largest_free = 0;
  int64_t releasable = 0;  // segments with nothing in them
  /// How much of what is free the largest request can't have: 0 = one piece, near 1 = crumbs.
  double fragmentation() const { return free > 0 ? 1 - static_cast<double>(largest_free) / static_cast<double>(free) : 0; }
};
std::vector<PoolRow> pools(const MemoryHistory&, const MemoryState&);

std::string stream_name(const MemoryHistory&, uint16_t stream);  // "default stream", "stream 0x55d0"
std::string pool_name(const MemoryHistory&, uint16_t pool, bool large);

/// The moment that the selected hop means: after its last event.
MemoryIndex moment_of_hop(const Session&, const MemoryHistory&, EventId selected);
/// The device that is shown at first: the one with most traffic that is no heap, else the heap.
uint16_t main_device(const MemoryHistory&);
/// "812 MiB allocated, 1.00 GiB reserved" and where the peak was.
Parts moment_sentence(const MemoryNames&, uint16_t device, MemoryIndex moment);
/// What is known about one allocation, a line each.
std::string describe(const MemoryNames&, LifeIndex);

}  // namespace peel::views
