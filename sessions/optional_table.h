// Tables that a session file may lack: those of later versions, and of what was not recorded.
#pragma once
#include <string>
#include <vector>

#include "sessions/sqlite_read.h"

namespace peel {

/// True: the file has an ordinary table of that name with these ordinary columns. What is there but something else
/// goes to *trouble: a view or a computed column could run anything.
bool has_table(ReadConnection&, const char* name, const std::vector<const char*>& columns, std::string* trouble);

}  // namespace peel
