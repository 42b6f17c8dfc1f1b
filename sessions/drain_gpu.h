// What GPUs did for one process, joined to the hops that asked for it.
//
// CUPTI reports after the fact: calls of CUDA's API with their thread and times, and activities with the correlation id of
// their call. So:
//  * a call belongs to the innermost hop that was open on its thread through all of it. Reports are read behind a Tick whose time is
//    past all of theirs, when every hop that began before has been merged; each thread keeps its latest hops for that;
//  * an activity belongs to the hop of its call; it waits for the call when that is reported later;
//  * a node of a replayed graph belongs to the hop that captured it.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/drain_ledger.h"
#include "tracer/wire/wire.h"

namespace peel {

/// The latest hops of one thread, to find which was open when.
class HopHistory {
 public:
  void begin(uint32_t event, int64_t ns);
  void end(int64_t ns);
  /// The innermost hop that was open from `start` to `end`; 0 = none.
  uint32_t at(int64_t start, int64_t end) const;

 private:
  static constexpr size_t kMost = 4'000'000;
  struct Hop {
    int64_t begin, end;
    uint64_t parent;  // its number + 1, 0 = none
    uint32_t event;
  };
  std::deque<Hop> hops_;
  uint64_t first_ = 0;  // number of the first one kept
  std::vector<uint64_t> open_;
};

class Process;

class GpuBook {
 public:
  GpuBook(Ledger& ledger, Process& process) : ledger_(ledger), process_(process) {}

  /// From now on threads keep their latest hops.
  void turn_on() { on_ = true; }
  bool on() const { return on_; }
  void set_os_id(int64_t os_id) { global_pid_ = os_id << 24; }
  HopHistory* history(uint32_t os_thread) { return &histories_[os_thread]; }

  void activity(const wire::GpuActivity&);
  void memory(const wire::GpuMemory&);
  void graph_node(const wire::GraphNode&, uint32_t event);
  /// No more reports come: activities whose call was never reported are written without a hop.
  void finish();

 private:
  struct Name {
    int64_t demangled, brief, mangled;
  };
  void call(const wire::GpuActivity&);
  void write(const wire::GpuActivity&, int64_t event);
  void write(const wire::GpuMemory&, int64_t event);
  int64_t hop_of(const wire::GpuActivity&, uint32_t call_event) const;
  int64_t ns(uint64_t ticks) const { return ticks ? ledger_.clock.ns(ticks) : 0; }
  const Name& kernel_name(uint32_t string);

  static constexpr size_t kCallsKept = 2'000'000, kMostWaiting = 1'000'000;
  Ledger& ledger_;
  Process& process_;
  bool on_ = false;
  int64_t global_pid_ = 0;
  std::unordered_map<uint32_t, HopHistory> histories_;         // by the operating system's thread id
  std::unordered_map<uint32_t, uint32_t> calls_;               // correlation id -> hop (0 = outside of any)
  std::deque<uint32_t> calls_order_;
  std::unordered_map<uint32_t, std::vector<wire::GpuActivity>> waiting_;  // by correlation id
  std::unordered_map<uint32_t, std::vector<wire::GpuMemory>> waiting_memory_;  // the same
  size_t waiting_count_ = 0;
  std::unordered_map<uint64_t, uint32_t> nodes_;               // graph node -> hop that captured it
  std::unordered_map<uint32_t, Name> names_;
};

}  // namespace peel
