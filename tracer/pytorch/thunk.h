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

namespace peel::agent {

using wire::ValueType;

// ---- one look over the arguments: their key sets, and their identity (so that a redispatch need not repeat them)
inline void look(Look& l, const at::Tensor& x) {
  const c10::TensorImpl* i = x.unsafeGetTensorImpl();
  l.keys |= i->key_set().raw_repr();
  l.fingerprint = (l.fingerprint << 7 | l.fingerprint >> 57) ^ reinterpret_cast<uintptr_t>(i);
}
inline void look(Look& l, const std::optional<at::Tensor>& x) {
  if (x) look(l, *x); else l.fingerprint = l.fingerprint << 7 | l.fingerprint >> 57;
}
inline void look(Look& l, at::TensorList xs) { for (const at::Tensor& x : xs) look(l, x); }
void look(Look& l, const at::ITensorListRef& xs);
void look(Look& l, const c10::List<std::optional<at::Tensor>>& xs);
inline void look(Look& l, const at::Generator& g) { if (g.defined()) l.keys |= g.key_set().raw_repr(); }
inline void look(Look& l, const std::optional<at::Generator>& g) { if (g) look(l, *g); }
template <class T> void look(Look&, const T&) {}

// ---- arguments as records. `p` is wire::place(position); overloads by the types that schemas use.
inline void put(Thread* t, uint32_t p, const at::Tensor& x) { put_tensor(t, p, x.unsafeGetTensorImpl(), wire::kParticipates); }
inline void put(Thread* t, uint32_t p, bool x) { put_word(t, p, ValueType::kBool, x); }
inline void put(Thread* t, uint32_t p, int64_t x) { put_word(t, p, ValueType::kInt, static_cast<uint64_t>(x)); }
inline void put(Thread* t, uint32_t p, int8_t x) { put_word(t, p, ValueType::kInt, static_cast<uint64_t>(static_cast<int64_t>(x))); }
inline void put(Thread* t, uint32_t p, double x) {
  uint64_t w;
  __builtin_memcpy(&w, &x, 8);
  put_word(t, p, ValueType::kDouble, w);
}
void put(Thread* t, uint32_t p, const c10::SymInt& x);
void put(Thread* t, uint32_t p, const c10::SymBool& x);
void put(Thread* t, uint32_t p, const at::Scalar& x);
void put(Thread* t, uint32_t p, c10::SymIntArrayRef x);
void put(Thread* t, uint32_t p, at::ArrayRef<at::Scalar> x);
void put(Thread* t, uint32_t p, const at::Generator& x);
void put(Thread* t, uint32_t p, const at::Storage& x);
void put(Thread* t, uint32_t p, const c10::Stream& x);
void put(Thread* t, uint32_t p, const at::Device& x);
void put(Thread* t, uint32_t p, at::TensorList xs);
void put(Thread* t, uint32_t p, const at::ITensorListRef& xs);
void put(Thread* t, uint32_t p, const c10::List<std::optional<at::Tensor>>& xs);
inline void put(Thread* t, uint32_t p, at::QScheme x) { put_word(t, p, ValueType::kInt, static_cast<uint64_t>(x)); }
inline void put(Thread* t, uint32_t p, at::ScalarType x) { put_word(t, p, ValueType::kDtype, static_cast<uint64_t>(x)); }
inline void put(Thread* t, uint32_t p, at::Layout x) { put_word(t, p, ValueType::kLayout, static_cast<uint64_t>(x)); }
inline void put(Thread* t, uint32_t p, at::MemoryFormat x) { put_word(t, p, ValueType::kMemoryFormat, static_cast<uint64_t>(x)); }
inline void put(Thread* t, uint32_t p, c10::string_view x) { put_text(t, p, ValueType::kString, {x.data(), x.size()}); }
inline void put(Thread* t, uint32_t p, at::IntArrayRef x) { put_words(t, p, ValueType::kIntList, x.data(), x.size()); }
inline void put(Thread* t, uint32_t p, at::ArrayRef<double> x) { put_words(t, p, ValueType::kDoubleList, x.data(), x.size()); }
template <size_t N>
void put(Thread* t, uint32_t p, const std::array<bool, N>& x) {
  uint64_t w[N];
  for (size_t i = 0; i < N; i++) w[i] = x[i];
  put_words(t, p, ValueType::kBoolList, w, N);
}
template <class T>
void put(Thread* t, uint32_t p, const std::optional<T>& x) {
  if (x) put(t, p, *x); else put_none(t, p);
}
template <class T>
void put(Thread* t, uint32_t p, const c10::OptionalArrayRef<T>& x) {
  if (x) put(t, p, *x); else put_none(t, p);
}

// ---- what an operator writes
inline void written(Thread* t, uint32_t position, const at::Tensor& x) { note_written(t, position, x.unsafeGetTensorImpl()); }
inline void written(Thread* t, uint32_t position, at::TensorList xs) { for (const at::Tensor& x : xs) written(t, position, x); }
inline void written(Thread* t, uint32_t position, const std::optional<at::Tensor>& x) { if (x) written(t, position, *x); }
template <class T> void written(Thread*, uint32_t, const T&) {}

// ---- results
inline void put_out(Thread* t, Frame* f, uint32_t p, const at::Tensor& x) { put_result(t, f, p, x.unsafeGetTensorImpl()); }
void put_out(Thread* t, Frame* f, uint32_t p, const std::vector<at::Tensor>& xs);
template <class T> void put_out(Thread* t, Frame*, uint32_t p, const T& x) { put(t, p, x); }
template <class... T>
void put_out(Thread* t, Frame* f, uint32_t p, const std::tuple<T...>& xs) {
  std::apply([&](const auto&... x) { uint32_t i = 0; (put_out(t, f, p | i++, x), ...); }, xs);
}

// ---- the C++ signature of the variant without symbolic sizes
template <class T> struct Plain { using type = T; static constexpr bool kSymInt = false; };
template <> struct Plain<c10::SymInt> { using type = int64_t; static constexpr bool kSymInt = true; };
template <> struct Plain<c10::SymIntArrayRef> { using type = at::IntArrayRef; static constexpr bool kSymInt = true; };
template <> struct Plain<at::OptionalSymIntArrayRef> { using type = at::OptionalIntArrayRef; static constexpr bool kSymInt = true; };
template <> struct Plain<std::optional<c10::SymInt>> { using type = std::optional<int64_t>; static constexpr bool kSymInt = true; };

template <bool kSym, class R, class... B>
R thunk(c10::OperatorKernel* functor, c10::DispatchKeySet ks, B... args) {
  auto* w = static_cast<WrapperBase*>(functor);
  using Fn = R (*)(c10::OperatorKernel*, c10::DispatchKeySet, B...);
  const Fn fn = reinterpret_cast<Fn>(kSym ? w->symint : w->unboxed);
  Thread* t = nullptr;
  const uint32_t detail = g_detail.load(std::memory_order_relaxed);
  if (__builtin_expect(detail == kOff || !(t = this_thread()), 1)) return fn(w->functor, ks, std::forward<B>(args)...);
  const void* from = __builtin_return_address(0);
  OpInfo* op = w->op;
  Look l;
  // a redispatch is handed its set; only its arguments' identity may matter
  if (detail == kStandard || reinterpret_cast<uintptr_t>(from) - op->redispatch_at >= op->redispatch_size) (look(l, args), ...);
  bool values = false;
  Frame* f = begin_hop(t, w, op, ks.raw_repr(), l, from, false, &values);
  if (!f) return fn(w->functor, ks, std::forward<B>(args)...);
  if (values) { uint32_t i = 0; (put(t, wire::place(i++), args), ...); }
  if (f->standard && op->written) { uint32_t i = 0; ((op->written >> i & 1 ? written(t, i, args) : void(), i++), ...); }
  const auto run = [&]() -> R {
    try {
      return fn(w->functor, ks, std::forward<B>(args)...);
    } catch (...) {
      raise_hop(t, f);
      throw;
    }
  };
  if constexpr (std::is_void_v<R>) {
    run();
    if (f->standard) leave(t, f);
    end_hop(t, f);
  } else {
    R r = run();
    if (f->standard) leave(t, f), put_out(t, f, wire::kResultBit, r);
    end_hop(t, f);
    if constexpr (std::is_reference_v<R>) return r; else return r;
  }
}

template <class Signature> struct Thunk;
template <class R, class... A>
struct Thunk<R(A...)> {
  static constexpr bool kHasSymInt = (Plain<A>::kSymInt || ...);
  static void* unboxed() { return reinterpret_cast<void*>(&thunk<false, R, typename Plain<A>::type...>); }
  static void* symint() {
    if constexpr (kHasSymInt) return reinterpret_cast<void*>(&thunk<true, R, A...>);
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
