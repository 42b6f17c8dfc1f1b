// Between C++ types and boxed values: what each argument type of a kernel is called in a schema, how it is put on a stack
// and taken off, and which keys it gives. One specialisation per family of types.
#pragma once
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/dispatch/schema.h"

namespace peel::core {

/// A number of any kind, as operators' Scalar arguments are.
struct Scalar {
  IValue value;
  Scalar(IValue v = IValue(int64_t{0})) : value(std::move(v)) {}
  template <class T>
    requires std::is_arithmetic_v<T>
  Scalar(T v) : value([v] {
    if constexpr (std::is_same_v<T, bool>) return IValue(v);
    else if constexpr (std::is_integral_v<T>) return IValue(static_cast<int64_t>(v));
    else return IValue(static_cast<double>(v));
  }()) {}
};

/// `Held` owns what `take` took off the stack while the kernel runs; the kernel gets `Held&` converted to its own type.
template <class T>
struct Boxing;

#define PEEL_BOXING(T, NAME, TAKE)                                         \
  template <>                                                              \
  struct Boxing<T> {                                                       \
    using Held = T;                                                        \
    static Type type() { return {Type::Kind::kPlain, NAME, {}}; }          \
    static Held take(const IValue& v) { return TAKE; }                     \
    static IValue box(const T& v) { return IValue(v); }                    \
    static DispatchKeySet keys(const T&) { return {}; }                    \
  };
PEEL_BOXING(int64_t, "int", v.to_int())
PEEL_BOXING(double, "float", v.to_double())
PEEL_BOXING(bool, "bool", v.to_bool())
PEEL_BOXING(Device, "Device", v.to_device())
PEEL_BOXING(std::complex<double>, "complex", v.to_complex())
PEEL_BOXING(std::string, "str", v.to_string())
PEEL_BOXING(std::string_view, "str", v.to_string())
PEEL_BOXING(IValue, "Any", v)
#undef PEEL_BOXING

template <>
struct Boxing<Scalar> {
  using Held = Scalar;
  static Type type() { return {Type::Kind::kPlain, "Scalar", {}}; }
  static Held take(const IValue& v) { return {v}; }
  static IValue box(const Scalar& s) { return s.value; }
  static DispatchKeySet keys(const Scalar&) { return {}; }
};

template <class T>
  requires std::is_base_of_v<TensorHandle, T>
struct Boxing<T> {
  using Held = T;
  static Type type() { return {Type::Kind::kPlain, "Tensor", {}}; }
  static Held take(const IValue& v) { return T(v.to_tensor().release()); }
  static Held take(IValue& v) { return T(v.take_tensor().release()); }  // the stack's own: it is dropped anyway
  static IValue box(const T& t) { return IValue(static_cast<const TensorHandle&>(t)); }
  static IValue box(T&& t) { return IValue(static_cast<TensorHandle&&>(t)); }
  static DispatchKeySet keys(const T& t) { return t.keys(); }
};

template <class T>
  requires std::is_base_of_v<GeneratorHandle, T>
struct Boxing<T> {
  using Held = T;
  static Type type() { return {Type::Kind::kPlain, "Generator", {}}; }
  static Held take(const IValue& v) { return T(v.to_generator().object()); }
  static IValue box(const T& g) { return IValue(static_cast<const GeneratorHandle&>(g)); }
  static DispatchKeySet keys(const T& g) { return g.keys(); }
};

/// ScalarType, Layout, MemoryFormat: integers when boxed. `schema_name(E)` is found beside the type.
template <class E>
  requires std::is_enum_v<E>
struct Boxing<E> {
  using Held = E;
  static Type type() { return {Type::Kind::kPlain, schema_name(E{}), {}}; }
  static Held take(const IValue& v) { return static_cast<E>(v.to_int()); }
  static IValue box(E e) { return IValue(static_cast<int64_t>(e)); }
  static DispatchKeySet keys(E) { return {}; }
};

template <class T>
struct Boxing<std::optional<T>> {
  using Held = std::optional<T>;
  static Type type() { return {Type::Kind::kOptional, {}, {Boxing<T>::type()}}; }
  static Held take(const IValue& v) { return v.is_none() ? Held() : Held(Boxing<T>::take(v)); }
  static IValue box(const std::optional<T>& v) { return v ? Boxing<T>::box(*v) : IValue(); }
  static DispatchKeySet keys(const std::optional<T>& v) { return v ? Boxing<T>::keys(*v) : DispatchKeySet(); }
};

template <class T>
struct Boxing<std::vector<T>> {
  using Held = std::vector<T>;
  static Type type() { return {Type::Kind::kList, {}, {Boxing<T>::type()}}; }
  static Held take(const IValue& v) {
    Held out;
    out.reserve(v.to_list().size());
    for (const IValue& one : v.to_list()) out.push_back(Boxing<T>::take(one));
    return out;
  }
  static IValue box(std::span<const T> values) {
    std::vector<IValue> out;
    out.reserve(values.size());
    for (const T& v : values) out.push_back(Boxing<T>::box(v));
    return IValue::list(std::move(out));
  }
  static DispatchKeySet keys(std::span<const T> values) {
    DispatchKeySet out;
    for (const T& v : values) out = out | Boxing<T>::keys(v);
    return out;
  }
};
/// How kernels take lists: a view of what someone else holds.
template <class T>
struct Boxing<std::span<const T>> : Boxing<std::vector<T>> {};

template <class T>
using BoxingOf = Boxing<std::remove_cvref_t<T>>;

template <class... A>
DispatchKeySet keys_of(const A&... arguments) {
  return (DispatchKeySet() | ... | BoxingOf<A>::keys(arguments));
}
template <class... A>
void push_all(Stack* s, const A&... values) {
  s->reserve(s->size() + sizeof...(values));
  (s->push_back(BoxingOf<A>::box(values)), ...);
}

/// Results of a kernel: nothing, one value, or a tuple.
template <class R>
struct Results {
  static void push(Stack* s, const std::remove_cvref_t<R>& r) { push_all(s, r); }
  static void push(Stack* s, std::remove_cvref_t<R>&& r) { s->push_back(BoxingOf<R>::box(std::move(r))); }
  static std::remove_cvref_t<R> take(const Stack& s) { return BoxingOf<R>::take(s.back()); }
  static void types(std::vector<Type>* out) { out->push_back(BoxingOf<R>::type()); }
  static constexpr size_t kCount = 1;
};
template <>
struct Results<void> {
  static void types(std::vector<Type>*) {}
  static constexpr size_t kCount = 0;
};
template <class... R>
struct Results<std::tuple<R...>> {
  static void push(Stack* s, const std::tuple<R...>& r) {
    std::apply([s](const auto&... one) { push_all(s, one...); }, r);
  }
  static std::tuple<R...> take(const Stack& s) { return take(s, std::index_sequence_for<R...>()); }
  template <size_t... I>
  static std::tuple<R...> take(const Stack& s, std::index_sequence<I...>) {
    return {BoxingOf<R>::take(s[s.size() - sizeof...(R) + I])...};
  }
  static void types(std::vector<Type>* out) { (out->push_back(BoxingOf<R>::type()), ...); }
  static constexpr size_t kCount = sizeof...(R);
};

/// `(Tensor _0, int _1) -> Tensor _0`.
template <class R, class... A>
FunctionSchema inferred_schema() {
  FunctionSchema s;
  (s.arguments.push_back({"_" + std::to_string(s.arguments.size()), BoxingOf<A>::type(), {}, {}, {}, {}, false}), ...);
  std::vector<Type> types;
  Results<R>::types(&types);
  for (Type& t : types) s.returns.push_back({"_" + std::to_string(s.returns.size()), std::move(t), {}, {}, {}, {}, false});
  return s;
}

}  // namespace peel::core
