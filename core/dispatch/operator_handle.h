// The four ways into an operator. call and call_boxed compute the key set from the arguments and the thread's state;
// redispatch and redispatch_boxed take the set that they are given. One table look-up each, no lock.
#pragma once
#include "core/dispatch/boxing.h"
#include "core/observer.h"

namespace peel::core {

template <class Signature>
class TypedOperatorHandle;

/// An operator. Stays usable after the operator's removal: calls then fail for want of a kernel.
class OperatorHandle {
 public:
  explicit OperatorHandle(const OperatorEntry* e) : entry_(e) {}
  const OperatorName& name() const { return entry_->name(); }
  const OperatorEntry& entry() const { return *entry_; }
  bool has_schema() const { return entry_->schema() != nullptr; }
  /// Throws when only kernels are registered so far.
  const FunctionSchema& schema() const;
  /// Throws when the operator's kernels have another C++ type.
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    check_signature(typeid(Signature));
    return TypedOperatorHandle<Signature>(entry_);
  }

  /// The arguments are on top of the stack; results replace them.
  void call_boxed(Stack*) const;
  void redispatch_boxed(DispatchKeySet, Stack*) const;
  bool operator==(const OperatorHandle&) const = default;

 protected:
  void check_signature(const std::type_info&) const;
  const OperatorEntry* entry_;
};

namespace detail {

template <class... A>
class ArgumentValues final : public HopValues {
 public:
  explicit ArgumentValues(const A&... a) : values_(a...) {}
  void push(Stack* s) const override {
    std::apply([s](const auto&... one) { push_all(s, one...); }, values_);
  }

 private:
  std::tuple<const A&...> values_;
};

template <class T>
struct HoldsReferences : std::is_lvalue_reference<T> {};
template <class... R>
struct HoldsReferences<std::tuple<R...>> : std::bool_constant<(std::is_lvalue_reference_v<R> && ...)> {};

template <class R>
class ResultValues final : public HopValues {
 public:
  explicit ResultValues(std::remove_reference_t<R>* r) : result_(r) {}
  void push(Stack* s) const override { Results<std::remove_cvref_t<R>>::push(s, *result_); }
  bool replace(const Stack& s) override {
    if constexpr (!HoldsReferences<R>::value) *result_ = Results<std::remove_cvref_t<R>>::take(s);
    return !HoldsReferences<R>::value;
  }

 private:
  std::remove_reference_t<R>* result_;
};
template <>
class ResultValues<void> final : public HopValues {
 public:
  void push(Stack*) const override {}
};

// In-place and out= operators return the tensors that they were given: the first one written, or the last ones.
template <class R, class... A>
R returned_reference(A&... arguments) {
  std::remove_reference_t<R>* found = nullptr;
  const auto look = [&found](auto& a) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(a)>, std::remove_reference_t<R>>) {
      if (!found) found = &a;
    }
  };
  (look(arguments), ...);
  return *found;
}

// A kernel without an unboxed entry: the arguments go through a stack.
template <class R, class... A>
[[gnu::noinline]] R call_through_stack(const Kernel& k, const OperatorEntry& op, DispatchKeySet set, A... arguments) {
  Stack stack;
  push_all(&stack, arguments...);
  k.function.boxed(k.function.functor.get(), OperatorHandle(&op), set, &stack);
  if constexpr (std::is_void_v<R>) {
    return;
  } else if constexpr (std::is_lvalue_reference_v<R>) {
    return returned_reference<R>(arguments...);
  } else if constexpr (HoldsReferences<R>::value) {
    const auto all = std::tie(arguments...);
    constexpr size_t first = sizeof...(A) - std::tuple_size_v<R>;
    return [&]<size_t... I>(std::index_sequence<I...>) { return R{std::get<first + I>(all)...}; }(std::make_index_sequence<std::tuple_size_v<R>>());
  } else {
    return Results<R>::take(stack);
  }
}

template <class R, class... A>
inline R enter(const Kernel& k, const OperatorEntry& op, DispatchKeySet set, A... arguments) {
  if (k.function.unboxed) [[likely]] {
    return reinterpret_cast<R (*)(OperatorKernel*, DispatchKeySet, A...)>(k.function.unboxed)(k.function.functor.get(), set,
                                                                                              std::forward<A>(arguments)...);
  }
  return call_through_stack<R, A...>(k, op, set, std::forward<A>(arguments)...);
}

template <class R, class... A>
[[gnu::noinline, gnu::cold]] R observed(Observer& observer, HopKind kind, const OperatorEntry& op, DispatchKeySet keys, DispatchKeySet set,
                                        A... arguments) {
  const ArgumentValues<std::remove_cvref_t<A>...> values(arguments...);
  const Kernel* k = op.kernel(set);
  if (kind == HopKind::kCall) k = op.settle(keys, &set, k);
  Hop hop{&op, kind, keys, set, k, &values};
  observer.begin(hop);
  try {
    op.require(hop.set, hop.kernel);
    if constexpr (std::is_void_v<R>) {
      enter<R, A...>(*hop.kernel, op, hop.set, std::forward<A>(arguments)...);
      ResultValues<void> none;
      observer.end(hop, &none);
    } else {
      R result = enter<R, A...>(*hop.kernel, op, hop.set, std::forward<A>(arguments)...);
      ResultValues<R> results(&result);
      observer.end(hop, &results);
      return static_cast<R&&>(result);
    }
  } catch (...) {
    observer.end(hop, nullptr);
    throw;
  }
}

}  // namespace detail

/// With the C++ type of the operator's kernels: calls go without a stack.
template <class R, class... A>
class TypedOperatorHandle<R(A...)> : public OperatorHandle {
 public:
  explicit TypedOperatorHandle(const OperatorEntry* e) : OperatorHandle(e) {}

  R call(A... arguments) const {
    const DispatchKeySet keys = keys_of(arguments...);
    DispatchKeySet set = entry_->effective(keys);
    if (Observer* o = observer()) [[unlikely]] {
      return detail::observed<R, A...>(*o, HopKind::kCall, *entry_, keys, set, std::forward<A>(arguments)...);
    }
    const Kernel* k = entry_->kernel(set);
    if (!k->function.unboxed) [[unlikely]] {
      k = entry_->settle(keys, &set, k);
      entry_->require(set, k);
    }
    return detail::enter<R, A...>(*k, *entry_, set, std::forward<A>(arguments)...);
  }

  R redispatch(DispatchKeySet set, A... arguments) const {
    if (Observer* o = observer()) [[unlikely]] {
      return detail::observed<R, A...>(*o, HopKind::kRedispatch, *entry_, {}, set, std::forward<A>(arguments)...);
    }
    const Kernel* k = entry_->kernel(set);
    if (!k->function.unboxed) [[unlikely]] entry_->require(set, k);
    return detail::enter<R, A...>(*k, *entry_, set, std::forward<A>(arguments)...);
  }
};

}  // namespace peel::core
