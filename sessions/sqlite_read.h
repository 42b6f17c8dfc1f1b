// SQLite for reading a file that may be hostile: a connection that cannot write, cannot attach and does not
// trust the file's schema, and a statement that frees itself. Not thread-safe: one connection per thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "sessions/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace peel {

class ReadStatement;

class ReadConnection {
 public:
  ReadConnection() = default;
  ~ReadConnection();
  ReadConnection(const ReadConnection&) = delete;
  ReadConnection& operator=(const ReadConnection&) = delete;

  /// Opens read-only. `immutable`: the file is read as it lies there, without locks and without its
  /// write-ahead log (for folders in which nothing may be created). `cancel` ends every statement soon.
  Status open(const std::string& path, bool immutable, const std::atomic<bool>* cancel);
  bool is_open() const { return db_ != nullptr; }
  sqlite3* handle() const { return db_; }
  int code() const;             // extended result code of the last failure
  std::string message() const;  // SQLite's own words for it
  /// The first failure of any statement since the last call, in SQLite's words; "" = none.
  std::string take_failure();

 private:
  friend class ReadStatement;
  void note_failure();

  std::string failure_;
  sqlite3* db_ = nullptr;
};

/// A prepared SELECT. Columns are read by index; a wrong type reads as 0 or "".
class ReadStatement {
 public:
  ReadStatement() = default;
  ReadStatement(ReadConnection&, std::string_view sql);
  ~ReadStatement();
  ReadStatement(ReadStatement&&) noexcept;
  ReadStatement& operator=(ReadStatement&&) noexcept;

  explicit operator bool() const { return stmt_ != nullptr; }
  ReadStatement& bind(int index, int64_t value);  // from 1
  ReadStatement& bind(int index, std::string_view value);
  bool step();           // false at the end or on an error: see failed()
  bool failed() const { return failed_; }
  void reset();
  bool null(int column) const;
  bool is_integer(int column) const;
  int64_t integer(int column) const;
  std::string text(int column) const;
  sqlite3_stmt* handle() const { return stmt_; }

 private:
  ReadConnection* db_ = nullptr;
  sqlite3_stmt* stmt_ = nullptr;
  bool failed_ = false;
};

}  // namespace peel
