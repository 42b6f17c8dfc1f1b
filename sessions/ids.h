// Strong ids and the one type for time. 0 = none, everywhere.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>

namespace peel {

template <class Tag>
struct Id {
  uint32_t value = 0;
  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr explicit operator bool() const { return value != 0; }
  constexpr auto operator<=>(const Id&) const = default;
};

using EventId = Id<struct EventTag>;
using StringId = Id<struct StringTag>;
using OpId = Id<struct OpTag>;
using KernelId = Id<struct KernelTag>;
using KeysetId = Id<struct KeysetTag>;
using TlsId = Id<struct TlsTag>;
using StackId = Id<struct StackTag>;
using NodeId = Id<struct NodeTag>;
using TensorId = Id<struct TensorTag>;
using ThreadId = Id<struct ThreadTag>;
using SpanId = Id<struct SpanTag>;
using KeyId = uint16_t;  // enum value of a dispatch key in this recording; 0 = Undefined

using Nanoseconds = int64_t;        // since the session's start
constexpr Nanoseconds kOpen = -1;   // end of a hop that never returned

}  // namespace peel

template <class Tag>
struct std::hash<peel::Id<Tag>> {
  size_t operator()(peel::Id<Tag> id) const noexcept { return std::hash<uint32_t>{}(id.value); }
};
