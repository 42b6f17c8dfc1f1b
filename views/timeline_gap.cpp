#include "views/timeline_gap.h"

#include <algorithm>

#include "views/words.h"

namespace peel::views {
namespace {

constexpr Nanoseconds kUsualStart = 20'000;  // more than this between launch and start is no mere start-up

std::string hop_and_line(const Session& s, EventId e) {
  const std::string line = line_of(s, e);
  return hop_name(s, e) + (line.empty() ? "" : " (" + line + ")");
}

/// A call of the thread that waits for the GPU and touches [from, to].
uint32_t sync_in(const GpuActivity& g, ThreadId thread, Nanoseconds from, Nanoseconds to) {
  const auto& calls = g.calls();
  auto i = std::lower_bound(calls.begin(), calls.end(), std::pair(thread, to), [](const HostCall& c, const auto& k) { return std::pair(c.thread, c.begin) < k; });
  for (int looked = 0; i != calls.begin() && looked < 64; looked++) {
    --i;
    if (i->thread != thread) break;
    const bool waits = i->sync != SyncKind::kNone && i->sync != SyncKind::kStreamWaitsEvent;
    if (waits && i->end > from) return static_cast<uint32_t>(i - calls.begin());
  }
  return UINT32_MAX;
}

void explain(const Session& s, const TimelineTracks& tracks, uint32_t stream, StreamGap& gap) {
  const GpuActivity& g = *tracks.gpu();
  const std::string idle = "Idle for " + duration(gap.end - gap.begin) + ": ";
  if (!gap.after) {
    gap.text = "Nothing was asked of this stream any more.";
    return;
  }
  const Work& next = g.work(gap.after);
  const HostCall* call = g.call_of(next);
  if (!gap.before) {
    gap.text = "Nothing had been asked of this stream yet" + (call ? "; the first launch came at " + duration(call->begin) + "." : std::string("."));
    gap.event = next.event;
    return;
  }
  if (!call) {
    gap.event = next.event;
    gap.text = idle + "which call started " + g.name(next) + " is not recorded.";
    return;
  }
  if (call->begin >= gap.begin) {  // the stream had run dry
    gap.call = static_cast<uint32_t>(call - g.calls().data());
    gap.event = call->event;
    const std::string late = "the launch of " + g.name(next) + " came " + duration(call->end - gap.begin) + " late";
    if (const uint32_t sync = sync_in(g, call->thread, gap.begin, call->begin); sync != UINT32_MAX) {
      gap.reason = StreamGap::Reason::kSync, gap.call = sync, gap.event = g.calls()[sync].event;
      gap.text = idle + late + "; the program had been waiting in " + g.text(g.calls()[sync].name) + (gap.event ? ", called by " + hop_and_line(s, gap.event) : "") + ".";
      return;
    }
    gap.reason = StreamGap::Reason::kLateLaunch;
    const EventId busy = hop_at(s, tracks, call->thread, gap.begin + (call->begin - gap.begin) / 2, false);
    gap.text = idle + late + "; meanwhile the CPU was " + (busy ? "in " + hop_and_line(s, busy) : "outside of any operator, in Python") + ".";
    if (busy) gap.event = busy;
    return;
  }
  gap.call = static_cast<uint32_t>(call - g.calls().data());
  gap.event = call->event;
  // Asked for in time. Was the stream told to wait, after what ran before was launched?
  const HostCall* earlier = g.call_of(g.work(gap.before));
  const peel::Stream& here = g.streams()[stream];
  for (auto w = g.waits().rbegin(); w != g.waits().rend(); ++w) {
    if (w->begin > call->begin) continue;
    if (earlier && w->begin < earlier->begin) break;
    if (w->stream != here.id || w->device != here.device || w->process != here.process) continue;
    gap.reason = StreamGap::Reason::kOtherStream;
    gap.text = idle + g.name(next) + " was queued, but had to wait for an event" + (w->on == UINT32_MAX ? "" : " of stream " + std::to_string(w->on)) + ".";
    return;
  }
  gap.reason = StreamGap::Reason::kStartup;
  const Nanoseconds queued = std::max<Nanoseconds>(gap.begin - call->end, 0);
  gap.text = idle + g.name(next) + (queued ? " had been queued " + duration(queued) + " before" : " was being launched") +
             (gap.end - gap.begin > kUsualStart ? "; what held it up is not recorded." : "; that is what starting a kernel takes.");
}

}  // namespace

const char* gap_name(StreamGap::Reason r) {
  static const char* const names[] = {"nothing was asked", "launch came late", "program waited", "other stream", "start-up"};
  return names[static_cast<size_t>(r)];
}

EventId hop_at(const Session& s, const TimelineTracks& tracks, ThreadId thread, Nanoseconds t, bool inner) {
  const auto index = tracks.track_of(thread);
  if (!index) return {};
  const Track& track = tracks.tracks()[*index];
  EventId found;
  for (size_t r = track.first_hop_row; r < track.rows.size(); r++) {
    const Lane& lane = track.rows[r].lane;
    const uint32_t i = lane.first_from(*tracks.stretches(s, track, track.rows[r]), t + 1);
    if (i == 0) break;
    const EventId e{lane.item(i - 1)};
    const Stretch at = s.stretch(e);
    if (at.end != kOpen && at.end <= t) break;
    found = e;
    if (!inner) break;
  }
  return found;
}

std::optional<StreamGap> gap_at(const Session& s, const TimelineTracks& tracks, uint32_t stream, Nanoseconds t) {
  const GpuActivity* g = tracks.gpu();
  if (!g || stream >= g->streams().size()) return {};
  const auto& work = g->streams()[stream].work;
  const auto after = static_cast<size_t>(std::upper_bound(work.begin(), work.end(), t, [](Nanoseconds x, const Work& w) { return x < w.begin; }) - work.begin());
  StreamGap gap{.begin = tracks.begin(), .end = tracks.end()};
  // Several pieces may overlap: the one that ends last decides.
  for (size_t i = after, looked = 0; i-- > 0 && looked < 64; looked++) {
    if (work[i].end > t) return {};
    if (!gap.before || work[i].end > gap.begin) gap.begin = work[i].end, gap.before = {stream, static_cast<uint32_t>(i)};
  }
  if (after < work.size()) gap.end = work[after].begin, gap.after = {stream, static_cast<uint32_t>(after)};
  explain(s, tracks, stream, gap);
  return gap;
}

}  // namespace peel::views
