// The allocator's history of a session in columns: every allocation, free, segment and out-of-memory of each device, what each
// allocation became (its life), and totals over time. Replay gives what the allocator held at any moment: memory_replay.h.
//
// Read once, on a background thread of whoever asks; after load_memory() it is never changed, so any thread may read it.
// Rows are hostile until proven otherwise: what makes no sense is left out and counted in `trouble`.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/ids.h"
#include "sessions/memory_rules.h"
#include "sessions/result.h"

namespace peel {

/// Numbers as on the wire and in table memory_action.
enum class MemoryAction : uint8_t { kAlloc, kFreeRequested, kFreeCompleted, kSegmentAlloc, kSegmentFree, kSegmentMap, kSegmentUnmap, kSnapshot, kOom, kNone };
const char* memory_action_name(MemoryAction);  // PyTorch's word

/// A place in the history: index into `events`. A moment `m` is the state after events [0, m).
using MemoryIndex = uint32_t;
using LifeIndex = uint32_t;
constexpr uint32_t kNoIndex = UINT32_MAX;

/// One row of memory_event.
struct MemoryEvent {
  uint64_t address;
  int64_t size;          // bytes as the allocator's own trace has them (asked for; of a segment: whole)
  Nanoseconds time;
  uint32_t id;           // memory_event.id; of CUDA's own pools: of the memory_event before it, 0 = none
  EventId event;         // innermost hop, 0 = outside of any
  StackId stack;         // its own, where there is no hop
  uint32_t storage;      // 0 = none seen
  LifeIndex life;        // of an allocation or a free: which one; kNoIndex = none (a block that nothing tells of)
  uint16_t thread, device, stream, pool;  // thread: id; the others: index into the history's lists
  MemoryAction action;
};

/// One allocation from its beginning to its end.
struct Life {
  uint64_t address;
  int64_t size;           // bytes that the block really takes
  int64_t requested;
  MemoryIndex begin;      // its event; of an older one the snapshot that showed it
  MemoryIndex freed;      // free_requested (or completed, when only that was told); kNoIndex = not freed
  MemoryIndex end;        // the memory came back; kNoIndex = not before the recording's end
  uint16_t device;
  bool older;             // it was there when the recording began: where it came from is not known
};

/// A segment from when it came (or changed its size) to when it went (or changed).
struct SegmentLife {
  uint64_t address;
  int64_t size;
  MemoryIndex begin, end;  // events; kNoIndex = not before the recording's end
  uint16_t device, stream, pool;
  bool large, expandable, older;
};

struct MemoryTotals {
  int64_t allocated = 0, active = 0, reserved = 0;  // active: allocated and waiting to become free
  bool operator==(const MemoryTotals&) const = default;
};

enum class BlockState : uint8_t { kInactive, kActive, kPendingFree };
struct SnapshotBlock {
  uint64_t address;
  int64_t size, requested;
  BlockState state;
};
struct SnapshotSegment {
  uint64_t address;
  int64_t size;
  uint16_t device, stream, pool;
  bool large, expandable;
  std::vector<SnapshotBlock> blocks;  // by address
};
struct Snapshot {
  MemoryIndex at;         // its event
  std::vector<SnapshotSegment> segments;
};

/// The highest totals of 1, 16, 256, ... consecutive events, so that a picture of any stretch costs its pixels.
class TotalsIndex {
 public:
  void push_back(const MemoryTotals&);
  size_t size() const { return levels_.empty() ? 0 : levels_[0].size(); }
  const MemoryTotals& operator[](size_t i) const { return levels_[0][i]; }
  /// Each total at its highest over [from, to).
  MemoryTotals highest(size_t from, size_t to) const;
  size_t bytes() const;

 private:
  static constexpr size_t kFold = 16;
  std::vector<std::vector<MemoryTotals>> levels_;
};

/// What lived after so many events of a device, by address.
struct AllocatorCheckpoint {
  size_t position = 0;
  std::vector<uint32_t> segments;         // of the history's segments
  std::vector<LifeIndex> lives;
};

/// What belongs to one device.
struct MemoryDevice {
  std::string name;                       // `cuda:0`, `cpu`
  uint32_t process = 0;                   // process.id, 0 = unknown
  bool cpu = false;                       // heap memory
  bool cuda_pools = false;                // what was taken from CUDA's memory pools (cudaMallocAsync), told by CUPTI
  std::vector<MemoryIndex> events;        // ascending
  TotalsIndex totals;                     // after each of `events`
  std::vector<LifeIndex> lives;           // in the order of their beginning
  std::vector<uint32_t> segments;         // the same of its segments
  std::vector<AllocatorCheckpoint> checkpoints;
  MemoryTotals peak;                      // each at its highest
  MemoryIndex peak_at = kNoIndex;         // the event that first brought `allocated` there
  uint64_t live_at_start = 0;             // older blocks that were in use
  /// PyTorch's caching allocator is at work here; else there are single blocks only, and nothing is known to be reserved.
  bool caching() const { return !cpu && !cuda_pools; }
  /// How many of `events` lie before the moment.
  size_t position(MemoryIndex moment) const;
  MemoryTotals at(MemoryIndex moment) const;
};

struct MemoryTrouble {
  std::string what;    // "frees of a block that was free already"
  uint64_t count = 0;
  uint32_t first = 0;  // memory_event.id, 0 = none
};

class MemoryHistory {
 public:
  std::vector<MemoryEvent> events;        // in the order of id
  std::vector<Life> lives;
  std::vector<SegmentLife> segments;
  std::vector<MemoryDevice> devices;
  std::vector<uint64_t> streams;          // handles by index; 0 = the default stream
  std::vector<std::string> pools;         // by index; "" = the default pool
  std::vector<Snapshot> snapshots;
  std::vector<MemoryIndex> ooms;
  std::vector<int64_t> oom_free;          // what the device had left at each, -1 = not told
  AllocatorSettings settings;
  std::vector<MemoryTrouble> trouble;
  uint64_t older_frees = 0;               // frees of blocks that nothing tells of: older than the recording
  std::vector<uint32_t> tensor_of;        // first tensor by storage (may be shorter than the storages)
  std::vector<std::pair<uint32_t, uint32_t>> saved;  // (storage, node) of saved tensors, by storage

  bool empty() const { return events.empty(); }
  /// The moment after everything that was told up to `t`.
  MemoryIndex moment_of(Nanoseconds t) const;
  /// Of memory_event.id: the moment after it; 0 = there is none.
  MemoryIndex moment_of_id(uint32_t id) const;
  uint32_t tensor(uint32_t storage) const { return storage < tensor_of.size() ? tensor_of[storage] : 0; }
  void note(const char* what, MemoryIndex at, uint64_t count = 1);
  std::string trouble_text() const;       // one sentence, "" = none
  size_t bytes() const;                   // memory held
};

/// Reads the tables of a file and follows the allocator through them once. A file without them gives an empty history.
/// `cancel` ends it early; then what is there is empty too.
Result<std::shared_ptr<const MemoryHistory>> load_memory(const std::string& path, const std::atomic<bool>* cancel = nullptr);

/// Fills lives, devices' lists, totals and checkpoints from `events` and `snapshots` (what load_memory does after reading).
void follow_history(MemoryHistory&, const std::atomic<bool>* cancel = nullptr);

/// "12.5 MiB", "512 B": binary units as PyTorch writes them.
std::string bytes_text(int64_t);

}  // namespace peel
