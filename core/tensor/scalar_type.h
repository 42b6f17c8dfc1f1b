// Element types in PyTorch's numbering. Those that the embedded engine computes with have sizes; the others keep their numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace peel::core {

// C++ name, number, bytes, Python's name. Gaps are quantized and bit types.
#define PEEL_SCALAR_TYPES(X)                                                                                                        \
  X(Byte, 0, 1, "uint8") X(Char, 1, 1, "int8") X(Short, 2, 2, "int16") X(Int, 3, 4, "int32") X(Long, 4, 8, "int64")                 \
  X(Half, 5, 2, "float16") X(Float, 6, 4, "float32") X(Double, 7, 8, "float64") X(ComplexHalf, 8, 4, "complex32")                   \
  X(ComplexFloat, 9, 8, "complex64") X(ComplexDouble, 10, 16, "complex128") X(Bool, 11, 1, "bool") X(BFloat16, 15, 2, "bfloat16")

enum class ScalarType : int8_t {
#define PEEL_ONE(name, number, bytes, python) name = number,
  PEEL_SCALAR_TYPES(PEEL_ONE)
#undef PEEL_ONE
};
constexpr const char* schema_name(ScalarType) { return "ScalarType"; }

constexpr bool is_complex(ScalarType t) {
  return t == ScalarType::ComplexHalf || t == ScalarType::ComplexFloat || t == ScalarType::ComplexDouble;
}
constexpr bool is_floating(ScalarType t) {
  return t == ScalarType::Half || t == ScalarType::Float || t == ScalarType::Double || t == ScalarType::BFloat16;
}
/// Only these can require grad.
constexpr bool is_differentiable(ScalarType t) { return is_floating(t) || is_complex(t); }
/// Bytes of one element.
size_t element_size(ScalarType);
/// `Float`, as C++ and PyTorch's errors have it; `float32`, as Python has it.
const char* to_string(ScalarType);
const char* python_name(ScalarType);
/// By either name; false for another word.
bool parse_scalar_type(std::string_view, ScalarType* out);

}  // namespace peel::core
