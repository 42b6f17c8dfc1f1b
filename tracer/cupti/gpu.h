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

}  // namespace peel::agent
