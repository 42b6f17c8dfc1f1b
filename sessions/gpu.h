// What the GPU did, in memory: work on streams (kernels, copies, sets, graphs), calls of the CUDA runtime and
// driver, and who caused what: hop, call and work are joined by correlation id and process.
//
// A GpuActivity is complete and never changes once it is handed out: any thread reads it. A growing recording
// hands out newer ones. Grid, block, bytes and the like repeat, so they are stored once as a `WorkShape`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sessions/ids.h"

namespace peel {

enum class WorkKind : uint8_t { kKernel, kCopy, kSet, kGraph };
/// As in table ENUM_CUPTI_SYNC_TYPE; kNone = the call waits for nothing.
enum class SyncKind : uint8_t { kNone, kEvent, kStreamWaitsEvent, kStream, kContext };

/// What many pieces of work have in common.
struct WorkShape {
  WorkKind kind = WorkKind::kKernel;
  uint8_t copy_kind = 0;                  // ENUM_CUDA_MEMCPY_OPER
  uint8_t source = 7, target = 7;         // ENUM_CUDA_MEM_KIND; 7 = unknown
  uint32_t name = 0, short_name = 0;      // of a kernel; see GpuActivity::text
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t registers = 0, static_shared = 0, dynamic_shared = 0, local_per_thread = 0;
  uint32_t value = 0;                     // that a set writes; a graph's number
  uint64_t bytes = 0;                     // of a copy or set
  bool operator==(const WorkShape&) const = default;
};

/// One piece of work on a stream.
struct Work {
  Nanoseconds begin = 0, end = 0;  // end >= begin
  EventId event;                   // the hop that asked for it (of a replayed graph: that captured it); 0 = none known
  uint32_t shape = 0;
  uint32_t call = 0;               // index into calls() + 1; 0 = none known
  uint32_t correlation = 0;
  uint8_t row = 0;                 // pieces that overlap on one stream lie in different rows
  bool in_graph = false;           // a node of a replayed graph
};
struct WorkRef {
  uint32_t stream = UINT32_MAX, index = 0;
  explicit operator bool() const { return stream != UINT32_MAX; }
  bool operator==(const WorkRef&) const = default;
};
struct Stream {
  uint32_t process = 0;            // process.id, 0 = unknown
  uint32_t device = 0, context = 0, id = 0;
  uint8_t rows = 1;
  std::vector<Work> work;          // by begin
};

/// One call of the CUDA runtime or driver.
struct HostCall {
  Nanoseconds begin = 0, end = 0;
  ThreadId thread;                 // 0 = a thread that called no operator
  EventId event;                   // the hop it was made in
  uint32_t process = 0;
  uint32_t name = 0;
  uint32_t correlation = 0;
  uint32_t first_work = 0, works = 0;  // see GpuActivity::works_of
  int32_t result = 0;              // 0 = success
  SyncKind sync = SyncKind::kNone;
  uint8_t row = 0;                 // 1: inside of another call
  bool driver = false;
};

/// A stream was told to wait for an event that was recorded on another one.
struct StreamWait {
  Nanoseconds begin = 0;           // when the program said so
  uint32_t process = 0, device = 0, stream = 0;
  uint32_t on = UINT32_MAX;        // stream id on which the event was recorded; UINT32_MAX = unknown
};

class GpuActivity {
 public:
  static constexpr uint8_t kMaxRows = 4;

  bool empty() const { return streams_.empty() && calls_.empty(); }
  const std::vector<Stream>& streams() const { return streams_; }  // by process, device, context, id
  const std::vector<HostCall>& calls() const { return calls_; }    // by thread, then begin
  const std::vector<StreamWait>& waits() const { return waits_; }  // by begin
  uint64_t works() const { return works_; }

  const Work& work(WorkRef r) const { return streams_[r.stream].work[r.index]; }
  const WorkShape& shape(const Work& w) const { return shapes_[w.shape]; }
  const std::string& text(uint32_t name) const { return texts_[name < texts_.size() ? name : 0]; }
  /// The kernel's short name, "copy Host-to-Device", "set", "graph 3".
  std::string name(const Work&) const;
  /// The kernel's whole name; otherwise as name().
  std::string full_name(const Work&) const;

  const HostCall* call_of(const Work& w) const { return w.call ? &calls_[w.call - 1] : nullptr; }
  /// Work that the call started.
  std::vector<WorkRef> works_of(const HostCall&) const;
  /// Work asked for by hops first..last (ids, all threads), in order of hops; at most `limit`.
  std::vector<WorkRef> works_of(EventId first, EventId last, size_t limit) const;
  /// Calls made in hops first..last.
  std::vector<uint32_t> calls_of(EventId first, EventId last, size_t limit) const;
  size_t bytes() const;

 private:
  friend class GpuBuilder;
  struct ByEvent {
    uint32_t event, stream, index;
  };
  std::vector<Stream> streams_;
  std::vector<HostCall> calls_;
  std::vector<StreamWait> waits_;
  std::vector<WorkShape> shapes_;
  std::vector<std::string> texts_{""};
  std::vector<WorkRef> call_works_;
  std::vector<ByEvent> by_event_;                         // by event
  std::vector<std::pair<uint32_t, uint32_t>> call_events_;  // (event, call), sorted
  uint64_t works_ = 0;
};

/// "Host-to-Device", "Pinned": labels of the enumerations that reach disk.
const char* copy_kind_name(uint8_t);
const char* memory_kind_name(uint8_t);
const char* sync_name(SyncKind);

}  // namespace peel
