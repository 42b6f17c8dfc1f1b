// What calls did besides giving results: memory that they took, work that they gave to GPUs. A call's own is that of its
// layers; addresses, segments and rounding are not in it, only what was asked for.
//
// Two things would differ by chance of what ran before, and don't count: memory without a tensor that outlives its top-level
// call (a library's workspace, taken at its first call), and replays of a CUDA graph after the first (they are counted where
// the graph was captured).
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sessions/diff_scope.h"

namespace peel {

class ReadConnection;
class GpuActivity;

struct TakenBytes {
  uint64_t blocks = 0;
  int64_t bytes = 0;
  bool operator==(const TakenBytes&) const = default;
};
using Taken = std::map<std::string, TakenBytes>;   // by device
using Launched = std::map<std::string, uint64_t>;  // how often, by whole name: kernels, "copy Host-to-Device", "set"

class CallEffects {
 public:
  void read_memory(ReadConnection&, const Session&, const DiffScope&, const std::atomic<bool>* cancel);
  void read_gpu(const Session&, const DiffScope&);

  /// Whether the recording tells of it at all.
  bool has_memory() const { return has_memory_; }
  bool has_gpu() const { return has_gpu_; }
  int64_t allocated() const { return allocated_; }   // bytes
  int64_t held() const { return held_; }             // of them, at the end of the scope: before the next hop of its thread
  uint64_t launched() const { return works_.size(); }

  /// Sums that are equal when a hop took the same blocks and launched the same; those of several hops can be added.
  uint64_t taken_sum(EventId, bool by_device) const;
  uint64_t launched_sum(EventId) const;
  /// Of one hop.
  void add_taken(EventId, Taken*) const;
  void add_launched(EventId, Launched*) const;
  /// Of a hop and all that its thread did inside.
  Taken taken_in(const Session&, EventId) const;
  Launched launched_in(const Session&, EventId) const;

 private:
  struct Block { uint32_t event; uint16_t device; int64_t bytes; };
  struct Work { uint32_t event, name; };
  bool has_memory_ = false, has_gpu_ = false;
  int64_t allocated_ = 0, held_ = 0;
  std::vector<Block> blocks_;  // by event
  std::vector<Work> works_;    // by event
  std::vector<std::string> devices_, names_;
  std::vector<uint64_t> device_hashes_, name_hashes_;
};

/// What differs on the right: "allocates 4.0 KiB more on cpu"; one sentence a device.
std::vector<std::string> taken_words(const Taken& left, const Taken& right);
/// "launches `sgemm` where left launches `gemv`", "launches also 2 x `fill`".
std::vector<std::string> launched_words(const Launched& left, const Launched& right);
/// "4.0 KiB on cpu (2 blocks)", "`fill` twice, copy Host-to-Device"; "nothing".
std::string taken_text(const Taken&);
std::string launched_text(const Launched&);
/// Without its return type, namespaces and parameters: "vectorized_elementwise_kernel<4, FillFunctor<float>, array<char*, 1ul>>".
std::string kernel_brief(std::string_view name);

}  // namespace peel
