// Rows of table `event` into RawHop, in batches of consecutive ids. Decoding SQLite's records is what opening
// a large session costs, so several threads do it ahead of the one that consumes the batches in order.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sessions/columns.h"
#include "sessions/sqlite_read.h"

namespace peel {

struct HopBatch {
  std::vector<RawHop> hops;  // ids consecutive from `first`
  EventId first;
  std::string trouble;       // what was put right or left out, one sentence; "" = nothing
  bool damaged = false;      // reading stopped before the range's end
};

/// Reads ids [first, first + count) until the first one that is missing. A value that is out of range or not
/// a number reads as none, and `trouble` says so.
class HopReader {
 public:
  explicit HopReader(ReadConnection&);
  void read(EventId first, uint32_t count, HopBatch* out);
  /// What may have changed of a hop that was open: end, flags, and of its shape kind, key, keyset and kernel. False = no such row.
  bool read_open(EventId, RawHop* out);

 private:
  ReadConnection& db_;
  ReadStatement range_, one_;
};

/// Batches [1, last] in order, decoded by `threads` threads a few batches ahead.
class HopPipeline {
 public:
  HopPipeline(const std::string& path, bool immutable, EventId last, unsigned threads, const std::atomic<bool>* cancel);
  ~HopPipeline();
  /// False at the end, or when cancelled.
  bool next(HopBatch* out);

 private:
  struct Place {
    HopBatch batch;
    bool ready = false;
  };
  void work();

  const std::string path_;
  const bool immutable_;
  const uint32_t batches_, last_;
  const std::atomic<bool>* cancel_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Place> places_;  // batch i waits in places_[i % size]
  uint32_t taken_ = 0, consumed_ = 0;
  bool quit_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace peel
