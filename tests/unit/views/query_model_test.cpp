// Statistics per operator, key, kernel and line, and what the SQL console offers.
#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"
#include "views/query_model.h"

using namespace peel;
using namespace peel::views;
namespace bit = peel::test::bit;
namespace key = peel::test::key;

namespace {

const std::atomic<bool> kNever{false};

/// linear [0, 100) calls t [10, 20) and addmm [30, 90), which redispatches to CPU [40, 80); all twice, 1000 ns apart.
test::FakeSession two_linears() {
  test::FakeSession s;
  const OpId linear = s.op("aten::linear"), t = s.op("aten::t"), addmm = s.op("aten::addmm");
  const KernelId math = s.kernel(linear, key::kAutogradCpu, "math kernel"), cpu = s.kernel(addmm, key::kCpu, "kernel", "registered at x/RegisterCPU_0.cpp:3");
  const StackId line = s.frame("a/train.py", 17, "forward"), same_line = s.frame("a/train.py", 17, "forward", s.frame("a/train.py", 30));
  for (int i = 0; i < 2; i++) {
    const Nanoseconds at = i * 1000;
    const EventId l = s.hop({}, linear, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor, at, at + 100);
    s.at(l).kernel = math, s.at(l).stack = i ? same_line : line;
    s.hop(l, t, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor, at + 10, at + 20);
    const EventId a = s.hop(l, addmm, Kind::kCall, key::kAutogradCpu, bit::kTensor, bit::kTensor, at + 30, at + 90);
    s.add_node(a, "AddmmBackward0", static_cast<uint64_t>(i));
    const EventId c = s.hop(a, addmm, Kind::kRedispatch, key::kCpu, bit::kCpu, 0, at + 40, at + 80);
    s.at(c).kernel = cpu;
  }
  return s;
}

const StatRow& row(const Statistics& st, StatBy by, std::string_view name) {
  for (const StatRow& r : st.by[static_cast<int>(by)]) if (r.name == name) return r;
  FAIL("no row " << name);
  static const StatRow none;
  return none;
}

}  // namespace

TEST_CASE("statistics: per operator, redispatches are no calls of their own", "[views][query]") {
  const test::FakeSession s = two_linears();
  const Statistics st = make_statistics(s, kNever);
  CHECK(st.complete);
  CHECK(st.by[0].size() == 3);
  const StatRow& addmm = row(st, StatBy::kOperator, "aten::addmm");
  CHECK(addmm.count == 2);
  CHECK(addmm.total == 120);
  CHECK(addmm.own == 120);
  CHECK(addmm.nodes == 2);
  CHECK(addmm.filter == "op:aten::addmm");
  const StatRow& linear = row(st, StatBy::kOperator, "aten::linear");
  CHECK(linear.total == 200);
  CHECK(linear.own == 2 * (100 - 10 - 60));
  CHECK(linear.nodes == 0);
  CHECK(linear.first == EventId(1));
}

TEST_CASE("statistics: own times of all rows add up to the whole", "[views][query]") {
  const test::FakeSession s = two_linears();
  const Statistics st = make_statistics(s, kNever);
  for (StatBy by : {StatBy::kOperator, StatBy::kKey, StatBy::kLine}) {
    Nanoseconds sum = 0;
    for (const StatRow& r : st.by[static_cast<int>(by)]) sum += r.own;
    CHECK(sum == 200);
  }
}

TEST_CASE("statistics: per key, kernel and line", "[views][query]") {
  const test::FakeSession s = two_linears();
  const Statistics st = make_statistics(s, kNever);
  CHECK(row(st, StatBy::kKey, "CPU").own == 80);
  CHECK(row(st, StatBy::kKey, "AutogradCPU").count == 6);
  CHECK(row(st, StatBy::kKey, "AutogradCPU").own == 120);
  REQUIRE(st.by[2].size() == 2);
  CHECK(row(st, StatBy::kKernel, "addmm").note == "kernel, RegisterCPU_0");
  CHECK(row(st, StatBy::kKernel, "addmm").filter == "op:aten::addmm key:CPU");
  REQUIRE(st.by[3].size() == 1);  // two ways to one line
  CHECK(st.by[3][0].name == "train.py:17");
  CHECK(st.by[3][0].count == 8);
  CHECK(st.by[3][0].total == 200);
  CHECK(st.by[3][0].filter == "file:train.py line:17");
}

TEST_CASE("statistics: hops that never returned are counted, not timed", "[views][query]") {
  test::FakeSession s;
  const EventId e = s.hop({}, s.op("aten::mm"), Kind::kCall, key::kAutogradCpu, bit::kTensor, 0, 10, kOpen);
  s.hop(e, s.op("aten::mm"), Kind::kRedispatch, key::kCpu, bit::kCpu, 0, 20, 30);
  const StatRow r = make_statistics(s, kNever).by[0][0];
  CHECK(r.count == 1);
  CHECK(r.own == 10);
  const std::atomic<bool> now{true};
  CHECK_FALSE(make_statistics(s, now).complete);
}

TEST_CASE("statistics: sorting is total", "[views][query]") {
  const test::FakeSession s = two_linears();
  const auto rows = make_statistics(s, kNever).by[0];
  auto names = [&](StatColumn c, bool down) {
    std::string n;
    for (uint32_t i : sorted(rows, c, down)) n += rows[i].name.substr(6) + " ";
    return n;
  };
  CHECK(names(StatColumn::kTotal, true) == "linear addmm t ");
  CHECK(names(StatColumn::kOwn, true) == "addmm linear t ");
  CHECK(names(StatColumn::kCount, true) == "addmm linear t ");  // equal counts: by name
  CHECK(names(StatColumn::kName, true) == "t linear addmm ");
}

TEST_CASE("sql console: which column leads to a hop", "[views][query]") {
  QueryTable t;
  t.columns = {"id", "op"};
  CHECK(hop_column(t, "SELECT id, op\nFROM hop WHERE 1") == 0);
  CHECK(hop_column(t, "SELECT id, op FROM event, op") == 0);
  CHECK(hop_column(t, "SELECT id, name FROM op") == -1);
  t.columns = {"name", "event"};
  CHECK(hop_column(t, "SELECT name, event FROM autograd_node") == 1);
}

TEST_CASE("sql console: a result as text", "[views][query]") {
  QueryTable t;
  t.columns = {"op", "n"};
  t.rows = {{"a,\"b\"", "1"}, {"x|y", "NULL"}};
  t.is_null = {{false, false}, {false, true}};
  t.is_number = {{false, true}, {false, false}};
  t.milliseconds = 3.1;
  CHECK(table_text(t, CopyAs::kTabs) == "op\tn\na,\"b\"\t1\nx|y\tNULL\n");
  CHECK(table_text(t, CopyAs::kCsv) == "op,n\n\"a,\"\"b\"\"\",1\nx|y,\n");
  CHECK(table_text(t, CopyAs::kMarkdown) == "| op | n |\n| --- | ---: |\n| a,\"b\" | 1 |\n| x\\|y | NULL |\n");
  CHECK(table_summary(t) == "2 rows in 3.10 ms");
  t.cut = true;
  CHECK(table_summary(t).starts_with("the first 2 rows, there are more"));
}
