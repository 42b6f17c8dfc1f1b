// The C++ types of operators' arguments, beside those that dispatch knows.
#pragma once
#include <array>

#include "core/dispatch/boxing.h"
#include "core/tensor/tensor.h"

namespace peel::core {

constexpr const char* schema_name(Layout) { return "Layout"; }

/// A storage as an argument: of set_.
using StorageRef = Ref<Storage>;
template <>
struct Boxing<StorageRef> {
  using Held = StorageRef;
  static Type type() { return {Type::Kind::kPlain, "Storage", {}}; }
  static Held take(const IValue& v) { return Ref<Storage>(static_cast<Storage*>(v.to_object().get())); }
  static IValue box(const StorageRef& s) { return IValue::object(s); }
  static DispatchKeySet keys(const StorageRef&) { return {}; }
};

/// `bool[3]`: which results are wanted.
template <size_t N>
struct Boxing<std::array<bool, N>> {
  using Held = std::array<bool, N>;
  static Type type() { return {Type::Kind::kList, {}, {Boxing<bool>::type()}}; }
  static Held take(const IValue& v) {
    Held out{};
    const auto& list = v.to_list();
    for (size_t i = 0; i < N && i < list.size(); ++i) out[i] = list[i].to_bool();
    return out;
  }
  static IValue box(const Held& v) {
    std::vector<IValue> out;
    for (const bool b : v) out.emplace_back(b);
    return IValue::list(std::move(out));
  }
  static DispatchKeySet keys(const Held&) { return {}; }
};

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
