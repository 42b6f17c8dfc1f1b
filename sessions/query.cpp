#include "sessions/query.h"

#include <sqlite3.h>

#include <chrono>
#include <cstring>

#include "sessions/sqlite_read.h"

namespace peel {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxBytes = size_t{256} << 20;  // of text in one answer

struct Watch {
  Clock::time_point until;
  const std::atomic<bool>* cancel = nullptr;
  bool late = false, cancelled = false;
  std::string refused;
};

int on_progress(void* p) {
  auto* w = static_cast<Watch*>(p);
  if (w->cancel && w->cancel->load(std::memory_order_relaxed)) return w->cancelled = true;
  if (Clock::now() >= w->until) return w->late = true;
  return 0;
}

/// Only what reads. Everything else gets a sentence.
int authorize(void* p, int action, const char* a, const char* b, const char*, const char*) {
  auto* w = static_cast<Watch*>(p);
  const auto refuse = [w](std::string what) {
    if (w->refused.empty()) w->refused = "refused: " + std::move(what) + "; a query only reads the session";
    return SQLITE_DENY;
  };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (b && (sqlite3_stricmp(b, "load_extension") == 0 || sqlite3_stricmp(b, "fts3_tokenizer") == 0)) return refuse(std::string("function ") + b);
      return SQLITE_OK;
    case SQLITE_PRAGMA: {
      static const char* const reading[] = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "user_version",
                                            "application_id", "page_count", "page_size", "freelist_count", "journal_mode", "compile_options",
                                            "database_list", "function_list", "encoding", "schema_version", "data_version"};
      static const char* const with_argument[] = {"table_info", "table_xinfo", "index_list", "index_info", "index_xinfo", "table_list"};
      for (const char* name : reading) {
        if (sqlite3_stricmp(a, name) != 0) continue;
        if (!b) return SQLITE_OK;
        for (const char* argument : with_argument) {
          if (sqlite3_stricmp(a, argument) == 0) return SQLITE_OK;
        }
        break;
      }
      return refuse(std::string("PRAGMA ") + (a ? a : "") + (b ? " with a value" : ""));
    }
    case SQLITE_ATTACH: return refuse("ATTACH");
    case SQLITE_DETACH: return refuse("DETACH");
    case SQLITE_INSERT: return refuse(std::string("INSERT into ") + (a ? a : ""));
    case SQLITE_UPDATE: return refuse(std::string("UPDATE of ") + (a ? a : ""));
    case SQLITE_DELETE: return refuse(std::string("DELETE from ") + (a ? a : ""));
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT: return refuse("a transaction");
    default: return refuse("a statement that changes something");
  }
}

std::string column_text(sqlite3_stmt* s, int c) {
  if (sqlite3_column_type(s, c) == SQLITE_BLOB) {
    static const char* const hex = "0123456789ABCDEF";
    const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(s, c));
    const int n = sqlite3_column_bytes(s, c);
    std::string out = "x'";
    for (int i = 0; i < n && i < 64; ++i) {
      out += hex[bytes[i] >> 4];
      out += hex[bytes[i] & 15];
    }
    return out + (n > 64 ? "...'" : "'");
  }
  const unsigned char* t = sqlite3_column_text(s, c);
  return t ? std::string(reinterpret_cast<const char*>(t), static_cast<size_t>(sqlite3_column_bytes(s, c))) : std::string();
}

bool only_blank(const char* tail) {
  // A comment or a semicolon after the statement does no harm.
  while (*tail) {
    if (std::isspace(static_cast<unsigned char>(*tail)) || *tail == ';') {
      ++tail;
    } else if (tail[0] == '-' && tail[1] == '-') {
      while (*tail && *tail != '\n') ++tail;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<QueryTable> query(const std::string& path, const std::string& sql, const QueryOptions& options) {
  const auto begin = Clock::now();
  ReadConnection db;
  if (const Status opened = db.open(path, false, nullptr); !opened) return Error{"cannot open " + path + ": " + opened.error()};
  if (sqlite3_exec(db.handle(), "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) != SQLITE_OK) {
    // A write-ahead log in a folder that is read-only: what the file itself holds can still be asked.
    const std::string why = db.message();
    if (const Status again = db.open(path, true, nullptr);
        !again || sqlite3_exec(db.handle(), "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr) != SQLITE_OK) {
      return Error{"cannot read " + path + ": " + why};
    }
  }
  Watch watch{.until = begin + std::chrono::milliseconds(options.limit_ms), .cancel = options.cancel};
  sqlite3_limit(db.handle(), SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_progress_handler(db.handle(), 5000, on_progress, &watch);
  sqlite3_set_authorizer(db.handle(), authorize, &watch);

  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int prepared = sqlite3_prepare_v2(db.handle(), sql.c_str(), static_cast<int>(sql.size()) + 1, &statement, &tail);
  const auto fail = [&](std::string text) -> Result<QueryTable> {
    sqlite3_finalize(statement);
    return Error{std::move(text)};
  };
  if (prepared != SQLITE_OK) {
    if (!watch.refused.empty()) return fail(watch.refused);
    const int at = sqlite3_error_offset(db.handle());
    return fail("SQL: " + db.message() + (at >= 0 ? " (at character " + std::to_string(at + 1) + ")" : ""));
  }
  if (!statement) return fail("there is no SQL statement to run");
  if (!only_blank(tail)) return fail("one statement at a time: there is another one after the first");
  if (!sqlite3_stmt_readonly(statement)) return fail("refused: this statement would write; a query only reads the session");

  QueryTable table;
  const int columns = sqlite3_column_count(statement);
  for (int c = 0; c < columns; ++c) table.columns.push_back(sqlite3_column_name(statement, c));
  size_t bytes = 0;
  int rc;
  while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
    if (table.rows.size() >= options.max_rows || bytes > kMaxBytes) {
      table.cut = true;
      break;
    }
    std::vector<std::string> row;
    std::vector<bool> null, number;
    for (int c = 0; c < columns; ++c) {
      const int type = sqlite3_column_type(statement, c);
      null.push_back(type == SQLITE_NULL);
      number.push_back(type == SQLITE_INTEGER || type == SQLITE_FLOAT);
      row.push_back(type == SQLITE_NULL ? "NULL" : column_text(statement, c));
      bytes += row.back().size();
    }
    table.rows.push_back(std::move(row));
    table.is_null.push_back(std::move(null));
    table.is_number.push_back(std::move(number));
  }
  table.milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
    if (watch.cancelled) return fail("the query was cancelled");
    if (watch.late) return fail("the query was stopped after " + std::to_string(options.limit_ms) + " ms: narrow it (WHERE id BETWEEN ..., LIMIT) or give it more time");
    return fail("SQL: " + db.message());
  }
  sqlite3_finalize(statement);
  return table;
}

}  // namespace peel
