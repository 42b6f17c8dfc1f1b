// Why a stream stood still: what the GPU waited for between two pieces of work.
#pragma once
#include <optional>
#include <string>

#include "views/timeline_tracks.h"

namespace peel::views {

struct StreamGap {
  enum class Reason : uint8_t {
    kNothingAsked,   // before the first or after the last piece of work, or its call is not known
    kLateLaunch,     // the next piece was asked for only after the stream had run dry
    kSync,           // the same, because the program itself was waiting for the GPU
    kOtherStream,    // asked for in time, but the stream had been told to wait for another one
    kStartup         // asked for in time: what passes between two pieces of work
  } reason = Reason::kNothingAsked;
  Nanoseconds begin = 0, end = 0;
  WorkRef before, after;           // the pieces of work around it
  EventId event;                   // the hop that the answer points at; 0 = none
  uint32_t call = UINT32_MAX;      // the call it points at (index into GpuActivity::calls)
  std::string text;                // one sentence
};

/// "launch came late" and the like, for a list.
const char* gap_name(StreamGap::Reason);

/// The idle stretch of the stream at t; nothing while the stream works.
std::optional<StreamGap> gap_at(const Session&, const TimelineTracks&, uint32_t stream, Nanoseconds t);

/// The outermost hop of a thread that was open at t, or the innermost when `inner`; 0 = none.
EventId hop_at(const Session&, const TimelineTracks&, ThreadId, Nanoseconds t, bool inner);

}  // namespace peel::views
