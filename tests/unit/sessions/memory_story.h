// A session file with an allocator's history as a GPU training program would leave it, made up: parameters older than the recording,
// steps of forward, backward and optimizer over a row of blocks, batches copied on a second stream, and at the end a batch that
// does not fit. Every place comes from the simulated allocator, so the replay has something independent to agree with.
#pragma once
#include <sqlite3.h>
#include <unistd.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sessions/format.h"
#include "sessions/memory.h"
#include "sessions/schema_sql.h"
#include "tests/unit/sessions/allocator_sim.h"

namespace peel::test {

struct StoryOptions {
  int steps = 3, blocks = 6;
  uint64_t allocations = 0;   // more steps until there are so many
  bool out_of_memory = true;
  int64_t capacity = int64_t{3} << 30;
  std::string settings;       // PYTORCH_CUDA_ALLOC_CONF
};

class MemoryStory {
 public:
  MemoryStory(const std::string& path, StoryOptions o) : o_(std::move(o)), sim_(sim_options(), [this](auto... a) { told(a...); }) {
    ::unlink(path.c_str());
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("cannot write " + path);
    run("PRAGMA application_id=" + std::to_string(kApplicationId) + "; PRAGMA user_version=" + std::to_string(kFormatVersion) + "; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
    run(kSchemaSql);
    begin();
    for (int i = 0; i < o_.steps || allocations_ < o_.allocations; ++i) step(i, 1);
    if (o_.out_of_memory) step(-1, 4);
    finish();
    sqlite3_close(db_);
  }
  const AllocatorSim& sim() const { return sim_; }
  uint64_t allocations() const { return allocations_; }
  uint32_t failed_hop() const { return failed_hop_; }

 private:
  static constexpr uint64_t kCopyStream = 0x55d0c0de;
  struct Tensor {
    uint64_t address = 0;
    uint32_t storage = 0, id = 0;
  };
  struct Hop {
    int64_t parent, thread, op, kind, key, stack, begin, end, flags;
  };
  SimOptions sim_options() const {
    const AllocatorSettings s = AllocatorSettings::parse(o_.settings);
    SimOptions out;
    out.capacity = o_.capacity, out.max_split = s.max_split_size, out.max_left = s.max_non_split_rounding, out.expandable = s.expandable_segments;
    return out;
  }

  // ---- rows
  void run(const std::string& sql) {
    char* error = nullptr;
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, &error) != SQLITE_OK) throw std::runtime_error(sql + ": " + (error ? error : ""));
  }
  template <class... T>
  void insert(const char* sql, T... values) {
    sqlite3_stmt*& s = statements_[sql];
    if (!s) sqlite3_prepare_v2(db_, sql, -1, &s, nullptr);
    int i = 0;
    (bind(s, ++i, values), ...);
    if (sqlite3_step(s) != SQLITE_DONE) throw std::runtime_error(sql);
    sqlite3_reset(s);
  }
  struct OrNull { int64_t v; };
  void bind(sqlite3_stmt* s, int i, OrNull v) { v.v > 0 ? sqlite3_bind_int64(s, i, v.v) : sqlite3_bind_null(s, i); }
  void bind(sqlite3_stmt* s, int i, int64_t v) { sqlite3_bind_int64(s, i, v); }
  void bind(sqlite3_stmt* s, int i, const std::string& v) { sqlite3_bind_text(s, i, v.c_str(), -1, SQLITE_TRANSIENT); }
  int64_t string(const std::string& t) {
    int64_t& id = strings_[t];
    if (!id) id = int64_t(strings_.size()), insert("INSERT INTO string VALUES(?,?)", id, t);
    return id;
  }
  int64_t op(const std::string& name) {
    int64_t& id = ops_[name];
    if (!id) id = int64_t(ops_.size()), insert("INSERT INTO op VALUES(?,?,'',NULL)", id, name);
    return id;
  }
  int64_t line(int n, int64_t parent = 0, const char* file = "/home/ada/train.py", const char* function = "step") {
    int64_t& id = lines_[{n, parent}];
    if (!id) id = int64_t(lines_.size()), insert("INSERT INTO stack VALUES(?,?,?,?,?)", id, OrNull{parent}, string(file), int64_t(n), string(function));
    return id;
  }

  // ---- hops
  uint32_t enter(const std::string& name, int64_t kind = 0, int64_t key = 50) {
    now_ += 1500;
    hops_.push_back({open_.empty() ? 0 : open_.back(), thread_, kind == 7 ? 0 : op(name), kind, kind == 7 ? 0 : key, stack_, now_, -1, 0});
    open_.push_back(int64_t(hops_.size()));
    return uint32_t(hops_.size());
  }
  void leave() {
    now_ += 900;
    hops_[size_t(open_.back() - 1)].end = now_;
    open_.pop_back();
  }
  void told(const char* action, uint64_t address, int64_t size, uint64_t stream, int pool, int64_t free) {
    static const std::vector<std::string> names = {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom"};
    const auto at = std::find(names.begin(), names.end(), action) - names.begin();
    now_ += 120;
    if (before_) return;
    allocations_ += at == 0;
    const auto storage = at == 0 ? next_storage_ : storages_.count(address) && at < 3 ? storages_[address] : 0u;
    insert("INSERT INTO memory_event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", int64_t(++memory_events_), OrNull{open_.empty() ? 0 : open_.back()}, thread_, OrNull{open_.empty() ? stack_ : 0}, now_,
           int64_t(at + 1), string("cuda:0"), OrNull{int64_t(address)}, size, int64_t(stream), OrNull{pool ? string("(1, 0)") : 0}, OrNull{int64_t(storage)}, OrNull{free > 0 ? free : 0});
  }
  void cpu(bool alloc, uint64_t address, int64_t size, uint32_t storage) {
    now_ += 90;
    insert("INSERT INTO memory_event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", int64_t(++memory_events_), OrNull{open_.empty() ? 0 : open_.back()}, thread_, OrNull{open_.empty() ? stack_ : 0}, now_,
           int64_t(alloc ? 1 : 3), string("cpu"), int64_t(address), size, int64_t{0}, OrNull{0}, OrNull{int64_t(storage)}, OrNull{0});
  }
  Tensor make(int64_t bytes, uint64_t stream = 0) {
    Tensor t;
    next_storage_ = storage_ + 1;
    t.address = sim_.malloc(bytes, stream);
    if (!t.address) return t;
    t.storage = ++storage_, t.id = ++tensor_;
    storages_[t.address] = t.storage;
    if (!before_) insert("INSERT INTO tensor VALUES(?,?,NULL,?,NULL,?)", int64_t(t.id), OrNull{open_.empty() ? 0 : open_.back()}, int64_t(t.storage), OrNull{open_.empty() ? 0 : open_.back()});
    return t;
  }
  void drop(Tensor& t) {
    if (t.address) sim_.free(t.address);
    t.address = 0;
  }
  /// A call with an allocation in its CUDA layer; address 0 = it raised.
  Tensor call(const std::string& name, int64_t bytes, const char* inner = nullptr, uint64_t stream = 0) {
    enter(name, 0, 135);
    if (inner) enter(inner, 0, 135);
    enter(inner ? inner : name, 1, 50);
    Tensor t = make(bytes, stream);
    if (!t.address) {
      failed_hop_ = uint32_t(open_.back());
      for (const int64_t h : open_) hops_[size_t(h - 1)].flags |= 1;
      const std::string message = "CUDA out of memory. Tried to allocate " + bytes_text(bytes) + ". GPU 0 has a total capacity of " + bytes_text(o_.capacity) + " of which " + bytes_text(o_.capacity - sim_.reserved) + " is free.";
      for (auto h = open_.rbegin(); h != open_.rend(); ++h) insert("INSERT INTO error VALUES(?,?,?)", *h, std::string("torch.OutOfMemoryError"), message);
    }
    leave();
    if (inner) leave();
    leave();
    return t;
  }
  int64_t span(const std::string& kind, const std::string& name, const std::string& detail, int64_t parent) {
    spans_.push_back({kind, name, detail, thread_, int64_t(hops_.size()) + 1, 0, parent, now_, 0});
    return int64_t(spans_.size());
  }
  void end_span(int64_t id) { spans_[size_t(id - 1)].end = int64_t(hops_.size()), spans_[size_t(id - 1)].end_ns = now_; }
  int64_t node(const std::string& name, const Tensor& saved) {
    ++nodes_;
    insert("INSERT INTO node VALUES(?,?,?,?,0,?,NULL,NULL,?)", nodes_, int64_t(hops_.size()), string(name), nodes_, nodes_, int64_t(hops_.size()));
    if (saved.id) insert("INSERT INTO saved(node, name, list_index, tensor, version) VALUES(?,?,-1,?,0)", nodes_, string("_saved_self"), int64_t(saved.id));
    return nodes_;
  }

  // ---- the program
  void begin() {
    run("INSERT INTO meta VALUES('format','1'),('state','crashed'),('exit_code','1'),('engine','pytorch'),('engine_version','2.13.0+cu130'),('program','/home/ada/train.py'),('detail','standard');"
        "INSERT INTO dispatch_key VALUES(0,'Undefined',NULL,NULL,0),(49,'CPU',16,0,1),(50,'CUDA',16,1,2),(134,'AutogradCPU',36,0,96),(135,'AutogradCUDA',36,1,97),(32,'AutocastCUDA',47,NULL,122);"
        "INSERT INTO keyset VALUES(1,68719542274,'DispatchKeySet(CUDA, AutogradCUDA)'),(2,65538,'DispatchKeySet(CUDA)');"
        "INSERT INTO tls VALUES(1,17246978048,562657895645184,1,0,NULL);"
        "INSERT INTO event_kind VALUES(0,'call'),(1,'redispatch'),(2,'call_boxed'),(3,'redispatch_boxed'),(4,'missing_kernel'),(5,'python_mode'),(6,'torch_function'),(7,'backward_node');"
        "INSERT INTO process VALUES(1,100,NULL,'python',0,NULL); INSERT INTO thread VALUES(1,100,1,'main'),(2,101,1,'pt_autograd_0');"
        "INSERT INTO memory_action VALUES(1,'alloc'),(2,'free_requested'),(3,'free_completed'),(4,'segment_alloc'),(5,'segment_free'),(6,'segment_map'),(7,'segment_unmap'),(8,'snapshot'),(9,'oom')");
    if (o_.out_of_memory == false) run("UPDATE meta SET value='complete' WHERE key='state'; UPDATE meta SET value='0' WHERE key='exit_code'");
    if (!o_.settings.empty()) insert("INSERT INTO meta VALUES('allocator_settings',?)", o_.settings);
    insert("INSERT INTO source VALUES('/home/ada/train.py',?)", std::string("import torch\nfrom model import net, opt, load, load_big\n\ncopy = torch.cuda.Stream()\n\ndef step(batch):\n    with torch.cuda.stream(copy):\n"
           "        x = batch.to(\"cuda\", non_blocking=True)\n    x.record_stream(torch.cuda.current_stream())\n    loss = net(x).square().mean()\n    loss.backward()\n    opt.step()\n    opt.zero_grad()\n\n"
           "for i in range(3):\n    step(load(i))\nstep(load_big())\n"));
    stack_ = line(2, 0, "/home/ada/train.py", "<module>");
    before_ = true;
    for (int b = 0; b < o_.blocks; ++b) for (const int64_t bytes : {4096, 16 << 20, 16384, 16 << 20, 4096}) parameters_.push_back(make(bytes));
    before_ = false;
    told("snapshot", 0, 0, 0, 0, 0);
    snapshot(memory_events_);
  }
  void snapshot(int64_t id) {
    for (const auto& s : sim_.state()) {
      int64_t allocated = 0, active = 0, requested = 0;
      for (const auto& b : s.blocks) {
        allocated += b.state == 1 ? b.size : 0, active += b.state ? b.size : 0, requested += b.requested;
        insert("INSERT INTO block VALUES(?,?,?,?,?,?)", id, int64_t(s.address), int64_t(b.address), b.size, b.requested,
               string(b.state == 0 ? "inactive" : b.state == 1 ? "active_allocated" : "active_pending_free"));
      }
      insert("INSERT INTO segment VALUES(?,?,?,?,?,?,?,?,?,?,?)", id, string("cuda:0"), int64_t(s.address), s.size, allocated, active, requested, int64_t(s.stream),
             string(s.small ? "small" : "large"), OrNull{s.pool ? string("(1, 0)") : 0}, int64_t(s.expandable));
    }
  }
  /// `scale` 1: fits; 4: does not.
  void step(int number, int scale) {
    const int64_t tokens = 4096 * scale, narrow = tokens * 1024 * 4, wide = tokens * 4096 * 4;
    thread_ = 1;
    const int64_t top = line(number < 0 ? 17 : 16, 0, "/home/ada/train.py", "<module>");
    stack_ = top;
    enter("aten::randn", 0, 134), cpu(true, 0x55aa00000000, narrow, ++storage_), leave();
    const uint32_t batch = storage_;
    stack_ = line(8, top);
    std::vector<Tensor> kept;
    Tensor x = call("aten::_to_copy", narrow, "aten::empty_strided", kCopyStream);
    stack_ = line(9, top);
    enter("aten::record_stream");
    if (x.address) sim_.record_stream(x.address, 0);
    leave();
    stack_ = top;
    cpu(false, 0x55aa00000000, narrow, batch);
    bool failed = !x.address;
    stack_ = line(10, top);
    const int64_t net = span("module", "net", "Stack", 0);
    for (int b = 0; b < o_.blocks && !failed; ++b) {
      const std::string name = "net.blocks." + std::to_string(b);
      const int64_t block = span("module", name, "Block", net);
      const struct { const char *module, *type, *op, *inner, *node; int64_t bytes; } layers[] = {
          {".norm", "LayerNorm", "aten::layer_norm", "aten::native_layer_norm", "NativeLayerNormBackward0", narrow},
          {".up", "Linear", "aten::linear", "aten::addmm", "AddmmBackward0", wide},
          {".act", "GELU", "aten::gelu", nullptr, "GeluBackward0", wide},
          {".down", "Linear", "aten::linear", "aten::addmm", "AddmmBackward0", narrow}};
      for (const auto& l : layers) {
        const int64_t s = span("module", name + l.module, l.type, block);
        Tensor t = call(l.op, l.bytes, l.inner);
        if (t.address) node(l.node, t);
        end_span(s);
        failed = !t.address;
        if (failed) break;
        kept.push_back(t);
      }
      end_span(block);
    }
    end_span(net);
    if (failed) {
      for (Tensor& t : kept) drop(t);
      drop(x);
      return;
    }
    Tensor squares = call("aten::square", narrow), loss = call("aten::mean", 4);
    drop(squares);
    stack_ = line(11, top);
    thread_ = 2;
    std::vector<Tensor> gradients;
    const int64_t main_stack = stack_;
    Tensor flowing = call("aten::div", narrow);
    for (int b = o_.blocks - 1; b >= 0; --b) {
      const char* const nodes[] = {"NativeLayerNormBackward0", "AddmmBackward0", "GeluBackward0", "AddmmBackward0"};
      for (int l = 3; l >= 0; --l) {
        const int64_t n = nodes_ - 4 * (o_.blocks - 1 - b) - (3 - l);
        stack_ = 0;
        const uint32_t h = enter(nodes[l], 7);
        insert("INSERT INTO node_run VALUES(?,?,?,1,NULL)", int64_t(++runs_), n, int64_t(h));
        Tensor next = call(l == 2 ? "aten::gelu_backward" : l == 0 ? "aten::native_layer_norm_backward" : "aten::mm", l == 3 || l == 2 ? wide : narrow);
        if (l == 1 || l == 3) gradients.push_back(call("aten::mm", 16 << 20)), gradients.push_back(call("aten::sum", l == 1 ? 16384 : 4096));
        drop(flowing);
        drop(kept[size_t(4 * b + l)]);
        flowing = next;
        leave();
      }
    }
    drop(flowing), drop(loss);
    thread_ = 1, stack_ = main_stack;
    drop(x);
    stack_ = line(12, top);
    if (moments_.empty()) for (int i = 0; i < 2; ++i) for (size_t g = 0; g < gradients.size(); ++g) moments_.push_back(call("aten::zeros_like", g % 2 ? 4096 * (g % 4 == 1 ? 1 : 4) : 16 << 20, "aten::empty_like"));
    Tensor scratch = call("aten::_foreach_sqrt", 32 << 20);
    drop(scratch);
    sim_.stream_done(0);
    stack_ = line(13, top);
    for (Tensor& g : gradients) drop(g);
    now_ += 400000;
  }
  void finish() {
    for (size_t i = 0; i < hops_.size(); ++i) {
      const Hop& h = hops_[i];
      insert("INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,NULL,?,?,?,?)", int64_t(i + 1), OrNull{h.parent}, h.thread, OrNull{h.op}, h.kind, OrNull{h.key}, int64_t(h.key == 135 ? 1 : 2), OrNull{h.kind ? 0 : 1},
             int64_t{1}, OrNull{h.stack}, h.begin, h.end, h.flags);
    }
    int64_t id = 0;
    for (const auto& s : spans_)
      insert("INSERT INTO span VALUES(?,?,?,?,?,?,?,?,?,?,NULL,NULL)", ++id, s.kind, s.name, s.detail, s.thread, s.begin, OrNull{s.end}, OrNull{s.parent}, s.begin_ns, s.end_ns);
    run("COMMIT");
    for (auto& [sql, s] : statements_) sqlite3_finalize(s);
  }

  struct Span {
    std::string kind, name, detail;
    int64_t thread, begin, end, parent, begin_ns, end_ns;
  };
  StoryOptions o_;
  sqlite3* db_ = nullptr;
  std::map<std::string, sqlite3_stmt*> statements_;
  std::map<std::string, int64_t> strings_, ops_;
  std::map<std::pair<int, int64_t>, int64_t> lines_;
  std::vector<Hop> hops_;
  std::vector<Span> spans_;
  std::vector<int64_t> open_;
  std::map<uint64_t, uint32_t> storages_;
  int64_t thread_ = 1, stack_ = 0, now_ = 1000000, nodes_ = 0, runs_ = 0, memory_events_ = 0;
  uint32_t storage_ = 0, next_storage_ = 0, tensor_ = 0, failed_hop_ = 0;
  uint64_t allocations_ = 0;
  bool before_ = false;
  std::vector<Tensor> parameters_, moments_;
  AllocatorSim sim_;
};

}  // namespace peel::test
