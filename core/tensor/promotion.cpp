#include "core/tensor/promotion.h"

#include <optional>
#include <utility>

namespace peel::core {
namespace {

using T = ScalarType;

// bool < integral < floating < complex.
int category(T t) { return t == T::Bool ? 0 : is_complex(t) ? 3 : is_floating(t) ? 2 : 1; }

T promote_floating(T a, T b) {
  if (a == b) return a;
  if (a == T::Double || b == T::Double) return T::Double;
  return T::Float;  // float16 and bfloat16 hold neither the other's range nor its precision
}

// Of different integral types: the wider one; unsigned with signed needs one bit more.
T promote_integral(T a, T b) {
  if (b == T::Byte) std::swap(a, b);
  if (a == T::Byte) return b == T::Char ? T::Short : b;
  return element_size(a) >= element_size(b) ? a : b;
}

using Maybe = std::optional<T>;

Maybe promote(Maybe a, Maybe b) { return !a ? b : !b ? a : Maybe(peel::core::promote(*a, *b)); }

Maybe stronger(Maybe strong, Maybe weak) {
  if (!strong || !weak) return strong ? strong : weak;
  const int s = category(*strong), w = category(*weak);
  if (s == 3) return strong;
  if (s == 2) return w == 3 ? Maybe(complex_of(*strong)) : strong;
  return s == 0 || w >= 2 ? promote(strong, weak) : strong;
}

}  // namespace

ScalarType complex_of(ScalarType t) {
  if (t == T::Double || t == T::ComplexDouble) return T::ComplexDouble;
  return t == T::Half || t == T::ComplexHalf ? T::ComplexHalf : T::ComplexFloat;
}

ScalarType value_type_of(ScalarType t) {
  return t == T::ComplexHalf ? T::Half : t == T::ComplexFloat ? T::Float : t == T::ComplexDouble ? T::Double : t;
}

ScalarType promote(ScalarType a, ScalarType b) {
  if (a == b) return a;
  if (category(a) < category(b)) std::swap(a, b);
  if (category(b) < 2) return category(a) == category(b) ? promote_integral(a, b) : a;
  const T parts = promote_floating(value_type_of(a), value_type_of(b));
  return category(a) == 3 ? complex_of(parts) : parts;
}

bool can_cast(ScalarType from, ScalarType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && category(to) < 2) return false;
  return from == T::Bool || to != T::Bool;
}

ScalarType result_type(std::span<const Operand> operands, ScalarType floating) {
  Maybe found[3];
  for (const Operand& o : operands) {
    T type = o.type;
    if (o.strength == Operand::Strength::kNumber) type = is_complex(type) ? complex_of(floating) : is_floating(type) ? floating : type;
    Maybe& of_strength = found[static_cast<int>(o.strength)];
    of_strength = promote(of_strength, type);
  }
  return stronger(found[0], stronger(found[1], found[2])).value_or(floating);
}

}  // namespace peel::core
