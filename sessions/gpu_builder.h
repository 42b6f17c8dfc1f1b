// Puts a GpuActivity together from rows in any order: sorts them, gives overlapping work rows of its own and
// joins hops, calls and work. What is wrong with a row is put right here and counted.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "sessions/gpu.h"

namespace peel {

/// Whose the operating system's numbers are, as far as the recording says.
struct GpuOwners {
  std::unordered_map<int64_t, uint32_t> processes;                    // os pid -> process.id
  std::map<std::pair<uint32_t, int64_t>, ThreadId> threads;           // (process.id, os tid) -> thread
  std::function<ThreadId(EventId)> thread_of = [](EventId) { return ThreadId{}; };
  uint32_t hops = UINT32_MAX;                                         // hops there are; events beyond are none
};

class GpuBuilder {
 public:
  uint32_t text(const std::string&);
  uint32_t shape(const WorkShape&);
  void add_work(int64_t os_pid, uint32_t device, uint32_t context, uint32_t stream, Work);
  void add_call(int64_t os_pid, int64_t os_tid, HostCall);
  /// Says that the call with this correlation id waited (or told a stream to).
  void add_sync(int64_t os_pid, uint32_t correlation, SyncKind, StreamWait, uint32_t cuda_event);
  void add_record(int64_t os_pid, uint32_t correlation, uint32_t cuda_event, uint32_t stream);
  uint64_t rows() const { return rows_; }

  /// Sorted and joined. `last`: nothing will be added any more, so what is here may be moved out.
  std::shared_ptr<const GpuActivity> build(const GpuOwners&, bool last);

 private:
  struct ShapeHash {
    size_t operator()(const WorkShape&) const noexcept;
  };
  struct Sync {
    int64_t os_pid;
    uint32_t correlation;
    SyncKind kind;
    StreamWait wait;
    uint32_t cuda_event;
  };
  struct Record {
    uint32_t correlation, cuda_event, stream;
  };
  static void settle(GpuActivity&, const GpuOwners&);
  static void join(GpuActivity&);
  void place_syncs(GpuActivity&, const GpuOwners&) const;

  GpuActivity raw_;
  std::map<std::tuple<int64_t, uint32_t, uint32_t, uint32_t>, uint32_t> streams_;
  std::unordered_map<std::string, uint32_t> texts_;
  std::unordered_map<WorkShape, uint32_t, ShapeHash> shapes_;
  std::vector<int64_t> stream_pids_;
  std::vector<std::pair<int64_t, int64_t>> call_threads_;  // os pid, os tid of each call
  std::vector<Sync> syncs_;
  std::map<int64_t, std::vector<Record>> records_;         // by os pid
  uint64_t rows_ = 0;
};

}  // namespace peel
