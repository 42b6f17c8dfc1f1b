// What hangs on hops and is asked for by hop or in reverse: autograd nodes, who uses a node, what it saves,
// runs in backward, writes to storages. Filled by the loader, read by any thread; 16 bytes a node plus 8 an edge and 16 a
// saved variable.
#pragma once
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "sessions/columns.h"
#include "sessions/sorted_index.h"
#include "sessions/sqlite_read.h"
#include "sessions/tables.h"

namespace peel {

class Graph {
 public:
  explicit Graph(Columns& columns, Tables& tables) : columns_(columns), tables_(tables) {}

  // ---- loader's thread
  /// Reads new rows; those that belong to hops beyond columns.size() wait for the next call. `all`: there
  /// will be no next call, such rows belong to no hop.
  bool refresh(ReadConnection&, bool all, std::string* trouble);

  // ---- any thread
  uint32_t nodes() const;
  EventId event_of(NodeId) const;
  const std::string* name_of(NodeId) const;  // null = no such node
  std::vector<NodeId> nodes_of(EventId) const;
  uint32_t nodes_inside(EventId) const;
  std::vector<NodeId> users(NodeId) const;
  std::vector<NodeRun> runs(NodeId) const;
  std::optional<NodeRun> run_of(EventId) const;
  bool has_saved() const;
  std::vector<uint32_t> saved_of(NodeId) const;      // rowids of table saved
  std::vector<uint32_t> saved_by(TensorId) const;
  std::vector<WriteRow> writes_to(uint64_t storage) const;
  std::vector<WriteRow> writes_of(EventId) const;
  size_t bytes() const;
  /// Calls `hit` with the hop that made, and each hop that ran, a node whose name is `wanted`. Names are judged once.
  template <class Wanted, class Hit>
  void for_each_node(Wanted&& wanted, Hit&& hit) const {
    std::shared_lock lock(mutex_);
    std::vector<bool> names;
    for (const std::string* name : names_) names.push_back(wanted(*name));
    for (const NodeEntry& n : nodes_) {
      if (n.event && names[n.name]) hit(EventId{n.event});
    }
    for (const RunEntry& r : runs_) {
      if (r.node < nodes_.size() && nodes_[r.node].name < names.size() && names[nodes_[r.node].name]) hit(EventId{r.event});
    }
  }

 private:
  struct NodeEntry {
    uint32_t event = 0;
    uint32_t same_event = 0;  // another node of that hop; the chain begins at the hop's first node
    uint32_t first_user = 0;  // index into users_ + 1
    uint32_t name = 0;        // index into names_
  };
  struct User {
    uint32_t node, next;
  };
  struct RunEntry {
    uint32_t node, event, cause;
    int64_t graph_task;
  };
  struct WriteEntry {
    uint64_t storage;
    uint32_t event, tensor, before, after;  // versions: UINT32_MAX = none
  };

  bool read_nodes(ReadConnection&, bool all, std::string* trouble);
  bool fill_bare_nodes(ReadConnection&);
  void attach(uint32_t node, uint32_t event);
  bool read_edges(ReadConnection&);
  void add_edges(ReadStatement&, bool* changed);
  bool read_runs(ReadConnection&, bool all);
  bool read_saved(ReadConnection&);
  bool read_writes(ReadConnection&, bool all);
  uint32_t name_index(ReadConnection&, uint32_t string);
  WriteRow write_row(uint32_t index) const;

  Columns& columns_;
  Tables& tables_;
  uint32_t last_node_ = 0, last_edge_node_ = 0, last_run_ = 0;
  int64_t last_write_ = 0, last_saved_ = 0;
  bool no_saved_ = false;  // the file has no such table, or one of an older version
  std::unordered_map<uint32_t, uint32_t> name_by_string_;
  // A node that was named before it was reported: its row is filled in and its edges come later.
  std::vector<uint32_t> bare_, filled_;

  mutable std::shared_mutex mutex_;
  std::vector<NodeEntry> nodes_{1};  // by id; 0 is none
  std::vector<const std::string*> names_;
  std::vector<User> users_;
  std::unordered_map<uint32_t, SortedIndex<uint32_t>> node_events_;  // by Shape::track: (event, node)
  std::vector<RunEntry> runs_;
  SortedIndex<uint32_t> runs_by_event_, runs_by_node_;
  SortedIndex<uint32_t> saved_by_node_, saved_by_tensor_;  // rows: rowids
  std::vector<WriteEntry> writes_;
  SortedIndex<uint32_t> writes_by_event_;
  SortedIndex<uint64_t> writes_by_storage_;
};

}  // namespace peel
