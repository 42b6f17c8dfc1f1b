#include "sessions/drain_merge.h"

#include <algorithm>
#include <cstring>

namespace peel {
namespace {

using wire::RecordKind;

constexpr uint64_t kForEver = UINT64_MAX;
constexpr uint64_t kReleaseBytes = 256 * 1024;

bool timed(RecordKind kind) {
  return kind == RecordKind::kBegin || kind == RecordKind::kEnd || kind == RecordKind::kSpanBegin || kind == RecordKind::kSpanEnd ||
         kind == RecordKind::kMemory || kind == RecordKind::kGraphNode || kind == RecordKind::kTick;
}
/// Goes with the timed record before it, not with the one after it.
bool follows(const wire::Head& head) {
  switch (head.kind) {
    case RecordKind::kTensor:
    case RecordKind::kValue: return !(head.a & wire::kResultBit);
    case RecordKind::kWrite:
    case RecordKind::kNode:
    case RecordKind::kError:
    case RecordKind::kGpu:
    case RecordKind::kGpuMemory: return false;
    default: return true;
  }
}

}  // namespace

Merge::~Merge() {
  for (auto& r : rings_) r->consumer.close();
}

void Merge::add(Process* p) { processes_.push_back(p); }

void Merge::remove(Process* p) {
  for (auto& r : rings_) {
    if (r->process != p) continue;
    if (r->track) r->track->close();
    r->consumer.close();
  }
  std::erase_if(rings_, [&](const auto& r) { return r->process == p; });
  std::erase(processes_, p);
}

bool Merge::drained(const Process* p) const {
  for (const auto& r : rings_) {
    if (r->process == p && r->consumer.is_open() && r->consumer.position() < r->consumer.end()) return false;
  }
  return true;
}

std::optional<std::pair<uint32_t, uint32_t>> Merge::open_hop(const Process* p, uint32_t ring, uint64_t head) const {
  for (const auto& r : rings_) {
    if (r->process == p && r->index == ring && r->track && r->consumer.position() >= head) return std::pair{r->track->thread(), r->track->innermost()};
  }
  return std::nullopt;
}

void Merge::look() {
  const uint64_t now = wire::ticks();
  const int64_t now_ns = wire::monotonic_ns();
  for (Process* p : processes_) {
    wire::Control* control = p->memory.control;
    const uint32_t count = std::min(control->rings.load(std::memory_order_acquire), wire::kMaxRings);
    uint32_t known = 0;
    for (const auto& r : rings_) known += r->process == p;
    for (; known < count; ++known) {
      auto ring = std::make_unique<Ring>();
      ring->process = p;
      ring->index = known;
      ring->control = &control->ring[known];
      rings_.push_back(std::move(ring));
    }
  }
  fullness_ = 0;
  const bool alone = rings_.size() == 1;
  for (auto& r : rings_) look_at(*r, now_ns, alone);
  const uint64_t margin = static_cast<uint64_t>((static_cast<unsigned __int128>(kMarginNs) << 32) / std::max<uint64_t>(ledger_.clock.factor, 1));
  const uint64_t unseen = now > margin ? now - margin : 0;
  ledger_.latest_ticks = wire::ticks() + margin;
  uint64_t lowest = kForEver, second = kForEver;
  Ring* holder = nullptr;
  for (auto& r : rings_) {
    if (r->bound == 0) r->bound = unseen;
    if (r->bound < lowest) {
      second = lowest;
      lowest = r->bound;
      holder = r.get();
    } else {
      second = std::min(second, r->bound);
    }
  }
  for (auto& r : rings_) r->limit = std::min(unseen, r.get() == holder ? second : lowest);
  complete_until_ = std::min(unseen, lowest);
  for (auto& r : rings_) peek(*r);
}

/// Sets bound; 0 stands for "now, less the margin".
void Merge::look_at(Ring& r, int64_t now_ns, bool alone) {
  const uint32_t state = r.control->state.load(std::memory_order_acquire);
  const bool busy = r.control->busy.load(std::memory_order_acquire) != 0;
  r.ended = r.process->gone || state == wire::kClosed;
  if (!r.consumer.is_open()) {
    r.bound = r.ended ? kForEver : 0;
    if (state == wire::kFree && r.control->head.load(std::memory_order_relaxed) == r.control->tail.load(std::memory_order_relaxed)) return;
    if (!r.consumer.open_ring(r.process->memory, r.index)) {
      r.process->refuse("its memory cannot be mapped");
      return;
    }
    r.scanned = r.released = r.consumer.position();
  }
  if (!r.consumer.refresh()) damage(r);
  if (r.damaged || !r.process->refused().empty()) {
    r.consumer.advance(r.consumer.end());
    r.consumer.release();
    r.bound = kForEver;
    return;
  }
  const uint64_t held = r.consumer.end() - r.consumer.position();
  fullness_ = std::max(fullness_, static_cast<double>(held) / static_cast<double>(r.consumer.size()));
  if (r.ended) {
    r.bound = kForEver;
  } else if (!busy || alone) {
    r.bound = 0;
    r.busy_since = 0;
  } else {
    scan(r);
    r.bound = std::max({r.published, r.last, r.control->opened.load(std::memory_order_relaxed), uint64_t{1}});
    if (r.busy_since == 0 || r.busy_head != r.consumer.end()) {
      r.busy_since = now_ns;
      r.busy_head = r.consumer.end();
    } else if (now_ns - r.busy_since > kStuckNs) {
      r.bound = 0;
      ledger_.catalog.lose("order not certain", 1, "A thread was stopped while it wrote a record; the others were not held up for it, so its next hop may have too high an id.");
    }
  }
}

/// Finds the newest time below the ring's head.
void Merge::scan(Ring& r) {
  uint64_t at = std::max(r.scanned, r.consumer.position());
  const uint64_t end = r.consumer.end();
  while (at < end) {
    wire::Head head;
    std::memcpy(&head, r.consumer.at(at), sizeof head);
    const uint64_t bytes = head.words * 8ull;
    if (bytes == 0 || bytes > end - at) return;  // peek() deals with it
    if (timed(head.kind) && head.words >= 2) r.published = std::max(r.published, r.consumer.at(at)[1]);
    at += bytes;
    r.scanned = at;
  }
}

void Merge::damage(Ring& r) {
  if (!r.damaged) ledger_.catalog.lose("damaged rings", 1, "A thread's ring made no sense from some point on; nothing after it was recorded.");
  r.damaged = true;
  r.ready = false;
  r.consumer.advance(r.consumer.end());
}

/// Finds the timed record with which the next step ends.
void Merge::peek(Ring& r) {
  r.ready = false;
  if (!r.consumer.is_open() || r.damaged) return;
  uint64_t at = r.consumer.position();
  const uint64_t end = r.consumer.end();
  bool found = false, first = true;
  while (at < end) {
    wire::Head head;
    std::memcpy(&head, r.consumer.at(at), sizeof head);
    const uint64_t bytes = head.words * 8ull;
    if (bytes == 0 || bytes > end - at) return damage(r);
    const bool has_time = timed(head.kind) && head.words >= 2;
    if (found) {
      if (has_time || !follows(head)) break;
    } else if (has_time) {
      found = true;
      const uint64_t time = r.consumer.at(at)[1];
      r.next_time = time > ledger_.latest_ticks ? r.last : std::max(r.last, time);  // the future is damage
    } else if (first && follows(head)) {
      found = true;  // goes with a record that was merged before it was published
      r.next_time = r.last;
    }
    first = false;
    at += bytes;
    if (found) r.next_end = at;
  }
  if (!found) {
    // nothing with a time yet: wait for it, unless none can come
    if (at == r.consumer.position() || (!r.ended && at - r.consumer.position() < r.consumer.size() / 2)) return;
    r.next_time = r.last;
    r.next_end = at;
  }
  r.ready = true;
}

Track& Merge::track(Ring& r) {
  if (!r.track) {
    const uint32_t id = ++ledger_.threads;
    const auto name = r.process->thread_names.find(r.index);
    ledger_.batch().add(Small::kThread, {int64_t{id}, static_cast<int64_t>(r.control->thread_id.load(std::memory_order_relaxed)), int64_t{r.process->id},
                                         name == r.process->thread_names.end() ? Cell() : Cell(name->second)});
    r.track = std::make_unique<Track>(ledger_, *r.process, id, static_cast<uint32_t>(r.control->thread_id.load(std::memory_order_relaxed)));
  }
  return *r.track;
}

void Merge::step(Ring& r) {
  Track& to = track(r);
  uint64_t at = r.consumer.position();
  while (at < r.next_end) {
    const uint64_t* record = r.consumer.at(at);
    wire::Head head;
    std::memcpy(&head, record, sizeof head);
    if (head.words == 0 || head.words * 8ull > r.next_end - at) return damage(r);  // it changed under our eyes
    to.consume(record, head);
    at += head.words * 8ull;
  }
  r.last = r.next_time;
  r.consumer.advance(at);
  if (at - r.released > kReleaseBytes) {
    r.consumer.release();
    r.released = at;
  }
  peek(r);
}

bool Merge::advance() {
  for (;;) {
    Ring* best = nullptr;
    uint64_t second = kForEver;
    for (auto& r : rings_) {
      if (!r->ready || !r->process->refused().empty()) continue;
      if (!best || r->next_time < best->next_time) {
        if (best) second = std::min(second, best->next_time);
        best = r.get();
      } else {
        second = std::min(second, r->next_time);
      }
    }
    if (!best || best->next_time > best->limit) return false;
    const uint64_t stop = std::min(best->limit, second);
    while (best->ready && best->next_time <= stop) {
      step(*best);
      if (ledger_.full()) return true;
    }
  }
}

void Merge::settle() {
  for (Process* p : processes_) {
    for (const uint32_t index : p->renamed) {
      for (auto& r : rings_) {
        if (r->process == p && r->index == index && r->track) ledger_.batch().add(Small::kThreadName, {int64_t{r->track->thread()}, p->thread_names[index]});
      }
    }
    p->renamed.clear();
  }
  for (auto& r : rings_) {
    if (!r->consumer.is_open()) continue;
    if (r->released != r->consumer.position()) {
      r->consumer.release();
      r->released = r->consumer.position();
    }
    if (const uint32_t dropped = r->control->dropped.exchange(0, std::memory_order_relaxed)) {
      ledger_.catalog.lose("dropped", dropped, "Records that did not fit into a full ring were dropped (--on-full drop), or came after recording had stopped.");
    }
    if (r->ended && !r->process->gone && r->consumer.position() == r->consumer.end()) {
      if (r->track) r->track->close();
      r->track.reset();
      r->process->thread_names.erase(r->index);
      r->control->state.store(wire::kFree, std::memory_order_release);
      r->ended = false;
    }
  }
}

}  // namespace peel
