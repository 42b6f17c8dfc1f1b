// What the Timeline says: names in boxes, tips, the sentence about the selection, the rows of its details.
#pragma once
#include <string>
#include <vector>

#include "views/timeline_gap.h"
#include "views/timeline_model.h"
#include "views/timeline_range.h"
#include "views/words.h"

namespace peel::views {

/// What stands in the box: "addmm", "cudaLaunchKernel", "net.0 (Linear)".
std::string item_name(const Session&, const TimelineTracks&, const TimelineItem&);
/// Several lines: name, how long, where; of kernels grid, block, registers, shared memory; of copies bytes and rate.
std::string item_tip(const Session&, const TimelineTracks&, const TimelineItem&);
std::string box_tip(const Session&, const TimelineTracks&, const PlacedRow&, const LaneBox&);

/// A fact about the selection: "grid", "24 × 1 × 1". `event` leads to a hop.
struct TimelineFact {
  std::string what, text;
  EventId event;
  bool code = false;
};
/// From line to kernel.
std::vector<TimelineFact> item_facts(const Session&, const TimelineTracks&, const TimelineItem&);
/// One sentence about what is selected.
Parts item_sentence(const Session&, const TimelineTracks&, const TimelineItem&);

std::string rate_text(uint64_t bytes, Nanoseconds in);           // "12.4 GB/s"
std::string range_text(const RangeStats&);                       // for the clipboard

}  // namespace peel::views
