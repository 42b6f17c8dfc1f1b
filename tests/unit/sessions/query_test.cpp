#include <atomic>
#include <thread>

#include "sessions/query.h"
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

TEST_CASE("queries read a session and nothing else", "[sessions][query]") {
  MadeSession m;
  const uint32_t op = m.op("aten::add", "Tensor");
  m.hop({.op = op, .key = "AutogradCPU", .keyset = 0x1000010001});
  m.hop({.parent = 1, .op = op, .kind = Kind::kRedispatch, .key = "CPU", .keyset = 0x10001});
  m.close();

  const auto table = query(m.path(), "SELECT op, kind, key, end_ns, NULL AS absent FROM hop ORDER BY id", {});
  INFO((table ? "" : table.error()));
  REQUIRE(table);
  CHECK((*table).columns == std::vector<std::string>{"op", "kind", "key", "end_ns", "absent"});
  REQUIRE((*table).rows.size() == 2);
  CHECK((*table).rows[0] == std::vector<std::string>{"aten::add.Tensor", "call", "AutogradCPU", "1500", "NULL"});
  CHECK((*table).is_null[0][4]);
  CHECK_FALSE((*table).is_null[0][0]);
  CHECK((*table).is_number[0][3]);
  CHECK_FALSE((*table).is_number[0][0]);
  CHECK_FALSE((*table).cut);
  CHECK(query(m.path(), "SELECT 1; -- done\n", {}));
  CHECK(query(m.path(), "PRAGMA table_info(event)", {}));
  CHECK(query(m.path(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5) SELECT * FROM n", {}));

  const auto refused = [&](const std::string& sql, const std::string& word) {
    const auto r = query(m.path(), sql, {});
    INFO(sql << " -> " << (r ? "ran" : r.error()));
    CHECK_FALSE(r);
    if (!r) CHECK(r.error().find(word) != std::string::npos);
  };
  refused("DELETE FROM event", "refused: DELETE");
  refused("UPDATE event SET op=2", "refused: UPDATE");
  refused("INSERT INTO meta VALUES('a','b')", "refused: INSERT");
  refused("CREATE TABLE x(y)", "refused");
  refused("DROP TABLE event", "refused");
  refused("ATTACH '/tmp/other.db' AS other", "refused: ATTACH");
  refused("PRAGMA journal_mode=WAL", "refused: PRAGMA");
  refused("PRAGMA query_only=OFF", "refused: PRAGMA");
  refused("PRAGMA writable_schema=ON", "refused: PRAGMA");
  refused("SELECT load_extension('x')", "load_extension");
  refused("VACUUM INTO '/tmp/copy.db'", "refused");
  refused("BEGIN", "refused");
  refused("SELECT 1; SELECT 2", "one statement");
  refused("", "no SQL");
  refused("SELEKT 1", "syntax error");
  refused("SELECT nowhere FROM hop", "no such column");
  CHECK_FALSE(query(m.folder() + "/absent.peel", "SELECT 1", {}));
}

TEST_CASE("queries end: by rows, time and the reader's wish", "[sessions][query]") {
  MadeSession m;
  m.close();
  const std::string forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT ";
  const auto cut = query(m.path(), forever + "i FROM n", {.max_rows = 100});
  REQUIRE(cut);
  CHECK((*cut).cut);
  CHECK((*cut).rows.size() == 100);

  const auto late = query(m.path(), forever + "max(i) FROM n", {.limit_ms = 50});
  REQUIRE_FALSE(late);
  CHECK(late.error().find("stopped after 50 ms") != std::string::npos);

  std::atomic<bool> cancel{false};
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancel = true;
  });
  const auto cancelled = query(m.path(), forever + "max(i) FROM n", {.limit_ms = 60000, .cancel = &cancel});
  later.join();
  REQUIRE_FALSE(cancelled);
  CHECK(cancelled.error().find("cancelled") != std::string::npos);
}
