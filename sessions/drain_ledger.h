// What all processes of a recording share in the drain: the catalog, the counters from which ids come, the
// clock, and when the last hops began. Used by the drain's thread only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/drain_catalog.h"

namespace peel {

/// Ticks to nanoseconds since the session's start, by a factor that is measured once.
struct DrainClock {
  uint64_t ticks0 = 0;   // at the session's start
  uint64_t factor = 0;   // nanoseconds per tick, 32 bits after the point

  int64_t ns(uint64_t ticks) const {
    if (ticks <= ticks0) return 0;
    return static_cast<int64_t>(static_cast<unsigned __int128>(ticks - ticks0) * factor >> 32);
  }
};

/// When the newest hops began: which hop was the first at or after some time?
class BeginHistory {
 public:
  void add(uint32_t hop, int64_t begin_ns) { begin_[hop % kSize] = begin_ns; }
  /// hops + 1 when none is; the oldest that is remembered when it was longer ago.
  uint32_t first_at_or_after(int64_t ns, uint32_t hops) const {
    uint32_t low = hops > kSize ? hops - kSize + 1 : 1, high = hops + 1;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (begin_[middle % kSize] < ns) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  static constexpr uint32_t kSize = 1 << 16;
  std::vector<int64_t> begin_ = std::vector<int64_t>(kSize);
};

struct Ledger {
  explicit Ledger(bool keep_source) : catalog(keep_source) {}

  Catalog catalog;
  DrainClock clock;
  BeginHistory history;

  // the highest ids given so far
  uint32_t hops = 0, tensors = 0, storages = 0, nodes = 0, runs = 0, spans = 0, threads = 0, processes = 0, memory_events = 0;
  // ids above these have their rows in the batch at hand, in order
  uint32_t committed_hops = 0, committed_tensors = 0, committed_nodes = 0, committed_memory = 0;
  uint64_t batch_number = 0;
  uint64_t waits_ns = 0;
  int64_t newest_begin_ns = 0;
  uint64_t latest_ticks = UINT64_MAX;  // no true record can carry a later time

  static constexpr uint32_t kCommitHops = 50'000;
  uint32_t commit_hops = kCommitHops;  // fewer where the size of the file has a bound
  static constexpr size_t kCommitCells = 4'000'000;

  Batch& batch() { return *catalog.batch; }
  /// Enough for one transaction.
  bool full() {
    return hops - committed_hops >= commit_hops || batch()[Table::kArgument].cells() + batch()[Table::kResult].cells() >= kCommitCells ||
           batch()[Table::kGpuKernel].cells() + batch()[Table::kGpuRuntime].cells() >= kCommitCells;
  }
  void commit(Batch* next) {
    catalog.batch = next;
    ++batch_number;
    committed_hops = hops;
    committed_tensors = tensors;
    committed_nodes = nodes;
    committed_memory = memory_events;
  }
  /// The row of a hop, tensor or node if it is not yet committed, else null.
  int64_t* pending(Table table, uint32_t id, uint32_t committed) { return id > committed ? batch()[table].row(id - committed - 1) : nullptr; }
  int64_t* pending_hop(uint32_t id) { return pending(Table::kEvent, id, committed_hops); }
  int64_t* pending_tensor(uint32_t id) { return pending(Table::kTensor, id, committed_tensors); }
  int64_t* pending_memory(uint32_t id) { return pending(Table::kMemoryEvent, id, committed_memory); }
  int64_t* pending_node(uint32_t id) { return pending(Table::kNode, id, committed_nodes); }

  void unknown_id() {
    catalog.lose("unknown ids", 1, "An event named an operator, kernel, text, stack or state that was never defined; it is left empty.");
  }
  void damaged() { catalog.lose("damaged records", 1, "Records that make no sense were skipped."); }

  /// An operator's table waits here until the first hop that it holds for is known.
  struct PendingTable {
    int64_t since_ns;
    uint32_t since_event;  // 0 = by since_ns
    uint32_t op;           // 0 = backend fallbacks
    struct Slot {
      uint32_t slot, kernel, stale;
    };
    struct Registration {
      uint32_t key, position, kernel;
    };
    std::vector<Slot> slots;
    std::vector<uint64_t> masks;
    std::vector<Registration> registrations;
  };
  std::deque<PendingTable> tables;
  std::unordered_map<uint32_t, uint64_t> table_hash;  // by op: what was written last
  void write_tables(int64_t complete_until_ns);
};

}  // namespace peel
