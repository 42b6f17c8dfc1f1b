#include "core/tensor/scalar_type.h"

namespace peel::core {
namespace {

struct Row {
  ScalarType type;
  size_t bytes;
  const char *name, *python;
};
constexpr Row kRows[] = {
#define PEEL_ONE(name, number, bytes, python) {ScalarType::name, bytes, #name, python},
    PEEL_SCALAR_TYPES(PEEL_ONE)
#undef PEEL_ONE
};
constexpr Row kUnknown{ScalarType::Byte, 0, "UNKNOWN_SCALAR", "unknown"};

const Row& row(ScalarType t) {
  for (const Row& r : kRows) {
    if (r.type == t) return r;
  }
  return kUnknown;
}

}  // namespace

size_t element_size(ScalarType t) { return row(t).bytes; }
const char* to_string(ScalarType t) { return row(t).name; }
const char* python_name(ScalarType t) { return row(t).python; }

bool parse_scalar_type(std::string_view text, ScalarType* out) {
  for (const Row& r : kRows) {
    if (text != r.name && text != r.python) continue;
    *out = r.type;
    return true;
  }
  return false;
}

}  // namespace peel::core
