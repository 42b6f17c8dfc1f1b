// All hops of a session in memory: 39 bytes a hop in chunks of 65,536 rows, structure of arrays.
//
// What repeats (thread, operator, kind, key, sets, thread-local state, kernel) is stored once as a `Shape`
// and a hop holds its number: real programs have thousands of shapes for millions of hops, and anything
// that depends on those fields alone (filters, statistics) is computed once a shape.
//
// Nesting is enforced while hops are appended: in one thread a hop's parent is the thread's previous hop
// or one of that hop's ancestors. Whatever says otherwise becomes a root. So every walk by parent, child
// or sibling ends, whatever the file says.
//
// One thread appends; any thread reads rows up to size(). `end`, `flags`, `node` and `last` of visible
// rows may still change and are read and written atomically.
#pragma once
#include <atomic>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sessions/session.h"
#include "sessions/stable.h"

namespace peel {

using ShapeId = uint32_t;

/// What many hops have in common.
struct Shape {
  ThreadId thread;
  OpId op;
  KeysetId keyset, arg_keyset;
  TlsId tls;
  KernelId kernel;
  KeyId key;
  Kind kind;
  uint16_t track;  // number of the thread among those that have hops
  bool operator==(const Shape&) const = default;
};

/// A hop as it stands in the file, ids checked to be in range, nothing else.
struct RawHop {
  EventId id, parent;
  Shape shape;
  StackId stack;
  Nanoseconds begin, end;
  uint8_t flags;
};

class Columns {
 public:
  static constexpr uint32_t kChunkRows = 65536;
  static constexpr uint32_t kMaxTracks = 65535;

  Columns();
  ~Columns();
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  // ---- writer
  enum class Fault : uint8_t { kNone, kParent, kThreads };  // what append had to put right
  /// `hop.id` must be next_id(). Not visible before publish().
  Fault append(const RawHop& hop);
  EventId next_id() const { return EventId{written_ + 1}; }
  /// Makes everything appended so far visible.
  void publish();
  void set_end(EventId, Nanoseconds end, uint32_t flags);
  void set_path(EventId, const Shape&);  // kind, key, keyset, kernel of a hop that was changed by hand
  void set_node(EventId, NodeId);  // keeps the first

  // ---- any thread; ids must be 1..size()
  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  bool valid(EventId e) const { return e.value - 1 < size(); }
  Event event(EventId) const;
  EventId parent(EventId e) const { return EventId{chunk(e).parent[row(e)]}; }
  uint16_t depth(EventId e) const { return chunk(e).depth[row(e)]; }
  EventId last(EventId) const;
  ShapeId shape_id(EventId e) const { return std::atomic_ref<ShapeId>(chunk(e).shape[row(e)]).load(std::memory_order_acquire); }
  const Shape& shape(EventId e) const { return shapes_[shape_id(e)]; }
  StackId stack(EventId e) const { return StackId{chunk(e).stack[row(e)]}; }
  Nanoseconds begin(EventId e) const { return chunk(e).begin[row(e)]; }
  Nanoseconds end(EventId) const;
  uint8_t flags(EventId) const;
  NodeId node(EventId) const;
  /// 0 = none. In the order of ids, which in one thread is the order of time.
  EventId next_in_thread(EventId) const;
  EventId previous_in_thread(EventId) const;
  EventId next_sibling(EventId) const;
  EventId previous_sibling(EventId) const;
  EventId first_child(EventId) const;
  EventId first_of_thread(ThreadId) const;

  uint32_t shapes() const { return shapes_.size(); }
  const Shape& shape_at(ShapeId s) const { return shapes_[s]; }
  uint32_t tracks() const { return tracks_.size(); }
  ThreadId track_thread(uint32_t track) const { return tracks_[track]->thread; }

  /// Raw arrays for whole-column work: rows [first, first + count) of one chunk.
  struct Span {
    EventId first;
    uint32_t count;
    const uint32_t *parent, *shape, *stack;
    const uint8_t* flags;  // bytes that a live recording may still change; shapes of hops that are open, too
    const uint32_t* node;
  };
  std::vector<Span> spans() const;
  size_t bytes() const;  // memory held

 private:
  struct Chunk {
    uint32_t parent[kChunkRows], last[kChunkRows], shape[kChunkRows], stack[kChunkRows], node[kChunkRows];
    Nanoseconds begin[kChunkRows], end[kChunkRows];
    uint16_t depth[kChunkRows];
    uint8_t flags[kChunkRows];
  };
  struct Run {  // consecutive ids of one thread
    uint32_t first = 0;
    std::atomic<uint32_t> last{0};
    Run() = default;
    Run(uint32_t f, uint32_t l) : first(f), last(l) {}
    Run& operator=(Run&& o) noexcept {
      first = o.first;
      last.store(o.last.load(std::memory_order_relaxed), std::memory_order_relaxed);
      return *this;
    }
  };
  struct Track {
    ThreadId thread;
    StableVector<Run> runs;
    std::vector<uint32_t> open;  // the newest hop and its ancestors, outermost first (writer only)
  };
  struct ShapeHash {
    size_t operator()(const Shape&) const noexcept;
  };

  static uint32_t row(EventId e) { return (e.value - 1) % kChunkRows; }
  Chunk& chunk(EventId e) const {
    return *chunks_[(e.value - 1) / kChunkRows].load(std::memory_order_acquire);
  }
  uint32_t find_run(const Track&, uint32_t id) const;  // the newest run that begins at or before id
  ShapeId intern(const Shape&);
  uint16_t track_of(ThreadId, Fault*);

  std::unique_ptr<std::atomic<Chunk*>[]> chunks_;
  std::atomic<uint32_t> size_{0};
  uint32_t written_ = 0;
  StableVector<Shape> shapes_;
  std::vector<ShapeId> shape_slots_;  // open addressing; 0 = free, else shape id + 1
  StableVector<Track*> tracks_;
  std::unordered_map<uint32_t, uint16_t> track_by_thread_;  // writer only
  mutable std::atomic<size_t> chunk_count_{0};
};

}  // namespace peel
