// The laws of stepping, over random trees on several threads.
#include "views/stepping.h"

#include <random>

#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"

namespace {

using namespace peel;
using namespace peel::views;

void grow(test::FakeSession& s, std::mt19937& random, EventId parent, int depth, OpId op, int& left) {
  const int children = int(random() % 4);
  for (int i = 0; i < children && left > 0; i++) {
    left--;
    const EventId e = s.hop(parent, op, Kind::kCall, test::key::kCpu, test::bit::kTensor);
    if (depth < 6) grow(s, random, e, depth + 1, op, left);
  }
}

test::FakeSession forest(unsigned seed) {
  test::FakeSession s;
  std::mt19937 random(seed);
  s.threads_.push_back({ThreadId(2), 1, 101, "worker"});
  const OpId op = s.op("aten::add");
  int left = 60;
  while (left > 0) {
    left--;
    const EventId root = s.hop({}, op, Kind::kCall, test::key::kCpu, test::bit::kTensor);
    s.at(root).thread = ThreadId(uint32_t(1 + random() % 2));
    grow(s, random, root, 0, op, left);
  }
  return s;
}

constexpr Step kSteps[] = {Step::kInto, Step::kOver, Step::kOut, Step::kBackInto, Step::kBackOver, Step::kBackOut};

}  // namespace

TEST_CASE("a step and its twin return to the start", "[stepping]") {
  for (unsigned seed = 1; seed <= 25; seed++) {
    const test::FakeSession s = forest(seed);
    for (uint32_t i = 1; i <= s.size(); i++)
      for (Step step : kSteps) {
        Stepper stepper;
        const EventId to = stepper.step(s, step, EventId(i));
        if (!to) continue;
        INFO("seed " << seed << ", hop " << i << ", step " << int(step) << " to " << to.value);
        CHECK(to != EventId(i));
        CHECK(s.event(to).thread == s.event(EventId(i)).thread);
        CHECK(stepper.step(s, twin(step), to) == EventId(i));
      }
  }
}

TEST_CASE("any walk is undone by its twins in reverse", "[stepping]") {
  std::mt19937 random(7);
  for (unsigned seed = 1; seed <= 25; seed++) {
    const test::FakeSession s = forest(seed);
    EventId at(uint32_t(1 + random() % s.size()));
    const EventId start = at;
    Stepper stepper;
    std::vector<Step> walked;
    for (int i = 0; i < 40; i++) {
      // Without a step and its twin in a row: that would be a return already.
      const Step step = kSteps[random() % 6];
      if (!walked.empty() && step == twin(walked.back())) continue;
      if (const EventId to = stepper.step(s, step, at)) at = to, walked.push_back(step);
    }
    for (auto step = walked.rbegin(); step != walked.rend(); ++step) at = stepper.step(s, twin(*step), at);
    CHECK(at == start);
  }
}

TEST_CASE("over never goes deeper and skips nothing at its depth", "[stepping]") {
  for (unsigned seed = 1; seed <= 25; seed++) {
    const test::FakeSession s = forest(seed);
    for (uint32_t i = 1; i <= s.size(); i++) {
      const EventId from(i), to = Stepper().step(s, Step::kOver, from);
      if (!to) continue;
      CHECK(s.depth(to) <= s.depth(from));
      CHECK(to > s.last(from));
      for (EventId e = s.next_in_thread(from); e && e < to; e = s.next_in_thread(e)) CHECK(s.depth(e) > s.depth(from));
      const EventId back = Stepper().step(s, Step::kBackOver, from);
      if (back) CHECK(s.depth(back) <= s.depth(from));
    }
  }
}

TEST_CASE("out after into returns to the parent", "[stepping]") {
  for (unsigned seed = 1; seed <= 25; seed++) {
    const test::FakeSession s = forest(seed);
    for (uint32_t i = 1; i <= s.size(); i++) {
      if (!s.first_child(EventId(i))) continue;
      Stepper stepper;
      const EventId inside = stepper.step(s, Step::kInto, EventId(i));
      CHECK(s.parent(inside) == EventId(i));
      CHECK(stepper.step(s, Step::kOut, inside) == EventId(i));
    }
  }
}

TEST_CASE("into visits every hop of the thread once", "[stepping]") {
  const test::FakeSession s = forest(3);
  const ThreadId thread = s.event(EventId(1)).thread;
  uint32_t all = 0, visited = 1;
  for (uint32_t i = 1; i <= s.size(); i++) all += s.event(EventId(i)).thread == thread;
  Stepper stepper;
  for (EventId at = stepper.step(s, Step::kInto, EventId(1)); at; at = stepper.step(s, Step::kInto, at)) visited++;
  CHECK(visited == all);
}

TEST_CASE("a step that leads nowhere says so and remembers nothing", "[stepping]") {
  test::FakeSession s;
  const EventId only = s.hop({}, s.op("aten::add"), Kind::kCall, test::key::kCpu, test::bit::kTensor);
  Stepper stepper;
  for (Step step : kSteps) {
    CHECK_FALSE(stepper.step(s, step, only));
    CHECK(std::string(why_not(step)).size() > 20);
  }
  CHECK_FALSE(stepper.step(s, Step::kInto, EventId(99)));
  CHECK_FALSE(stepper.step(s, Step::kInto, EventId()));
}
