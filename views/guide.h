// First run: stops that show a newcomer what a recording tells. They are found in the session by rules, so that
// they hold for any recording of the sample programs, and partly for the reader's own.
#pragma once
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel::views {

struct GuideStop {
  const char* title;   // "This ran"
  std::string text;    // one or two sentences about this very hop
  EventId event;
};
/// In order; a stop that the session has no example for is left out. Looks at no more than the first 200,000 hops.
std::vector<GuideStop> find_stops(const Session&);

/// What is selected when a session opens: what the reader library says (the hop that raised, a call of the second
/// iteration), or the first stop when nothing was raised and nothing repeats.
EventId first_selection(const Session&);

}  // namespace peel::views
