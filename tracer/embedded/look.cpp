// Values of tensors while a thread stands, read from memory: no kernel runs.
#include "tracer/embedded/recorder.h"
#include "tracer/wire/statistics.h"

namespace peel::embedded {
namespace {

using core::ScalarType;

/// A 16-bit float as it lies in memory: computed with as float.
struct BFloat16 {
  uint16_t bits;
  explicit operator double() const { return static_cast<double>(std::bit_cast<float>(uint32_t{bits} << 16)); }
  BFloat16 operator-() const { return {static_cast<uint16_t>(bits ^ 0x8000)}; }
};

/// "" = seen.
std::string look(const core::TensorImpl& i, wire::Seen& s) {
  const core::Storage* storage = i.storage.get();
  if (!storage) return "a sparse tensor's values are not read";
  if (storage->device().type == 14) return "meta tensors have no values";
  if (storage->device().type != 0) return "its values are on " + core::to_string(storage->device()) + ", which is not read while the program stands";
  if (core::element_count(i.sizes) == 0) return "";
  if (!storage->data()) return "it has no memory";
  const size_t dims = i.sizes.size();
  if (!wire::stays_inside(i.sizes.data(), i.strides.data(), dims, i.offset, core::element_size(i.dtype), storage->bytes())) return "its sizes reach beyond its storage";
  const bool negative = i.keys.has(core::DispatchKey::Negative), conjugate = i.keys.has(core::DispatchKey::Conjugate);
  const auto see = [&]<class T>(const T*) {
    wire::see_all<T>(s, {static_cast<const T*>(storage->data()) + i.offset}, i.sizes.data(), i.strides.data(), dims, negative, conjugate);
    return "";
  };
  switch (i.dtype) {
    case ScalarType::Float: return see(static_cast<const float*>(nullptr));
    case ScalarType::Double: return see(static_cast<const double*>(nullptr));
    case ScalarType::BFloat16: return see(static_cast<const BFloat16*>(nullptr));
    case ScalarType::Long: return see(static_cast<const int64_t*>(nullptr));
    case ScalarType::Int: return see(static_cast<const int32_t*>(nullptr));
    case ScalarType::Short: return see(static_cast<const int16_t*>(nullptr));
    case ScalarType::Char: return see(static_cast<const int8_t*>(nullptr));
    case ScalarType::Byte: return see(static_cast<const uint8_t*>(nullptr));
    case ScalarType::Bool: return see(static_cast<const bool*>(nullptr));
    case ScalarType::ComplexFloat: return see(static_cast<const std::complex<float>*>(nullptr));
    case ScalarType::ComplexDouble: return see(static_cast<const std::complex<double>*>(nullptr));
    default: return std::string("values of dtype ") + core::to_string(i.dtype) + " are not read";
  }
}

void tell(wire::AnswerRows& rows, size_t position, int64_t index, const core::IValue& v) {
  if (v.tag() != core::IValue::Tag::kTensor) return;
  const core::Tensor t(v.to_tensor().release());
  if (!t.defined()) return;
  wire::Seen s;
  const std::string why_not = look(t.impl(), s);
  wire::tell(rows, position, index, reinterpret_cast<uintptr_t>(t.impl().storage.get()), s, why_not, t.numel());
}

}  // namespace

void tell_tensors(const core::Stack& values, wire::AnswerRows& rows) {
  for (size_t i = 0; i < values.size(); ++i) {
    tell(rows, i, -1, values[i]);
    if (values[i].tag() != core::IValue::Tag::kList) continue;
    int64_t index = 0;
    for (const core::IValue& one : values[i].to_list()) tell(rows, i, index++, one);
  }
}

}  // namespace peel::embedded
