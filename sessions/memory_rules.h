// The CUDA caching allocator's arithmetic: how big a block or a segment becomes, when a block is split, which free block a
// request may have. As in PyTorch 2.13's CUDACachingAllocator (docs: rounding, pools, best fit).
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace peel {

constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB;

/// What PYTORCH_CUDA_ALLOC_CONF sets, as far as it decides which block a request gets.
struct AllocatorSettings {
  int64_t max_split_size = INT64_MAX;
  int64_t max_non_split_rounding = 20 * kMiB;
  int64_t large_segment_size = 20 * kMiB;
  bool expandable_segments = false;
  std::array<int64_t, 16> power2_divisions{};  // by power of two from 1 MiB up; 0 and 1 = off
  std::string text;                            // as given

  /// Lenient: what it doesn't know is passed over.
  static AllocatorSettings parse(std::string_view);
};

constexpr int64_t kMinBlock = 512;             // rounding quantum
constexpr int64_t kSmallRequest = kMiB;        // largest request (rounded) of the small pool
constexpr int64_t kSmallSegment = 2 * kMiB;
constexpr int64_t kMinLargeAlloc = 10 * kMiB;  // from here on a large request gets a segment of its own size
constexpr int64_t kRoundLarge = 2 * kMiB;

int64_t rounded_size(const AllocatorSettings&, int64_t asked);   // of the block
int64_t segment_size(const AllocatorSettings&, int64_t rounded); // of a new segment for it
inline bool is_small(int64_t rounded) { return rounded <= kSmallRequest; }
/// Is a free block of `size` cut when `rounded` of it are needed?
bool is_split(const AllocatorSettings&, int64_t size, int64_t rounded, bool large, bool expandable);

/// Why a free block is not for a request; kFits: it is one that the search may take.
enum class Refusal : uint8_t { kFits, kOtherPool, kOtherKind, kOtherStream, kTooSmall, kNotToBeSplit, kTooMuchLeft, kExpandable };
struct Request {
  int64_t rounded;
  uint16_t stream, pool;
};
struct FreeBlock {
  int64_t size;
  uint16_t stream, pool;
  bool large, expandable;
};
Refusal refusal(const AllocatorSettings&, const Request&, const FreeBlock&);

}  // namespace peel
