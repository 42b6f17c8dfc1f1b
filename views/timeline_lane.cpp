#include "views/timeline_lane.h"

#include <algorithm>

namespace peel::views {
namespace {
// Sums of absurd lengths (hostile files) wrap around instead of being undefined.
Nanoseconds plus(Nanoseconds a, Nanoseconds b) { return static_cast<Nanoseconds>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
}  // namespace

void Lane::Node::add(Nanoseconds b, Nanoseconds e, Nanoseconds sum, Nanoseconds len, uint32_t which) {
  begin = std::min(begin, b), end = std::max(end, e);
  busy = plus(busy, sum);
  if (len > length) length = len, longest = which;
}

void Lane::append(uint32_t item, Stretch s) {
  const uint32_t index = size();
  items_.push_back(item);
  // A node with something open in it is as long as time: it is never taken as a whole.
  const bool over = s.end != kOpen;
  const Nanoseconds end = over ? std::max(s.begin, s.end) : INT64_MAX;
  filling_.add(s.begin, end, over ? end - s.begin : 0, over ? end - s.begin : 0, index);
  if (size() % kLeaf) return;
  Node full = filling_;
  filling_ = {};
  for (size_t level = 0;; level++) {
    if (levels_.size() == level) levels_.emplace_back();
    std::vector<Node>& nodes = levels_[level];
    nodes.push_back(full);
    if (nodes.size() % kFan) return;
    full = {};
    for (size_t i = nodes.size() - kFan; i < nodes.size(); i++) full.add(nodes[i].begin, nodes[i].end, nodes[i].busy, nodes[i].length, nodes[i].longest);
  }
}

void Lane::shrink() {
  items_.shrink_to_fit();
  for (auto& l : levels_) l.shrink_to_fit();
}

/// One walk: what is wanted, and the folded box that is being filled.
struct Lane::Walk {
  const Stretches& stretches;
  const Nanoseconds from, to, fold, now;
  const size_t limit;
  std::vector<LaneBox>& out;
  LaneBox run;
  Nanoseconds run_longest = -1, cell = 0;

  bool full() const { return out.size() >= limit; }
  void flush() {
    if (run_longest >= 0 && !full()) out.push_back(run);
    run_longest = -1;
  }
  // Folded boxes end at multiples of `fold`, so that they stay what they are when the view is moved.
  void add(uint32_t first, uint32_t last, Nanoseconds begin, Nanoseconds end, Nanoseconds busy, Nanoseconds length, uint32_t longest) {
    const Nanoseconds at = begin / fold;
    if (run_longest >= 0 && (at != cell || first != run.last + 1)) flush();
    if (run_longest < 0) {
      cell = at;
      run = {first, last, longest, begin, end, busy};
      run_longest = length;
      return;
    }
    run.last = last, run.begin = std::min(run.begin, begin), run.end = std::max(run.end, end), run.busy = plus(run.busy, busy);
    if (length > run_longest) run_longest = length, run.longest = longest;
  }
};

void Lane::leaf(Walk& w, uint32_t first, uint32_t end) const {
  for (uint32_t i = first; i < end && !w.full(); i++) {
    const Stretch s = w.stretches(items_[i]);
    const Nanoseconds stop = s.end == kOpen ? std::max(s.begin, w.now) : std::max(s.begin, s.end);
    if (stop < w.from || s.begin > w.to) continue;
    const Nanoseconds length = stop - s.begin;
    if (length < w.fold) {
      w.add(i, i, s.begin, stop, length, length, i);
    } else {
      w.flush();
      if (!w.full()) w.out.push_back({i, i, i, s.begin, stop, length});
    }
  }
}

void Lane::open(Walk& w, size_t level, uint32_t n) const {
  const Node& node = levels_[level][n];
  if (node.end < w.from || node.begin > w.to || w.full()) return;
  if (node.begin >= w.from && node.end <= w.to && node.end - node.begin < w.fold) {
    uint32_t items = kLeaf;
    for (size_t l = 0; l < level; l++) items *= kFan;
    return w.add(n * items, (n + 1) * items - 1, node.begin, node.end, node.busy, node.length, node.longest);
  }
  if (level == 0) return leaf(w, n * kLeaf, (n + 1) * kLeaf);
  for (uint32_t i = n * kFan; i < (n + 1) * kFan; i++) open(w, level - 1, i);
}

void Lane::boxes(const Stretches& stretches, Nanoseconds from, Nanoseconds to, Nanoseconds fold, Nanoseconds now, size_t limit, std::vector<LaneBox>& out) const {
  Walk w{stretches, from, to, std::max<Nanoseconds>(fold, 1), now, out.size() + limit, out, {}};
  // Each level covers what the one above it has no whole node for.
  for (size_t level = levels_.size(); level-- > 0;) {
    const size_t covered = level + 1 < levels_.size() ? levels_[level + 1].size() * kFan : 0;
    for (size_t n = covered; n < levels_[level].size(); n++) open(w, level, static_cast<uint32_t>(n));
  }
  leaf(w, levels_.empty() ? 0 : static_cast<uint32_t>(levels_[0].size()) * kLeaf, size());
  w.flush();
}

void Lane::visit(const Stretches& stretches, Nanoseconds from, Nanoseconds to, const std::function<bool(uint32_t, Stretch)>& hit) const {
  const auto items = [&](uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; i++) {
      const Stretch s = stretches(items_[i]);
      if (s.begin <= to && (s.end == kOpen || s.end >= from) && !hit(i, s)) return false;
    }
    return true;
  };
  // Whole leaves are passed over by the nodes above them.
  const uint32_t leaves = levels_.empty() ? 0 : static_cast<uint32_t>(levels_[0].size());
  for (uint32_t leaf = 0; leaf < leaves;) {
    size_t level = 0;
    uint32_t n = leaf, width = 1;
    const auto outside = [&] { return levels_[level][n].end < from || levels_[level][n].begin > to; };
    if (outside()) {
      while (level + 1 < levels_.size() && n % kFan == 0 && n / kFan < levels_[level + 1].size()) {
        level++, n /= kFan;
        if (!outside()) break;
        width *= kFan;
      }
      leaf += width;
      continue;
    }
    if (!items(leaf * kLeaf, (leaf + 1) * kLeaf)) return;
    leaf++;
  }
  items(leaves * kLeaf, size());
}

uint32_t Lane::first_from(const Stretches& stretches, Nanoseconds t) const {
  return static_cast<uint32_t>(std::partition_point(items_.begin(), items_.end(), [&](uint32_t i) { return stretches(i).begin < t; }) - items_.begin());
}

size_t Lane::bytes() const {
  size_t n = items_.capacity() * sizeof(uint32_t);
  for (const auto& l : levels_) n += l.capacity() * sizeof(Node);
  return n;
}

}  // namespace peel::views
