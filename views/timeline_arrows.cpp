// Arrows of the timeline: from hops over launches to work, and from the hop that made a node to its run.
#include <algorithm>

#include "views/timeline_model.h"

namespace peel::views {
namespace {

constexpr size_t kMostArrows = 160;     // in sight; more than that is a tangle
constexpr size_t kMostOfSelection = 400;

class Arrows {
 public:
  Arrows(const Session& s, const TimelineTracks& t) : session_(s), tracks_(t) {}

  /// From the call's hop (when there is one to be seen) to the call, and from the call to its work.
  void call(uint32_t index, bool strong, bool with_hop) {
    const HostCall& c = tracks_.gpu()->calls()[index];
    const TimelineItem item{RowKind::kCall, index};
    if (with_hop && c.event) add(TimelineArrow::Kind::kCall, {RowKind::kHop, c.event.value}, c.begin, item, c.begin, strong);
    for (const WorkRef& w : tracks_.gpu()->works_of(c)) work(w, strong);
  }
  /// From the call to the work; from its hop when the call is not known.
  void work(WorkRef ref, bool strong) {
    const Work& w = tracks_.gpu()->work(ref);
    const TimelineItem to{RowKind::kWork, ref.index, ref.stream};
    if (w.call) {
      const HostCall& c = tracks_.gpu()->calls()[w.call - 1];
      add(TimelineArrow::Kind::kWork, {RowKind::kCall, w.call - 1}, c.begin + (c.end - c.begin) / 2, to, w.begin, strong);
    } else if (w.event) {
      add(TimelineArrow::Kind::kWork, {RowKind::kHop, w.event.value}, session_.stretch(w.event).begin, to, w.begin, strong);
    }
  }
  void backward(EventId made, EventId run) {
    const Stretch m = stretch_of(session_, tracks_, {RowKind::kHop, made.value});
    add(TimelineArrow::Kind::kBackward, {RowKind::kHop, made.value}, m.end, {RowKind::kHop, run.value}, session_.stretch(run).begin, true);
  }
  void add(TimelineArrow::Kind kind, const TimelineItem& from, Nanoseconds from_time, const TimelineItem& to, Nanoseconds to_time, bool strong) {
    const auto a = row_of(session_, tracks_, from), b = row_of(session_, tracks_, to);
    if (a && b) out.push_back({kind, *a, *b, from_time, to_time, strong});
  }
  std::vector<TimelineArrow> out;

 private:
  const Session& session_;
  const TimelineTracks& tracks_;
};

}  // namespace

std::vector<TimelineArrow> arrows_of(const Session& s, const TimelineTracks& tracks, EventId e) {
  Arrows a(s, tracks);
  const Event event = s.event(e);
  if (!event.id) return {};
  if (const GpuActivity* g = tracks.gpu()) {
    for (uint32_t c : g->calls_of(e, event.last, kMostOfSelection)) {
      if (g->calls()[c].thread == event.thread) a.call(c, true, g->calls()[c].event == e || g->calls()[c].works > 0);
    }
    for (const WorkRef& w : g->works_of(e, event.last, kMostOfSelection)) {
      if (!g->work(w).call && s.event(g->work(w).event).thread == event.thread) a.work(w, true);
    }
  }
  if (event.kind == Kind::kBackwardNode) {
    if (const auto run = s.run_of(e)) {
      const Node n = s.node(run->node);
      if (n.event) a.backward(n.event, e);
    }
  } else {
    for (NodeId n : s.nodes_of(e))
      for (const NodeRun& r : s.runs(n)) a.backward(e, r.event);
  }
  return a.out;
}

std::vector<TimelineArrow> arrows_of(const Session& s, const TimelineTracks& tracks, const TimelineItem& i) {
  Arrows a(s, tracks);
  if (i.kind == RowKind::kCall) {
    a.call(i.item, true, true);
  } else if (i.kind == RowKind::kWork) {
    const Work& w = tracks.gpu()->work({i.stream, i.item});
    if (w.call) {
      const HostCall& c = tracks.gpu()->calls()[w.call - 1];
      if (c.event) a.add(TimelineArrow::Kind::kCall, {RowKind::kHop, c.event.value}, c.begin, {RowKind::kCall, w.call - 1}, c.begin, true);
    }
    a.work({i.stream, i.item}, true);
  }
  return a.out;
}

std::vector<TimelineArrow> arrows_in(const TimelineTracks& tracks, const Session& s, const std::vector<DrawnRow>& rows, const TimelineView& view) {
  Arrows a(s, tracks);
  for (const DrawnRow& r : rows) {
    if (r.kind != RowKind::kWork) continue;
    for (const LaneBox& b : r.boxes) {
      if (b.folded()) continue;
      a.work({tracks.tracks()[r.at.track].stream, item_of(tracks, r.at, b.first).item}, false);
      if (a.out.size() > kMostArrows) return {};
    }
  }
  for (const ThreadWait& w : tracks.waits()) {
    if (w.end < view.from || w.begin > view.to) continue;
    const auto to = row_of(s, tracks, {RowKind::kHop, w.until.value});
    const auto track = tracks.track_of(w.thread);
    if (!to || !track || tracks.tracks()[*track].first_hop_row >= tracks.tracks()[*track].rows.size()) continue;
    const Nanoseconds begin = s.stretch(w.until).begin;
    a.out.push_back({TimelineArrow::Kind::kWait, {static_cast<uint32_t>(*track), tracks.tracks()[*track].first_hop_row}, *to, w.begin + (begin - w.begin) / 2, begin, false});
  }
  return a.out;
}

}  // namespace peel::views
