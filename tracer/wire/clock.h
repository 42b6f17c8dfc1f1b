// The clock of the rings: the processor's cycle counter, converted to nanoseconds once, in the drain.
#pragma once
#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace peel::wire {

/// Now, in ticks. Never goes back on one thread; equal on all cores (invariant counter).
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t t;
  asm volatile("mrs %0, cntvct_el0" : "=r"(t));
  return t;
#else
  timespec s;
  clock_gettime(CLOCK_MONOTONIC, &s);
  return static_cast<uint64_t>(s.tv_sec) * 1000000000u + static_cast<uint64_t>(s.tv_nsec);
#endif
}

/// CLOCK_MONOTONIC in nanoseconds: what ticks are converted to.
inline int64_t monotonic_ns() {
  timespec s;
  clock_gettime(CLOCK_MONOTONIC, &s);
  return static_cast<int64_t>(s.tv_sec) * 1000000000 + s.tv_nsec;
}

}  // namespace peel::wire
