// A small caching allocator that follows the same rules as PyTorch's, written apart from the replay: blocks in linked lists and a
// best-fit search, so that it finds places itself. Tells its trace through a callback and its state as rows to compare with.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace peel::test {

struct SimOptions {
  int64_t capacity = int64_t{1} << 40;
  int64_t max_split = INT64_MAX, max_left = 20 << 20, large_segment = 20 << 20;
  bool expandable = false;
  uint64_t base = 0x7f0000000000;
};

class AllocatorSim {
 public:
  /// action in PyTorch's words; free: oom only
  using Tell = std::function<void(const char* action, uint64_t address, int64_t size, uint64_t stream, int pool, int64_t free)>;
  struct Row {
    uint64_t address;
    int64_t size, requested;
    int state;  // 0 inactive, 1 active, 2 pending
    bool operator==(const Row&) const = default;
  };
  struct SegmentRow {
    uint64_t address;
    int64_t size;
    uint64_t stream;
    bool small, expandable;
    int pool;
    std::vector<Row> blocks;
    bool operator==(const SegmentRow&) const = default;
  };

  AllocatorSim(SimOptions o, Tell tell) : o_(o), tell_(std::move(tell)), next_(o.base) {}

  /// 0 = out of memory.
  uint64_t malloc(int64_t asked, uint64_t stream = 0, int pool = 0) {
    process_events();
    const int64_t size = asked < 512 ? 512 : (asked + 511) / 512 * 512;
    const bool small = size <= (1 << 20);
    B* b = best_fit(size, stream, pool, small);
    const int64_t want = small ? 2 << 20 : size < (10 << 20) ? o_.large_segment : (size + (2 << 20) - 1) / (2 << 20) * (2 << 20);
    if (!b) b = from_driver(want, size, stream, pool, small);
    if (!b) {
      if (o_.max_split != INT64_MAX) release_oversize(want);
      b = from_driver(want, size, stream, pool, small);
    }
    if (!b) {
      empty_cache();
      b = from_driver(want, size, stream, pool, small);
    }
    if (!b) {
      tell_("oom", 0, size, stream, pool, o_.capacity - reserved);
      return 0;
    }
    const int64_t left = b->size - size;
    const bool split = small || o_.expandable ? left >= 512 : size < o_.max_split && left > (1 << 20);
    if (split && left > 0) insert_after(b, b->address + uint64_t(size), left, true), b->size = size;
    b->used = true, b->requested = asked;
    allocated += b->size, active += b->size;
    by_address_[b->address] = b;
    tell_("alloc", b->address, asked, stream, pool, -1);
    return b->address;
  }
  void record_stream(uint64_t address, uint64_t stream) {
    if (B* b = by_address_.at(address); stream != b->stream) b->streams.insert(stream);
  }
  void free(uint64_t address) {
    B* b = by_address_.at(address);
    b->used = false;
    allocated -= b->size;
    tell_("free_requested", address, b->requested, b->stream, b->pool, -1);
    if (b->streams.empty()) return finish(b);
    for (const uint64_t s : b->streams) events_[s].push_back(b), ++b->waiting;
    b->streams.clear();
  }
  /// All work on the stream so far is done: the next malloc sees it.
  void stream_done(uint64_t stream) { done_[stream] = events_[stream].size(); }
  void empty_cache() {
    for (auto& [s, q] : events_) done_[s] = q.size();
    process_events();
    release([](const B&) { return true; });
    if (!o_.expandable) return;
    std::vector<B*> mapped;
    for (auto& b : blocks_) if (b.expandable && b.mapped && free_block(&b)) mapped.push_back(&b);
    for (B* b : mapped) unmap(b);
  }
  bool in_use(uint64_t a) const { return by_address_.count(a); }

  std::vector<SegmentRow> state() const {
    std::map<uint64_t, SegmentRow> out;
    for (const B& head : blocks_) {
      if (!head.mapped || (head.prev && head.prev->mapped)) continue;
      SegmentRow s{head.address, 0, head.stream, head.small, head.expandable, head.pool, {}};
      for (const B* b = &head; b && b->mapped; b = b->next) {
        s.size += b->size;
        s.blocks.push_back({b->address, b->size, b->used || b->waiting ? b->requested : 0, b->used ? 1 : b->waiting ? 2 : 0});
      }
      out[s.address] = s;
    }
    std::vector<SegmentRow> rows;
    for (auto& [a, s] : out) rows.push_back(std::move(s));
    return rows;
  }
  int64_t allocated = 0, active = 0, reserved = 0;

 private:
  struct B {
    uint64_t address;
    int64_t size, requested = 0;
    uint64_t stream;
    int pool;
    bool small, mapped, expandable;
    bool used = false;
    int waiting = 0;
    std::set<uint64_t> streams{};
    B *prev = nullptr, *next = nullptr;
    std::list<B>::iterator self{};
  };
  static bool free_block(const B* b) { return b && !b->used && !b->waiting && b->streams.empty(); }

  B* make(uint64_t address, int64_t size, uint64_t stream, int pool, bool small, bool mapped, bool expandable) {
    blocks_.push_back(B{address, size, 0, stream, pool, small, mapped, expandable});
    blocks_.back().self = std::prev(blocks_.end());
    return &blocks_.back();
  }
  B* insert_after(B* b, uint64_t address, int64_t size, bool mapped) {
    B* n = make(address, size, b->stream, b->pool, b->small, mapped, b->expandable);
    n->prev = b, n->next = b->next;
    if (b->next) b->next->prev = n;
    b->next = n;
    return n;
  }
  void drop(B* b) {
    if (b->prev) b->prev->next = b->next;
    if (b->next) b->next->prev = b->prev;
    blocks_.erase(b->self);
  }
  B* merge(B* b) {
    if (B* n = b->next; free_block(n) && n->mapped == b->mapped) b->size += n->size, drop(n);
    if (B* p = b->prev; free_block(p) && p->mapped == b->mapped) p->size += b->size, drop(b), b = p;
    return b;
  }
  void finish(B* b) {
    tell_("free_completed", b->address, b->requested, b->stream, b->pool, -1);
    active -= b->size;
    by_address_.erase(b->address);
    b->requested = 0;
    merge(b);
  }
  void process_events() {
    for (auto& [stream, q] : events_) {
      size_t& n = done_[stream];
      while (n && !q.empty()) {
        B* b = q.front();
        q.pop_front(), --n;
        if (--b->waiting == 0) finish(b);
      }
      n = 0;
    }
  }
  B* best_fit(int64_t size, uint64_t stream, int pool, bool small) {
    B* best = nullptr;
    for (B& b : blocks_) {
      if (!b.mapped || !free_block(&b) || b.stream != stream || b.pool != pool || b.small != small || b.size < size) continue;
      if (!best || b.size < best->size || (b.size == best->size && b.address < best->address)) best = &b;
    }
    if (!best) return nullptr;
    if (size < o_.max_split && best->size >= o_.max_split) return nullptr;
    if (size >= o_.max_split && best->size >= size + o_.max_left) return nullptr;
    return best;
  }
  B* from_driver(int64_t want, int64_t size, uint64_t stream, int pool, bool small) {
    if (o_.expandable) return map_for(size, stream, pool, small);
    if (reserved + want > o_.capacity) return nullptr;
    reserved += want;
    B* b = make(next_, want, stream, pool, small, true, false);
    next_ += uint64_t(want) + (next_ / 512 % 3) * (2 << 20);  // neighbours touch now and then
    tell_("segment_alloc", b->address, want, stream, pool, -1);
    return b;
  }
  void release_oversize(int64_t want) {
    std::vector<B*> all;
    for (B& b : blocks_) if (!b.expandable && free_block(&b) && !b.prev && !b.next && b.size >= o_.max_split && b.pool == 0) all.push_back(&b);
    std::sort(all.begin(), all.end(), [](B* a, B* b) { return a->size > b->size; });
    int64_t got = 0;
    for (B* b : all) {
      if (got >= want) break;
      got += b->size;
      give_back(b);
    }
  }
  void give_back(B* b) {
    reserved -= b->size;
    tell_("segment_free", b->address, b->size, b->stream, b->pool, -1);
    blocks_.erase(b->self);
  }
  void release(const std::function<bool(const B&)>& which) {
    std::vector<B*> gone;
    for (B& b : blocks_) if (!b.expandable && free_block(&b) && !b.prev && !b.next && which(b)) gone.push_back(&b);
    for (B* b : gone) give_back(b);
  }

  // ---- expandable segments: a long unmapped block that is mapped piece by piece
  static int64_t page(const B& b) { return b.small ? 2 << 20 : 20 << 20; }
  B* map_for(int64_t size, uint64_t stream, int pool, bool small) {
    B* c = nullptr;
    for (B& b : blocks_) {
      if (b.mapped || !b.expandable || b.stream != stream || b.pool != pool || b.small != small) continue;
      B* from = free_block(b.prev) ? b.prev : &b;
      int64_t room = 0;
      for (B* i = from; room < size && free_block(i); i = i->next) room += i->size;
      if (room >= size && (!c || from->address < c->address)) c = from;
    }
    if (!c) c = make(next_, int64_t{1} << 36, stream, pool, small, false, true), next_ += uint64_t{1} << 37;
    if (!c->mapped && !(c = map(c, std::min(c->size, size)))) return nullptr;
    while (c->size < size) {
      B* n = c->next;
      if (!(c = map(n, std::min(size - c->size, n->size)))) return nullptr;
    }
    return c;
  }
  B* map(B* b, int64_t size) {
    const int64_t p = page(*b), bytes = std::min((size + p - 1) / p * p, b->size);
    if (reserved + bytes > o_.capacity) return nullptr;
    reserved += bytes;
    if (bytes < b->size) insert_after(b, b->address + uint64_t(bytes), b->size - bytes, false), b->size = bytes;
    b->mapped = true;
    tell_("segment_map", b->address, bytes, b->stream, b->pool, -1);
    return merge(b);
  }
  void unmap(B* b) {
    // Whole pages inside of the block, counted from where its pages begin (segments begin at a multiple of all of them).
    const auto p = uint64_t(page(*b));
    const uint64_t origin = head(b)->address, from = origin + (b->address - origin + p - 1) / p * p, to = origin + (b->address + uint64_t(b->size) - origin) / p * p;
    if (to <= from) return;
    if (from > b->address) {
      const auto front = int64_t(from - b->address);
      B* rest = insert_after(b, from, b->size - front, true);
      b->size = front, b = rest;
    }
    if (const int64_t back = int64_t(b->address + uint64_t(b->size) - to); back > 0) insert_after(b, to, back, true), b->size -= back;
    reserved -= b->size;
    tell_("segment_unmap", b->address, b->size, b->stream, b->pool, -1);
    b->mapped = false;
    merge(b);
  }
  static const B* head(const B* b) {
    while (b->prev) b = b->prev;
    return b;
  }

  SimOptions o_;
  Tell tell_;
  uint64_t next_;
  std::list<B> blocks_;
  std::map<uint64_t, B*> by_address_;
  std::map<uint64_t, std::deque<B*>> events_;
  std::map<uint64_t, size_t> done_;
};

}  // namespace peel::test
