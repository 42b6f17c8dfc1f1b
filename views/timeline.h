// Panel Timeline: threads with their hops and spans, calls of the CUDA runtime, streams with kernels and copies, and
// arrows from line to kernel.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_timeline_panel();

/// For tests: where on the screen the middle of a hop's box was drawn in the last frame, and the stretch of time that
/// was seen. False: the panel is no timeline, or the hop has no box of its own in sight.
struct TimelineProbe {
  float x = 0, y = 0;
  Nanoseconds from = 0, to = 0;
  bool busy = false, measured = false;
  uint64_t range_hops = 0;
};
bool timeline_probe(const Panel&, EventId, TimelineProbe&);

}  // namespace peel::views
