// Table memory_event and its companions into a MemoryHistory. Every row is checked here: later code relies on addresses and sizes
// that do not overflow, on times that do not go back, and on snapshots whose blocks lie in their segments without overlap.
#include <sqlite3.h>

#include <algorithm>
#include <unordered_map>

#include "sessions/format.h"
#include "sessions/memory.h"
#include "sessions/optional_table.h"
#include "sessions/sqlite_read.h"

namespace peel {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 50;       // of one block or segment
constexpr uint64_t kMostAddress = uint64_t{1} << 62;
constexpr size_t kMostNames = 4096;                    // devices, streams, pools: index types are 16 bits
constexpr size_t kMostEvents = 100'000'000, kMostSnapshotRows = 20'000'000, kMostStorages = 50'000'000;

uint32_t id_of(int64_t v) { return v > 0 && v <= kMaxId ? static_cast<uint32_t>(v) : 0; }

bool has_table(ReadConnection& db, const char* name) {
  // An ordinary table with ordinary columns: a view could run anything.
  ReadStatement s(db, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = ?");
  if (!s || !s.bind(1, std::string_view(name)).step() || s.integer(0) <= 0) return false;
  ReadStatement hidden(db, "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden <> 0");
  return hidden && hidden.bind(1, std::string_view(name)).step() && hidden.integer(0) == 0;
}

class Reader {
 public:
  Reader(ReadConnection& db, MemoryHistory& h, const std::atomic<bool>* cancel) : db_(db), h_(h), cancel_(cancel), text_(db, "SELECT value FROM string WHERE id = ?") {}
  void settings();
  void events();
  void snapshots();
  void cuda_pools();
  void tensors();

 private:
  std::string text(int64_t id) {
    text_.reset();
    return text_ && text_.bind(1, id).step() ? text_.text(0) : std::string();
  }
  uint16_t device(int64_t string_id, uint32_t process);
  uint16_t device(const std::string& name, uint32_t process);
  uint16_t pool(int64_t string_id);
  uint16_t stream(uint64_t handle);
  bool cancelled() const { return cancel_ && *cancel_; }

  ReadConnection& db_;
  MemoryHistory& h_;
  const std::atomic<bool>* cancel_;
  ReadStatement text_;
  std::unordered_map<int64_t, uint16_t> pools_;
  std::unordered_map<uint64_t, uint16_t> devices_;    // by process and name: each process has its own allocators and addresses
  std::unordered_map<uint32_t, uint32_t> processes_;  // by thread
  std::unordered_map<uint64_t, uint16_t> streams_;
};

uint16_t Reader::device(int64_t string_id, uint32_t process) {
  const uint32_t id = id_of(string_id);
  if (!id) return UINT16_MAX;
  const uint64_t key = uint64_t{process} << 32 | id;
  if (const auto known = devices_.find(key); known != devices_.end()) return known->second;
  return devices_[key] = device(text(id), process);
}

uint16_t Reader::device(const std::string& plain, uint32_t process) {
  const std::string name = plain.empty() || process <= 1 ? plain : plain + " of process " + std::to_string(process);
  for (size_t d = 0; d < h_.devices.size(); ++d) if (h_.devices[d].name == name) return static_cast<uint16_t>(d);
  if (name.empty()) h_.note("rows that name no device", kNoIndex);
  else if (h_.devices.size() >= kMostNames) h_.note("rows of more devices than any computer has", kNoIndex);
  else {
    h_.devices.emplace_back();
    h_.devices.back().name = name, h_.devices.back().process = process;
    h_.devices.back().cpu = plain == "cpu" || plain.starts_with("cpu:");
    return static_cast<uint16_t>(h_.devices.size() - 1);
  }
  return UINT16_MAX;
}

uint16_t Reader::pool(int64_t id) {
  if (id <= 0) return 0;
  if (const auto known = pools_.find(id); known != pools_.end()) return known->second;
  std::string name = text(id);
  if (name == "(0, 0)" || name == "(0,0)") name.clear();
  uint16_t at = 0;
  if (!name.empty() && h_.pools.size() < kMostNames) {
    at = static_cast<uint16_t>(h_.pools.size());
    h_.pools.push_back(name);
  }
  return pools_[id] = at;
}

uint16_t Reader::stream(uint64_t handle) {
  if (handle == 0) return 0;
  if (const auto known = streams_.find(handle); known != streams_.end()) return known->second;
  if (h_.streams.size() >= UINT16_MAX) return 0;
  h_.streams.push_back(handle);
  return streams_[handle] = static_cast<uint16_t>(h_.streams.size() - 1);
}

void Reader::settings() {
  ReadStatement s(db_, "SELECT value FROM meta WHERE key = 'allocator_settings'");
  if (s && s.step()) h_.settings = AllocatorSettings::parse(s.text(0));
}

void Reader::events() {
  std::unordered_map<int64_t, MemoryAction> actions;
  if (has_table(db_, "memory_action")) {
    ReadStatement s(db_, "SELECT id, name FROM memory_action LIMIT 1000");
    while (s && s.step()) {
      const std::string name = s.text(1);
      for (int a = 0; a < static_cast<int>(MemoryAction::kNone); ++a)
        if (name == memory_action_name(static_cast<MemoryAction>(a))) actions[s.integer(0)] = static_cast<MemoryAction>(a);
    }
  }
  for (ReadStatement s(db_, "SELECT id, process FROM thread LIMIT 1000000"); s && s.step();) processes_[id_of(s.integer(0))] = id_of(s.integer(1));
  const auto process_of = [&](uint32_t thread) {
    const auto p = processes_.find(thread);
    return p == processes_.end() ? 0u : p->second;
  };
  if (ReadStatement count(db_, "SELECT count(*) FROM memory_event"); count && count.step())
    h_.events.reserve(static_cast<size_t>(std::clamp<int64_t>(count.integer(0), 0, kMostEvents)));
  ReadStatement s(db_, "SELECT id, event, thread, stack, time_ns, action, device, address, size, stream, pool, storage, free FROM memory_event ORDER BY id");
  Nanoseconds newest = 0;
  while (s && s.step()) {
    if (h_.events.size() >= kMostEvents) {
      h_.note("rows beyond the most that is shown", kNoIndex);
      break;
    }
    sqlite3_stmt* raw = s.handle();
    const auto number = [&](int c) { return sqlite3_column_int64(raw, c); };
    MemoryEvent e{};
    e.id = id_of(number(0));
    const auto action = actions.find(number(5));
    if (!e.id || action == actions.end()) {
      h_.note("rows whose number or action makes no sense", kNoIndex);
      continue;
    }
    e.action = action->second;
    e.event = EventId(id_of(number(1))), e.stack = StackId(id_of(number(3)));
    e.thread = static_cast<uint16_t>(std::min<uint32_t>(id_of(number(2)), UINT16_MAX));
    e.address = static_cast<uint64_t>(number(7)), e.size = number(8);
    e.storage = id_of(number(11)), e.life = kNoIndex;
    e.device = device(number(6), process_of(id_of(number(2))));
    e.stream = stream(static_cast<uint64_t>(number(9))), e.pool = pool(number(10));
    e.time = std::max<Nanoseconds>(newest, number(4));
    if (e.time > newest + int64_t{1'000'000'000} * 86400 * 365) e.time = newest;
    newest = e.time;
    const bool placed = e.action != MemoryAction::kSnapshot && e.action != MemoryAction::kOom;
    if (e.size < 0 || e.size > kMostBytes || (placed && (e.address == 0 || e.address > kMostAddress)) || (e.device == UINT16_MAX && e.action != MemoryAction::kSnapshot)) {
      h_.note("rows with an impossible device, address or size", kNoIndex);
      continue;
    }
    if (h_.devices.size() > e.device && !h_.devices[e.device].caching() && e.action == MemoryAction::kAlloc && e.size == 0) continue;  // takes nothing
    if (e.action == MemoryAction::kOom) h_.oom_free.push_back(sqlite3_column_type(raw, 12) == SQLITE_NULL ? -1 : std::clamp<int64_t>(number(12), -1, kMostBytes));
    h_.events.push_back(e);
    if (h_.events.size() % 4096 == 0 && cancelled()) return;
  }
}

/// What came from CUDA's own memory pools, among the other events by time: CUPTI reports it after the fact.
void Reader::cuda_pools() {
  constexpr const char* kTable = "CUDA_GPU_MEMORY_USAGE_EVENTS";
  std::string trouble;
  if (!has_table(db_, kTable, {"start", "globalPid", "deviceId", "address", "bytes", "memoryOperationType", "localMemoryPoolAddress", "event"}, &trouble)) return;
  std::unordered_map<int64_t, uint32_t> process_of;
  for (ReadStatement s(db_, "SELECT id, os_id FROM process LIMIT 1000000"); s && s.step();) process_of[s.integer(1) & 0xffffff] = id_of(s.integer(0));
  ReadStatement s(db_, std::string("SELECT m.start, m.globalPid, m.deviceId, m.address, m.bytes, m.memoryOperationType, m.event, e.thread FROM ") + kTable +
                           " m LEFT JOIN event e ON e.id = m.event WHERE m.localMemoryPoolAddress > 0 ORDER BY m.start");
  const size_t others = h_.events.size();
  while (s && s.step() && h_.events.size() < kMostEvents) {
    MemoryEvent e{};
    e.time = s.integer(0), e.address = static_cast<uint64_t>(s.integer(3)), e.size = s.integer(4), e.life = kNoIndex;
    e.action = s.integer(5) == 0 ? MemoryAction::kAlloc : MemoryAction::kFreeCompleted;
    e.event = EventId(id_of(s.integer(6))), e.thread = static_cast<uint16_t>(std::min<uint32_t>(id_of(s.integer(7)), UINT16_MAX));
    const auto process = process_of.find(s.integer(1) >> 24 & 0xffffff);
    const int64_t number = s.integer(2);
    if (e.time < 0 || e.address == 0 || e.address > kMostAddress || e.size < 0 || e.size > kMostBytes || number < 0 || number > 1024 || s.integer(5) > 1 || s.integer(5) < 0) {
      h_.note("allocations of CUDA's memory pools that make no sense", kNoIndex);
      continue;
    }
    e.device = device("cuda:" + std::to_string(number) + " pools", process == process_of.end() ? 0 : process->second);
    if (e.device == UINT16_MAX) continue;
    h_.devices[e.device].cuda_pools = true;
    h_.events.push_back(e);
    if (h_.events.size() % 4096 == 0 && cancelled()) return;
  }
  if (h_.events.size() == others) return;
  std::inplace_merge(h_.events.begin(), h_.events.begin() + static_cast<ptrdiff_t>(others), h_.events.end(), [](const MemoryEvent& a, const MemoryEvent& b) { return a.time < b.time; });
  uint32_t before = 0;
  for (MemoryEvent& e : h_.events) e.id ? before = e.id : e.id = before;
}

void Reader::snapshots() {
  if (!has_table(db_, "segment") || !has_table(db_, "block")) return;
  std::unordered_map<int64_t, size_t> by_id;  // memory_event.id -> place in snapshots
  for (MemoryIndex i = 0; i < h_.events.size(); ++i) {
    if (h_.events[i].action != MemoryAction::kSnapshot) continue;
    by_id[h_.events[i].id] = h_.snapshots.size();
    h_.snapshots.push_back({i, {}});
  }
  if (h_.snapshots.empty()) return;
  size_t rows = 0;
  ReadStatement s(db_, "SELECT snapshot, device, address, total_size, stream, segment_type, pool, is_expandable FROM segment");
  while (s && s.step() && ++rows < kMostSnapshotRows) {
    const auto which = by_id.find(s.integer(0));
    SnapshotSegment g{};
    g.address = static_cast<uint64_t>(s.integer(2)), g.size = s.integer(3), g.device = UINT16_MAX;
    g.stream = stream(static_cast<uint64_t>(s.integer(4))), g.pool = pool(s.integer(6)), g.expandable = s.integer(7) != 0;
    if (which != by_id.end()) {
      const auto process = processes_.find(h_.events[h_.snapshots[which->second].at].thread);
      g.device = device(s.integer(1), process == processes_.end() ? 0 : process->second);
    }
    const std::string type = text(s.integer(5));
    g.large = type.empty() ? g.size != kSmallSegment : type != "small";
    if (which == by_id.end() || g.device == UINT16_MAX || g.address == 0 || g.address > kMostAddress || g.size <= 0 || g.size > kMostBytes) {
      h_.note("segments of a snapshot that make no sense", kNoIndex);
      continue;
    }
    h_.snapshots[which->second].segments.push_back(std::move(g));
  }
  for (Snapshot& snap : h_.snapshots) {
    std::sort(snap.segments.begin(), snap.segments.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
    uint64_t end = 0;
    const auto gone = std::remove_if(snap.segments.begin(), snap.segments.end(), [&](const SnapshotSegment& g) {
      if (g.address < end) return true;
      end = g.address + static_cast<uint64_t>(g.size);
      return false;
    });
    if (gone != snap.segments.end()) h_.note("segments of a snapshot that make no sense", snap.at, static_cast<uint64_t>(snap.segments.end() - gone));
    snap.segments.erase(gone, snap.segments.end());
  }
  std::unordered_map<int64_t, BlockState> states;
  rows = 0;
  ReadStatement b(db_, "SELECT snapshot, segment, address, size, requested_size, state FROM block");
  while (b && b.step() && ++rows < kMostSnapshotRows) {
    const auto which = by_id.find(b.integer(0));
    const auto address = static_cast<uint64_t>(b.integer(2));
    const int64_t size = b.integer(3);
    if (!states.count(b.integer(5))) {
      const std::string word = text(b.integer(5));
      states[b.integer(5)] = word == "active_allocated" ? BlockState::kActive : word.starts_with("active_") ? BlockState::kPendingFree : BlockState::kInactive;
    }
    if (which != by_id.end()) {
      auto& segments = h_.snapshots[which->second].segments;
      const auto g = std::lower_bound(segments.begin(), segments.end(), static_cast<uint64_t>(b.integer(1)), [](const SnapshotSegment& a, uint64_t x) { return a.address < x; });
      if (g != segments.end() && g->address == static_cast<uint64_t>(b.integer(1)) && size > 0 && address >= g->address && address - g->address < static_cast<uint64_t>(g->size) &&
          size <= g->size - static_cast<int64_t>(address - g->address)) {
        g->blocks.push_back({address, size, std::clamp<int64_t>(b.integer(4), 0, size), states[b.integer(5)]});
        continue;
      }
    }
    h_.note("blocks of a snapshot that lie in none of its segments", kNoIndex);
  }
  // Blocks tile their segment: what overlaps is left out, what is missing is free.
  for (Snapshot& snap : h_.snapshots) {
    for (SnapshotSegment& g : snap.segments) {
      std::sort(g.blocks.begin(), g.blocks.end(), [](const auto& x, const auto& y) { return x.address < y.address; });
      std::vector<SnapshotBlock> tiled;
      uint64_t at = g.address, odd = 0;
      const auto fill = [&](uint64_t to) {
        if (to > at) tiled.push_back({at, static_cast<int64_t>(to - at), 0, BlockState::kInactive}), ++odd;
      };
      for (const SnapshotBlock& x : g.blocks) {
        if (x.address < at) {
          ++odd;
          continue;
        }
        fill(x.address);
        tiled.push_back(x);
        at = x.address + static_cast<uint64_t>(x.size);
      }
      fill(g.address + static_cast<uint64_t>(g.size));
      if (odd) h_.note("places in a snapshot where blocks overlap or are missing", snap.at, odd);
      g.blocks = std::move(tiled);
    }
  }
}

void Reader::tensors() {
  uint32_t most = 0;
  for (const MemoryEvent& e : h_.events) most = std::max(most, e.storage);
  if (!most || most > kMostStorages) return;
  h_.tensor_of.resize(most + 1);
  ReadStatement s(db_, "SELECT id, storage FROM tensor");
  while (s && s.step()) {
    const uint32_t id = id_of(s.integer(0)), storage = id_of(s.integer(1));
    if (storage && storage <= most && (!h_.tensor_of[storage] || id < h_.tensor_of[storage])) h_.tensor_of[storage] = id;
    if (id % 4096 == 0 && cancelled()) return;
  }
  if (!has_table(db_, "saved")) return;
  ReadStatement v(db_, "SELECT t.storage, v.node FROM saved v JOIN tensor t ON t.id = v.tensor WHERE t.storage IS NOT NULL LIMIT 20000000");
  while (v && v.step())
    if (const uint32_t storage = id_of(v.integer(0)), node = id_of(v.integer(1)); storage && node) h_.saved.emplace_back(storage, node);
  std::sort(h_.saved.begin(), h_.saved.end());
}

}  // namespace

Result<std::shared_ptr<const MemoryHistory>> load_memory(const std::string& path, const std::atomic<bool>* cancel) {
  auto h = std::make_shared<MemoryHistory>();
  h->streams.push_back(0), h->pools.emplace_back();
  ReadConnection db;
  for (const bool immutable : {false, true}) {
    if (const Status opened = db.open(path, immutable, cancel); !opened) return Error{"cannot open " + path + ": " + opened.error()};
    ReadStatement probe(db, "SELECT count(*) FROM sqlite_schema");
    if (probe.step()) break;
    if (immutable) return Error{"cannot read " + path + ": " + db.message()};
  }
  if (!has_table(db, "memory_event") || !has_table(db, "memory_action")) return std::shared_ptr<const MemoryHistory>(h);
  db.take_failure();
  Reader r(db, *h, cancel);
  r.settings();
  r.events();
  r.cuda_pools();
  if (!h->events.empty()) r.snapshots(), r.tensors();
  if (const std::string failure = db.take_failure(); !failure.empty()) h->note("stretches of the file that cannot be read", kNoIndex);
  follow_history(*h, cancel);
  if (cancel && *cancel) return std::make_shared<const MemoryHistory>();
  return std::shared_ptr<const MemoryHistory>(h);
}

}  // namespace peel
