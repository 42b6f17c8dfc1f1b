#include "views/stepping.h"

namespace peel::views {
namespace {

EventId next_at_or_above(const Session& s, EventId at) {
  for (; at; at = s.parent(at))
    if (const EventId next = s.next_sibling(at)) return next;
  return {};
}
EventId previous_at_or_above(const Session& s, EventId at) {
  const EventId previous = s.previous_sibling(at);
  return previous ? previous : s.parent(at);
}

}  // namespace

Step twin(Step s) {
  switch (s) {
    case Step::kInto: return Step::kBackInto;
    case Step::kOver: return Step::kBackOver;
    case Step::kOut: return Step::kBackOut;
    case Step::kBackInto: return Step::kInto;
    case Step::kBackOver: return Step::kOver;
    case Step::kBackOut: break;
  }
  return Step::kOut;
}

EventId Stepper::step(const Session& s, Step kind, EventId at) {
  if (!at || at.value > s.size()) return {};
  if (!trail_.empty() && trail_.back().to != at) trail_.clear();
  if (!trail_.empty() && trail_.back().kind == twin(kind)) {
    const EventId start = trail_.back().from;
    trail_.pop_back();
    return start;
  }
  EventId to;
  switch (kind) {
    case Step::kInto: to = s.next_in_thread(at); break;
    case Step::kOver: to = next_at_or_above(s, at); break;
    case Step::kOut: to = s.parent(at); break;
    case Step::kBackInto: to = s.previous_in_thread(at); break;
    case Step::kBackOver: to = previous_at_or_above(s, at); break;
    case Step::kBackOut:
      if (const EventId up = s.parent(at)) to = previous_at_or_above(s, up);
      break;
  }
  if (!to) return {};
  constexpr size_t kTrail = 10000;
  if (trail_.size() >= kTrail) trail_.erase(trail_.begin(), trail_.begin() + kTrail / 2);
  trail_.push_back({kind, at, to});
  return to;
}

const char* why_not(Step s) {
  switch (s) {
    case Step::kInto: return "This is the last hop that was recorded on this thread.";
    case Step::kOver: return "Nothing was recorded after this hop on its thread.";
    case Step::kOut: return "Nothing called this hop but Python: there is no parent to leave to.";
    case Step::kBackInto: return "This is the first hop that was recorded on this thread.";
    case Step::kBackOver: return "Nothing was recorded before this hop on its thread.";
    case Step::kBackOut: break;
  }
  return "There is no hop before the parent, or no parent.";
}

}  // namespace peel::views
