// Statistics of a session for the Query panel: hops counted and timed per operator, key, kernel and line, in one
// pass over the columns (a background thread's work); and what the SQL console offers.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "sessions/query.h"
#include "views/words.h"

namespace peel::views {

enum class StatBy : uint8_t { kOperator, kKey, kKernel, kLine };
constexpr int kStatKinds = 4;
enum class StatColumn : uint8_t { kName, kCount, kNodes, kOwn, kTotal };

struct StatRow {
  std::string name;     // `aten::addmm`, `AutogradCPU`, `addmm @CPU`, `train.py:17`
  std::string note;     // a kernel's rule and place, a line's function
  std::string key;      // name of the dispatch key that gives the row its tag; "" = none
  std::string filter;   // for the Trace panel: shows exactly these
  EventId first;
  uint64_t count = 0;   // calls of an operator (its redispatches are not counted again), else hops
  uint64_t nodes = 0;   // autograd nodes made
  Nanoseconds own = 0;  // without what it called, hops that never returned left out
  Nanoseconds total = 0;  // with it; nested hops of the same row count once
};
struct Statistics {
  std::vector<StatRow> by[kStatKinds];
  uint32_t hops = 0;
  uint64_t generation = 0;
  bool complete = false;   // not cancelled
  bool final = false;      // the session will not grow any more
};
Statistics make_statistics(const Session&, const std::atomic<bool>& cancelled);
/// Indices in order; ties by name, so that the order is always the same.
std::vector<uint32_t> sorted(const std::vector<StatRow>&, StatColumn, bool descending);

struct SqlExample {
  const char* title;
  const char* sql;
};
const std::vector<SqlExample>& sql_examples();
/// Which column of a result names a hop: `event`, `hop`, or `id` of a query over hops. -1 = none.
int hop_column(const QueryTable&, const std::string& sql);
enum class CopyAs : uint8_t { kTabs, kCsv, kMarkdown };
std::string table_text(const QueryTable&, CopyAs);
/// "12 rows in 3.1 ms", "the first 10,000 rows (there are more) in 1.20 s".
std::string table_summary(const QueryTable&);

}  // namespace peel::views
