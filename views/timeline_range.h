// What happened in a stretch of time: counts, how long each thread and stream was busy, what took the time.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "views/timeline_gap.h"

namespace peel::views {

struct RangeStats {
  struct Busy {
    std::string name;
    Nanoseconds busy = 0;      // within the range; overlapping work counts once
  };
  struct Top {
    std::string name;
    uint64_t count = 0;
    Nanoseconds time = 0;      // within the range; of operators without what is inside of them
    EventId first;             // the first one's hop
  };
  struct Idle {
    StreamGap::Reason reason;
    uint64_t count = 0;
    Nanoseconds time = 0;      // within the range, of all streams
  };
  Nanoseconds from = 0, to = 0;
  uint64_t hops = 0, calls = 0, cuda_calls = 0, kernels = 0, copies = 0;  // calls: hops that are operator calls
  uint64_t copied = 0;         // bytes
  std::vector<Busy> threads, streams;
  Nanoseconds gpu_busy = 0;    // at least one stream worked
  Nanoseconds gpu_overlap = 0; // two or more did
  std::vector<Idle> idle;      // what streams waited for, longest first
  bool idle_cut = false;       // there were too many gaps to explain each
  std::vector<Top> operators, kernel_names;  // by time, longest first
  bool whole = false;          // false: it was interrupted
};

/// Everything that touches [from, to]; times are clipped to it.
RangeStats range_stats(const Session&, const TimelineTracks&, Nanoseconds from, Nanoseconds to, const std::atomic<bool>& cancelled);

}  // namespace peel::views
