// A file is hostile until proven otherwise: whatever is in it, opening ends with a session or one sentence,
// and every question to such a session has an answer.
#include <fstream>
#include <iterator>
#include <random>

#include "sessions/filter.h"
#include "sessions/iterations.h"
#include "sessions/show.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

namespace {

std::string slurp(const std::string& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}
void spit(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string error_of(const std::string& path) {
  const auto s = Session::open(path, true);
  return s ? "opened" : s.error();
}

/// Asks everything once; what counts is that it comes back.
void exercise(const Session& s) {
  const uint32_t size = s.size();
  for (uint32_t i = 0; i <= std::min(size + 1, 300u); ++i) {
    const EventId e{i};
    (void)s.event(e), (void)s.children(e), (void)s.next_sibling(e), (void)s.previous_sibling(e), (void)s.nodes_inside(e), (void)s.nodes_of(e);
    (void)s.arguments(e), (void)s.results(e), (void)s.raised_in(e), (void)s.run_of(e), (void)s.writes_of(e);
    (void)why_text(s, why(s, e), false);
  }
  for (uint32_t n = 0; n <= std::min(s.nodes() + 1, 300u); ++n) (void)s.node(NodeId{n}), (void)s.edges(NodeId{n}), (void)s.users(NodeId{n}), (void)s.runs(NodeId{n});
  for (uint32_t t = 0; t < 20; ++t) (void)s.tensor(TensorId{t}), (void)s.writes(TensorId{t}), (void)s.uses(TensorId{t}, 10);
  for (uint32_t k = 0; k < 20; ++k) (void)s.frame(StackId{k}), (void)s.user_frame(StackId{k});
  for (const Thread& t : s.threads()) (void)s.roots(t.id), (void)iterations(s, t.id);
  (void)default_selection(s), (void)check_key_sets(s), (void)s.spans(), (void)s.all_meta(), (void)s.output(), (void)s.losses(), (void)s.bookmarks();
  uint64_t lines = 0;
  show(s, {.max_rows = 300}, true, [&](std::string_view) { ++lines; });
  show(s, {.max_rows = 300}, false, [&](std::string_view) { ++lines; });
  (void)(*Filter::parse("add* -key:CPU node: error: line:3")).matches(s);
}

void ordinary(MadeSession& m) {
  const uint32_t add = m.op("aten::add", "Tensor", {{"self", 2}, {"other", 2}});
  const uint32_t stack = m.frame("/home/me/train.py", 12, "f", m.frame("/home/me/train.py", 3));
  const uint32_t kernel = m.kernel(add, "CPU", "kernel");
  m.slot(add, "CPU", kernel);
  m.mask(add, kAddMask);
  for (uint32_t i = 0; i < 40; ++i) {
    const uint32_t call = m.hop({.op = add, .key = "AutogradCPU", .keyset = 0x1000010001, .arg_keyset = kCpuTensor, .stack = stack});
    m.hop({.parent = call, .op = add, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001, .stack = stack, .kernel = kernel});
    m.argument(call, 0, 7, kCpuTensor, "", "requires_grad");
    const uint32_t node = m.node(call, "AddBackward0", i);
    m.edge(node, 0, node > 1 ? node - 1 : 0);
  }
  m.sql("INSERT INTO span VALUES(1,'module','net','Linear',1,1,5,NULL,0,100,1,5); INSERT INTO output VALUES(5,1,'hello',3); INSERT INTO loss VALUES('x',1,'y');"
        "INSERT INTO \"write\" VALUES(2,7,70,0,1); INSERT INTO node_run VALUES(1,1,4,1,NULL); INSERT INTO source VALUES('/home/me/train.py','x'); INSERT INTO error VALUES(2,'E','m');");
}

}  // namespace

TEST_CASE("hostile: what is no session is refused with a sentence", "[sessions][hostile]") {
  const std::string folder = test_folder();
  CHECK(error_of(folder + "/absent.peel").find("No such file") != std::string::npos);
  CHECK(error_of(folder).find("it is a folder") != std::string::npos);
  spit(folder + "/empty.peel", "");
  CHECK(error_of(folder + "/empty.peel").find("is empty") != std::string::npos);
  spit(folder + "/text.peel", "this is a text file, and it is long enough to be read as one, is it not? yes it is, over a hundred bytes");
  CHECK(error_of(folder + "/text.peel").find("not a session file") != std::string::npos);
  spit(folder + "/short.peel", std::string("SQLite format 3\0abc", 19));
  CHECK(error_of(folder + "/short.peel").find("is cut off") != std::string::npos);
  CHECK(error_of("/dev/null").find("no ordinary file") != std::string::npos);

  const auto changed = [](const std::string& sql) {
    MadeSession m;
    ordinary(m);
    m.sql("COMMIT; " + sql + "; BEGIN");
    m.close();
    return error_of(m.path());
  };
  CHECK(changed("PRAGMA application_id=5") .find("not a Peel session") != std::string::npos);
  CHECK(changed("PRAGMA user_version=99").find("newer Peel (format 99") != std::string::npos);
  CHECK(changed("PRAGMA user_version=0").find("impossible format version") != std::string::npos);
  CHECK(changed("DROP TABLE event").find("table event is missing") != std::string::npos);
  CHECK(changed("DROP TABLE meta").find("table meta is missing") != std::string::npos);
  CHECK(changed("ALTER TABLE node RENAME COLUMN event TO evnt").find("has no column") != std::string::npos);
  // A view or a computed column in place of a table would run whatever it says, perhaps for ever.
  CHECK(changed("DROP TABLE stack; CREATE VIEW stack AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS id, 0 AS parent, 0 AS file, 0 AS line, 0 AS function FROM n")
            .find("table stack is missing") != std::string::npos);
  CHECK(changed("DROP TABLE bookmark; CREATE TABLE bookmark(event INTEGER PRIMARY KEY, text TEXT AS (hex(zeroblob(100000000))))").find("is computed") != std::string::npos);
}

TEST_CASE("hostile: a file cut at any size", "[sessions][hostile]") {
  MadeSession m;
  ordinary(m);
  m.close();
  const std::string whole = slurp(m.path());
  const std::string cut = m.folder() + "/cut.peel";
  for (size_t size = 0; size < whole.size(); size += size < 4096 ? 61 : 1021) {
    spit(cut, whole.substr(0, size));
    INFO(size);
    const std::string error = error_of(cut);
    CHECK(error != "opened");
    CHECK(error.find(cut) != std::string::npos);
  }
}

TEST_CASE("hostile: a table that holds its rows twice", "[sessions][hostile]") {
  MadeSession m;
  ordinary(m);
  m.sql("CREATE TABLE once AS SELECT * FROM node; DROP TABLE node; CREATE TABLE node AS SELECT * FROM once UNION ALL SELECT * FROM once");
  m.close();
  const auto s = Session::open(m.path(), true);
  REQUIRE(s);
  exercise(**s);
  CHECK((*s)->trouble() == "table node has the absurd id 1; nodes from there on are left out");
}

TEST_CASE("hostile: flipped bytes", "[sessions][hostile]") {
  MadeSession m;
  ordinary(m);
  m.close();
  const std::string whole = slurp(m.path());
  const std::string path = m.folder() + "/flipped.peel";
  int opened = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    std::string bytes = whole;
    const auto flips = static_cast<unsigned>(1 + random() % 40);
    for (unsigned i = 0; i < flips; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    spit(path, bytes);
    INFO("seed " << seed);
    const auto s = Session::open(path, true);
    if (s) {
      ++opened;
      exercise(**s);
    } else {
      CHECK_FALSE(s.error().empty());
    }
  }
  CHECK(opened > 0);  // else this test looks at nothing
}

TEST_CASE("hostile: parents in rings, in other threads, not yet there", "[sessions][hostile]") {
  MadeSession m;
  const uint32_t op = m.op("aten::relu");
  m.hop({.parent = 1, .op = op});                    // 1: its own parent
  m.hop({.parent = 3, .op = op});                    // 2: a later hop
  m.hop({.parent = 2, .op = op});                    // 3: good
  m.hop({.parent = 3, .op = op, .thread = 2});       // 4: another thread's
  m.hop({.parent = 1, .op = op});                    // 5: had ended before 2 began
  m.hop({.parent = 4000000000u, .op = op});          // 6: absurd
  m.hop({.parent = 6, .op = op});                    // 7: good
  const auto s = m.open();
  CHECK(s->size() == 7);
  CHECK(s->trouble().find("parent") != std::string::npos);
  CHECK(s->parent(EventId{1}) == EventId{});
  CHECK(s->parent(EventId{2}) == EventId{});
  CHECK(s->parent(EventId{3}) == EventId{2});
  CHECK(s->parent(EventId{4}) == EventId{});
  CHECK(s->parent(EventId{5}) == EventId{});
  CHECK(s->parent(EventId{6}) == EventId{});
  CHECK(s->parent(EventId{7}) == EventId{6});
  exercise(*s);
}

TEST_CASE("hostile: wrong types, absurd numbers, rings in other tables", "[sessions][hostile]") {
  MadeSession m;
  ordinary(m);
  m.sql("UPDATE event SET op='text', kind=77 WHERE id=3; UPDATE event SET end_ns='never', stack=-5, flags=1e300 WHERE id=4; UPDATE event SET thread=99999999999 WHERE id=5;"
        "UPDATE event SET begin_ns=x'00', keyset=-1, tls='x', kernel=9223372036854775807 WHERE id=6;"
        "UPDATE stack SET parent=2 WHERE id=1; INSERT INTO stack VALUES(5,5,1,1,1);"
        "INSERT INTO keyset VALUES(2000000000, 5, 'x'); INSERT INTO op VALUES(2147483647,'a','b',NULL); INSERT INTO thread VALUES(-3,1,1,'x');"
        "INSERT INTO dispatch_key VALUES(300,'Odd',900,-7,99999999), (99999999,'Far',20,NULL,5);"
        "INSERT INTO node VALUES(500, 7777, 'name', 'seq', 'x', 'y', 'z', 1, 1); INSERT INTO edge VALUES(500, 0, 500, 0), (501, 0, 2000000000, 0), (3, 5, 3, 0);"
        "INSERT INTO node_run VALUES(2, 99999999, 99999999, 'task', -1); INSERT INTO \"write\" VALUES(99999999,-1,'x',-5,1e30);"
        "INSERT INTO table_slot VALUES(-1,-1,-1,-1,'x'); INSERT INTO op_mask VALUES('a','b','c','d'); INSERT INTO op_argument VALUES(1,100000,'far',0);"
        "INSERT INTO span VALUES(7,'module',NULL,NULL,'x',99999999,-1,7,'a','b',5,-1); INSERT INTO argument VALUES(1,-9223372036854775807,'x',1,1,1,1,1,1);"
        "INSERT INTO bookmark VALUES(-4,'x'); INSERT INTO error VALUES(99999999,NULL,NULL),(NULL,'a','b'); INSERT INTO output VALUES('x','y',NULL,'z')");
  const auto s = m.open();
  CHECK(s->size() == 80);
  CHECK_FALSE(s->trouble().empty());
  CHECK(s->event(EventId{3}).op == OpId{});
  CHECK(s->event(EventId{3}).kind == Kind::kCall);
  CHECK(s->event(EventId{4}).end == kOpen);
  exercise(*s);
}

TEST_CASE("hostile: ids with gaps", "[sessions][hostile]") {
  MadeSession m;
  ordinary(m);
  m.sql("DELETE FROM event WHERE id=30; INSERT INTO event(id, kind) VALUES(9223372036854775807, 0), (-5, 0)");
  const auto s = m.open();
  CHECK(s->size() == 29);
  CHECK(s->trouble().find("hop 30 is missing") != std::string::npos);
  exercise(*s);
}

TEST_CASE("hostile: deep nesting", "[sessions][hostile]") {
  MadeSession m;
  const uint32_t op = m.op("aten::relu");
  m.hop({.op = op, .key = "CPU", .keyset = 0x10001});
  m.sql("WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM n WHERE i<100000) INSERT INTO event SELECT i, i-1, 1, 1, 1, 49, 1, NULL, 1, NULL, NULL, i, NULL, 0 FROM n");
  const auto s = m.open();
  CHECK(s->size() == 100000);
  CHECK(s->depth(EventId{70000}) == 65535);
  CHECK(s->last(EventId{1}) == EventId{100000});
  CHECK(s->event(EventId{100000}).end == kOpen);
}
