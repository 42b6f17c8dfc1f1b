// A Session made by hand, for tests of what panels compute. Keys are those of PyTorch 2.13 (enum values, bits
// and slots from its headers), as far as the tests need them. Everything is public: a test fills what it needs.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel::test {

/// Bits of a 2.13 key set.
namespace bit {
constexpr uint64_t kCpu = 1ull << 0, kCuda = 1ull << 1, kMeta = 1ull << 15;
constexpr uint64_t kDense = 1ull << 16, kBackendSelect = 1ull << 26, kPython = 1ull << 28, kADInplaceOrView = 1ull << 34,
                   kAutogradOther = 1ull << 35, kAutograd = 1ull << 36, kAutogradNested = 1ull << 37, kAutocastCpu = 1ull << 39,
                   kAutocastCuda = 1ull << 47, kBatched = 1ull << 49;
constexpr uint64_t kTensor = kCpu | kDense | kADInplaceOrView | kAutograd | kAutocastCpu;  // of a dense CPU tensor
constexpr uint64_t kInferenceTensor = kCpu | kDense | kAutocastCpu;
constexpr uint64_t kIncluded = kBackendSelect | kADInplaceOrView;                          // a thread's default
constexpr uint64_t kExcluded = 0x1ff8000000000;                                            // all Autocast*
constexpr uint64_t kAutogradSet = 0x3800000000;
}  // namespace bit

namespace key {
constexpr KeyId kBackendSelect = 11, kPython = 13, kADInplaceOrView = 19, kAutogradOther = 20, kAutocastCpu = 24, kAutocastCuda = 32,
                kBatched = 34, kCpu = 49, kCuda = 50, kMeta = 64, kAutogradCpu = 134, kAutogradCuda = 135, kAutogradMeta = 149;
}

class FakeSession : public Session {
 public:
  FakeSession() {
    auto add = [&](int id, const char* name, int f, int b, int slot) { keys_.push_back({static_cast<KeyId>(id), name, f, b, slot}); };
    add(0, "Undefined", -1, -1, 0);
    add(key::kBackendSelect, "BackendSelect", 26, -1, 86);
    add(key::kPython, "Python", 28, -1, 88);
    add(key::kADInplaceOrView, "ADInplaceOrView", 34, -1, 94);
    add(key::kAutogradOther, "AutogradOther", 35, -1, 95);
    add(key::kAutocastCpu, "AutocastCPU", 39, -1, 114);
    add(key::kAutocastCuda, "AutocastCUDA", 47, -1, 122);
    add(key::kBatched, "FuncTorchBatched", 49, -1, 124);
    add(key::kCpu, "CPU", 16, 0, 1);
    add(key::kCuda, "CUDA", 16, 1, 2);
    add(key::kMeta, "Meta", 16, 15, 16);
    add(key::kAutogradCpu, "AutogradCPU", 36, 0, 96);
    add(key::kAutogradCuda, "AutogradCUDA", 36, 1, 97);
    add(key::kAutogradMeta, "AutogradMeta", 36, 15, 111);
    add(155 - 5, "Autograd", -1, -1, -1);
    events_.push_back({});
    ops_.push_back({});
    kernels_.push_back({});
    tls_.push_back({bit::kIncluded, bit::kExcluded, true, false, ""});
    keysets_.push_back({0, "DispatchKeySet()"});
    nodes_.push_back({});
    frames_.push_back({});
    threads_.push_back({ThreadId(1), 1, 100, "main"});
    tls(bit::kIncluded, bit::kExcluded, true, false);  // id 1: a thread's default
  }

  // ---- building
  OpId op(const char* name, const char* overload = "", std::vector<Op::Argument> arguments = {}) {
    for (size_t i = 1; i < ops_.size(); i++) if (ops_[i].name == name && ops_[i].overload == overload) return OpId(static_cast<uint32_t>(i));
    Op o;
    o.name = name, o.overload = overload, o.full = *overload ? o.name + "." + overload : o.name;
    o.brief = o.name.starts_with("aten::") ? o.name.substr(6) : o.name;
    o.arguments = std::move(arguments);
    ops_.push_back(o);
    return OpId(static_cast<uint32_t>(ops_.size() - 1));
  }
  KeysetId set(uint64_t raw) {
    for (size_t i = 0; i < keysets_.size(); i++) if (keysets_[i].raw == raw) return KeysetId(static_cast<uint32_t>(i));
    keysets_.push_back({raw, "set" + std::to_string(raw)});
    return KeysetId(static_cast<uint32_t>(keysets_.size() - 1));
  }
  TlsId tls(uint64_t included, uint64_t excluded, bool grad, bool inference, const char* modes = "") {
    tls_.push_back({included, excluded, grad, inference, modes});
    return TlsId(static_cast<uint32_t>(tls_.size() - 1));
  }
  KernelId kernel(OpId o, KeyId k, const char* rule, const char* at = "", bool fallthrough = false) {
    kernels_.push_back({o, k, rule, "both", at, fallthrough});
    return KernelId(static_cast<uint32_t>(kernels_.size() - 1));
  }
  StackId frame(const char* file, int line, const char* function = "<module>", StackId parent = {}) {
    frames_.push_back({StackId(static_cast<uint32_t>(frames_.size())), parent, file, function, line});
    return frames_.back().id;
  }
  /// Adds a hop that takes `ns`; call close() on its parents or set end yourself.
  EventId hop(EventId parent, OpId o, Kind kind, KeyId k, uint64_t keyset, uint64_t args = 0, Nanoseconds begin = -1, Nanoseconds end = -2) {
    Event e{};
    e.id = e.last = EventId(static_cast<uint32_t>(events_.size()));
    e.parent = parent, e.thread = parent ? event(parent).thread : ThreadId(1), e.op = o, e.kind = kind, e.key = k;
    e.keyset = set(keyset), e.arg_keyset = args ? set(args) : KeysetId(), e.tls = parent ? event(parent).tls : TlsId(1);
    e.begin = begin >= 0 ? begin : static_cast<Nanoseconds>(e.id.value) * 1000;
    e.end = end == -2 ? e.begin + 500 : end;
    e.depth = parent ? static_cast<uint16_t>(event(parent).depth + 1) : uint16_t(0);
    e.stack = parent ? event(parent).stack : StackId();
    for (EventId p = parent; p; p = events_[p.value].parent) events_[p.value].last = e.id;
    events_.push_back(e);
    return e.id;
  }
  Event& at(EventId e) { return events_[e.value]; }
  NodeId add_node(EventId by, const char* name, uint64_t seq, uint64_t topological = 0, TensorId variable = {}, TensorId output = {}) {
    const NodeId id(static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back({id, by, by, name, seq, topological, 0, variable, output});
    if (by && !events_[by.value].node) events_[by.value].node = id;
    return id;
  }
  void add_edge(NodeId from, int slot, NodeId to, int input = 0) { edges_[from].push_back({from, slot, to, input}); }
  EventId run_node(EventId parent, NodeId n, int64_t task = 1, EventId cause = {}) {
    const EventId e = hop(parent, OpId(), Kind::kBackwardNode, 0, 0);
    runs_.push_back({n, e, task, cause});
    return e;
  }
  Value tensor_value(int position, const char* name, uint32_t tensor, const char* dtype = "float32", const char* shape = "[2, 3]", const char* flags = "",
                     int64_t version = 0) {
    Value v{};
    v.position = position, v.list_index = -1, v.name = name, v.tensor = TensorId(tensor), v.dtype = dtype, v.shape = shape, v.device = "cpu", v.flags = flags;
    v.keyset = set(bit::kTensor), v.version = version, v.participates = true;
    return v;
  }

  // ---- Session
  const std::string& path() const override { return path_; }
  Progress progress() const override { return progress_; }
  uint64_t generation() const override { return generation_; }
  bool live() const override { return live_; }
  std::string meta(std::string_view k) const override {
    const auto i = meta_.find(std::string(k));
    return i == meta_.end() ? "" : i->second;
  }
  std::vector<std::pair<std::string, std::string>> all_meta() const override { return {meta_.begin(), meta_.end()}; }
  std::string trouble() const override { return trouble_; }
  uint32_t size() const override { return static_cast<uint32_t>(events_.size() - 1); }
  Event event(EventId e) const override { return e.value < events_.size() ? events_[e.value] : Event{}; }
  EventId parent(EventId e) const override { return event(e).parent; }
  uint16_t depth(EventId e) const override { return event(e).depth; }
  EventId last(EventId e) const override { return event(e).last; }
  EventId next_sibling(EventId e) const override {
    const Event a = event(e);
    for (uint32_t i = a.last.value + 1; i < events_.size(); i++)
      if (events_[i].parent == a.parent && events_[i].thread == a.thread) return EventId(i);
    return {};
  }
  EventId previous_sibling(EventId e) const override {
    const Event a = event(e);
    for (uint32_t i = e.value; i-- > 1;)
      if (events_[i].parent == a.parent && events_[i].thread == a.thread) return EventId(i);
    return {};
  }
  EventId first_child(EventId e) const override { return e.value + 1 < events_.size() && events_[e.value + 1].parent == e ? EventId(e.value + 1) : EventId(); }
  EventId next_in_thread(EventId e) const override {
    for (uint32_t i = e.value + 1; i < events_.size(); i++) if (events_[i].thread == event(e).thread) return EventId(i);
    return {};
  }
  EventId previous_in_thread(EventId e) const override {
    for (uint32_t i = e.value; i-- > 1;) if (events_[i].thread == event(e).thread) return EventId(i);
    return {};
  }
  std::vector<EventId> children(EventId e) const override {
    std::vector<EventId> out;
    for (uint32_t i = e.value + 1; i <= event(e).last.value; i++) if (events_[i].parent == e) out.push_back(EventId(i));
    return out;
  }
  std::vector<EventId> roots(ThreadId t) const override {
    std::vector<EventId> out;
    for (uint32_t i = 1; i < events_.size(); i++) if (!events_[i].parent && events_[i].thread == t) out.push_back(EventId(i));
    return out;
  }
  const Key* key(KeyId k) const override {
    for (const Key& i : keys_) if (i.id == k) return &i;
    return nullptr;
  }
  const Key* key_by_name(std::string_view n) const override {
    for (const Key& i : keys_) if (i.name == n) return &i;
    return nullptr;
  }
  std::vector<const Key*> keys() const override {
    std::vector<const Key*> out;
    for (const Key& i : keys_) out.push_back(&i);
    return out;
  }
  const Keyset& keyset(KeysetId k) const override { return keysets_[k.value < keysets_.size() ? k.value : 0]; }
  const Op& op(OpId o) const override { return ops_[o.value < ops_.size() ? o.value : 0]; }
  uint32_t ops() const override { return static_cast<uint32_t>(ops_.size() - 1); }
  const Kernel* kernel(KernelId k) const override { return k && k.value < kernels_.size() ? &kernels_[k.value] : nullptr; }
  const Tls& tls(TlsId t) const override { return tls_[t.value < tls_.size() ? t.value : 0]; }
  std::vector<Thread> threads() const override { return {threads_.begin(), threads_.end()}; }
  const Thread* thread(ThreadId t) const override {
    for (const Thread& i : threads_) if (i.id == t) return &i;
    return nullptr;
  }
  std::shared_ptr<const GpuActivity> gpu() const override { return gpu_; }
  Frame frame(StackId s) const override { return frames_[s.value < frames_.size() ? s.value : 0]; }
  StackId user_frame(StackId s) const override { return s; }
  std::vector<Slot> table(OpId, EventId) const override { return {}; }
  uint64_t mask(OpId, EventId, int) const override { return mask_; }
  std::vector<KernelId> kernels_of(OpId o) const override {
    std::vector<KernelId> out;
    for (uint32_t i = 1; i < kernels_.size(); i++) if (kernels_[i].op == o) out.push_back(KernelId(i));
    return out;
  }
  uint32_t nodes() const override { return static_cast<uint32_t>(nodes_.size() - 1); }
  std::string_view node_name(NodeId n) const override { return node(n).name; }
  Node node(NodeId n) const override { return n.value < nodes_.size() ? nodes_[n.value] : Node{}; }
  std::vector<NodeId> nodes_of(EventId e) const override {
    std::vector<NodeId> out;
    for (const Node& n : nodes_) if (n.id && e && n.event == e) out.push_back(n.id);
    return out;
  }
  uint32_t nodes_inside(EventId e) const override {
    return static_cast<uint32_t>(std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& n) { return n.id && n.event >= e && n.event <= last(e); }));
  }
  std::vector<Edge> edges(NodeId n) const override {
    const auto i = edges_.find(n);
    return i == edges_.end() ? std::vector<Edge>() : i->second;
  }
  std::vector<NodeId> users(NodeId n) const override {
    std::vector<NodeId> out;
    for (const auto& [from, list] : edges_)
      if (std::any_of(list.begin(), list.end(), [&](const Edge& e) { return e.next == n; })) out.push_back(from);
    return out;
  }
  std::vector<NodeRun> runs(NodeId n) const override {
    std::vector<NodeRun> out;
    for (const NodeRun& r : runs_) if (r.node == n) out.push_back(r);
    return out;
  }
  std::optional<NodeRun> run_of(EventId e) const override {
    for (const NodeRun& r : runs_) if (r.event == e) return r;
    return {};
  }
  bool has_saved() const override { return !saved_.empty(); }
  std::vector<Saved> saved_of(NodeId n) const override {
    std::vector<Saved> out;
    for (const Saved& v : saved_) if (v.node == n) out.push_back(v);
    return out;
  }
  std::vector<Saved> saved_by(TensorId t) const override {
    std::vector<Saved> out;
    for (const Saved& v : saved_) if (v.tensor == t) out.push_back(v);
    return out;
  }
  std::vector<Note> notes() const override { return notes_; }
  Status set_note(EventId e, std::string_view text) override {
    std::erase_if(notes_, [&](const Note& n) { return n.event == e; });
    if (!text.empty()) notes_.push_back({e, std::string(text)});
    generation_++;
    return {};
  }
  std::optional<TensorRow> tensor(TensorId t) const override {
    const auto i = tensors_.find(t);
    return i == tensors_.end() ? std::nullopt : std::optional<TensorRow>(i->second);
  }
  std::vector<WriteRow> writes(TensorId t) const override {
    std::vector<WriteRow> out;
    const auto row = tensor(t);
    for (const WriteRow& w : writes_) if (w.tensor == t || (row && row->storage && w.storage == row->storage)) out.push_back(w);
    return out;
  }
  std::vector<WriteRow> writes_of(EventId e) const override {
    std::vector<WriteRow> out;
    for (const WriteRow& w : writes_) if (w.event == e) out.push_back(w);
    return out;
  }
  std::vector<EventId> uses(TensorId t, size_t limit) const override {
    std::vector<EventId> out;
    for (const auto& [e, values] : arguments_)
      for (const Value& v : values)
        if (v.tensor == t && out.size() < limit) {
          out.push_back(e);
          break;
        }
    return out;
  }
  std::vector<Value> arguments(EventId e) const override {
    const auto i = arguments_.find(e);
    return i == arguments_.end() ? std::vector<Value>() : i->second;
  }
  std::vector<Value> results(EventId e) const override {
    const auto i = results_.find(e);
    return i == results_.end() ? std::vector<Value>() : i->second;
  }
  std::vector<Span> spans() const override { return spans_; }
  std::vector<Raised> raised() const override { return raised_; }
  std::vector<Raised> raised_in(EventId e) const override {
    std::vector<Raised> out;
    for (const Raised& r : raised_) if (r.event == e) out.push_back(r);
    return out;
  }
  std::vector<Output> output() const override { return output_; }
  std::vector<Loss> losses() const override { return losses_; }
  std::vector<Bookmark> bookmarks() const override { return bookmarks_; }
  Status set_bookmark(EventId e, std::string_view text, bool present) override {
    std::erase_if(bookmarks_, [&](const Bookmark& b) { return b.event == e; });
    if (present) bookmarks_.push_back({e, std::string(text)});
    generation_++;
    return {};
  }
  std::string source(std::string_view p) const override {
    const auto i = sources_.find(std::string(p));
    return i == sources_.end() ? "" : i->second;
  }

  std::string path_ = "fake.peel", trouble_;
  Progress progress_{"ready", 1, 1, true};
  uint64_t generation_ = 1, mask_ = ~0ull;
  bool live_ = false;
  std::map<std::string, std::string> meta_, sources_;
  std::deque<Event> events_;
  std::deque<Op> ops_;
  std::deque<Key> keys_;
  std::deque<Keyset> keysets_;
  std::deque<Kernel> kernels_;
  std::deque<Tls> tls_;
  std::deque<Thread> threads_;
  std::deque<Frame> frames_;
  std::deque<Node> nodes_;
  std::map<NodeId, std::vector<Edge>> edges_;
  std::vector<NodeRun> runs_;
  std::shared_ptr<const GpuActivity> gpu_;
  std::map<TensorId, TensorRow> tensors_;
  std::vector<WriteRow> writes_;
  std::map<EventId, std::vector<Value>> arguments_, results_;
  std::vector<Span> spans_;
  std::vector<Raised> raised_;
  std::vector<Output> output_;
  std::vector<Loss> losses_;
  std::vector<Bookmark> bookmarks_;
  std::vector<Saved> saved_;
  std::vector<Note> notes_;
};

}  // namespace peel::test
