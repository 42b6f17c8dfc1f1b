// Lets SQLite read a batch's rows as if they were a table, so that a whole batch goes in with one statement
// (`INSERT INTO event SELECT * FROM temp.rows_event`) instead of one bind and one step a row.
#pragma once
#include <cstdint>
#include <vector>

struct sqlite3;

namespace peel {
class Rows;

/// What the virtual tables of a connection show right now; `order` empty = as they are.
struct RowsSource {
  const Rows* rows = nullptr;
  std::vector<uint32_t> order;
};

/// Registers the module; tables are then made by `CREATE VIRTUAL TABLE temp.x USING peel_rows(COLUMNS)`.
/// `source` must outlive the connection. Returns an SQLite result code.
int register_rows_module(sqlite3*, RowsSource* source);

}  // namespace peel
