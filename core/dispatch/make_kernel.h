// Kernels from C++ functions: the adapters between the boxed and the unboxed convention, and the schema that the types imply.
#pragma once
#include <functional>

#include "core/dispatch/boxing.h"
#include "core/dispatch/kernel.h"

namespace peel::core {

namespace detail {

template <class F>
struct Functor final : OperatorKernel {
  explicit Functor(F f) : function(std::move(f)) {}
  F function;
};

// F: the callable; R(A...): the operator's type, without the key set that a kernel may take first.
template <class F, bool kTakesSet, class R, class... A>
struct Adapter {
  static R run(OperatorKernel* functor, [[maybe_unused]] DispatchKeySet set, A... arguments) {
    auto& f = static_cast<Functor<F>*>(functor)->function;
    if constexpr (kTakesSet) return f(set, std::forward<A>(arguments)...);
    else return f(std::forward<A>(arguments)...);
  }
  static void run_boxed(OperatorKernel* functor, const OperatorHandle&, DispatchKeySet set, Stack* stack) {
    run_boxed(functor, set, stack, std::index_sequence_for<A...>());
  }
  template <size_t... I>
  static void run_boxed(OperatorKernel* functor, DispatchKeySet set, Stack* stack, std::index_sequence<I...>) {
    constexpr size_t count = sizeof...(A);
    [[maybe_unused]] const size_t first = stack->size() - count;
    [[maybe_unused]] std::tuple<typename BoxingOf<A>::Held...> held(BoxingOf<A>::take((*stack)[first + I])...);
    if constexpr (std::is_void_v<R>) {
      run(functor, set, static_cast<A>(std::get<I>(held))...);
      drop(stack, count);
    } else {
      std::remove_cvref_t<R> result = run(functor, set, static_cast<A>(std::get<I>(held))...);
      drop(stack, count);
      Results<std::remove_cvref_t<R>>::push(stack, std::move(result));
    }
  }
  static KernelFunction make(F f) {
    KernelFunction k;
    k.unboxed = reinterpret_cast<void*>(&run);
    k.boxed = static_cast<BoxedFunction*>(&run_boxed);
    k.functor = Ref<OperatorKernel>(new Functor<F>(std::move(f)));
    k.signature = &typeid(R(A...));
    k.inferred = std::make_shared<FunctionSchema>(inferred_schema<R, A...>());
    return k;
  }
};
template <class F, class R, class... A>
KernelFunction adapt(F f, R (*)(A...)) {
  return Adapter<F, false, R, A...>::make(std::move(f));
}
template <class F, class R, class... A>
KernelFunction adapt(F f, R (*)(DispatchKeySet, A...)) {
  return Adapter<F, true, R, A...>::make(std::move(f));
}
template <auto* F>
struct Constant;
template <class R, class... A, R (*F)(A...)>
struct Constant<F> {
  R operator()(A... a) const { return F(std::forward<A>(a)...); }
};
template <class R, class C, class... A>
R (*plain(R (C::*)(A...) const))(A...) { return nullptr; }

}  // namespace detail

/// A kernel from a function, known when compiled: no second indirect call.
template <auto* F>
KernelFunction kernel() {
  return detail::adapt(detail::Constant<F>(), F);
}
/// From a function's address: functions of one type share what is compiled.
template <class R, class... A>
KernelFunction kernel_of(R (*f)(A...)) {
  return detail::adapt(f, f);
}
/// From a lambda; what it captured is shared by all threads.
template <class L>
KernelFunction kernel(L lambda) {
  return detail::adapt(std::move(lambda), detail::plain(&L::operator()));
}
/// Boxed: `void(const OperatorHandle&, DispatchKeySet, Stack*)`. Serves any operator, so it can be a fallback.
KernelFunction boxed_kernel(std::function<void(const OperatorHandle&, DispatchKeySet, Stack*)>);

}  // namespace peel::core
