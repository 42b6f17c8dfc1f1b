// Arguments and results as records.
#include <algorithm>

#include "tracer/embedded/recorder.h"

namespace peel::embedded {
namespace {

using core::IValue;
using wire::ValueType;

constexpr size_t kMaxList = 128, kMaxText = 512, kMaxDimensions = 64;

void put_words(Thread& t, uint32_t place, ValueType type, const void* words, size_t count) {
  const size_t n = std::min(count, kMaxList);
  put_plain(t, wire::Value{{wire::RecordKind::kValue, 0, place}, type, n < count, {}, static_cast<uint32_t>(n)}, words, n * 8);
}
void put_word(Thread& t, uint32_t place, ValueType type, uint64_t word) { put_words(t, place, type, &word, 1); }
void put_none(Thread& t, uint32_t place) { put_plain(t, wire::Value{{wire::RecordKind::kValue, 0, place}, ValueType::kNone, 0, {}, 0}); }
void put_text(Thread& t, uint32_t place, ValueType type, std::string_view s) {
  const size_t n = std::min(s.size(), kMaxText);
  put_plain(t, wire::Value{{wire::RecordKind::kValue, 0, place}, type, n < s.size(), {}, static_cast<uint32_t>(n)}, s.data(), n);
}

uint16_t flags_of(const core::Tensor& x) {
  uint16_t f = 0;
  if (const core::GradMeta* m = core::grad_meta(x)) {
    if (m->node) f |= wire::kHasGradFn | wire::kRequiresGrad;
    else if (m->wants) f |= wire::kRequiresGrad | wire::kLeaf;
  }
  if (x.impl().wrapped_number) f |= wire::kWrappedNumber;
  if (x.is_inference()) f |= wire::kInference;
  if (x.keys().has(core::DispatchKey::Conjugate)) f |= wire::kConj;
  if (x.keys().has(core::DispatchKey::Negative)) f |= wire::kNeg;
  return f;
}

void put_tensor(Thread& t, uint32_t place, const core::Tensor& x, uint16_t flags) {
  wire::Tensor r{};
  r.head = {wire::RecordKind::kTensor, 0, place};
  if (!x.defined()) {
    r.version = wire::kNoVersion;
    r.flags = wire::kUndefined | wire::kNoSizes;
    return put_plain(t, r);
  }
  const core::TensorImpl& i = x.impl();
  const size_t dims = std::min(i.sizes.size(), kMaxDimensions);
  r.impl = identity(&i);
  r.storage = identity(i.storage.get());
  r.data = i.storage ? reinterpret_cast<uintptr_t>(i.storage->data()) : 0;
  r.keyset = i.keys.raw();
  r.version = version_of(i);
  r.flags = static_cast<uint16_t>(flags | flags_of(x));
  r.dtype = static_cast<uint8_t>(i.dtype);
  r.ndim = static_cast<uint8_t>(dims);
  r.device_type = x.device().type;
  r.device_index = x.device().index;
  int64_t shape[2 * kMaxDimensions];
  std::copy_n(i.sizes.begin(), dims, shape);
  std::copy_n(i.strides.begin(), dims, shape + dims);
  put_plain(t, r, shape, dims * 16);
}

core::Tensor tensor(const IValue& v) { return core::Tensor(v.to_tensor().release()); }

void put_list(Thread& t, uint32_t place, const std::vector<IValue>& list, uint16_t flags) {
  const auto all = [&](IValue::Tag tag) { return std::ranges::all_of(list, [tag](const IValue& v) { return v.tag() == tag; }); };
  if (std::ranges::any_of(list, [](const IValue& v) { return v.tag() == IValue::Tag::kTensor; })) {
    for (uint32_t k = 0; k < list.size(); ++k) {
      const uint32_t at = place | wire::place(0, k + 1);
      list[k].is_none() ? put_none(t, at) : put_tensor(t, at, tensor(list[k]), flags);
    }
    return;
  }
  int64_t words[kMaxList];
  const size_t n = std::min(list.size(), kMaxList);
  ValueType type = ValueType::kIntList;
  if (all(IValue::Tag::kInt)) {
    for (size_t k = 0; k < n; ++k) words[k] = list[k].to_int();
  } else if (all(IValue::Tag::kBool)) {
    type = ValueType::kBoolList;
    for (size_t k = 0; k < n; ++k) words[k] = list[k].to_bool();
  } else if (all(IValue::Tag::kDouble)) {
    type = ValueType::kDoubleList;
    for (size_t k = 0; k < n; ++k) words[k] = std::bit_cast<int64_t>(list[k].to_double());
  } else {
    return put_text(t, place, ValueType::kOther, "[...]");
  }
  put_plain(t, wire::Value{{wire::RecordKind::kValue, 0, place}, type, n < list.size(), {}, static_cast<uint32_t>(n)}, words, n * 8);
}

template <class T>
uint64_t named(const T* object) {
  static uint64_t last = 0;
  if (!object) return 0;
  if (object->recorded_as == 0) object->recorded_as = ++last;
  return object->recorded_as;
}

}  // namespace

uint64_t identity(const core::TensorImpl* i) { return named(i); }
uint64_t identity(const core::Storage* s) { return named(s); }

uint32_t version_of(const core::TensorImpl& i) { return i.version ? i.version->version.load(std::memory_order_relaxed) : wire::kNoVersion; }

void put_argument(Thread& t, uint32_t place, const IValue& v, const core::Type& type, bool result) {
  const core::Type& plain = type.kind == core::Type::Kind::kOptional ? type.element() : type;
  const uint16_t flags = result ? 0 : wire::kParticipates;
  if (result) place |= wire::kResultBit;
  switch (v.tag()) {
    case IValue::Tag::kNone: return put_none(t, place);
    case IValue::Tag::kTensor: return put_tensor(t, place, tensor(v), flags);
    case IValue::Tag::kInt: {
      const ValueType kind = plain.is("ScalarType") ? ValueType::kDtype : plain.is("Layout") ? ValueType::kLayout
                             : plain.is("MemoryFormat") ? ValueType::kMemoryFormat : ValueType::kInt;
      return put_word(t, place, kind, static_cast<uint64_t>(v.to_int()));
    }
    case IValue::Tag::kBool: return put_word(t, place, ValueType::kBool, v.to_bool());
    case IValue::Tag::kDouble: return put_word(t, place, ValueType::kDouble, std::bit_cast<uint64_t>(v.to_double()));
    case IValue::Tag::kDevice: {
      const core::Device d = v.to_device();
      return put_word(t, place, ValueType::kDevice, d.type | static_cast<uint64_t>(static_cast<uint8_t>(d.index)) << 8);
    }
    case IValue::Tag::kComplex: {
      const double parts[2] = {v.to_complex().real(), v.to_complex().imag()};
      return put_words(t, place, ValueType::kComplex, parts, 2);
    }
    case IValue::Tag::kString: return put_text(t, place, ValueType::kString, v.to_string());
    case IValue::Tag::kList: return put_list(t, place, v.to_list(), flags);
    case IValue::Tag::kGenerator: return put_text(t, place, ValueType::kOther, "generator");
    default: return put_text(t, place, ValueType::kOther, core::to_string(v.tag()));
  }
}

}  // namespace peel::embedded
