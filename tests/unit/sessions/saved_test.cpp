// Saved variables and notes as a session gives them: from files made with plain SQL, files of the version before, and after reopening.
#include "sessions/saved.h"

#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

/// b = a.exp() saves b; b.add_(1); then ExpBackward0 runs and raises.
struct Written {
  MadeSession m;
  Written() {
    const uint32_t exp = m.op("aten::exp", "", {{"self", 2}}), add = m.op("aten::add_", "Tensor", {{"self", 3}});
    m.hop({.op = exp, .key = "AutogradCPU"});                                       // 1
    m.hop({.parent = 1, .op = exp, .kind = Kind::kRedispatch, .key = "CPU"});       // 2
    m.hop({.op = add, .key = "AutogradCPU"});                                       // 3
    m.hop({.op = add, .key = "AutogradCPU"});                                       // 4
    m.hop({.kind = Kind::kBackwardNode, .flags = kRaised});                         // 5
    m.hop({.op = add, .key = "AutogradCPU"});                                       // 6
    m.node(1, "ExpBackward0", 3);
    const std::string name = std::to_string(m.string("_saved_result"));
    m.sql("INSERT INTO tensor VALUES(1, NULL, NULL, 5, NULL, 1), (2, 2, NULL, 6, NULL, 2);"
          "INSERT INTO saved VALUES(1, " + name + ", -1, 2, NULL, 1, 64, 1);"
          "INSERT INTO \"write\" VALUES(2, 2, 6, 0, 1), (3, 2, 6, 1, 2), (4, 2, 6, 2, 3), (6, 2, 6, 3, 4), (4, 1, 5, 0, 1);"
          "INSERT INTO node_run VALUES(1, 1, 5, 0, NULL);");
  }
};

}  // namespace

TEST_CASE("a session tells what a node saved and by what a tensor was saved", "[saved]") {
  Written w;
  const auto s = w.m.open();
  CHECK(s->has_saved());
  const auto saved = s->saved_of(NodeId(1));
  REQUIRE(saved.size() == 1);
  CHECK(saved[0].name == "_saved_result");
  CHECK(saved[0].tensor == TensorId(2));
  CHECK(saved[0].version == 1);
  CHECK(saved[0].bytes == 64);
  CHECK(saved_name(saved[0]) == "_saved_result");
  CHECK(saved_note(saved[0]) == "an output");
  CHECK(s->saved_by(TensorId(2)).size() == 1);
  CHECK(s->saved_by(TensorId(1)).empty());
  CHECK(s->saved_of(NodeId(2)).empty());
}

TEST_CASE("writes of the saving hop itself, of other counters and after the run don't count", "[saved]") {
  Written w;
  const auto s = w.m.open();
  auto changed = changed_since_saved(*s, NodeId(1), EventId(5));
  REQUIRE(changed.size() == 1);
  CHECK(changed[0].write.event == EventId(3));
  CHECK(changed[0].version == 3);
  CHECK(changed[0].made == EventId(1));
  CHECK(changed_since_saved(*s, NodeId(1), EventId(3)).empty());
  CHECK(changed_since_saved(*s, NodeId(1), {})[0].version == 4);
  CHECK(saved_lines(*s, {NodeId(1)}, EventId(1)) == "  ExpBackward0 saves _saved_result t2, version 1, an output\n");
  CHECK(saved_lines(*s, {}, EventId(5)) == "  _saved_result t2 was saved at version 1 (hop 1); hop 3 aten::add_.Tensor wrote it: version 3\n");
}

TEST_CASE("a file of the version before, whose table saved is empty and narrow, opens as one that tells nothing", "[saved]") {
  Written w;
  w.m.sql("DROP VIEW saved_tensor; DROP TABLE saved; CREATE TABLE saved (node INTEGER, name INTEGER, tensor INTEGER, version INTEGER)");
  const auto s = w.m.open();
  CHECK_FALSE(s->has_saved());
  CHECK(s->saved_of(NodeId(1)).empty());
  CHECK(s->trouble() == "");
}

TEST_CASE("absurd rows of saved are left out or harmless", "[saved]") {
  Written w;
  w.m.sql("INSERT INTO saved VALUES(-1, -5, 'x', 999999999999, 'y', -7, -9, 77), (1, 99999, NULL, NULL, NULL, NULL, NULL, NULL), (4000000000, 1, 0, 2, 1, 1, 1, 1)");
  const auto s = w.m.open();
  CHECK(s->saved_of(NodeId(1)).size() == 2);
  CHECK(s->saved_of(NodeId(1))[1].name == "");
  CHECK(s->saved_by(TensorId(2)).size() >= 1);
  CHECK(changed_since_saved(*s, NodeId(1), {}).size() == 1);
}

TEST_CASE("notes that are written while the loader ends are all kept", "[notes]") {
  Written w;
  for (int round = 0; round < 150; round++) {
    {
      const auto s = w.m.open();
      for (const uint32_t e : {1u, 2u, 3u}) REQUIRE(s->set_note(EventId(e), std::to_string(round)));
    }
    auto again = Session::open(w.m.path(), true);
    REQUIRE(again);
    const auto notes = (*again)->notes();
    REQUIRE(notes.size() == 3);
    for (const Note& n : notes) REQUIRE(n.text == std::to_string(round));
  }
}

TEST_CASE("a note is kept in the file, replaced and taken away", "[notes]") {
  Written w;
  {
    const auto s = w.m.open();
    CHECK(s->notes().empty());
    REQUIRE(s->set_note(EventId(3), "first"));
    REQUIRE(s->set_note(EventId(3), "here it is written\nsecond line"));
    REQUIRE(s->set_note(EventId(1), "한글 'quoted'"));
    CHECK(s->notes().size() == 2);
    CHECK_FALSE(s->set_note(EventId(99), "nowhere"));
  }
  auto again = Session::open(w.m.path(), true);
  REQUIRE(again);
  REQUIRE((*again)->notes().size() == 2);
  CHECK((*again)->notes()[0].text == "한글 'quoted'");
  CHECK((*again)->notes()[1].text == "here it is written\nsecond line");
  REQUIRE((*again)->set_note(EventId(1), ""));
  CHECK((*again)->notes().size() == 1);
  auto third = Session::open(w.m.path(), true);
  REQUIRE(third);
  REQUIRE((*third)->notes().size() == 1);
  CHECK((*third)->notes()[0].event == EventId(3));
}
