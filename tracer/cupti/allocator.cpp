// The history of PyTorch's CUDA caching allocator, through the tracker that it offers. The tracker runs under the allocator's lock:
// it writes to this thread's ring and takes no lock that could wait for Python.
#include <c10/cuda/CUDACachingAllocator.h>

#include "tracer/cupti/gpu.h"

namespace peel::agent {
namespace {

namespace Caching = c10::cuda::CUDACachingAllocator;

void put_entry(const Caching::TraceEntry& e) {
  if (static_cast<uint32_t>(e.action_) > static_cast<uint32_t>(wire::MemoryAction::kOom)) return;
  Thread* t = bridge().thread();
  if (!t) return;
  const auto action = static_cast<wire::MemoryAction>(e.action_);
  wire::Allocation m{};
  m.head.a = wire::memory_place(action, static_cast<uint8_t>(c10::DeviceType::CUDA), static_cast<int8_t>(e.device_));
  if (action == wire::MemoryAction::kOom) m.free = static_cast<uint64_t>(e.addr_);
  else m.address = static_cast<uint64_t>(e.addr_);
  m.size = static_cast<uint64_t>(e.size_);
  m.stream = reinterpret_cast<uintptr_t>(e.stream_);
  m.pool[0] = e.mempool_.first;
  m.pool[1] = e.mempool_.second;
  bridge().memory(t, m);
}

/// What the allocator holds before the first entry.
void put_snapshot() {
  Thread* t = bridge().thread();
  if (!t) return;
  const auto snapshot = Caching::snapshot();
  int device = -1;
  for (const auto& s : snapshot.segments) {
    if (s.device != device) {
      device = s.device;
      wire::Allocation m{};
      m.head.a = wire::memory_place(wire::MemoryAction::kSnapshot, static_cast<uint8_t>(c10::DeviceType::CUDA), static_cast<int8_t>(device));
      bridge().memory(t, m);
    }
    wire::Segment out{};
    out.head = {wire::RecordKind::kSegment, sizeof out / 8, (s.is_large ? wire::kLargePool : 0u) | (s.is_expandable ? wire::kExpandable : 0u)};
    out.address = static_cast<uint64_t>(s.address);
    out.total_size = s.total_size;
    out.allocated_size = s.allocated_size;
    out.active_size = s.active_size;
    out.requested_size = s.requested_size;
    out.stream = reinterpret_cast<uintptr_t>(s.stream);
    out.pool[0] = s.owner_private_pool_id.first;
    out.pool[1] = s.owner_private_pool_id.second;
    bridge().put(t, &out, out.head.words);
    uint64_t address = out.address;
    for (const auto& b : s.blocks) {
      wire::Block block{};
      const auto state = b.allocated ? wire::BlockState::kActiveAllocated : b.active ? wire::BlockState::kActivePendingFree : wire::BlockState::kInactive;
      block.head = {wire::RecordKind::kBlock, sizeof block / 8, static_cast<uint32_t>(state)};
      block.address = address;
      block.size = b.size;
      block.requested_size = b.requested_size;
      bridge().put(t, &block, block.head.words);
      address += b.size;
    }
  }
}

}  // namespace

const char* follow_allocator() {
  static bool following = false;
  if (following) return nullptr;
  // Trackers can't be taken off again; what they meet while nothing is recorded is dropped.
  try {
    put_snapshot();
    Caching::attachAllocatorTraceTracker(&put_entry);
  } catch (const std::exception&) {
    static const std::string why = Caching::get()->name() == "cudaMallocAsync"
        ? "the program uses CUDA's own allocator (cudaMallocAsync): its allocations are those of CUDA's memory pools, told by CUPTI"
        : "the allocator " + Caching::get()->name() + " offers no history of CUDA memory";
    return why.c_str();
  }
  following = true;
  const char* settings = getenv("PYTORCH_CUDA_ALLOC_CONF");
  if (!settings) settings = getenv("PYTORCH_ALLOC_CONF");
  bridge().fact("allocator_settings", settings ? settings : "");
  bridge().fact("allocator", Caching::get()->name().c_str());
  return nullptr;
}

}  // namespace peel::agent
