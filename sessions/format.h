// What marks a file as a session, and which formats this program reads.
#pragma once
#include <cstdint>

namespace peel {

constexpr int32_t kApplicationId = 0x5065656C;  // "Peel"
constexpr int kFormatVersion = 1;               // user_version; readers refuse newer ones
constexpr uint32_t kMaxId = 0x7fffffff;         // ids stay positive 32-bit numbers

}  // namespace peel
