// The one Session over a file: columns, small tables, graph and rows on demand, filled by one loader thread.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "sessions/columns.h"
#include "sessions/gpu_reader.h"
#include "sessions/graph.h"
#include "sessions/hop_reader.h"
#include "sessions/rows.h"
#include "sessions/session.h"
#include "sessions/tables.h"

namespace peel {

/// What open() found out about the file before anything was loaded.
struct OpenedFile {
  std::string path;
  bool immutable = false;   // read without locks and without its write-ahead log
  bool recording = false;   // its state says so and a drain is at work
  std::string trouble;
};

class SessionImpl final : public Session {
 public:
  SessionImpl(OpenedFile file, bool patient);
  ~SessionImpl() override;
  void wait_until_ready();

  const std::string& path() const override { return file_.path; }
  Progress progress() const override;
  uint64_t generation() const override { return generation_.load(std::memory_order_acquire); }
  bool live() const override { return live_.load(std::memory_order_acquire); }
  uint64_t look_now() override;
  bool has_looked(uint64_t ticket) const override { return looks_done_.load(std::memory_order_acquire) >= ticket || !live(); }
  std::string meta(std::string_view key) const override;
  std::vector<std::pair<std::string, std::string>> all_meta() const override;
  std::string trouble() const override;

  uint32_t size() const override { return columns_.size(); }
  Event event(EventId e) const override { return columns_.valid(e) ? columns_.event(e) : Event{}; }
  EventId parent(EventId e) const override { return columns_.valid(e) ? columns_.parent(e) : EventId{}; }
  uint16_t depth(EventId e) const override { return columns_.valid(e) ? columns_.depth(e) : uint16_t{0}; }
  Stretch stretch(EventId e) const override { return columns_.valid(e) ? Stretch{columns_.begin(e), columns_.end(e)} : Stretch{}; }
  EventId last(EventId e) const override { return columns_.valid(e) ? columns_.last(e) : EventId{}; }
  EventId next_sibling(EventId e) const override { return columns_.valid(e) ? columns_.next_sibling(e) : EventId{}; }
  EventId previous_sibling(EventId e) const override { return columns_.valid(e) ? columns_.previous_sibling(e) : EventId{}; }
  EventId first_child(EventId e) const override { return columns_.valid(e) ? columns_.first_child(e) : EventId{}; }
  EventId next_in_thread(EventId e) const override { return columns_.valid(e) ? columns_.next_in_thread(e) : EventId{}; }
  EventId previous_in_thread(EventId e) const override { return columns_.valid(e) ? columns_.previous_in_thread(e) : EventId{}; }
  std::vector<EventId> children(EventId) const override;
  std::vector<EventId> roots(ThreadId) const override;

  const Key* key(KeyId k) const override { return tables_.keys.get(k); }
  const Key* key_by_name(std::string_view) const override;
  std::vector<const Key*> keys() const override;
  const Keyset& keyset(KeysetId) const override;
  const Op& op(OpId) const override;
  uint32_t ops() const override;
  const Kernel* kernel(KernelId k) const override { return tables_.kernels.get(k.value); }
  const Tls& tls(TlsId) const override;
  std::vector<Thread> threads() const override;
  const Thread* thread(ThreadId t) const override { return tables_.threads.get(t.value); }
  std::vector<RecordedProcess> processes() const override { return tables_.processes(); }
  std::shared_ptr<const GpuActivity> gpu() const override;
  Frame frame(StackId) const override;
  StackId user_frame(StackId) const override;
  std::vector<Slot> table(OpId op, EventId at) const override { return tables_.table(op, at); }
  uint64_t mask(OpId op, EventId at, int backend) const override { return tables_.mask(op, at, backend); }
  std::vector<KernelId> kernels_of(OpId op) const override { return tables_.kernels_of(op); }
  std::vector<Registration> registrations(OpId op, EventId at) const override { return tables_.registrations(op, at); }
  OpSource op_source(OpId op) const override { return rows_.op_source(op, generation(), !live()); }
  std::vector<EventId> table_versions(OpId op) const override { return tables_.table_versions(op); }

  uint32_t nodes() const override { return graph_.nodes(); }
  Node node(NodeId) const override;
  std::string_view node_name(NodeId) const override;
  std::vector<NodeId> nodes_of(EventId e) const override { return graph_.nodes_of(e); }
  uint32_t nodes_inside(EventId e) const override { return graph_.nodes_inside(e); }
  std::vector<Edge> edges(NodeId) const override;
  std::vector<NodeId> users(NodeId n) const override { return graph_.users(n); }
  std::vector<NodeRun> runs(NodeId n) const override { return graph_.runs(n); }
  std::optional<NodeRun> run_of(EventId e) const override { return graph_.run_of(e); }
  std::optional<TensorRow> tensor(TensorId) const override;
  bool has_saved() const override { return graph_.has_saved(); }
  std::vector<Saved> saved_of(NodeId n) const override { return rows_.saved(graph_.saved_of(n)); }
  std::vector<Saved> saved_by(TensorId t) const override { return rows_.saved(graph_.saved_by(t)); }
  std::vector<WriteRow> writes(TensorId) const override;
  std::vector<WriteRow> writes_of(EventId e) const override { return graph_.writes_of(e); }
  std::vector<EventId> uses(TensorId, size_t limit) const override;
  std::vector<Value> arguments(EventId) const override;
  std::vector<Value> results(EventId) const override;
  std::vector<Span> modes_at(EventId e) const override { return tables_.modes_at(event(e).thread, e); }
  std::vector<Span> spans() const override { return tables_.spans(); }
  std::vector<Raised> raised() const override { return tables_.raised(); }
  std::vector<HandChange> changes_of(EventId e) const override { return tables_.changes(e, e); }
  std::vector<HandChange> changes() const override { return tables_.changes(EventId{}, EventId{UINT32_MAX}); }
  std::vector<Raised> raised_in(EventId) const override;
  std::vector<Output> output() const override { return tables_.output(); }
  std::vector<Loss> losses() const override { return tables_.losses(); }
  std::vector<Bookmark> bookmarks() const override { return tables_.bookmarks(); }
  Status set_bookmark(EventId, std::string_view text, bool present) override;
  std::vector<Note> notes() const override { return tables_.notes(); }
  Status set_note(EventId, std::string_view text) override;
  std::string source(std::string_view path) const override;

  // ---- for the parts of sessions/ that work on whole columns
  const Columns& columns() const { return columns_; }
  const Graph& graph() const { return graph_; }
  size_t bytes() const { return columns_.bytes() + graph_.bytes(); }

 private:
  // session_loader.cpp, on the loader's thread
  void load();
  bool load_present(ReadConnection&, HopReader&);
  bool consume(HopBatch&);
  bool follow(ReadConnection&, HopReader&);  // one look at a growing file; false = nothing more will come
  void release_and_reopen(std::unique_ptr<ReadConnection>&);
  bool read_gpu(ReadConnection&, bool last, std::string* trouble);
  void say(const std::string& trouble);
  void changed() { generation_.fetch_add(1, std::memory_order_acq_rel); }
  void save_marks();
  Status write_marks();
  Status keep_mark(EventId, const std::function<void()>& put);
  bool settled(EventId) const;  // its rows can't change any more

  OpenedFile file_;
  mutable Columns columns_;
  mutable Tables tables_;
  mutable Graph graph_{columns_, tables_};
  mutable RowStore rows_;
  GpuReader gpu_reader_;
  std::shared_ptr<const GpuActivity> gpu_;  // below gpu_mutex_
  mutable std::mutex gpu_mutex_;

  std::atomic<uint64_t> generation_{1};
  std::atomic<bool> live_{false}, ready_{false}, cancel_{false}, crashed_{false};
  std::atomic<const char*> stage_{"opening"};
  std::atomic<uint64_t> done_{0}, total_{0};
  std::mutex marks_mutex_;  // bookmarks and notes: put and written as one
  mutable std::mutex trouble_mutex_;
  std::string trouble_;
  std::vector<EventId> open_;  // hops without an end (loader only)
  bool damaged_ = false;       // loader only: no further hops
  std::mutex ready_mutex_;
  std::condition_variable ready_wake_;
  uint64_t looks_begun_ = 0, look_wanted_ = 0;  // below ready_mutex_
  std::atomic<uint64_t> looks_done_{0};
  std::thread loader_;
};

/// The SessionImpl behind a Session, null for another kind (tests have such).
const SessionImpl* implementation(const Session&);

}  // namespace peel
