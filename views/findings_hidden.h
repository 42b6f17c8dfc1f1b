// Work that a program does without having asked for it in so many words: copies made by reshape and by layers that need the values of a
// lazy conjugate, operators that a fallback calls once for each batch element, nodes that only warn in backward, writes that
// no version counter told of. One pass over the hops finds candidates from columns; arguments are read for the first of each place.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "views/findings_model.h"

namespace peel::views {

class HiddenWork {
 public:
  explicit HiddenWork(const Session&);
  void see(const Event&);
  void finish(std::vector<Finding>&, const std::atomic<bool>& cancelled);

 private:
  enum class What : uint8_t { kReshape, kLazy, kLoop };
  struct Place {
    uint64_t count = 0;
    std::vector<EventId> events;
    uint32_t calls = 0;  // kLoop: inner calls of the first
  };
  void note(What, const Event&, StackId line, uint32_t calls);
  Finding tell(What, const Place&) const;
  void find_warnings(std::vector<Finding>&, const std::atomic<bool>& cancelled) const;

  const Session& s_;
  std::vector<bool> copies_, clone_;      // by OpId: operators that copy when they can't make a view; aten::clone
  std::vector<bool> fallback_;            // by KernelId
  std::map<std::tuple<What, OpId, StackId>, Place> places_;
  void learn(OpId);
  bool is_fallback(KernelId);
};

/// The call of the user's line that a hop is part of.
EventId outermost(const Session&, EventId);

/// What an exception was about: arguments that were made in another mode, and a node that backward ran before. Adds to the sentence.
void tell_origins(const Session&, const Event& raised, Finding&);

/// A node's run that an exception left before it called anything.
void find_failed_run(const Session&, const Event& run, std::vector<Finding>&);

/// Writes to the storage of a saved tensor that its version counter didn't see, between saving and a backward that went through.
void find_silent_writes(const Session&, const Ask&, std::vector<Finding>&);

}  // namespace peel::views
