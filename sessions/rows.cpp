#include "sessions/rows.h"

#include <algorithm>
#include <chrono>

#include "sessions/format.h"
#include "sessions/optional_table.h"

namespace peel {
namespace {

uint32_t id_of(const ReadStatement& s, int column) {
  const int64_t v = s.integer(column);
  return v > 0 && v <= kMaxId ? static_cast<uint32_t>(v) : 0;
}
int small_int(const ReadStatement& s, int column) {
  const int64_t v = s.integer(column);
  return v > INT32_MIN && v < INT32_MAX ? static_cast<int>(v) : 0;
}

std::string values_sql(const char* table) {
  return std::string(
             "SELECT a.position, a.list_index, n.value, a.tensor, d.value, sh.value, st.value, dv.value, l.value, f.value, "
             "m.keyset, a.version, v.value, a.participates FROM ") +
         table +
         " a LEFT JOIN string n ON n.id = a.name LEFT JOIN tensor_meta m ON m.id = a.meta"
         " LEFT JOIN string d ON d.id = m.dtype LEFT JOIN string sh ON sh.id = m.shape LEFT JOIN string st ON st.id = m.strides"
         " LEFT JOIN string dv ON dv.id = m.device LEFT JOIN string l ON l.id = m.layout LEFT JOIN string f ON f.id = m.flags"
         " LEFT JOIN string v ON v.id = a.value WHERE a.event = ? ORDER BY a.position, a.list_index LIMIT 100000";
}

constexpr size_t kKeptSearches = 8;

}  // namespace

RowStore::~RowStore() {
  {
    std::lock_guard lock(search_mutex_);
    quit_ = true;
    stop_search_ = true;
  }
  search_wake_.notify_all();
  if (searcher_.joinable()) searcher_.join();
}

void RowStore::start(const std::string& path, bool immutable, bool patient, std::function<void()> changed) {
  path_ = path;
  patient_ = patient;
  changed_ = std::move(changed);
  reopen(immutable);
}

void RowStore::close() {
  {
    std::unique_lock lock(search_mutex_);
    closed_ = true;
    stop_search_ = true;
    search_done_.notify_all();
    if (searcher_.joinable() && !queue_.empty()) {
      queue_.resize(1);  // the one that is being worked on ends at once
      search_done_.wait(lock, [this] { return queue_.empty(); });
    }
  }
  std::lock_guard lock(mutex_);
  for (ReadStatement* s : {&arguments_, &results_, &tensor_, &edges_, &node_, &saved_, &source_, &op_source_}) *s = ReadStatement();
  db_.reset();
}

void RowStore::reopen(bool immutable) {
  std::lock_guard lock(mutex_);
  for (ReadStatement* s : {&arguments_, &results_, &tensor_, &edges_, &node_, &saved_, &source_, &op_source_}) *s = ReadStatement();
  auto db = std::make_unique<ReadConnection>();
  if (!db->open(path_, immutable, nullptr)) return;
  arguments_ = ReadStatement(*db, values_sql("argument"));
  results_ = ReadStatement(*db, values_sql("result"));
  tensor_ = ReadStatement(*db, "SELECT birth_event, death_ns, storage, base, first_event FROM tensor WHERE id = ?");
  edges_ = ReadStatement(*db, "SELECT slot, next_node, next_input FROM edge WHERE node = ? ORDER BY slot LIMIT 100000");
  node_ = ReadStatement(*db, "SELECT sequence_nr, thread, topological_nr, variable, output, found_event FROM node WHERE id = ?");
  std::string trouble;
  if (has_table(*db, "op_source", {"op", "native_function", "derivative"}, &trouble)) op_source_ = ReadStatement(*db, "SELECT native_function, derivative FROM op_source WHERE op = ?");
  saved_ = ReadStatement(*db, "SELECT a.node, n.value, a.list_index, a.tensor, d.value, sh.value, a.version, a.bytes, a.flags FROM saved a LEFT JOIN string n ON n.id = a.name "
                              "LEFT JOIN tensor_meta m ON m.id = a.meta LEFT JOIN string d ON d.id = m.dtype LEFT JOIN string sh ON sh.id = m.shape WHERE a.rowid = ?");
  source_ = ReadStatement(*db, "SELECT text FROM source WHERE path = ?");
  db_ = std::move(db);
  std::lock_guard search(search_mutex_);
  immutable_ = immutable;
  closed_ = false;
  stop_search_ = false;
}

std::vector<Value> RowStore::values(EventId e, bool results, uint64_t generation, bool final) {
  std::lock_guard lock(mutex_);
  const uint64_t key = uint64_t{e.value} << 1 | (results ? 1 : 0);
  if (const auto* hit = value_cache_.find(key, generation)) return *hit;
  std::vector<Value> out;
  ReadStatement& s = results ? results_ : arguments_;
  if (!s) return out;
  s.reset();
  s.bind(1, e.value);
  while (s.step()) {
    out.push_back(Value{.position = small_int(s, 0), .list_index = s.null(1) ? -1 : small_int(s, 1), .name = s.text(2),
                        .tensor = TensorId{id_of(s, 3)}, .dtype = s.text(4), .shape = s.text(5), .strides = s.text(6),
                        .device = s.text(7), .layout = s.text(8), .flags = s.text(9), .keyset = KeysetId{id_of(s, 10)},
                        .version = s.null(11) ? -1 : s.integer(11), .value = s.text(12), .participates = s.integer(13) != 0});
  }
  s.reset();
  return value_cache_.put(key, std::move(out), generation, final);
}

std::optional<TensorRow> RowStore::tensor(TensorId t, uint64_t generation, bool final) {
  std::lock_guard lock(mutex_);
  if (const auto* hit = tensor_cache_.find(t.value, generation)) return *hit;
  if (!tensor_) return {};
  std::optional<TensorRow> out;
  tensor_.reset();
  if (tensor_.bind(1, t.value).step()) {
    out = TensorRow{t, EventId{id_of(tensor_, 0)}, tensor_.null(1) ? kOpen : tensor_.integer(1),
                    static_cast<uint64_t>(tensor_.integer(2)), TensorId{id_of(tensor_, 3)}, EventId{id_of(tensor_, 4)}};
  }
  tensor_.reset();
  return tensor_cache_.put(t.value, out, generation, final);
}

std::vector<Edge> RowStore::edges(NodeId n, uint64_t generation, bool final) {
  std::lock_guard lock(mutex_);
  if (const auto* hit = edge_cache_.find(n.value, generation)) return *hit;
  std::vector<Edge> out;
  if (!edges_) return out;
  edges_.reset();
  edges_.bind(1, n.value);
  while (edges_.step()) out.push_back({n, small_int(edges_, 0), NodeId{id_of(edges_, 1)}, small_int(edges_, 2)});
  edges_.reset();
  return edge_cache_.put(n.value, std::move(out), generation, final);
}

std::vector<Saved> RowStore::saved(const std::vector<uint32_t>& rowids) {
  std::lock_guard lock(mutex_);
  std::vector<Saved> out;
  for (const uint32_t id : rowids) {
    if (const auto* hit = saved_cache_.find(id, 0)) {
      out.push_back(*hit);
      continue;
    }
    if (!saved_) break;
    saved_.reset();
    if (saved_.bind(1, id).step()) {
      out.push_back(saved_cache_.put(id, Saved{NodeId{id_of(saved_, 0)}, saved_.text(1), saved_.null(2) ? -1 : small_int(saved_, 2), TensorId{id_of(saved_, 3)}, saved_.text(4), saved_.text(5),
                                               saved_.null(6) ? -1 : saved_.integer(6), static_cast<uint64_t>(std::max<int64_t>(saved_.integer(7), 0)), static_cast<uint32_t>(saved_.integer(8))},
                                     0, true));
    }
    saved_.reset();
  }
  return out;
}

NodeDetail RowStore::node(NodeId n, uint64_t generation, bool final) {
  std::lock_guard lock(mutex_);
  if (const auto* hit = node_cache_.find(n.value, generation)) return *hit;
  if (!node_) return {};
  NodeDetail out;
  node_.reset();
  if (node_.bind(1, n.value).step()) {
    // UINT64_MAX is stored as -1 or NULL.
    out.sequence_nr = node_.null(0) ? UINT64_MAX : static_cast<uint64_t>(node_.integer(0));
    out.thread = static_cast<uint64_t>(node_.integer(1));
    out.topological_nr = static_cast<uint64_t>(node_.integer(2));
    out.variable = TensorId{id_of(node_, 3)};
    out.output = TensorId{id_of(node_, 4)};
    out.found = EventId{id_of(node_, 5)};
  }
  node_.reset();
  return node_cache_.put(n.value, out, generation, final);
}

OpSource RowStore::op_source(OpId op, uint64_t generation, bool final) {
  std::lock_guard lock(mutex_);
  if (const auto* hit = op_source_cache_.find(op.value, generation)) return *hit;
  if (!op_source_) return {};
  op_source_.reset();
  OpSource out;
  if (op_source_.bind(1, int64_t{op.value}).step()) out = {op_source_.text(0), op_source_.text(1)};
  op_source_.reset();
  return op_source_cache_.put(op.value, std::move(out), generation, final);
}

std::string RowStore::source(std::string_view path, uint64_t generation, bool final) {
  std::lock_guard lock(mutex_);
  const std::string key(path);
  if (const auto* hit = source_cache_.find(key, generation)) return *hit;
  if (!source_) return {};
  source_.reset();
  std::string out = source_.bind(1, path).step() ? source_.text(0) : std::string();
  source_.reset();
  return source_cache_.put(key, std::move(out), generation, final);
}

std::vector<EventId> RowStore::uses(TensorId t, EventId first, size_t limit, uint64_t generation, bool final) {
  if (!t || limit == 0) return {};
  std::unique_lock lock(search_mutex_);
  const auto it = std::find_if(searches_.begin(), searches_.end(),
                               [&](const auto& s) { return s->tensor == t && s->limit >= limit; });
  std::shared_ptr<Search> search = it == searches_.end() ? nullptr : *it;
  const bool stale = search && search->done && !search->final && search->generation != generation;
  if ((!search || stale) && !closed_ && queue_.size() < kKeptSearches) {
    auto fresh = std::make_shared<Search>();
    *fresh = {.tensor = t, .first = first, .limit = limit, .generation = generation, .final = final};
    if (search) fresh->found = search->found;  // shown until there is more
    std::erase(searches_, search);
    if (searches_.size() >= kKeptSearches) searches_.erase(searches_.begin());
    searches_.push_back(fresh);
    queue_.push_back(fresh);
    search = fresh;
    if (!searcher_.joinable()) searcher_ = std::thread([this] { search_loop(); });
    search_wake_.notify_all();
    const auto finished = [&] { return search->done || closed_; };
    if (patient_) search_done_.wait(lock, finished);
    else search_done_.wait_for(lock, std::chrono::milliseconds(10), finished);
  }
  std::vector<EventId> out = search ? search->found : std::vector<EventId>();
  if (out.size() > limit) out.resize(limit);
  return out;
}

void RowStore::search_loop() {
  std::unique_lock lock(search_mutex_);
  while (true) {
    search_wake_.wait(lock, [this] { return quit_ || (!queue_.empty() && !closed_); });
    if (quit_) break;
    const std::shared_ptr<Search> job = queue_.front();
    const bool immutable = immutable_;
    lock.unlock();
    std::vector<EventId> found;
    bool whole = false;
    {
      ReadConnection db;
      if (db.open(path_, immutable, &stop_search_)) {
        ReadStatement s(db, "SELECT DISTINCT event FROM argument WHERE event >= ? AND tensor = ? ORDER BY event LIMIT ?");
        s.bind(1, job->first.value).bind(2, job->tensor.value).bind(3, static_cast<int64_t>(job->limit));
        while (s.step()) found.push_back(EventId{id_of(s, 0)});
        whole = !s.failed();
      }
    }
    lock.lock();
    if (found.size() >= job->found.size()) job->found = std::move(found);
    job->done = true;
    if (!whole && stop_search_) std::erase(searches_, job);  // interrupted: begun anew when still asked for
    std::erase(queue_, job);
    search_done_.notify_all();
    if (changed_) changed_();
  }
}

}  // namespace peel
