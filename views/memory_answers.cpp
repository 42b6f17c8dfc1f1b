#include "views/memory_answers.h"

#include <algorithm>

namespace peel::views {

void MemoryAnswers::forget() {
  moment_work_.stop(), between_work_.stop(), failed_work_.stop();
  moment_ = {}, between_ = {}, failed_ = {};
  moment_of_ = moment_for_ = between_of_ = between_for_ = failed_of_ = failed_for_ = {};
}

void MemoryAnswers::refresh(const MemoryView& v, HoldBy by, bool failed) {
  const auto take = [](auto& work, auto& value, Wish& of, const Wish& was) {
    if (auto fresh = work.take()) value = std::move(*fresh), of = was;
  };
  take(moment_work_, moment_, moment_of_, moment_for_);
  take(between_work_, between_, between_of_, between_for_);
  take(failed_work_, failed_, failed_of_, failed_for_);
  const auto names = v.names;
  const auto history = v.history;  // held by the work: a newer one may replace it meanwhile
  // The newest wish is taken up when the one before is done: nothing piles up while the moment is dragged along.
  const Wish now{history.get(), v.device, v.moment, 0, by};
  if (!moment_work_.busy() && moment_of_ != now) {
    moment_for_ = now;
    moment_work_.start([names, history, now](const std::atomic<bool>& cancelled) {
      MomentAnswer a;
      a.state = replay(*history, now.device, now.a);
      a.pools = pools(*history, a.state);
      a.holders = group(*names, held(a.state), now.by, cancelled);
      return a;
    });
  }
  if (v.mark_a != kNoIndex && v.mark_b != kNoIndex) {
    const Wish w{history.get(), v.device, std::min(v.mark_a, v.mark_b), std::max(v.mark_a, v.mark_b), by};
    if (!between_work_.busy() && between_of_ != w) {
      between_for_ = w;
      between_work_.start([names, history, w](const std::atomic<bool>& cancelled) {
        BetweenAnswer out;
        out.stayed = group(*names, stayed(*history, w.device, w.a, w.b), w.by, cancelled);
        for (const LifeIndex l : went(*history, w.device, w.a, w.b)) out.went_blocks++, out.went_bytes += history->lives[l].size;
        return out;
      });
    }
  }
  const MemoryIndex oom = failed ? oom_near(*history, v.device, v.moment + 1) : kNoIndex;
  const Wish w{history.get(), v.device, oom, 0};
  if (oom != kNoIndex && !failed_work_.busy() && failed_of_ != w) {
    failed_for_ = w;
    failed_work_.start([names, history, w](const std::atomic<bool>& cancelled) { return explain_oom(*names, w.a, cancelled); });
  }
}

}  // namespace peel::views
