// What the drain's thread hands to the writer's thread: the rows between two commits.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace peel {

/// SQL NULL among the integers of a big table.
constexpr int64_t kNullCell = INT64_MIN;
constexpr int64_t cell(uint32_t id) { return id ? static_cast<int64_t>(id) : kNullCell; }

/// The big tables: integers only, many rows.
enum class Table : uint8_t { kEvent, kArgument, kResult, kTensor, kTensorMeta, kWrite, kNode, kEdge, kSaved, kNodeRun, kStack, kTableSlot, kOpMask, kRegistration, kMemoryEvent, kSegment, kBlock, kGpuKernel, kGpuCopy,
  kGpuSet, kGpuRuntime, kGpuDriver, kGpuSync, kGpuEvent, kGpuMemory, kGpuPool, kGraphNode, kCount };
struct TableShape {
  const char* name;
  uint8_t columns;
  bool by_place;   // primary key (event, position, list_index): sorted before it is inserted
  bool numbered;   // its first column is the row id and counts 1, 2, 3, ...: SQLite appends such rows faster when it numbers them
};
constexpr TableShape kTableShapes[] = {
    {"event", 14, false, true},      {"argument", 9, true, false}, {"result", 9, true, false}, {"tensor", 6, false, true},
    {"tensor_meta", 8, false, true}, {"write", 5, false, false},   {"node", 9, false, true},   {"edge", 4, false, false},      {"saved", 8, false, false},
    {"node_run", 5, false, true},    {"stack", 5, false, true},    {"table_slot", 5, false, false}, {"op_mask", 4, false, false},
    {"registration", 5, false, false},
    {"memory_event", 13, false, true}, {"segment", 11, false, false}, {"block", 6, false, false},
    {"CUPTI_ACTIVITY_KIND_KERNEL", 29, false, false}, {"CUPTI_ACTIVITY_KIND_MEMCPY", 22, false, false}, {"CUPTI_ACTIVITY_KIND_MEMSET", 13, false, false},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", 9, false, false}, {"CUPTI_ACTIVITY_KIND_DRIVER", 9, false, false},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 12, false, false}, {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", 8, false, false}, {"CUDA_GPU_MEMORY_USAGE_EVENTS", 19, false, false}, {"CUDA_GPU_MEMORY_POOL_EVENTS", 12, false, false}, {"graph_node", 3, false, false},
};
static_assert(std::size(kTableShapes) == static_cast<size_t>(Table::kCount));

/// Rows of one big table, one after another.
class Rows {
 public:
  size_t size() const { return cells_.size() / columns_; }
  bool empty() const { return cells_.empty(); }
  size_t cells() const { return cells_.size(); }
  int64_t* row(size_t i) { return cells_.data() + i * columns_; }
  const int64_t* row(size_t i) const { return cells_.data() + i * columns_; }
  template <class... Cells>
  void add(Cells... cells) {
    const int64_t values[] = {static_cast<int64_t>(cells)...};
    cells_.insert(cells_.end(), std::begin(values), std::end(values));
  }
  void clear() { cells_.clear(); }
  /// Takes away the rows whose first cell it is.
  void drop(int64_t first) {
    size_t kept = 0;
    for (size_t i = 0; i < cells_.size(); i += columns_) {
      if (cells_[i] == first) continue;
      std::memmove(cells_.data() + kept, cells_.data() + i, columns_ * sizeof(int64_t));
      kept += columns_;
    }
    cells_.resize(kept);
  }

 private:
  friend struct Batch;
  std::vector<int64_t> cells_;
  size_t columns_ = 1;
};

/// The small tables, and changes to rows that were committed earlier: a statement each (writer.cpp).
enum class Small : uint8_t {
  kString, kKey, kKeyset, kOp, kOpArgument, kOpSource, kProcess, kThread, kTls, kKernel, kSpan, kSource, kOutput, kError, kLoss, kMeta,
  kProcessEnd, kThreadName, kSpanEnd, kNodeFill, kNodeOutput, kTensorFill, kMemoryFill, kTensorDeath, kChange, kEventChange, kCount
};
using Cell = std::variant<std::monostate, int64_t, std::string>;
struct SmallRow {
  Small what;
  std::vector<Cell> cells;
};
/// The end of a hop that was committed while it was open.
struct EventEnd {  // end_ns kNullCell: it is open still
  uint32_t event;
  uint32_t flags;
  int64_t end_ns;
};

struct Batch {
  Batch() {
    for (size_t i = 0; i < big.size(); ++i) big[i].columns_ = kTableShapes[i].columns;
  }
  Rows& operator[](Table t) { return big[static_cast<size_t>(t)]; }
  void add(Small what, std::vector<Cell> cells) { small.push_back({what, std::move(cells)}); }
  bool empty() const {
    for (const Rows& r : big) {
      if (!r.empty()) return false;
    }
    return small.empty() && ends.empty() && dropped_results.empty();
  }
  void clear() {
    for (Rows& r : big) r.clear();
    small.clear();
    ends.clear();
    dropped_results.clear();
  }

  std::array<Rows, static_cast<size_t>(Table::kCount)> big;
  std::vector<SmallRow> small;
  std::vector<EventEnd> ends;
  std::vector<uint32_t> dropped_results;  // of these hops, before this batch
  uint64_t hops = 0;  // of the whole session, this batch included
};

}  // namespace peel
