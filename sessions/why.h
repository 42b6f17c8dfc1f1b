// How a hop came about (design.md section 7): the terms of the formula, a verdict for every key that could
// have mattered, and the sentence. The same structure feeds `peel why`, the Why panel and the tests.
#pragma once
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel {

enum class Verdict : uint8_t { kRan, kBelow, kMasked, kFellThrough, kExcluded, kNotInSet };
const char* verdict_name(Verdict);   // ran, below, masked, fell_through, excluded, not_in_set
const char* verdict_words(Verdict);  // "ran", "below", "masked by the caller's redispatch", ...

/// One row of the key matrix.
struct WhyRow {
  enum class Op : uint8_t { kArgument, kUnion, kIncluded, kExcluded, kMask, kResult, kIncoming } op;
  std::string label;   // `self`, `union of arguments`, ...
  std::string note;    // `t7 f32[2,3]`, `default`, `autocast is off (default)`
  uint64_t set;        // raw; for kMask the keys that the mask takes away
  bool greyed;         // contributes no key
};
struct WhyKey {
  KeyId key;
  Verdict verdict;
  std::string reason;     // "excluded: autocast is off (default)"
  std::string detail = {};  // what is recorded of it: "gm.py:4 `with torch.inference_mode():`, since hop 11"; "" = nothing more
  bool inferred = false;
  EventId evidence;       // the hop since which the mode or guard holds, or whose kernel decided it
  StackId place = {};     // the Python line that entered the mode, when recorded
};
/// Reason and detail in one.
std::string why_words(const WhyKey&);
/// One layer of the onion, outermost first.
struct OnionLayer {
  KeyId key;
  Verdict verdict;
  bool composite;         // math kernel: only calls other operators
  EventId event;          // 0 for layers that did not run
  Kind kind;
  std::string gloss, reason, rule, registered_at;
  std::vector<NodeId> nodes;         // made by this hop itself
  uint32_t nodes_inside;             // made by other operators inside
  std::vector<WriteRow> writes;      // versions bumped
  std::vector<EventId> inner_calls;  // calls of other operators, in order
  Nanoseconds own, total;            // -1 = unknown
};
struct Why {
  EventId event;          // the hop asked about
  EventId call;           // the call at the head of its onion
  std::string title;      // `aten::add.Tensor`
  std::string sentence;   // "AutogradCPU ran first: the highest key left, as autocast is off. It made AddBackward0; the CPU kernel did the work."
  std::vector<WhyRow> rows;        // of the hop asked about
  std::vector<WhyKey> keys;        // involved keys, highest priority first
  uint32_t never_involved = 0;
  std::vector<OnionLayer> onion;
  bool explained = true;  // recorded set equals the recomputed one (or it is a redispatch within its caller's set)
  std::string where;      // `train_step.py:14`
  std::string around;     // "in backward of ReluBackward0 (hop 50)", "on thread 2, grad mode on"; "" = an outermost call of the program's first thread
  int slot = -1;
  std::string error;      // raised text, when it raised
};
Why why(const Session&, EventId);
std::string why_text(const Session&, const Why&, bool markdown);
struct NotWhy { Verdict verdict; std::string sentence; EventId evidence = {}; };
NotWhy why_not(const Session&, EventId, KeyId);
/// Six-word gloss of a key ("records the backward graph"), "" = unknown.
const char* key_gloss(std::string_view key_name);

/// "key sets: 12,345 of 12,345 explained".
struct Explained { uint64_t calls, explained; EventId first_unexplained; };
Explained check_key_sets(const Session&);

}  // namespace peel
