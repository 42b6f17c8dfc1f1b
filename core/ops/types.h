// The C++ types of operators' arguments, beside those that dispatch knows.
#pragma once
#include "core/dispatch/boxing.h"
#include "core/tensor/tensor.h"

namespace peel::core {

enum class Layout : int8_t { Strided };
constexpr const char* schema_name(Layout) { return "Layout"; }

/// An optional list, whose elements someone else holds.
template <class T>
struct Boxing<std::optional<std::span<const T>>> {
  using Held = std::optional<std::vector<T>>;
  static Type type() { return {Type::Kind::kOptional, {}, {Boxing<std::vector<T>>::type()}}; }
  static Held take(const IValue& v) { return v.is_none() ? Held() : Held(Boxing<std::vector<T>>::take(v)); }
  static IValue box(const std::optional<std::span<const T>>& v) { return v ? Boxing<std::vector<T>>::box(*v) : IValue(); }
  static DispatchKeySet keys(const std::optional<std::span<const T>>&) { return {}; }
};

}  // namespace peel::core
