// Where the user's program goes round in a loop, found from the lines of its top-level calls.
//
// The calls of a thread are looked at by their line in the outermost frame of the user's code. A line that
// comes again after others begins a new round; it is taken back to the last jump upwards, so that `if` in a
// loop's body does no harm. When nothing repeats there but one line makes most of the calls (`main()`,
// `step()` in a loop of one line), the same is tried one frame further in.
#pragma once
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel {

struct Iteration {
  std::string name;     // "set-up", "iteration 1", ..., "afterwards"
  EventId first, last;  // its first and last call at depth 0
  uint32_t number;      // 1, 2, ...; 0 = set-up and afterwards
};
/// In order, without gaps; empty when nothing repeats. Costs a few steps a top-level call.
std::vector<Iteration> iterations(const Session&, ThreadId);

/// The thread of the first hop; 0 = no hops.
ThreadId main_thread(const Session&);

/// What a session opens with: the hop that raised; else the first call from the user's own file in the second
/// iteration; else the first call from the user's file. Never hop 1 unless it is the only one.
EventId default_selection(const Session&);

}  // namespace peel
