#include "sessions/memory_rules.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

namespace peel {
namespace {

int64_t number(std::string_view t) {
  int64_t n = 0;
  const auto end = std::from_chars(t.data(), t.data() + t.size(), n);
  return end.ec == std::errc() && n >= 0 ? n : -1;
}
/// Sizes in MiB that no computer has would overflow.
int64_t mib(std::string_view t, int64_t otherwise) {
  const int64_t n = number(t);
  return n < 0 || n > (int64_t{1} << 30) ? otherwise : n * kMiB;
}

/// "a:b,c:[d:e,f:g]" into tokens: words and the marks : , [ ]
std::vector<std::string_view> tokens(std::string_view t) {
  std::vector<std::string_view> out;
  size_t from = 0;
  const auto word = [&](size_t to) {
    while (from < to && t[from] == ' ') ++from;
    size_t end = to;
    while (end > from && t[end - 1] == ' ') --end;
    if (end > from) out.push_back(t.substr(from, end - from));
  };
  for (size_t i = 0; i < t.size(); ++i) {
    if (t[i] != ':' && t[i] != ',' && t[i] != '[' && t[i] != ']') continue;
    word(i);
    out.push_back(t.substr(i, 1));
    from = i + 1;
  }
  word(t.size());
  return out;
}

/// "[256:1,512:2,>:8]": the tokens from `i`, which is at "[". Each number holds for its power of two (in MiB), the first
/// also for all below, ">" for all above the last.
void parse_divisions(const std::vector<std::string_view>& t, size_t& i, std::array<int64_t, 16>& out) {
  size_t last = 0;
  bool first = true;
  for (++i; i < t.size() && t[i] != "]"; ++i) {
    if (i + 2 >= t.size() || t[i + 1] != ":") continue;
    const int64_t value = std::max<int64_t>(0, number(t[i + 2]));
    if (t[i] == ">") {
      for (size_t k = first ? 0 : last + 1; k < out.size(); ++k) out[k] = value;
    } else if (const int64_t at = number(t[i]); at > 0) {
      const auto index = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(at)) - 1);
      if (first) std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(std::min(index, out.size())), value);
      if (index < out.size()) out[index] = value;
      last = std::min(index, out.size() - 1);
      first = false;
    }
    i += 2;
  }
}

int64_t next_division(int64_t size, int64_t divisions) {
  const auto s = static_cast<uint64_t>(size);
  if (std::has_single_bit(s)) return size;
  const uint64_t floor = std::bit_floor(s), part = floor >> (std::bit_width(static_cast<uint64_t>(divisions)) - 1);
  if (part == 0) return static_cast<int64_t>(floor << 1);
  const uint64_t down = s & ~(part - 1);
  return static_cast<int64_t>(down == s ? s : down + part);
}

}  // namespace

AllocatorSettings AllocatorSettings::parse(std::string_view text) {
  AllocatorSettings s;
  s.text = text;
  const auto t = tokens(text);
  for (size_t i = 0; i + 2 < t.size(); ++i) {
    if (t[i + 1] != ":") continue;
    const std::string_view name = t[i], value = t[i + 2];
    if (name == "max_split_size_mb") s.max_split_size = std::max(mib(value, s.max_split_size), kMiB);
    else if (name == "max_non_split_rounding_mb") s.max_non_split_rounding = mib(value, s.max_non_split_rounding);
    else if (name == "large_segment_size_mb") s.large_segment_size = std::max(mib(value, s.large_segment_size), kSmallSegment);
    else if (name == "expandable_segments") s.expandable_segments = value == "True";
    else if (name == "roundup_power2_divisions" && value == "[") i += 2, parse_divisions(t, i, s.power2_divisions);
    else if (name == "roundup_power2_divisions") s.power2_divisions.fill(std::max<int64_t>(0, number(value)));
  }
  return s;
}

int64_t rounded_size(const AllocatorSettings& s, int64_t asked) {
  if (asked < kMinBlock) return kMinBlock;
  const int power = static_cast<int>(std::bit_width(static_cast<uint64_t>(asked))) - 1 - 20;  // 1 MiB = 2^20
  const int64_t divisions = s.power2_divisions[static_cast<size_t>(std::clamp(power, 0, 15))];
  if (divisions > 1 && asked > kMinBlock * divisions) return next_division(asked, divisions);
  return (asked + kMinBlock - 1) / kMinBlock * kMinBlock;
}

int64_t segment_size(const AllocatorSettings& s, int64_t rounded) {
  if (is_small(rounded)) return kSmallSegment;
  if (rounded < kMinLargeAlloc) return s.large_segment_size;
  return (rounded + kRoundLarge - 1) / kRoundLarge * kRoundLarge;
}

bool is_split(const AllocatorSettings& s, int64_t size, int64_t rounded, bool large, bool expandable) {
  const int64_t left = size - rounded;
  if (!large || expandable || s.expandable_segments) return left >= kMinBlock;
  return rounded < s.max_split_size && left > kSmallRequest;
}

Refusal refusal(const AllocatorSettings& s, const Request& r, const FreeBlock& b) {
  if (b.pool != r.pool) return Refusal::kOtherPool;
  if (b.large == is_small(r.rounded)) return Refusal::kOtherKind;
  if (b.stream != r.stream) return Refusal::kOtherStream;
  if (b.size < r.rounded) return Refusal::kTooSmall;
  if (b.expandable && !s.expandable_segments) return Refusal::kExpandable;
  if (r.rounded < s.max_split_size && b.size >= s.max_split_size) return Refusal::kNotToBeSplit;
  if (r.rounded >= s.max_split_size && b.size - r.rounded >= s.max_non_split_rounding) return Refusal::kTooMuchLeft;
  return Refusal::kFits;
}

}  // namespace peel
