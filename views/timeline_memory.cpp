#include "views/timeline_memory.h"

#include <algorithm>

namespace peel::views {
namespace {

/// First place at or after `from` whose event is later than `t`. Steps grow, as the next place is most often near.
size_t after(const MemoryHistory& h, const MemoryDevice& d, size_t from, Nanoseconds t) {
  const auto later = [&](size_t i) { return h.events[d.events[i]].time > t; };
  const size_t n = d.events.size();
  size_t low = from, step = 1;
  while (low + step < n && !later(low + step)) low += step, step *= 2;
  const auto begin = d.events.begin();
  return static_cast<size_t>(std::partition_point(begin + static_cast<ptrdiff_t>(low), begin + static_cast<ptrdiff_t>(std::min(low + step, n)),
                                                  [&](MemoryIndex i) { return h.events[i].time <= t; }) - begin);
}

}  // namespace

size_t position_at(const MemoryHistory& h, const MemoryDevice& d, Nanoseconds t) { return after(h, d, 0, t); }

std::vector<MemoryTotals> totals_over(const MemoryHistory& h, const MemoryDevice& d, const TimelineView& view, double pixels) {
  std::vector<MemoryTotals> out;
  const size_t known = std::min(d.events.size(), d.totals.size());
  size_t at = position_at(h, d, view.from);
  for (double x = 0; x < view.width; x += pixels) {
    const size_t next = after(h, d, at, view.at(x + pixels));
    out.push_back(d.totals.highest(at ? at - 1 : 0, std::min(next, known)));
    at = next;
  }
  return out;
}

std::string memory_tip(const MemoryHistory& h, const MemoryDevice& d, Nanoseconds t) {
  const size_t n = std::min(position_at(h, d, t), d.totals.size());
  const MemoryTotals now = n ? d.totals[n - 1] : MemoryTotals{};
  std::string out = bytes_text(now.allocated) + " allocated" + (d.caching() ? ", " + bytes_text(now.reserved) + " reserved" : "") + "\n";
  if (n) {
    const MemoryEvent& e = h.events[d.events[n - 1]];
    out += "last: " + std::string(memory_action_name(e.action)) + " " + bytes_text(e.size) + (e.event ? "\nClick selects its hop." : ", outside of any hop") + "\n";
  }
  return out + "peak " + bytes_text(d.peak.allocated) + " allocated" + (d.caching() ? ", " + bytes_text(d.peak.reserved) + " reserved" : "");
}

EventId memory_hop(const MemoryHistory& h, const MemoryDevice& d, Nanoseconds t) {
  const size_t n = position_at(h, d, t);
  return n ? h.events[d.events[n - 1]].event : EventId{};
}

}  // namespace peel::views
