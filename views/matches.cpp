#include "views/matches.h"

#include <algorithm>

namespace peel::views {

void Matches::set(const Session* s, const std::string& text) {
  if (s == session_ && text == text_) return;
  search_.stop();
  session_ = s, text_ = text;
  error_.clear(), explains_.clear(), ids_.clear();
  searched_ = 0, active_ = false, fresh_ = true;
  if (!s || text.find_first_not_of(' ') == std::string::npos) return;
  Result<Filter> f = Filter::parse(text);
  if (!f) {
    error_ = f.error();
    return;
  }
  filter_ = std::move(*f);
  if (filter_.empty()) return;
  explains_ = filter_.explain();
  active_ = true;
  search(1);
}

void Matches::search(uint32_t from) {
  generation_ = session_->generation();
  search_.start([s = session_, f = filter_, from](const std::atomic<bool>& cancelled) {
    Found out{{}, from - 1};
    const uint32_t end = s->size();
    constexpr uint32_t kSlice = 1 << 18;  // hops between two looks at the flag
    while (out.to < end && !cancelled) {
      const uint32_t to = std::min(end, out.to + kSlice);
      const std::vector<EventId> part = f.matches(*s, EventId(out.to + 1), EventId(to));
      out.ids.insert(out.ids.end(), part.begin(), part.end());
      out.to = to;
    }
    return out;
  });
}

bool Matches::poll() {
  bool changed = fresh_;
  if (active_) {
    if (auto found = search_.take()) {
      // A hop's end, error or node may have come after it was looked at: the last ones are looked at again.
      const uint32_t kept = searched_;
      if (kept) std::erase_if(ids_, [&](EventId e) { return !found->ids.empty() && e >= found->ids.front(); });
      ids_.insert(ids_.end(), found->ids.begin(), found->ids.end());
      searched_ = found->to;
      changed = true;
    } else if (!search_.busy() && session_->generation() != generation_) {
      constexpr uint32_t kAgain = 2000;
      search(searched_ > kAgain ? searched_ - kAgain : 1);
    }
    if (search_.busy() && !searched_) return false;  // the first answer is under way: show what was until then
  }
  fresh_ = false;
  return changed;
}

EventId Matches::next(EventId from, bool forward) const {
  if (ids_.empty()) return {};
  if (forward) {
    const auto i = std::upper_bound(ids_.begin(), ids_.end(), from);
    return i == ids_.end() ? ids_.front() : *i;
  }
  const auto i = std::lower_bound(ids_.begin(), ids_.end(), from);
  return i == ids_.begin() ? ids_.back() : *(i - 1);
}

}  // namespace peel::views
