// The only connection that writes to a session while it is recorded, and the thread that it lives on.
//
// The drain fills a Batch, submits it, and takes an empty one; a batch is one transaction. There are three
// batches: when the disk is slower than the rings, take() waits, the rings fill, and the program waits.
// Big tables are read straight out of the batch (writer_rows.h). After a failure (full disk) every further
// batch is dropped; what was committed stays readable.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "sessions/result.h"
#include "sessions/writer_batch.h"
#include "sessions/writer_rows.h"

struct sqlite3;
struct sqlite3_stmt;

namespace peel {

class Writer {
 public:
  /// Makes the file (replacing one that is there), its schema and the constant rows.
  static Result<std::unique_ptr<Writer>> create(const std::string& path);
  ~Writer();

  std::unique_ptr<Batch> take();          // an empty batch; waits for one
  void submit(std::unique_ptr<Batch>);
  void settle();                          // returns when what was submitted is in the file
  std::string trouble() const;            // one sentence; "" = none
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }  // of the file, as of the last commit
  /// Writes what was submitted, then `last` (also when there was trouble: it is small), and leaves one file.
  Status finish(std::unique_ptr<Batch> last);

 private:
  Writer() = default;
  Status open(const std::string& path);
  void run();
  bool write(Batch&);
  bool insert(Batch&);
  bool insert_big(Batch&, size_t table);
  bool execute(const char* sql);
  void fail();

  std::string path_;
  sqlite3* db_ = nullptr;
  RowsSource source_;
  std::array<sqlite3_stmt*, static_cast<size_t>(Table::kCount)> big_{};
  std::array<sqlite3_stmt*, static_cast<size_t>(Small::kCount)> small_{};
  sqlite3_stmt *end_ = nullptr, *pages_ = nullptr;
  std::vector<std::pair<uint64_t, uint32_t>> sort_;
  uint64_t ignored_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> waiting_;
  std::vector<std::unique_ptr<Batch>> empty_;
  std::string trouble_;
  bool stop_ = false, writing_ = false;
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> bytes_{0};
  std::thread thread_;
};

}  // namespace peel
