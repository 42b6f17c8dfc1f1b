// Compare (design.md section 8): two sessions, or two spans of one, as trees of calls.
//
// A row is a call with its onion (the redispatches and nested calls of the same operator: its layers); below it are
// the calls of other operators that any layer made. Top-level calls are aligned per thread by operator and source
// line with a minimal edit script, what is left over by operator alone; calls inside by operator and key, then by
// operator. Equal subtrees are found by hashes of what they hold and are one row each. A row that only differs in
// time is the same.
//
// Memory: 24 bytes a hop of either side while it is computed, 24 bytes a row of the result, and 16 bytes an allocation and 8 a
// piece of GPU work, which the words about a row need.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "sessions/diff_effects.h"
#include "sessions/diff_scope.h"
#include "sessions/why.h"

namespace peel {

struct DiffSide {
  const Session* session = nullptr;
  DiffScope scope;  // default: the whole session
};

enum class DiffState : uint8_t { kSame, kChanged, kLeft, kRight };
const char* diff_state_words(DiffState);  // "same", "changed", "only left", "only right"

/// What differs in a changed row; bits.
namespace diff_what {
constexpr uint16_t kLayers = 1, kKeyset = 2, kKernel = 4, kNode = 8, kDtype = 16, kShape = 32, kDevice = 64, kValues = 128, kRaised = 256,
                   kInside = 512,  // something below
                   kAllocation = 1024, kLaunched = 2048;
}
/// "layers", "key set", ...: the words of the bits, in that order.
std::vector<const char*> diff_what_words(uint16_t what);

/// A pair of calls, or a call without a partner. Rows are in order, parents before what is inside them.
struct DiffRow {
  EventId left, right;      // 0 = not there
  DiffState state = DiffState::kSame;
  uint16_t depth = 0, what = 0;
  uint32_t below = 0;       // rows that follow and are inside this one; what is inside a same row has no rows
  uint32_t differ = 0;      // of them those that are not the same
};

struct DiffTotals {
  uint64_t calls = 0, hops = 0, nodes = 0;  // calls: at the top
  int64_t saved = -1;                       // variables that the nodes saved; -1 = not recorded
  Nanoseconds time = 0;                     // in the top-level calls
  int64_t allocated = -1, held = -1;        // bytes taken, and of them those that are held at the end; -1 = not recorded
  int64_t launched = -1;                    // pieces of work for GPUs; -1 = not recorded
};

struct Diff {
  std::vector<DiffRow> rows;
  uint64_t same = 0, changed = 0, left = 0, right = 0;  // rows at the top
  DiffTotals totals[2];
  std::shared_ptr<const CallEffects> effects[2];  // null = none were looked at
  bool stopped = false;     // cancelled: rows are not complete
  uint64_t differ() const { return changed + left + right; }
  /// Index of the next row that differs by itself or holds nothing more precise; SIZE_MAX = none.
  size_t next(size_t after) const;
  size_t first() const { return rows.empty() ? SIZE_MAX : is_difference(rows[0]) ? 0 : next(0); }
  size_t previous(size_t before) const;
  /// A row that one stops at: not for what is inside it alone, unless that has no rows.
  static bool is_difference(const DiffRow& r) { return r.state != DiffState::kSame && (r.what != diff_what::kInside || r.differ == 0); }
};
Diff diff(const DiffSide& left, const DiffSide& right, const std::atomic<bool>* cancel = nullptr);

// ---- in words (diff_text.cpp)

/// A layer that ran on one side only.
struct LayerCause {
  std::string key;      // `AutogradCPU`
  bool ran_left;        // the side on which it ran
  Verdict verdict;      // on the other side
  std::string words;    // why it did not run there: "excluded by inference_mode"
  std::string since;    // "since hop 70"; "" = unknown
  std::string instead;  // a layer of the same family that ran there: "CUDA"
  bool inferred;
};
std::vector<LayerCause> layer_causes(const Session& left, const Session& right, const DiffRow&);

/// Keys of the layers of a call, outermost first.
std::vector<KeyId> diff_layers(const Session&, EventId call);
/// Short name of a layer: "AG", "IV", "CPU".
std::string layer_tag(std::string_view key_name);
/// What differs and why: "AutogradCPU skipped: excluded by inference_mode (since hop 70)". `brief`, for narrow places: "AutogradCPU excluded by inference_mode".
std::string diff_reason(const Session& left, const Session& right, const Diff&, const DiffRow&, bool brief = false);
/// One or two sentences over everything: "4 of 4 calls differ: ...".
std::string diff_headline(const DiffSide& left, const DiffSide& right, const Diff&);
/// "4 of 4 calls differ, first: view (gm.py:4); hops 19 | 14; nodes 0 | 0".
std::string diff_summary(const DiffSide& left, const DiffSide& right, const Diff&);
/// What is not compared because a side doesn't tell of it, a sentence each.
std::vector<std::string> diff_not_compared(const Diff&);
/// "The right holds 1.2 MiB more at its end."; "" = no difference, or not recorded.
std::string diff_held(const Diff&);
/// All of it for a terminal; `json`: one object a line, the differences and last the summary.
void diff_text(const DiffSide& left, const DiffSide& right, const Diff&, bool json, const std::function<void(std::string_view line)>& out);

}  // namespace peel
