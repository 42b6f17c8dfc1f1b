// The agent's side of the GPU part (tracer/cupti), which is loaded when the program first uses a GPU.
#include <dlfcn.h>

#include "tracer/cupti/bridge.h"
#include "tracer/pytorch/agent.h"

namespace peel::agent {
namespace {

Thread* ready_thread() {
  if (g_detail.load(std::memory_order_relaxed) != kStandard) return nullptr;
  Thread* t = this_thread();
  return t && t->process_epoch == g_process_epoch ? t : nullptr;
}

void put_record(Thread* t, const void* record, uint32_t words) {
  if (uint64_t* at = t->ring.reserve(words)) {
    __builtin_memcpy(at, record, words * 8ull);
    t->ring.publish(words);
  }
}
void put_graph_node(Thread* t, uint64_t id, uint64_t origin) { put_timed(t, wire::GraphNode{{wire::RecordKind::kGraphNode, 0, 0}, 0, id, origin}); }
void put_tick(Thread* t) { put_timed(t, wire::Tick{{wire::RecordKind::kTick, 0, 0}, 0}); }
uint32_t put_string(const char* text, size_t bytes) { return intern({text, bytes}); }
void put_fact(const char* key, const char* value) { fact(key, value); }
void put_allocation(Thread* t, const wire::Allocation& a) { record_memory(t, a); }

constexpr Bridge kBridge = {&ready_thread, &put_allocation, &put_record, &put_graph_node, &put_tick, &put_string, &put_fact, &lost};
const GpuPart* g_part = nullptr;

}  // namespace

const char* load_gpu_part(const char* path) {
  if (g_part) return nullptr;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    static std::string why;
    why = std::string("the agent's GPU part does not load: ") + dlerror();
    return why.c_str();
  }
  const auto get = reinterpret_cast<GetGpuPart>(dlsym(library, kGetGpuPart));
  if (!get) return "the agent's GPU part is of another version";
  g_part = get(&kBridge);
  return nullptr;
}
const GpuPart* gpu_part() { return g_part; }

const char* read_gpu_memory(int device, const void* from, void* to, size_t bytes) {
  return g_part ? g_part->read(device, from, to, bytes) : "its values are on a GPU, and the part of the recorder that reads those is not loaded";
}

}  // namespace peel::agent
