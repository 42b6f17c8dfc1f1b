// What a reader should look at: exceptions, failed look-ups, places where a gradient stops, contradictions,
// saved tensors that were written before backward, what is missing from the recording, how the program ended, bookmarks, notes. One pass over the hops plus a bounded
// number of look-ups of arguments; meant for a background thread.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "sessions/query.h"
#include "views/words.h"

namespace peel::views {

struct Finding {
  enum class Kind : uint8_t { kRaised, kMissing, kMemory, kEnded, kOpen, kMixed, kChanged, kStop, kLoop, kCopy, kByHand, kLost, kInferred, kNote } kind;
  Parts sentence;
  EventId event;                 // the first hop; 0 = about the whole recording
  uint64_t count = 1;            // how often; `events` holds the first ones
  std::vector<EventId> events;
  std::string hover;
  TensorId tensor;               // that it is about: shown in Tensor when the row is taken
};
/// "raised", "missing", "stop", ...
const char* finding_word(Finding::Kind);

struct Findings {
  std::vector<Finding> rows;     // the most serious first
  uint64_t generation = 0;       // of the session when this was computed
  uint32_t hops = 0;             // looked at
  uint64_t skipped = 0;          // calls whose arguments were not looked at, to stay quick
  bool values = true;            // arguments were recorded: gradient stops can be seen
  bool complete = false;         // nothing more will come
  std::string summary() const;   // "7 findings in 504 hops, 1 note; 0 lost, 0 inferred"
};

/// Runs SQL on the session's file; empty = not available.
using Ask = std::function<Result<QueryTable>(const std::string& sql)>;

/// Bookmarks and notes come and go on a finished session: makes only their rows anew.
void refresh_notes(const Session&, Findings&);
Findings find_all(const Session&, const Ask&, const std::atomic<bool>& cancelled);

}  // namespace peel::views
