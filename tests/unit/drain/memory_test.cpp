// The allocator's history, and GPU activity joined to hops.
#include "tests/unit/drain/fake_process.h"
#include "tests/unit/drain/session_sql.h"

using namespace peel;
using namespace peel::testing;
using wire::GpuKind;
using wire::HopKind;
using wire::MemoryAction;

namespace {

struct Program : Recording {
  Program() : p(*drain), t(p.thread()), op(p.op("aten::add", "Tensor", {"self", "other", "alpha"})) {}
  ~Program() { p.exit(); }
  void end() {
    t.close();
    p.exit();
    finish();
  }
  FakeProcess p;
  FakeThread t;
  uint32_t op;
};

/// What CUPTI's own thread reports.
wire::GpuActivity activity(uint64_t start, uint64_t end, uint32_t correlation, uint32_t name = 0) {
  wire::GpuActivity a{};
  a.start = start;
  a.end = end;
  a.correlation = correlation;
  a.name = name;
  a.stream = 7;
  return a;
}

}  // namespace

TEST_CASE("memory: each event has its hop, and the storage that was seen there") {
  Program r;
  r.t.begin({.op = r.op});
  r.t.memory(MemoryAction::kAlloc, 0x7000, 100);
  r.t.result(0, {.impl = 0x1000, .storage = 0x1800, .sizes = {25}, .data = 0x7000});
  r.t.end();
  r.t.memory(MemoryAction::kFreeCompleted, 0x7000, 0);  // a CPU block does not say how large it was
  r.t.memory(MemoryAction::kFreeCompleted, 0x9000, 0);  // older than the recording
  r.end();
  CHECK(r.rows("SELECT m.id, m.event, a.name, d.value, m.address, m.size, m.storage FROM memory_event m JOIN memory_action a ON a.id = m.action JOIN string d ON d.id = m.device") ==
        Rows{"1|1|alloc|cpu|28672|100|1", "2|-|free_completed|cpu|28672|100|1", "3|-|free_completed|cpu|36864|0|-"});
  CHECK(r.one("SELECT death_ns = (SELECT time_ns FROM memory_event WHERE id = 2) FROM tensor") == "1");
}

TEST_CASE("memory: what is met at the address of a storage that was given back is another tensor") {
  Program r;
  for (int i = 0; i < 2; ++i) {
    r.t.memory(MemoryAction::kAlloc, 0x7000, 100);
    r.t.begin({.op = r.op});
    r.t.tensor(0, {.impl = 0x1000, .storage = 0x1800, .sizes = {25}, .data = 0x7000});  // made where the recorder does not see
    r.t.end();
    r.t.memory(MemoryAction::kFreeCompleted, 0x7000, 0);
  }
  r.end();
  CHECK(r.rows("SELECT event, tensor FROM argument") == Rows{"1|1", "2|2"});
  CHECK(r.rows("SELECT id, storage, death_ns IS NULL FROM tensor") == Rows{"1|1|0", "2|2|0"});
  CHECK(r.rows("SELECT * FROM loss").empty());  // nothing was inferred
}

TEST_CASE("memory: a tensor that is used inside the hop that made it was born there") {
  Program r;
  r.t.begin({.op = r.op, .key = key::AutogradCPU});
  r.t.begin({.op = r.op, .kind = HopKind::kRedispatch});
  r.t.memory(MemoryAction::kAlloc, 0x7000, 100);  // a kernel makes its result by itself, then fills it by an operator
  const FakeTensor made{.impl = 0x1000, .storage = 0x1800, .sizes = {25}, .data = 0x7000};
  r.t.begin({.op = r.p.op("aten::copy_", "", {{"self", 1}, "src"})});
  r.t.tensor(0, made);
  r.t.result(0, made);
  r.t.end();
  r.t.result(0, made);
  r.t.end();
  r.t.result(0, made);
  r.t.end();
  r.t.begin({.op = r.op});  // a view of it is born where it is returned, as ever
  r.t.tensor(0, made);
  r.t.result(0, {.impl = 0x2000, .storage = 0x1800, .sizes = {5, 5}, .data = 0x7000});
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT id, birth_event, first_event, base FROM tensor") == Rows{"1|2|3|-", "2|4|4|1"});
}

TEST_CASE("memory: a tensor that was resized stays the same") {
  Program r;
  r.t.memory(MemoryAction::kAlloc, 0x7000, 100);
  r.t.begin({.op = r.op});
  r.t.tensor(0, {.impl = 0x1000, .storage = 0x1800, .sizes = {25}, .data = 0x7000});
  r.t.memory(MemoryAction::kAlloc, 0x8000, 200);
  r.t.write(0, 0x1000, 0x1800, 0, 1);
  r.t.memory(MemoryAction::kFreeCompleted, 0x7000, 0);
  r.t.end();
  r.t.begin({.op = r.op});
  r.t.tensor(0, {.impl = 0x1000, .storage = 0x1800, .sizes = {50}, .version = 1, .data = 0x8000});
  r.t.end();
  r.end();
  CHECK(r.rows("SELECT event, tensor FROM argument") == Rows{"1|1", "2|1"});
}

TEST_CASE("memory: an out of memory says what was left, a snapshot holds segments and blocks") {
  Program r;
  r.t.memory(MemoryAction::kSnapshot, 0, 0, 1);
  wire::Segment s{};
  s.head = {wire::RecordKind::kSegment, sizeof s / 8, wire::kLargePool};
  s.address = 0x100000;
  s.total_size = 4096;
  wire::Block b{};
  b.head = {wire::RecordKind::kBlock, sizeof b / 8, static_cast<uint32_t>(wire::BlockState::kActivePendingFree)};
  b.address = 0x100000;
  b.size = 512;
  b.requested_size = 500;
  std::vector<uint64_t> words(s.head.words);
  std::memcpy(words.data(), &s, sizeof s);
  r.t.raw(words, s.head.words);
  words.resize(b.head.words);
  std::memcpy(words.data(), &b, sizeof b);
  r.t.raw(words, b.head.words);
  r.t.memory(MemoryAction::kOom, 0, 1 << 30, 1, 0, 3, 12345);
  r.end();
  CHECK(r.rows("SELECT s.snapshot, s.address, s.total_size, t.value, p.value, s.is_expandable FROM segment s JOIN string t ON t.id = s.segment_type LEFT JOIN string p ON p.id = s.pool") ==
        Rows{"1|1048576|4096|large|-|0"});
  CHECK(r.rows("SELECT b.snapshot, b.segment, b.address, b.size, b.requested_size, s.value FROM block b JOIN string s ON s.id = b.state") ==
        Rows{"1|1048576|1048576|512|500|active_pending_free"});
  CHECK(r.rows("SELECT m.size, m.free, p.value FROM memory_event m JOIN string p ON p.id = m.pool WHERE m.action = 8") == Rows{"1073741824|12345|(0, 3)"});
}

TEST_CASE("GPU: a call belongs to the innermost hop around it, a kernel to the hop of its call, whichever is reported first") {
  Program r;
  r.p.fact(wire::kGpuFact, "CUPTI");
  FakeThread cupti = r.p.thread("cupti");
  const uint32_t kernel = r.p.string("_ZN2at6native29vectorized_elementwise_kernelILi4EEEvif"), launch = r.p.string("cudaLaunchKernel_v7000");
  const uint32_t os = static_cast<uint32_t>(r.t.producer().control()->thread_id.load());
  r.t.begin({.op = r.op, .key = key::AutogradCPU});
  r.t.begin({.op = r.op, .kind = HopKind::kRedispatch});
  const uint64_t inside = wire::ticks();
  r.t.end();
  const uint64_t between = wire::ticks();
  r.t.end();
  const uint64_t outside = wire::ticks();
  auto call = [&](uint64_t at, uint32_t id) {
    wire::GpuActivity c = activity(at, at, id, launch);
    c.thread = os;
    return c;
  };
  cupti.gpu(activity(outside, outside + 10, 1, kernel), GpuKind::kKernel);  // before its call
  cupti.gpu(call(inside, 1), GpuKind::kRuntime);
  cupti.gpu(call(between, 2), GpuKind::kRuntime);
  cupti.gpu(activity(outside, outside + 20, 2, kernel), GpuKind::kKernel);
  cupti.gpu(call(outside, 3), GpuKind::kDriver);
  wire::GpuActivity copy = activity(outside, outside + 30, 3);
  copy.bytes = 64;
  copy.kind = 1;
  cupti.gpu(copy, GpuKind::kCopy);
  cupti.gpu(activity(outside, outside + 40, 99, kernel), GpuKind::kKernel);  // its call is never reported
  cupti.tick();
  cupti.close();
  r.end();
  CHECK(r.rows("SELECT correlationId, event, n.value, s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN string n ON n.id = k.demangledName JOIN string s ON s.id = k.shortName ORDER BY 1") ==
        Rows{"1|2|void at::native::vectorized_elementwise_kernel<4>(int, float)|vectorized_elementwise_kernel", "2|1|void at::native::vectorized_elementwise_kernel<4>(int, float)|vectorized_elementwise_kernel",
             "99|-|void at::native::vectorized_elementwise_kernel<4>(int, float)|vectorized_elementwise_kernel"});
  CHECK(r.rows("SELECT correlationId, event FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY 1") == Rows{"1|2", "2|1"});
  CHECK(r.rows("SELECT correlationId, event FROM CUPTI_ACTIVITY_KIND_DRIVER") == Rows{"3|-"});
  CHECK(r.rows("SELECT correlationId, bytes, copyKind, event FROM CUPTI_ACTIVITY_KIND_MEMCPY") == Rows{"3|64|1|-"});
  CHECK(r.rows("SELECT name, count FROM loss") == Rows{"unlinked GPU activity|1"});
}

TEST_CASE("GPU: memory from CUDA and its pools has the hop of the call, whichever is reported first") {
  Program r;
  r.p.fact(wire::kGpuFact, "CUPTI");
  FakeThread cupti = r.p.thread("cupti");
  const auto os = static_cast<uint32_t>(r.t.producer().control()->thread_id.load());
  r.t.begin({.op = r.op});
  const uint64_t inside = wire::ticks();
  r.t.end();
  const auto memory = [&](uint32_t correlation, uint64_t address, uint64_t pool) {
    wire::GpuMemory m{};
    m.at = inside, m.address = address, m.bytes = 512, m.memory_kind = 3, m.correlation = correlation, m.stream = 7;
    m.pool = pool, m.pool_size = 1 << 20, m.pool_used = 512, m.pool_type = pool ? 1 : 0;
    return m;
  };
  const auto call = [&](uint32_t correlation) {
    wire::GpuActivity c = activity(inside, inside, correlation, r.p.string("cudaMallocAsync_v11020"));
    c.thread = os;
    cupti.gpu(c, GpuKind::kRuntime);
  };
  cupti.gpu_memory(memory(1, 0x7000, 0xb000), wire::GpuMemoryAction::kAlloc);
  call(1);
  call(2);
  cupti.gpu_memory(memory(2, 0x7000, 0xb000), wire::GpuMemoryAction::kFree);
  cupti.gpu_memory(memory(2, 0, 0xb000), wire::GpuMemoryAction::kPoolTrimmed);
  cupti.gpu_memory(memory(9, 0x9000, 0), wire::GpuMemoryAction::kAlloc);  // its call is never reported
  wire::GpuMemory imported = memory(2, 0x8000, 0xc000);
  imported.pool_type = 2, imported.pool_size = 4711;
  cupti.gpu_memory(imported, wire::GpuMemoryAction::kAlloc);
  cupti.gpu_memory(memory(2, 0, 0), static_cast<wire::GpuMemoryAction>(77));
  cupti.tick();
  cupti.close();
  r.end();
  CHECK(r.rows("SELECT address, bytes, memKind, o.label, localMemoryPoolAddress, localMemoryPoolSize, localMemoryPoolUtilizedSize, importedMemoryPoolAddress, importedMemoryPoolProcessId, event "
               "FROM CUDA_GPU_MEMORY_USAGE_EVENTS m JOIN ENUM_CUDA_DEV_MEM_EVENT_OPER o ON o.id = m.memoryOperationType ORDER BY m.rowid") ==
        Rows{"28672|512|2|Allocation|45056|1048576|512|-|-|1", "28672|512|2|Deallocation|45056|1048576|512|-|-|1", "32768|512|2|Allocation|0|-|512|49152|4711|1",
             "36864|512|2|Allocation|0|1048576|512|-|-|-"});
  CHECK(r.rows("SELECT p.address, o.label, t.label, minBytesToKeep, event FROM CUDA_GPU_MEMORY_POOL_EVENTS p JOIN ENUM_CUDA_MEMPOOL_OPER o ON o.id = p.operationType JOIN ENUM_CUDA_MEMPOOL_TYPE t ON t.id = p.poolType") ==
        Rows{"45056|Trimmed|Local|512|1"});
  CHECK(r.rows("SELECT name, count FROM loss") == Rows{"damaged records|1"});
}

TEST_CASE("GPU: a node of a replayed graph leads to the hop that captured it") {
  Program r;
  r.p.fact(wire::kGpuFact, "CUPTI");
  FakeThread cupti = r.p.thread("cupti");
  r.t.begin({.op = r.op});
  r.t.graph_node(11, 0);
  r.t.end();
  r.t.graph_node(21, 11);  // instantiated
  const uint64_t now = wire::ticks();
  wire::GpuActivity launch = activity(now, now, 5), kernel = activity(now, now + 9, 5);
  launch.thread = static_cast<uint32_t>(r.t.producer().control()->thread_id.load());
  kernel.graph_node = 21;
  cupti.gpu(launch, GpuKind::kRuntime);
  cupti.gpu(kernel, GpuKind::kKernel);
  cupti.tick();
  cupti.close();
  r.end();
  CHECK(r.rows("SELECT id, origin, event FROM graph_node") == Rows{"11|-|1", "21|11|1"});
  CHECK(r.rows("SELECT graphNodeId, event FROM CUPTI_ACTIVITY_KIND_KERNEL") == Rows{"21|1"});
  CHECK(r.rows("SELECT event FROM CUPTI_ACTIVITY_KIND_RUNTIME") == Rows{"-"});
}

TEST_CASE("GPU: reports that make no sense are skipped and counted") {
  Program r;
  FakeThread cupti = r.p.thread("cupti");
  cupti.gpu(activity(20, 10, 1), GpuKind::kKernel);
  cupti.gpu(activity(10, 20, 1), static_cast<GpuKind>(77));
  cupti.tick();
  cupti.close();
  r.end();
  CHECK(r.rows("SELECT name, count FROM loss") == Rows{"damaged records|2"});
  CHECK(r.rows("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL").empty());
}
