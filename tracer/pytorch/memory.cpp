// The allocator's history: PyTorch's CPU allocator behind one that tells what passes through it. Memory of GPUs is told by
// tracer/cupti through record_memory().
//
// A block keeps the deleter that it was given, so frees are seen wherever they happen, and blocks outlive the recording safely:
// the agent is never unloaded.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include "tracer/pytorch/agent.h"

namespace peel::agent {

void record_memory(Thread* t, wire::Allocation m) {
  if (t->process_epoch != g_process_epoch) return;
  m.head.kind = wire::RecordKind::kMemory;
  m.stack = t->depth ? 0 : python_stack(t, python_frame(t));
  m.pad = 0;
  put_timed(t, m);
}

namespace {

void record_cpu(wire::MemoryAction action, const void* block, size_t size) {
  if (g_detail.load(std::memory_order_relaxed) != kStandard) return;
  Thread* t = this_thread();
  if (!t) return;
  wire::Allocation m{};
  m.head.a = wire::memory_place(action, static_cast<uint8_t>(c10::DeviceType::CPU), -1);
  m.address = reinterpret_cast<uintptr_t>(block);
  m.size = size;
  record_memory(t, m);
}

c10::Allocator* g_inner = nullptr;
c10::DeleterFnPtr g_inner_free = nullptr;

void freed(void* block) {
  if (block) record_cpu(wire::MemoryAction::kFreeCompleted, block, 0);
  g_inner_free(block);
}

struct CpuAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    c10::DataPtr p = g_inner->allocate(bytes);
    if (p.get() && p.get() == p.get_context() && p.compare_exchange_deleter(g_inner_free, &freed)) record_cpu(wire::MemoryAction::kAlloc, p.get(), bytes);
    return p;
  }
  c10::DeleterFnPtr raw_deleter() const override { return &freed; }
  void copy_data(void* to, const void* from, size_t bytes) const override { g_inner->copy_data(to, from, bytes); }
};

}  // namespace

void follow_cpu_allocator() {
  if (g_inner) return;
  c10::Allocator* inner = c10::GetCPUAllocator();
  if (!inner || !inner->raw_deleter()) {
    fact("memory", "the CPU allocator is one that cannot be followed: its history is not recorded");
    return;
  }
  g_inner = inner;
  g_inner_free = inner->raw_deleter();
  static CpuAllocator* mine = new CpuAllocator();
  c10::SetCPUAllocator(mine, 255);
}

}  // namespace peel::agent
