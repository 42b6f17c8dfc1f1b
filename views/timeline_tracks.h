// The lanes of a session: which tracks there are (threads, runtime calls, streams), their rows and what lies in each.
// Built once on a thread of its own and then extended in slices as a recording grows; knows nothing of zoom or pixels.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/memory.h"
#include "sessions/session.h"
#include "views/timeline_lane.h"

namespace peel::views {

constexpr Nanoseconds kLatestTime = int64_t{1} << 60;  // 36 years; what is said to be later is cut there

/// What the items of a row are: numbers of iterations (index into iterations), spans, hops, calls of
/// GpuActivity, pieces of work of one stream. A row of kMemory has no items: it is a chart.
enum class RowKind : uint8_t { kIteration, kSpan, kHop, kCall, kWork, kMemory };

struct TimelineRow {
  RowKind kind;
  Lane lane;
};

struct Track {
  enum class Kind : uint8_t { kProcess, kThread, kCalls, kStream, kMemory } kind;
  uint64_t key = 0;            // identifies the track as long as the session is open
  std::string name, note;      // "main thread", "python 1234"
  uint32_t process = 0;
  ThreadId thread;             // of kThread and kCalls
  uint32_t stream = 0;         // index into GpuActivity::streams
  uint16_t device = 0;         // index into MemoryHistory::devices
  uint32_t first_hop_row = 0;  // of kThread: rows above hold iterations and spans
  std::vector<TimelineRow> rows;
};

/// A stretch in which a thread did nothing because others worked for it.
struct ThreadWait {
  ThreadId thread;
  Nanoseconds begin, end;
  EventId until;               // what the other thread did first
  std::string text;            // "waits for the autograd thread"
};

struct NamedStretch {
  std::string name;
  Nanoseconds begin, end;
  EventId first;
};

class TimelineTracks {
 public:
  static constexpr uint32_t kMaxDepth = 64;      // rows of hops in a thread; what is deeper is counted
  static constexpr uint32_t kMaxSpanRows = 24;

  /// Everything that the session has now; null when cancelled. `done` counts hops.
  static std::unique_ptr<TimelineTracks> build(const Session&, const std::atomic<bool>& cancelled, std::atomic<uint32_t>* done = nullptr);
  /// Takes in up to `limit` new hops, and spans and GPU activity when they changed. True: something is new.
  bool extend(const Session&, uint32_t limit);
  uint32_t hops() const { return hops_; }
  /// There is newer GPU activity, and so much that taking it in would hold up a frame: build anew.
  bool wants_rebuild(const Session&) const;
  /// A lane for each device that the allocator's history tells of.
  void set_memory(const Session&, std::shared_ptr<const MemoryHistory>);

  const std::vector<Track>& tracks() const { return tracks_; }  // in the order in which they are shown
  const GpuActivity* gpu() const { return gpu_.get(); }
  const MemoryHistory* memory() const { return memory_.get(); }
  const std::vector<Span>& spans() const { return spans_; }
  const std::vector<NamedStretch>& iterations() const { return iterations_; }
  const std::vector<ThreadWait>& waits() const { return waits_; }
  Nanoseconds begin() const { return begin_; }
  Nanoseconds end() const { return std::max(end_, begin_ + 1); }   // the latest that anything is known to have happened
  uint64_t too_deep() const { return too_deep_; }
  size_t bytes() const;

  /// Where the items of a row are in time.
  std::unique_ptr<Stretches> stretches(const Session&, const Track&, const TimelineRow&) const;
  std::optional<size_t> track_of(ThreadId) const;
  std::optional<size_t> calls_track_of(ThreadId) const;
  std::optional<size_t> stream_track(uint32_t stream) const;

 private:
  Track& thread_track(ThreadId);
  void add_hop(const Event&);
  void load_spans(const Session&);
  void load_gpu(const Session&);
  void find_waits(const Session&);
  void load_iterations(const Session&);
  void name_and_sort(const Session&);
  void saw(Nanoseconds begin, Nanoseconds end);

  std::vector<Track> tracks_;
  std::unordered_map<uint32_t, size_t> by_thread_, calls_by_thread_, by_stream_;
  std::shared_ptr<const GpuActivity> gpu_;
  std::shared_ptr<const MemoryHistory> memory_;
  std::vector<Span> spans_;
  std::vector<NamedStretch> iterations_;
  std::vector<ThreadWait> waits_;
  std::vector<EventId> node_runs_;       // outermost hops that are runs of nodes, of threads other than the first
  std::set<uint32_t> runners_;           // those threads
  ThreadId main_;
  Nanoseconds begin_ = INT64_MAX, end_ = 0;
  uint64_t too_deep_ = 0;
  size_t seen_spans_ = SIZE_MAX;
  Nanoseconds seen_open_ = -1;
  uint32_t hops_ = 0;
  std::chrono::steady_clock::time_point looked_at_{};
};

}  // namespace peel::views
