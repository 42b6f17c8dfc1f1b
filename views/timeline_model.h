// What the Timeline draws, as data: which rows are where, which boxes lie in them at a zoom, what is under the mouse,
// which arrows lead where. Time is whole nanoseconds until TimelineView turns it into pixels.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "views/timeline_tracks.h"

namespace peel::views {

/// The stretch of time that is seen. All changes keep it within the session (and a little around it).
struct TimelineView {
  static constexpr Nanoseconds kShortest = 200;  // no zoom beyond this
  Nanoseconds from = 0, to = 1;
  double width = 1;                              // pixels
  Nanoseconds first = 0, last = 1;               // of the session

  Nanoseconds length() const { return to - from; }
  double per_pixel() const { return static_cast<double>(length()) / width; }
  /// Pixels from the left edge; far outside, a place far outside that a float still holds.
  float x(Nanoseconds t) const;
  Nanoseconds at(double x) const;
  void show(Nanoseconds from, Nanoseconds to);
  void fit() { show(first, last); }
  void zoom(double factor, double x);            // > 1: closer; what is at x stays there
  void pan(double pixels);
  /// Moves as little as possible so that [begin, end] is in sight; true when it moved. Never zooms in.
  bool reveal(Nanoseconds begin, Nanoseconds end);
};

/// What the reader made of the lanes, by Track::key.
struct TimelineChoices {
  std::set<uint64_t> pinned, collapsed;
};

struct PlacedRow {
  uint32_t track, row;
  float y;                     // units from the top of all rows
};
struct PlacedTrack {
  uint32_t track;
  float y, h;
  bool pinned, collapsed;
};
struct TimelineLayout {
  static constexpr float kBar = 21, kPitch = 24, kGap = 8, kHead = 26, kArrowRoom = 14;
  static constexpr float pitch(RowKind k) { return k == RowKind::kMemory ? 2 * kPitch : kPitch; }
  std::vector<PlacedTrack> tracks;
  std::vector<PlacedRow> rows;
  float height = 0;
};
/// Pinned tracks first; of a collapsed one the first row of hops (calls, work) only.
TimelineLayout place_tracks(const TimelineTracks&, const TimelineChoices&);

/// What a row shows at a zoom.
struct DrawnRow {
  PlacedRow at;
  RowKind kind;
  std::vector<LaneBox> boxes;
  std::vector<MemoryTotals> totals;  // of kMemory: one for each kChartPixels
};
constexpr double kChartPixels = 2;
/// Boxes narrower than this many pixels are folded.
constexpr double kFoldPixels = 3;
/// Rows between `top` and `bottom` (units) with their boxes.
std::vector<DrawnRow> draw_rows(const Session&, const TimelineTracks&, const TimelineLayout&, const TimelineView&, float top, float bottom);

/// A thing in the timeline.
struct TimelineItem {
  RowKind kind = RowKind::kHop;
  uint32_t item = 0;           // see RowKind; of a hop its id
  uint32_t stream = 0;         // of work
  bool operator==(const TimelineItem&) const = default;
};
TimelineItem item_of(const TimelineTracks&, const PlacedRow&, uint32_t index);
Stretch stretch_of(const Session&, const TimelineTracks&, const TimelineItem&);
/// The hop that stands for it: of a span its first; of calls and work the one that caused them; 0 = none.
EventId event_of(const TimelineTracks&, const TimelineItem&);
struct RowPlace { uint32_t track, row; };
std::optional<RowPlace> row_of(const Session&, const TimelineTracks&, const TimelineItem&);

/// What lies under a place of the drawing.
struct TimelinePick {
  const DrawnRow* row = nullptr;  // null: between rows
  const LaneBox* box = nullptr;   // null: nothing there
  Nanoseconds time = 0;
};
TimelinePick pick(const std::vector<DrawnRow>&, const TimelineView&, float x, float y);

struct TimelineArrow {
  enum class Kind : uint8_t { kCall, kWork, kBackward, kWait } kind;  // hop to call, call to work, node made to node run
  RowPlace from, to;
  Nanoseconds from_time, to_time;
  bool strong = false;            // of the selection
};
/// Arrows of one hop and what is inside of it: to its calls, its work, its nodes' runs or from where they were made.
std::vector<TimelineArrow> arrows_of(const Session&, const TimelineTracks&, EventId);
std::vector<TimelineArrow> arrows_of(const Session&, const TimelineTracks&, const TimelineItem& call_or_work);
/// From calls to the single pieces of work in sight, and from waits to what they wait for; none when there are too many.
std::vector<TimelineArrow> arrows_in(const TimelineTracks&, const Session&, const std::vector<DrawnRow>&, const TimelineView&);

/// Steps of a time axis: 1, 2 or 5 times a power of ten, at least `pixels` wide.
Nanoseconds axis_step(const TimelineView&, double pixels);
/// "412 µs" for a place of the axis, with as many digits as the step needs.
std::string axis_text(Nanoseconds t, Nanoseconds step);

}  // namespace peel::views
