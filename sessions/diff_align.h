// The alignment behind compare: which elements of two sequences belong together, as a minimal edit script would
// pair them. Elements are 64-bit tokens; equal tokens may be paired, others never.
//
// Myers' greedy algorithm within a bound of differences; beyond it the stretch is cut at tokens that are rare on
// both sides, and where there are none the furthest path found so far is taken and the search goes on from its end.
// So work is O((n + m) * bound) at worst and near (n + m) for similar sequences; memory O(n + m + bound^2).
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace peel {

/// Pairs of indices, ascending on both sides. align(b, a) is align(a, b) mirrored.
std::vector<std::pair<uint32_t, uint32_t>> align(std::span<const uint64_t> a, std::span<const uint64_t> b);

}  // namespace peel
