// Read-only SQL over a session file, time-limited and cancellable.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "sessions/result.h"

namespace peel {

struct QueryOptions {
  uint64_t max_rows = 100000;
  int64_t limit_ms = 10000;
  const std::atomic<bool>* cancel = nullptr;
};
struct QueryTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // NULL = "NULL" with null bit
  std::vector<std::vector<bool>> is_null, is_number;
  bool cut = false;        // more rows than max_rows
  double milliseconds = 0;
};
/// Anything that would write, attach or load is refused with a sentence.
Result<QueryTable> query(const std::string& path, const std::string& sql, const QueryOptions&);

}  // namespace peel
