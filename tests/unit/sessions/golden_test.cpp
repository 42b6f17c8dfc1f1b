// Recordings of a GPU machine (tests/golden/README.md), read back: the numbers follow from the programs, or were told by PyTorch there.
#include <sqlite3.h>

#include <filesystem>
#include <map>

#include "sessions/diff.h"
#include "sessions/gpu.h"
#include "sessions/memory_replay.h"
#include "sessions/session.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;

namespace {

std::string golden(const std::string& name) { return std::string(PEEL_GOLDEN) + "/gpu/" + name + ".peel"; }

std::unique_ptr<Session> opened(const std::string& name) {
  auto s = Session::open(golden(name), true);
  REQUIRE(s);
  CHECK((*s)->trouble() == "");
  return std::move(*s);
}

std::shared_ptr<const MemoryHistory> memory_of(const std::string& name) {
  auto h = load_memory(golden(name));
  REQUIRE(h);
  CHECK((*h)->trouble_text() == "");
  return *h;
}

uint16_t device(const MemoryHistory& h, const char* name) {
  for (size_t i = 0; i < h.devices.size(); ++i)
    if (h.devices[i].name == name) return static_cast<uint16_t>(i);
  FAIL("no device " << name);
  return 0;
}

}  // namespace

TEST_CASE("golden: every kernel and copy of a training step on a GPU has its call and its hop", "[golden]") {
  const auto s = opened("train_step");
  const auto gpu = s->gpu();
  REQUIRE(gpu);
  std::map<WorkKind, int> kinds;
  for (const Stream& stream : gpu->streams()) {
    for (const Work& w : stream.work) {
      ++kinds[gpu->shape(w).kind];
      CHECK(w.call != 0);
      CHECK(w.event);
      CHECK(w.end >= w.begin);
    }
  }
  // as PyTorch's profiler counted them
  CHECK(kinds == std::map<WorkKind, int>{{WorkKind::kKernel, 55}, {WorkKind::kCopy, 8}, {WorkKind::kSet, 3}});
  // a launch lies within its hop
  for (const HostCall& c : gpu->calls()) {
    if (!c.event) continue;
    CHECK(s->event(c.event).begin <= c.begin);
    CHECK(s->event(c.event).end >= c.end);
    CHECK(s->event(c.event).thread == c.thread);
  }
}

TEST_CASE("golden: nodes of a replayed graph lead to the hops that captured them", "[golden]") {
  const auto s = opened("graph");
  std::map<std::string, int> replayed;
  for (const Stream& stream : s->gpu()->streams())
    for (const Work& w : stream.work)
      if (w.in_graph) ++replayed[std::string(s->op(s->event(w.event).op).name)];
  CHECK(replayed == std::map<std::string, int>{{"aten::mm", 5}, {"aten::clamp_min", 5}, {"aten::add", 5}});  // relu(x @ w) + 1, replayed five times
}

TEST_CASE("golden: what an allocator held when it refused", "[golden]") {
  const auto h = memory_of("out_of_memory");
  REQUIRE(h->ooms.size() == 1);
  const MemoryState state = replay(*h, device(*h, "cuda:0"), h->ooms[0]);
  // 24 blocks of 8 MiB, two to a segment of 20 MiB, every other one freed
  CHECK(state.totals.allocated == 12 * 8 << 20);
  CHECK(state.totals.reserved == 12 * 20 << 20);
  CHECK(state.segments.size() == 12);
  int64_t largest = 0;
  for (const MemoryBlock& b : state.blocks)
    if (b.state == BlockState::kInactive) largest = std::max(largest, b.size);
  CHECK(largest == 12 << 20);
  CHECK(h->events[h->ooms[0]].size == 400 << 20);
}

TEST_CASE("golden: a block that another stream uses waits before it is free", "[golden]") {
  const auto h = memory_of("streams");
  const uint16_t cuda = device(*h, "cuda:0");
  size_t waited = 0;
  for (const Life& l : h->lives) {
    if (l.device != cuda || l.freed == kNoIndex || l.end == kNoIndex || l.end == l.freed + 1) continue;
    ++waited;
    CHECK(l.requested == 4 << 20);  // b = a @ a, 1024 x 1024
    const MemoryState between = replay(*h, cuda, l.end);
    CHECK(between.totals.active > between.totals.allocated);
  }
  CHECK(waited >= 1);
}

TEST_CASE("golden: compare tells of memory and kernels on a GPU, and of nothing between recordings that are alike", "[golden][diff]") {
  for (const char* name : {"train_step", "graph", "streams", "out_of_memory"}) {
    const auto a = opened(name), b = opened(name);
    INFO(name);
    CHECK(diff({a.get(), {}}, {b.get(), {}}).differ() == 0);
  }
  // The first iteration takes cuBLAS' workspaces (2 x 33 MiB), the second does not; only the loss is another.
  const auto s = opened("train_step");
  const Diff spans = diff({s.get(), *parse_scope(*s, "iteration:1")}, {s.get(), *parse_scope(*s, "iteration:2")});
  CHECK(spans.differ() == 1);
  CHECK(diff_reason(*s, *s, spans, spans.rows[spans.first()]).find("result 8.9") == 0);
  CHECK(spans.totals[0].launched == spans.totals[1].launched);
  CHECK(diff_held(spans) == "The left holds 33.0 MiB more at its end.");

  const std::string changed = test::test_folder() + "/changed.peel";
  std::filesystem::copy_file(golden("train_step"), changed);
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(changed.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, "INSERT INTO string(id, value) VALUES(99001, 'void at::native::sm80_gemm<float>(float*, float const*)');"
                           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 99001 WHERE event = 92 AND shortName = (SELECT id FROM string WHERE value = 'sgemm_largek_lds64');"
                           "UPDATE memory_event SET size = size + 4096 WHERE action = 0 AND event = 95; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE event = 112", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  auto other = Session::open(changed, true);
  REQUIRE(other);
  const Diff d = diff({s.get(), {}}, {other->get(), {}});
  std::vector<std::string> reasons;
  for (size_t i = d.first(); i != SIZE_MAX; i = d.next(i)) reasons.push_back(s->op(s->event(d.rows[i].left).op).brief + ": " + diff_reason(*s, **other, d, d.rows[i]));
  CHECK(reasons == std::vector<std::string>{"addmm: launches `sm80_gemm` where left launches `sgemm_largek_lds64`", "clamp_min: allocates 4.0 KiB more on cuda:0",
                                            "mean: launches nothing, left `reduce_kernel`"});
}
