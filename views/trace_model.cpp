#include "views/trace_model.h"

#include <algorithm>
#include <chrono>

#include "views/words.h"

namespace peel::views {
namespace {

constexpr uint32_t kSample = 1024;  // hops between two counts of the scan

bool is_hop(TraceRow::Kind k) { return k >= TraceRow::Kind::kCall; }

TraceRow::Kind kind_of(Kind k) {
  if (is_call(k)) return TraceRow::Kind::kCall;
  if (is_redispatch(k)) return TraceRow::Kind::kRedispatch;
  if (k == Kind::kBackwardNode) return TraceRow::Kind::kNodeRun;
  if (k == Kind::kMissingKernel) return TraceRow::Kind::kMissing;
  return TraceRow::Kind::kOther;
}

TraceModel::Column column_of(std::string_view key) {
  switch (theme::key_style(key).family) {
    case theme::kPython: return TraceModel::kPython;
    case theme::kFunctorch: return TraceModel::kFunctorch;
    case theme::kAutocast: return TraceModel::kAutocast;
    case theme::kAutograd: return TraceModel::kAutograd;
    case theme::kView: return TraceModel::kView;
    default: return TraceModel::kBackend;
  }
}

// Modules are levels of the tree; modes and the like are told by the Why panel.
bool shown(const Span& s) { return s.kind == "module" || s.kind == "mark"; }
bool holds(const Span& s, EventId e) { return s.begin && s.begin <= e && (s.end >= e || (!s.end && s.end_ns == kOpen)); }

std::string squeezed(std::string_view shape) {
  std::string out;
  for (char c : shape) if (c != ' ') out += c;
  return out;
}

}  // namespace

// ------------------------------------------------------------------------------------------ life

void TraceModel::reset(const Session* s) {
  *this = TraceModel();
  session_ = s;
}

bool TraceModel::set_stretches(std::vector<TraceStretch> s) {
  if (s == stretches_) return false;
  // Only the end moved, as a recording grew: no row that was there is elsewhere.
  const bool grew = !stretches_.empty() && s.size() >= stretches_.size() && std::equal(stretches_.begin(), stretches_.end() - 1, s.begin());
  stretches_ = std::move(s);
  if (!session_) return false;
  rebuild_node(root_, build_top(), true);
  recount(root_);
  return !grew;
}

bool TraceModel::update(Nanoseconds budget) {
  if (!session_) return false;
  const auto until = Clock::now() + std::chrono::nanoseconds(budget);
  if (uint64_t g = session_->generation(); g != generation_) {
    generation_ = g;
    const auto threads = session_->threads();
    uint32_t most = 0;
    for (const Thread& t : threads) most = std::max(most, t.id.value);
    roots_.resize(most + 1);
    for (const Thread& t : threads) {
      std::vector<EventId>& r = roots_[t.id.value];
      if (r.empty()) r = session_->roots(t.id);
      else
        while (EventId next = session_->next_sibling(r.back())) r.push_back(next);
    }
    // Many spans are not copied at every commit of a growing recording; those that are missing come a second later.
    const auto now = Clock::now();
    if (spans_cost_ < std::chrono::milliseconds(2) || now > spans_at_ + std::chrono::seconds(1) || !session_->live()) {
      load_spans();
      spans_cost_ = Clock::now() - now, spans_at_ = now;
    } else {
      generation_ = 0;  // look again
    }
    rebuild_node(root_, build_top(), false);
    recount(root_);
  }
  bool left = true;
  do left = scan(20000);
  while (left && Clock::now() < until);
  return left || sums_left_;
}

void TraceModel::load_spans() {
  spans_ = session_->spans();
  std::erase_if(spans_, [](const Span& s) { return !s.begin; });
  std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    return std::tie(a.thread, a.begin, a.id) < std::tie(b.thread, b.begin, b.id);
  });
  span_at_.clear();
  for (size_t i = 0; i < spans_.size(); i++) span_at_[spans_[i].id.value] = i;
}

// Counts hops per thread and collects which families ran: a pass over all hops, in slices.
bool TraceModel::scan(int steps) {
  const uint32_t size = session_->size(), before = families_;
  for (; steps > 0 && scanned_ < size; steps--) {
    const Event e = session_->event(EventId(++scanned_));
    const uint32_t t = e.thread.value;
    if (thread_count_.size() <= t) {
      thread_count_.resize(t + 1);
      per_thread_.resize(t + 1);
    }
    thread_count_[t]++;
    if (scanned_ % kSample == 0)
      for (size_t i = 0; i < thread_count_.size(); i++) {
        per_thread_[i].resize(scanned_ / kSample + 1, 0);
        per_thread_[i][scanned_ / kSample] = thread_count_[i];
      }
    if (e.key && e.key < 512)
      if (const Key* k = session_->key(e.key)) families_ |= 1u << column_of(k->name);
  }
  if (families_ != before) {
    columns_.clear();
    const uint32_t use = families_ | 1u << kAutograd | 1u << kView | 1u << kBackend;
    for (int c = 0; c < kColumns; c++) if (use >> c & 1) columns_.push_back(Column(c));
    details_.clear();
  }
  return scanned_ < size;
}

uint32_t TraceModel::hops_in(ThreadId thread, EventId first, EventId last) const {
  if (roots_.size() <= 2) return last.value - first.value + 1;  // one thread
  auto upto = [&](uint32_t id) {
    const uint32_t s = std::min(id, scanned_) / kSample;
    uint32_t n = s && s < per_thread_[thread.value].size() ? per_thread_[thread.value][s] : 0;
    for (uint32_t i = s * kSample + 1; i <= id; i++) n += session_->event(EventId(i)).thread == thread;
    return n;
  };
  if (last.value - first.value < 2 * kSample) {
    uint32_t n = 0;
    for (uint32_t i = first.value; i <= last.value; i++) n += session_->event(EventId(i)).thread == thread;
    return n;
  }
  if (scanned_ < last.value || per_thread_.size() <= thread.value) return 0;
  return upto(last.value) - upto(first.value - 1);
}

// ------------------------------------------------------------------------------------------ stacks and lines

const std::vector<StackId>& TraceModel::chain(StackId s) {
  auto [i, fresh] = chains_.try_emplace(s.value);
  if (fresh && s) {
    std::vector<StackId> out;
    for (StackId f = session_->user_frame(s); f && out.size() < 200;) {
      out.push_back(f);
      const StackId up = session_->frame(f).parent;
      f = up ? session_->user_frame(up) : StackId();
    }
    std::reverse(out.begin(), out.end());
    chains_[s.value] = std::move(out);  // try_emplace's iterator may be stale
    return chains_[s.value];
  }
  return i->second;
}

std::string TraceModel::line_note(StackId s) const {
  const Frame f = session_->frame(s);
  if (f.line <= 0) return "";
  const std::string program = session_->meta("program"), line = ":" + std::to_string(f.line);
  return base_name(f.file) == base_name(program) || program.empty() ? line : base_name(f.file) + line;
}

std::string TraceModel::line_text(StackId s) {
  const Frame f = session_->frame(s);
  auto [i, fresh] = sources_.try_emplace(std::string(f.file));
  if (fresh) {
    std::string text = session_->source(f.file), line;
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find('\n', at), text.size());
      i->second.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  if (f.line < 1 || size_t(f.line) > i->second.size()) return base_name(f.file) + ":" + std::to_string(f.line);
  std::string line = i->second[size_t(f.line) - 1];
  line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
  if (size_t hash = line.find("  #"); hash != std::string::npos && hash > 0) line.erase(hash);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
  // what stands in columns in the source takes one blank here
  line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }), line.end());
  return line;
}

// ------------------------------------------------------------------------------------------ building

std::vector<TraceModel::Item> TraceModel::build_top() const {
  std::vector<Item> out;
  // The main thread is the one of the program's first hop; the others come below it.
  const ThreadId main = session_->size() ? session_->event(EventId(1)).thread : ThreadId();
  if (!main || main.value >= roots_.size() || roots_[main.value].empty()) return out;
  const bool growing = session_->live() || !session_->progress().ready;
  const std::vector<EventId>& roots = roots_[main.value];
  auto add = [&](TraceRow::Kind k, uint32_t id, EventId first, EventId last, ThreadId t, bool tail) {
    Item i{.kind = k, .id = id, .first = first, .last_root = last, .thread = t};
    i.tail = growing && tail;
    out.push_back(std::move(i));
  };
  if (stretches_.empty()) {
    Item all{.kind = TraceRow::Kind::kThread, .id = main.value, .first = roots.front(), .last_root = roots.back(), .thread = main};
    all.tail = growing;
    out = const_cast<TraceModel*>(this)->group(all, all.first, all.last_root);
  } else {
    for (size_t n = 0; n < stretches_.size(); n++) {
      const TraceStretch& s = stretches_[n];
      const bool at_end = n + 1 == stretches_.size();
      add(TraceRow::Kind::kStretch, uint32_t(n), s.first, at_end ? std::max(s.last, roots.back()) : s.last, main, at_end);
    }
  }
  for (size_t t = 1; t < roots_.size(); t++)
    if (ThreadId(uint32_t(t)) != main && !roots_[t].empty())
      add(TraceRow::Kind::kThread, uint32_t(t), roots_[t].front(), roots_[t].back(), ThreadId(uint32_t(t)), true);
  drop_unmatched(out);
  return out;
}

std::vector<TraceModel::Item> TraceModel::build(const Item& of) {
  return is_hop(of.kind) ? hops_below(of.first) : group(of, of.first, of.last_root);
}

std::vector<TraceModel::Item> TraceModel::hops_below(EventId e) {
  std::vector<Item> out;
  const bool growing = session_->live() || !session_->progress().ready;
  for (EventId c : session_->children(e)) {
    const Event i = session_->event(c);
    out.push_back({.kind = kind_of(i.kind), .id = c.value, .first = c, .last_root = c, .thread = i.thread});
    out.back().tail = growing && i.end == kOpen;
  }
  drop_unmatched(out);
  return out;
}

std::vector<TraceModel::Item> TraceModel::chunks(const Item& of, size_t) const {
  const std::vector<EventId>& roots = roots_[of.thread.value];
  const auto from = std::lower_bound(roots.begin(), roots.end(), of.first) - roots.begin();
  const auto to = std::upper_bound(roots.begin(), roots.end(), of.last_root) - roots.begin();
  std::vector<Item> out;
  for (auto i = from; i < to; i += long(kChunk)) {
    const auto end = std::min(to, i + long(kChunk));
    Item c{.kind = TraceRow::Kind::kChunk, .id = uint32_t((i - from) / long(kChunk)), .first = roots[size_t(i)],
           .last_root = roots[size_t(end - 1)], .chain = of.chain, .span = of.span, .thread = of.thread};
    c.tail = of.tail && end == to;
    out.push_back(std::move(c));
  }
  drop_unmatched(out);
  return out;
}

std::vector<TraceModel::Item> TraceModel::group(const Item& of, EventId first, EventId last_root) {
  const std::vector<EventId>& all = roots_[of.thread.value];
  const size_t from = size_t(std::lower_bound(all.begin(), all.end(), first) - all.begin());
  const size_t to = size_t(std::upper_bound(all.begin(), all.end(), last_root) - all.begin());
  std::vector<EventId> roots;
  if (!matches_) {
    if (to - from > kChunk) return chunks(of, to - from);
    roots.assign(all.begin() + long(from), all.begin() + long(to));
  } else if (of.thread.value < matches_->size()) {
    const std::vector<EventId>& m = (*matches_)[of.thread.value];
    for (auto i = std::lower_bound(m.begin(), m.end(), first); i != m.end();) {
      const auto r = std::upper_bound(all.begin() + long(from), all.begin() + long(to), *i);
      if (r == all.begin() + long(from)) break;
      if (*i > session_->last(*(r - 1))) break;
      roots.push_back(*(r - 1));
      if (roots.size() > kChunk) return chunks(of, roots.size());
      if (r == all.begin() + long(to)) break;
      i = std::lower_bound(i, m.end(), *r);
    }
  }
  // The outermost module that a call is in, below the one that is open already.
  auto span_of = [&](EventId r) -> const Span* {
    auto after = std::upper_bound(spans_.begin(), spans_.end(), r, [&](EventId e, const Span& s) {
      return of.thread < s.thread || (of.thread == s.thread && e < s.begin);
    });
    if (after == spans_.begin()) return nullptr;
    const Span *out = nullptr, *s = &*(after - 1);
    bool met = !of.span;
    for (int guard = 0; s && s->thread == of.thread && guard < 1000; guard++) {
      if (of.span && s->id.value == of.span) {
        met = true;
        break;
      }
      if (shown(*s) && holds(*s, r)) out = s;
      const auto up = s->parent ? span_at_.find(s->parent.value) : span_at_.end();
      s = up == span_at_.end() ? nullptr : &spans_[up->second];
    }
    return met ? out : nullptr;
  };
  const bool growing = session_->live() || !session_->progress().ready;
  const EventId newest = all.empty() ? EventId() : all.back();
  std::vector<Item> out;
  const uint32_t d = of.chain;
  auto direct = [&](const Span* s) { return s && (!s->stack || chain(s->stack).size() <= d + 1); };
  for (size_t i = 0; i < roots.size();) {
    const EventId r = roots[i];
    const Span* s = span_of(r);
    const std::vector<StackId>& lines = chain(session_->event(r).stack);
    size_t j = i + 1;
    Item item{.kind = TraceRow::Kind::kModule, .first = r, .chain = d, .span = of.span, .thread = of.thread};
    if (direct(s)) {
      while (j < roots.size() && holds(*s, roots[j])) j++;
      item.id = item.span = s->id.value;
      item.chain = std::max(d, uint32_t(chain(s->stack).size()));
    } else if (lines.size() > d) {
      const StackId line = lines[d];
      for (; j < roots.size(); j++) {
        const std::vector<StackId>& other = chain(session_->event(roots[j]).stack);
        if (other.size() <= d || other[d] != line || direct(span_of(roots[j]))) break;
      }
      item.kind = TraceRow::Kind::kLine, item.id = line.value, item.chain = d + 1;
    }
    if (item.kind != TraceRow::Kind::kModule && j == i + 1 && !s) item.id = 0;
    if (!item.id) {  // a call that needs no group
      j = i + 1;
      item.kind = kind_of(session_->event(r).kind), item.id = r.value, item.chain = d;
    }
    item.last_root = roots[j - 1];
    item.tail = growing && item.last_root == newest;
    out.push_back(std::move(item));
    i = j;
  }
  if (out.size() == 1 && out[0].kind == TraceRow::Kind::kLine) return group(out[0], out[0].first, out[0].last_root);
  return out;
}

void TraceModel::drop_unmatched(std::vector<Item>& items) const {
  if (!matches_) return;
  std::erase_if(items, [&](const Item& i) { return !matches_in(i.thread, i.first, session_->last(i.last_root)); });
}

uint64_t TraceModel::matches_in(ThreadId t, EventId first, EventId last) const {
  if (!matches_ || t.value >= matches_->size()) return 0;
  const std::vector<EventId>& m = (*matches_)[t.value];
  return uint64_t(std::upper_bound(m.begin(), m.end(), last) - std::lower_bound(m.begin(), m.end(), first));
}

void TraceModel::open_item(Item& i) {
  i.open = std::make_unique<Node>();
  i.open->items = build(i);
  for (Item& c : i.open->items)
    if (expanded_.contains(c.key())) open_item(c);
}

// Replaces a node's items by fresh ones; what is open in them, and what is summed, stays.
void TraceModel::rebuild_node(Node& n, std::vector<Item> fresh, bool all) {
  std::unordered_map<uint64_t, Item*> old;
  for (Item& i : n.items) old[i.key()] = &i;
  for (Item& i : fresh) {
    const auto was = old.find(i.key());
    if (was != old.end()) {
      Item& w = *was->second;
      i.open = std::move(w.open);
      i.summed = w.summed, i.hops = w.hops, i.nodes = w.nodes, i.raised = w.raised, i.time = w.time;
      i.done = w.done && !i.tail && !w.tail && i.last_root == w.last_root;
      if (i.open && (all || i.tail || w.tail)) rebuild_node(*i.open, build(i), all);
    } else if (expanded_.contains(i.key())) {
      open_item(i);
    }
  }
  n.items = std::move(fresh);
}

void TraceModel::rebuild() {
  root_.items.clear();
  if (session_) {
    root_.items = build_top();
    for (Item& i : root_.items)
      if (expanded_.contains(i.key())) open_item(i);
  }
  recount(root_);
}

uint64_t TraceModel::recount(Node& n) {
  n.rows = 0;
  for (Item& i : n.items) n.rows += 1 + (i.open ? recount(*i.open) : 0);
  return n.rows;
}

void TraceModel::set_matches(std::optional<std::vector<EventId>> ids) {
  if (!ids) matches_.reset();
  else {
    matches_.emplace(roots_.size());
    for (EventId e : *ids) {
      const uint32_t t = session_->event(e).thread.value;
      if (t < matches_->size()) (*matches_)[t].push_back(e);
    }
  }
  rebuild();
  if (ids && ids->size() <= 100)
    for (EventId e : *ids) reveal(e);
}

// ------------------------------------------------------------------------------------------ rows

bool TraceModel::place(uint64_t row, Place& out) const {
  Node* n = const_cast<Node*>(&root_);
  if (row >= n->rows) return false;
  while (n) {
    for (size_t i = 0; i < n->items.size(); i++) {
      Item& item = n->items[i];
      const uint64_t inside = item.open ? item.open->rows : 0;
      if (row > inside) {
        row -= 1 + inside;
        continue;
      }
      out.path.push_back({n, i});
      if (row == 0) return true;
      row--, n = item.open.get();
      break;
    }
  }
  return false;
}

std::vector<TraceRow> TraceModel::rows(uint64_t from, uint64_t n) {
  std::vector<TraceRow> out;
  Place at;
  sums_left_ = false;
  int steps = 30000;  // calls summed in one frame
  if (!place(from, at)) return out;
  std::vector<std::pair<Node*, size_t>> path = at.path;
  while (out.size() < n && !path.empty()) {
    auto& [node, i] = path.back();
    if (i >= node->items.size()) {
      path.pop_back();
      if (!path.empty()) path.back().second++;
      continue;
    }
    Item& item = node->items[i];
    if (!sum(item, steps)) sums_left_ = true;
    if (path.size() == 1) longest_ = std::max(longest_, item.time);
    TraceRow r;
    fill(item, item.open.get(), int(path.size()) - 1, r);
    out.push_back(std::move(r));
    if (item.open && !item.open->items.empty()) path.push_back({item.open.get(), 0});
    else i++;
  }
  return out;
}

bool TraceModel::sum(Item& i, int& steps) {
  if (i.done) return true;
  const std::vector<EventId>& roots = roots_[i.thread.value];
  const bool growing = session_->live() || !session_->progress().ready;
  if (is_hop(i.kind)) {
    const Event e = session_->event(i.first);
    i.hops = hops_in(i.thread, i.first, e.last), i.nodes = session_->nodes_inside(i.first), i.raised = e.flags & kRaised;
    i.time = e.end == kOpen ? 0 : e.end - e.begin;
    i.done = e.end != kOpen || !growing;
    return true;
  }
  auto r = i.summed ? std::upper_bound(roots.begin(), roots.end(), i.summed) : std::lower_bound(roots.begin(), roots.end(), i.first);
  for (; r != roots.end() && *r <= i.last_root; ++r) {
    if (--steps < 0) return false;
    const Event e = session_->event(*r);
    if (e.end == kOpen && growing) return true;  // the rest comes when it has returned
    const uint32_t hops = hops_in(i.thread, *r, e.last);
    if (!hops) return false;                     // not scanned yet
    i.hops += hops, i.nodes += session_->nodes_inside(*r), i.raised += (e.flags & kRaised) != 0;
    if (e.end != kOpen) i.time += e.end - e.begin;
    i.summed = *r;
  }
  i.done = !i.tail;
  return true;
}

std::string TraceModel::name_of(const Event& e) const {
  if (is_redispatch(e.kind)) {
    const Key* k = session_->key(e.key);
    return k ? k->name : "redispatch";
  }
  return hop_name(*session_, e.id);
}

void TraceModel::fill(const Item& i, const Node* open, int depth, TraceRow& r) {
  r.kind = i.kind, r.depth = depth, r.key = i.key(), r.expanded = open != nullptr;
  r.first = i.first, r.last = session_->last(i.last_root), r.event = i.last_root;
  r.time = i.time, r.inside = i.nodes;
  if (!is_hop(i.kind)) {
    r.expandable = true;
    r.detail = i.summed || i.done ? plural(i.hops, "hop") : "";
    r.running = i.tail && session_->event(i.last_root).end == kOpen && session_->live();
    if (i.raised) r.error = i.raised == 1 ? "raised" : std::to_string(i.raised) + " raised";
    switch (i.kind) {
      case TraceRow::Kind::kThread: {
        const Thread* t = session_->thread(i.thread);
        r.name = t && !t->name.empty() ? t->name : "thread " + std::to_string(t ? t->os_id : int64_t(i.id));
        break;
      }
      case TraceRow::Kind::kStretch: {
        if (i.id < stretches_.size()) r.name = stretches_[i.id].name;
        const auto &a = chain(session_->event(i.first).stack), b = chain(session_->event(i.last_root).stack);
        if (i.id == 0 && !a.empty() && !b.empty() && r.name == "set-up") {
          const std::string from = line_note(a.front()), to = line_note(b.front());
          r.note = from == to ? from : from + " to " + to;
        }
        break;
      }
      case TraceRow::Kind::kChunk:
        r.name = "calls " + count_text(uint64_t(i.id) * kChunk + 1) + " to " + count_text(uint64_t(i.id + 1) * kChunk);
        break;
      case TraceRow::Kind::kModule: {
        const auto s = span_at_.find(i.id);
        if (s == span_at_.end()) break;
        const Span& span = spans_[s->second];
        r.name = span.name;
        if (!span.detail.empty() && span.detail != span.name) r.name += " " + span.detail;
        if (span.stack && !chain(span.stack).empty()) r.note = line_note(chain(span.stack).back());
        else if (const auto& c = chain(session_->event(i.first).stack); !c.empty())
          r.note = line_note(c[std::min<size_t>(i.chain, c.size() - 1)]);
        break;
      }
      default:
        r.name = line_text(StackId(i.id)), r.note = line_note(StackId(i.id));
    }
    return;
  }
  const Event e = session_->event(i.first);
  r.event = i.first;
  r.name = name_of(e);
  r.expandable = e.last > e.id && session_->first_child(e.id);
  r.running = e.end == kOpen;
  if (r.running) r.time = -1;
  const Detail& d = detail(i.first);
  r.detail = d.shape, r.strip = d.strip, r.composite = d.composite, r.path = d.path, r.node = d.node;
  if (!d.node.empty() && r.inside) r.inside = r.inside > 0 ? r.inside - 1 : 0;
  if (e.flags & kRaised) {
    const auto raised = session_->raised_in(e.id);
    r.error = raised.empty() ? "raised" : "raised " + raised.front().type;
  }
  if (e.kind == Kind::kMissingKernel) r.error = "no kernel";
  if (e.flags & kChangedByHand)
    for (const HandChange& c : session_->changes_of(e.id)) r.changed += (r.changed.empty() ? "changed: " : "; ") + c.text;
  if (!e.parent)
    if (const auto& c = chain(e.stack); c.size() > i.chain) r.note = line_note(c.back());
  if (matches_) {
    const std::vector<EventId>& m = (*matches_)[i.thread.value];
    r.matches = std::binary_search(m.begin(), m.end(), e.id);
  }
}

const TraceModel::Detail& TraceModel::detail(EventId id) {
  const auto i = details_.find(id.value);
  if (i != details_.end()) return i->second;
  if (details_.size() > 4096) details_.clear();
  const Event e = session_->event(id);
  Detail& d = details_[id.value] = make_detail(e);
  if (e.end != kOpen || !session_->live()) return d;
  static thread_local Detail open;  // may still change: not kept
  open = std::move(d);
  details_.erase(id.value);
  return open;
}

TraceModel::Detail TraceModel::make_detail(const Event& e) const {
  Detail d;
  d.strip.resize(columns_.size());
  auto pass = [&](const Event& hop) {
    const Key* k = session_->key(hop.key);
    if (!k || k->name == "Undefined") return;
    const Kernel* kernel = session_->kernel(hop.kernel);
    const bool composite = kernel && kernel->rule == "math kernel";
    const auto at = std::find(columns_.begin(), columns_.end(), column_of(k->name));
    d.path += (d.path.empty() ? "" : ", ") + k->name;
    if (at == columns_.end()) return;
    StripCell& c = d.strip[size_t(at - columns_.begin())];
    // Of several transforms' layers the one that says what was done is shown, not the one that enters or leaves.
    const bool dull = k->name.find("DynamicLayer") != std::string::npos;
    if (!c.layers || !dull) c.key = k->id, c.mark = composite ? theme::Mark::kComposite : theme::Mark::kRan;
    c.layers++;
    d.composite = composite;
  };
  pass(e);
  if (is_call(e.kind)) {
    // Down the onion: the same operator re-entered by redispatch or by a nested call.
    EventId at = e.id;
    for (int guard = 0; at && guard < 64; guard++) {
      EventId next;
      for (EventId c = session_->first_child(at); c && !next; c = session_->next_sibling(c)) {
        const Event i = session_->event(c);
        if (i.op == e.op && (is_redispatch(i.kind) || is_call(i.kind))) next = c;
        if (c.value > at.value + 5000) break;
      }
      if (next) pass(session_->event(next));
      at = next;
    }
    // Under inference_mode the autograd layer is missing on purpose: say so where the hole would be.
    if (!e.depth && session_->tls(e.tls).inference_mode) {
      const auto at_autograd = std::find(columns_.begin(), columns_.end(), kAutograd);
      StripCell& c = d.strip[size_t(at_autograd - columns_.begin())];
      if (!c.layers)
        if (const Key* k = session_->key_by_name("AutogradCPU")) c.key = k->id, c.mark = theme::Mark::kExcluded;
    }
    for (const Value& v : session_->results(e.id))
      if (v.tensor || !v.shape.empty()) {
        d.shape = squeezed(v.shape);
        break;
      }
  }
  if (e.node) d.node = std::string(session_->node(e.node).name);
  return d;
}

// ------------------------------------------------------------------------------------------ moving

bool TraceModel::set_expanded(uint64_t row, bool expanded) {
  Place at;
  if (!place(row, at)) return false;
  Item& i = at.path.back().first->items[at.path.back().second];
  if (expanded == (i.open != nullptr)) return false;
  if (expanded) {
    if (is_hop(i.kind) && !session_->first_child(i.first)) return false;
    expanded_.insert(i.key());
    open_item(i);
  } else {
    expanded_.erase(i.key());
    i.open.reset();
  }
  recount(root_);
  return true;
}

std::optional<uint64_t> TraceModel::parent_row(uint64_t row) const {
  Place at;
  if (!place(row, at) || at.path.size() < 2) return {};
  uint64_t before = 0;
  for (size_t level = 0; level + 1 < at.path.size(); level++) {
    const auto& [node, index] = at.path[level];
    for (size_t i = 0; i < index; i++) before += 1 + (node->items[i].open ? node->items[i].open->rows : 0);
    if (level + 2 < at.path.size()) before++;
  }
  return before;
}

bool TraceModel::find(const Node& n, EventId e, size_t& index) const {
  const ThreadId thread = session_->event(e).thread;
  for (size_t i = 0; i < n.items.size(); i++) {
    const Item& item = n.items[i];
    if (item.thread != thread || item.first > e) continue;
    if (session_->last(item.last_root) >= e) return index = i, true;
  }
  return false;
}

std::optional<uint64_t> TraceModel::reveal(EventId e) {
  if (!session_ || !e || e.value > session_->size()) return {};
  Node* n = &root_;
  uint64_t row = 0;
  bool opened = false;
  while (true) {
    size_t index;
    if (!find(*n, e, index)) return {};
    for (size_t i = 0; i < index; i++) row += 1 + (n->items[i].open ? n->items[i].open->rows : 0);
    Item& item = n->items[index];
    if (is_hop(item.kind) && item.first == e) break;
    if (!item.open) {
      expanded_.insert(item.key());
      open_item(item);
      opened = true;
    }
    row++, n = item.open.get();
    if (n->rows == 0) recount(*n);
  }
  if (opened) recount(root_);
  return row;
}

std::optional<uint64_t> TraceModel::row_of_key(uint64_t key) const {
  // Depth first over what is open: bounded by the rows that exist.
  uint64_t row = 0;
  std::vector<std::pair<const Node*, size_t>> path{{&root_, 0}};
  while (!path.empty()) {
    auto& [node, i] = path.back();
    if (i >= node->items.size()) {
      path.pop_back();
      continue;
    }
    const Item& item = node->items[i++];
    if (item.key() == key) return row;
    row++;
    if (item.open) path.push_back({item.open.get(), 0});
  }
  return {};
}

}  // namespace peel::views
