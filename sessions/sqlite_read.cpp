#include "sessions/sqlite_read.h"

#include <sqlite3.h>

#include <utility>

namespace peel {
namespace {

// `file:` URI of a path: what has a meaning in URIs is escaped.
std::string uri_of(const std::string& path, bool immutable) {
  static const char* const hex = "0123456789ABCDEF";
  std::string out = "file:";
  for (const char c : path) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '?' || c == '#' || c == '%' || u < 0x20) {
      out += '%';
      out += hex[u >> 4];
      out += hex[u & 15];
    } else {
      out += c;
    }
  }
  return out + (immutable ? "?mode=ro&immutable=1" : "?mode=ro");
}

int stop_when_cancelled(void* cancel) {
  return static_cast<const std::atomic<bool>*>(cancel)->load(std::memory_order_relaxed) ? 1 : 0;
}

}  // namespace

ReadConnection::~ReadConnection() { sqlite3_close_v2(db_); }

Status ReadConnection::open(const std::string& path, bool immutable, const std::atomic<bool>* cancel) {
  sqlite3_close_v2(std::exchange(db_, nullptr));
  const int rc = sqlite3_open_v2(uri_of(path, immutable).c_str(), &db_,
                                 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  if (rc != SQLITE_OK) {
    Error e{db_ ? sqlite3_errmsg(db_) : "out of memory"};
    sqlite3_close_v2(std::exchange(db_, nullptr));
    return e;
  }
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, 2000);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(db_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, 256 << 20);
  sqlite3_exec(db_, "PRAGMA query_only=ON; PRAGMA cell_size_check=ON;", nullptr, nullptr, nullptr);
  if (cancel) {
    sqlite3_progress_handler(db_, 20000, stop_when_cancelled,
                             const_cast<std::atomic<bool>*>(cancel));
  }
  return {};
}

int ReadConnection::code() const { return sqlite3_extended_errcode(db_); }
std::string ReadConnection::message() const { return sqlite3_errmsg(db_); }

std::string ReadConnection::take_failure() { return std::exchange(failure_, {}); }
void ReadConnection::note_failure() {
  if (failure_.empty() && sqlite3_errcode(db_) != SQLITE_INTERRUPT) failure_ = message();
}

ReadStatement::ReadStatement(ReadConnection& db, std::string_view sql) : db_(&db) {
  if (!db.is_open() || sqlite3_prepare_v3(db.handle(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &stmt_, nullptr) != SQLITE_OK) {
    failed_ = true;
    if (db.is_open()) db.note_failure();
  }
}

ReadStatement::~ReadStatement() { sqlite3_finalize(stmt_); }

ReadStatement::ReadStatement(ReadStatement&& o) noexcept
    : db_(o.db_), stmt_(std::exchange(o.stmt_, nullptr)), failed_(o.failed_) {}

ReadStatement& ReadStatement::operator=(ReadStatement&& o) noexcept {
  std::swap(db_, o.db_);
  std::swap(stmt_, o.stmt_);
  std::swap(failed_, o.failed_);
  return *this;
}

ReadStatement& ReadStatement::bind(int index, int64_t value) {
  sqlite3_bind_int64(stmt_, index, value);
  return *this;
}

ReadStatement& ReadStatement::bind(int index, std::string_view value) {
  sqlite3_bind_text(stmt_, index, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
  return *this;
}

bool ReadStatement::step() {
  if (!stmt_) return false;
  const int rc = sqlite3_step(stmt_);
  if (rc == SQLITE_ROW) return true;
  failed_ = rc != SQLITE_DONE;
  if (failed_) db_->note_failure();
  return false;
}

void ReadStatement::reset() {
  if (stmt_) sqlite3_reset(stmt_);
  failed_ = stmt_ == nullptr;
}

bool ReadStatement::null(int c) const { return sqlite3_column_type(stmt_, c) == SQLITE_NULL; }
bool ReadStatement::is_integer(int c) const { return sqlite3_column_type(stmt_, c) == SQLITE_INTEGER; }
int64_t ReadStatement::integer(int c) const { return sqlite3_column_int64(stmt_, c); }

std::string ReadStatement::text(int c) const {
  const unsigned char* t = sqlite3_column_text(stmt_, c);
  if (!t) return {};
  return std::string(reinterpret_cast<const char*>(t), static_cast<size_t>(sqlite3_column_bytes(stmt_, c)));
}

}  // namespace peel
