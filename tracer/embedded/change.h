// What a person changes at the hop where a thread stands (wire::Ask::kChange), until the thread goes on:
//
//   exclude KEY | include KEY    the hop's set without, or with the key: it may go elsewhere
//   fallthrough                  the layer that it is at is skipped
//   kernel KEY                   the operator's kernel of another key runs, with the set as it is
//   return VALUE[, VALUE]        no kernel runs; after the kernel: another result. A VALUE is an argument (`self`, `#0`), `zeros`, `ones`,
//                                `full 2.5`, each maybe `like ARGUMENT`, a number, True, False, None, or `_`: as it is
//   thread exclude KEY | thread include KEY | thread clear     this thread's calls from now on, until cleared
//   undo                         what was said at this stop
#pragma once
#include <optional>

#include "tracer/embedded/recorder.h"

namespace peel::embedded {

class Change {
 public:
  /// `hop`: null for a node's run. `results`: after the kernel, null when it raised.
  Change(Thread& t, wire::Phase phase, core::Hop* hop, core::HopValues* results) : t_(t), phase_(phase), hop_(hop), results_(results) {
    if (hop) set_ = hop->set, kernel_ = hop->kernel;
  }
  struct Answer { bool done; std::string sentence; };
  /// With Python's lock; nothing that runs here is recorded.
  Answer apply(std::string_view text);
  /// When the thread goes on: does it, and records it.
  void carry_out();

 private:
  Answer move(core::DispatchKeySet);
  Answer exclude(std::string_view key);
  Answer include(std::string_view key);
  Answer run_kernel(std::string_view key);
  Answer give_back(std::string_view values);
  Answer change_thread(std::string_view text);
  void undo();

  Thread& t_;
  wire::Phase phase_;
  core::Hop* hop_;
  core::HopValues* results_;
  core::DispatchKeySet set_;                // as it would be
  const core::Kernel* kernel_ = nullptr;
  std::optional<core::DispatchKey> of_key_;  // kernel KEY
  std::optional<core::LocalKeys> forced_;    // the thread's before this stop
  std::optional<core::Stack> returns_;
  std::string said_;
};

}  // namespace peel::embedded
