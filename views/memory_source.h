// The allocator's history of the open session, read once for all panels on a thread of its own, and again while a recording grows.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "views/background.h"
#include "views/memory_model.h"

namespace peel::views {

struct LoadedMemory {
  std::shared_ptr<const MemoryHistory> history;  // null: not read yet, or it could not be read
  std::shared_ptr<const MemoryNames> names;
  std::string error;
  uint64_t version = 0;                          // grows with each reading; 0 = none yet
};

/// All calls from the frame loop.
class MemorySource {
 public:
  /// The newest there is. Asks for a newer one when the session has grown, at most for a tenth of the time.
  const LoadedMemory& look(const Session&);
  bool busy() const { return work_.busy(); }
  /// Another session: waits for what still reads the old one.
  void forget();

 private:
  struct Read {
    LoadedMemory loaded;
    double seconds = 0;
  };
  Background<Read> work_;
  LoadedMemory loaded_;
  bool asked_ = false, final_ = false;  // final_: nothing more comes after what was asked for
  uint64_t generation_ = 0;
  std::chrono::steady_clock::time_point asked_at_{};
  double took_ = 0;                     // seconds
};

}  // namespace peel::views
