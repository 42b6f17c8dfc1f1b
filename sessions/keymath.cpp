// Key sets in the numbering of one recording. Rules: pytorch-facts 1.5 and 1.6: a set is a cross product of
// backend bits and functionality bits; a key counts as there when all of its bits are.
#include <algorithm>
#include <bit>

#include "sessions/session.h"

namespace peel {

KeyMath::KeyMath(const Session& s) {
  for (const Key* k : s.keys()) {
    if (k->alias() || k->functionality_bit < 0 || k->functionality_bit > 63 || k->backend_bit > 63) continue;
    by_bit_.push_back(*k);
    if (k->backend_bit >= 0) backends_ |= uint64_t{1} << k->backend_bit;
  }
  std::stable_sort(by_bit_.begin(), by_bit_.end(), [](const Key& a, const Key& b) {
    return a.functionality_bit != b.functionality_bit ? a.functionality_bit < b.functionality_bit : a.backend_bit < b.backend_bit;
  });
}

uint64_t KeyMath::minus(uint64_t a, uint64_t b) const { return a & ~(b & ~backends_); }

KeyId KeyMath::highest(uint64_t set) const {
  for (size_t i = by_bit_.size(); i-- > 0;) {
    if (!(set >> by_bit_[i].functionality_bit & 1)) continue;
    // The highest functionality decides, even when none of its backends is there (Undefined then).
    const int functionality = by_bit_[i].functionality_bit;
    for (; i != SIZE_MAX && by_bit_[i].functionality_bit == functionality; --i) {
      if (by_bit_[i].backend_bit < 0 || (set >> by_bit_[i].backend_bit & 1)) return by_bit_[i].id;
    }
    return 0;
  }
  return 0;
}

std::vector<KeyId> KeyMath::keys(uint64_t set) const {
  std::vector<KeyId> out;
  for (const Key& k : by_bit_) {
    if ((set >> k.functionality_bit & 1) && (k.backend_bit < 0 || (set >> k.backend_bit & 1))) out.push_back(k.id);
  }
  return out;
}

std::string KeyMath::text(uint64_t set) const {
  std::string out = "DispatchKeySet(";
  bool first = true;
  for (const Key& k : by_bit_) {
    if (!(set >> k.functionality_bit & 1) || (k.backend_bit >= 0 && !(set >> k.backend_bit & 1))) continue;
    if (!first) out += ", ";
    out += k.name;
    first = false;
  }
  return out + ")";
}

uint64_t KeyMath::bits(KeyId id) const {
  for (const Key& k : by_bit_) {
    if (k.id == id) return uint64_t{1} << k.functionality_bit | (k.backend_bit >= 0 ? uint64_t{1} << k.backend_bit : 0);
  }
  return 0;
}

bool KeyMath::has(uint64_t set, KeyId id) const {
  const uint64_t b = bits(id);
  return b != 0 && (set & b) == b;
}

int KeyMath::backend_index(uint64_t set) const {
  const uint64_t present = set & backends_;
  return present == 0 ? 0 : static_cast<int>(std::bit_width(present)) - std::countr_zero(backends_) - 1;
}

}  // namespace peel
