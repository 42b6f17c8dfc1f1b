// Which fields of a node class hold saved variables. The table is generated over PyTorch's headers (generate.py) and
// compiled into a library of its own, peel_saved.so: it takes long to build, and recordings without values do without.
#pragma once
#include <cstdint>

namespace peel::agent {

struct SavedField {
  const char* name;  // as Python's getter: `_saved_self`
  uint32_t offset;   // bytes from the Node
  bool list;         // std::vector<SavedVariable>, else a SavedVariable
};
struct SavedClass {
  const char* type;  // mangled
  const SavedField* fields;
  uint32_t count;
};
struct SavedTable {
  const SavedClass* classes;
  uint32_t count;
};
constexpr const char* kSavedTable = "peel_saved_table";  // the symbol that peel_saved.so exports

}  // namespace peel::agent
