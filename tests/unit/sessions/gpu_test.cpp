// GPU activity of a file: joined, in order, with rows for what overlaps; and whatever else may stand in its tables.
#include "sessions/gpu.h"

#include <set>

#include "sessions/gpu_builder.h"
#include "tests/catch.h"
#include "tests/made_gpu.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

// Values of a kernel's row up to the names; the rest is as good as empty.
std::string kernel_row(const std::string& start, const std::string& end, const std::string& correlation, const std::string& event = "NULL", const std::string& stream = "7") {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, gridX, blockX, event) VALUES(" + start + "," +
         end + ",0,1," + stream + "," + correlation + ",0,NULL,NULL,4,128," + event + ");";
}
std::string call_row(const std::string& start, const std::string& end, const std::string& correlation, const std::string& event = "NULL") {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" + start + "," + end + ",0,0," + correlation + ",NULL,0,NULL," + event + ");";
}
void hops(MadeSession& m, int n) {
  const uint32_t op = m.op("aten::mm");
  for (int i = 0; i < n; i++) m.hop({.op = op, .key = "CUDA"});
}

}  // namespace

TEST_CASE("gpu: hop, launch and kernel are joined by correlation id", "[gpu]") {
  const std::string path = test_folder() + "/gpu.peel";
  const MadeGpu made(path, 4);
  auto opened = Session::open(path, true);
  REQUIRE(opened);
  const Session& s = **opened;
  CHECK(s.trouble() == "");
  const auto g = s.gpu();
  REQUIRE(g);
  CHECK(g->works() == made.kernels() + made.copies());
  REQUIRE(g->streams().size() == 2);
  CHECK(g->streams()[0].process == 1);
  uint32_t unlinked = 0, kernels = 0;
  for (uint32_t stream = 0; stream < 2; stream++) {
    Nanoseconds before = 0;
    for (uint32_t i = 0; i < g->streams()[stream].work.size(); i++) {
      const Work& w = g->work({stream, i});
      CHECK(w.begin >= before);
      before = w.begin;
      const HostCall* c = g->call_of(w);
      unlinked += !c || !w.event;
      if (!c) continue;
      CHECK(c->event == w.event);
      CHECK(c->begin < w.begin);
      CHECK(s.event(w.event).thread == c->thread);
      // The call lies in the hop that made it.
      CHECK(s.stretch(w.event).begin <= c->begin);
      CHECK(s.stretch(w.event).end >= c->end);
      const auto works = g->works_of(*c);
      CHECK(std::find(works.begin(), works.end(), WorkRef{stream, i}) != works.end());
      kernels += g->shape(w).kind == WorkKind::kKernel;
    }
  }
  CHECK(unlinked == 0);
  CHECK(kernels == made.kernels());
  std::set<std::string> names;
  for (const Work& w : g->streams()[0].work) names.insert(g->name(w));
  CHECK(names.contains("sgemm_128x64"));
  CHECK(names.contains("copy Device-to-Host"));
  uint32_t waiting = 0;
  for (const HostCall& c : g->calls()) waiting += c.sync == SyncKind::kStream;
  CHECK(waiting == 4);
  REQUIRE(g->waits().size() == 4);
  CHECK(g->waits()[0].stream == 7);
  CHECK(g->waits()[0].on == 20);
  // All work below the first hop of a step, and nothing else.
  CHECK(g->works_of(EventId{1}, s.last(EventId{1}), 100).size() == 1);
  CHECK(g->works_of(EventId{1}, EventId{s.size()}, 100000).size() == g->works());
  CHECK(g->works_of(EventId{1}, EventId{s.size()}, 3).size() == 3);
  CHECK(g->calls_of(EventId{1}, EventId{s.size()}, 100000).size() == g->calls().size());
}

TEST_CASE("gpu: a file without the tables, and one without rows in them", "[gpu]") {
  for (const bool drop : {false, true}) {
    MadeSession m;
    hops(m, 3);
    if (drop) {
      for (const char* t : {"KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE", "RUNTIME", "DRIVER", "SYNCHRONIZATION", "CUDA_EVENT"}) m.sql(std::string("DROP TABLE CUPTI_ACTIVITY_KIND_") + t);
      m.sql("DROP TABLE process");
    }
    const auto s = m.open();
    CHECK(s->trouble() == "");
    CHECK(s->size() == 3);
    CHECK(!s->gpu());
  }
}

TEST_CASE("gpu: rows that make no sense are put right or left out, and told", "[gpu][hostile]") {
  const auto opened = [](const std::string& sql, const char* trouble) {
    MadeSession m;
    hops(m, 3);
    m.sql(sql + kernel_row("50", "60", "9", "2"));
    auto s = m.open();
    INFO(sql);
    CHECK(s->trouble().find(trouble) != std::string::npos);
    REQUIRE(s->gpu());
    return s;
  };
  const auto works = [](const Session& s) { return s.gpu()->works(); };
  CHECK(works(*opened(kernel_row("100", "90", "1"), "end before they begin")) == 2);
  CHECK(works(*opened(kernel_row("-5", "90", "1"), "without a possible time")) == 1);
  CHECK(works(*opened(kernel_row("NULL", "90", "1"), "without a possible time")) == 1);
  CHECK(works(*opened(kernel_row("0", "0", "1"), "without a possible time")) == 1);
  CHECK(works(*opened(kernel_row("'soon'", "90", "1"), "without a possible time")) == 1);
  CHECK(works(*opened(kernel_row("9223372036854775807", "9223372036854775807", "1"), "without a possible time")) == 1);
  CHECK(works(*opened(call_row("100", "90", "1"), "end before they begin")) == 1);
  {
    // Hops that are not there, correlation ids of any size, streams of any number: no trouble, and nothing is joined.
    const auto s = opened(kernel_row("10", "20", "-7", "99") + kernel_row("10", "20", "99999999999", "-1", "-3") + kernel_row("11", "21", "0", "'x'", "88888888888") + call_row("1", "2", "0", "77"), "");
    CHECK(works(*s) == 4);
    for (const auto& stream : s->gpu()->streams()) for (const Work& w : stream.work) CHECK(w.event.value <= 3);
    for (const HostCall& c : s->gpu()->calls()) CHECK(c.works == 0);
  }
  {
    const auto s = opened("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY(start, end, streamId, bytes, copyKind, srcKind, dstKind) VALUES(1, 5, 7, -9, 250, 999, -1);"
                          "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, correlationId, syncType, eventId) VALUES(1, 5, 3, 77, -4), (1, 5, 3, 2, 1);",
                          "");
    const GpuActivity& g = *s->gpu();
    CHECK(g.works() == 2);
    for (const auto& stream : g.streams())
      for (const Work& w : stream.work) CHECK((g.shape(w).kind == WorkKind::kKernel || !g.name(w).empty()));
    CHECK(g.waits().size() == 1);
  }
}

TEST_CASE("gpu: a table that is something else is left out", "[gpu][hostile]") {
  for (const char* sql : {"DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS start FROM n",
                          "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN event TO evnt",
                          "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end AS (hex(zeroblob(100000000))), event)"}) {
    MadeSession m;
    hops(m, 2);
    m.sql(call_row("1", "2", "3", "1"));
    m.sql(sql);
    const auto s = m.open();
    INFO(sql);
    CHECK(s->trouble().find("CUPTI_ACTIVITY_KIND_KERNEL is not as Peel writes it") != std::string::npos);
    CHECK(s->size() == 2);
    REQUIRE(s->gpu());
    CHECK(s->gpu()->works() == 0);
    CHECK(s->gpu()->calls().size() == 1);
  }
}

TEST_CASE("gpu: overlapping work lies in different rows, equal shapes are stored once", "[gpu]") {
  GpuBuilder b;
  const uint32_t shape = b.shape({.name = b.text("k")});
  CHECK(b.shape({.name = b.text("k")}) == shape);
  for (const auto& [begin, end] : std::vector<std::pair<int, int>>{{0, 100}, {10, 50}, {20, 30}, {55, 70}, {100, 110}}) {
    Work w;
    w.begin = begin, w.end = end, w.shape = shape;
    b.add_work(1, 0, 0, 7, w);
  }
  for (int i = 0; i < 20; i++) b.add_work(1, 0, 0, 8, {.begin = 1, .end = 9, .shape = shape});
  const auto g = b.build({}, true);
  std::vector<int> rows;
  for (const Work& w : g->streams()[0].work) rows.push_back(w.row);
  CHECK(rows == std::vector<int>{0, 1, 2, 1, 0});
  CHECK(g->streams()[0].rows == 3);
  CHECK(g->streams()[1].rows == GpuActivity::kMaxRows);
}

TEST_CASE("gpu: a version that was handed out stays as it is when more rows come", "[gpu]") {
  GpuBuilder b;
  const uint32_t shape = b.shape({});
  HostCall launch;
  launch.begin = 1, launch.end = 2, launch.correlation = 5, launch.event = EventId{4};
  b.add_call(1, 1, launch);
  b.add_work(1, 0, 0, 7, {.begin = 3, .end = 4, .shape = shape, .correlation = 5});
  GpuOwners owners;
  owners.hops = 3;  // the hop is not there yet
  const auto first = b.build(owners, false);
  CHECK_FALSE(first->work({0, 0}).event);
  b.add_work(1, 0, 0, 7, {.begin = 1, .end = 2, .shape = shape});
  owners.hops = 10;
  const auto second = b.build(owners, true);
  CHECK(first->works() == 1);
  CHECK(second->works() == 2);
  CHECK(second->work({0, 1}).event == EventId{4});
  CHECK(second->call_of(second->work({0, 1}))->correlation == 5);
}
