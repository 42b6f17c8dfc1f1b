// Arguments and results as records: what to do with each type that a schema can have.
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>

#include "tracer/pytorch/agent.h"
#include "tracer/pytorch/thunk.h"

namespace peel::agent {

using wire::Head;
using wire::RecordKind;
using wire::ValueType;
using wire::words_of;

namespace {
wire::Value* value(Thread* t, uint32_t place, ValueType type, uint32_t count, size_t bytes) {
  const uint32_t words = words_of(sizeof(wire::Value) + bytes);
  uint64_t* at = t->ring.reserve(words);
  if (!at) return nullptr;
  at[words - 1] = 0;
  auto* r = reinterpret_cast<wire::Value*>(at);
  r->head = {RecordKind::kValue, static_cast<uint16_t>(words), place};
  r->type = type;
  r->truncated = 0;
  r->pad[0] = r->pad[1] = 0;
  r->count = count;
  return r;
}
constexpr size_t kMaxList = 128, kMaxText = 512;
}  // namespace

void put_word(Thread* t, uint32_t place, ValueType type, uint64_t payload) {
  if (wire::Value* r = value(t, place, type, 1, 8)) *reinterpret_cast<uint64_t*>(r + 1) = payload, t->ring.publish(r->head.words);
}
void put_none(Thread* t, uint32_t place) {
  if (wire::Value* r = value(t, place, ValueType::kNone, 0, 0)) t->ring.publish(r->head.words);
}
void put_words(Thread* t, uint32_t place, ValueType type, const void* words, size_t count, bool truncated) {
  const size_t n = std::min(count, kMaxList);
  if (wire::Value* r = value(t, place, type, static_cast<uint32_t>(n), n * 8)) {
    r->truncated = truncated || n < count;
    if (n) __builtin_memcpy(r + 1, words, n * 8);
    t->ring.publish(r->head.words);
  }
}
void put_text(Thread* t, uint32_t place, ValueType type, std::string_view s) {
  const size_t n = std::min(s.size(), kMaxText);
  if (wire::Value* r = value(t, place, type, static_cast<uint32_t>(n), n)) {
    r->truncated = n < s.size();
    __builtin_memcpy(r + 1, s.data(), n);
    t->ring.publish(r->head.words);
  }
}

namespace {

void put(Thread* t, uint32_t p, const at::Tensor& x) { put_tensor(t, p, x.unsafeGetTensorImpl(), wire::kParticipates); }
void put(Thread* t, uint32_t p, bool x) { put_word(t, p, ValueType::kBool, x); }
void put(Thread* t, uint32_t p, int64_t x) { put_word(t, p, ValueType::kInt, static_cast<uint64_t>(x)); }
void put(Thread* t, uint32_t p, int8_t x) { put_word(t, p, ValueType::kInt, static_cast<uint64_t>(static_cast<int64_t>(x))); }
void put(Thread* t, uint32_t p, double x) {
  uint64_t w;
  __builtin_memcpy(&w, &x, 8);
  put_word(t, p, ValueType::kDouble, w);
}
template <class List>
void put_list(Thread* t, uint32_t p, const List& xs) {
  uint32_t i = 0;
  for (const at::Tensor& x : xs) put(t, p | wire::place(0, ++i), x);
  if (i == 0) put_words(t, p, ValueType::kIntList, nullptr, 0);
}
void put(Thread* t, uint32_t p, at::TensorList xs) { put_list(t, p, xs); }
void put(Thread* t, uint32_t p, const at::ITensorListRef& xs) { put_list(t, p, xs); }
void put(Thread* t, uint32_t p, const std::vector<at::Tensor>& xs) { put_list(t, p, xs); }
void put(Thread* t, uint32_t p, const c10::List<std::optional<at::Tensor>>& xs) {
  for (size_t i = 0; i < xs.size(); i++) {
    const std::optional<at::Tensor> x = xs.get(i);
    const uint32_t at = p | wire::place(0, static_cast<uint32_t>(i) + 1);
    if (x) put(t, at, *x); else put_none(t, at);
  }
}
void put(Thread* t, uint32_t p, const c10::SymBool& x) {
  if (auto b = x.maybe_as_bool()) put(t, p, *b); else put_text(t, p, ValueType::kOther, "symbolic");
}
void put(Thread* t, uint32_t p, const c10::SymInt& x) {
  if (auto i = x.maybe_as_int()) put_word(t, p, ValueType::kInt, static_cast<uint64_t>(*i));
  else put_text(t, p, ValueType::kOther, "symbolic");
}
void put(Thread* t, uint32_t p, const at::Scalar& x) {
  if (x.isSymbolic()) return put_text(t, p, ValueType::kOther, "symbolic");
  if (x.isBoolean()) return put(t, p, x.toBool());
  if (x.isIntegral(false)) return put_word(t, p, ValueType::kInt, static_cast<uint64_t>(x.toLong()));
  if (x.isFloatingPoint()) return put(t, p, x.toDouble());
  const auto c = x.toComplexDouble();
  const double w[2] = {c.real(), c.imag()};
  put_words(t, p, ValueType::kComplex, w, 2);
}
void put(Thread* t, uint32_t p, c10::SymIntArrayRef xs) {
  int64_t w[kMaxList];
  const size_t n = std::min(xs.size(), kMaxList);
  for (size_t i = 0; i < n; i++) {
    auto v = xs[i].maybe_as_int();
    if (!v) return put_text(t, p, ValueType::kOther, "[symbolic]");
    w[i] = *v;
  }
  put_words(t, p, ValueType::kIntList, w, n, n < xs.size());
}
void put(Thread* t, uint32_t p, at::ArrayRef<at::Scalar> xs) {
  double w[kMaxList];
  const size_t n = std::min(xs.size(), kMaxList);
  for (size_t i = 0; i < n; i++) {
    if (xs[i].isSymbolic() || xs[i].isComplex()) return put_text(t, p, ValueType::kOther, "[...]");
    w[i] = xs[i].toDouble();
  }
  put_words(t, p, ValueType::kDoubleList, w, n, n < xs.size());
}
void put(Thread* t, uint32_t p, const at::Generator& g) { g.defined() ? put_text(t, p, ValueType::kOther, "generator") : put_none(t, p); }
void put(Thread* t, uint32_t p, const at::Storage&) { put_text(t, p, ValueType::kOther, "storage"); }
void put(Thread* t, uint32_t p, const c10::Stream&) { put_text(t, p, ValueType::kOther, "stream"); }
void put(Thread* t, uint32_t p, const at::Device& d) {
  put_word(t, p, ValueType::kDevice, static_cast<uint8_t>(d.type()) | static_cast<uint64_t>(static_cast<uint8_t>(d.index())) << 8);
}
void put(Thread* t, uint32_t p, at::QScheme x) { put_word(t, p, ValueType::kInt, static_cast<uint64_t>(x)); }
void put(Thread* t, uint32_t p, at::ScalarType x) { put_word(t, p, ValueType::kDtype, static_cast<uint64_t>(x)); }
void put(Thread* t, uint32_t p, at::Layout x) { put_word(t, p, ValueType::kLayout, static_cast<uint64_t>(x)); }
void put(Thread* t, uint32_t p, at::MemoryFormat x) { put_word(t, p, ValueType::kMemoryFormat, static_cast<uint64_t>(x)); }
void put(Thread* t, uint32_t p, c10::string_view x) { put_text(t, p, ValueType::kString, {x.data(), x.size()}); }
void put(Thread* t, uint32_t p, at::IntArrayRef x) { put_words(t, p, ValueType::kIntList, x.data(), x.size()); }
void put(Thread* t, uint32_t p, at::ArrayRef<double> x) { put_words(t, p, ValueType::kDoubleList, x.data(), x.size()); }
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

void put_any(Thread* t, uint32_t p, Tag tag, const void* at) {
  switch (tag) {
    case Tag::kOther: return put_text(t, p, ValueType::kOther, "?");
#define X(name, ...) case Tag::name: return put(t, p, *static_cast<const __VA_ARGS__*>(at));
    PEEL_TAGS(X)
#undef X
  }
}

// ---- a look over the arguments

void see(Look& l, const c10::TensorImpl* i) {
  l.keys |= i->key_set().raw_repr();
  l.fingerprint = (l.fingerprint << 7 | l.fingerprint >> 57) ^ reinterpret_cast<uintptr_t>(i);
}
void see(Look& l, const at::Tensor& x) { see(l, x.unsafeGetTensorImpl()); }
void see(Look& l, const std::optional<at::Tensor>& x) {
  if (x) see(l, *x); else l.fingerprint = l.fingerprint << 7 | l.fingerprint >> 57;
}

void see_any(Look& l, Tag tag, const void* at) {
  switch (tag) {
    case Tag::kTensor: return see(l, *static_cast<const at::Tensor*>(at));
    case Tag::kMaybeTensor: return see(l, *static_cast<const std::optional<at::Tensor>*>(at));
    case Tag::kTensors:
      for (const at::Tensor& x : *static_cast<const at::TensorList*>(at)) see(l, x);
      return;
    case Tag::kTensorRefs:
      for (const at::Tensor& x : *static_cast<const at::ITensorListRef*>(at)) see(l, x);
      return;
    case Tag::kMaybeTensors: {
      const auto& xs = *static_cast<const c10::List<std::optional<at::Tensor>>*>(at);
      for (size_t i = 0; i < xs.size(); i++) see(l, static_cast<std::optional<at::Tensor>>(xs.get(i)));
      return;
    }
    case Tag::kGenerator:
      if (const auto& g = *static_cast<const at::Generator*>(at); g.defined()) l.keys |= g.key_set().raw_repr();
      return;
    case Tag::kMaybeGenerator:
      if (const auto& g = *static_cast<const std::optional<at::Generator>*>(at); g && g->defined()) l.keys |= g->key_set().raw_repr();
      return;
    default: return;
  }
}

void note_any(Thread* t, uint32_t position, Tag tag, const void* at) {
  if (tag == Tag::kTensor) note_written(t, position, static_cast<const at::Tensor*>(at)->unsafeGetTensorImpl());
  if (tag == Tag::kMaybeTensor) if (const auto& x = *static_cast<const std::optional<at::Tensor>*>(at)) note_written(t, position, x->unsafeGetTensorImpl());
  if (tag == Tag::kTensors) for (const at::Tensor& x : *static_cast<const at::TensorList*>(at)) note_written(t, position, x.unsafeGetTensorImpl());
}

}  // namespace

Frame* begin_typed(Thread* t, WrapperBase* w, uint64_t keyset, const Values& v, const void* const* caller) {
  Look l;
  const bool standard = g_detail.load(std::memory_order_relaxed) == kStandard;
  // A redispatch is handed its set; only its arguments' identity may matter.
  if (standard || reinterpret_cast<uintptr_t>(*caller) - w->op->redispatch_at >= w->op->redispatch_size)
    for (uint32_t i = 0; i < v.count; i++) see_any(l, v.tags[i], v.at[i]);
  bool values = false;
  Frame* f = begin_hop(t, w, w->op, keyset, l, caller, false, &values);
  if (!f) return nullptr;
  if (values) for (uint32_t i = 0; i < v.count; i++) put_any(t, wire::place(i), v.tags[i], v.at[i]);
  if (f->standard && w->op->written)
    for (uint32_t i = 0; i < v.count; i++) if (w->op->written >> i & 1) note_any(t, i, v.tags[i], v.at[i]);
  if (attention(t)) {
    const Held held{&v};
    arrive(t, f, wire::Phase::kBefore, &held);
  }
  return f;
}

void end_typed(Thread* t, Frame* f, const Values& v) {
  if (f->standard) {
    leave(t, f);
    for (uint32_t i = 0; i < v.count; i++) {
      const uint32_t p = wire::kResultBit | wire::place(i);
      if (v.tags[i] == Tag::kTensor) put_result(t, f, p, static_cast<const at::Tensor*>(v.at[i])->unsafeGetTensorImpl());
      else if (v.tags[i] == Tag::kTensorVector) {
        uint32_t k = 0;
        for (const at::Tensor& x : *static_cast<const std::vector<at::Tensor>*>(v.at[i])) put_result(t, f, p | wire::place(0, ++k), x.unsafeGetTensorImpl());
      } else put_any(t, p, v.tags[i], v.at[i]);
    }
  }
  const Held held{&v};
  end_hop(t, f, &held);
}

void put_ivalue(Thread* t, uint32_t p, const c10::IValue& v, uint64_t result_bit, Frame* f) {
  const uint32_t at = p | static_cast<uint32_t>(result_bit);
  const auto tensor = [&](uint32_t place, const c10::IValue& x) {
    auto* i = x.unsafeToTensorImpl();
    f ? put_result(t, f, place, i) : put_tensor(t, place, i, wire::kParticipates);
  };
  if (v.isTensor()) return tensor(at, v);
  if (v.isNone()) return put_none(t, at);
  if (v.isInt()) return put_word(t, at, ValueType::kInt, static_cast<uint64_t>(v.toInt()));
  if (v.isDouble()) return put(t, at, v.toDouble());
  if (v.isBool()) return put(t, at, v.toBool());
  if (v.isString()) return put_text(t, at, ValueType::kString, v.toStringRef());
  if (v.isDevice()) return put(t, at, v.toDevice());
  if (v.isSymInt()) return put_text(t, at, ValueType::kOther, "symbolic");
  if (v.isComplexDouble()) {
    const auto c = v.toComplexDouble();
    const double w[2] = {c.real(), c.imag()};
    return put_words(t, at, ValueType::kComplex, w, 2);
  }
  if (v.isList()) {
    const auto list = v.toListRef();
    bool tensors = v.isTensorList();
    for (const auto& e : list) tensors |= e.isTensor();
    if (tensors) {
      uint32_t i = 0;
      for (const auto& e : list) {
        ++i;
        if (e.isTensor()) tensor(at | wire::place(0, i), e); else put_none(t, at | wire::place(0, i));
      }
      if (i == 0) put_words(t, at, ValueType::kIntList, nullptr, 0);
      return;
    }
    int64_t w[kMaxList];
    double d[kMaxList];
    const size_t n = std::min(list.size(), kMaxList);
    bool ints = true, doubles = true, bools = true;
    for (size_t i = 0; i < n; i++) {
      ints &= list[i].isInt(), doubles &= list[i].isDouble(), bools &= list[i].isBool();
      if (list[i].isInt()) w[i] = list[i].toInt();
      if (list[i].isBool()) w[i] = list[i].toBool();
      if (list[i].isDouble()) d[i] = list[i].toDouble();
    }
    if (ints) return put_words(t, at, ValueType::kIntList, w, n, n < list.size());
    if (doubles) return put_words(t, at, ValueType::kDoubleList, d, n, n < list.size());
    if (bools) return put_words(t, at, ValueType::kBoolList, w, n, n < list.size());
    return put_text(t, at, ValueType::kOther, "[...]");
  }
  put_text(t, at, ValueType::kOther, v.tagKind());
}

}  // namespace peel::agent
