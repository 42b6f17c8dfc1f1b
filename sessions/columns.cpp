#include "sessions/columns.h"

#include <algorithm>

#include "sessions/format.h"

namespace peel {
namespace {

template <class T>
T load(const T& place) {
  return std::atomic_ref<T>(const_cast<T&>(place)).load(std::memory_order_relaxed);
}
template <class T>
void store(T& place, T value) {
  std::atomic_ref<T>(place).store(value, std::memory_order_relaxed);
}

}  // namespace

Columns::Columns()
    : chunks_(new std::atomic<Chunk*>[kMaxId / kChunkRows + 1]()), shape_slots_(1024) {}

Columns::~Columns() {
  for (size_t i = 0; i < chunk_count_; ++i) delete chunks_[i].load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < tracks_.size(); ++i) delete tracks_[i];
}

size_t Columns::ShapeHash::operator()(const Shape& s) const noexcept {
  uint64_t h = s.thread.value * 0x9e3779b97f4a7c15u;
  const auto mix = [&h](uint64_t v) { h = (h ^ v) * 0xff51afd7ed558ccdu; h ^= h >> 32; };
  mix(uint64_t{s.op.value} << 32 | s.kernel.value);
  mix(uint64_t{s.keyset.value} << 32 | s.arg_keyset.value);
  mix(uint64_t{s.tls.value} << 32 | uint64_t{s.key} << 16 | static_cast<uint64_t>(s.kind));
  return h;
}

ShapeId Columns::intern(const Shape& s) {
  size_t mask = shape_slots_.size() - 1;
  size_t at = ShapeHash{}(s)&mask;
  for (; shape_slots_[at]; at = (at + 1) & mask) {
    if (shapes_[shape_slots_[at] - 1] == s) return shape_slots_[at] - 1;
  }
  const ShapeId id = shapes_.size();
  shapes_.push_back(s);
  shape_slots_[at] = id + 1;
  if (size_t{id} * 2 > mask) {
    std::vector<ShapeId> bigger(shape_slots_.size() * 4);
    mask = bigger.size() - 1;
    for (ShapeId i = 0; i <= id; ++i) {
      at = ShapeHash{}(shapes_[i]) & mask;
      while (bigger[at]) at = (at + 1) & mask;
      bigger[at] = i + 1;
    }
    shape_slots_.swap(bigger);
  }
  return id;
}

uint16_t Columns::track_of(ThreadId thread, Fault* fault) {
  const auto found = track_by_thread_.find(thread.value);
  if (found != track_by_thread_.end()) return found->second;
  if (tracks_.size() >= kMaxTracks) {  // no program has so many: all further ones share the last
    *fault = Fault::kThreads;
    return kMaxTracks - 1;
  }
  const auto track = static_cast<uint16_t>(tracks_.size());
  auto* t = new Track;
  t->thread = thread;
  tracks_.push_back(t);
  track_by_thread_.emplace(thread.value, track);
  return track;
}

Columns::Fault Columns::append(const RawHop& hop) {
  Fault fault = Fault::kNone;
  const uint32_t id = ++written_;
  const uint32_t r = (id - 1) % kChunkRows;
  auto& slot = chunks_[(id - 1) / kChunkRows];
  if (r == 0) {
    slot.store(new Chunk, std::memory_order_release);
    chunk_count_.fetch_add(1, std::memory_order_relaxed);
  }
  Chunk& c = *slot.load(std::memory_order_relaxed);

  Shape shape = hop.shape;
  shape.track = track_of(shape.thread, &fault);
  Track& track = *tracks_.mutable_at(shape.track);
  shape.thread = track.thread;

  // Ancestors that are not the parent's have ended: their subtrees are complete.
  uint32_t parent = hop.parent.value;
  auto keep = track.open.end();
  if (parent != 0) {
    keep = std::find(track.open.rbegin(), track.open.rend(), parent).base();
    if (keep == track.open.begin()) {
      fault = Fault::kParent;
      parent = 0;
    }
  } else {
    keep = track.open.begin();
  }
  const uint32_t newest = track.open.empty() ? 0 : track.open.back();
  for (auto it = keep; it != track.open.end(); ++it) {
    store(chunk(EventId{*it}).last[row(EventId{*it})], newest);
  }
  track.open.erase(keep, track.open.end());
  c.depth[r] = static_cast<uint16_t>(std::min<size_t>(track.open.size(), 0xffff));
  track.open.push_back(id);

  Run* run = track.runs.size() ? &track.runs.mutable_at(track.runs.size() - 1) : nullptr;
  if (run && run->last.load(std::memory_order_relaxed) + 1 == id) {
    run->last.store(id, std::memory_order_relaxed);
  } else {
    track.runs.push_back(Run{id, id});
  }

  c.parent[r] = parent;
  c.last[r] = id;
  c.shape[r] = intern(shape);
  c.stack[r] = hop.stack.value;
  c.node[r] = 0;
  c.begin[r] = hop.begin;
  c.end[r] = hop.end;
  c.flags[r] = hop.flags;
  return fault;
}

void Columns::publish() {
  size_.store(written_, std::memory_order_release);
  for (uint32_t i = 0; i < tracks_.size(); ++i) {
    const std::vector<uint32_t>& open = tracks_[i]->open;
    for (const uint32_t id : open) store(chunk(EventId{id}).last[row(EventId{id})], open.back());
  }
}

void Columns::set_end(EventId e, Nanoseconds end, uint32_t flags) {
  Chunk& c = chunk(e);
  store(c.end[row(e)], end);
  store(c.flags[row(e)], static_cast<uint8_t>(flags));
}

void Columns::set_path(EventId e, const Shape& now) {
  Shape s = shape(e);
  s.kind = now.kind, s.key = now.key, s.keyset = now.keyset, s.kernel = now.kernel;
  const ShapeId id = intern(s);
  std::atomic_ref<ShapeId>(chunk(e).shape[row(e)]).store(id, std::memory_order_release);  // the shape is there first
}

void Columns::set_node(EventId e, NodeId node) {
  uint32_t& place = chunk(e).node[row(e)];
  if (load(place) == 0) store(place, node.value);
}

Event Columns::event(EventId e) const {
  const Chunk& c = chunk(e);
  const uint32_t r = row(e);
  const Shape& s = shape(e);
  return Event{.id = e,
               .parent = EventId{c.parent[r]},
               .last = last(e),
               .thread = s.thread,
               .op = s.op,
               .kind = s.kind,
               .key = s.key,
               .keyset = s.keyset,
               .arg_keyset = s.arg_keyset,
               .tls = s.tls,
               .kernel = s.kernel,
               .stack = StackId{c.stack[r]},
               .begin = c.begin[r],
               .end = load(c.end[r]),
               .flags = load(c.flags[r]),
               .depth = c.depth[r],
               .node = NodeId{load(c.node[r])}};
}

// A subtree's end may already be known for rows that are not visible yet.
EventId Columns::last(EventId e) const { return EventId{std::min(load(chunk(e).last[row(e)]), size())}; }
Nanoseconds Columns::end(EventId e) const { return load(chunk(e).end[row(e)]); }
uint8_t Columns::flags(EventId e) const { return load(chunk(e).flags[row(e)]); }
NodeId Columns::node(EventId e) const { return NodeId{load(chunk(e).node[row(e)])}; }

uint32_t Columns::find_run(const Track& t, uint32_t id) const {
  uint32_t low = 0, high = t.runs.size();
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (t.runs[middle].first <= id) low = middle + 1; else high = middle;
  }
  return low - 1;
}

EventId Columns::next_in_thread(EventId e) const {
  const uint32_t n = size();
  if (e.value >= n) return {};
  const uint16_t track = shape(e).track;
  if (shape(EventId{e.value + 1}).track == track) return EventId{e.value + 1};
  const Track& t = *tracks_[track];
  const uint32_t next = find_run(t, e.value) + 1;
  if (next >= t.runs.size() || t.runs[next].first > n) return {};
  return EventId{t.runs[next].first};
}

EventId Columns::previous_in_thread(EventId e) const {
  if (e.value <= 1) return {};
  const uint16_t track = shape(e).track;
  if (shape(EventId{e.value - 1}).track == track) return EventId{e.value - 1};
  const Track& t = *tracks_[track];
  const uint32_t run = find_run(t, e.value);
  return run == 0 ? EventId{} : EventId{t.runs[run - 1].last.load(std::memory_order_relaxed)};
}

EventId Columns::next_sibling(EventId e) const {
  const EventId next = next_in_thread(last(e));
  return next && parent(next) == parent(e) ? next : EventId{};
}

EventId Columns::previous_sibling(EventId e) const {
  const EventId up = parent(e);
  EventId p = previous_in_thread(e);
  if (p == up) return {};
  while (p && parent(p) != up) p = parent(p);
  return p;
}

EventId Columns::first_child(EventId e) const {
  const EventId next = next_in_thread(e);
  return next && parent(next) == e ? next : EventId{};
}

EventId Columns::first_of_thread(ThreadId thread) const {
  for (uint32_t i = 0; i < tracks_.size(); ++i) {
    if (tracks_[i]->thread != thread) continue;
    const uint32_t first = tracks_[i]->runs.size() ? tracks_[i]->runs[0].first : 0;
    return first <= size() ? EventId{first} : EventId{};
  }
  return {};
}

std::vector<Columns::Span> Columns::spans() const {
  std::vector<Span> out;
  const uint32_t n = size();
  for (uint32_t first = 1; first <= n; first += kChunkRows) {
    const Chunk& c = chunk(EventId{first});
    out.push_back({EventId{first}, std::min(kChunkRows, n - first + 1), c.parent, c.shape, c.stack, c.flags, c.node});
  }
  return out;
}

size_t Columns::bytes() const {
  size_t n = chunk_count_.load(std::memory_order_relaxed) * sizeof(Chunk) + shapes_.bytes() +
             shape_slots_.capacity() * sizeof(ShapeId);
  for (uint32_t i = 0; i < tracks_.size(); ++i) n += sizeof(Track) + tracks_[i]->runs.bytes();
  return n;
}

}  // namespace peel
