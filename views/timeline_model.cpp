#include "views/timeline_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "views/timeline_memory.h"
#include "views/words.h"

namespace peel::views {

// ---- time and pixels

float TimelineView::x(Nanoseconds t) const {
  return static_cast<float>(std::clamp(static_cast<double>(std::min(t, kLatestTime) - from) / per_pixel(), -1e6, 1e6 + width));
}
Nanoseconds TimelineView::at(double px) const { return from + std::llround(px * per_pixel()); }

void TimelineView::show(Nanoseconds a, Nanoseconds b) {
  const Nanoseconds whole = std::max<Nanoseconds>(last - first, 1), margin = whole / 20 + 1;
  const Nanoseconds shortest = std::min(kShortest, whole + 2 * margin);
  Nanoseconds size = std::clamp(b - a, shortest, whole + 2 * margin);
  a = std::clamp(a, first - margin, last + margin - size);
  from = a, to = a + size;
}

void TimelineView::zoom(double factor, double px) {
  const double size = static_cast<double>(length()) / factor;
  const double whole = static_cast<double>(last - first) * 1.1 + 2;
  const auto wanted = static_cast<Nanoseconds>(std::clamp(size, static_cast<double>(kShortest), whole));
  const Nanoseconds fixed = at(px);
  const auto left = static_cast<Nanoseconds>(static_cast<double>(wanted) * px / width);
  show(fixed - left, fixed - left + wanted);
}
void TimelineView::pan(double pixels) {
  const auto by = static_cast<Nanoseconds>(pixels * per_pixel());
  show(from + by, to + by);
}
bool TimelineView::reveal(Nanoseconds begin, Nanoseconds end) {
  const Nanoseconds was = from, was_to = to, room = length() / 8;
  if (end - begin > length() - 2 * room) {
    if (begin > to - room || end < from + room) show(begin - room, begin - room + length());
  } else if (begin < from) {
    show(begin - room, begin - room + length());
  } else if (end > to) {
    show(end + room - length(), end + room);
  }
  return from != was || to != was_to;
}

Nanoseconds axis_step(const TimelineView& v, double pixels) {
  const double least = pixels * v.per_pixel();
  Nanoseconds step = 1;
  while (static_cast<double>(step) < least) {
    if (static_cast<double>(2 * step) >= least) return 2 * step;
    if (static_cast<double>(5 * step) >= least) return 5 * step;
    step *= 10;
  }
  return step;
}

std::string axis_text(Nanoseconds t, Nanoseconds step) {
  const struct { Nanoseconds ns; const char* name; } units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}};
  const Nanoseconds size = std::max(t < 0 ? -t : t, step);
  for (const auto& u : units) {
    if (size < u.ns) continue;
    int digits = 0;
    for (Nanoseconds s = step; s < u.ns && digits < 9; s *= 10) digits++;
    char b[48];
    std::snprintf(b, sizeof b, "%.*f %s", digits, static_cast<double>(t) / static_cast<double>(u.ns), u.name);
    return b;
  }
  return "0";
}

// ---- rows

TimelineLayout place_tracks(const TimelineTracks& tracks, const TimelineChoices& choices) {
  TimelineLayout out;
  std::set<uint32_t> folded;  // processes
  for (const Track& t : tracks.tracks())
    if (t.kind == Track::Kind::kProcess && choices.collapsed.contains(t.key)) folded.insert(t.process);
  const auto put = [&](uint32_t index, bool pinned) {
    const Track& t = tracks.tracks()[index];
    const bool closed = choices.collapsed.contains(t.key), head = t.kind == Track::Kind::kProcess;
    PlacedTrack placed{index, out.height, 0, pinned, closed};
    float y = out.height;
    if (head) y += TimelineLayout::kHead;
    const uint32_t first = closed ? std::min<uint32_t>(t.first_hop_row, static_cast<uint32_t>(t.rows.size())) : 0;
    const uint32_t end = closed ? std::min<uint32_t>(first + 1, static_cast<uint32_t>(t.rows.size())) : static_cast<uint32_t>(t.rows.size());
    for (uint32_t r = first; r < end; r++) out.rows.push_back({index, r, y}), y += TimelineLayout::pitch(t.rows[r].kind);
    if (first == end && !head) y += TimelineLayout::kPitch;
    if (!head) y += TimelineLayout::kGap + (t.kind == Track::Kind::kCalls ? TimelineLayout::kArrowRoom : 0);
    placed.h = y - placed.y;
    out.height = y;
    out.tracks.push_back(placed);
  };
  for (const bool pinned : {true, false}) {
    for (uint32_t i = 0; i < tracks.tracks().size(); i++) {
      const Track& t = tracks.tracks()[i];
      if (choices.pinned.contains(t.key) != pinned) continue;
      if (!pinned && t.kind != Track::Kind::kProcess && folded.contains(t.process)) continue;
      put(i, pinned);
    }
  }
  return out;
}

std::vector<DrawnRow> draw_rows(const Session& s, const TimelineTracks& tracks, const TimelineLayout& layout, const TimelineView& view, float top, float bottom) {
  std::vector<DrawnRow> out;
  const auto fold = static_cast<Nanoseconds>(std::ceil(kFoldPixels * view.per_pixel()));
  const auto limit = static_cast<size_t>(view.width) * 2 + 64;
  for (const PlacedRow& r : layout.rows) {
    const Track& t = tracks.tracks()[r.track];
    const RowKind kind = t.rows[r.row].kind;
    if (r.y + TimelineLayout::pitch(kind) < top || r.y > bottom) continue;
    DrawnRow drawn{r, kind, {}, {}};
    if (kind == RowKind::kMemory) drawn.totals = totals_over(*tracks.memory(), tracks.memory()->devices[t.device], view, kChartPixels);
    else t.rows[r.row].lane.boxes(*tracks.stretches(s, t, t.rows[r.row]), view.from, view.to, fold, tracks.end(), limit, drawn.boxes);
    out.push_back(std::move(drawn));
  }
  return out;
}

TimelineItem item_of(const TimelineTracks& tracks, const PlacedRow& at, uint32_t index) {
  const Track& t = tracks.tracks()[at.track];
  const TimelineRow& r = t.rows[at.row];
  return {r.kind, r.lane.item(index), r.kind == RowKind::kWork ? t.stream : 0};
}

Stretch stretch_of(const Session& s, const TimelineTracks& tracks, const TimelineItem& i) {
  Stretch out{0, 0};
  switch (i.kind) {
    case RowKind::kHop: out = s.stretch(EventId{i.item}); break;
    case RowKind::kSpan: out = {tracks.spans()[i.item].begin_ns, tracks.spans()[i.item].end_ns}; break;
    case RowKind::kIteration: out = {tracks.iterations()[i.item].begin, tracks.iterations()[i.item].end}; break;
    case RowKind::kCall: out = {tracks.gpu()->calls()[i.item].begin, tracks.gpu()->calls()[i.item].end}; break;
    case RowKind::kWork: {
      const Work& w = tracks.gpu()->work({i.stream, i.item});
      out = {w.begin, w.end};
      break;
    }
    case RowKind::kMemory: break;
  }
  if (out.end == kOpen) out.end = tracks.end();
  out.begin = std::min(out.begin, kLatestTime), out.end = std::clamp(out.end, out.begin, kLatestTime);
  return out;
}

EventId event_of(const TimelineTracks& tracks, const TimelineItem& i) {
  switch (i.kind) {
    case RowKind::kHop: return EventId{i.item};
    case RowKind::kSpan: return tracks.spans()[i.item].begin;
    case RowKind::kIteration: return tracks.iterations()[i.item].first;
    case RowKind::kCall: return tracks.gpu()->calls()[i.item].event;
    case RowKind::kWork: {
      const Work& w = tracks.gpu()->work({i.stream, i.item});
      if (w.event) return w.event;
      const HostCall* c = tracks.gpu()->call_of(w);
      return c ? c->event : EventId{};
    }
    case RowKind::kMemory: break;
  }
  return {};
}

std::optional<RowPlace> row_of(const Session& s, const TimelineTracks& tracks, const TimelineItem& i) {
  std::optional<size_t> track;
  uint32_t row = 0;
  if (i.kind == RowKind::kHop) {
    const Event e = s.event(EventId{i.item});
    track = tracks.track_of(e.thread);
    if (!e.id || !track || e.depth >= TimelineTracks::kMaxDepth) return {};
    row = tracks.tracks()[*track].first_hop_row + e.depth;
  } else if (i.kind == RowKind::kCall) {
    const HostCall& c = tracks.gpu()->calls()[i.item];
    track = tracks.calls_track_of(c.thread), row = c.row;
  } else if (i.kind == RowKind::kWork) {
    track = tracks.stream_track(i.stream), row = tracks.gpu()->work({i.stream, i.item}).row;
  }
  if (!track || row >= tracks.tracks()[*track].rows.size()) return {};
  return RowPlace{static_cast<uint32_t>(*track), row};
}

TimelinePick pick(const std::vector<DrawnRow>& rows, const TimelineView& view, float x, float y) {
  TimelinePick p;
  p.time = view.at(x);
  for (const DrawnRow& r : rows) {
    if (y < r.at.y || y >= r.at.y + TimelineLayout::pitch(r.kind)) continue;
    p.row = &r;
    // The one nearest to the mouse of those that it touches; narrow ones answer a pixel around them.
    float best = 2;
    for (const LaneBox& b : r.boxes) {
      const float left = view.x(b.begin), right = std::max(view.x(b.end), left + 2);
      const float off = x < left ? left - x : x > right ? x - right : 0;
      if (off < best) best = off, p.box = &b;
    }
  }
  return p;
}

}  // namespace peel::views
