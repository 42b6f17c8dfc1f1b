// docs/session-format.md tells the truth: its queries run, and it names every table and column.
#include <fstream>
#include <iterator>
#include <string>

#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel::testing;

TEST_CASE("the format's page: its queries run, every table and column is on it") {
  std::ifstream in(std::string(PEEL_DOCS) + "/session-format.md");
  const std::string page((std::istreambuf_iterator<char>(in)), {});
  REQUIRE(page.size() > 1000);
  Recording r;
  {
    FakeProcess p(*r);
    FakeThread t = p.thread();
    t.begin({.op = p.op("aten::mul", "Tensor")});
    t.write(0, 0x10, 0x11, 0, 1);
    t.end();
  }
  r.finish();
  int queries = 0;
  for (size_t at = page.find("```sql\n"); at != page.npos; at = page.find("```sql\n", at + 1), ++queries) {
    const std::string query = page.substr(at + 7, page.find("```", at + 7) - at - 7);
    INFO(query);
    const Rows rows = r.rows(query);
    CHECK((rows.empty() || rows[0].find("error:") != 0));
  }
  CHECK(queries == 6);
  for (const std::string& table : r.rows("SELECT name FROM sqlite_schema WHERE type='table' AND name NOT IN ('event_kind', 'event_flag', 'string')")) {
    INFO(table);
    const size_t at = page.find("**" + table + "**");
    CHECK(at != page.npos);
    const std::string text = at == page.npos ? "" : page.substr(at, 2500);
    for (const std::string& column : r.rows("SELECT name FROM pragma_table_info('" + table + "')")) {
      INFO(column);
      CHECK(text.find(column) != text.npos);
    }
  }
}
