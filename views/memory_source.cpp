#include "views/memory_source.h"

#include <algorithm>

namespace peel::views {

using Clock = std::chrono::steady_clock;

const LoadedMemory& MemorySource::look(const Session& s) {
  if (auto fresh = work_.take()) {
    took_ = fresh->seconds;
    const uint64_t version = loaded_.version + 1;
    if (fresh->loaded.history) loaded_ = std::move(fresh->loaded);
    else loaded_.error = std::move(fresh->loaded.error);  // what was read before stays
    loaded_.version = version;
  }
  const bool stale = !asked_ || (!final_ && s.generation() != generation_);
  const std::chrono::duration<double> since = Clock::now() - asked_at_;
  if (stale && s.progress().ready && !work_.busy() && (!asked_ || since.count() > std::max(1.0, took_ * 10))) {
    asked_ = true, final_ = !s.live(), generation_ = s.generation(), asked_at_ = Clock::now();
    work_.start([&s](const std::atomic<bool>& cancelled) {
      const auto begin = Clock::now();
      Read out;
      auto h = load_memory(s.path(), &cancelled);
      if (!h) out.loaded.error = h.error();
      else out.loaded.history = *h, out.loaded.names = std::make_shared<MemoryNames>(s, **h);
      out.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      return out;
    });
  }
  return loaded_;
}

void MemorySource::forget() {
  work_.stop();
  loaded_ = {};
  asked_ = final_ = false;
  generation_ = 0, took_ = 0;
}

}  // namespace peel::views
