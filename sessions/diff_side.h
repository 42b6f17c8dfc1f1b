// One side of a comparison prepared for it: what each hop is as a hash, each subtree as a hash of hashes, and the
// calls at the top. Hashes are of texts and names, never of ids, so that those of two sessions can be compared.
#pragma once
#include <atomic>
#include <string>
#include <unordered_map>
#include <vector>

#include "sessions/diff.h"
#include "sessions/hash.h"

namespace peel {

class ReadConnection;

/// What a call took and gave, as far as it is compared; each lane is a hash over all its arguments and results.
struct ValueLanes {
  uint32_t dtype = 0, shape = 0, device = 0, other = 0;
  bool operator==(const ValueLanes&) const = default;
};

/// A call with its layers and the calls of others inside them, in order.
struct CallTree {
  std::vector<EventId> layers, inner;
};
CallTree call_tree(const Session&, EventId call);

/// The calls at the top of one thread.
struct TopCalls {
  std::string thread;
  std::vector<EventId> calls;
};

class PreparedSide {
 public:
  /// `cancel` may be null.
  PreparedSide(const DiffSide&, const std::atomic<bool>* cancel);

  const Session& session() const { return s_; }
  const std::vector<TopCalls>& tops() const { return tops_; }  // main thread first
  const DiffTotals& totals() const { return totals_; }
  /// Of a hop beyond the scope: nothing (a range may end inside a call, and a recording may have grown).
  uint64_t tree(EventId e) const { return known(e) ? tree_[index(e)] : 0; }
  ValueLanes values(EventId e) const { return known(e) ? values_[index(e)] : ValueLanes{}; }

  // ---- tokens for alignment and parts of rows
  uint64_t op(const Event&);
  uint64_t key(KeyId);
  uint64_t keyset(KeysetId);
  /// Rule and place of registration.
  uint64_t kernel(KernelId);
  /// The user's line: file, function, and the line's text or its number.
  uint64_t line(StackId);
  uint64_t nodes(const Event&);
  const std::shared_ptr<CallEffects>& effects() const { return effects_; }
  bool memory_counts() const { return memory_counts_; }
  bool gpu_counts() const { return gpu_counts_; }

  /// True when the source of every line at the top is there: lines then count by their text.
  bool has_sources();
  void use_line_texts(bool on) { line_texts_ = on; }
  /// False: a kernel's place counts without its line, as another build has others.
  void use_kernel_lines(bool on) { kernel_lines_ = on; }
  /// Where one side doesn't tell of memory or GPUs, neither's count.
  void use_effects(bool memory, bool gpu) { memory_counts_ = memory, gpu_counts_ = gpu; }
  /// Computes tree(), after the settings above are known.
  void hash_trees();

 private:
  size_t index(EventId e) const { return e.value - first_; }
  bool known(EventId e) const { return e.value >= first_ && e.value <= last_; }
  bool inside(const Event& e) const { return scope_.whole() || e.thread == scope_.thread; }
  bool stopped() const { return cancel_ && cancel_->load(std::memory_order_relaxed); }
  void find_tops();
  void read_values();
  void read_value_tables();
  void read_values_from(ReadConnection&);
  uint64_t own(const Event&);
  const std::vector<std::string>& source_lines(std::string_view file);

  const Session& s_;
  const DiffScope scope_;
  const std::atomic<bool>* cancel_;
  KeyMath math_;
  uint32_t first_ = 1, last_ = 0;
  bool line_texts_ = false, kernel_lines_ = true, memory_counts_ = false, gpu_counts_ = false;
  std::shared_ptr<CallEffects> effects_ = std::make_shared<CallEffects>();
  std::vector<TopCalls> tops_;
  std::vector<uint64_t> tree_;
  std::vector<ValueLanes> values_;
  DiffTotals totals_;
  std::vector<uint64_t> ops_, keys_, keysets_, kernels_;  // by id, 0 = not computed
  std::unordered_map<uint32_t, uint64_t> lines_;          // by stack
  std::unordered_map<std::string, std::vector<std::string>> sources_;
};

}  // namespace peel
