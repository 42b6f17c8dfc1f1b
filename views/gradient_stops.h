// Where a gradient stops: calls that took a tensor which requires one and gave a result that does not.
//
// The pass over the hops only counts candidates by operator and place, from columns: calls that landed at an
// autograd key and made no node. Arguments are read afterwards, for the first few of each place.
#pragma once
#include <atomic>
#include <map>
#include <unordered_map>
#include <vector>

#include "sessions/session.h"

namespace peel::views {

struct Finding;

class GradientStops {
 public:
  explicit GradientStops(const Session&);
  void see(const Event&);
  void finish(std::vector<Finding>&, const std::atomic<bool>& cancelled);
  uint64_t skipped() const { return skipped_; }
  bool values_recorded() const { return !saw_no_values_ || saw_values_; }

 private:
  struct Place {
    uint64_t count = 0;
    std::vector<EventId> first;  // to look into
  };
  enum class Answer : uint8_t { kNo, kStops, kStopsWithNumbers };
  Answer look(const Event&) const;
  bool in_optimizer(StackId);
  std::string_view base(OpId) const;
  StackId line(StackId);         // the user's own frame, remembered

  const Session& s_;
  std::vector<bool> autograd_key_;              // by KeyId
  std::map<std::pair<OpId, StackId>, Place> grad_on_;
  std::map<StackId, Place> grad_off_;           // by line
  std::unordered_map<StackId, bool> optimizer_;
  std::unordered_map<StackId, StackId> line_;
  EventId inside_;                              // last hop of the run in backward that we are in
  ThreadId inside_thread_;
  uint64_t skipped_ = 0;
  bool saw_no_values_ = false, saw_values_ = false;
};

}  // namespace peel::views
