#include "sessions/graph.h"

#include <algorithm>
#include <mutex>

#include "sessions/format.h"
#include "sessions/optional_table.h"

namespace peel {
namespace {

uint32_t id_of(const ReadStatement& s, int column) {
  const int64_t v = s.integer(column);
  return v > 0 && v <= kMaxId ? static_cast<uint32_t>(v) : 0;
}
uint32_t version_of(const ReadStatement& s, int column) {
  const int64_t v = s.null(column) ? -1 : s.integer(column);
  return v >= 0 && v < UINT32_MAX ? static_cast<uint32_t>(v) : UINT32_MAX;
}
int64_t version_out(uint32_t v) { return v == UINT32_MAX ? -1 : int64_t{v}; }
std::vector<uint32_t> all_of(const SortedIndex<uint32_t>& index, uint32_t key) {
  std::vector<uint32_t> out;
  const auto [first, last] = index.range(key, key);
  for (const auto* i = first; i != last; ++i) out.push_back(i->second);
  return out;
}

}  // namespace

bool Graph::refresh(ReadConnection& db, bool all, std::string* trouble) {
  bool changed = read_nodes(db, all, trouble);
  changed |= read_edges(db);
  changed |= read_runs(db, all);
  changed |= read_saved(db);
  changed |= read_writes(db, all);
  if (const std::string failure = db.take_failure(); !failure.empty() && trouble->empty()) {
    *trouble = "the file is damaged, not all autograd nodes and writes could be read: " + failure;
  }
  return changed;
}

uint32_t Graph::name_index(ReadConnection& db, uint32_t string) {
  const auto found = name_by_string_.find(string);
  if (found != name_by_string_.end()) return found->second;
  names_.push_back(tables_.string(db, string));
  return name_by_string_[string] = static_cast<uint32_t>(names_.size() - 1);
}

void Graph::attach(uint32_t id, uint32_t event) {
  NodeEntry& node = nodes_[id];
  node.event = event;
  if (!event) return;
  const EventId e{event};
  const NodeId first = columns_.node(e);
  if (!first) {
    columns_.set_node(e, NodeId{id});
  } else {
    node.same_event = nodes_[first.value].same_event;
    nodes_[first.value].same_event = id;
  }
  node_events_[columns_.shape(e).track].add(event, id);
}

bool Graph::read_nodes(ReadConnection& db, bool all, std::string* trouble) {
  ReadStatement s(db, "SELECT id, event, name FROM node WHERE id > ? ORDER BY id");
  s.bind(1, last_node_);
  const uint32_t hops = columns_.size();
  std::unique_lock lock(mutex_);
  bool changed = fill_bare_nodes(db);
  while (s.step()) {
    const uint32_t id = id_of(s, 0);
    uint32_t event = id_of(s, 1);
    if (id <= last_node_ || id > nodes_.size() + 65536u) {  // in a damaged file rows come twice, whatever their order should be
      if (trouble->empty()) *trouble = "table node has the absurd id " + s.text(0) + "; nodes from there on are left out";
      break;
    }
    if (event > hops) {
      if (!all) break;
      if (trouble->empty()) *trouble = "node " + std::to_string(id) + " names a hop that the file does not hold";
      event = 0;
    }
    nodes_.resize(std::max<size_t>(nodes_.size(), id + 1));
    nodes_[id].name = name_index(db, id_of(s, 2));
    if (s.null(2) && !all) bare_.push_back(id);
    attach(id, event);
    last_node_ = id;
    changed = true;
  }
  for (auto& [track, index] : node_events_) index.flush();
  return changed;
}

bool Graph::fill_bare_nodes(ReadConnection& db) {
  if (bare_.empty()) return false;
  ReadStatement s(db, "SELECT event, name FROM node WHERE id = ?");
  const size_t before = bare_.size();
  std::erase_if(bare_, [&](uint32_t id) {
    s.reset();
    if (!s.bind(1, id).step() || s.null(1)) return false;
    const uint32_t event = id_of(s, 0);
    if (event > columns_.size()) return false;
    nodes_[id].name = name_index(db, id_of(s, 1));
    if (!nodes_[id].event) attach(id, event);
    filled_.push_back(id);
    return true;
  });
  return bare_.size() != before;
}

void Graph::add_edges(ReadStatement& s, bool* changed) {
  while (s.step() && users_.size() < kMaxId) {
    const uint32_t node = id_of(s, 0), next = id_of(s, 1);
    if (next == 0 || next > nodes_.size() + 65536u || node >= nodes_.size()) continue;
    if (next >= nodes_.size()) nodes_.resize(next + 1);
    users_.push_back({node, nodes_[next].first_user});
    nodes_[next].first_user = static_cast<uint32_t>(users_.size());
    *changed = true;
  }
}

bool Graph::read_edges(ReadConnection& db) {
  bool changed = false;
  ReadStatement s(db, "SELECT node, next_node FROM edge WHERE node > ? AND node <= ? ORDER BY node, slot");
  s.bind(1, last_edge_node_).bind(2, last_node_);
  std::unique_lock lock(mutex_);
  add_edges(s, &changed);
  if (!filled_.empty()) {
    ReadStatement one(db, "SELECT node, next_node FROM edge WHERE node = ?");
    for (const uint32_t id : filled_) {
      one.reset();
      one.bind(1, id);
      if (id <= last_edge_node_) add_edges(one, &changed);
    }
    filled_.clear();
  }
  last_edge_node_ = last_node_;
  return changed;
}

bool Graph::read_runs(ReadConnection& db, bool all) {
  ReadStatement s(db, "SELECT id, node, event, graph_task, cause FROM node_run WHERE id > ? ORDER BY id");
  s.bind(1, last_run_);
  bool changed = false;
  std::unique_lock lock(mutex_);
  while (s.step()) {
    const uint32_t id = id_of(s, 0), event = id_of(s, 2);
    if (!id || (event > columns_.size() && !all)) break;
    last_run_ = id;
    const auto index = static_cast<uint32_t>(runs_.size());
    runs_.push_back({id_of(s, 1), event, id_of(s, 4), s.null(3) ? -1 : s.integer(3)});
    runs_by_event_.add(event, index);
    runs_by_node_.add(runs_.back().node, index);
    changed = true;
  }
  runs_by_event_.flush();
  runs_by_node_.flush();
  return changed;
}

bool Graph::read_saved(ReadConnection& db) {
  std::string other;  // files of earlier versions have the table without these columns, and empty
  if (no_saved_ || (last_saved_ == 0 && !has_table(db, "saved", {"node", "name", "list_index", "tensor", "meta", "version", "bytes", "flags"}, &other))) {
    no_saved_ = true;
    return false;
  }
  ReadStatement s(db, "SELECT rowid, node, tensor FROM saved WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_saved_);
  bool changed = false;
  std::unique_lock lock(mutex_);
  while (s.step() && s.integer(0) > 0 && s.integer(0) <= kMaxId) {
    last_saved_ = s.integer(0);
    if (const uint32_t node = id_of(s, 1)) saved_by_node_.add(node, static_cast<uint32_t>(last_saved_));
    if (const uint32_t tensor = id_of(s, 2)) saved_by_tensor_.add(tensor, static_cast<uint32_t>(last_saved_));
    changed = true;
  }
  saved_by_node_.flush();
  saved_by_tensor_.flush();
  return changed;
}

bool Graph::read_writes(ReadConnection& db, bool all) {
  ReadStatement s(db, "SELECT rowid, event, tensor, storage, version_before, version_after FROM \"write\" WHERE rowid > ? ORDER BY rowid");
  s.bind(1, last_write_);
  bool changed = false;
  std::unique_lock lock(mutex_);
  while (s.step()) {
    const uint32_t event = id_of(s, 1);
    if (event > columns_.size() && !all) break;
    last_write_ = s.integer(0);
    const auto index = static_cast<uint32_t>(writes_.size());
    writes_.push_back({static_cast<uint64_t>(s.integer(3)), event, id_of(s, 2), version_of(s, 4), version_of(s, 5)});
    writes_by_event_.add(event, index);
    writes_by_storage_.add(writes_.back().storage, index);
    changed = true;
  }
  writes_by_event_.flush();
  writes_by_storage_.flush();
  return changed;
}

uint32_t Graph::nodes() const {
  std::shared_lock lock(mutex_);
  return static_cast<uint32_t>(nodes_.size() - 1);
}

EventId Graph::event_of(NodeId n) const {
  std::shared_lock lock(mutex_);
  return n.value < nodes_.size() ? EventId{nodes_[n.value].event} : EventId{};
}

const std::string* Graph::name_of(NodeId n) const {
  std::shared_lock lock(mutex_);
  if (n.value == 0 || n.value >= nodes_.size() || names_.empty()) return nullptr;
  return names_[nodes_[n.value].name];
}

std::vector<NodeId> Graph::nodes_of(EventId e) const {
  std::vector<NodeId> out;
  if (!columns_.valid(e)) return out;
  std::shared_lock lock(mutex_);
  for (NodeId n = columns_.node(e); n && n.value < nodes_.size(); n = NodeId{nodes_[n.value].same_event}) out.push_back(n);
  std::sort(out.begin(), out.end());
  return out;
}

uint32_t Graph::nodes_inside(EventId e) const {
  if (!columns_.valid(e)) return 0;
  std::shared_lock lock(mutex_);
  const auto it = node_events_.find(columns_.shape(e).track);
  if (it == node_events_.end()) return 0;
  const auto [first, last] = it->second.range(e.value, columns_.last(e).value);
  return static_cast<uint32_t>(last - first);
}

std::vector<NodeId> Graph::users(NodeId n) const {
  std::vector<NodeId> out;
  std::shared_lock lock(mutex_);
  if (n.value == 0 || n.value >= nodes_.size()) return out;
  for (uint32_t u = nodes_[n.value].first_user; u; u = users_[u - 1].next) out.push_back(NodeId{users_[u - 1].node});
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<NodeRun> Graph::runs(NodeId n) const {
  std::vector<NodeRun> out;
  std::shared_lock lock(mutex_);
  const auto [first, last] = runs_by_node_.range(n.value, n.value);
  for (const auto* i = first; i != last; ++i) {
    const RunEntry& r = runs_[i->second];
    out.push_back({n, EventId{r.event}, r.graph_task, EventId{r.cause}});
  }
  return out;
}

std::optional<NodeRun> Graph::run_of(EventId e) const {
  std::shared_lock lock(mutex_);
  const auto [first, last] = runs_by_event_.range(e.value, e.value);
  if (first == last) return {};
  const RunEntry& r = runs_[first->second];
  return NodeRun{NodeId{r.node}, e, r.graph_task, EventId{r.cause}};
}

bool Graph::has_saved() const {
  std::shared_lock lock(mutex_);
  return last_saved_ > 0;
}

std::vector<uint32_t> Graph::saved_of(NodeId n) const {
  std::shared_lock lock(mutex_);
  return all_of(saved_by_node_, n.value);
}

std::vector<uint32_t> Graph::saved_by(TensorId t) const {
  std::shared_lock lock(mutex_);
  return all_of(saved_by_tensor_, t.value);
}

WriteRow Graph::write_row(uint32_t index) const {
  const WriteEntry& w = writes_[index];
  return {EventId{w.event}, TensorId{w.tensor}, w.storage, version_out(w.before), version_out(w.after)};
}

std::vector<WriteRow> Graph::writes_to(uint64_t storage) const {
  std::vector<WriteRow> out;
  std::shared_lock lock(mutex_);
  const auto [first, last] = writes_by_storage_.range(storage, storage);
  for (const auto* i = first; i != last; ++i) out.push_back(write_row(i->second));
  std::stable_sort(out.begin(), out.end(), [](const WriteRow& a, const WriteRow& b) { return a.event < b.event; });
  return out;
}

std::vector<WriteRow> Graph::writes_of(EventId e) const {
  std::vector<WriteRow> out;
  std::shared_lock lock(mutex_);
  const auto [first, last] = writes_by_event_.range(e.value, e.value);
  for (const auto* i = first; i != last; ++i) out.push_back(write_row(i->second));
  return out;
}

size_t Graph::bytes() const {
  std::shared_lock lock(mutex_);
  size_t n = nodes_.capacity() * sizeof(NodeEntry) + users_.capacity() * sizeof(User) + runs_.capacity() * sizeof(RunEntry) +
             writes_.capacity() * sizeof(WriteEntry) + runs_by_event_.bytes() + runs_by_node_.bytes() + writes_by_event_.bytes() +
             writes_by_storage_.bytes() + saved_by_node_.bytes() + saved_by_tensor_.bytes();
  for (const auto& [track, index] : node_events_) n += index.bytes();
  return n;
}

}  // namespace peel
