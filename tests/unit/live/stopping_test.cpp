// Stops, steps and questions between two sides, over random trees of hops.
#include <random>

#include "tests/unit/live/fake_engine.h"

using namespace peel;
using namespace peel::test;
using wire::Order;

namespace {

struct Flat { uint32_t depth, parent, last; };  // last: of the subtree

std::vector<EngineHop> random_trees(unsigned seed, std::vector<Flat>* flat) {
  std::mt19937 random(seed);
  flat->assign(1, {});
  std::function<EngineHop(uint32_t, uint32_t)> grow = [&](uint32_t depth, uint32_t parent) {
    EngineHop n;
    n.id = static_cast<uint32_t>(flat->size());
    flat->push_back({depth, parent, n.id});
    const unsigned children = depth < 5 ? random() % 4 : 0;
    for (unsigned i = 0; i < children && flat->size() < 60; ++i) n.inside.push_back(grow(depth + 1, n.id));
    (*flat)[n.id].last = static_cast<uint32_t>(flat->size()) - 1;
    return n;
  };
  std::vector<EngineHop> all;
  while (flat->size() < 60) all.push_back(grow(0, 0));
  return all;
}

std::vector<EngineHop> row(int n, const std::string& op = "aten::add", uint32_t first = 1) {
  std::vector<EngineHop> all;
  for (int i = 0; i < n; ++i) all.push_back({first + static_cast<uint32_t>(i), op, {}});
  return all;
}

Breakpoint parsed(const char* text) {
  Result<Breakpoint> b = Breakpoint::parse(text);
  INFO((b ? "" : b.error()));
  REQUIRE(b);
  return *b;
}

}  // namespace

TEST_CASE("steps of a running program obey the laws of steps over recorded hops", "[live]") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    std::vector<Flat> flat;
    std::vector<EngineHop> trees = random_trees(seed, &flat);
    std::mt19937 random(seed * 31);
    FakeEngine e;
    e.live.pause();
    e.run(trees);
    FakeEngine::Where at = e.next_stop();
    REQUIRE(at.id == 1);
    for (int steps = 0; at.id && steps < 200; ++steps) {
      const Flat here = flat[at.id];
      const Order order = here.depth ? std::array{Order::kInto, Order::kOver, Order::kOut}[random() % 3] : std::array{Order::kInto, Order::kOver}[random() % 2];
      // By the tree alone: where the step has to lead.
      uint32_t to = 0;
      const uint32_t behind = at.after ? here.last + 1 : at.id + 1;
      if (order == Order::kInto) to = behind < flat.size() ? behind : 0;
      if (order == Order::kOut) to = here.parent;
      if (order == Order::kOver)
        for (uint32_t i = here.last + 1; i < flat.size() && !to; ++i) if (flat[i].depth <= here.depth) to = i;
      INFO("seed " << seed << " hop " << at.id << (at.after ? " after" : " before") << " order " << int(order));
      REQUIRE(e.live.step(order));
      const FakeEngine::Where next = e.next_stop();
      CHECK(next.id == to);
      if (next.id) CHECK(next.after == (order == Order::kOut));
      if (order == Order::kOver && next.id) CHECK(flat[next.id].depth <= here.depth);
      at = next;
    }
  }
}

TEST_CASE("out after into returns to the parent, live", "[live]") {
  FakeEngine e;
  e.live.pause();
  e.run({{1, "aten::linear", {{2, "aten::addmm", {{3, "aten::addmm", {}}}}}}, {4, "aten::add", {}}});
  REQUIRE(e.next_stop().id == 1);
  e.live.step(Order::kInto);
  REQUIRE(e.next_stop().id == 2);
  e.live.step(Order::kOut);
  const auto at = e.next_stop();
  CHECK(at.id == 1);
  CHECK(at.after);
  e.live.step(Order::kOver);
  CHECK(e.next_stop().id == 4);
}

TEST_CASE("breakpoints stop before the kernel and count their hits", "[live]") {
  FakeEngine e;
  const auto id = e.live.add(parsed("mm"));
  REQUIRE(id);
  const auto tenth = e.live.add(parsed("add hit:10"));
  REQUIRE(tenth);
  std::vector<EngineHop> hops = row(12);
  hops.insert(hops.begin() + 3, EngineHop{100, "aten::mm", {}});
  e.run(hops);
  CHECK(e.next_stop().id == 100);
  REQUIRE(e.live.stop());
  CHECK(e.live.stop()->breakpoints == std::vector{*id});
  REQUIRE(e.live.go());
  CHECK(e.next_stop().id == 10);
  CHECK(e.live.breakpoints()[1].hits == 10);
  CHECK(e.live.enable(*tenth, false));
  REQUIRE(e.live.go());
  CHECK(e.next_stop().id == 0);
  CHECK_FALSE(e.live.go());
  CHECK_FALSE(e.live.stop());
}

TEST_CASE("a breakpoint that stops once is gone afterwards", "[live]") {
  FakeEngine e;
  REQUIRE(e.live.add(parsed("add"), true));
  e.run(row(5));
  CHECK(e.next_stop().id == 1);
  e.live.go();
  CHECK(e.next_stop().id == 0);
  CHECK(e.live.breakpoints().empty());
}

TEST_CASE("breakpoints and their hits outlive a run; those that stop once do not", "[live]") {
  LiveControl live;
  REQUIRE(live.add(parsed("mm"), true));
  REQUIRE(live.add(parsed("add")));
  for (int run = 1; run <= 2; ++run) {
    FakeEngine e(&live);
    e.run({{1, "aten::mm", {}}, {2, "aten::add", {}}});
    if (run == 1) {
      CHECK(e.next_stop().id == 1);
      live.go();
    }
    CHECK(e.next_stop().id == 2);
    live.go();
    CHECK(e.next_stop().id == 0);
  }
  REQUIRE(live.breakpoints().size() == 1);
  CHECK(live.breakpoints()[0].hits == 2);
}

TEST_CASE("one thread has the focus, the others stand along and go on with it", "[live]") {
  FakeEngine e;
  REQUIRE(e.live.add(parsed("mm")));
  std::vector<EngineHop> worker = row(50, "aten::mul", 200);
  worker.insert(worker.begin() + 20, EngineHop{500, "aten::mm", {}});
  e.run(row(100000));
  e.run(worker);
  const auto at = e.next_stop();
  CHECK(at.id == 500);
  CHECK(at.ring == 1);
  // The main thread stands along at its next hop, wherever that is.
  for (int i = 0; i < 20000 && e.running == 2 && e.memory.control->stand[0].stop.load() == 0; ++i) std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (e.running == 2) {
    CHECK(e.memory.control->stand[0].reason == wire::Reason::kAlong);
    const int seen = e.hops;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(e.hops == seen);
  }
  e.live.go();
  CHECK(e.next_stop().id == 0);
  CHECK(e.hops == 100051);
}

TEST_CASE("two threads that stop at once are told one after the other", "[live]") {
  FakeEngine e;
  REQUIRE(e.live.add(parsed("mm")));
  e.run({{1, "aten::mm", {}}});
  e.run({{2, "aten::mm", {}}});
  const uint32_t first = e.next_stop().id;
  CHECK((first == 1 || first == 2));
  e.live.go();
  CHECK(e.next_stop().id == 3 - first);
  e.live.go();
  CHECK(e.next_stop().id == 0);
}

TEST_CASE("a program whose peel is gone, or that is interrupted, goes on by itself", "[live]") {
  FakeEngine e;
  REQUIRE(e.live.add(parsed("mm")));
  e.run({{1, "aten::mm", {}}, {2, "aten::add", {}}});
  REQUIRE(e.next_stop().id == 1);
  SECTION("gone") { e.gone = true; }
  SECTION("interrupted") { e.interrupted = true; }
  SECTION("recording ended") { e.memory.control->recording.store(0); }
  CHECK(e.next_stop().id == 0);
  CHECK(e.hops == 2);
  const auto asked = e.live.ask(wire::Ask::kLocals);
  REQUIRE_FALSE(asked);
  CHECK(asked.error().find("stand") != std::string::npos);
}

TEST_CASE("questions: answered, cut, refused when nothing stands, not waited for without end", "[live]") {
  FakeEngine e;
  std::atomic<bool> hang = false;
  e.answer = [&](const wire::Question& q, wire::AnswerRows& rows) {
    while (hang && !e.gone) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (q.ask == wire::Ask::kState) rows.row({"a\tb", "c\nd\\e", std::string(q.text, q.bytes)});
    if (q.ask == wire::Ask::kLocals) for (int i = 0; i < 5000; ++i) rows.row({"name", "type", std::string(100, 'x')});
  };
  REQUIRE_FALSE(e.live.ask(wire::Ask::kState));
  e.live.pause();
  e.run(row(2));
  REQUIRE(e.next_stop().id == 1);
  const auto a = e.live.ask(wire::Ask::kState, "text");
  REQUIRE(a);
  CHECK(a->rows == std::vector<std::vector<std::string>>{{"a\tb", "c\nd\\e", "text"}});
  const auto many = e.live.ask(wire::Ask::kLocals);
  REQUIRE(many);
  CHECK(many->cut);
  CHECK(many->rows.size() == wire::kAnswerBytes / 112);  // name, type, 100 times x, three tabs, a newline
  hang = true;
  const auto none = e.live.ask(wire::Ask::kState, "", 50);
  REQUIRE_FALSE(none);
  CHECK(none.error().find("does not answer") != std::string::npos);
  CHECK_FALSE(e.live.ask(wire::Ask::kState, "", 50));  // the first one is still open
  hang = false;
  CHECK(e.live.ask(wire::Ask::kState));
}
