// RowStore on demand: what is wide (arguments, results, source, tensors, a node's details) is read by SQL when
// it is asked for and kept in bounded caches, so that a panel may ask on every frame.
#pragma once
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sessions/session.h"
#include "sessions/sqlite_read.h"

namespace peel {

/// The most recently asked-for `capacity` answers. An answer may be valid for one generation only.
template <class Key, class Answer>
class LruCache {
 public:
  explicit LruCache(size_t capacity) : capacity_(capacity) {}
  /// Null = not there, or made for another generation and not final.
  const Answer* find(const Key& key, uint64_t generation) {
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    if (!it->second->final && it->second->generation != generation) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return &it->second->answer;
  }
  const Answer& put(const Key& key, Answer answer, uint64_t generation, bool final) {
    if (const auto it = index_.find(key); it != index_.end()) {
      order_.erase(it->second);
      index_.erase(it);
    }
    order_.push_front({key, std::move(answer), generation, final});
    index_[key] = order_.begin();
    if (order_.size() > capacity_) {
      index_.erase(order_.back().key);
      order_.pop_back();
    }
    return order_.front().answer;
  }
  void clear() { order_.clear(); index_.clear(); }

 private:
  struct Entry {
    Key key;
    Answer answer;
    uint64_t generation;
    bool final;
  };
  size_t capacity_;
  std::list<Entry> order_;
  std::unordered_map<Key, typename std::list<Entry>::iterator> index_;
};

/// A node's columns that are not in memory.
struct NodeDetail {
  uint64_t sequence_nr = UINT64_MAX, topological_nr = 0, thread = 0;
  TensorId variable, output;
  EventId found;
};

/// Thread-safe. Between close() and open() every answer is empty and nothing is remembered.
class RowStore {
 public:
  ~RowStore();
  /// `changed` is called when a search in the background has more to show. `patient`: searches are waited for.
  void start(const std::string& path, bool immutable, bool patient, std::function<void()> changed);
  void close();   // lets go of the file (the recorder is finishing it)
  void reopen(bool immutable);

  /// `final`: the answer can't change any more; otherwise it is kept while `generation` stays the same.
  std::vector<Value> values(EventId, bool results, uint64_t generation, bool final);
  std::optional<TensorRow> tensor(TensorId, uint64_t generation, bool final);
  std::vector<Edge> edges(NodeId, uint64_t generation, bool final);
  std::vector<Saved> saved(const std::vector<uint32_t>& rowids);
  NodeDetail node(NodeId, uint64_t generation, bool final);
  std::string source(std::string_view path, uint64_t generation, bool final);
  OpSource op_source(OpId, uint64_t generation, bool final);
  /// Hops with this argument, from `first` on. A long search goes on in the background: what was found so far.
  std::vector<EventId> uses(TensorId, EventId first, size_t limit, uint64_t generation, bool final);

 private:
  struct Search {
    TensorId tensor;
    EventId first;
    size_t limit = 0;
    uint64_t generation = 0;
    bool final = false, done = false;
    std::vector<EventId> found;
  };
  void search_loop();

  std::string path_;
  bool patient_ = false;
  std::function<void()> changed_;

  std::mutex mutex_;  // connection, statements, caches
  std::unique_ptr<ReadConnection> db_;
  ReadStatement arguments_, results_, tensor_, edges_, node_, saved_, source_, op_source_;
  LruCache<uint64_t, std::vector<Value>> value_cache_{4096};
  LruCache<uint32_t, std::optional<TensorRow>> tensor_cache_{4096};
  LruCache<uint32_t, std::vector<Edge>> edge_cache_{16384};
  LruCache<uint32_t, NodeDetail> node_cache_{16384};
  LruCache<uint32_t, Saved> saved_cache_{4096};
  LruCache<std::string, std::string> source_cache_{64};
  LruCache<uint32_t, OpSource> op_source_cache_{256};

  std::mutex search_mutex_;
  std::condition_variable search_wake_, search_done_;
  std::vector<std::shared_ptr<Search>> searches_;  // newest last; a few are kept
  std::vector<std::shared_ptr<Search>> queue_;     // not done; the first is being worked on
  std::atomic<bool> stop_search_{false};
  bool quit_ = false, immutable_ = false, closed_ = true;
  std::thread searcher_;
};

}  // namespace peel
