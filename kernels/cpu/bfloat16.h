// A float32 cut to its upper 16 bits: rounded to even, computed with as float32.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace peel::kernels {

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  BFloat16(T v) {
    const auto wide = std::bit_cast<uint32_t>(static_cast<float>(v));
    const bool nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = nan ? uint16_t{0x7fc0} : static_cast<uint16_t>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// What arithmetic on T is done in.
template <class T>
using Math = std::conditional_t<std::is_same_v<T, BFloat16>, float, T>;
template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<Math<T>>;

}  // namespace peel::kernels
