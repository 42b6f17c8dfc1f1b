// The relay: a process of its own between the program's output and ours. It copies what it reads to our
// stdout and stderr unchanged, and a second copy to peel. When peel dies it goes on, and so does the program.
//
// It is forked from a process that has threads, so its body calls nothing but system calls.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace peel::launch {

/// One stream of the program: where it is read and where it goes.
struct RelayChannel {
  int source = -1;    // reading end of a pipe, or master of a pseudo-terminal; -1 = not used
  int target = -1;    // our stdout or stderr; -1 = not forwarded
  int stream = 1;     // 1 = stdout, 2 = stderr
  bool terminal = false;
};
struct RelayOptions {
  RelayChannel channel[2];
  int control = -1;     // stream socket to peel: Chunks go up; one byte comes down when the program has ended
  int resized_by = -1;  // a terminal whose size is passed on at SIGWINCH, -1 = none
  pid_t program = 0;    // is told of the new size
};

/// What the relay tells peel. kText is followed by `bytes` bytes of text.
struct Chunk {
  enum Kind : uint32_t { kText = 1, kDelivered = 2, kDropped = 3 } kind;
  int32_t stream;
  uint32_t bytes;  // kDropped: how many could not be kept for peel
  uint32_t pad;
  int64_t monotonic_ns;
};

/// Never returns. All descriptors but those named are closed.
[[noreturn]] void relay(const RelayOptions&);

}  // namespace peel::launch
