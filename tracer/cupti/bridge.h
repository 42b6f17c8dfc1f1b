// Between the agent and its GPU part, a library of its own: it is built where PyTorch was built with CUDA and CUDA's headers are
// there, and loaded when the program first uses a GPU. Without it everything else is recorded.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tracer/wire/wire.h"

namespace peel::agent {

struct Thread;

/// What the agent offers. Any thread may call.
struct Bridge {
  Thread* (*thread)();                                   // this thread's ring; null: it can't be recorded now
  void (*memory)(Thread*, const wire::Allocation&);      // kind, time and stack are filled in
  void (*put)(Thread*, const void* record, uint32_t words);  // a record without a time, head filled in
  void (*graph_node)(Thread*, uint64_t id, uint64_t origin);
  void (*tick)(Thread*);
  uint32_t (*string)(const char*, size_t);
  void (*fact)(const char* key, const char* value);
  void (*lost)(Thread*, const char* reason, uint64_t count);
};

/// What the GPU part offers. Errors are sentences; null = done. Texts live for ever.
struct GpuPart {
  const char* (*follow_allocator)();  // after CUDA was initialised, once
  const char* (*start_activity)();    // kernels, copies, API calls
  void (*stop_activity)();            // gives CUPTI back; what it holds is reported first
  void (*flush)();                    // reports what is complete
  /// Copies memory of a GPU to the host when what this thread's stream has now is done. Its sentence lives until the next call.
  const char* (*read)(int device, const void* from, void* to, size_t bytes);
};
using GetGpuPart = const GpuPart* (*)(const Bridge*);
constexpr const char* kGetGpuPart = "peel_gpu_part";

}  // namespace peel::agent
