// Memory counters over the Timeline's time: what each device had allocated and reserved, at its highest within a few pixels.
#pragma once
#include <string>
#include <vector>

#include "sessions/memory.h"
#include "views/timeline_model.h"

namespace peel::views {

/// Events of the device that happened up to `t`.
size_t position_at(const MemoryHistory&, const MemoryDevice&, Nanoseconds t);
/// One total for each `pixels` of the view, from its left edge; what was held when a stretch begins counts in it.
std::vector<MemoryTotals> totals_over(const MemoryHistory&, const MemoryDevice&, const TimelineView&, double pixels);
/// "812 MiB allocated, 1.00 GiB reserved" at a moment, what changed it last and the peak.
std::string memory_tip(const MemoryHistory&, const MemoryDevice&, Nanoseconds t);
/// The hop that changed it last; 0 = none, or outside of any.
EventId memory_hop(const MemoryHistory&, const MemoryDevice&, Nanoseconds t);

}  // namespace peel::views
