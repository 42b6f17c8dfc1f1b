// A session's hops as lines on a terminal.
#pragma once
#include <cstdint>

#include "sessions/session.h"

namespace peel::app {

/// Prints the first `max_rows` hops as `peel show` does, and "n more" when there are more.
void print_trace(const Session&, uint32_t max_rows);

}  // namespace peel::app
