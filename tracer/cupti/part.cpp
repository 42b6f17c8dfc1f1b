#include "tracer/cupti/gpu.h"

namespace peel::agent {
namespace {
const Bridge* g_bridge = nullptr;
constexpr GpuPart kPart = {&follow_allocator, &start_activity, &stop_activity, &flush_activity, &read_gpu};
}  // namespace
const Bridge& bridge() { return *g_bridge; }
}  // namespace peel::agent

extern "C" __attribute__((visibility("default"))) const peel::agent::GpuPart* peel_gpu_part(const peel::agent::Bridge* bridge) {
  peel::agent::g_bridge = bridge;
  return &peel::agent::kPart;
}
