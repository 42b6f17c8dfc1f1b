// The GPU part of the agent, inside.
#pragma once
#include "tracer/cupti/bridge.h"

namespace peel::agent {

const Bridge& bridge();

const char* follow_allocator();  // allocator.cpp

// activity.cpp
const char* start_activity();
void stop_activity();
void flush_activity();
uint32_t cupti_stream(void* stream);  // what CUPTI calls a CUDA stream of the current context; 0 = CUPTI is not in use

// look.cpp
const char* read_gpu(int device, const void* from, void* to, size_t bytes);
bool is_our_call(uint32_t thread, uint64_t ticks);  // made to look, not by the program
bool is_our_wait(uint32_t stream, uint64_t ticks);    // CUPTI tells of waits only the context: by time as well
bool is_our_stream(uint32_t device, uint32_t stream);

}  // namespace peel::agent
