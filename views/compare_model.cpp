#include "views/compare_model.h"

#include <algorithm>

#include "sessions/diff_side.h"
#include "sessions/memory.h"
#include "sessions/why_onion.h"
#include "views/words.h"

namespace peel::views {
namespace {

constexpr size_t kFewRows = 60;       // so many are all shown open
constexpr size_t kRowsForColumns = 3000;
constexpr size_t kMaxMade = 4096;
constexpr uint32_t kCountedExactly = 200;
constexpr int kLookBack = 4;           // differences that may have said the same

std::string side_name(const DiffSide& side, bool two) {
  std::string name = side.scope.whole() ? "" : side.scope.name;
  if (name.starts_with("mode:")) name.erase(0, 5);
  const std::string file = base_name(side.session->path());
  if (name.empty()) return file;
  return two ? file + ", " + name : name;
}

std::string key_of(const Session& s, EventId hop) {
  const Key* key = s.key(s.event(hop).key);
  return key ? key->name : "";
}

Parts strong_names(const std::string& text, const std::string (&names)[2]) {
  Parts parts;
  for (size_t at = 0; at < text.size();) {
    size_t next = text.size(), length = 0;
    for (const std::string& name : names) {
      const size_t found = text.find(name, at);
      if (!name.empty() && found < next) next = found, length = name.size();
    }
    if (next > at) parts.push_back({text.substr(at, next - at)});
    if (length) parts.push_back({text.substr(next, length), true});
    at = next + length;
  }
  return parts;
}

}  // namespace

CompareChoice choose_sides(const Session* session, const CompareSets& sets) {
  CompareChoice c;
  if (!session) return c;
  if (sets.other) {
    c.side[0] = {session, sets.a ? *sets.a : DiffScope{}};
    c.side[1] = {sets.other, sets.b ? *sets.b : DiffScope{}};
  } else if (sets.a && sets.b) {
    c.side[0] = {session, *sets.a};
    c.side[1] = {session, *sets.b};
  } else {
    DiffScope left, right;
    if (sets.a || sets.b || !mode_pair(*session, &left, &right)) return c;
    c.side[0] = {session, left};
    c.side[1] = {session, right};
  }
  for (int i = 0; i < 2; ++i) c.name[i] = side_name(c.side[i], sets.other != nullptr);
  return c;
}

void CompareModel::set(CompareChoice choice, Diff diff, const std::string& headline) {
  const bool again = filled_ && choice.name[0] == choice_.name[0] && choice.name[1] == choice_.name[1];
  choice_ = std::move(choice);
  diff_ = std::move(diff);
  filled_ = true;
  headline_ = strong_names(headline, choice_.name);
  summary_ = count_text(diff_.same) + " of " + plural(diff_.same + diff_.differ(), "call") + " the same; " + count_text(diff_.totals[0].hops) + " and " + plural(diff_.totals[1].hops, "hop");
  not_compared_.clear();
  for (std::string& sentence : diff_not_compared(diff_)) {
    sentence.pop_back(), sentence[0] = static_cast<char>(std::tolower(sentence[0]));
    not_compared_.push_back(std::move(sentence));
  }
  if (!again) toggled_.clear();
  differences_.clear();
  for (size_t i = diff_.first(); i != SIZE_MAX; i = diff_.next(i)) differences_.push_back(i);
  // A column for each family that the first rows have; the usual three always.
  bool has[theme::kFamilies] = {};
  has[theme::kAutograd] = has[theme::kView] = has[theme::kBackend] = true;
  for (size_t i = 0; i < std::min(diff_.rows.size(), kRowsForColumns); ++i)
    for (int k = 0; k < 2; ++k)
      if (const EventId call = k ? diff_.rows[i].right : diff_.rows[i].left)
        for (const EventId layer : call_tree(session(k), call).layers)
          if (const std::string key = key_of(session(k), layer); !key.empty() && key != "Undefined") has[theme::key_style(key).family] = true;
  columns_.clear();
  for (int f = 0; f < theme::kFamilies; ++f)
    if (has[f]) columns_.push_back(static_cast<theme::Family>(f));
  rebuild();
}

std::string CompareModel::facts(int side) const {
  const DiffTotals& t = diff_.totals[side];
  std::string out = plural(t.nodes, "node");
  if (t.saved == 0) out += ", nothing saved";
  else if (t.saved > 0) out += ", " + count_text(static_cast<uint64_t>(t.saved)) + " saved";
  out += ", " + duration(t.time);
  if (const int64_t other = diff_.totals[1 - side].held; t.held >= 0 && other >= 0 && t.held != other) out += ", holds " + bytes_text(t.held);
  return out;
}

std::string CompareModel::effects(int side, EventId call) const {
  const CallEffects* of = diff_.effects[side].get();
  if (!of) return "";
  std::string out;
  if (of->has_memory()) out = "Allocates " + taken_text(of->taken_in(session(side), call));
  if (of->has_gpu()) out += (out.empty() ? "Launches " : "; launches ") + launched_text(of->launched_in(session(side), call));
  return out;
}

// What holds differences is open as far as that is one screen, else only what differs nowhere but inside.
bool CompareModel::opens_at_first(const DiffRow& r) const { return r.differ > 0 && (diff_.rows.size() <= kFewRows || !Diff::is_difference(r)); }

void CompareModel::rebuild() {
  items_.clear();
  made_.clear();
  const auto& rows = diff_.rows;
  for (size_t i = 0; i < rows.size();) {
    const DiffRow& r = rows[i];
    if (r.state == DiffState::kSame) {
      uint32_t n = 1;
      while (i + n < rows.size() && rows[i + n].state == DiffState::kSame && rows[i + n].depth == r.depth) ++n;
      const bool open = n > 1 && toggled_.contains(i);
      if (n > 1) items_.push_back({i, n});
      for (uint32_t k = 0; k < n && (n == 1 || open); ++k) items_.push_back({i + k, 1});
      i += n;
      continue;
    }
    items_.push_back({i, 1});
    const bool at_first = opens_at_first(r);
    i += r.below && at_first == toggled_.contains(i) ? r.below + size_t{1} : size_t{1};
  }
}

CompareHalf CompareModel::make_half(int side, EventId call, const std::vector<LayerCause>& causes) const {
  CompareHalf h;
  h.call = call;
  h.cells.resize(columns_.size());
  if (!call) return h;
  const Session& s = session(side);
  const auto cell = [&](const std::string& key) -> CompareCell* {
    const auto at = std::find(columns_.begin(), columns_.end(), theme::key_style(key).family);
    return at == columns_.end() ? nullptr : &h.cells[static_cast<size_t>(at - columns_.begin())];
  };
  for (const EventId layer : call_tree(s, call).layers) {
    const std::string key = key_of(s, layer);
    if (key.empty() || key == "Undefined") continue;
    h.composite = is_composite(s.kernel(s.event(layer).kernel));
    if (CompareCell* c = cell(key)) {
      c->key = key;
      c->mark = h.composite ? theme::Mark::kComposite : theme::Mark::kRan;
    }
  }
  for (const LayerCause& cause : causes) {
    CompareCell* c = cell(cause.key);
    if (!c) continue;
    c->differs = true;
    if (c->mark != theme::Mark::kAbsent || cause.ran_left == (side == 0)) continue;
    if (cause.verdict == Verdict::kBelow) continue;  // nothing was skipped: a kernel above did all of it
    c->key = cause.key;
    c->mark = cause.verdict == Verdict::kNotInSet ? theme::Mark::kMasked : theme::mark_of(cause.verdict);
  }
  const Event e = s.event(call);
  h.hops = 1;
  for (EventId i = s.next_in_thread(call); i && i <= e.last && h.hops < 100000; i = s.next_in_thread(i)) ++h.hops;
  return h;
}

CompareRow CompareModel::make_row(const Item& item) const {
  const DiffRow& d = diff_.rows[item.index];
  CompareRow r;
  r.index = item.index, r.calls = item.calls, r.state = d.state, r.depth = d.depth;
  const int side = d.left ? 0 : 1;
  const Session& s = session(side);
  const EventId call = d.left ? d.left : d.right;
  r.name = hop_name(s, call);
  if (!d.depth)
    if (const std::string line = line_of(s, call); !line.empty()) r.line = line.substr(line.rfind(':'));
  if (item.calls > 1) {
    bool one = true;
    for (uint32_t i = 1; i < item.calls && one; ++i) one = hop_name(s, diff_.rows[item.index + i].left) == r.name;
    r.name = one ? r.name + ", " + std::to_string(item.calls) + " times" : plural(item.calls, "call");
    for (int k = 0; k < 2; ++k) {
      // What other threads did meanwhile is in the ids too, but a group of many calls is not counted one by one.
      for (uint32_t i = 0; i < item.calls; ++i) {
        const EventId of = k ? diff_.rows[item.index + i].right : diff_.rows[item.index + i].left;
        r.half[k].hops += item.calls > kCountedExactly ? session(k).last(of).value - of.value + 1 : make_half(k, of, {}).hops;
      }
    }
    r.what = "no difference";
    r.line.clear();
    r.expandable = true;
    r.expanded = toggled_.contains(item.index);
    return r;
  }
  const std::vector<LayerCause> causes = layer_causes(session(0), session(1), d);
  r.half[0] = make_half(0, d.left, causes);
  r.half[1] = make_half(1, d.right, causes);
  r.what = d.left && d.right ? diff_reason(session(0), session(1), diff_, d, true) : "only in " + choice_.name[d.left ? 0 : 1];
  r.expandable = d.below > 0;
  r.expanded = d.below && opens_at_first(d) != toggled_.contains(item.index);
  if (d.what & diff_what::kLayers) {
    size_t before = item.index;
    for (int look = 0; look < kLookBack && !r.repeats && (before = diff_.previous(before)) != SIZE_MAX; ++look)
      r.repeats = diff_reason(session(0), session(1), diff_, diff_.rows[before], true) == r.what;
  }
  return r;
}

const CompareRow& CompareModel::row(size_t i) {
  if (made_.size() > kMaxMade) made_.clear();
  const auto it = made_.find(i);
  return it != made_.end() ? it->second : made_.emplace(i, make_row(items_[i])).first->second;
}

bool CompareModel::set_expanded(size_t i, bool expanded) {
  if (i >= items_.size()) return false;
  const CompareRow& r = row(i);
  if (!r.expandable || r.expanded == expanded) return false;
  const size_t index = r.index;
  if (!toggled_.erase(index)) toggled_.insert(index);
  rebuild();
  return true;
}

size_t CompareModel::parent(size_t i) const {
  if (i >= items_.size()) return SIZE_MAX;
  const uint16_t depth = diff_.rows[items_[i].index].depth;
  while (depth && i-- > 0)
    if (diff_.rows[items_[i].index].depth < depth) return i;
  return SIZE_MAX;
}

size_t CompareModel::reveal(size_t index) {
  if (index >= diff_.rows.size()) return SIZE_MAX;
  uint16_t depth = diff_.rows[index].depth;
  bool changed = false;
  for (size_t i = index; depth && i-- > 0;) {
    const DiffRow& r = diff_.rows[i];
    if (r.depth >= depth) continue;
    depth = r.depth;
    if (opens_at_first(r) != toggled_.contains(i)) continue;
    if (!toggled_.erase(i)) toggled_.insert(i);
    changed = true;
  }
  if (changed) rebuild();
  // The last item at or before it; a folded group stands for what it holds.
  const auto it = std::upper_bound(items_.begin(), items_.end(), index, [](size_t n, const Item& item) { return n < item.index; });
  return it == items_.begin() ? SIZE_MAX : static_cast<size_t>(it - items_.begin()) - 1;
}

size_t CompareModel::find(int side, EventId hop) const {
  size_t best = SIZE_MAX;
  EventId best_call;
  for (size_t i = 0; i < diff_.rows.size();) {
    const DiffRow& r = diff_.rows[i];
    const EventId call = side ? r.right : r.left;
    const bool inside = call && call <= hop && hop <= session(side).last(call) && session(side).event(call).thread == session(side).event(hop).thread;
    if (inside && call >= best_call) best = i, best_call = call;
    i += inside ? size_t{1} : r.below + size_t{1};
  }
  return best;
}

size_t CompareModel::difference_number(size_t index) const {
  const auto it = std::lower_bound(differences_.begin(), differences_.end(), index);
  return it != differences_.end() && *it == index ? static_cast<size_t>(it - differences_.begin()) + 1 : 0;
}

}  // namespace peel::views
