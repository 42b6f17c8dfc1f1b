// Stepping over recorded hops, forwards and backwards. A step and its twin return to the start (the stepper
// remembers the trail for the steps that leave a call, which no structure could undo); over never goes deeper;
// out after into returns to the parent.
#pragma once
#include <vector>

#include "sessions/session.h"

namespace peel::views {

enum class Step { kInto, kOver, kOut, kBackInto, kBackOver, kBackOut };
Step twin(Step);

class Stepper {
 public:
  /// Where the step leads from `at`; 0 = nowhere (why_not() says why). Steps stay on the thread of `at`.
  ///   into  the next hop at any depth             back into  the previous hop at any depth
  ///   over  the next hop at this depth or above   back over  the previous hop at this depth or above
  ///   out   the parent, that is: its end          back out   the hop before the parent
  EventId step(const Session&, Step, EventId at);
  void forget() { trail_.clear(); }

 private:
  struct Made { Step kind; EventId from, to; };
  std::vector<Made> trail_;
};

/// One sentence for a step that led nowhere.
const char* why_not(Step);

}  // namespace peel::views
