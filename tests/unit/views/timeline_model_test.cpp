// What the Timeline shows: lanes, what lies under the mouse, arrows, gaps, measuring against brute force.
#include "views/timeline_model.h"

#include <map>
#include <random>

#include "sessions/gpu_builder.h"
#include "tests/catch.h"
#include "tests/made_gpu.h"
#include "tests/unit/sessions/made_session.h"
#include "tests/unit/sessions/memory_story.h"
#include "tests/unit/views/fake_session.h"
#include "views/timeline_memory.h"
#include "views/timeline_text.h"

using namespace peel;
using namespace peel::views;
namespace bit = test::bit;
namespace key = test::key;

namespace {

const std::atomic<bool> kNever{false};

struct Opened {
  std::unique_ptr<Session> s;
  std::unique_ptr<TimelineTracks> t;
  TimelineView view;
  explicit Opened(int steps = 2) {
    const std::string path = test::test_folder() + "/gpu.peel";
    test::MadeGpu made(path, steps);
    auto opened = Session::open(path, true);
    REQUIRE(opened);
    s = std::move(*opened);
    t = TimelineTracks::build(*s, kNever);
    view.width = 1200, view.first = t->begin(), view.last = t->end();
    view.fit();
  }
  std::vector<DrawnRow> rows() const { return draw_rows(*s, *t, place_tracks(*t, {}), view, -1e6f, 1e6f); }
};

EventId find_op(const Session& s, const char* brief, KeyId k = 0) {
  for (uint32_t i = 1; i <= s.size(); i++) if (s.op(s.event(EventId{i}).op).brief == brief && (!k || s.event(EventId{i}).key == k)) return EventId{i};
  return {};
}

// Calls nested at random on three threads, with pauses.
std::unique_ptr<test::FakeSession> random_session(uint32_t seed, int calls) {
  auto s = std::make_unique<test::FakeSession>();
  s->threads_.push_back({ThreadId(2), 1, 101, "w"});
  s->threads_.push_back({ThreadId(3), 1, 102, "w"});
  std::mt19937 r(seed);
  struct Begin { Nanoseconds at, end; uint32_t thread, depth; };
  // Made thread by thread, numbered by begin: ids are begin order over all threads.
  std::vector<Begin> all;
  for (uint32_t thread = 1; thread <= 3; thread++) {
    Nanoseconds t = static_cast<Nanoseconds>(r() % 50);
    for (int i = 0; i < calls; i++) {
      Nanoseconds from = t, to = t + 20 + static_cast<Nanoseconds>(r() % 400);
      const auto depth = static_cast<uint32_t>(r() % 5);
      t = to + static_cast<Nanoseconds>(r() % 60);
      for (uint32_t d = 0; d <= depth && from < to; d++) {
        all.push_back({from, to, thread, d});
        from += 1 + static_cast<Nanoseconds>(r() % 9), to -= 1 + static_cast<Nanoseconds>(r() % 9);
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Begin& a, const Begin& b) { return a.at < b.at; });
  std::map<uint32_t, std::vector<EventId>> open;
  for (const Begin& b : all) {
    auto& stack = open[b.thread];
    stack.resize(b.depth);
    const OpId op = s->op(("aten::op" + std::to_string(r() % 7)).c_str());
    const EventId e = s->hop(stack.empty() ? EventId{} : stack.back(), op, r() % 3 ? Kind::kCall : Kind::kRedispatch, key::kCpu, bit::kTensor, 0, b.at, b.end);
    s->at(e).thread = ThreadId(b.thread);
    stack.push_back(e);
  }
  return s;
}

}  // namespace

TEST_CASE("timeline: tracks of a recording with a GPU, in reading order", "[timeline]") {
  const Opened o;
  std::vector<std::string> names;
  for (const Track& t : o.t->tracks()) names.push_back(t.name);
  CHECK(names == std::vector<std::string>{"main thread", "CUDA calls", "autograd thread", "CUDA calls", "stream 7", "stream 20"});
  const Track& main = o.t->tracks()[0];
  CHECK(main.first_hop_row == 3);  // iterations, the net, its parts
  CHECK(main.rows.size() == 6);
  CHECK(main.rows[0].kind == RowKind::kIteration);
  CHECK(main.rows[1].kind == RowKind::kSpan);
  CHECK(main.rows[3].kind == RowKind::kHop);
  CHECK(o.t->tracks()[2].note == "pt_autograd_0 4260");
  REQUIRE(o.t->waits().size() == 2);
  CHECK(o.t->waits()[0].thread == ThreadId{1});
  CHECK(o.s->event(o.t->waits()[0].until).thread == ThreadId{2});
  // Every hop, call and piece of work lies in exactly one row.
  size_t hops = 0, calls = 0, work = 0;
  for (const Track& t : o.t->tracks())
    for (const TimelineRow& r : t.rows) {
      hops += r.kind == RowKind::kHop ? r.lane.size() : 0;
      calls += r.kind == RowKind::kCall ? r.lane.size() : 0;
      work += r.kind == RowKind::kWork ? r.lane.size() : 0;
    }
  CHECK(hops == o.s->size());
  CHECK(calls == o.s->gpu()->calls().size());
  CHECK(work == o.s->gpu()->works());
}

TEST_CASE("timeline: each process has its group, and is folded as one", "[timeline]") {
  test::FakeSession s;
  s.threads_.push_back({ThreadId(2), 2, 200, "main"});
  const OpId op = s.op("aten::mm");
  s.hop({}, op, Kind::kCall, key::kCpu, bit::kTensor);
  const EventId other = s.hop({}, op, Kind::kCall, key::kCpu, bit::kTensor);
  s.at(other).thread = ThreadId(2);
  const auto t = TimelineTracks::build(s, kNever);
  REQUIRE(t->tracks().size() == 4);
  CHECK(t->tracks()[0].kind == Track::Kind::kProcess);
  CHECK(t->tracks()[1].thread == ThreadId(1));
  CHECK(t->tracks()[2].name == "process 2");
  CHECK(place_tracks(*t, {}).rows.size() == 2);
  TimelineChoices c;
  c.collapsed.insert(t->tracks()[2].key);
  const TimelineLayout l = place_tracks(*t, c);
  CHECK(l.rows.size() == 1);
  CHECK(l.tracks.size() == 3);
}

TEST_CASE("timeline: absurd times are drawn without harm", "[timeline][hostile]") {
  test::FakeSession s;
  const OpId op = s.op("aten::mm");
  for (const auto& [begin, end] : std::vector<std::pair<Nanoseconds, Nanoseconds>>{{0, 50}, {10, INT64_MAX}, {INT64_MAX, INT64_MAX}, {100, 20}, {INT64_MAX - 1, 5}, {120, kOpen}})
    s.hop({}, op, Kind::kCall, key::kCpu, bit::kTensor, 0, begin, end);
  s.spans_.push_back({SpanId(1), {}, "module", "a", "", ThreadId(1), EventId(1), EventId(2), INT64_MAX, 3, {}, 0});
  s.spans_.push_back({SpanId(2), {}, "backward", "b", "", ThreadId(9), EventId(99), EventId(2), 5, INT64_MAX, {}, 0});
  s.spans_.push_back({SpanId(3), {}, "mode", "c", "", ThreadId(1), {}, {}, -77, -5, {}, 0});
  const auto t = TimelineTracks::build(s, kNever);
  CHECK(t->end() < 1000);
  TimelineView v;
  v.width = 500, v.first = t->begin(), v.last = t->end();
  v.fit();
  const auto rows = draw_rows(s, *t, place_tracks(*t, {}), v, -1e6f, 1e6f);
  size_t seen = 0;
  for (const DrawnRow& r : rows)
    for (const LaneBox& b : r.boxes) {
      CHECK(std::abs(v.x(b.begin)) <= 2e6f);
      CHECK(std::abs(v.x(b.end)) <= 2e6f);
      seen += r.kind == RowKind::kHop ? b.count() : 0;
      (void)box_tip(s, *t, r.at, b);
    }
  CHECK(seen == 4);  // two begin after everything that is seen
  for (uint32_t e = 0; e <= s.size() + 1; e++) {
    const TimelineItem i{RowKind::kHop, e};
    const Stretch x = stretch_of(s, *t, i);
    v.show(x.begin - (x.end - x.begin) / 6, x.end + (x.end - x.begin) / 6);
    v.reveal(x.begin, x.end);
    CHECK(v.from < v.to);
    (void)item_sentence(s, *t, i), (void)arrows_of(s, *t, EventId{e});
  }
  (void)range_stats(s, *t, 0, INT64_MAX, kNever);
}

TEST_CASE("timeline: growing by slices gives the same lanes as building at once", "[timeline]") {
  const Opened o(5);
  auto t = std::make_unique<TimelineTracks>();
  for (int i = 0; i < 1000 && t->hops() < o.s->size(); i++) t->extend(*o.s, 7);
  REQUIRE(t->hops() == o.s->size());
  REQUIRE(t->tracks().size() == o.t->tracks().size());
  for (size_t i = 0; i < t->tracks().size(); i++) {
    const Track &a = t->tracks()[i], &b = o.t->tracks()[i];
    CHECK(a.name == b.name);
    CHECK(a.key == b.key);
    CHECK(a.rows.size() - a.first_hop_row == b.rows.size() - b.first_hop_row);
  }
}

TEST_CASE("timeline: what lies under the mouse is what was drawn there", "[timeline]") {
  const Opened o;
  const auto rows = o.rows();
  REQUIRE(rows.size() > 8);
  size_t boxes = 0;
  for (const DrawnRow& r : rows) {
    for (const LaneBox& b : r.boxes) {
      const float x = (o.view.x(b.begin) + o.view.x(b.end)) / 2;
      const TimelinePick p = pick(rows, o.view, x, r.at.y + 5);
      REQUIRE(p.row == &r);
      REQUIRE(p.box);
      if (o.view.x(b.end) - o.view.x(b.begin) > 3) REQUIRE(p.box == &b);
      boxes++;
    }
  }
  CHECK(boxes > 60);
  // Far from any box there is the row and no box; between rows, nothing.
  const DrawnRow& stream = rows.back();
  CHECK(pick(rows, o.view, o.view.x(stream.boxes[0].end) + 8, stream.at.y + 5).row == &stream);
  CHECK(pick(rows, o.view, o.view.x(stream.boxes[0].end) + 8, stream.at.y + 5).box == nullptr);
  CHECK(pick(rows, o.view, 50, -100).row == nullptr);
}

TEST_CASE("timeline: pixels and time", "[timeline]") {
  TimelineView v;
  v.width = 1000, v.first = 0, v.last = 1'000'000;
  v.fit();
  CHECK(v.from == 0);
  CHECK(v.to == 1'000'000);
  const Nanoseconds fixed = v.at(250);
  v.zoom(4, 250);
  CHECK(std::abs(v.at(250) - fixed) <= 1);
  CHECK(v.length() == 250'000);
  for (int i = 0; i < 100; i++) v.zoom(3, 700);
  CHECK(v.length() == TimelineView::kShortest);
  for (int i = 0; i < 100; i++) v.pan(5000);
  CHECK(v.to <= 1'060'000);
  CHECK_FALSE(v.reveal(v.from + 10, v.from + 20));
  CHECK(v.reveal(5, 10));
  CHECK(v.from <= 5);
  CHECK(v.to >= 10);
  for (int i = 0; i < 100; i++) v.zoom(.3, 100);
  CHECK(v.length() >= 1'000'000);
  CHECK(axis_step(v, 90) == 100'000);
  CHECK(axis_text(300'000, 100'000) == "300 µs");
  CHECK(axis_text(1'500'000, 500'000) == "1.5 ms");
  CHECK(axis_text(0, 20) == "0 ns");
}

TEST_CASE("timeline: pinned lanes come first, collapsed ones keep one row of hops", "[timeline]") {
  const Opened o;
  TimelineChoices c;
  const TimelineLayout all = place_tracks(*o.t, c);
  const Track &main = o.t->tracks()[0], &stream = o.t->tracks()[4];
  c.pinned.insert(stream.key), c.collapsed.insert(main.key);
  const TimelineLayout l = place_tracks(*o.t, c);
  REQUIRE(l.tracks.size() == all.tracks.size());
  CHECK(l.tracks[0].track == 4);
  CHECK(l.tracks[0].pinned);
  size_t of_main = 0;
  for (const PlacedRow& r : l.rows) {
    if (r.track != 0) continue;
    of_main++;
    CHECK(r.row == main.first_hop_row);
  }
  CHECK(of_main == 1);
  CHECK(l.height < all.height);
  for (size_t i = 1; i < l.tracks.size(); i++) CHECK(l.tracks[i].y == l.tracks[i - 1].y + l.tracks[i - 1].h);
}

TEST_CASE("timeline: arrows from the hop over the launch to the kernel, and from forward to backward", "[timeline]") {
  const Opened o;
  const EventId addmm = find_op(*o.s, "addmm", key::kAutogradCuda);
  REQUIRE(addmm);
  const auto arrows = arrows_of(*o.s, *o.t, addmm);
  size_t call = 0, work = 0, backward = 0;
  for (const TimelineArrow& a : arrows) {
    call += a.kind == TimelineArrow::Kind::kCall, work += a.kind == TimelineArrow::Kind::kWork, backward += a.kind == TimelineArrow::Kind::kBackward;
    CHECK(a.strong);
    CHECK(a.from_time <= a.to_time);
    CHECK(o.t->tracks()[a.from.track].rows.size() > a.from.row);
  }
  CHECK(call == 1);
  CHECK(work == 1);
  CHECK(backward == 1);
  // The run of the node leads back to it.
  const EventId run = o.s->runs(o.s->event(addmm).node)[0].event;
  const auto back = arrows_of(*o.s, *o.t, run);
  REQUIRE_FALSE(back.empty());
  bool found = false;
  for (const TimelineArrow& a : back) found = found || (a.kind == TimelineArrow::Kind::kBackward && a.to_time == o.s->stretch(run).begin);
  CHECK(found);
  // From a kernel: its launch and its hop.
  const auto kernel = o.s->gpu()->works_of(addmm, o.s->last(addmm), 10).at(0);
  CHECK(arrows_of(*o.s, *o.t, TimelineItem{RowKind::kWork, kernel.index, kernel.stream}).size() == 2);
  const auto visible = arrows_in(*o.t, *o.s, o.rows(), o.view);
  CHECK(visible.size() >= 20);
  CHECK(item_sentence(*o.s, *o.t, TimelineItem{RowKind::kWork, kernel.index, kernel.stream}).size() > 4);
  const EventId layer = o.s->gpu()->work(kernel).event;
  CHECK(plain(item_sentence(*o.s, *o.t, TimelineItem{RowKind::kHop, layer.value})).starts_with("addmm launched sgemm_128x64 from its CUDA layer; it ran 28 µs, "));
  bool launch = false;
  for (const TimelineFact& f : item_facts(*o.s, *o.t, TimelineItem{RowKind::kHop, addmm.value})) launch = launch || (f.what == "launch" && f.text.starts_with("cudaLaunchKernel"));
  CHECK(launch);
  const std::string tip = item_tip(*o.s, *o.t, TimelineItem{RowKind::kWork, kernel.index, kernel.stream});
  for (const char* part : {"sgemm_128x64", "train_cuda.py:17", "24 × 1 × 1", "256 × 1 × 1", "40 a thread", "16 KiB dynamic", "cudaLaunchKernel"}) {
    INFO(tip);
    CHECK(tip.find(part) != std::string::npos);
  }
}

TEST_CASE("timeline: what a stream waited for", "[timeline]") {
  // One thread, one stream: four pieces of work with a gap of each kind before them.
  test::FakeSession s;
  const EventId mm = s.hop({}, s.op("aten::mm"), Kind::kCall, key::kCuda, bit::kTensor, 0, 0, 900'000);
  const EventId item = s.hop({}, s.op("aten::item"), Kind::kCall, key::kCuda, bit::kTensor, 0, 1'000'000, 5'000'000);
  s.at(mm).stack = s.frame("/p/t.py", 5);
  GpuBuilder b;
  const uint32_t shape = b.shape({.name = b.text("kern")});
  const auto launch = [&](uint32_t correlation, Nanoseconds at, EventId event, Nanoseconds begin, Nanoseconds end) {
    HostCall c;
    c.begin = at, c.end = at + 1000, c.correlation = correlation, c.event = event, c.name = b.text("cudaLaunchKernel");
    b.add_call(1, 100, c);
    b.add_work(1, 0, 0, 7, {.begin = begin, .end = end, .shape = shape, .correlation = correlation});
  };
  launch(1, 1000, mm, 10'000, 20'000);
  launch(2, 600'000, mm, 610'000, 620'000);        // late: mm was busy
  launch(3, 605'000, mm, 622'000, 640'000);        // queued: start-up
  b.add_sync(1, 9, SyncKind::kStreamWaitsEvent, {.begin = 711'200, .device = 0, .stream = 7}, 33);
  b.add_record(1, 8, 33, 20);
  launch(10, 710'000, mm, 720'000, 730'000);       // late again; then one that waited for stream 20
  launch(11, 712'000, mm, 800'000, 810'000);
  HostCall sync;
  sync.begin = 1'100'000, sync.end = 4'000'000, sync.correlation = 12, sync.event = item, sync.name = b.text("cudaStreamSynchronize");
  b.add_call(1, 100, sync);
  b.add_sync(1, 12, SyncKind::kStream, {.begin = 1'100'000}, 0);
  launch(13, 4'100'000, item, 4'110'000, 4'120'000);
  GpuOwners owners;
  owners.processes = {{1, 1}};
  owners.threads = {{{1, 100}, ThreadId(1)}};
  s.gpu_ = b.build(owners, true);
  const auto t = TimelineTracks::build(s, kNever);
  const auto at = [&](Nanoseconds when) { return gap_at(s, *t, 0, when); };
  using Reason = StreamGap::Reason;
  CHECK_FALSE(at(15'000));
  REQUIRE(at(5'000));
  CHECK(at(5'000)->reason == Reason::kNothingAsked);
  const auto late = at(300'000);
  REQUIRE(late);
  CHECK(late->reason == Reason::kLateLaunch);
  CHECK(late->begin == 20'000);
  CHECK(late->end == 610'000);
  CHECK(late->event == mm);
  CHECK(late->text == "Idle for 590 µs: the launch of kern came 581 µs late; meanwhile the CPU was in mm (t.py:5).");
  CHECK(at(621'000)->reason == Reason::kStartup);
  const auto other = at(750'000);
  REQUIRE(other);
  CHECK(other->reason == Reason::kOtherStream);
  CHECK(other->text.find("stream 20") != std::string::npos);
  const auto waited = at(2'000'000);
  REQUIRE(waited);
  CHECK(waited->reason == Reason::kSync);
  CHECK(waited->event == item);
  CHECK(waited->text == "Idle for 3.30 ms: the program waited for the GPU in cudaStreamSynchronize, called by item, so nothing was queued; the launch of kern came 100 µs after that.");
  const auto after = at(t->end());
  CHECK((!after || after->reason == Reason::kNothingAsked));
  CHECK_FALSE(gap_at(s, *t, 99, 5));
}

TEST_CASE("timeline: measuring a range equals counting by hand", "[timeline]") {
  for (uint32_t seed = 1; seed <= 6; seed++) {
    const auto s = random_session(seed, 60);
    const auto t = TimelineTracks::build(*s, kNever);
    std::mt19937 r(seed);
    for (int n = 0; n < 20; n++) {
      const Nanoseconds from = static_cast<Nanoseconds>(r()) % t->end(), to = std::min(t->end(), from + static_cast<Nanoseconds>(r()) % (t->end() / (1 + n) + 1));
      const RangeStats got = range_stats(*s, *t, to, from, kNever);  // the wrong way round: put right
      REQUIRE(got.whole);
      const auto clip = [&](Stretch x) { return std::max<Nanoseconds>(0, std::min(x.end, to) - std::max(x.begin, from)); };
      uint64_t hops = 0, calls = 0;
      std::map<std::string, Nanoseconds> own;
      std::map<uint32_t, Nanoseconds> busy;
      for (uint32_t i = 1; i <= s->size(); i++) {
        const Event e = s->event(EventId{i});
        if (e.end < from || e.begin > to) continue;
        hops++, calls += is_call(e.kind);
        Nanoseconds inside = 0;
        for (uint32_t c = 1; c <= s->size(); c++) if (s->event(EventId{c}).parent == e.id) inside += clip(s->stretch(EventId{c}));
        own[s->op(e.op).full] += clip({e.begin, e.end}) - inside;
        if (!e.depth) busy[e.thread.value] += clip({e.begin, e.end});
      }
      CHECK(got.hops == hops);
      CHECK(got.calls == calls);
      for (const auto& top : got.operators) CHECK(top.time == own[top.name]);
      REQUIRE(got.threads.size() == 3);
      for (size_t i = 0; i < 3; i++) CHECK(got.threads[i].busy == busy[t->tracks()[i].thread.value]);
    }
  }
}

TEST_CASE("timeline: measuring the whole of a GPU recording", "[timeline]") {
  const Opened o(3);
  const RangeStats r = range_stats(*o.s, *o.t, o.t->begin(), o.t->end(), kNever);
  CHECK(r.hops == o.s->size());
  CHECK(r.kernels == 33);
  CHECK(r.copies == 6);
  CHECK(r.copied == 3 * (786432 + 4));
  CHECK(r.cuda_calls == o.s->gpu()->calls().size());
  REQUIRE(r.streams.size() == 2);
  Nanoseconds seven = 0;
  for (const Work& w : o.s->gpu()->streams()[0].work) seven += w.end - w.begin;
  CHECK(r.streams[0].busy == seven);
  Nanoseconds any = 0, idle = 0;
  for (Nanoseconds t = o.t->begin(); t < o.t->end(); t += 100) {
    int at_work = 0;
    for (const auto& stream : o.s->gpu()->streams()) for (const Work& w : stream.work) at_work += w.begin <= t && t < w.end;
    any += at_work ? 100 : 0;
  }
  CHECK(std::abs(any - r.gpu_busy) < 100 * 100);
  CHECK(r.gpu_busy + r.gpu_overlap == r.streams[0].busy + r.streams[1].busy);
  for (const auto& i : r.idle) idle += i.time;
  CHECK(idle == 2 * (r.to - r.from) - r.streams[0].busy - r.streams[1].busy);
  CHECK_FALSE(r.idle_cut);
  REQUIRE_FALSE(r.kernel_names.empty());
  CHECK(r.kernel_names[0].name == "sgemm_128x64");
  CHECK(r.kernel_names[0].first);
  const std::atomic<bool> now{true};
  CHECK_FALSE(range_stats(*o.s, *o.t, 0, o.t->end(), now).whole);
  CHECK(TimelineTracks::build(*o.s, kNever)->begin() == o.t->begin());
}

TEST_CASE("timeline: words", "[timeline]") {
  CHECK(bytes_text(786432) == "768 KiB");
  CHECK(bytes_text(512) == "512 B");
  CHECK(bytes_text(int64_t{33} << 20) == "33.0 MiB");
  CHECK(rate_text(786432, 60000) == "13.1 GB/s");
  CHECK(rate_text(10, 0) == "");
}

TEST_CASE("timeline: memory counters are the highest within each stretch, whatever the zoom", "[timeline]") {
  const std::string path = test::test_folder() + "/memory.peel";
  const test::MemoryStory story(path, {});
  const auto loaded = load_memory(path);
  REQUIRE(loaded);
  const MemoryHistory& h = **loaded;
  auto opened = Session::open(path, true);
  REQUIRE(opened);
  auto t = TimelineTracks::build(**opened, kNever);
  t->set_memory(**opened, *loaded);
  t->set_memory(**opened, *loaded);  // newer ones take the place of older ones
  std::vector<std::string> lanes;
  for (const Track& track : t->tracks()) if (track.kind == Track::Kind::kMemory) lanes.push_back(track.name);
  CHECK(lanes.size() == h.devices.size());
  CHECK(std::count(lanes.begin(), lanes.end(), "memory cuda:0") == 1);
  TimelineView view;
  view.width = 301, view.first = t->begin(), view.last = t->end();
  std::mt19937 r(7);
  for (int round = 0; round < 20; round++) {
    if (round == 0) view.fit();
    else view.zoom(1 + static_cast<double>(r() % 30) / 10, static_cast<double>(r() % 300)), view.pan(static_cast<double>(r() % 200) - 100);
    for (const MemoryDevice& d : h.devices) {
      const std::vector<MemoryTotals> got = totals_over(h, d, view, kChartPixels);
      REQUIRE(got.size() == 151);
      for (size_t column = 0; column < got.size(); column++) {
        const Nanoseconds from = column ? view.at(static_cast<double>(column) * kChartPixels) : view.from, to = view.at(static_cast<double>(column + 1) * kChartPixels);
        MemoryTotals want;
        for (size_t i = 0; i < d.events.size(); i++) {
          const Nanoseconds at = h.events[d.events[i]].time, next = i + 1 < d.events.size() ? h.events[d.events[i + 1]].time : INT64_MAX;
          if (at > to || next <= from) continue;  // held nowhere in the stretch
          want.allocated = std::max(want.allocated, d.totals[i].allocated), want.active = std::max(want.active, d.totals[i].active), want.reserved = std::max(want.reserved, d.totals[i].reserved);
        }
        CHECK(got[column] == want);
      }
    }
  }
  const MemoryDevice& d = h.devices[h.devices[0].cpu ? 1 : 0];
  CHECK(memory_tip(h, d, t->end()).find("peak " + bytes_text(d.peak.allocated)) != std::string::npos);
  CHECK(memory_tip(h, d, 0).starts_with("0 B allocated"));
  CHECK(memory_hop(h, d, h.events[h.ooms[0]].time).value == story.failed_hop());
}
