// Growing arrays that one thread appends to while others read, without locks: elements never move.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace peel {

/// Appended by one thread, read by any thread below size(). Buckets of 256, 256, 512, 1024, ... elements.
template <class T>
class StableVector {
 public:
  StableVector() = default;
  ~StableVector() {
    for (auto& b : buckets_) delete[] b.load(std::memory_order_relaxed);
  }
  StableVector(const StableVector&) = delete;
  StableVector& operator=(const StableVector&) = delete;

  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  const T& operator[](uint32_t i) const { return *at(i); }
  /// For the writer, and for elements that are changed atomically.
  T& mutable_at(uint32_t i) { return *at(i); }
  void push_back(T value) {
    const uint32_t i = size_.load(std::memory_order_relaxed);
    const auto [bucket, offset] = place(i);
    T* p = buckets_[bucket].load(std::memory_order_relaxed);
    if (!p) {
      p = new T[bucket_size(bucket)]();
      buckets_[bucket].store(p, std::memory_order_release);
    }
    p[offset] = std::move(value);
    size_.store(i + 1, std::memory_order_release);
  }
  size_t bytes() const {
    size_t n = 0;
    for (unsigned b = 0; b < buckets_.size(); ++b) {
      if (buckets_[b].load(std::memory_order_acquire)) n += bucket_size(b) * sizeof(T);
    }
    return n;
  }

 private:
  static std::pair<unsigned, uint32_t> place(uint32_t i) {
    const unsigned top = static_cast<unsigned>(std::bit_width(i >> 8));
    return {top, top == 0 ? i : i - (1u << (top + 7))};
  }
  static size_t bucket_size(unsigned b) { return b == 0 ? 256 : size_t{1} << (b + 7); }
  T* at(uint32_t i) const {
    const auto [bucket, offset] = place(i);
    return buckets_[bucket].load(std::memory_order_acquire) + offset;
  }
  std::array<std::atomic<T*>, 25> buckets_{};
  std::atomic<uint32_t> size_{0};
};

/// Rows of a small table by id. A row never changes in place: a newer version is another object, and
/// references to the older one stay valid.
template <class T>
class RowTable {
 public:
  RowTable() = default;
  ~RowTable() {
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      for (const Node* n = rows_[i].load(std::memory_order_relaxed); n;) delete std::exchange(n, n->older);
    }
  }
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  /// Null = no such row.
  const T* get(uint32_t id) const {
    if (id >= rows_.size()) return nullptr;
    const Node* n = rows_[id].load(std::memory_order_acquire);
    return n ? &n->value : nullptr;
  }
  /// False: the id is so far beyond the rows that are there that it cannot be right.
  bool put(uint32_t id, T value) {
    if (id > rows_.size() + 65536u) return false;
    while (rows_.size() <= id) rows_.push_back(Slot{});
    Slot& slot = rows_.mutable_at(id);
    slot.store(new Node{std::move(value), slot.load(std::memory_order_relaxed)}, std::memory_order_release);
    return true;
  }
  uint32_t end() const { return rows_.size(); }  // ids are below this
  size_t bytes() const { return rows_.bytes(); }

 private:
  struct Node {
    T value;
    const Node* older;
  };
  // An atomic pointer that can be put into a StableVector.
  struct Slot {
    std::atomic<const Node*> p{nullptr};
    Slot() = default;
    Slot(Slot&& o) noexcept : p(o.p.load(std::memory_order_relaxed)) {}
    Slot& operator=(Slot&& o) noexcept {
      p.store(o.p.load(std::memory_order_relaxed), std::memory_order_relaxed);
      return *this;
    }
    const Node* load(std::memory_order m) const { return p.load(m); }
    void store(const Node* n, std::memory_order m) { p.store(n, m); }
  };
  StableVector<Slot> rows_;
};

}  // namespace peel
