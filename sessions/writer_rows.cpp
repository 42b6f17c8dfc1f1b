#include "sessions/writer_rows.h"

#include <sqlite3.h>

#include <cstdlib>
#include <string>

#include "sessions/writer_batch.h"

namespace peel {
namespace {

struct RowsTable : sqlite3_vtab {
  RowsSource* source;
};
struct RowsCursor : sqlite3_vtab_cursor {
  const Rows* rows;
  const uint32_t* order;
  const int64_t* at;
  size_t row, size;

  void seek() {
    if (row < size) at = rows->row(order ? order[row] : row);
  }
};

int connect(sqlite3* db, void* source, int argc, const char* const* argv, sqlite3_vtab** out, char**) {
  const int columns = argc > 3 ? std::atoi(argv[3]) : 1;
  std::string sql = "CREATE TABLE x(";
  for (int i = 0; i < columns; ++i) sql += (i ? ",c" : "c") + std::to_string(i) + " INTEGER";
  const int rc = sqlite3_declare_vtab(db, (sql + ")").c_str());
  if (rc != SQLITE_OK) return rc;
  RowsTable* table = new RowsTable();
  table->source = static_cast<RowsSource*>(source);
  *out = table;
  return SQLITE_OK;
}
int disconnect(sqlite3_vtab* table) {
  delete static_cast<RowsTable*>(table);
  return SQLITE_OK;
}
int best_index(sqlite3_vtab*, sqlite3_index_info* info) {
  info->estimatedCost = 1e6;
  return SQLITE_OK;
}
int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  *out = new RowsCursor();
  return SQLITE_OK;
}
int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<RowsCursor*>(cursor);
  return SQLITE_OK;
}
int filter(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  RowsCursor* cursor = static_cast<RowsCursor*>(base);
  const RowsSource* source = static_cast<RowsTable*>(base->pVtab)->source;
  cursor->rows = source->rows;
  cursor->order = source->order.empty() ? nullptr : source->order.data();
  cursor->row = 0;
  cursor->size = source->rows ? source->rows->size() : 0;
  cursor->seek();
  return SQLITE_OK;
}
int next(sqlite3_vtab_cursor* base) {
  RowsCursor* cursor = static_cast<RowsCursor*>(base);
  ++cursor->row;
  cursor->seek();
  return SQLITE_OK;
}
int at_end(sqlite3_vtab_cursor* base) {
  const RowsCursor* cursor = static_cast<RowsCursor*>(base);
  return cursor->row >= cursor->size;
}
int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int i) {
  const int64_t value = static_cast<RowsCursor*>(base)->at[i];
  if (value != kNullCell) sqlite3_result_int64(context, value);  // without a result it is NULL
  return SQLITE_OK;
}
int row_id(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(static_cast<RowsCursor*>(base)->row);
  return SQLITE_OK;
}

}  // namespace

int register_rows_module(sqlite3* db, RowsSource* source) {
  static sqlite3_module module = [] {
    sqlite3_module m{};
    m.xCreate = m.xConnect = connect;
    m.xDisconnect = m.xDestroy = disconnect;
    m.xBestIndex = best_index;
    m.xOpen = open_cursor;
    m.xClose = close_cursor;
    m.xFilter = filter;
    m.xNext = next;
    m.xEof = at_end;
    m.xColumn = column;
    m.xRowid = row_id;
    return m;
  }();
  return sqlite3_create_module(db, "peel_rows", &module, source);
}

}  // namespace peel
