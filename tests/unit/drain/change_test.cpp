// What a person changed while a thread stood: the hop's row says what really ran, table change what it would have been.
#include "sessions/why.h"
#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel;
using namespace peel::testing;

namespace {

struct Story {
  explicit Story(Recording& r) : process(*r), thread(process.thread("main")), add(process.op("aten::add", "Tensor", {"self"})), autograd(process.kernel(add, key::AutogradCPU, "autograd kernel")), cpu(process.kernel(add, key::CPU)) {
    process.table(add, {}, {kAutogradSet});  // its mask: the rest falls through
  }
  /// Its begin is in the file when the change comes, as where a thread stands; or is not.
  void change(Recording& r, bool committed, uint8_t what, const char* text) {
    thread.begin({.op = add, .kind = wire::HopKind::kCall, .key = key::AutogradCPU, .keyset = kAutogradSet, .arg_keyset = kCpuTensor, .kernel = autograd});
    if (what & wire::kChangedResults) thread.result(0, {.impl = 0x10, .storage = 0x11, .sizes = {2}});
    while (committed && r.one("SELECT count(*) FROM event") != "1") std::this_thread::sleep_for(std::chrono::milliseconds(5));
    wire::Changed c{};
    c.head = {wire::RecordKind::kChanged, sizeof c / 8, process.string(text)};
    c.keyset = kCpuSet, c.keyset_before = kAutogradSet;
    c.kernel = cpu, c.kernel_before = autograd;
    c.key = key::CPU, c.key_before = key::AutogradCPU;
    c.what = what;
    thread.change(c);
    if (what & wire::kChangedResults) thread.result(0, {.impl = 0x20, .storage = 0x21, .sizes = {3}});
    thread.end();
  }
  FakeProcess process;
  FakeThread thread;
  uint32_t add, autograd, cpu;
};

}  // namespace

TEST_CASE("a hop that was sent elsewhere by hand", "[drain][change]") {
  const bool committed = GENERATE(true, false);
  Recording r;
  {
    Story s(r);
    s.change(r, committed, wire::kChangedPath, "exclude AutogradCPU");
  }
  r.finish();
  CHECK(r.rows("SELECT h.key, h.keyset, k.rule, e.flags, e.end_ns IS NULL FROM hop h JOIN event e USING (id) JOIN kernel k ON k.id = e.kernel") ==
        Rows{"CPU|DispatchKeySet(CPU)|kernel|16|0"});
  CHECK(r.rows("SELECT c.event, c.text, c.kind, d.name, s.text, k.rule FROM change c JOIN dispatch_key d ON d.id = c.key JOIN keyset s ON s.id = c.keyset JOIN kernel k ON k.id = c.kernel") ==
        Rows{"1|exclude AutogradCPU|0|AutogradCPU|DispatchKeySet(CPU, AutogradCPU)|autograd kernel"});
  auto opened = Session::open(r.path, true);
  REQUIRE(opened);
  const Session& s = **opened;
  const auto changes = s.changes_of(EventId{1});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].moved);
  const Why w = why(s, EventId{1});
  CHECK(w.explained);
  CHECK(w.sentence.find("CPU ran: changed while it stood (exclude AutogradCPU); else AutogradCPU would have run.") == 0);
  CHECK(why_not(s, EventId{1}, key::AutogradCPU).verdict == Verdict::kExcluded);
  CHECK(why_not(s, EventId{1}, key::AutogradCPU).sentence.find("left out by hand while hop 1 stood") != std::string::npos);
}

TEST_CASE("results that were replaced by hand", "[drain][change]") {
  const bool committed = GENERATE(true, false);
  Recording r;
  {
    Story s(r);
    s.change(r, committed, wire::kChangedResults, "return zeros");
  }
  r.finish();
  CHECK(r.rows("SELECT r.position, s.value FROM result r JOIN tensor_meta m ON m.id = r.meta JOIN string s ON s.id = m.shape") == Rows{"0|[3]"});
  CHECK(r.rows("SELECT event, text, kind FROM change") == Rows{"1|return zeros|-"});
  CHECK(r.rows("SELECT key, flags FROM event").size() == 1);
  CHECK(r.rows("SELECT name FROM loss WHERE name IN ('duplicate rows', 'damaged records')").empty());
}

TEST_CASE("changes that make no sense are skipped", "[drain][change]") {
  Recording r;
  {
    FakeProcess p(*r);
    FakeThread t = p.thread();
    wire::Changed c{};
    c.head = {wire::RecordKind::kChanged, sizeof c / 8, 0};
    t.change(c);  // outside of any hop
    t.begin({.op = p.op("aten::mul", "")});
    c.kind = static_cast<wire::HopKind>(200);
    t.change(c);
    t.end();
  }
  r.finish();
  CHECK(r.rows("SELECT count(*) FROM change") == Rows{"0"});
  CHECK(r.rows("SELECT count FROM loss WHERE name = 'damaged records'") == Rows{"2"});
}
