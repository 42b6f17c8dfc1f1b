// The typed entry points of wrapped kernels: one pair of functions (plain and with symbolic sizes) per C++
// signature, shared by all operators that have it. Instantiated in the generated parts (generate.py).
#pragma once
#include <ATen/core/Generator.h>
#include <c10/core/QScheme.h>
#include <c10/core/Stream.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <array>
#include <optional>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "tracer/pytorch/hot.h"

namespace c10 {
template <class T> class List;
}

namespace peel::agent {

// Arguments and results are handed to the recorder as addresses with the tags of their types (Tag), so that the
// code per signature is a call, a catch and two arrays; what is done with each type is written once (values.cpp).

/// The types that operator schemas have in C++. Order is free: both sides are compiled together.
#define PEEL_TAGS(X) \
  X(kTensor, at::Tensor) X(kMaybeTensor, std::optional<at::Tensor>) X(kTensors, at::TensorList) X(kTensorRefs, at::ITensorListRef) \
  X(kMaybeTensors, c10::List<std::optional<at::Tensor>>) X(kTensorVector, std::vector<at::Tensor>) \
  X(kGenerator, at::Generator) X(kMaybeGenerator, std::optional<at::Generator>) \
  X(kBool, bool) X(kInt, int64_t) X(kDouble, double) X(kByte, int8_t) X(kSymInt, c10::SymInt) X(kSymBool, c10::SymBool) X(kScalar, at::Scalar) \
  X(kString, c10::string_view) X(kInts, at::IntArrayRef) X(kSymInts, c10::SymIntArrayRef) X(kDoubles, at::ArrayRef<double>) X(kScalars, at::ArrayRef<at::Scalar>) \
  X(kDtype, at::ScalarType) X(kLayout, at::Layout) X(kMemoryFormat, at::MemoryFormat) X(kDevice, at::Device) X(kScheme, at::QScheme) \
  X(kStorage, at::Storage) X(kStream, c10::Stream) \
  X(kMaybeBool, std::optional<bool>) X(kMaybeInt, std::optional<int64_t>) X(kMaybeDouble, std::optional<double>) X(kMaybeSymInt, std::optional<c10::SymInt>) \
  X(kMaybeScalar, std::optional<at::Scalar>) X(kMaybeString, std::optional<c10::string_view>) X(kMaybeInts, at::OptionalIntArrayRef) \
  X(kMaybeSymInts, at::OptionalSymIntArrayRef) X(kMaybeDoubles, std::optional<at::ArrayRef<double>>) X(kMaybeDtype, std::optional<at::ScalarType>) \
  X(kMaybeLayout, std::optional<at::Layout>) X(kMaybeMemoryFormat, std::optional<at::MemoryFormat>) X(kMaybeDevice, std::optional<at::Device>) \
  X(kBools2, std::array<bool PEEL_COMMA 2>) X(kBools3, std::array<bool PEEL_COMMA 3>) X(kBools4, std::array<bool PEEL_COMMA 4>)
#define PEEL_COMMA ,

enum class Tag : uint8_t {
  kOther,
#define X(tag, type) tag,
  PEEL_TAGS(X)
#undef X
};
template <class T> inline constexpr Tag kTag = Tag::kOther;
#define X(tag, type) template <> inline constexpr Tag kTag<type> = Tag::tag;
PEEL_TAGS(X)
#undef X

/// Values of one call, by address. `tags[i]` says what `at[i]` points to.
struct Values {
  const Tag* tags;
  const void* const* at;
  uint32_t count;
};

// ---- values.cpp
Frame* begin_typed(Thread*, WrapperBase*, uint64_t keyset, const Values& arguments, const void* const* caller);
void end_typed(Thread*, Frame*, const Values& results);

// ---- the C++ signature of the variant without symbolic sizes
template <class T> struct Plain { using type = T; static constexpr bool kSymInt = false; };
template <> struct Plain<c10::SymInt> { using type = int64_t; static constexpr bool kSymInt = true; };
template <> struct Plain<c10::SymIntArrayRef> { using type = at::IntArrayRef; static constexpr bool kSymInt = true; };
template <> struct Plain<at::OptionalSymIntArrayRef> { using type = at::OptionalIntArrayRef; static constexpr bool kSymInt = true; };
template <> struct Plain<std::optional<c10::SymInt>> { using type = std::optional<int64_t>; static constexpr bool kSymInt = true; };

template <class T>
void end_with(Thread* t, Frame* f, const T& r) {
  static constexpr Tag kTags[] = {kTag<T>};
  const void* const at[] = {&r};
  end_typed(t, f, {kTags, at, 1});
}
template <class... T>
void end_with(Thread* t, Frame* f, const std::tuple<T...>& r) {
  static constexpr Tag kTags[] = {kTag<std::remove_cvref_t<T>>...};
  std::apply([&](const auto&... x) {
    const void* const at[] = {&x...};
    end_typed(t, f, {kTags, at, sizeof...(T)});
  }, r);
}

template <bool kSym, class R, class... B>
R thunk(c10::OperatorKernel* functor, c10::DispatchKeySet ks, B... args) {
  auto* w = static_cast<WrapperBase*>(functor);
  using Fn = R (*)(c10::OperatorKernel*, c10::DispatchKeySet, B...);
  const Fn fn = reinterpret_cast<Fn>(kSym ? w->symint : w->unboxed);
  Thread* t = nullptr;
  if (__builtin_expect(g_detail.load(std::memory_order_relaxed) == kOff || !(t = this_thread()), 1)) return fn(w->functor, ks, std::forward<B>(args)...);
  static constexpr Tag kTags[] = {kTag<std::remove_cvref_t<B>>..., Tag::kOther};
  const void* const at[] = {&args..., nullptr};
  Frame* f = begin_typed(t, w, ks.raw_repr(), {kTags, at, sizeof...(B)}, PEEL_CALLER);
  if (!f) return fn(w->functor, ks, std::forward<B>(args)...);
  try {
    if constexpr (std::is_void_v<R>) {
      fn(w->functor, ks, std::forward<B>(args)...);
      end_typed(t, f, {});
    } else {
      R r = fn(w->functor, ks, std::forward<B>(args)...);
      end_with(t, f, r);
      if constexpr (std::is_reference_v<R>) return r; else return r;
    }
  } catch (...) {
    raise_hop(t, f);
    throw;
  }
}

template <class Signature> struct Thunk;
template <class R, class... A>
struct Thunk<R(A...)> {
  static constexpr bool kHasSymInt = (Plain<A>::kSymInt || ...);
  static void* unboxed() { return reinterpret_cast<void*>(&peel::agent::thunk<false, R, typename Plain<A>::type...>); }
  static void* symint() {
    if constexpr (kHasSymInt) return reinterpret_cast<void*>(&peel::agent::thunk<true, R, A...>);
    else return nullptr;
  }
  /// Whether PyTorch's own record of the operator's C++ signature agrees with ours.
  static bool matches(const c10::impl::OperatorEntry& e) {
    const auto* plain = static_cast<const std::type_info*>(entry_signature(e, false));
    if (plain && *plain != typeid(R(typename Plain<A>::type...))) return false;
    const auto* sym = kHasSymInt ? static_cast<const std::type_info*>(entry_signature(e, true)) : nullptr;
    return !sym || *sym == typeid(R(A...));
  }
};

}  // namespace peel::agent
