#include "views/program_model.h"

#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"

using namespace peel;
using namespace peel::views;

namespace {
// user_frame() of the fake is the frame itself: every frame is the user's.
EventId call(test::FakeSession& s, StackId stack) {
  const EventId e = s.hop({}, s.op("aten::add"), Kind::kCall, test::key::kCpu, test::bit::kTensor);
  s.at(e).stack = stack;
  return e;
}
}  // namespace

TEST_CASE("hops are counted for the line and the lines that called it", "[program]") {
  test::FakeSession s;
  const StackId outer = s.frame("/p/train.py", 20), inner = s.frame("/p/model.py", 5, "forward", outer);
  const EventId a = call(s, outer);
  s.hop(a, s.op("aten::add"), Kind::kRedispatch, test::key::kCpu, test::bit::kTensor);
  const EventId b = call(s, inner);
  LineCounts counts;
  counts.start(&s, EventId(1), {});
  CHECK(counts.advance(2));  // in slices
  CHECK_FALSE(counts.advance(100));
  CHECK(counts.hops("/p/train.py", 20) == 3);
  CHECK(counts.hops("/p/model.py", 5) == 1);
  CHECK(counts.hops("/p/model.py", 6) == 0);
  CHECK(counts.hops("/p/other.py", 5) == 0);
  CHECK(counts.first_hop("/p/model.py", 5) == b);
  CHECK(counts.files() == std::vector<std::string>{"/p/train.py", "/p/model.py"});
  // It follows a session that grows.
  call(s, inner);
  CHECK_FALSE(counts.advance(100));
  CHECK(counts.hops("/p/model.py", 5) == 2);
}

TEST_CASE("a recursive line counts a hop once", "[program]") {
  test::FakeSession s;
  StackId f = s.frame("/p/a.py", 3);
  for (int i = 0; i < 5; i++) f = s.frame("/p/a.py", 3, "again", f);
  call(s, f);
  LineCounts counts;
  counts.start(&s, EventId(1), {});
  counts.advance(10);
  CHECK(counts.hops("/p/a.py", 3) == 1);
}

TEST_CASE("output becomes lines, split at the selected hop", "[program]") {
  const auto lines = output_lines({{1, 1, "a", EventId(2)}, {2, 1, "b\n", EventId(5)}, {3, 2, "warning\n", EventId(5)}, {4, 1, "10%\r20%\rdone\nlast", EventId(9)}});
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].text == "ab");
  CHECK(lines[0].after == EventId(2));
  CHECK(lines[1].text == "warning");
  CHECK(lines[1].stream == 2);
  CHECK(lines[2].text == "done");
  CHECK(lines[3].text == "last");
  CHECK(printed_by(lines, EventId(1)) == 0);
  CHECK(printed_by(lines, EventId(2)) == 1);
  CHECK(printed_by(lines, EventId(8)) == 2);
  CHECK(printed_by(lines, EventId(9)) == 4);
}

TEST_CASE("source lines keep blank ones and know tabs and CRLF", "[program]") {
  CHECK(split_lines("a\r\n\n\tb") == std::vector<std::string>{"a", "", "    b"});
  CHECK(split_lines("").empty());
}
