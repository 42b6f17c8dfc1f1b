// From rings to file. The only writer of a session while it is recorded.
//
// Algorithm: every `interval` the drain fixes a watermark (the smallest begin that any open ring may still
// publish: now, or the last published time of a ring that is busy), reads every ring up to its head, then the
// arena, and merges the rings by begin time. Hops get ids in that order. Rows are inserted in id order at a
// commit; a hop still open then is inserted without its end and updated once later. Commits happen every
// 250 ms or 50,000 hops, whichever comes first.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "sessions/result.h"

namespace peel {

class LiveControl;

struct DrainOptions {
  std::string path;               // file to create (an existing one is replaced)
  bool keep_source = true;        // --no-source
  uint64_t max_bytes = 0;         // --max-size; 0 = no bound. When reached: recording stops, state "truncated"
  LiveControl* live = nullptr;    // is told of processes and of where stops are; outlives the drain
};

/// Counters for a progress line.
struct DrainStats { uint64_t hops, nodes, waits_ns, lost, bytes; uint32_t processes, open_processes; };

class Drain {
 public:
  /// Creates the file with its schema and starts the drain's thread. Error: the file cannot be made.
  static Result<std::unique_ptr<Drain>> create(const DrainOptions&);
  virtual ~Drain() = default;

  virtual void set_meta(const std::string& key, const std::string& value) = 0;  // any thread
  /// Takes over a process that said Hello: its memfd and the connection (both are closed by the drain).
  virtual Status attach(int memory_fd, int connection_fd, const void* hello, size_t hello_bytes) = 0;
  virtual void output(int stream, std::string text, int64_t monotonic_ns) = 0;
  virtual DrainStats stats() const = 0;
  virtual std::string trouble() const = 0;  // full disk and the like: one sentence; recording has stopped then
  /// Reads what is left, closes frames of dead processes as open, writes meta state and exit_code, checkpoints
  /// and leaves one file. state: complete | crashed | truncated.
  virtual Status finish(const std::string& state, int exit_code) = 0;
  static bool alive(const std::string& path);  // is some drain recording into this file right now
};

}  // namespace peel
