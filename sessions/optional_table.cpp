#include "sessions/optional_table.h"

namespace peel {

bool has_table(ReadConnection& db, const char* name, const std::vector<const char*>& columns, std::string* trouble) {
  ReadStatement table(db, "SELECT type, rootpage FROM sqlite_schema WHERE name = ?");
  if (!table.bind(1, name).step()) return false;
  bool good = table.text(0) == "table" && table.integer(1) > 0;
  ReadStatement column(db, "SELECT hidden FROM pragma_table_xinfo(?) WHERE name = ?");
  for (const char* c : columns) {
    column.reset();
    good = good && column.bind(1, name).bind(2, c).step() && column.integer(0) == 0;
  }
  if (!good && trouble->empty()) *trouble = std::string("table ") + name + " is not as Peel writes it, and is left out";
  return good;
}

}  // namespace peel
