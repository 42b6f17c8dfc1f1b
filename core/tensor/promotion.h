// Which element type a result has when arguments differ, as measured on 2.13.0 (tests/conformance/tensor_facts.py).
#pragma once
#include <atomic>
#include <span>

#include "core/tensor/scalar_type.h"

namespace peel::core {

/// The smallest type that holds both kinds of values: uint8 and int8 -> int16, float16 and bfloat16 -> float32.
ScalarType promote(ScalarType, ScalarType);
/// Whether an in-place or out= operator may write results of `from` into a tensor of `to`: not complex into real, not floating
/// into integral, only bool into bool.
bool can_cast(ScalarType from, ScalarType to);
/// The complex type whose parts have this type; integral types give ComplexFloat.
ScalarType complex_of(ScalarType);
/// The type of a complex type's parts; others unchanged.
ScalarType value_type_of(ScalarType);

/// One operand. Weaker kinds decide only when their category (bool, integral, floating, complex) is higher.
struct Operand {
  enum class Strength : uint8_t { kTensor, kZeroDimensional, kNumber } strength;
  ScalarType type;  // of a Python number: Bool, Long, Double or ComplexDouble
};
namespace detail {
inline constinit std::atomic<ScalarType> floating{ScalarType::Float};
}
/// torch.get_default_dtype(): of new tensors where no type is given, and what Python's floating numbers count as.
inline ScalarType default_dtype() { return detail::floating.load(std::memory_order_relaxed); }
inline void set_default_dtype(ScalarType t) { detail::floating.store(t, std::memory_order_relaxed); }
/// `floating`: the default element type.
ScalarType result_type(std::span<const Operand>, ScalarType floating = default_dtype());

}  // namespace peel::core
