// What the memory panel asks the history, worked out on threads of their own: a frame draws the newest that is there.
#pragma once
#include "views/memory_chart.h"
#include "views/memory_oom_model.h"

namespace peel::views {

struct MomentAnswer {
  MemoryState state;
  HolderTable holders;
  std::vector<PoolRow> pools;
};
struct BetweenAnswer {
  HolderTable stayed;      // allocated between the marks and still there
  uint64_t went_blocks = 0;
  int64_t went_bytes = 0;  // held at the first mark and given back by the second
};

class MemoryAnswers {
 public:
  void forget();
  bool busy() const { return moment_work_.busy() || between_work_.busy() || failed_work_.busy(); }
  /// Once a frame: takes what is ready and asks for what the view now needs.
  void refresh(const MemoryView&, HoldBy, bool failed);
  const MomentAnswer& moment() const { return moment_; }
  const BetweenAnswer& between() const { return between_; }
  const OomReport& failed() const { return failed_; }

 private:
  /// What an answer is of: asked again when any of it changed.
  struct Wish {
    const MemoryHistory* history = nullptr;
    uint16_t device = 0;
    MemoryIndex a = kNoIndex, b = kNoIndex;
    HoldBy by = HoldBy::kLine;
    bool operator==(const Wish&) const = default;
  };
  Background<MomentAnswer> moment_work_;
  Background<BetweenAnswer> between_work_;
  Background<OomReport> failed_work_;
  MomentAnswer moment_;
  BetweenAnswer between_;
  OomReport failed_;
  Wish moment_of_, moment_for_, between_of_, between_for_, failed_of_, failed_for_;  // _of: what is there; _for: worked on
};

}  // namespace peel::views
