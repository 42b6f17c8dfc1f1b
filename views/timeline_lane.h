// One row of the timeline: things that begin in order, and what of them can be told apart at a given zoom.
//
// Above the items lies a pyramid of sums: a node for every 32 items, one for every 16 nodes, and so on. To draw a
// stretch of time, the pyramid is walked from its top; a node that is narrower than what can be told apart is taken as
// a whole, any other is opened. So the cost follows the pixels and not the items, and nothing is lost: whatever is at
// least `fold` long becomes a box of its own, everything else is counted in exactly one folded box.
//
// Items may overlap and come out of order (files are hostile): nodes hold the smallest begin and the largest end.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sessions/session.h"

namespace peel::views {

/// Where the items' times are. kOpen as an end: not over yet.
class Stretches {
 public:
  virtual ~Stretches() = default;
  virtual Stretch operator()(uint32_t item) const = 0;
};

/// One thing, or several that are too small to tell apart: the lane's items number first..last.
struct LaneBox {
  uint32_t first = 0, last = 0;
  uint32_t longest = 0;           // which of them takes longest
  Nanoseconds begin = 0, end = 0; // of all of them; not clipped
  Nanoseconds busy = 0;           // sum of their lengths
  uint32_t count() const { return last - first + 1; }
  bool folded() const { return first != last; }
};

class Lane {
 public:
  /// Adds an item behind all others. Items that are not over must be told as such (kOpen).
  void append(uint32_t item, Stretch);
  uint32_t size() const { return static_cast<uint32_t>(items_.size()); }
  uint32_t item(uint32_t index) const { return items_[index]; }
  void shrink();  // nothing is appended for now: gives back what was kept for growth

  /// Boxes of what touches [from, to], in order; open items end at `now`. Single boxes are at least `fold` long, or
  /// alone in their stretch. At most `limit` boxes.
  void boxes(const Stretches&, Nanoseconds from, Nanoseconds to, Nanoseconds fold, Nanoseconds now, size_t limit, std::vector<LaneBox>& out) const;
  /// Calls `hit` with the index of everything that touches [from, to], in order, until it says false.
  void visit(const Stretches&, Nanoseconds from, Nanoseconds to, const std::function<bool(uint32_t, Stretch)>& hit) const;
  /// Index of the first item that begins at or after t; size() when there is none.
  uint32_t first_from(const Stretches&, Nanoseconds t) const;
  size_t bytes() const;

 private:
  static constexpr uint32_t kLeaf = 32, kFan = 16;
  struct Node {
    Nanoseconds begin = INT64_MAX, end = INT64_MIN, busy = 0, length = -1;  // length: of the longest
    uint32_t longest = 0;
    void add(Nanoseconds b, Nanoseconds e, Nanoseconds sum, Nanoseconds len, uint32_t which);
  };
  struct Walk;
  void open(Walk&, size_t level, uint32_t node) const;
  void leaf(Walk&, uint32_t first, uint32_t end) const;

  std::vector<uint32_t> items_;
  std::vector<std::vector<Node>> levels_;  // [0]: one node for kLeaf items
  Node filling_;                           // of the items behind the last whole leaf
};

}  // namespace peel::views
