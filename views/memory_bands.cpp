#include "views/memory_bands.h"

#include <algorithm>
#include <cmath>

namespace peel::views {
namespace {

/// An allocation that is wide and thick enough to be seen: columns [first, last).
struct Candidate {
  LifeIndex life;
  int first, last;
  int64_t size;
};

/// Rounded up so that the marks of the axis are round numbers.
int64_t axis_top(int64_t bytes) {
  int64_t unit = 1;
  while (unit * 8 < bytes) unit *= 2;
  return std::max<int64_t>(1024, (bytes + unit - 1) / unit * unit);
}

/// Stacks the candidates, the oldest at the bottom; changes only at multiples of `grain` columns. False: too many pieces.
bool stack(const std::vector<Candidate>& all, int columns, int grain, double from, double step, const std::atomic<bool>& cancelled, std::vector<MemoryBands::Piece>& out,
           std::vector<int64_t>& height) {
  struct Standing {
    uint32_t which;
    int last;
    int64_t low;
    int since;
  };
  std::vector<Standing> now;
  out.clear();
  height.assign(static_cast<size_t>(columns), 0);
  size_t next = 0;
  const auto close = [&](const Standing& s, int column) {
    if (column > s.since) out.push_back({all[s.which].life, from + s.since * step, from + column * step, s.low, s.low + all[s.which].size});
  };
  for (int c = 0; c < columns; ++c) {
    if (c % grain == 0) {
      if (cancelled) return true;
      size_t changed = now.size(), kept = 0;
      for (size_t i = 0; i < now.size(); ++i) {
        if (now[i].last <= c) {
          close(now[i], c);
          changed = std::min(changed, kept);
        } else {
          now[kept++] = now[i];
        }
      }
      now.resize(kept);
      const int until = std::min(columns, c + grain);
      for (; next < all.size() && all[next].first < until; ++next)
        if (all[next].last > c) now.push_back({static_cast<uint32_t>(next), all[next].last, -1, c});
      changed = std::min(changed, kept);
      int64_t low = changed ? now[changed - 1].low + all[now[changed - 1].which].size : 0;
      for (size_t i = changed; i < now.size(); ++i) {
        if (now[i].low != low) {
          if (now[i].low >= 0) close(now[i], c);
          now[i].low = low, now[i].since = c;
        }
        low += all[now[i].which].size;
      }
      if (out.size() > kMostPieces) return false;
    }
    height[static_cast<size_t>(c)] = now.empty() ? 0 : now.back().low + all[now.back().which].size;
  }
  for (const Standing& s : now) close(s, columns);
  return out.size() <= kMostPieces;
}

}  // namespace

MemoryBands make_bands(const MemoryNames& names, uint16_t device, double from, double to, int columns, int rows, const std::atomic<bool>& cancelled) {
  const MemoryHistory& h = names.history();
  MemoryBands m;
  m.device = device, m.from = from, m.to = to;
  if (device >= h.devices.size() || columns < 1 || rows < 1 || !(to > from)) return m;
  const MemoryDevice& d = h.devices[device];
  const size_t n = d.events.size();
  const double step = (to - from) / columns;
  const auto clamp = [&](double p) { return static_cast<size_t>(std::clamp(p, 0.0, static_cast<double>(n))); };

  // ---- totals; a column shows the highest of its events, at least the state after the one it lies in
  std::vector<size_t> sample(static_cast<size_t>(columns));  // events applied where the column's bands are looked at
  int64_t most = 0;
  for (int c = 0; c < columns; ++c) {
    const size_t a = clamp(std::floor(from + c * step)), b = clamp(std::ceil(from + (c + 1) * step));
    MemoryBands::Column column;
    if (a < b) column.highest = d.totals.highest(a, b);
    else if (n) column.highest = d.totals[std::min(a, n - 1)];
    sample[static_cast<size_t>(c)] = std::min(n, clamp(std::floor(from + (c + .5) * step)) + 1);
    most = std::max({most, column.highest.reserved, column.highest.active});
    m.columns.push_back(column);
  }
  m.top = axis_top(most);

  // ---- which allocations can be seen
  const int64_t thin = std::max<int64_t>(1, m.top / rows * 3 / 4);
  std::vector<Candidate> all;
  // Of each column the last event that is in its state: an allocation is in the picture from its own event to before its end.
  std::vector<MemoryIndex> applied;
  for (const size_t s : sample) applied.push_back(s ? d.events[s - 1] : 0);
  const auto column_of = [&](MemoryIndex event) { return static_cast<int>(std::lower_bound(applied.begin(), applied.end(), event) - applied.begin()); };
  const MemoryIndex begin = clamp(from) < n ? d.events[clamp(from)] : kNoIndex, end = clamp(std::ceil(to)) < n ? d.events[clamp(std::ceil(to))] : kNoIndex;
  uint64_t in_sight = 0;
  size_t looked = 0;
  for (const LifeIndex l : d.lives) {
    const Life& life = h.lives[l];
    if (++looked % 65536 == 0 && cancelled) return m;
    if (life.begin >= end) break;
    if (life.end < begin) continue;
    ++in_sight;
    if (life.size < thin) continue;
    const int first = column_of(life.begin), last = column_of(life.end);
    if (last > first) all.push_back({l, first, last, life.size});
  }
  if (all.size() > kMostBands) {
    const auto area = [](const Candidate& c) { return static_cast<double>(c.size) * (c.last - c.first); };
    std::nth_element(all.begin(), all.begin() + kMostBands, all.end(), [&](const Candidate& a, const Candidate& b) { return area(a) > area(b); });
    all.resize(kMostBands);
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.first != b.first ? a.first < b.first : a.life < b.life; });
  std::vector<int64_t> height;
  for (int grain = 1; !stack(all, columns, grain, from, step, cancelled, m.pieces, height) && grain < columns; grain *= 2) {}
  m.bands = all.size(), m.folded = in_sight - all.size();
  for (int c = 0; c < columns; ++c) m.columns[static_cast<size_t>(c)].folded = std::max<int64_t>(0, m.columns[static_cast<size_t>(c)].highest.active - height[static_cast<size_t>(c)]);

  // ---- names on those that have room for one
  const double wide = 48 * step, high = 13.0 * static_cast<double>(m.top) / rows;
  constexpr size_t kMostLabels = 120;
  for (size_t i = 0; i < m.pieces.size() && m.labels.size() < kMostLabels; ++i) {
    const MemoryBands::Piece& b = m.pieces[i];
    if (b.to - b.from < wide || static_cast<double>(b.high - b.low) < high) continue;
    const Life& life = h.lives[b.life];
    std::string text = life.older ? "older than the recording" : names.op(h.events[life.begin]);
    if (text.empty()) text = names.line(h.events[life.begin]);
    m.labels.push_back({i, text});
  }

  // ---- what the program was doing
  std::string at;
  for (int c = 0; c < columns && n; ++c) {
    const size_t p = clamp(from + (c + .5) * step);
    if (p >= n) break;
    const MemoryEvent& e = h.events[d.events[p]];
    std::string label = names.line(e);
    if (label.empty() && e.event) {
      for (EventId up = e.event; up; up = names.session().parent(up)) if (names.session().event(up).kind == Kind::kBackwardNode) label = "backward";
    }
    if (m.stretches.empty() || label != m.stretches.back().label) m.stretches.push_back({from + c * step, 0, label, d.events[p]});
    m.stretches.back().to = from + (c + 1) * step;
  }
  return m;
}

const MemoryBands::Piece* piece_at(const MemoryBands& m, double position, int64_t bytes) {
  for (const MemoryBands::Piece& p : m.pieces) if (position >= p.from && position < p.to && bytes >= p.low && bytes < p.high) return &p;
  return nullptr;
}

}  // namespace peel::views
