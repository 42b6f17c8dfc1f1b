// Floating numbers of 16 bits: stored so, rounded to even, computed with as float32.
#pragma once
#include <bit>
#include <cstdint>
#include <type_traits>

namespace peel::kernels {

/// A float32 cut to its upper 16 bits.
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

/// IEEE's binary16: 5 bits of exponent, 10 of fraction.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  Half(T v) : bits(rounded(static_cast<float>(v))) {}
  operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    const float size = std::bit_cast<float>(rest << 13) * 0x1p112f;  // the exponents' offsets differ by 112; exact, also for those without a leading 1
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(size));
  }

 private:
  static uint16_t rounded(float v) {
    const uint32_t wide = std::bit_cast<uint32_t>(v), size = wide & 0x7fffffffu;
    const auto sign = static_cast<uint16_t>((wide >> 16) & 0x8000u);
    if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
    if (size >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (size < 0x38800000u) {  // below the smallest with a leading 1: a sum whose last place is the result's
      const float shifted = std::bit_cast<float>(size) + 0.5f;
      return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    }
    return static_cast<uint16_t>(sign | ((size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13));
  }
};

template <class T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, BFloat16> || std::is_same_v<T, Half>;
/// What arithmetic on T is done in.
template <class T>
using Math = std::conditional_t<kIsSmallFloat<T>, float, T>;
template <class T>
inline constexpr bool kIsFloating = std::is_floating_point_v<Math<T>>;

}  // namespace peel::kernels
