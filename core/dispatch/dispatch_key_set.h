// A set of dispatch keys: one word. The low 16 bits are backends, the bits above functionalities. A set is a cross
// product: {CPU} united with {AutogradCUDA} also holds CUDA and AutogradCPU. Measured on 2.13.0, bit for bit.
#pragma once
#include <bit>
#include <string>

#include "core/dispatch/dispatch_key.h"

namespace peel::core {

class DispatchKeySet {
 public:
  constexpr DispatchKeySet() = default;
  /// Functionality bit and, for a per-backend key, backend bit. Undefined and aliases give the empty set.
  constexpr DispatchKeySet(DispatchKey k) {
    const DispatchKey f = functionality_of(k);
    if (f == DispatchKey::Undefined) return;
    bits_ = uint64_t{1} << (kBackends + number(f) - 1);
    if (const auto b = backend_of(k); b != BackendComponent::InvalidBit) bits_ |= DispatchKeySet(b).bits_;
  }
  constexpr explicit DispatchKeySet(BackendComponent b)
      : bits_(b == BackendComponent::InvalidBit ? 0 : uint64_t{1} << (static_cast<int>(b) - 1)) {}
  constexpr DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey k : keys) bits_ |= DispatchKeySet(k).bits_;
  }
  static constexpr DispatchKeySet from_raw(uint64_t bits) {
    DispatchKeySet s;
    s.bits_ = bits;
    return s;
  }
  static constexpr DispatchKeySet full() { return from_raw((uint64_t{1} << (kBackends + kFunctionalities - 1)) - 1); }
  static constexpr DispatchKeySet all_backends() { return from_raw((uint64_t{1} << kBackends) - 1); }
  /// Everything below the functionality of `k` (every backend too) and PythonDispatcher: what a kernel at `k` redispatches with.
  static constexpr DispatchKeySet full_after(DispatchKey k) {
    return from_raw((uint64_t{1} << (kBackends + number(functionality_of(k)) - 1)) - 1) | DispatchKeySet(DispatchKey::PythonDispatcher);
  }

  constexpr uint64_t raw() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool has(DispatchKey k) const { return has_all(DispatchKeySet(k)); }
  constexpr bool has_all(DispatchKeySet s) const { return (bits_ & s.bits_) == s.bits_; }
  constexpr bool has_any(DispatchKeySet s) const { return (bits_ & s.bits_) != 0; }
  constexpr bool has_backend(BackendComponent b) const { return has_all(DispatchKeySet(b)); }

  constexpr DispatchKeySet operator|(DispatchKeySet o) const { return from_raw(bits_ | o.bits_); }
  constexpr DispatchKeySet operator&(DispatchKeySet o) const { return from_raw(bits_ & o.bits_); }
  constexpr DispatchKeySet operator^(DispatchKeySet o) const { return from_raw(bits_ ^ o.bits_); }
  /// Clears functionalities only: {CPU} - {CPU} keeps the CPU bit.
  constexpr DispatchKeySet operator-(DispatchKeySet o) const { return from_raw(bits_ & (all_backends().bits_ | ~o.bits_)); }
  constexpr bool operator==(const DispatchKeySet&) const = default;
  constexpr DispatchKeySet without_backend(BackendComponent b) const { return from_raw(bits_ & ~DispatchKeySet(b).bits_); }

  constexpr DispatchKey highest_functionality() const { return static_cast<DispatchKey>(std::bit_width(bits_ >> kBackends)); }
  constexpr BackendComponent highest_backend() const {
    return static_cast<BackendComponent>(std::bit_width(bits_ & all_backends().bits_));
  }
  /// The key that a dispatch goes to. Undefined when there is no functionality.
  constexpr DispatchKey highest() const {
    const DispatchKey f = highest_functionality();
    return is_per_backend(f) ? runtime_key(f, highest_backend()) : f;
  }
  /// 0 for CPU and for no backend.
  constexpr int backend_index() const { return static_cast<int>(std::bit_width((bits_ & all_backends().bits_) >> 1)); }
  /// Slot of the table for `highest()`.
  constexpr int slot() const;

  /// Runtime keys by ascending priority; for a per-backend functionality each backend that is there (none: no key).
  class iterator {
   public:
    constexpr iterator(uint64_t bits, int functionality) : bits_(bits), functionality_(functionality) { settle(); }
    constexpr DispatchKey operator*() const { return static_cast<DispatchKey>(key_); }
    constexpr iterator& operator++() {
      ++backend_;
      settle();
      return *this;
    }
    constexpr bool operator!=(const iterator& o) const { return functionality_ != o.functionality_ || backend_ != o.backend_; }

   private:
    constexpr void settle();
    uint64_t bits_;
    int functionality_;
    int backend_ = 0;  // components before this one are done
    int key_ = 0;
  };
  constexpr iterator begin() const { return {bits_, 1}; }
  constexpr iterator end() const { return {bits_, kFunctionalities}; }

 private:
  uint64_t bits_ = 0;
};

/// First slot of each functionality and the backend bits that choose among its slots.
struct SlotGroup {
  uint16_t offset, mask;
};
inline constexpr std::array<SlotGroup, kFunctionalities> kSlotGroups = [] {
  std::array<SlotGroup, kFunctionalities> groups{};
  for (int f = 1; f < kFunctionalities; ++f) {
    const SlotGroup& before = groups[f - 1];
    groups[f] = {static_cast<uint16_t>(before.offset + (before.mask ? kBackends : 1)),
                 static_cast<uint16_t>(is_per_backend(static_cast<DispatchKey>(f)) ? 0xFFFF : 0)};
  }
  return groups;
}();

constexpr int DispatchKeySet::slot() const {
  const SlotGroup g = kSlotGroups[std::bit_width(bits_ >> kBackends)];
  return g.offset + static_cast<int>(std::bit_width((bits_ & g.mask) >> 1));
}
constexpr int slot_of(DispatchKey k) { return DispatchKeySet(k).slot(); }

constexpr void DispatchKeySet::iterator::settle() {
  for (; functionality_ < kFunctionalities; ++functionality_, backend_ = 0) {
    if (!(bits_ >> (kBackends + functionality_ - 1) & 1)) continue;
    const auto f = static_cast<DispatchKey>(functionality_);
    if (!is_per_backend(f)) {
      key_ = functionality_;
      if (backend_ == 0) return;
      continue;
    }
    for (; backend_ < kBackends; ++backend_) {
      if (!(bits_ >> backend_ & 1)) continue;
      key_ = number(runtime_key(f, static_cast<BackendComponent>(backend_ + 1)));
      return;
    }
  }
}

/// `DispatchKeySet(CPU, AutogradCPU)`.
std::string to_string(DispatchKeySet);

}  // namespace peel::core
