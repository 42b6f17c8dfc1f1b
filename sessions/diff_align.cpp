#include "sessions/diff_align.h"

#include <algorithm>
#include <unordered_map>

namespace peel {
namespace {

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr uint32_t kExact = 1024;      // differences up to which the shortest script is found
constexpr uint32_t kGreedy = 128;      // and where work has become too much already
constexpr uint64_t kBudget = 150'000'000;  // steps of all exact searches together
constexpr uint32_t kRare = 8;          // a token that occurs so often on each side may be an anchor
constexpr int kMaxDepth = 24;

/// Elements that can have a partner, with their places in the whole.
struct Sequence {
  std::vector<uint64_t> token;
  std::vector<uint32_t> place;
};

class Aligner {
 public:
  Aligner(const Sequence& a, const Sequence& b, Pairs* out) : a_(a), b_(b), out_(out) {}

  void run(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1, int depth) {
    while (a0 < a1 && b0 < b1 && a_.token[a0] == b_.token[b0]) pair(a0++, b0++);
    uint32_t tail = 0;
    while (a0 < a1 && b0 < b1 && a_.token[a1 - 1] == b_.token[b1 - 1]) --a1, --b1, ++tail;
    if (a0 < a1 && b0 < b1) middle(a0, a1, b0, b1, depth);
    for (uint32_t i = 0; i < tail; ++i) pair(a1 + i, b1 + i);
  }

 private:
  void pair(uint32_t i, uint32_t j) { out_->push_back({a_.place[i], b_.place[j]}); }

  void middle(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1, int depth) {
    if (search(a0, a1, b0, b1, spent_ < kBudget ? kExact : kGreedy, false)) return;
    if (depth < kMaxDepth && cut(a0, a1, b0, b1, depth)) return;
    while (a0 < a1 && b0 < b1) {
      if (search(a0, a1, b0, b1, kGreedy, true)) return;
      if (reached_a_ == a0 && reached_b_ == b0) return;
      a0 = reached_a_, b0 = reached_b_;
    }
  }

  /// Myers. True: done. With `partial` the furthest path within the bound is taken, up to reached_.
  bool search(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1, uint32_t bound, bool partial) {
    const auto n = static_cast<int64_t>(a1 - a0), m = static_cast<int64_t>(b1 - b0);
    const auto most = static_cast<int64_t>(std::min<uint64_t>(bound, static_cast<uint64_t>(n + m)));
    furthest_.assign(static_cast<size_t>(2 * most + 3), 0);
    trace_.clear();
    const auto at = [&](int64_t k) -> uint32_t& { return furthest_[static_cast<size_t>(k + most + 1)]; };
    for (int64_t d = 0; d <= most; ++d) {
      for (int64_t k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        int64_t x = down ? static_cast<int64_t>(at(k + 1)) : static_cast<int64_t>(at(k - 1)) + 1;
        if (d == 0) x = 0;
        int64_t y = x - k;
        while (x < n && y >= 0 && y < m && a_.token[a0 + static_cast<uint32_t>(x)] == b_.token[b0 + static_cast<uint32_t>(y)]) ++x, ++y, ++spent_;
        at(k) = static_cast<uint32_t>(x);
        ++spent_;
        if (x >= n && y >= m) {
          keep_row(d, at);
          walk_back(a0, b0, d, x, y);
          return true;
        }
      }
      keep_row(d, at);
    }
    if (!partial) return false;
    int64_t best_k = 0, best = -1;
    for (int64_t k = -most; k <= most; k += 2) {
      const int64_t x = at(k), y = x - k;
      if (y < 0 || y > m || x > n) continue;
      if (x + y > best) best = x + y, best_k = k;
    }
    reached_a_ = a0, reached_b_ = b0;
    if (best < 0) return false;
    const int64_t x = at(best_k), y = x - best_k;
    walk_back(a0, b0, most, x, y);
    reached_a_ = a0 + static_cast<uint32_t>(x), reached_b_ = b0 + static_cast<uint32_t>(y);
    return false;
  }

  template <class At>
  void keep_row(int64_t d, At at) {
    for (int64_t k = -d; k <= d; k += 2) trace_.push_back(at(k));
  }
  /// Row d of the trace holds d + 1 values: k = -d, -d + 2, ..., d.
  int64_t traced(int64_t d, int64_t k) const { return trace_[static_cast<size_t>(d * (d + 1) / 2 + (k + d) / 2)]; }

  void walk_back(uint32_t a0, uint32_t b0, int64_t d, int64_t x, int64_t y) {
    const size_t from = out_->size();
    for (; d >= 0; --d) {
      const int64_t k = x - y;
      int64_t before_x = 0, before_y = 0;
      if (d > 0) {
        const bool down = k == -d || (k != d && traced(d - 1, k - 1) < traced(d - 1, k + 1));
        before_x = traced(d - 1, down ? k + 1 : k - 1);
        before_y = before_x - (down ? k + 1 : k - 1);
        const int64_t start_x = down ? before_x : before_x + 1;
        while (x > start_x) --x, --y, pair(a0 + static_cast<uint32_t>(x), b0 + static_cast<uint32_t>(y));
      } else {
        while (x > 0 && y > 0) --x, --y, pair(a0 + static_cast<uint32_t>(x), b0 + static_cast<uint32_t>(y));
      }
      x = before_x, y = before_y;
    }
    std::reverse(out_->begin() + static_cast<std::ptrdiff_t>(from), out_->end());
  }

  /// Splits at tokens that are rare and equally many on both sides, in an order that both have. False: none.
  bool cut(uint32_t a0, uint32_t a1, uint32_t b0, uint32_t b1, int depth) {
    struct Seen { uint32_t a = 0, b = 0; std::vector<uint32_t> at; };
    std::unordered_map<uint64_t, Seen> seen;
    for (uint32_t j = b0; j < b1; ++j) {
      Seen& s = seen[b_.token[j]];
      if (++s.b <= kRare) s.at.push_back(j);
    }
    for (uint32_t i = a0; i < a1; ++i)
      if (const auto it = seen.find(a_.token[i]); it != seen.end()) ++it->second.a;
    Pairs candidates;
    std::unordered_map<uint64_t, uint32_t> nth;
    for (uint32_t i = a0; i < a1; ++i) {
      const auto it = seen.find(a_.token[i]);
      if (it == seen.end() || it->second.a != it->second.b || it->second.b > kRare) continue;
      candidates.push_back({i, it->second.at[nth[a_.token[i]]++]});
    }
    // The longest rising run of places in b (patience sorting).
    std::vector<uint32_t> tops, before(candidates.size(), UINT32_MAX);
    for (uint32_t c = 0; c < candidates.size(); ++c) {
      const auto it = std::lower_bound(tops.begin(), tops.end(), candidates[c].second, [&](uint32_t t, uint32_t j) { return candidates[t].second < j; });
      if (it != tops.begin()) before[c] = *(it - 1);
      if (it == tops.end()) tops.push_back(c);
      else *it = c;
    }
    if (tops.empty()) return false;
    Pairs chosen;
    for (uint32_t c = tops.back(); c != UINT32_MAX; c = before[c]) chosen.push_back(candidates[c]);
    std::reverse(chosen.begin(), chosen.end());
    for (const auto& [i, j] : chosen) {
      if (i < a0 || j < b0) continue;
      run(a0, i, b0, j, depth + 1);
      pair(i, j);
      a0 = i + 1, b0 = j + 1;
    }
    run(a0, a1, b0, b1, depth + 1);
    return true;
  }

  const Sequence &a_, &b_;
  Pairs* out_;
  std::vector<uint32_t> furthest_, trace_;
  uint64_t spent_ = 0;
  uint32_t reached_a_ = 0, reached_b_ = 0;
};

/// What occurs on the other side too: the rest cannot be paired and would only be in the way.
Sequence shared(std::span<const uint64_t> of, std::span<const uint64_t> other) {
  std::vector<uint64_t> known(other.begin(), other.end());
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  Sequence s;
  for (uint32_t i = 0; i < of.size(); ++i) {
    if (!std::binary_search(known.begin(), known.end(), of[i])) continue;
    s.token.push_back(of[i]);
    s.place.push_back(i);
  }
  return s;
}

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> align(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  Pairs out;
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) out.push_back({static_cast<uint32_t>(head), static_cast<uint32_t>(head)}), ++head;
  if (head == a.size() || head == b.size()) return out;
  // Ties fall towards the first sequence: which one that is must not depend on who asks.
  const bool swap = std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end());
  const auto rest_a = (swap ? b : a).subspan(head), rest_b = (swap ? a : b).subspan(head);
  const Sequence sa = shared(rest_a, rest_b), sb = shared(rest_b, rest_a);
  Pairs rest;
  Aligner(sa, sb, &rest).run(0, static_cast<uint32_t>(sa.token.size()), 0, static_cast<uint32_t>(sb.token.size()), 0);
  for (const auto& [i, j] : rest) {
    const auto x = static_cast<uint32_t>(i + head), y = static_cast<uint32_t>(j + head);
    out.push_back(swap ? std::pair{y, x} : std::pair{x, y});
  }
  return out;
}

}  // namespace peel
