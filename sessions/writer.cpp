#include "sessions/writer.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "schema_sql.h"
#include "sessions/format.h"
#include "sessions/memory.h"
#include "tracer/wire/wire.h"

namespace peel {
namespace {

constexpr const char* kSmallSql[] = {
    "INSERT INTO string VALUES(?,?)",
    "INSERT OR IGNORE INTO dispatch_key VALUES(?,?,?,?,?)",
    "INSERT INTO keyset VALUES(?,?,?)",
    "INSERT INTO op VALUES(?,?,?,?)",
    "INSERT OR IGNORE INTO op_argument VALUES(?,?,?,?)",
    "INSERT OR IGNORE INTO op_source VALUES(?,?,?)",
    "INSERT INTO process VALUES(?,?,?,?,?,?)",
    "INSERT INTO thread VALUES(?,?,?,?)",
    "INSERT INTO tls VALUES(?,?,?,?,?,?)",
    "INSERT INTO kernel VALUES(?,?,?,?,?,?,?)",
    "INSERT INTO span VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
    "INSERT OR IGNORE INTO source VALUES(?,?)",
    "INSERT INTO output VALUES(?,?,?,?)",
    "INSERT INTO error VALUES(?,?,?)",
    "INSERT OR REPLACE INTO loss VALUES(?,?,?)",
    "INSERT OR REPLACE INTO meta VALUES(?,?)",
    "UPDATE process SET end_ns=?2 WHERE id=?1",
    "UPDATE thread SET name=?2 WHERE id=?1",
    "UPDATE span SET begin_event=?2, end_event=?3, end_ns=?4 WHERE id=?1",
    "UPDATE node SET event=?2, name=?3, sequence_nr=?4, thread=?5, topological_nr=?6, variable=?7 WHERE id=?1",
    "UPDATE node SET output=?2 WHERE id=?1",
    "UPDATE tensor SET storage=?2 WHERE id=?1",
    "UPDATE memory_event SET storage=?2 WHERE id=?1",
    "UPDATE tensor SET death_ns=?2 WHERE id=?1",
    "INSERT INTO change VALUES(?,?,?,?,?,?)",
    "UPDATE event SET kind=?2, key=?3, keyset=?4, kernel=?5, flags=?6 WHERE id=?1",
};
static_assert(std::size(kSmallSql) == static_cast<size_t>(Small::kCount));

constexpr int kOneFileTries = 300;  // of 10 ms

// WAL, so that readers see whole commits while the recording grows and a kill at any moment leaves a file
// that opens. synchronous=OFF: nothing is lost when a process dies, whoever it is; only a machine that loses
// power may lose the recording, and syncing for that would stall the rings.
// The automatic checkpoint is rarer than the default, since each one writes the newest pages twice.
constexpr const char* kPragmas =
    "PRAGMA page_size=4096; PRAGMA temp_store=MEMORY;"
    "PRAGMA cache_size=-65536; PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=4000;";

struct Named {
  int id;
  const char* name;
  const char* meaning;
};
constexpr Named kKinds[] = {{0, "call", ""}, {1, "redispatch", ""}, {2, "call_boxed", ""}, {3, "redispatch_boxed", ""},
                            {4, "missing_kernel", ""}, {5, "python_mode", ""}, {6, "torch_function", ""}, {7, "backward_node", ""}};
constexpr Named kFlags[] = {
    {wire::kRaised, "raised", "left by an exception"},
    {wire::kInferredKind, "inferred_kind", "call or redispatch was inferred"},
    {wire::kTruncated, "truncated", "values or the stack were cut to fit"},
    {wire::kNoValues, "no_values", "recorded without arguments and results"},
    {wire::kChangedByHand, "changed_by_hand", "while its thread stood there: table change"},
};

std::string why_not(sqlite3* db, const std::string& path) {
  const int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
  const int os = db ? sqlite3_system_errno(db) : 0;
  if (code == SQLITE_FULL || os == ENOSPC || os == EDQUOT) return "the disk that holds " + path + " is full";
  if (os == EFBIG) return path + " has reached the largest size that this shell allows (ulimit -f)";
  std::string text = "cannot write " + path + ": " + (db ? sqlite3_errmsg(db) : "out of memory");
  if (os) text += std::string(" (") + std::strerror(os) + ")";
  return text;
}

}  // namespace

Result<std::unique_ptr<Writer>> Writer::create(const std::string& path) {
  std::unique_ptr<Writer> writer(new Writer());
  Status status = writer->open(path);
  if (!status) return Error{status.error()};
  return writer;
}

Status Writer::open(const std::string& path) {
  path_ = path;
  struct stat s;
  if (::stat(path.c_str(), &s) == 0) {
    if (!S_ISREG(s.st_mode)) return Error{path + " is not a file; name another one with -o"};
    if (::unlink(path.c_str()) != 0) return Error{"cannot replace " + path + ": " + std::strerror(errno)};
  }
  for (const char* suffix : {"-wal", "-shm", "-journal"}) ::unlink((path + suffix).c_str());
  const auto failure = [&] { return Error{why_not(db_, path_)}; };
  if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) return failure();
  sqlite3_busy_timeout(db_, 5000);
  const std::string marks = "PRAGMA application_id=" + std::to_string(kApplicationId) + "; PRAGMA user_version=" + std::to_string(kFormatVersion);
  if (register_rows_module(db_, &source_) != SQLITE_OK || !execute(kPragmas) || !execute(marks.c_str()) || !execute("BEGIN") || !execute(kSchemaSql)) return failure();
  for (const Named& k : kKinds) {
    if (!execute(("INSERT INTO event_kind VALUES(" + std::to_string(k.id) + ",'" + k.name + "')").c_str())) return failure();
  }
  for (int i = 0; i <= static_cast<int>(MemoryAction::kOom); ++i) {
    if (!execute(("INSERT INTO memory_action VALUES(" + std::to_string(i) + ",'" + memory_action_name(static_cast<MemoryAction>(i)) + "')").c_str())) return failure();
  }
  for (const Named& f : kFlags) {
    if (!execute(("INSERT INTO event_flag VALUES(" + std::to_string(f.id) + ",'" + f.name + "','" + f.meaning + "')").c_str())) return failure();
  }
  if (!execute("COMMIT")) return failure();
  const auto prepare = [&](const std::string& sql, sqlite3_stmt** out) {
    return sqlite3_prepare_v3(db_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, out, nullptr) == SQLITE_OK;
  };
  for (size_t i = 0; i < big_.size(); ++i) {
    const std::string name = kTableShapes[i].name, rows = "temp.rows_" + name;
    if (!execute(("CREATE VIRTUAL TABLE " + rows + " USING peel_rows(" + std::to_string(kTableShapes[i].columns) + ")").c_str())) return failure();
    std::string columns = kTableShapes[i].numbered ? "NULL" : "c0";
    for (int c = 1; c < kTableShapes[i].columns; ++c) columns += ",c" + std::to_string(c);
    if (!prepare("INSERT OR IGNORE INTO \"" + name + "\" SELECT " + columns + " FROM " + rows, &big_[i])) return failure();
  }
  for (size_t i = 0; i < small_.size(); ++i) {
    if (!prepare(kSmallSql[i], &small_[i])) return failure();
  }
  if (!prepare("UPDATE event SET end_ns=?2, flags=?3 WHERE id=?1", &end_) || !prepare("PRAGMA page_count", &pages_)) return failure();
  for (int i = 0; i < 3; ++i) empty_.push_back(std::make_unique<Batch>());
  thread_ = std::thread([this] { run(); });
  return Status();
}

Writer::~Writer() {
  if (thread_.joinable()) {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  for (sqlite3_stmt* s : big_) sqlite3_finalize(s);
  for (sqlite3_stmt* s : small_) sqlite3_finalize(s);
  sqlite3_finalize(end_);
  sqlite3_finalize(pages_);
  sqlite3_close(db_);
}

std::unique_ptr<Batch> Writer::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !empty_.empty(); });
  std::unique_ptr<Batch> batch = std::move(empty_.back());
  empty_.pop_back();
  return batch;
}

void Writer::submit(std::unique_ptr<Batch> batch) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

void Writer::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !writing_; });
}

std::string Writer::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_;
}

void Writer::run() {
  ::pthread_setname_np(::pthread_self(), "peel writer");
  // A file-size limit is then an error of write(), as a full disk is, instead of the end of this process.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  for (;;) {
    std::unique_ptr<Batch> batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch = std::move(waiting_.front());
      waiting_.pop_front();
      writing_ = true;
    }
    if (!failed() && !write(*batch)) fail();
    batch->clear();
    {
      std::lock_guard lock(mutex_);
      empty_.push_back(std::move(batch));
      writing_ = false;
    }
    changed_.notify_all();
  }
}

void Writer::fail() {
  std::string text = why_not(db_, path_) + "; recording has stopped, what was written until then can be opened";
  sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  {
    std::lock_guard lock(mutex_);
    trouble_ = std::move(text);
  }
  failed_.store(true, std::memory_order_release);
}

bool Writer::execute(const char* sql) { return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }

bool Writer::write(Batch& batch) {
  if (batch.empty()) return true;
  if (!execute("BEGIN IMMEDIATE") || !insert(batch) || !execute("COMMIT")) return false;
  if (sqlite3_step(pages_) == SQLITE_ROW) bytes_.store(static_cast<uint64_t>(sqlite3_column_int64(pages_, 0)) * 4096, std::memory_order_relaxed);
  sqlite3_reset(pages_);
  return true;
}

bool Writer::insert(Batch& batch) {
  for (const uint32_t event : batch.dropped_results) {
    if (!execute(("DELETE FROM result WHERE event=" + std::to_string(event)).c_str())) return false;
  }
  for (size_t table = 0; table < big_.size(); ++table) {
    if (!batch.big[table].empty() && !insert_big(batch, table)) return false;
  }
  for (const SmallRow& row : batch.small) {
    sqlite3_stmt* s = small_[static_cast<size_t>(row.what)];
    int at = 0;
    for (const Cell& cell : row.cells) {
      ++at;
      if (const int64_t* number = std::get_if<int64_t>(&cell)) {
        sqlite3_bind_int64(s, at, *number);
      } else if (const std::string* text = std::get_if<std::string>(&cell)) {
        sqlite3_bind_text(s, at, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
      } else {
        sqlite3_bind_null(s, at);
      }
    }
    if (sqlite3_step(s) != SQLITE_DONE) return false;
    sqlite3_reset(s);
  }
  for (const EventEnd& end : batch.ends) {
    sqlite3_bind_int64(end_, 1, end.event);
    end.end_ns == kNullCell ? sqlite3_bind_null(end_, 2) : sqlite3_bind_int64(end_, 2, end.end_ns);
    sqlite3_bind_int64(end_, 3, end.flags);
    if (sqlite3_step(end_) != SQLITE_DONE) return false;
    sqlite3_reset(end_);
  }
  if (ignored_) {
    sqlite3_stmt* s = small_[static_cast<size_t>(Small::kLoss)];
    sqlite3_bind_text(s, 1, "duplicate rows", -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 2, static_cast<int64_t>(ignored_));
    sqlite3_bind_text(s, 3, "A value or an edge was reported twice for one place; the first was kept.", -1, SQLITE_STATIC);
    if (sqlite3_step(s) != SQLITE_DONE) return false;
    sqlite3_reset(s);
  }
  return true;
}

/// Results come when a hop ends, inner hops first; sorted by their key they fill pages from left to right.
bool Writer::insert_big(Batch& batch, size_t table) {
  const Rows& rows = batch.big[table];
  source_.rows = &rows;
  source_.order.clear();
  if (kTableShapes[table].by_place) {
    sort_.clear();
    bool sorted = true;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      const int64_t* r = rows.row(i);
      const uint64_t key = static_cast<uint64_t>(r[0]) << 31 | static_cast<uint64_t>(r[1] & 0xff) << 23 | static_cast<uint64_t>((r[2] + 1) & 0x7fffff);
      if (i && key < sort_.back().first) sorted = false;
      sort_.emplace_back(key, i);
    }
    if (!sorted) {
      std::sort(sort_.begin(), sort_.end());
      source_.order.reserve(sort_.size());
      for (const auto& [key, index] : sort_) source_.order.push_back(index);
    }
  }
  sqlite3_stmt* s = big_[table];
  if (sqlite3_step(s) != SQLITE_DONE) {
    sqlite3_reset(s);
    return false;
  }
  // ids are given without gaps, so SQLite's own numbers are the same; were they not, the file would lie
  if (kTableShapes[table].numbered && sqlite3_last_insert_rowid(db_) != rows.row(rows.size() - 1)[0]) {
    sqlite3_reset(s);
    return false;
  }
  ignored_ += rows.size() - static_cast<uint64_t>(sqlite3_changes64(db_));
  sqlite3_reset(s);
  return true;
}

Status Writer::finish(std::unique_ptr<Batch> last) {
  submit(std::make_unique<Batch>());  // wakes the thread
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  // Here the thread is gone and the connection is ours. After a full disk there is still room for a few
  // pages: those that the failed transaction had taken in the WAL.
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  const bool was_failed = failed();
  std::string text = trouble();
  if (!write(*last)) {
    if (!was_failed) text = why_not(db_, path_);
    sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  for (sqlite3_stmt*& s : big_) sqlite3_finalize(s), s = nullptr;
  for (sqlite3_stmt*& s : small_) sqlite3_finalize(s), s = nullptr;
  sqlite3_finalize(end_), end_ = nullptr;
  sqlite3_finalize(pages_), pages_ = nullptr;
  // One file needs every other connection closed. Readers close theirs when they see that the state is final
  // (it was committed just now); one that does not leaves the WAL beside the file, which opens all the same.
  sqlite3_busy_timeout(db_, 0);
  int rc = SQLITE_BUSY;
  for (int i = 0; i < kOneFileTries && rc == SQLITE_BUSY; ++i) {
    if (i) ::usleep(10'000);
    int in_wal = 0, moved = 0;
    rc = sqlite3_wal_checkpoint_v2(db_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, &in_wal, &moved);
    if (rc == SQLITE_OK) rc = sqlite3_exec(db_, "PRAGMA journal_mode=DELETE", nullptr, nullptr, nullptr);
  }
  if (rc != SQLITE_OK && rc != SQLITE_BUSY && text.empty()) text = why_not(db_, path_);
  sqlite3_close(db_);
  db_ = nullptr;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return text.empty() ? Status() : Status(Error{text});
}

}  // namespace peel
