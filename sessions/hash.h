// 64-bit hashes that are the same in every run: for comparing content, not for tables that an enemy fills.
#pragma once
#include <cstdint>
#include <string_view>

namespace peel {

constexpr uint64_t hash_mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9;
  h ^= h >> 29;
  h *= 0x94d049bb133111eb;
  return h ^ (h >> 32);
}
constexpr uint64_t hash_text(std::string_view text) {
  uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash_mix(h, text.size());
}

}  // namespace peel
