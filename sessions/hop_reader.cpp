#include "sessions/hop_reader.h"

#include <sqlite3.h>

#include <algorithm>

#include "sessions/format.h"

namespace peel {
namespace {

/// Integers of one row, with everything unusual noted instead of refused.
class RowCheck {
 public:
  explicit RowCheck(sqlite3_stmt* s) : s_(s) {}
  uint32_t number(int column, uint32_t max) {
    sqlite3_value* v = sqlite3_column_value(s_, column);
    const int type = sqlite3_value_type(v);
    if (type == SQLITE_NULL) return 0;
    const int64_t n = sqlite3_value_int64(v);
    if (type != SQLITE_INTEGER || n < 0 || n > max) {
      odd_column = column;
      return 0;
    }
    return static_cast<uint32_t>(n);
  }
  Nanoseconds time(int column, Nanoseconds null) {
    sqlite3_value* v = sqlite3_column_value(s_, column);
    const int type = sqlite3_value_type(v);
    if (type == SQLITE_NULL) return null;
    const int64_t n = sqlite3_value_int64(v);
    if (type != SQLITE_INTEGER || n < 0) {
      odd_column = column;
      return null;
    }
    return n;
  }
  int odd_column = -1;

 private:
  sqlite3_stmt* s_;
};

constexpr const char* kColumns =
    "id, parent, thread, op, kind, key, keyset, arg_keyset, tls, kernel, stack, begin_ns, end_ns, flags";

}  // namespace

HopReader::HopReader(ReadConnection& db)
    : db_(db),
      range_(db, std::string("SELECT ") + kColumns + " FROM event WHERE id >= ? AND id < ? ORDER BY id"),
      one_(db, "SELECT end_ns, flags, kind, key, keyset, kernel FROM event WHERE id = ?") {}

void HopReader::read(EventId first, uint32_t count, HopBatch* out) {
  out->first = first;
  out->hops.clear();
  out->trouble.clear();
  out->damaged = false;
  if (!range_) {
    out->damaged = true;
    out->trouble = "hops cannot be read: " + db_.message();
    return;
  }
  out->hops.reserve(std::min<uint32_t>(count, Columns::kChunkRows));
  range_.reset();
  range_.bind(1, first.value).bind(2, int64_t{first.value} + count);
  uint32_t expected = first.value;
  sqlite3_stmt* s = range_.handle();
  while (range_.step()) {
    if (sqlite3_column_int64(s, 0) != expected) {
      out->damaged = true;
      out->trouble = "hop " + std::to_string(expected) + " is missing in the file; hops after it are not shown";
      break;
    }
    RowCheck row(s);
    RawHop hop{.id = EventId{expected}, .parent = EventId{row.number(1, kMaxId)}, .begin = row.time(11, 0), .end = row.time(12, kOpen)};
    const uint32_t kind = row.number(4, 255);
    hop.shape = {.thread = ThreadId{row.number(2, kMaxId)}, .op = OpId{row.number(3, kMaxId)}, .keyset = KeysetId{row.number(6, kMaxId)},
                 .arg_keyset = KeysetId{row.number(7, kMaxId)}, .tls = TlsId{row.number(8, kMaxId)},
                 .kernel = KernelId{row.number(9, kMaxId)}, .key = static_cast<KeyId>(row.number(5, 0xffff)),
                 .kind = kind <= static_cast<uint32_t>(Kind::kBackwardNode) ? static_cast<Kind>(kind) : Kind::kCall, .track = 0};
    hop.stack = StackId{row.number(10, kMaxId)};
    hop.flags = static_cast<uint8_t>(row.number(13, kMaxId));
    if (row.odd_column >= 0 || kind > static_cast<uint32_t>(Kind::kBackwardNode)) {
      if (out->trouble.empty()) {
        out->trouble = "hop " + std::to_string(expected) + " has an impossible value in column " +
                       (row.odd_column >= 0 ? sqlite3_column_name(s, row.odd_column) : "kind") + "; it is read as none";
      }
    }
    out->hops.push_back(hop);
    ++expected;
  }
  if (range_.failed()) {
    out->damaged = true;
    out->trouble = "the file is damaged after hop " + std::to_string(expected - 1) + ": " + db_.message();
  }
  range_.reset();
}

bool HopReader::read_open(EventId e, RawHop* out) {
  one_.reset();
  if (!one_.bind(1, e.value).step()) return false;
  RowCheck row(one_.handle());
  out->end = row.time(0, kOpen);
  out->flags = static_cast<uint8_t>(row.number(1, kMaxId));
  out->shape.kind = static_cast<Kind>(std::min(row.number(2, 255), static_cast<uint32_t>(Kind::kBackwardNode)));
  out->shape.key = static_cast<KeyId>(row.number(3, 0xffff));
  out->shape.keyset = KeysetId{row.number(4, kMaxId)};
  out->shape.kernel = KernelId{row.number(5, kMaxId)};
  one_.reset();
  return true;
}

HopPipeline::HopPipeline(const std::string& path, bool immutable, EventId last, unsigned threads, const std::atomic<bool>* cancel)
    : path_(path),
      immutable_(immutable),
      batches_((last.value + Columns::kChunkRows - 1) / Columns::kChunkRows),
      last_(last.value),
      cancel_(cancel),
      places_(threads + 2) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

HopPipeline::~HopPipeline() {
  {
    std::lock_guard lock(mutex_);
    quit_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void HopPipeline::work() {
  ReadConnection db;
  const Status opened = db.open(path_, immutable_, cancel_);
  HopReader reader(db);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return quit_ || taken_ >= batches_ || taken_ < consumed_ + places_.size(); });
    if (quit_ || taken_ >= batches_) return;
    const uint32_t i = taken_++;
    Place& place = places_[i % places_.size()];
    lock.unlock();
    const uint32_t first = i * Columns::kChunkRows + 1;
    if (opened) {
      reader.read(EventId{first}, std::min(Columns::kChunkRows, last_ - first + 1), &place.batch);
    } else {
      place.batch = {.first = EventId{first}, .trouble = "hops cannot be read: " + opened.error(), .damaged = true};
    }
    lock.lock();
    place.ready = true;
    wake_.notify_all();
  }
}

bool HopPipeline::next(HopBatch* out) {
  std::unique_lock lock(mutex_);
  if (consumed_ >= batches_ || cancel_->load()) return false;
  Place& place = places_[consumed_ % places_.size()];
  wake_.wait(lock, [&] { return place.ready; });
  std::swap(*out, place.batch);  // the consumer's used buffer goes back to be filled
  place.ready = false;
  ++consumed_;
  wake_.notify_all();
  return true;
}

}  // namespace peel
