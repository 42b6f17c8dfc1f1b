#include "sessions/gpu_reader.h"

#include <algorithm>

#include "sessions/format.h"
#include "sessions/optional_table.h"

namespace peel {
namespace {

constexpr int64_t kLatest = int64_t{1} << 60;          // 36 years: no recording is longer
constexpr uint64_t kMaxRows = 200'000'000;             // of all tables together
const std::vector<const char*> kKernel = {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "event", "graphNodeId",
                                          "demangledName", "shortName", "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
                                          "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"};
const std::vector<const char*> kCopy = {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "event", "graphNodeId",
                                        "bytes", "copyKind", "srcKind", "dstKind"};
const std::vector<const char*> kSet = {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "event", "graphNodeId",
                                       "value", "bytes", "memKind"};
const std::vector<const char*> kGraph = {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "event", "graphId"};
const std::vector<const char*> kCall = {"start", "end", "globalTid", "correlationId", "event", "nameId", "returnValue"};
const std::vector<const char*> kSync = {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType", "eventId"};
const std::vector<const char*> kRecord = {"streamId", "correlationId", "globalPid", "eventId"};

int64_t pid_of(int64_t global) { return global >> 24 & 0xffffff; }

}  // namespace

/// One row, read by position; `table` for sentences.
struct GpuReader::Row {
  const char* table;
  ReadStatement& s;
  int64_t integer(int column) const { return s.integer(column); }
  uint32_t count(int column) const {  // never negative, never more than 32 bits
    return static_cast<uint32_t>(std::clamp<int64_t>(s.integer(column), 0, UINT32_MAX));
  }
  uint8_t small(int column, uint8_t otherwise) const {
    const int64_t v = s.null(column) ? otherwise : s.integer(column);
    return v >= 0 && v < 255 ? static_cast<uint8_t>(v) : otherwise;
  }
  EventId event(int column) const {
    const int64_t v = s.integer(column);
    return v > 0 && v <= kMaxId ? EventId{static_cast<uint32_t>(v)} : EventId{};
  }
};

void GpuReader::say(const std::string& sentence) {
  if (trouble_.empty()) trouble_ = sentence;
}

uint32_t GpuReader::name(int64_t string) {
  const auto found = names_.find(string);
  if (found != names_.end()) return found->second;
  const bool good = string > 0 && string <= kMaxId;
  return names_[string] = good ? builder_.text(*tables_->string(*db_, static_cast<uint32_t>(string))) : 0;
}

// False: the row has no time, so it has no place.
bool GpuReader::times(Row& r, Nanoseconds* begin, Nanoseconds* end) {
  *begin = r.integer(0), *end = r.integer(1);
  if (!r.s.is_integer(0) || *begin < 0 || *begin > kLatest || *end > kLatest || (*begin == 0 && *end == 0)) {
    say(std::string("table ") + r.table + " has rows without a possible time; they are left out");
    return false;
  }
  if (*end < *begin) {
    say(std::string("table ") + r.table + " has rows that end before they begin; they are shown without a length");
    *end = *begin;
  }
  return true;
}

Work GpuReader::work(Row& r, bool* good) {
  Work w;
  *good = times(r, &w.begin, &w.end);
  w.correlation = r.count(5);
  w.event = r.event(7);
  return w;
}

void GpuReader::kernel(Row& r) {
  bool good = false;
  Work w = work(r, &good);
  if (!good) return;
  w.in_graph = r.integer(8) != 0;
  WorkShape s{.kind = WorkKind::kKernel, .name = name(r.integer(9)), .short_name = name(r.integer(10))};
  s.registers = r.count(11);
  for (int i = 0; i < 3; i++) s.grid[i] = r.count(12 + i), s.block[i] = r.count(15 + i);
  s.static_shared = r.count(18), s.dynamic_shared = r.count(19), s.local_per_thread = r.count(20);
  w.shape = builder_.shape(s);
  builder_.add_work(pid_of(r.integer(6)), r.count(2), r.count(3), r.count(4), w);
}

void GpuReader::copy(Row& r) {
  bool good = false;
  Work w = work(r, &good);
  if (!good) return;
  w.in_graph = r.integer(8) != 0;
  WorkShape s{.kind = WorkKind::kCopy, .copy_kind = r.small(10, 0), .source = r.small(11, 7), .target = r.small(12, 7)};
  s.bytes = static_cast<uint64_t>(std::max<int64_t>(r.integer(9), 0));
  w.shape = builder_.shape(s);
  builder_.add_work(pid_of(r.integer(6)), r.count(2), r.count(3), r.count(4), w);
}

void GpuReader::set(Row& r) {
  bool good = false;
  Work w = work(r, &good);
  if (!good) return;
  w.in_graph = r.integer(8) != 0;
  WorkShape s{.kind = WorkKind::kSet, .target = r.small(11, 7)};
  s.value = r.count(9), s.bytes = static_cast<uint64_t>(std::max<int64_t>(r.integer(10), 0));
  w.shape = builder_.shape(s);
  builder_.add_work(pid_of(r.integer(6)), r.count(2), r.count(3), r.count(4), w);
}

void GpuReader::graph(Row& r) {
  bool good = false;
  Work w = work(r, &good);
  if (!good) return;
  w.shape = builder_.shape({.kind = WorkKind::kGraph, .value = r.count(8)});
  builder_.add_work(pid_of(r.integer(6)), r.count(2), r.count(3), r.count(4), w);
}

void GpuReader::call(Row& r) {
  HostCall c;
  if (!times(r, &c.begin, &c.end)) return;
  c.correlation = r.count(3), c.event = r.event(4), c.name = name(r.integer(5));
  c.result = static_cast<int32_t>(std::clamp<int64_t>(r.integer(6), INT32_MIN, INT32_MAX));
  c.driver = r.table[sizeof "CUPTI_ACTIVITY_KIND_" - 1] == 'D';
  builder_.add_call(pid_of(r.integer(2)), r.integer(2) & 0xffffff, c);
}

void GpuReader::sync(Row& r) {
  StreamWait w;
  Nanoseconds end = 0;
  if (!times(r, &w.begin, &end)) return;
  w.device = r.count(2), w.stream = r.count(3);
  const uint8_t kind = r.small(6, 0);
  builder_.add_sync(pid_of(r.integer(5)), r.count(4), kind <= 4 ? static_cast<SyncKind>(kind) : SyncKind::kNone, w, r.count(7));
}

void GpuReader::record(Row& r) { builder_.add_record(pid_of(r.integer(2)), r.count(1), r.count(3), r.count(0)); }

void GpuReader::read(ReadConnection& db, const char* table, const std::vector<const char*>& columns, Take take) {
  Source& source = sources_[table];
  if (!source.there) source.there = has_table(db, table, columns, &trouble_);
  if (!source.there) return;
  std::string sql = "SELECT ";
  for (const char* c : columns) sql += std::string(c) + ", ";
  ReadStatement s(db, sql + "rowid FROM " + table + " WHERE rowid > ? ORDER BY rowid");
  s.bind(1, source.last_row);
  Row row{table, s};
  while (s.step()) {
    if (builder_.rows() >= kMaxRows) return say("the file has more GPU activity than any recording makes; the rest is left out");
    source.last_row = s.integer(static_cast<int>(columns.size()));
    (this->*take)(row);
  }
}

GpuOwners GpuReader::owners(const Tables& tables, const Columns& columns) const {
  GpuOwners o;
  for (const Process& p : tables.processes()) o.processes[p.os_id & 0xffffff] = p.id;
  for (uint32_t i = 0; i < tables.threads.end(); i++) {
    if (const Thread* t = tables.threads.get(i)) o.threads[{t->process, t->os_id & 0xffffff}] = t->id;
  }
  o.thread_of = [&columns](EventId e) { return columns.valid(e) ? columns.shape(e).thread : ThreadId{}; };
  o.hops = columns.size();
  return o;
}

std::shared_ptr<const GpuActivity> GpuReader::refresh(ReadConnection& db, Tables& tables, const Columns& columns, bool last, std::string* trouble) {
  if (ended_) return nullptr;
  db_ = &db, tables_ = &tables;
  read(db, "CUPTI_ACTIVITY_KIND_KERNEL", kKernel, &GpuReader::kernel);
  read(db, "CUPTI_ACTIVITY_KIND_MEMCPY", kCopy, &GpuReader::copy);
  read(db, "CUPTI_ACTIVITY_KIND_MEMSET", kSet, &GpuReader::set);
  read(db, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kGraph, &GpuReader::graph);
  read(db, "CUPTI_ACTIVITY_KIND_RUNTIME", kCall, &GpuReader::call);
  read(db, "CUPTI_ACTIVITY_KIND_DRIVER", kCall, &GpuReader::call);
  read(db, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kSync, &GpuReader::sync);
  read(db, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", kRecord, &GpuReader::record);
  if (const std::string failure = db.take_failure(); !failure.empty()) say("the file is damaged, not all GPU activity could be read: " + failure);
  if (trouble->empty()) *trouble = trouble_;
  // Each version that is handed out is a whole copy: as many as keep the cost of copying below that of reading.
  const uint64_t fresh = builder_.rows() - shown_;
  ended_ = last;
  if (!builder_.rows() || (!last && fresh < std::max<uint64_t>(1, shown_ / 8))) return nullptr;
  shown_ = builder_.rows();
  return builder_.build(owners(tables, columns), last);
}

}  // namespace peel
