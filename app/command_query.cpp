// peel query: read-only SQL.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "sessions/query.h"
#include "sessions/session.h"

namespace peel::app {
namespace {

void print_json(const QueryTable& t) {
  for (size_t r = 0; r < t.rows.size(); ++r) {
    JsonObject object;
    for (size_t c = 0; c < t.columns.size(); ++c) {
      if (t.is_null[r][c]) object.null(t.columns[c]);
      else if (t.is_number[r][c]) object.raw(t.columns[c], t.rows[r][c]);
      else object.text(t.columns[c], t.rows[r][c]);
    }
    std::printf("%s\n", object.done().c_str());
  }
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  return text;
}

void print_table(const QueryTable& t) {
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> right(t.columns.size(), !t.rows.empty());
  std::vector<std::string> head;
  for (const std::string& c : t.columns) head.push_back(inked(Ink::kBold, c));
  rows.push_back(head);
  for (size_t r = 0; r < t.rows.size(); ++r) {
    std::vector<std::string> row;
    for (size_t c = 0; c < t.columns.size(); ++c) {
      const bool null = t.is_null[r][c];
      if (!null && !t.is_number[r][c]) right[c] = false;
      row.push_back(null ? inked(Ink::kDim, "NULL") : one_line(t.rows[r][c]));
    }
    rows.push_back(std::move(row));
  }
  std::fputs(aligned(rows, right).c_str(), stdout);
}

}  // namespace

int query_main(const std::vector<std::string>& arguments) {
  CLI::App app("Ask a session file in SQL. Nothing can be changed. Start with: select * from hop limit 10; the tables are described in docs/session-format.md.", "peel query");
  std::string file, sql;
  bool json = false;
  QueryOptions options;
  double seconds = 10;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("SQL", sql, "One SELECT")->required()->option_text("\"SELECT ...\"");
  app.add_flag("--json", json, "One JSON object a row");
  app.add_option("--max-rows", options.max_rows, "Stop after so many rows; default 100000")->option_text("N");
  app.add_option("--limit-seconds", seconds, "Give up after so long; default 10")->option_text("N");
  if (const auto ended = parse(app, arguments)) return *ended;
  options.limit_ms = static_cast<int64_t>(seconds * 1000);
  // A file that is no session, or of a newer format, is told so before any SQL is tried on it.
  if (const Result<std::unique_ptr<Session>> session = Session::open(file); !session) return fail(session.error());
  const Result<QueryTable> table = query(file, sql, options);
  if (!table) return fail(table.error());
  if (json) print_json(*table);
  else print_table(*table);
  if (table->cut) say("only the first " + counted(table->rows.size(), "row") + " are shown; --max-rows shows more");
  return kDone;
}

}  // namespace peel::app
