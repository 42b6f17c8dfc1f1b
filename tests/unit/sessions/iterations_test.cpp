#include "sessions/iterations.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

/// One top-level call for each line of the user's outermost frame; 0 = a call without a line.
std::string rounds(const std::vector<int>& lines, bool inside_main = false) {
  MadeSession m;
  const uint32_t op = m.op("aten::relu");
  const uint32_t outer = inside_main ? m.frame("/home/me/train.py", 99) : 0;
  for (const int line : lines) {
    uint32_t stack = line ? m.frame("/home/me/train.py", line, inside_main ? "main" : "<module>", outer) : 0;
    if (line) stack = m.frame("/venv/lib/python3.11/site-packages/torch/x.py", 1, "f", stack);
    m.hop({.op = op, .key = "CPU", .keyset = 0x10001, .stack = stack});
  }
  const auto s = m.open();
  std::string out;
  for (const Iteration& i : iterations(*s, main_thread(*s))) {
    out += (out.empty() ? "" : " ") + i.name + ":" + std::to_string(i.first.value) + "-" + std::to_string(i.last.value);
  }
  return out;
}

}  // namespace

TEST_CASE("rounds of a loop are found from lines", "[sessions][iterations]") {
  CHECK(rounds({}) == "");
  CHECK(rounds({1, 2, 3, 4}) == "");
  CHECK(rounds({5, 5, 5}) == "");
  CHECK(rounds({1, 2, 10, 11, 12, 10, 11, 12, 10, 11, 12, 20}) ==
        "set-up:1-2 iteration 1:3-5 iteration 2:6-8 iteration 3:9-11 afterwards:12-12");
  // Several calls on a line, calls without a line.
  CHECK(rounds({10, 10, 0, 11, 10, 11, 0}) == "iteration 1:1-4 iteration 2:5-7");
  // An expression over several lines goes back a line inside every round.
  CHECK(rounds({11, 10, 12, 11, 10, 12, 11, 10, 12}) == "iteration 1:1-3 iteration 2:4-6 iteration 3:7-9");
  // The second round takes another branch at its beginning (line 10 could as well stand before the loop).
  CHECK(rounds({1, 10, 12, 14, 11, 12, 14}) == "set-up:1-2 iteration 1:3-4 iteration 2:5-7");
}

TEST_CASE("a loop in main() is found one frame further in", "[sessions][iterations]") {
  CHECK(rounds({5, 6, 7, 5, 6, 7}, true) == "iteration 1:1-3 iteration 2:4-6");
}

TEST_CASE("what a session opens with", "[sessions][iterations]") {
  const auto pick = [](const std::vector<int>& lines, const std::string& more = "") {
    MadeSession m;
    const uint32_t op = m.op("aten::relu");
    for (const int line : lines) {
      const uint32_t id = m.hop({.op = op, .key = "AutogradCPU", .keyset = 0x1000010001, .stack = line ? m.frame("/home/me/train.py", line) : 0});
      m.hop({.parent = id, .op = op, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001});
    }
    if (!more.empty()) m.sql(more);
    const auto s = m.open();
    return default_selection(*s).value;
  };
  CHECK(pick({}) == 0);
  CHECK(pick({3}) == 2);                       // never hop 1, unless it is alone
  CHECK(pick({0, 3, 4}) == 3);                 // the first call of the user's own
  CHECK(pick({3, 4, 5}) == 3);
  CHECK(pick({1, 10, 11, 10, 11}) == 7);       // second iteration
  CHECK(pick({1, 10, 11, 10, 11}, "INSERT INTO error VALUES(3,'RuntimeError','x'),(4,'RuntimeError','x')") == 4);  // where it was raised
}
