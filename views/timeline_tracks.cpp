#include "views/timeline_tracks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "sessions/iterations.h"
#include "views/words.h"

namespace peel::views {
namespace {

struct HopStretches final : Stretches {
  explicit HopStretches(const Session& s) : session(s) {}
  Stretch operator()(uint32_t e) const override { return session.stretch(EventId{e}); }
  const Session& session;
};
struct SpanStretches final : Stretches {
  explicit SpanStretches(const std::vector<Span>& s) : spans(s) {}
  Stretch operator()(uint32_t i) const override { return {spans[i].begin_ns, spans[i].end_ns}; }
  const std::vector<Span>& spans;
};
struct NamedStretches final : Stretches {
  explicit NamedStretches(const std::vector<NamedStretch>& s) : all(s) {}
  Stretch operator()(uint32_t i) const override { return {all[i].begin, all[i].end}; }
  const std::vector<NamedStretch>& all;
};
struct CallStretches final : Stretches {
  explicit CallStretches(const GpuActivity& g) : gpu(g) {}
  Stretch operator()(uint32_t i) const override { return {gpu.calls()[i].begin, gpu.calls()[i].end}; }
  const GpuActivity& gpu;
};
struct WorkStretches final : Stretches {
  explicit WorkStretches(const peel::Stream& s) : stream(s) {}
  Stretch operator()(uint32_t i) const override { return {stream.work[i].begin, stream.work[i].end}; }
  const peel::Stream& stream;
};

TimelineRow& row_at(Track& t, size_t index, RowKind kind) {
  while (t.rows.size() <= index) t.rows.push_back({kind, {}});
  return t.rows[index];
}

}  // namespace

// A time that no recording reaches says nothing about how long this one is.
void TimelineTracks::saw(Nanoseconds begin, Nanoseconds end) {
  if (begin < 0 || begin > kLatestTime || end > kLatestTime) return;
  begin_ = std::min(begin_, begin);
  end_ = std::max(end_, std::max(begin, end));
}

Track& TimelineTracks::thread_track(ThreadId thread) {
  const auto [i, fresh] = by_thread_.emplace(thread.value, tracks_.size());
  if (fresh) {
    Track t{.kind = Track::Kind::kThread, .key = uint64_t{1} << 32 | thread.value};
    t.thread = thread;
    tracks_.push_back(std::move(t));
  }
  return tracks_[i->second];
}

void TimelineTracks::add_hop(const Event& e) {
  Track& t = thread_track(e.thread);
  saw(e.begin, e.end);
  if (e.kind == Kind::kBackwardNode && e.depth == 0 && e.thread != main_) node_runs_.push_back(e.id), runners_.insert(e.thread.value);
  if (e.depth >= kMaxDepth) {
    too_deep_++;
    return;
  }
  // While hops are added, spans' rows are not there yet or are kept apart: hop rows begin at first_hop_row.
  row_at(t, t.first_hop_row + e.depth, RowKind::kHop).lane.append(e.id.value, {e.begin, e.end});
}

std::unique_ptr<TimelineTracks> TimelineTracks::build(const Session& s, const std::atomic<bool>& cancelled, std::atomic<uint32_t>* done) {
  auto made = std::make_unique<TimelineTracks>();
  TimelineTracks& t = *made;
  const uint32_t size = s.size();
  t.main_ = main_thread(s);
  for (uint32_t e = 1; e <= size; e++) {
    if (e % 65536 == 0) {
      if (cancelled) return nullptr;
      if (done) *done = e;
    }
    t.add_hop(s.event(EventId{e}));
  }
  t.hops_ = size;
  for (Track& track : t.tracks_) for (TimelineRow& r : track.rows) r.lane.shrink();
  t.load_iterations(s);
  if (cancelled) return nullptr;
  t.load_spans(s);
  t.load_gpu(s);
  t.find_waits(s);
  t.name_and_sort(s);
  return made;
}

bool TimelineTracks::extend(const Session& s, uint32_t limit) {
  const uint32_t size = s.size(), until = size - hops_ > limit ? hops_ + limit : size;
  const size_t tracks = tracks_.size();
  bool fresh = until > hops_;
  if (!main_ && size) main_ = main_thread(s);
  for (uint32_t e = hops_ + 1; e <= until; e++) add_hop(s.event(EventId{e}));
  hops_ = until;
  // All spans are copied to look at them: not more often than they take, and not at all while hops are behind.
  const auto now = std::chrono::steady_clock::now();
  if (until == size && (looked_at_ == std::chrono::steady_clock::time_point{} || now - looked_at_ > std::chrono::milliseconds(400) || !s.live())) {
    looked_at_ = now;
    const size_t before = spans_.size();
    load_spans(s);
    fresh = fresh || spans_.size() != before;
    if (s.gpu() != gpu_ && !wants_rebuild(s)) load_gpu(s), fresh = true;
    find_waits(s);
  }
  if (fresh || tracks != tracks_.size()) name_and_sort(s);
  return fresh;
}

bool TimelineTracks::wants_rebuild(const Session& s) const {
  constexpr uint64_t most = 100'000;  // about 10 ms
  const auto g = s.gpu();
  return g && g != gpu_ && g->works() + g->calls().size() > most;
}

void TimelineTracks::load_iterations(const Session& s) {
  iterations_.clear();
  for (const Iteration& i : peel::iterations(s, main_)) {
    const Stretch first = s.stretch(i.first), last = s.stretch(i.last);
    iterations_.push_back({i.name, first.begin, std::max(last.end, last.begin), i.first});
  }
}

// Rows of spans lie above the hops' and are made anew, as an inner span may come before its outer one is known.
void TimelineTracks::load_spans(const Session& s) {
  std::vector<Span> all = s.spans();
  std::erase_if(all, [](const Span& i) { return i.begin_ns < 0 || !i.thread; });
  std::stable_sort(all.begin(), all.end(), [](const Span& a, const Span& b) {
    const auto end = [](const Span& x) { return x.end_ns == kOpen ? INT64_MAX : x.end_ns; };
    return std::tuple(a.thread, a.begin_ns, -end(a)) < std::tuple(b.thread, b.begin_ns, -end(b));
  });
  const Nanoseconds open = std::count_if(all.begin(), all.end(), [](const Span& i) { return i.end_ns == kOpen; });
  if (all.size() == seen_spans_ && open == seen_open_) return;
  seen_spans_ = all.size(), seen_open_ = open;
  spans_ = std::move(all);
  for (Track& t : tracks_) {
    if (t.kind != Track::Kind::kThread) continue;
    t.rows.erase(t.rows.begin(), t.rows.begin() + t.first_hop_row);
    t.first_hop_row = 0;
  }
  std::vector<TimelineRow> rows;
  std::vector<Nanoseconds> open_until;  // ends of the spans around the present one
  const auto put_above = [&](ThreadId thread) {
    if (rows.empty()) return;
    Track& t = thread_track(thread);
    t.first_hop_row = static_cast<uint32_t>(rows.size());
    t.rows.insert(t.rows.begin(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
    rows.clear();
  };
  ThreadId thread;
  const auto begin_thread = [&](ThreadId next) {
    put_above(thread);
    thread = next;
    open_until.clear();
    if (thread != main_ || iterations_.empty()) return;
    rows.push_back({RowKind::kIteration, {}});
    for (uint32_t i = 0; i < iterations_.size(); i++) rows[0].lane.append(i, {iterations_[i].begin, iterations_[i].end});
  };
  if (!iterations_.empty()) begin_thread(main_);
  for (uint32_t i = 0; i < spans_.size(); i++) {
    const Span& span = spans_[i];
    if (span.thread != thread) begin_thread(span.thread);
    saw(span.begin_ns, span.end_ns);
    while (!open_until.empty() && open_until.back() <= span.begin_ns) open_until.pop_back();
    const size_t above = !rows.empty() && rows[0].kind == RowKind::kIteration ? 1 : 0;
    const size_t row = std::min<size_t>(open_until.size(), kMaxSpanRows - 1) + above;
    while (rows.size() <= row) rows.push_back({RowKind::kSpan, {}});
    rows[row].lane.append(i, {span.begin_ns, span.end_ns});
    open_until.push_back(span.end_ns == kOpen ? INT64_MAX : span.end_ns);
  }
  put_above(thread);
}

void TimelineTracks::load_gpu(const Session& s) {
  gpu_ = s.gpu();
  std::erase_if(tracks_, [](const Track& t) { return t.kind == Track::Kind::kCalls || t.kind == Track::Kind::kStream; });
  if (!gpu_) return;
  const auto& calls = gpu_->calls();
  for (uint32_t i = 0; i < calls.size(); i++) {
    saw(calls[i].begin, calls[i].end);
    if (!i || calls[i].thread != calls[i - 1].thread) {
      Track t{.kind = Track::Kind::kCalls, .key = uint64_t{2} << 32 | calls[i].thread.value};
      t.thread = calls[i].thread, t.process = calls[i].process;
      tracks_.push_back(std::move(t));
    }
    row_at(tracks_.back(), calls[i].row, RowKind::kCall).lane.append(i, {calls[i].begin, calls[i].end});
  }
  for (uint32_t n = 0; n < gpu_->streams().size(); n++) {
    const peel::Stream& stream = gpu_->streams()[n];
    Track t{.kind = Track::Kind::kStream, .key = uint64_t{3} << 32 | uint64_t{stream.process & 255} << 40 | uint64_t{stream.device} << 48 | (stream.context & 15) << 28 | (stream.id & 0xfffffff)};
    t.process = stream.process, t.stream = n;
    for (uint32_t i = 0; i < stream.work.size(); i++) {
      const Work& w = stream.work[i];
      saw(w.begin, w.end);
      row_at(t, w.row, RowKind::kWork).lane.append(i, {w.begin, w.end});
    }
    tracks_.push_back(std::move(t));
  }
}

void TimelineTracks::set_memory(const Session& s, std::shared_ptr<const MemoryHistory> memory) {
  memory_ = std::move(memory);
  std::erase_if(tracks_, [](const Track& t) { return t.kind == Track::Kind::kMemory; });
  for (size_t d = 0; memory_ && d < memory_->devices.size(); d++) {
    const MemoryDevice& device = memory_->devices[d];
    if (device.events.empty()) continue;
    Track t{.kind = Track::Kind::kMemory, .key = uint64_t{5} << 32 | d, .name = "memory " + device.name, .note = "peak " + bytes_text(device.peak.allocated)};
    t.process = device.process, t.device = static_cast<uint16_t>(d);
    t.rows.push_back({RowKind::kMemory, {}});
    tracks_.push_back(std::move(t));
  }
  name_and_sort(s);
}

// A backward whose nodes run on other threads: the thread that asked for it stands still.
void TimelineTracks::find_waits(const Session& s) {
  waits_.clear();
  size_t next = 0;
  std::vector<const Span*> backward;
  for (const Span& i : spans_) if (i.kind == "backward") backward.push_back(&i);
  std::stable_sort(backward.begin(), backward.end(), [](const Span* a, const Span* b) { return a->begin_ns < b->begin_ns; });
  for (const Span* b : backward) {
    while (next < node_runs_.size() && s.stretch(node_runs_[next]).begin < b->begin_ns) next++;
    if (next == node_runs_.size()) break;
    const Event first = s.event(node_runs_[next]);
    const Nanoseconds end = b->end_ns == kOpen ? end_ : b->end_ns;
    if (first.begin > end || first.thread == b->thread || b->begin) continue;  // b->begin: it ran something itself
    waits_.push_back({b->thread, b->begin_ns, end, first.id, "waits for the autograd thread"});
  }
}

void TimelineTracks::name_and_sort(const Session& s) {
  std::erase_if(tracks_, [](const Track& t) { return t.kind == Track::Kind::kProcess; });
  for (Track& t : tracks_) {
    const Thread* thread = t.thread ? s.thread(t.thread) : nullptr;
    if (thread) t.process = thread->process;
    if (t.kind == Track::Kind::kThread) {
      const bool main = t.thread == main_;
      t.name = main ? "main thread" : runners_.contains(t.thread.value) ? "autograd thread" : "thread " + std::to_string(t.thread.value);
      t.note = thread && thread->os_id > 0 ? (thread->name.empty() ? "tid" : thread->name) + " " + std::to_string(thread->os_id) : "";
    } else if (t.kind == Track::Kind::kCalls) {
      t.name = "CUDA calls";
      t.note = t.thread ? "" : "other threads";
    } else if (t.kind == Track::Kind::kStream && gpu_) {
      const peel::Stream& stream = gpu_->streams()[t.stream];
      t.name = "stream " + std::to_string(stream.id);
      t.note = "GPU " + std::to_string(stream.device);
    }
  }
  std::map<uint32_t, std::string> processes;
  for (const Track& t : tracks_) processes[t.process] = t.process ? "process " + std::to_string(t.process) : "other processes";
  for (const RecordedProcess& p : s.processes()) if (processes.contains(p.id) && p.os_id > 0) processes[p.id] = (p.name.empty() ? "process" : base_name(p.name)) + " " + std::to_string(p.os_id);
  if (processes.size() > 1) {
    for (const auto& [id, name] : processes) {
      Track head{.kind = Track::Kind::kProcess, .key = uint64_t{4} << 32 | id, .name = name};
      head.process = id;
      tracks_.push_back(std::move(head));
    }
  }
  const auto rank = [&](const Track& t) {
    const bool stream = t.kind == Track::Kind::kStream, memory = t.kind == Track::Kind::kMemory;
    return std::tuple(t.process, t.kind != Track::Kind::kProcess, memory, stream, !stream && t.thread != main_, t.thread ? t.thread.value : UINT32_MAX, t.kind, memory ? t.device : t.stream);
  };
  std::stable_sort(tracks_.begin(), tracks_.end(), [&](const Track& a, const Track& b) { return rank(a) < rank(b); });
  by_thread_.clear(), calls_by_thread_.clear(), by_stream_.clear();
  for (size_t i = 0; i < tracks_.size(); i++) {
    const Track& t = tracks_[i];
    if (t.kind == Track::Kind::kThread) by_thread_[t.thread.value] = i;
    if (t.kind == Track::Kind::kCalls) calls_by_thread_[t.thread.value] = i;
    if (t.kind == Track::Kind::kStream) by_stream_[t.stream] = i;
  }
}

std::unique_ptr<Stretches> TimelineTracks::stretches(const Session& s, const Track& t, const TimelineRow& r) const {
  switch (r.kind) {
    case RowKind::kIteration: return std::make_unique<NamedStretches>(iterations_);
    case RowKind::kSpan: return std::make_unique<SpanStretches>(spans_);
    case RowKind::kCall: return std::make_unique<CallStretches>(*gpu_);
    case RowKind::kWork: return std::make_unique<WorkStretches>(gpu_->streams()[t.stream]);
    case RowKind::kHop:
    case RowKind::kMemory: break;
  }
  return std::make_unique<HopStretches>(s);
}

namespace {
std::optional<size_t> find(const std::unordered_map<uint32_t, size_t>& in, uint32_t key) {
  const auto i = in.find(key);
  return i == in.end() ? std::nullopt : std::optional(i->second);
}
}  // namespace
std::optional<size_t> TimelineTracks::track_of(ThreadId t) const { return find(by_thread_, t.value); }
std::optional<size_t> TimelineTracks::calls_track_of(ThreadId t) const { return find(calls_by_thread_, t.value); }
std::optional<size_t> TimelineTracks::stream_track(uint32_t s) const { return find(by_stream_, s); }

size_t TimelineTracks::bytes() const {
  size_t n = spans_.capacity() * sizeof(Span);
  for (const Track& t : tracks_) for (const TimelineRow& r : t.rows) n += r.lane.bytes();
  return n;
}

}  // namespace peel::views
