#include "views/compare_model.h"

#include "tests/catch.h"
#include "tests/unit/views/modes_session.h"

using namespace peel;
using namespace peel::test;
using namespace peel::views;

namespace {

CompareModel model_of(const Session& s) {
  CompareModel m;
  CompareChoice choice = choose_sides(&s, {});
  REQUIRE(choice.ready());
  Diff d = diff(choice.side[0], choice.side[1]);
  const std::string headline = diff_headline(choice.side[0], choice.side[1], d);
  m.set(std::move(choice), std::move(d), headline);
  return m;
}

std::string names(CompareModel& m) {
  std::string out;
  for (size_t i = 0; i < m.rows(); ++i) out += (out.empty() ? "" : " ") + std::string(static_cast<size_t>(m.row(i).depth), '.') + m.row(i).name;
  return out;
}

}  // namespace

TEST_CASE("compare: what ran under two modes explains itself", "[views][compare]") {
  const auto s = modes_session();
  CompareModel m = model_of(*s);
  CHECK(m.choice().name[0] == "no_grad");
  CHECK(m.choice().name[1] == "inference_mode");
  CHECK(plain(m.headline()) == "3 of 4 calls differ: inference_mode excludes AutogradCPU; no_grad runs it and makes no node.");
  CHECK(m.headline()[1].strong);
  CHECK(m.facts(0).starts_with("0 nodes, "));
  CHECK(m.columns() == std::vector<theme::Family>{theme::kAutograd, theme::kView, theme::kBackend});
  CHECK(names(m) == "view ones exp linear .mm");
  const CompareRow view = m.row(0);
  CHECK(view.state == DiffState::kChanged);
  CHECK(view.line == ":5");
  CHECK(view.half[0].cells[0].mark == theme::Mark::kRan);
  CHECK(view.half[0].cells[0].differs);
  CHECK(view.half[1].cells[0].mark == theme::Mark::kExcluded);
  CHECK(view.half[1].cells[0].differs);
  CHECK_FALSE(view.half[1].cells[2].differs);
  CHECK(view.half[0].hops == 3);
  CHECK(view.half[1].hops == 2);
  CHECK(view.what == "AutogradCPU excluded by inference_mode");
  CHECK_FALSE(view.repeats);
  CHECK(m.row(1).state == DiffState::kSame);
  CHECK(m.row(1).what == "no difference");
  CHECK(m.row(2).repeats);
  CHECK(m.row(3).half[0].composite);
  CHECK(m.row(3).what == "composite kernel reached at CPU instead");
  CHECK(m.summary() == "1 of 4 calls the same; 9 and 6 hops");
  CHECK(m.row(3).half[0].cells[0].mark == theme::Mark::kComposite);
}

TEST_CASE("compare: rows open and close, and differences are found in what is closed", "[views][compare]") {
  const auto s = modes_session();
  CompareModel m = model_of(*s);
  CHECK(m.differences() == 4);
  CHECK_FALSE(m.set_expanded(0, true));
  CHECK(m.set_expanded(3, false));
  CHECK(names(m) == "view ones exp linear");
  CHECK_FALSE(m.set_expanded(3, false));
  const size_t mm = m.diff().next(3);
  CHECK(m.difference_number(mm) == 4);
  const size_t at = m.reveal(mm);
  CHECK(m.row(at).name == "mm");
  CHECK(m.parent(at) == 3);
  CHECK(m.parent(0) == SIZE_MAX);
  // A hop anywhere in a call leads to its row.
  const EventId redispatch{m.diff().rows[0].left.value + 1};
  CHECK(m.find(0, redispatch) == 0);
  CHECK(m.find(0, m.diff().rows[mm].left) == mm);
  CHECK(m.find(1, m.diff().rows[mm].right) == mm);
  CHECK(m.find(0, EventId{1}) == SIZE_MAX);
}

TEST_CASE("compare: calls in a row that are the same are one row", "[views][compare]") {
  FakeSession a, b;
  for (FakeSession* s : {&a, &b})
    for (int i = 0; i < 5; ++i) s->at(s->hop({}, s->op(i < 3 ? "aten::add" : "aten::mul"), Kind::kCall, key::kCpu, bit::kCpu | bit::kDense, bit::kInferenceTensor)).stack = s->frame("p.py", i < 3 ? 1 : 2);
  b.at(b.hop({}, b.op("aten::exp"), Kind::kCall, key::kCpu, bit::kCpu | bit::kDense)).stack = b.frame("p.py", 3);
  CompareSets sets;
  sets.other = &b;
  CompareModel m;
  CompareChoice choice = choose_sides(&a, sets);
  REQUIRE(choice.ready());
  Diff d = diff(choice.side[0], choice.side[1]);
  const std::string headline = diff_headline(choice.side[0], choice.side[1], d);
  m.set(std::move(choice), std::move(d), headline);
  CHECK(names(m) == "5 calls exp");
  CHECK(m.row(0).half[0].hops == 5);
  CHECK(m.row(1).half[0].call == EventId());
  CHECK(m.row(1).what == "only in fake.peel");
  CHECK(m.set_expanded(0, true));
  CHECK(names(m) == "5 calls add add add mul mul exp");
  CHECK(choose_sides(&a, {}).ready() == false);
}
