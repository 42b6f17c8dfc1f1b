// A sorted array that grows nearly in order: a batch is sorted by itself and merged with the part of the
// array that it overlaps.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace peel {

/// Entries (key, row), sorted; add() then flush(). Not thread-safe.
template <class Key>
class SortedIndex {
 public:
  using Entry = std::pair<Key, uint32_t>;
  void add(Key key, uint32_t row) { fresh_.emplace_back(key, row); }
  void flush() {
    if (fresh_.empty()) return;
    std::sort(fresh_.begin(), fresh_.end());
    const auto overlap = std::upper_bound(entries_.begin(), entries_.end(), fresh_.front()) - entries_.begin();
    const auto middle = static_cast<std::ptrdiff_t>(entries_.size());
    entries_.insert(entries_.end(), fresh_.begin(), fresh_.end());
    if (overlap != middle) std::inplace_merge(entries_.begin() + overlap, entries_.begin() + middle, entries_.end());
    fresh_.clear();
    fresh_.shrink_to_fit();
  }
  /// Entries with first <= key <= last.
  std::pair<const Entry*, const Entry*> range(Key first, Key last) const {
    const auto b = std::lower_bound(entries_.begin(), entries_.end(), Entry{first, 0});
    const auto e = std::upper_bound(b, entries_.end(), Entry{last, UINT32_MAX});
    return {entries_.data() + (b - entries_.begin()), entries_.data() + (e - entries_.begin())};
  }
  size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  std::vector<Entry> entries_, fresh_;
};

}  // namespace peel
