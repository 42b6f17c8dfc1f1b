#include "views/timeline_range.h"

#include <algorithm>
#include <unordered_map>

#include "views/words.h"

namespace peel::views {
namespace {

/// Times of a damaged file may be absurd: sums stop at the ends.
void add_up(Nanoseconds& to, Nanoseconds more) {
  if (__builtin_add_overflow(to, more, &to)) to = more > 0 ? INT64_MAX : INT64_MIN;
}

constexpr size_t kTop = 50;
constexpr uint64_t kMostGaps = 50'000;  // explained one by one; a few microseconds each

void keep_longest(std::vector<RangeStats::Top>& all) {
  std::erase_if(all, [](const RangeStats::Top& t) { return t.count == 0; });
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  if (all.size() > kTop) all.resize(kTop);
}

/// Adds stretches that come by their begins; what overlaps counts once.
struct Union {
  Nanoseconds busy = 0, until = 0;
  void add(Nanoseconds begin, Nanoseconds end) {
    begin = std::max(begin, until);
    if (end > begin) busy += end - begin, until = end;
  }
};

struct Scan {
  const Session& s;
  const TimelineTracks& tracks;
  RangeStats& out;
  const std::atomic<bool>& cancelled;

  Nanoseconds clip(Stretch x) const {
    const Nanoseconds end = x.end == kOpen ? tracks.end() : x.end;
    return std::max<Nanoseconds>(0, std::min(end, out.to) - std::max(x.begin, out.from));
  }
  bool go_on(uint64_t n) const { return n % 4096 || !cancelled; }

  void thread(const Track& t, std::vector<RangeStats::Top>& ops) {
    Union all;
    for (size_t r = t.first_hop_row; r < t.rows.size(); r++) {
      const Lane& lane = t.rows[r].lane;
      lane.visit(*tracks.stretches(s, t, t.rows[r]), out.from, out.to, [&](uint32_t i, Stretch x) {
        const Event e = s.event(EventId{lane.item(i)});
        const Nanoseconds time = clip(x);
        RangeStats::Top& own = ops[e.op.value < ops.size() ? e.op.value : 0];
        add_up(own.time, time);
        if (is_call(e.kind) || e.kind == Kind::kBackwardNode) {
          own.count++;
          if (!own.first || e.id < own.first) own.first = e.id;
        }
        // What is inside belongs to the inner operator, not to the one around it.
        if (e.parent) {
          const OpId outer = s.event(e.parent).op;
          add_up(ops[outer.value < ops.size() ? outer.value : 0].time, -time);
        }
        if (r == t.first_hop_row && time > 0) all.add(std::max(x.begin, out.from), std::max(x.begin, out.from) + time);
        out.calls += is_call(e.kind);
        return go_on(++out.hops);
      });
    }
    out.threads.push_back({t.name, all.busy});
  }

  void cuda_calls(const Track& t) {
    for (const TimelineRow& r : t.rows) {
      r.lane.visit(*tracks.stretches(s, t, r), out.from, out.to, [&](uint32_t, Stretch) { return go_on(++out.cuda_calls); });
    }
  }

  std::vector<Nanoseconds> busy_from, busy_to;  // of all streams
  uint64_t gaps = 0;
  void gap(const Track& t, Nanoseconds from, Nanoseconds to) {
    if (++gaps > kMostGaps) out.idle_cut = true;
    if (out.idle_cut || cancelled) return;
    const auto why = gap_at(s, tracks, t.stream, from + (to - from) / 2);
    if (!why) return;
    auto i = std::find_if(out.idle.begin(), out.idle.end(), [&](const RangeStats::Idle& x) { return x.reason == why->reason; });
    if (i == out.idle.end()) i = out.idle.insert(i, {why->reason});
    i->count++, add_up(i->time, to - from);
  }
  /// How long at least one, and at least two, were at work.
  void overlap() {
    std::sort(busy_from.begin(), busy_from.end());
    std::sort(busy_to.begin(), busy_to.end());
    size_t begun = 0;
    Nanoseconds last = out.from;
    for (size_t ended = 0; ended < busy_to.size();) {
      const bool begins = begun < busy_from.size() && busy_from[begun] < busy_to[ended];
      const Nanoseconds t = begins ? busy_from[begun] : busy_to[ended];
      if (begun > ended) out.gpu_busy += t - last;
      if (begun > ended + 1) out.gpu_overlap += t - last;
      last = t;
      begins ? begun++ : ended++;
    }
    std::sort(out.idle.begin(), out.idle.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  }

  void stream(const Track& t, std::unordered_map<std::string, RangeStats::Top>& names) {
    const peel::Stream& stream = tracks.gpu()->streams()[t.stream];
    std::unordered_map<uint32_t, std::pair<uint64_t, Nanoseconds>> shapes;
    std::unordered_map<uint32_t, EventId> first;
    std::vector<Stretch> pieces;
    for (const TimelineRow& r : t.rows) {
      r.lane.visit(*tracks.stretches(s, t, r), out.from, out.to, [&](uint32_t i, Stretch x) {
        const Work& w = stream.work[r.lane.item(i)];
        const WorkShape& shape = tracks.gpu()->shape(w);
        auto& [count, time] = shapes[w.shape];
        count++, add_up(time, clip(x));
        EventId& event = first[w.shape];
        if (w.event && (!event || w.event < event)) event = w.event;
        pieces.push_back({std::max(x.begin, out.from), std::min(x.end, out.to)});
        if (shape.kind == WorkKind::kCopy) out.copied += shape.bytes;
        (shape.kind == WorkKind::kKernel ? out.kernels : out.copies)++;
        return go_on(pieces.size());
      });
    }
    std::sort(pieces.begin(), pieces.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
    Union all;
    Nanoseconds idle_from = out.from;
    for (const Stretch& p : pieces) {
      if (p.begin > std::max(idle_from, all.until)) gap(t, std::max(idle_from, all.until), p.begin);
      all.add(p.begin, p.end);
      busy_from.push_back(p.begin), busy_to.push_back(p.end);
    }
    if (!pieces.empty() && all.until < out.to) gap(t, all.until, out.to);
    out.streams.push_back({t.note + " " + t.name, all.busy});
    for (const auto& [shape, sum] : shapes) {
      Work w;
      w.shape = shape;
      RangeStats::Top& top = names[tracks.gpu()->name(w)];
      top.count += sum.first, add_up(top.time, sum.second);
      if (first[shape] && (!top.first || first[shape] < top.first)) top.first = first[shape];
    }
  }
};

}  // namespace

RangeStats range_stats(const Session& s, const TimelineTracks& tracks, Nanoseconds from, Nanoseconds to, const std::atomic<bool>& cancelled) {
  RangeStats out;
  out.from = std::min(from, to), out.to = std::max(from, to);
  Scan scan{s, tracks, out, cancelled, {}, {}};
  std::vector<RangeStats::Top> ops(s.ops() + 1);
  std::unordered_map<std::string, RangeStats::Top> names;
  for (const Track& t : tracks.tracks()) {
    if (t.kind == Track::Kind::kThread) scan.thread(t, ops);
    if (t.kind == Track::Kind::kCalls) scan.cuda_calls(t);
    if (t.kind == Track::Kind::kStream) scan.stream(t, names);
    if (cancelled) return out;
  }
  scan.overlap();
  for (uint32_t i = 0; i < ops.size(); i++) ops[i].name = i ? s.op(OpId{i}).full : "nodes run in backward";
  out.operators = std::move(ops);
  for (auto& [name, top] : names) {
    top.name = name;
    out.kernel_names.push_back(std::move(top));
  }
  std::sort(out.kernel_names.begin(), out.kernel_names.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  keep_longest(out.operators), keep_longest(out.kernel_names);
  out.whole = true;
  return out;
}

}  // namespace peel::views
