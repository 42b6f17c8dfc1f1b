#include "sessions/diff_effects.h"

#include <algorithm>
#include <unordered_map>

#include "sessions/format.h"
#include "sessions/gpu.h"
#include "sessions/hash.h"
#include "sessions/memory.h"
#include "sessions/optional_table.h"
#include "sessions/sqlite_read.h"

namespace peel {
namespace {

constexpr size_t kMostDevices = 4096;
constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr uint32_t kNoBlock = UINT32_MAX;

template <class Row>
std::pair<typename std::vector<Row>::const_iterator, typename std::vector<Row>::const_iterator> of_event(const std::vector<Row>& rows, EventId e) {
  const auto first = std::lower_bound(rows.begin(), rows.end(), e.value, [](const Row& r, uint32_t v) { return r.event < v; });
  auto last = first;
  while (last != rows.end() && last->event == e.value) ++last;
  return {first, last};
}

bool inside(const Session& s, const DiffScope& scope, EventId e) {
  if (!e || e.value > s.size()) return false;
  return scope.whole() || (e >= scope.first && e <= scope.last && s.event(e).thread == scope.thread);
}

/// Before what the thread does next: until then Python lets go of what the last call gave.
Nanoseconds end_of(const Session& s, const DiffScope& scope) {
  if (scope.whole()) return INT64_MAX;
  EventId last = std::min(scope.last, EventId{s.size()});
  while (last > scope.first && s.event(last).thread != scope.thread) --last.value;
  const EventId next = s.next_in_thread(last);
  return next ? s.stretch(next).begin : INT64_MAX;
}

Nanoseconds end_of_top(const Session& s, const DiffScope& scope, EventId e) {
  for (EventId up = s.parent(e); up && (scope.whole() || up >= scope.first); up = s.parent(up)) e = up;
  const Nanoseconds end = s.stretch(e).end;
  return end == kOpen ? INT64_MAX : end;
}

}  // namespace

void CallEffects::read_memory(ReadConnection& db, const Session& s, const DiffScope& scope, const std::atomic<bool>* cancel) {
  std::string trouble;
  if (!has_table(db, "memory_event", {"id", "event", "thread", "time_ns", "action", "device", "address", "size", "storage"}, &trouble)) return;
  struct Live { uint32_t block; int64_t bytes; };
  std::unordered_map<uint64_t, Live> live;        // by process, device and address
  std::vector<bool> transient;                    // of blocks_: without a tensor, and not known to be given back inside its call
  std::unordered_map<int64_t, uint16_t> devices;  // by string.id
  const Nanoseconds end = end_of(s, scope);
  const Nanoseconds begin = scope.whole() ? 0 : s.stretch(scope.first).begin;
  ReadStatement text(db, "SELECT value FROM string WHERE id = ?");
  ReadStatement rows(db, "SELECT event, thread, time_ns, action, device, address, size, storage IS NULL FROM memory_event ORDER BY id");
  for (uint64_t n = 0; rows.step(); ++n) {
    if ((n & 0xffff) == 0 && cancel && cancel->load(std::memory_order_relaxed)) return;
    const auto action = static_cast<MemoryAction>(rows.integer(3));
    const bool free = action == MemoryAction::kFreeRequested || action == MemoryAction::kFreeCompleted;
    if (action == MemoryAction::kAlloc) has_memory_ = true;
    const Nanoseconds time = rows.integer(2);
    if ((!free && action != MemoryAction::kAlloc) || time > end) continue;
    const int64_t thread = rows.integer(1);
    const Thread* who = thread > 0 && thread <= kMaxId ? s.thread(ThreadId{static_cast<uint32_t>(thread)}) : nullptr;
    const uint64_t key = hash_mix(hash_mix(who ? who->process : 0, static_cast<uint64_t>(rows.integer(4))), static_cast<uint64_t>(rows.integer(5)));
    if (free) {
      const auto at = live.find(key);
      if (at == live.end()) continue;
      const uint32_t block = at->second.block;
      if (block != kNoBlock && transient[block] && time <= end_of_top(s, scope, EventId{blocks_[block].event})) transient[block] = false;
      held_ -= at->second.bytes;
      live.erase(at);
      continue;
    }
    const int64_t bytes = rows.integer(6), id = rows.integer(0);
    if (bytes < 0 || bytes > kMostBytes) continue;
    const EventId event{id > 0 && id <= kMaxId ? static_cast<uint32_t>(id) : 0};
    const bool counts = event ? inside(s, scope, event) : scope.whole() || (thread == scope.thread.value && time >= begin);
    if (!counts) {
      live.erase(key);
      continue;
    }
    allocated_ += bytes, held_ += bytes;
    uint32_t block = kNoBlock;
    if (event && blocks_.size() < kNoBlock) {
      const auto [device, fresh] = devices.try_emplace(rows.integer(4), static_cast<uint16_t>(devices_.size()));
      if (fresh && devices_.size() < kMostDevices) {
        text.reset();
        devices_.push_back(text.bind(1, rows.integer(4)).step() ? text.text(0) : "");
        device_hashes_.push_back(hash_text(devices_.back()) | 1);
      } else if (fresh) {
        device->second = 0;
      }
      block = static_cast<uint32_t>(blocks_.size());
      blocks_.push_back({event.value, device->second, bytes});
      transient.push_back(rows.integer(7) != 0);
    }
    live[key] = {block, bytes};
  }
  size_t kept = 0;
  for (size_t i = 0; i < blocks_.size(); ++i)
    if (!transient[i]) blocks_[kept++] = blocks_[i];
  blocks_.resize(kept);
  std::stable_sort(blocks_.begin(), blocks_.end(), [](const Block& a, const Block& b) { return a.event < b.event; });
}

void CallEffects::read_gpu(const Session& s, const DiffScope& scope) {
  const auto gpu = s.gpu();
  if (!gpu || gpu->works() == 0) return;
  has_gpu_ = true;
  // Of a graph that is replayed: which launch was the first that ran a hop's part of it.
  struct First { Nanoseconds begin; uint32_t correlation; };
  std::unordered_map<uint32_t, First> first;
  for (const Stream& stream : gpu->streams())
    for (const peel::Work& w : stream.work) {
      if (!w.in_graph || !w.event) continue;
      const auto [at, fresh] = first.try_emplace(w.event.value, First{w.begin, w.correlation});
      if (!fresh && w.begin < at->second.begin) at->second = {w.begin, w.correlation};
    }
  std::unordered_map<std::string, uint32_t> names;
  std::unordered_map<uint32_t, uint32_t> shapes;
  for (const Stream& stream : gpu->streams())
    for (const peel::Work& w : stream.work) {
      if (gpu->shape(w).kind == WorkKind::kGraph || !inside(s, scope, w.event)) continue;
      if (w.in_graph && first[w.event.value].correlation != w.correlation) continue;
      const auto [shape, unseen] = shapes.try_emplace(w.shape, 0);
      if (unseen) {
        const auto [name, fresh] = names.try_emplace(gpu->full_name(w), static_cast<uint32_t>(names_.size()));
        if (fresh) names_.push_back(name->first), name_hashes_.push_back(hash_text(name->first));
        shape->second = name->second;
      }
      works_.push_back({w.event.value, shape->second});
    }
  std::sort(works_.begin(), works_.end(), [](const Work& a, const Work& b) { return a.event != b.event ? a.event < b.event : a.name < b.name; });
}

uint64_t CallEffects::taken_sum(EventId e, bool by_device) const {
  uint64_t sum = 0;
  const auto [first, last] = of_event(blocks_, e);
  for (auto b = first; b != last; ++b) sum += (static_cast<uint64_t>(b->bytes) * 0x9e3779b97f4a7c15 + 0xbf58476d1ce4e5b9) * (by_device ? device_hashes_[b->device] : 1);
  return sum;
}

uint64_t CallEffects::launched_sum(EventId e) const {
  uint64_t sum = 0;
  const auto [first, last] = of_event(works_, e);
  for (auto w = first; w != last; ++w) sum += name_hashes_[w->name];
  return sum;
}

void CallEffects::add_taken(EventId e, Taken* out) const {
  const auto [first, last] = of_event(blocks_, e);
  for (auto b = first; b != last; ++b) {
    TakenBytes& t = (*out)[devices_[b->device]];
    ++t.blocks, t.bytes += b->bytes;
  }
}

void CallEffects::add_launched(EventId e, Launched* out) const {
  const auto [first, last] = of_event(works_, e);
  for (auto w = first; w != last; ++w) ++(*out)[names_[w->name]];
}

Taken CallEffects::taken_in(const Session& s, EventId call) const {
  Taken out;
  const Event e = s.event(call);
  const auto first = std::lower_bound(blocks_.begin(), blocks_.end(), call.value, [](const Block& b, uint32_t v) { return b.event < v; });
  for (auto b = first; b != blocks_.end() && b->event <= e.last.value; ++b) {
    if (s.event(EventId{b->event}).thread != e.thread) continue;
    TakenBytes& t = out[devices_[b->device]];
    ++t.blocks, t.bytes += b->bytes;
  }
  return out;
}

Launched CallEffects::launched_in(const Session& s, EventId call) const {
  Launched out;
  const Event e = s.event(call);
  const auto first = std::lower_bound(works_.begin(), works_.end(), call.value, [](const Work& w, uint32_t v) { return w.event < v; });
  for (auto w = first; w != works_.end() && w->event <= e.last.value; ++w)
    if (s.event(EventId{w->event}).thread == e.thread) ++out[names_[w->name]];
  return out;
}

}  // namespace peel
