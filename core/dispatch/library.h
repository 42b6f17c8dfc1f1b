// Registering operators and kernels, in the style of TORCH_LIBRARY:
//   PEEL_LIBRARY(mine, m) { m.def("twice(Tensor x) -> Tensor"); }
//   PEEL_LIBRARY_IMPL(mine, CPU, m) { m.impl("twice", kernel<&twice_cpu>()); }
// What a Library registered goes when the Library goes.
#pragma once
#include "core/dispatch/dispatcher.h"

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
/// From a lambda; what it captured is shared by all threads.
template <class L>
KernelFunction kernel(L lambda) {
  return detail::adapt(std::move(lambda), detail::plain(&L::operator()));
}
/// Boxed: `void(const OperatorHandle&, DispatchKeySet, Stack*)`. Serves any operator, so it can be a fallback.
KernelFunction boxed_kernel(std::function<void(const OperatorHandle&, DispatchKeySet, Stack*)>);

class Library {
 public:
  enum class Kind : uint8_t { kDef, kImpl, kFragment };
  /// `space` "_" in an Impl library: for fallbacks.
  Library(Kind, std::string space, std::optional<DispatchKey>, const char* file, int line, Dispatcher& = Dispatcher::get());

  /// A schema; the library's namespace is put in front when it has none.
  Library& def(std::string_view schema);
  /// A schema and its kernel for CompositeImplicitAutograd.
  Library& def(std::string_view schema, KernelFunction);
  Library& impl(std::string_view name, KernelFunction, std::optional<DispatchKey> = {});
  /// For the library's key; for an alias, at each of its runtime keys.
  Library& fallback(KernelFunction);
  /// Undoes everything now.
  void reset() { registrations_.clear(); }

 private:
  std::string debug() const { return "registered at " + file_ + ":" + std::to_string(line_); }
  const char* block() const;  // as PyTorch's errors call it
  std::string place() const;
  Kind kind_;
  std::string space_;
  std::optional<DispatchKey> key_;
  std::string file_;
  int line_;
  Dispatcher* dispatcher_;
  std::vector<Registration> registrations_;
};

namespace detail {
/// Runs a block when the program starts.
struct LibraryBlock {
  LibraryBlock(Library::Kind kind, const char* space, std::optional<DispatchKey> key, void (*block)(Library&), const char* file, int line)
      : library(kind, space, key, file, line) {
    block(library);
  }
  Library library;
};
}  // namespace detail

#define PEEL_LIBRARY(space, m)                                                                                                        \
  static void peel_library_##space(::peel::core::Library&);                                                                         \
  static const ::peel::core::detail::LibraryBlock peel_library_block_##space(::peel::core::Library::Kind::kDef, #space, std::nullopt,     \
                                                                             &peel_library_##space, __FILE__, __LINE__);            \
  static void peel_library_##space(::peel::core::Library& m)
#define PEEL_LIBRARY_IMPL(space, key, m)                                                                                              \
  static void peel_library_##space##_##key(::peel::core::Library&);                                                                 \
  static const ::peel::core::detail::LibraryBlock peel_library_block_##space##_##key(                                                 \
      ::peel::core::Library::Kind::kImpl, #space, ::peel::core::DispatchKey::key, &peel_library_##space##_##key, __FILE__, __LINE__); \
  static void peel_library_##space##_##key(::peel::core::Library& m)

}  // namespace peel::core
