#include "sessions/iterations.h"

#include <algorithm>
#include <unordered_map>

namespace peel {
namespace {

constexpr int kMaxLevels = 6;

/// A place in the user's code: function and line.
struct Place {
  std::string_view file, function;
  int line;
  bool operator==(const Place&) const = default;
};

/// The user's frames of each stack, outermost first, as numbers of places; computed once a stack.
class Paths {
 public:
  explicit Paths(const Session& s) : s_(s) {}
  const std::vector<uint32_t>& of(StackId stack) {
    const StackId user = s_.user_frame(stack);
    const auto [it, fresh] = paths_.try_emplace(user.value);
    if (!fresh) return it->second;
    std::vector<uint32_t> path;
    // Callers have smaller ids, so this ends; the bound is for other kinds of sessions.
    StackId at = user;
    for (int steps = 0; at && steps < 1000; ++steps) {
      const Frame f = s_.frame(at);
      path.push_back(number(Place{f.file, f.function, f.line}));
      const StackId up = f.parent ? s_.user_frame(f.parent) : StackId{};
      if (up == at) break;
      at = up;
    }
    std::reverse(path.begin(), path.end());
    return paths_[user.value] = std::move(path);
  }
  const Place& place(uint32_t n) const { return places_[n]; }

 private:
  uint32_t number(const Place& p) {
    const std::string key = std::string(p.file) + '\0' + std::string(p.function) + '\0' + std::to_string(p.line);
    const auto [it, fresh] = numbers_.try_emplace(key, static_cast<uint32_t>(places_.size()));
    if (fresh) places_.push_back(p);
    return it->second;
  }
  const Session& s_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> paths_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Place> places_;
};

constexpr uint32_t kNowhere = UINT32_MAX;

struct Walk {
  std::vector<EventId> roots;
  std::vector<const std::vector<uint32_t>*> paths;  // of each root
};

uint32_t place_at(const Walk& w, size_t root, size_t level) {
  const std::vector<uint32_t>& path = *w.paths[root];
  return level < path.size() ? path[level] : kNowhere;
}

/// First roots of all rounds in [begin, end) at this level, the first included; empty when nothing repeats.
std::vector<size_t> rounds(const Walk& w, const Paths& paths, size_t begin, size_t end, size_t level) {
  std::vector<size_t> starts;
  std::unordered_map<uint32_t, size_t> seen;  // place -> round in which it was last seen, from 1
  size_t round = 1, jump = begin;
  uint32_t current = kNowhere;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t p = place_at(w, i, level);
    if (p == kNowhere || p == current) continue;  // a call without a line belongs to what is around it
    if (current != kNowhere) {
      const Place &from = paths.place(current), &to = paths.place(p);
      if (from.function == to.function && from.file == to.file && to.line < from.line) jump = i;
    }
    current = p;
    size_t& last = seen[p];
    if (last == round) {
      const size_t round_begin = starts.empty() ? begin : starts.back();
      const size_t start = jump > round_begin ? jump : i;
      starts.push_back(start);
      ++round;
      for (size_t k = start; k <= i; ++k) {
        if (const uint32_t q = place_at(w, k, level); q != kNowhere) seen[q] = round;
      }
    }
    last = round;
  }
  return starts;
}

std::vector<Iteration> name_rounds(const Walk& w, std::vector<size_t> starts, size_t level, size_t begin, size_t end) {
  // Where the first round begins: at the place at which the second does, if it is there; else at the first
  // place that any later round has.
  const uint32_t head = place_at(w, starts.front(), level);
  std::unordered_map<uint32_t, bool> later;
  for (size_t i = starts.front(); i < end; ++i) later[place_at(w, i, level)] = true;
  size_t first = starts.front();
  for (size_t i = begin; i < starts.front(); ++i) {
    if (place_at(w, i, level) == head) {
      first = i;
      break;
    }
  }
  if (first == starts.front()) {
    for (size_t i = begin; i < starts.front(); ++i) {
      if (const uint32_t p = place_at(w, i, level); p != kNowhere && later.contains(p)) {
        first = i;
        break;
      }
    }
  }
  // The last round ends with the last place that an earlier round has.
  std::unordered_map<uint32_t, bool> earlier;
  for (size_t i = first; i < starts.back(); ++i) earlier[place_at(w, i, level)] = true;
  size_t last = starts.back();
  for (size_t i = starts.back(); i < end; ++i) {
    if (const uint32_t p = place_at(w, i, level); p != kNowhere && earlier.contains(p)) last = i;
  }
  // A call without a line right behind belongs to it still.
  while (last + 1 < end && place_at(w, last + 1, level) == kNowhere) ++last;

  std::vector<Iteration> out;
  const auto add = [&](std::string name, size_t from, size_t to, uint32_t number) {
    if (from < to) out.push_back({std::move(name), w.roots[from], w.roots[to - 1], number});
  };
  starts.insert(starts.begin(), first);
  add("set-up", 0, first, 0);
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t stop = i + 1 < starts.size() ? starts[i + 1] : last + 1;
    add("iteration " + std::to_string(i + 1), starts[i], stop, static_cast<uint32_t>(i + 1));
  }
  add("afterwards", last + 1, w.roots.size(), 0);
  return out;
}

}  // namespace

std::vector<Iteration> iterations(const Session& s, ThreadId thread) {
  Walk w;
  w.roots = s.roots(thread);
  Paths paths(s);
  w.paths.reserve(w.roots.size());
  static const std::vector<uint32_t> none;
  for (const EventId e : w.roots) w.paths.push_back(nullptr), w.paths.back() = &paths.of(s.event(e).stack);
  size_t begin = 0, end = w.roots.size();
  for (size_t level = 0; level < kMaxLevels && end - begin > 1; ++level) {
    std::vector<size_t> starts = rounds(w, paths, begin, end, level);
    if (!starts.empty()) return name_rounds(w, std::move(starts), level, begin, end);
    // The longest run of calls from one place, further in.
    size_t best = begin, best_end = begin;
    for (size_t i = begin; i < end;) {
      const uint32_t p = place_at(w, i, level);
      size_t stop = i + 1;
      while (stop < end && (place_at(w, stop, level) == p || place_at(w, stop, level) == kNowhere)) ++stop;
      if (p != kNowhere && stop - i > best_end - best) best = i, best_end = stop;
      i = stop;
    }
    if ((best_end - best) * 2 < end - begin) break;
    begin = best;
    end = best_end;
  }
  return {};
}

ThreadId main_thread(const Session& s) { return s.size() ? s.event(EventId{1}).thread : ThreadId{}; }

EventId default_selection(const Session& s) {
  const uint32_t size = s.size();
  if (size <= 1) return EventId{size};
  for (const Raised& r : s.raised()) {
    if (!r.event || r.event.value > size) continue;
    // The exception passed outwards through several hops: where it came from.
    EventId deepest = r.event;
    for (const Raised& inner : s.raised_in(r.event)) {
      if (s.depth(inner.event) > s.depth(deepest)) deepest = inner.event;
    }
    return deepest;
  }
  const ThreadId thread = main_thread(s);
  const auto from_user = [&](EventId e) {
    const Event v = s.event(e);
    return e.value > 1 && is_call(v.kind) && s.user_frame(v.stack);
  };
  for (const Iteration& i : iterations(s, thread)) {
    if (i.number != 2) continue;
    for (EventId e = i.first; e && e <= i.last; e = s.next_sibling(e)) {
      if (from_user(e)) return e;
    }
  }
  constexpr int kMaxLook = 200'000;
  int looked = 0;
  for (EventId e{1}; e && looked < kMaxLook; e = s.next_sibling(e), ++looked) {
    if (from_user(e)) return e;
  }
  return EventId{2};
}

}  // namespace peel
