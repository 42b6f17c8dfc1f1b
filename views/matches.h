// Hops that match a text of the filter language: found on a thread of their own, extended as the session grows.
#pragma once
#include <string>
#include <vector>

#include "sessions/filter.h"
#include "views/background.h"

namespace peel::views {

class Matches {
 public:
  /// Makes it the text to match; "" = nothing to match. Null: forget the session (waits for the search to end).
  void set(const Session*, const std::string& text);
  /// Once a frame. True: ids() changed.
  bool poll();
  bool active() const { return active_; }      // there is a text that could be read
  bool busy() const { return search_.busy(); }
  const std::string& text() const { return text_; }
  const std::string& error() const { return error_; }      // what is wrong with the text
  const std::string& explains() const { return explains_; }
  const std::vector<EventId>& ids() const { return ids_; }  // ascending
  /// Next match after a hop (before it, if `forward` is false), around the ends; 0 = none.
  EventId next(EventId from, bool forward) const;

 private:
  void search(uint32_t from);
  const Session* session_ = nullptr;
  std::string text_, error_, explains_;
  bool active_ = false, fresh_ = false;
  Filter filter_ = *Filter::parse("");
  std::vector<EventId> ids_;
  uint32_t searched_ = 0;   // ids up to this one are in
  uint64_t generation_ = 0;
  struct Found { std::vector<EventId> ids; uint32_t to; };
  Background<Found> search_;
};

}  // namespace peel::views
