// The terms of PyTorch's formula for one call, and in words why a key is missing from its set:
//   set = ((union of argument sets | thread's included) - thread's excluded) & operator's mask
// (`-` clears functionality bits only). Measured on 2.13.0: pytorch-facts 2.2 and 3.3.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sessions/why.h"

namespace peel {

enum class Family : uint8_t { kBackend, kBackendSelect, kPython, kFunctorch, kFunctionalize, kConjugate, kView, kAutograd, kTracer, kAutocast, kOther };
Family family_of(std::string_view key_name);

struct Terms {
  EventId call;
  uint64_t arguments = 0, included = 0, excluded = 0;
  uint64_t all = 0;          // arguments | included
  uint64_t kept = 0;         // all - excluded
  uint64_t mask = ~0ull;     // of the operator, for the backend of `kept`
  uint64_t set = 0;          // kept & mask
  uint64_t recorded = 0;
  bool explained = false;    // set == recorded, or what was changed by hand
};
Terms terms_of(const Session&, const KeyMath&, EventId call);
/// What sent the hop another way while its thread stood there.
std::optional<HandChange> moved_by_hand(const Session&, const Event&);

/// The first term of the formula at which the key is lost; kBelow when it is in the set.
Verdict lost_at(const KeyMath&, const Terms&, KeyId);

struct Reason {
  std::string text;       // "autocast is off (default)"
  bool inferred = false;  // a C++ guard leaves no record of its own: concluded from the sets
  EventId evidence;       // the hop since which it holds, or whose kernel brought it about
  StackId place = {};     // the Python line that entered the mode
  std::string detail = {};  // as WhyKey's
  std::string brief;      // "autocast is off", "{keys} left out by ...": for a sentence; {keys} = their names
};
Reason why_excluded(const Session&, const KeyMath&, EventId call, KeyId);
Reason why_not_in_set(const Session&, const KeyMath&, const Terms&, KeyId);

/// `AutocastCPU` -> `cpu`, as torch.autocast names the device.
std::string autocast_device(std::string_view key_name);

/// What a mode that Python entered is known by: "gm.py:3 `with torch.inference_mode():`", or the line's number alone.
std::string mode_place(const Session&, const Span& mode);
/// The registration that makes the slot of the key a fallthrough: "backend fallback, VariableFallbackKernel.cpp:106"; "" = not known.
std::string fallthrough_place(const Session&, EventId call, KeyId);

/// Key sets of the thread and masks as people read them: per-backend functionalities and families once
/// (`Autograd*`, `Autocast*`), joined by blanks.
std::string functionality_names(const Session&, uint64_t set);
/// "default", "inference_mode: without ADInplaceOrView", ...
std::string included_note(const Session&, const KeyMath&, EventId);
std::string excluded_note(const Session&, const KeyMath&, EventId);

}  // namespace peel
