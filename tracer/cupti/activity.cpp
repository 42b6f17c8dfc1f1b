// Kernels, copies and calls of CUDA's API as CUPTI reports them.
//
// CUPTI is the library that PyTorch has loaded already; nothing of it is linked. It fills buffers that are ours and hands them back on
// a thread of its own, whose ring takes the records. One tool at a time can have its activity reports: when PyTorch's profiler wants
// them it gets them (sitecustomize.py), and afterwards they are taken up again.
//
// Only those functions of the API are reported that launch, copy, set, wait, record, or take and give back memory: every call that is
// reported costs the program some hundred nanoseconds.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracer/cupti/gpu.h"
#include "tracer/wire/clock.h"

namespace peel::agent {
namespace {

#define PEEL_CUPTI(X) \
  X(cuptiActivityEnable) X(cuptiActivityDisable) X(cuptiActivityRegisterCallbacks) X(cuptiActivityRegisterTimestampCallback) X(cuptiActivitySetAttribute) \
  X(cuptiActivityGetNextRecord) X(cuptiActivityGetNumDroppedRecords) X(cuptiActivityFlushAll) X(cuptiActivityFlushPeriod) X(cuptiSetThreadIdType) \
  X(cuptiGetCallbackName) X(cuptiGetResultString) X(cuptiSubscribe) X(cuptiEnableCallback) X(cuptiUnsubscribe) X(cuptiGetGraphNodeId)
struct Cupti {
#define X(name) decltype(&::name) name = nullptr;
  PEEL_CUPTI(X)
#undef X
  CUptiResult (*stream_id)(CUcontext, CUstream, uint8_t, uint32_t*) = nullptr;
  // newer than the oldest CUPTI that will do
  CUptiResult (*enable_runtime)(CUpti_CallbackId, uint8_t) = nullptr;
  CUptiResult (*enable_driver)(CUpti_CallbackId, uint8_t) = nullptr;
} cupti;

const char* load() {
  if (cupti.cuptiActivityEnable) return nullptr;
  void* library = nullptr;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
    if (!library) library = dlopen(name, RTLD_NOW);
  if (!library) return "CUPTI is not there: GPU kernels are not recorded";
  Cupti c;
#define X(name) if (!(c.name = reinterpret_cast<decltype(c.name)>(dlsym(library, #name)))) return "this CUPTI lacks " #name ": GPU kernels are not recorded";
  PEEL_CUPTI(X)
#undef X
  c.enable_runtime = reinterpret_cast<decltype(c.enable_runtime)>(dlsym(library, "cuptiActivityEnableRuntimeApi"));
  c.enable_driver = reinterpret_cast<decltype(c.enable_driver)>(dlsym(library, "cuptiActivityEnableDriverApi"));
  c.stream_id = reinterpret_cast<decltype(c.stream_id)>(dlsym(library, "cuptiGetStreamIdEx"));
  cupti = c;
  return nullptr;
}

// ---- time: CUPTI wants nanoseconds, the rings have ticks; the map between them is ours and exact both ways

uint64_t g_tick0 = 0, g_factor = 0;  // nanoseconds a tick, 32 bits after the point

void measure_clock() {
  if (g_factor) return;
  const int64_t ns = wire::monotonic_ns();
  const uint64_t ticks = wire::ticks();
  int64_t ns1;
  while ((ns1 = wire::monotonic_ns()) - ns < 5'000'000) {
  }
  const uint64_t passed = wire::ticks() - ticks;
  g_factor = static_cast<uint64_t>((static_cast<unsigned __int128>(ns1 - ns) << 32) / (passed ? passed : 1));
  g_tick0 = ticks;
}
constexpr uint64_t kEpoch = 1'000'000'000'000;  // so that times before the measurement stay above 0
uint64_t CUPTIAPI now() { return kEpoch + static_cast<uint64_t>((static_cast<unsigned __int128>(wire::ticks() - g_tick0) * g_factor) >> 32); }
uint64_t ticks_of(uint64_t ns) {
  if (ns == 0) return 0;
  const int64_t since = static_cast<int64_t>(ns - kEpoch);
  return g_tick0 + static_cast<uint64_t>(static_cast<int64_t>((static_cast<__int128>(since) << 32) / static_cast<__int128>(g_factor)));
}

// ---- names, on CUPTI's thread only

uint32_t api_name(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  static std::map<std::pair<int, uint32_t>, uint32_t> known;
  const auto [at, fresh] = known.try_emplace({domain, id}, 0);
  if (fresh) {
    const char* name = nullptr;
    if (cupti.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name) name = "?";
    at->second = bridge().string(name, strlen(name));
  }
  return at->second;
}
uint32_t kernel_name(const char* name) {
  static std::unordered_map<std::string, uint32_t> known;
  if (!name) return 0;
  const auto [at, fresh] = known.try_emplace(name, 0);
  if (fresh) at->second = bridge().string(name, strlen(name));
  return at->second;
}

// ---- records

void put(Thread* t, wire::GpuKind kind, wire::GpuActivity& a) {
  a.head = {wire::RecordKind::kGpu, sizeof a / 8, static_cast<uint32_t>(kind)};
  bridge().put(t, &a, sizeof a / 8);
}

void put(Thread* t, wire::GpuMemoryAction action, wire::GpuMemory& m) {
  m.head = {wire::RecordKind::kGpuMemory, sizeof m / 8, static_cast<uint32_t>(action)};
  bridge().put(t, &m, sizeof m / 8);
}

template <class Record>
wire::GpuActivity common(const Record* r) {
  wire::GpuActivity a{};
  a.start = ticks_of(r->start);
  a.end = ticks_of(r->end);
  a.correlation = r->correlationId;
  return a;
}
template <class Record>
wire::GpuActivity on_stream(const Record* r) {
  wire::GpuActivity a = common(r);
  a.device = r->deviceId;
  a.context = r->contextId;
  a.stream = r->streamId;
  return a;
}

void report(Thread* t, const CUpti_Activity* record) {
  using wire::GpuKind;
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* k = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      wire::GpuActivity a = on_stream(k);
      a.name = kernel_name(k->name);
      a.graph_node = k->graphNodeId;
      const int32_t grid[] = {k->gridX, k->gridY, k->gridZ}, block[] = {k->blockX, k->blockY, k->blockZ};
      memcpy(a.grid, grid, sizeof grid);
      memcpy(a.block, block, sizeof block);
      a.registers = k->registersPerThread;
      a.static_shared = static_cast<uint32_t>(k->staticSharedMemory);
      a.dynamic_shared = static_cast<uint32_t>(k->dynamicSharedMemory);
      a.local_per_thread = k->localMemoryPerThread;
      a.local_total = k->localMemoryTotal;
      return put(t, GpuKind::kKernel, a);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* c = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      if (is_our_stream(c->deviceId, c->streamId)) return;
      wire::GpuActivity a = on_stream(c);
      a.graph_node = c->graphNodeId;
      a.bytes = c->bytes;
      a.kind = c->copyKind;
      a.from = c->srcKind;
      a.to = c->dstKind;
      return put(t, GpuKind::kCopy, a);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* s = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      wire::GpuActivity a = on_stream(s);
      a.graph_node = s->graphNodeId;
      a.bytes = s->bytes;
      a.result = static_cast<int32_t>(s->value);
      a.to = s->memoryKind;
      return put(t, GpuKind::kSet, a);
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
      const auto* s = reinterpret_cast<const CUpti_ActivitySynchronization*>(record);
      wire::GpuActivity a = common(s);
      if (is_our_wait(s->streamId, a.start)) return;
      a.context = s->contextId;
      a.stream = s->streamId;
      a.kind = s->type;
      a.event = s->cudaEventId;
      return put(t, GpuKind::kSync, a);
    }
    case CUPTI_ACTIVITY_KIND_MEMORY2: {
      const auto* m = reinterpret_cast<const CUpti_ActivityMemory3*>(record);
      const auto& pool = m->memoryPoolConfig;
      const bool of_pool = pool.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID;
      wire::GpuMemory g{};
      g.at = ticks_of(m->timestamp);
      g.address = m->address;
      g.bytes = m->bytes;
      g.pc = m->PC;
      if (of_pool) {
        g.pool = pool.address;
        g.threshold = pool.releaseThreshold;
        g.pool_size = pool.pool.size;
        g.pool_used = pool.utilizedSize;
      }
      g.correlation = m->correlationId;
      g.device = m->deviceId;
      g.context = m->contextId;
      g.stream = m->streamId;
      g.memory_kind = m->memoryKind;
      g.pool_type = of_pool ? pool.memoryPoolType : 0;
      if (m->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID) return;
      return put(t, m->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION ? wire::GpuMemoryAction::kAlloc : wire::GpuMemoryAction::kFree, g);
    }
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL: {
      const auto* m = reinterpret_cast<const CUpti_ActivityMemoryPool2*>(record);
      wire::GpuMemory g{};
      g.at = ticks_of(m->timestamp);
      g.bytes = m->minBytesToKeep;
      g.pool = m->address;
      g.threshold = m->releaseThreshold;
      g.pool_size = m->size;
      g.pool_used = m->utilizedSize;
      g.correlation = m->correlationId;
      g.device = m->deviceId;
      g.pool_type = m->memoryPoolType;
      switch (m->memoryPoolOperationType) {
        case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED: return put(t, wire::GpuMemoryAction::kPoolCreated, g);
        case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED: return put(t, wire::GpuMemoryAction::kPoolDestroyed, g);
        case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED: return put(t, wire::GpuMemoryAction::kPoolTrimmed, g);
        default: return;
      }
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto* c = reinterpret_cast<const CUpti_ActivityAPI*>(record);
      const bool runtime = record->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
      wire::GpuActivity a = common(c);
      if (is_our_call(c->threadId, a.start)) return;
      a.name = api_name(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, c->cbid);
      a.thread = c->threadId;
      a.result = static_cast<int32_t>(c->returnValue);
      return put(t, runtime ? GpuKind::kRuntime : GpuKind::kDriver, a);
    }
    default: return;
  }
}

// Buffers are used again, and zeroed on CUPTI's thread: memory that the system hands out anew costs the launching thread a fault a page,
// and zeroing it there (CUPTI's way unless told otherwise) some ten microseconds.
constexpr size_t kBufferBytes = 1 << 20;
constexpr int kMostBuffers = 128;  // then CUPTI drops, and says how many
constexpr size_t kSpareBuffers = 8, kFirstBuffers = 4;
std::atomic<int> g_buffers{0};
std::mutex g_spare_mutex;
std::vector<uint8_t*> g_spare;

void tell_zeroed(bool zeroed) {
  uint8_t value = zeroed;
  size_t bytes = sizeof value;
  cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &value);
}

void make_first_buffers() {
  std::lock_guard<std::mutex> lock(g_spare_mutex);
  while (g_spare.size() < kFirstBuffers) {
    auto* buffer = static_cast<uint8_t*>(malloc(kBufferBytes));
    if (!buffer) return;
    memset(buffer, 0, kBufferBytes);
    g_spare.push_back(buffer);
  }
}

void CUPTIAPI want_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *most_records = 0;
  *buffer = nullptr;
  *size = 0;
  if (g_buffers.fetch_add(1) >= kMostBuffers) {
    g_buffers.fetch_sub(1);
    return;
  }
  {
    std::lock_guard<std::mutex> lock(g_spare_mutex);
    if (!g_spare.empty()) *buffer = g_spare.back(), g_spare.pop_back();
  }
  if (!*buffer) *buffer = static_cast<uint8_t*>(calloc(kBufferBytes, 1));
  if (*buffer) *size = kBufferBytes;
  else g_buffers.fetch_sub(1);
}

void CUPTIAPI have_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t valid) {
  Thread* t = bridge().thread();
  CUpti_Activity* record = nullptr;
  while (t && valid && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) report(t, record);
  size_t dropped = 0;
  if (t && cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped) bridge().lost(t, "GPU records that CUPTI dropped", dropped);
  if (t) bridge().tick(t);
  memset(buffer, 0, kBufferBytes);
  {
    std::lock_guard<std::mutex> lock(g_spare_mutex);
    if (g_spare.size() < kSpareBuffers) g_spare.push_back(buffer), buffer = nullptr;
  }
  free(buffer);
  g_buffers.fetch_sub(1);
}

// ---- nodes of graphs

CUpti_SubscriberHandle g_subscriber = nullptr;

void CUPTIAPI on_resource(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  const auto* graph = static_cast<const CUpti_GraphData*>(static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
  if (!graph) return;
  uint64_t node = 0, origin = 0;
  if (cupti.cuptiGetGraphNodeId(graph->node, &node) != CUPTI_SUCCESS) return;
  if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED && cupti.cuptiGetGraphNodeId(graph->originalNode, &origin) != CUPTI_SUCCESS) return;
  if (Thread* t = bridge().thread()) bridge().graph_node(t, node, origin);
}

void follow_graphs() {
  if (g_subscriber) return;
  if (cupti.cuptiSubscribe(&g_subscriber, reinterpret_cast<CUpti_CallbackFunc>(&on_resource), nullptr) != CUPTI_SUCCESS) {
    g_subscriber = nullptr;
    bridge().fact("gpu_graphs", "another tool has CUPTI's callbacks: kernels of a replayed CUDA graph lead to the replay, not to the hop that captured them");
    return;
  }
  cupti.cuptiEnableCallback(1, g_subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  cupti.cuptiEnableCallback(1, g_subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

// ---- what is reported

bool worth_a_report(const char* name) {
  const std::string_view n = name;
  if (n.find("Node") != n.npos || n.find("Get") != n.npos) return false;
  for (const char* part : {"Launch", "Memcpy", "Memset", "Synchronize", "EventRecord", "EventQuery", "StreamWaitEvent", "Malloc", "Free", "MemPool", "MemAlloc", "MemCreate", "MemRelease"})
    if (n.find(part) != n.npos) return true;
  return false;
}

bool takes_memory(const char* name) {
  for (const char* part : {"cuMemAlloc", "cuMemFree", "cuMemCreate", "cuMemRelease", "cuMemPool"})
    if (strstr(name, part)) return true;
  return false;
}

/// Reports of chosen functions only, where CUPTI can choose; else of all. All are turned on first: functions that are turned on one by one
/// are not reported once there is a CUDA context (seen with CUPTI 13.0).
void enable_calls(CUpti_CallbackDomain domain, CUpti_ActivityKind kind, CUptiResult (*choose)(CUpti_CallbackId, uint8_t), uint32_t most) {
  cupti.cuptiActivityEnable(kind);
  if (!choose) return;
  for (CUpti_CallbackId id = 1; id < most; id++) {
    const char* name = nullptr;
    const bool known = cupti.cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name;
    // runtime functions report themselves; of the driver's own only launches and memory, which libraries ask it for directly
    if (!known || !worth_a_report(name) || (domain == CUPTI_CB_DOMAIN_DRIVER_API && !strstr(name, "Launch") && !takes_memory(name))) choose(id, 0);
  }
}

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                          CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY_POOL};
bool g_started = false;

const char* failed(const char* what, CUptiResult result) {
  const char* why = nullptr;
  cupti.cuptiGetResultString(result, &why);
  static std::string text;
  text = std::string("GPU kernels are not recorded: CUPTI refused ") + what + " (" + (why ? why : "?") + "); another tool may have it";
  return text.c_str();
}

}  // namespace

const char* start_activity() {
  if (g_started) return nullptr;
  if (const char* why = load()) return why;
  measure_clock();
  bridge().fact(wire::kGpuFact, "CUPTI");
  if (CUptiResult r = cupti.cuptiActivityRegisterTimestampCallback(&now); r != CUPTI_SUCCESS) return failed("our clock", r);
  make_first_buffers();
  tell_zeroed(true);
  if (CUptiResult r = cupti.cuptiActivityRegisterCallbacks(&want_buffer, &have_buffer); r != CUPTI_SUCCESS) return failed("our buffers", r);
  cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  for (const CUpti_ActivityKind kind : kKinds)
    if (CUptiResult r = cupti.cuptiActivityEnable(kind); r != CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return failed("reports of kernels", r);
  enable_calls(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_ACTIVITY_KIND_RUNTIME, cupti.enable_runtime, CUPTI_RUNTIME_TRACE_CBID_SIZE);
  enable_calls(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_ACTIVITY_KIND_DRIVER, cupti.enable_driver, CUPTI_DRIVER_TRACE_CBID_SIZE);
  cupti.cuptiActivityFlushPeriod(100);
  follow_graphs();
  g_started = true;
  return nullptr;
}

void stop_activity() {
  if (!g_started) return;
  cupti.cuptiActivityFlushAll(0);
  for (const CUpti_ActivityKind kind : kKinds) cupti.cuptiActivityDisable(kind);
  cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
  cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
  cupti.cuptiActivityFlushAll(1);
  tell_zeroed(false);  // the next tool's may not be
  if (g_subscriber) cupti.cuptiUnsubscribe(g_subscriber);
  g_subscriber = nullptr;
  g_started = false;
}

uint32_t cupti_stream(void* stream) {
  uint32_t id = 0;
  if (!cupti.stream_id || cupti.stream_id(nullptr, static_cast<CUstream>(stream), 0, &id) != CUPTI_SUCCESS) return 0;
  return id;
}

void flush_activity() {
  if (g_started) cupti.cuptiActivityFlushAll(1);
}

}  // namespace peel::agent
