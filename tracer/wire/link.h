// How a traced process and peel find each other, and the layout of the shared memory between them.
//
//  1. peel listens on a unix stream socket (SOCK_SEQPACKET), named in the environment: PEEL_SOCKET.
//  2. The agent makes a memfd of kMemorySize bytes (sparse), fills in Control, connects and sends one
//     Hello with the memfd attached (SCM_RIGHTS). peel answers with one byte: 1 = recording, 0 = refused.
//  3. The connection stays open for the life of the process: end-of-file tells peel that the process is
//     gone, POLLHUP tells the agent that peel is gone (it then turns recording off and lets the program run).
//  4. After fork the child starts afresh: a new memfd, a new connection, ids from 1 again.
//
// Memory: Control page(s) | arena ring | ring 0 | ring 1 | ...
// A ring is mapped twice in a row by both sides, so that a record never has to be split.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/wire/control.h"

namespace peel::wire {

constexpr uint64_t kControlBytes = 512 * 1024;
constexpr uint64_t kArenaBytes = 64ull << 20;
constexpr uint32_t kMaxRings = 1024;
constexpr uint64_t kDefaultRingBytes = 16ull << 20;  // PEEL_RING_MIB changes it; a power of two

// Environment of a traced process.
constexpr const char* kSocketEnv = "PEEL_SOCKET";   // path of the socket; unset = do nothing at all
constexpr const char* kAgentEnv = "PEEL_AGENT";     // path of the built agent library
constexpr const char* kDetailEnv = "PEEL_DETAIL";   // keys | standard
constexpr const char* kOnFullEnv = "PEEL_ON_FULL";  // wait (default) | drop
constexpr const char* kRingEnv = "PEEL_RING_MIB";
constexpr const char* kWhatIfEnv = "PEEL_WHATIF";   // embedded engine: what to change (sessions/whatif_run.h); only for `peel whatif --run`

struct Hello {
  uint32_t magic, version;  // kMagic, kVersion of wire.h
  int32_t pid, parent_pid;
  uint64_t ring_bytes;
  char process_name[64];
};

enum RingState : uint32_t { kFree = 0, kOpen = 1, kClosed = 2 };  // kClosed: its thread ended; the drain sets kFree when empty

/// One thread's ring. Positions count bytes for ever; offset in the ring = position % ring_bytes.
struct alignas(128) RingControl {
  // written by the producer
  std::atomic<uint64_t> head;      // published up to here
  std::atomic<uint32_t> busy;      // 1 from before the clock is read until after the record is published
  std::atomic<uint32_t> state;     // RingState
  std::atomic<uint64_t> thread_id; // operating system's
  std::atomic<uint64_t> opened;    // ticks
  std::atomic<uint32_t> dropped;   // records dropped since the last kLost that was published
  uint32_t pad0;
  alignas(64) std::atomic<uint64_t> tail;  // written by the drain: free up to here
};

struct Control {
  std::atomic<uint32_t> magic;  // set last
  uint32_t version;
  uint64_t ring_bytes;
  std::atomic<uint32_t> recording;  // set to 0 by either side: the agent stops writing
  std::atomic<uint32_t> rings;      // high-water mark of ring slots in use
  std::atomic<uint32_t> installed;  // 1 = wrappers are in place and the self-test passed; 2 = failed (see kFact "agent_error")
  std::atomic<uint32_t> exiting;    // 1 = the interpreter is ending in the ordinary way
  alignas(64) std::atomic<uint64_t> arena_head;  // bytes, as for rings
  alignas(64) std::atomic<uint64_t> arena_tail;
  alignas(128) RingControl ring[kMaxRings];
  Live live;               // control.h
  Stand stand[kMaxRings];
};
static_assert(sizeof(Control) <= kControlBytes);

constexpr uint64_t ring_offset(uint32_t index, uint64_t ring_bytes) {
  return kControlBytes + kArenaBytes + index * ring_bytes;
}
constexpr uint64_t memory_size(uint64_t ring_bytes) { return ring_offset(kMaxRings, ring_bytes); }

}  // namespace peel::wire
