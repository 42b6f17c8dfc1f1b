// A traced process without PyTorch: writes definitions and records through real rings into a real drain.
// Other tests make their sessions with it too:
//
//     auto drain = std::move(*Drain::create({path}));
//     FakeProcess process(*drain);                        // connected, keys of PyTorch 2.13 defined
//     FakeThread main = process.thread("MainThread");
//     uint32_t add = process.op("aten::add", "Tensor", {"self", "other", "alpha"});
//     uint32_t hop = main.begin({.op = add, .kind = HopKind::kCall, .key = key::AutogradCPU, .keyset = set, .arg_keyset = set});
//     main.tensor(0, {.impl = 0x1000, .storage = 0x2000, .sizes = {2, 3}});
//     main.end();
//     process.exit();
//     drain->finish("complete", 0);
#pragma once
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sessions/drain.h"
#include "tracer/wire/ring.h"

namespace peel::testing {

/// Numbers of dispatch keys in PyTorch 2.13.
namespace key {
enum : uint16_t {
  Undefined = 0, BackendSelect = 11, Python = 13, Functionalize = 15, ADInplaceOrView = 19, AutogradOther = 20, AutocastCPU = 24,
  FuncTorchBatched = 34, CPU = 49, CUDA = 50, Meta = 64, SparseCPU = 83, AutogradCPU = 134, AutogradCUDA = 135, Autograd = 150,
  CompositeImplicitAutograd = 151, CompositeExplicitAutograd = 154
};
}
constexpr uint64_t kCpuTensor = 0x9400010001;      // CPU, ADInplaceOrView, AutogradCPU, AutocastCPU
constexpr uint64_t kInferenceTensor = 0x8000010001;  // CPU, AutocastCPU
constexpr uint64_t kAutogradSet = 0x1000010001;    // CPU, AutogradCPU
constexpr uint64_t kCpuSet = 0x10001;              // CPU
constexpr uint64_t kIncluded = 0x404000000, kExcluded = 0x1ff8000000000;  // a thread's defaults

struct FakeHop {
  uint32_t op = 0;
  wire::HopKind kind = wire::HopKind::kCall;
  uint16_t key = key::CPU;
  uint64_t keyset = kCpuSet, arg_keyset = 0;
  uint32_t kernel = 0, tls = 1, stack = 0;
  uint8_t flags = 0;
  uint64_t time = 0;  // 0 = now
};
struct FakeTensor {
  uint64_t impl = 0, storage = 0;
  std::vector<int64_t> sizes;
  uint32_t version = 0;
  uint16_t flags = wire::kParticipates;
  uint8_t dtype = 6;  // torch.float32
  uint64_t keyset = kCpuTensor;
  std::vector<int64_t> strides = {};
  uint64_t data = 0;  // address of the storage's bytes
};
struct FakeNode {
  uint32_t name = 0;
  uint64_t node = 0, sequence_nr = 0, topological_nr = 0, variable = 0, output = 0;
  bool found_late = false;
  std::vector<wire::Edge> edges = {};
};

struct FakeSaved {
  uint32_t name = 0;
  uint64_t node = 0, sequence_nr = 0, bytes = 0;
  uint32_t number = 0, list_index = 0, version = 0, flags = 0;
};

class FakeProcess;

/// One thread of it. Move it to the thread that uses it.
class FakeThread {
 public:
  FakeThread(FakeProcess& process, uint32_t index, wire::OnFull on_full = wire::OnFull::kWait);
  ~FakeThread() { close(); }
  FakeThread(FakeThread&& other) noexcept : producer_(other.producer_) { other.producer_ = wire::Producer(); }
  void close() { producer_.close(); }

  bool begin(const FakeHop& hop) {
    wire::Busy busy(producer_);
    wire::Begin b{};
    b.head = head(wire::RecordKind::kBegin, sizeof b, hop.op);
    b.time = hop.time ? hop.time : wire::ticks();
    b.keyset = hop.keyset;
    b.arg_keyset = hop.arg_keyset;
    b.kernel = hop.kernel;
    b.tls = hop.tls;
    b.stack = hop.stack;
    b.kind = hop.kind;
    b.flags = hop.flags;
    b.key = hop.key;
    return put(b);
  }
  bool end(uint32_t flags = 0, uint64_t time = 0) {
    wire::Busy busy(producer_);
    return put(wire::End{head(wire::RecordKind::kEnd, sizeof(wire::End), flags), time ? time : wire::ticks()});
  }
  bool tensor(uint32_t place, const FakeTensor& t) {
    const auto [r, dims] = described(place, t);
    return put(r, dims.data(), dims.size() * 8);
  }
  static std::pair<wire::Tensor, std::vector<int64_t>> described(uint32_t place, const FakeTensor& t) {
    std::vector<int64_t> dims;
    wire::Tensor r{};
    if (!(t.flags & (wire::kSameAsInner | wire::kNoSizes))) {
      dims = t.sizes;
      std::vector<int64_t> strides = t.strides;
      int64_t stride = 1;
      for (size_t i = t.sizes.size(); strides.size() < t.sizes.size() && i > 0; --i) {
        strides.insert(strides.begin(), stride);
        stride *= t.sizes[i - 1];
      }
      dims.insert(dims.end(), strides.begin(), strides.end());
      r.ndim = static_cast<uint8_t>(t.sizes.size());
    }
    r.head = head(wire::RecordKind::kTensor, sizeof r + dims.size() * 8, place);
    r.impl = t.impl;
    r.storage = t.storage;
    r.data = t.data;
    r.keyset = t.keyset;
    r.version = t.version;
    r.flags = t.flags;
    r.dtype = t.dtype;
    r.device_index = -1;
    return {r, dims};
  }
  bool result(uint32_t place, FakeTensor t) { return tensor(place | wire::kResultBit, t); }
  bool memory(wire::MemoryAction action, uint64_t address, uint64_t size, uint8_t device_type = 0, uint64_t time = 0, uint64_t pool = 0, uint64_t free = 0) {
    wire::Busy busy(producer_);
    wire::Allocation a{};
    a.head = head(wire::RecordKind::kMemory, sizeof a, wire::memory_place(action, device_type, device_type ? 0 : -1));
    a.time = time ? time : wire::ticks();
    a.address = address;
    a.size = size;
    a.pool[1] = pool;
    a.free = free;
    return put(a);
  }
  bool gpu(wire::GpuActivity a, wire::GpuKind kind) {
    a.head = head(wire::RecordKind::kGpu, sizeof a, static_cast<uint32_t>(kind));
    return put(a);
  }
  bool gpu_memory(wire::GpuMemory m, wire::GpuMemoryAction action) {
    m.head = head(wire::RecordKind::kGpuMemory, sizeof m, static_cast<uint32_t>(action));
    return put(m);
  }
  bool graph_node(uint64_t id, uint64_t origin) {
    wire::Busy busy(producer_);
    return put(wire::GraphNode{head(wire::RecordKind::kGraphNode, sizeof(wire::GraphNode), 0), wire::ticks(), id, origin});
  }
  bool tick() {
    wire::Busy busy(producer_);
    return put(wire::Tick{head(wire::RecordKind::kTick, sizeof(wire::Tick), 0), wire::ticks()});
  }
  bool value(uint32_t place, wire::ValueType type, const void* payload, size_t bytes, uint32_t count = 1, bool truncated = false) {
    wire::Value v{};
    v.head = head(wire::RecordKind::kValue, sizeof v + bytes, place);
    v.type = type;
    v.truncated = truncated;
    v.count = count;
    return put(v, payload, bytes);
  }
  bool value(uint32_t place, int64_t i) { return value(place, wire::ValueType::kInt, &i, 8); }
  bool write(uint32_t place, uint64_t impl, uint64_t storage, uint32_t before, uint32_t after) {
    return put(wire::Write{head(wire::RecordKind::kWrite, sizeof(wire::Write), place), impl, storage, before, after});
  }
  bool change(const wire::Changed& c) { return put(c); }
  bool error(uint32_t type, uint32_t message) { return put(wire::Error{head(wire::RecordKind::kError, sizeof(wire::Error), type), message, 0}); }
  bool node(const FakeNode& n) {
    wire::Node r{};
    r.head = head(wire::RecordKind::kNode, sizeof r + n.edges.size() * sizeof(wire::Edge), n.name);
    r.node = n.node;
    r.sequence_nr = n.sequence_nr;
    r.topological_nr = n.topological_nr;
    r.variable = n.variable;
    r.output = n.output;
    r.edges = static_cast<uint32_t>(n.edges.size());
    r.found_late = n.found_late;
    return put(r, n.edges.data(), n.edges.size() * sizeof(wire::Edge));
  }
  /// `t.impl` 0: the tensor isn't known.
  bool saved(const FakeSaved& s, const FakeTensor& t) {
    wire::Saved r{};
    std::vector<int64_t> more;
    if (t.impl) {
      const auto [tensor, dims] = described(0, t);
      more.resize(sizeof tensor / 8);
      std::memcpy(more.data(), &tensor, sizeof tensor);
      more.insert(more.end(), dims.begin(), dims.end());
    }
    r.head = head(wire::RecordKind::kSaved, sizeof r + more.size() * 8, s.name);
    r.node = s.node, r.sequence_nr = s.sequence_nr, r.bytes = s.bytes;
    r.number = s.number, r.list_index = s.list_index, r.version = s.version, r.flags = s.flags;
    return put(r, more.data(), more.size() * 8);
  }
  bool node_run(uint64_t node, uint64_t sequence_nr, uint64_t graph_task) {
    return put(wire::NodeRun{head(wire::RecordKind::kNodeRun, sizeof(wire::NodeRun), 0), node, sequence_nr, graph_task});
  }
  bool span_begin(uint32_t name, wire::SpanKind kind, uint32_t detail = 0, uint64_t object = 0) {
    wire::Busy busy(producer_);
    return put(wire::SpanBegin{head(wire::RecordKind::kSpanBegin, sizeof(wire::SpanBegin), name), wire::ticks(), kind, detail, object, 0, 0});
  }
  bool span_end(uint32_t mode_family = 0) {
    wire::Busy busy(producer_);
    return put(wire::SpanEnd{head(wire::RecordKind::kSpanEnd, sizeof(wire::SpanEnd), mode_family), wire::ticks()});
  }
  /// Any words at all, for hostile input.
  bool raw(const std::vector<uint64_t>& words, uint32_t published) {
    uint64_t* at = producer_.reserve(static_cast<uint32_t>(words.size()));
    if (!at) return false;
    std::memcpy(at, words.data(), words.size() * 8);
    producer_.publish(published);
    return true;
  }
  wire::Producer& producer() { return producer_; }

 private:
  static wire::Head head(wire::RecordKind kind, size_t bytes, uint32_t a) { return {kind, static_cast<uint16_t>(wire::words_of(bytes)), a}; }
  template <class Record>
  bool put(const Record& r, const void* more = nullptr, size_t more_bytes = 0) {
    uint64_t* at = producer_.reserve(r.head.words);
    if (!at) return false;
    std::memcpy(at, &r, sizeof r);
    if (more_bytes) std::memcpy(reinterpret_cast<uint8_t*>(at) + sizeof r, more, more_bytes);
    producer_.publish(r.head.words);
    return true;
  }
  wire::Producer producer_;
};

class FakeProcess {
 public:
  /// Connects to `drain`. With `define`: dispatch keys, names of dtypes and so on, and tls 1 = a thread's defaults.
  explicit FakeProcess(Drain& drain, uint64_t ring_bytes = 1 << 20, int pid = 4242, bool define = true) {
    if (!wire::create_memory(ring_bytes, &memory_) || !arena_.open(memory_)) throw std::runtime_error("no memory for a fake process");
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no socket pair");
    connection_ = ends[0];
    wire::Hello hello{wire::kMagic, wire::kVersion, pid, 1, ring_bytes, "python fake.py"};
    attached_ = drain.attach(dup(memory_.fd), ends[1], &hello, sizeof hello);
    if (define) define_basics();
  }
  ~FakeProcess() {
    exit();
    arena_.forget();
    memory_.close();
  }
  FakeProcess(const FakeProcess&) = delete;

  /// As when the process ends or is killed: the connection closes, whatever its threads were doing.
  void exit() {
    if (connection_ >= 0) ::close(connection_);
    connection_ = -1;
  }
  const Status& attached() const { return attached_; }
  wire::Memory& memory() { return memory_; }
  wire::ArenaWriter& arena() { return arena_; }
  int connection() const { return connection_; }

  FakeThread thread(const std::string& name = "", wire::OnFull on_full = wire::OnFull::kWait) {
    const uint32_t index = wire::claim_ring(memory_.control);
    if (!name.empty()) this->name(wire::DefKind::kThread, index, name);
    return FakeThread(*this, index, on_full);
  }
  uint32_t string(const std::string& text) {
    uint32_t& id = strings_[text];
    if (!id) {
      id = static_cast<uint32_t>(strings_.size());
      arena_.define_string(id, text.data(), text.size());
    }
    return id;
  }
  struct Argument {
    Argument(const char* n, uint32_t f = 0) : name(n), flags(f) {}
    std::string name;
    uint32_t flags;
  };
  uint32_t op(const std::string& name, const std::string& overload, const std::vector<Argument>& arguments = {}) {
    std::vector<wire::DefArgument> all;
    for (const Argument& a : arguments) all.push_back({string(a.name), a.flags});
    wire::DefOp d{};
    d.head = {wire::DefKind::kOp, 0, 0, ++ops_, static_cast<uint32_t>(all.size())};
    d.name = string(name);
    d.overload = string(overload);
    d.schema = string(name + (overload.empty() ? "" : "." + overload) + "(...) -> Tensor");
    d.returns = 1;
    arena_.define(d, all.data(), all.size() * sizeof(wire::DefArgument));
    return ops_;
  }
  uint32_t kernel(uint32_t op, uint32_t key, const std::string& rule = "kernel", const std::string& registered_at = "fake.cpp:1", bool fallthrough = false) {
    wire::DefKernel d{};
    d.head = {wire::DefKind::kKernel, 0, 0, ++kernels_, 0};
    d.op = op;
    d.key = key;
    d.rule = string(rule);
    d.convention = wire::kUnboxed;
    d.registered_at = string(registered_at);
    d.fallthrough = fallthrough;
    arena_.define(d);
    return kernels_;
  }
  uint32_t tls(uint64_t included, uint64_t excluded, bool grad = true, bool inference = false, const std::string& modes = "") {
    wire::DefTls d{};
    d.head = {wire::DefKind::kTls, 0, 0, ++tls_, 0};
    d.included = included;
    d.excluded = excluded;
    d.grad_mode = grad;
    d.inference_mode = inference;
    d.modes = modes.empty() ? 0 : string(modes);
    arena_.define(d);
    return tls_;
  }
  uint32_t stack(uint32_t parent, const std::string& file, uint32_t line, const std::string& function) {
    wire::DefStack d{};
    d.head = {wire::DefKind::kStack, 0, 0, ++stacks_, 0};
    d.parent = parent;
    d.file = string(file);
    d.function = string(function);
    d.line = line;
    arena_.define(d);
    return stacks_;
  }
  void table(uint32_t op, const std::vector<wire::DefSlot>& slots, const std::vector<uint64_t>& masks, uint64_t time = 0, const std::vector<wire::DefRegistration>& registrations = {}) {
    wire::DefTable d{};
    d.head = {wire::DefKind::kTable, 0, 0, op, static_cast<uint32_t>(slots.size())};
    d.mask_count = static_cast<uint32_t>(masks.size());
    d.registration_count = static_cast<uint32_t>(registrations.size());
    d.time = time;
    const size_t head = slots.size() * sizeof(wire::DefSlot) + masks.size() * 8;
    std::vector<uint8_t> tail(head + registrations.size() * sizeof(wire::DefRegistration));
    std::memcpy(tail.data(), slots.data(), slots.size() * sizeof(wire::DefSlot));
    std::memcpy(tail.data() + slots.size() * sizeof(wire::DefSlot), masks.data(), masks.size() * 8);
    if (!registrations.empty()) std::memcpy(tail.data() + head, registrations.data(), tail.size() - head);
    arena_.define(d, tail.data(), tail.size());
  }
  void name(wire::DefKind kind, uint32_t id, const std::string& text) {
    wire::DefName d{};
    d.head = {kind, 0, 0, id, 0};
    d.name = string(text);
    arena_.define(d);
  }
  void fact(const std::string& key, const std::string& value) {
    wire::DefFact d{};
    d.head = {wire::DefKind::kFact, 0, 0, 0, 0};
    d.key = string(key);
    d.value = string(value);
    arena_.define(d);
  }
  void key(uint32_t id, const std::string& name, int functionality_bit, int backend_bit, int slot) {
    wire::DefKey d{};
    d.head = {wire::DefKind::kKey, 0, 0, id, 0};
    d.name = string(name);
    d.functionality_bit = functionality_bit;
    d.backend_bit = backend_bit;
    d.slot = slot;
    arena_.define(d);
  }
  /// Every key as PyTorch 2.13 numbers it.
  void define_keys() {
    static const char* const kBackends[] = {"CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta"};
    static const char* const kFunctionalities[] = {
        "*", "FPGA", "Vulkan", "Metal", "*Quantized", "CustomRNGKeyId", "MkldnnCPU", "*Sparse", "*SparseCsr", "*NestedTensor", "BackendSelect", "Fake", "Python",
        "FuncTorchDynamicLayerBackMode", "Functionalize", "Conjugate", "Negative", "ZeroTensor", "ADInplaceOrView", "AutogradOther", "*Autograd", "AutogradNestedTensor", "Tracer",
        "AutocastCPU", "AutocastMTIA", "AutocastMAIA", "AutocastXPU", "AutocastIPU", "AutocastHPU", "AutocastXLA", "AutocastMPS", "AutocastCUDA", "AutocastPrivateUse1",
        "FuncTorchBatched", "BatchedNestedTensor", "FuncTorchVmapMode", "Batched", "VmapMode", "FuncTorchGradWrapper", "DeferredInit", "PythonTLSSnapshot",
        "FuncTorchDynamicLayerFrontMode", "TESTING_ONLY_GenericWrapper", "TESTING_ONLY_GenericMode", "PreDispatch", "PythonDispatcher"};
    static const char* const kAliases[] = {"Autograd", "CompositeImplicitAutograd", "FuncTorchBatchedDecomposition", "CompositeImplicitAutogradNestedTensor",
                                           "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"};
    key(0, "Undefined", -1, -1, 0);
    int slot = 1;
    uint32_t first = 48, number = 1;  // of the next group of runtime keys; of the next functionality
    for (const char* name : kFunctionalities) {
      const int bit = 15 + static_cast<int>(number);
      if (name[0] == '*') {
        for (int b = 0; b < 16; ++b) key(first + 1 + static_cast<uint32_t>(b), name + 1 + std::string(kBackends[b]), bit, b, slot + b);
        slot += 16;
        first += 17;
      } else {
        key(number, name, bit, -1, slot++);
      }
      ++number;
    }
    uint32_t alias = 150;
    for (const char* name : kAliases) key(alias++, name, -1, -1, -1);
  }
  void define_basics() {
    define_keys();
    static const char* const kDtypes[] = {"torch.uint8", "torch.int8", "torch.int16", "torch.int32", "torch.int64", "torch.float16", "torch.float32", "torch.float64"};
    for (uint32_t i = 0; i < std::size(kDtypes); ++i) name(wire::DefKind::kDtype, i, kDtypes[i]);
    name(wire::DefKind::kDtype, 11, "torch.bool");
    name(wire::DefKind::kDevice, 0, "cpu");
    name(wire::DefKind::kDevice, 1, "cuda");
    name(wire::DefKind::kLayout, 0, "torch.strided");
    tls(kIncluded, kExcluded);
  }

 private:
  wire::Memory memory_;
  wire::ArenaWriter arena_;
  int connection_ = -1;
  Status attached_;
  std::map<std::string, uint32_t> strings_;
  uint32_t ops_ = 0, kernels_ = 0, tls_ = 0, stacks_ = 0;
};

inline FakeThread::FakeThread(FakeProcess& process, uint32_t index, wire::OnFull on_full) {
  const auto gone = [](void* context) {  // as the agent asks: is the connection still there?
    char c;
    return recv(static_cast<FakeProcess*>(context)->connection(), &c, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  };
  producer_.open(process.memory(), index, 1000 + index, on_full, gone, &process);
}

}  // namespace peel::testing
