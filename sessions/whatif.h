// What would change in a recording if a kernel were registered or removed, a key included or excluded, a mode on or off: answered from the
// recorded sets, tables and masks by PyTorch's rules, without running anything. A call is followed up to its first change; what the new kernel would do is
// unknown. Values are taken to stay what they were, but for tensors that would become inference tensors or cease to be.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "sessions/precedence.h"
#include "sessions/session.h"

namespace peel {

struct WhatIfChange {
  enum class What : uint8_t { kRegister, kFallthrough, kRemove, kInclude, kExclude, kEnter, kLeave } what;
  OpId op;                  // of the first three; 0 = backend fallback
  KeyId key = 0;            // of the first five
  enum class Mode : uint8_t { kNone, kGrad, kNoGrad, kInference, kAutocast } mode = Mode::kNone;
  std::string device;       // kAutocast: `cpu`
  std::string text;         // as people write it: `register aten::add.Tensor@CPU`
};
struct WhatIf {
  std::vector<WhatIfChange> changes;  // registrations hold from the start of the recording, the others in [from, to] of `thread`
  EventId from, to;                   // 0 = the whole recording
  ThreadId thread;                    // 0 = every thread
};
/// From words as the command line and the window take them, in any order:
///   register OP@KEY | fallthrough OP@KEY | remove OP@KEY   (OP `*`: the backend fallback)
///   include KEY | exclude KEY | enter MODE | leave MODE   (no_grad, enable_grad, inference_mode, autocast:DEVICE)
///   hop N | span N | from N | to N                         where the latter four hold
Result<WhatIf> parse_whatif(const Session&, const std::vector<std::string>& words);

struct WhatIfRow {
  enum class Outcome : uint8_t {
    kChanges,   // a call would land at another key or kernel first
    kRaises,    // it would find no kernel
    kLayer,     // a redispatch inside a call whose first kernel stays would land elsewhere
    kUnknown,   // it lies beyond a change, or is nothing that the rules tell
  } outcome;
  EventId event;
  EventId because;          // kUnknown: the hop beyond which it lies, 0 = none
  KeyId key_before, key_after = 0;
  std::string kernel_before, kernel_after;  // "kernel, RegisterCPU_0.cpp:8", "the new kernel at CPU"
};
const char* outcome_name(WhatIfRow::Outcome);  // changes, raises, layer, unknown

struct WhatIfAnswer {
  std::vector<WhatIfRow> rows;         // by event
  uint64_t calls = 0, changed = 0, layers = 0, unknown = 0;  // calls: all that were looked at; changed: kChanges and kRaises
  std::vector<std::string> remarks;    // what holds beside the rows, a sentence each
};
/// `stop` ends it early.
WhatIfAnswer what_if(const Session&, const WhatIf&, const std::atomic<bool>* stop = nullptr);

/// "12 of 300 calls would go elsewhere first, 3 layers further in would change, 40 calls beyond them are unknown."
std::string whatif_sentence(const WhatIfAnswer&);
/// `AutogradCPU -> CPU`, or `AutogradCPU, another kernel`; "" for unknown.
std::string whatif_words(const Session&, const WhatIfRow&);

}  // namespace peel
