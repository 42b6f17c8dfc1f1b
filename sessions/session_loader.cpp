// The loader: small tables, then all hops with what hangs on them; while a recording grows, what is new.
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "sessions/drain.h"
#include "sessions/session_impl.h"

namespace peel {
namespace {

constexpr auto kFollowInterval = std::chrono::milliseconds(100);
constexpr uint32_t kParallelFrom = 200'000;  // hops; below, threads cost more than they save

/// An empty one: the recorder has not come so far as to write it.
bool is_running(const std::string& state) { return state == "running" || state == "recording" || state.empty(); }

/// True once the file is in SQLite's rollback mode again, that is, finished. False when it can't be read.
bool in_rollback_mode(const std::string& path) {
  unsigned char header[20] = {};
  std::FILE* f = std::fopen(path.c_str(), "rb");
  if (!f) return false;
  const size_t n = std::fread(header, 1, sizeof header, f);
  std::fclose(f);
  return n == sizeof header && header[18] == 1;
}

class ReadTransaction {
 public:
  explicit ReadTransaction(ReadConnection& db) : db_(db) { sqlite3_exec(db.handle(), "BEGIN", nullptr, nullptr, nullptr); }
  ~ReadTransaction() { sqlite3_exec(db_.handle(), "COMMIT", nullptr, nullptr, nullptr); }

 private:
  ReadConnection& db_;
};

int64_t single_number(ReadConnection& db, const char* sql) {
  ReadStatement s(db, sql);
  return s.step() ? s.integer(0) : 0;
}

}  // namespace

SessionImpl::SessionImpl(OpenedFile file, bool patient) : file_(std::move(file)), trouble_(file_.trouble) {
  live_ = file_.recording;
  rows_.start(file_.path, file_.immutable, patient, [this] { changed(); });
  loader_ = std::thread([this] { load(); });
}

SessionImpl::~SessionImpl() {
  cancel_ = true;
  ready_wake_.notify_all();
  loader_.join();
}

void SessionImpl::wait_until_ready() {
  std::unique_lock lock(ready_mutex_);
  ready_wake_.wait(lock, [this] { return ready_.load(); });
}

uint64_t SessionImpl::look_now() {
  std::lock_guard lock(ready_mutex_);
  look_wanted_ = looks_begun_ + 1;
  ready_wake_.notify_all();
  return look_wanted_;
}

Progress SessionImpl::progress() const {
  return {stage_.load(), done_.load(), total_.load(), ready_.load(std::memory_order_acquire)};
}

void SessionImpl::say(const std::string& trouble) {
  if (trouble.empty()) return;
  std::lock_guard lock(trouble_mutex_);
  if (trouble_.empty()) trouble_ = trouble;
  changed();
}

std::string SessionImpl::trouble() const {
  std::lock_guard lock(trouble_mutex_);
  return trouble_;
}

void SessionImpl::load() {
  auto db = std::make_unique<ReadConnection>();
  bool growing = false;
  if (const Status opened = db->open(file_.path, file_.immutable, &cancel_); !opened) {
    say("the file could be opened once but not again: " + opened.error());
  } else {
    HopReader reader(*db);
    growing = load_present(*db, reader);
  }
  {
    std::lock_guard lock(ready_mutex_);
    stage_ = growing ? "following the recording" : "ready";
    ready_ = true;
  }
  changed();
  ready_wake_.notify_all();
  if (growing) {
    {
      HopReader reader(*db);
      std::unique_lock lock(ready_mutex_);
      while (!cancel_) {
        const uint64_t look = ++looks_begun_;
        lock.unlock();
        const bool more = follow(*db, reader);
        lock.lock();
        looks_done_.store(look, std::memory_order_release);
        if (!more) break;
        ready_wake_.wait_for(lock, kFollowInterval, [this] { return cancel_ || look_wanted_ > looks_begun_; });
      }
    }
    if (!cancel_) release_and_reopen(db);
    save_marks();  // before the session says that it is over: what the reader added is in the file then
    stage_ = "ready";
    live_ = false;
    changed();
  }
  save_marks();  // of the last moment
}

void SessionImpl::save_marks() {
  std::lock_guard lock(marks_mutex_);
  if (cancel_ || (tables_.unsaved_bookmarks().empty() && tables_.unsaved_notes().empty())) return;
  if (const Status written = write_marks(); !written) say(written.error());
}

// Everything that is there now. Returns whether the file still grows.
bool SessionImpl::load_present(ReadConnection& db, HopReader& reader) {
  std::string trouble;
  stage_ = "reading operators and keys";
  tables_.refresh(db, &trouble);
  say(trouble);
  if (is_running(tables_.meta("state")) && !file_.recording) crashed_ = true;
  changed();

  stage_ = "reading hops";
  const int64_t last = single_number(db, "SELECT max(id) FROM event");
  say(db.take_failure().empty() ? "" : "the file is damaged: the table of hops cannot be read");
  total_ = static_cast<uint64_t>(std::max<int64_t>(last, 0));
  HopBatch batch;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  if (last > kParallelFrom && last <= INT32_MAX) {
    HopPipeline pipeline(file_.path, file_.immutable, EventId{static_cast<uint32_t>(last)}, std::min(3u, cores), &cancel_);
    while (!damaged_ && pipeline.next(&batch) && consume(batch)) {
      graph_.refresh(db, false, &trouble);
      changed();
    }
  } else {
    while (!cancel_ && !damaged_) {
      reader.read(columns_.next_id(), Columns::kChunkRows, &batch);
      if (!consume(batch) || batch.hops.empty()) break;
      graph_.refresh(db, false, &trouble);
      changed();
    }
  }
  stage_ = "reading autograd nodes";
  graph_.refresh(db, !file_.recording, &trouble);
  say(trouble);
  stage_ = "reading GPU activity";
  read_gpu(db, !file_.recording, &trouble);
  say(trouble);
  return file_.recording;
}

// True: there is something newer to show.
bool SessionImpl::read_gpu(ReadConnection& db, bool last, std::string* trouble) {
  std::shared_ptr<const GpuActivity> fresh = gpu_reader_.refresh(db, tables_, columns_, last, trouble);
  if (!fresh) return false;
  std::lock_guard lock(gpu_mutex_);
  gpu_ = std::move(fresh);
  return true;
}

std::shared_ptr<const GpuActivity> SessionImpl::gpu() const {
  std::lock_guard lock(gpu_mutex_);
  return gpu_;
}

// Appends a batch and makes it visible. False: nothing after it can be shown.
bool SessionImpl::consume(HopBatch& batch) {
  Columns::Fault worst = Columns::Fault::kNone;
  EventId at;
  for (const RawHop& hop : batch.hops) {
    const Columns::Fault fault = columns_.append(hop);
    if (fault != Columns::Fault::kNone && worst == Columns::Fault::kNone) {
      worst = fault;
      at = hop.id;
    }
    if (hop.end == kOpen) open_.push_back(hop.id);
  }
  columns_.publish();
  done_ = columns_.size();
  if (worst == Columns::Fault::kParent) {
    say("hop " + std::to_string(at.value) + " names a parent that was not running on its thread then; such hops are shown at the top level");
  } else if (worst == Columns::Fault::kThreads) {
    say("the file names more threads than any program has; the further ones are shown as one");
  }
  say(batch.trouble);
  damaged_ = damaged_ || batch.damaged;
  return !batch.damaged && !cancel_;
}

bool SessionImpl::follow(ReadConnection& db, HopReader& reader) {
  // Asked before looking: what a drain wrote before it ended is seen by this look.
  const bool alive = Drain::alive(file_.path);
  ReadTransaction transaction(db);
  std::string trouble;
  bool news = tables_.refresh(db, &trouble);

  std::erase_if(open_, [&](EventId e) {
    RawHop now{};
    if (!reader.read_open(e, &now)) return false;
    if (now.end == kOpen && now.flags == columns_.flags(e)) return false;
    if (now.flags & kChangedByHand) columns_.set_path(e, now.shape);
    columns_.set_end(e, now.end, now.flags);
    news = true;
    return now.end != kOpen;
  });
  HopBatch batch;
  while (!cancel_ && !damaged_) {
    reader.read(columns_.next_id(), Columns::kChunkRows, &batch);
    if (batch.hops.empty() && batch.trouble.empty()) break;
    news = true;
    if (!consume(batch)) break;
  }
  total_ = columns_.size();
  const bool over = !is_running(tables_.meta("state")) || !alive;
  news |= graph_.refresh(db, over, &trouble);
  news |= read_gpu(db, over, &trouble);
  say(trouble);
  if (over && is_running(tables_.meta("state"))) crashed_ = true;
  if (news) changed();
  return !over;
}

// The recorder can only fold its write-ahead log into the file when nobody else has the file open.
void SessionImpl::release_and_reopen(std::unique_ptr<ReadConnection>& db) {
  db.reset();
  rows_.close();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!cancel_ && Drain::alive(file_.path) && !in_rollback_mode(file_.path) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  rows_.reopen(file_.immutable);
  ReadConnection again;
  std::string trouble;
  if (again.open(file_.path, file_.immutable, &cancel_)) tables_.refresh(again, &trouble);
}

/// Bookmarks and notes that are only in memory go into the file. Under marks_mutex_.
Status SessionImpl::write_marks() {
  if (file_.immutable) return Error{"bookmarks and notes are kept for this window only: the folder of " + file_.path + " is read-only"};
  sqlite3* db = nullptr;
  const auto failed = [&](const char* what) {
    Error e{std::string("bookmarks and notes were not stored in ") + file_.path + ": " + what + "; they are kept for this window only"};
    sqlite3_close_v2(db);
    return e;
  };
  if (sqlite3_open_v2(file_.path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
    return failed(db ? sqlite3_errmsg(db) : "out of memory");
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_busy_timeout(db, 1000);
  if (sqlite3_db_readonly(db, "main") == 1) return failed("the file is read-only");
  if (sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) != SQLITE_OK) return failed(sqlite3_errmsg(db));
  const auto change = [&](const char* sql, uint32_t event, const std::string* text) {
    sqlite3_stmt* s = nullptr;
    sqlite3_prepare_v2(db, sql, -1, &s, nullptr);
    sqlite3_bind_int64(s, 1, event);
    if (text) sqlite3_bind_text(s, 2, text->data(), static_cast<int>(text->size()), SQLITE_TRANSIENT);
    const int rc = s ? sqlite3_step(s) : SQLITE_ERROR;
    sqlite3_finalize(s);
    return rc == SQLITE_DONE;
  };
  const auto store = [&](const Tables::Unsaved& marks, const char* remove, const char* insert) {
    for (const auto& [event, text] : marks) {
      if (!change(remove, event, nullptr) || (text && !change(insert, event, &*text))) return false;
    }
    return true;
  };
  if (!store(tables_.unsaved_bookmarks(), "DELETE FROM bookmark WHERE event = ?", "INSERT INTO bookmark(event, text) VALUES(?, ?)") ||
      !store(tables_.unsaved_notes(), "DELETE FROM note WHERE event = ?", "INSERT INTO note(event, text) VALUES(?, ?)")) {
    return failed(sqlite3_errmsg(db));
  }
  if (sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr) != SQLITE_OK) return failed(sqlite3_errmsg(db));
  sqlite3_close_v2(db);
  tables_.marks_saved();
  return {};
}

Status SessionImpl::keep_mark(EventId e, const std::function<void()>& put) {
  if (!columns_.valid(e)) return Error{"there is no hop " + std::to_string(e.value) + " in " + file_.path};
  std::lock_guard lock(marks_mutex_);  // what is put while the loader writes must not be taken for written
  put();
  changed();
  return live() || !ready_ ? Status() : write_marks();
}

Status SessionImpl::set_bookmark(EventId e, std::string_view text, bool present) {
  return keep_mark(e, [&] { tables_.put_bookmark(e, text, present); });
}

Status SessionImpl::set_note(EventId e, std::string_view text) {
  return keep_mark(e, [&] { tables_.put_note(e, text); });
}

}  // namespace peel
