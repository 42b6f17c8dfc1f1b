#include "views/memory_model.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

namespace peel::views {
namespace {

bool is_module(const Span& s) { return s.kind == "module"; }
bool holds(const Span& s, EventId e) { return s.begin && s.begin <= e && (s.end >= e || (!s.end && s.end_ns == kOpen)); }

}  // namespace

const char* hold_word(HoldBy b) {
  static constexpr const char* kWords[] = {"line", "module", "operator", "saved by", "tensor"};
  return kWords[static_cast<size_t>(b) % std::size(kWords)];
}

// ---- names

MemoryNames::MemoryNames(const Session& s, const MemoryHistory& h) : s_(s), h_(h), spans_(s.spans()) {
  std::erase_if(spans_, [](const Span& i) { return !is_module(i); });
  std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) { return std::tie(a.thread, a.begin, a.id) < std::tie(b.thread, b.begin, b.id); });
  for (size_t i = 0; i < spans_.size(); i++) span_at_[spans_[i].id.value] = i;
}

EventId MemoryNames::hop(LifeIndex l) const {
  if (l >= h_.lives.size() || h_.lives[l].older) return {};
  const EventId e = h_.events[h_.lives[l].begin].event;
  return e.value <= s_.size() ? e : EventId();
}

std::string MemoryNames::line(const MemoryEvent& e) const {
  const StackId stack = e.event ? s_.event(e.event).stack : e.stack;
  const StackId user = stack ? s_.user_frame(stack) : StackId();
  if (!user) return "";
  const Frame f = s_.frame(user);
  return base_name(f.file) + ":" + std::to_string(f.line);
}

std::string MemoryNames::module(const MemoryEvent& e) const {
  if (!e.event || e.event.value > s_.size()) return "";
  EventId at = e.event;
  // A node of backward belongs to the module whose hop made it.
  for (EventId up = at; up; up = s_.parent(up)) {
    if (s_.event(up).kind != Kind::kBackwardNode) continue;
    const auto run = s_.run_of(up);
    if (!run || !run->node) return "";
    at = s_.node(run->node).event;
    if (!at) return "";
    break;
  }
  const ThreadId thread = s_.event(at).thread;
  auto after = std::upper_bound(spans_.begin(), spans_.end(), at, [&](EventId x, const Span& i) { return thread < i.thread || (thread == i.thread && x < i.begin); });
  const Span* span = after == spans_.begin() ? nullptr : &*(after - 1);
  for (int guard = 0; span && span->thread == thread && guard < 1000; guard++) {
    if (holds(*span, at)) return span->name + (span->detail.empty() || span->detail == span->name ? "" : " " + span->detail) + (at == e.event ? "" : ", backward");
    const auto up = span->parent ? span_at_.find(span->parent.value) : span_at_.end();
    span = up == span_at_.end() ? nullptr : &spans_[up->second];
  }
  return "";
}

std::string MemoryNames::op(const MemoryEvent& e) const {
  if (!e.event || e.event.value > s_.size()) return "";
  std::string outer;
  for (EventId up = e.event; up; up = s_.parent(up)) {
    if (s_.event(up).kind == Kind::kBackwardNode) return (outer.empty() ? "" : outer + " in ") + hop_name(s_, up);
    if (s_.event(up).op) outer = hop_name(s_, up);
  }
  return outer;
}

MemoryNames::Name MemoryNames::of(LifeIndex l, HoldBy by) const {
  const Life& life = h_.lives[l];
  if (life.older) return {"", "older than the recording: where it came from is not known"};
  const MemoryEvent& e = h_.events[life.begin];
  Name n;
  switch (by) {
    case HoldBy::kLine:
      n.name = line(e), n.note = op(e);
      if (n.name.empty() && e.event) n.name = op(e), n.note = "backward";
      if (n.name.empty()) n.note = "outside of any hop, no line recorded";
      break;
    case HoldBy::kModule:
      n.name = module(e);
      if (n.name.empty()) n.note = "outside of any nn.Module";
      break;
    case HoldBy::kOperator:
      n.name = op(e);
      if (n.name.empty()) n.note = "outside of any operator";
      break;
    case HoldBy::kNode: {
      auto s = std::lower_bound(h_.saved.begin(), h_.saved.end(), std::pair(e.storage, 0u));
      uint64_t more = 0;
      std::string first;
      for (; e.storage && s != h_.saved.end() && s->first == e.storage; ++s)
        if (const std::string_view name = s_.node_name(NodeId(s->second)); first.empty()) first = std::string(name);
        else more++;
      n.name = first;
      if (more) n.note = "and " + plural(more, "more node");
      if (n.name.empty()) n.note = h_.saved.empty() ? "saved tensors were not recorded" : "saved by no node that is known";
      break;
    }
    case HoldBy::kTensor: {
      const uint32_t t = h_.tensor(e.storage);
      if (t) n.name = tensor_name(TensorId(t)), n.note = op(e);
      else if (e.storage) n.name = "storage " + std::to_string(e.storage), n.note = op(e);
      else n.note = "no tensor was seen in it";
      break;
    }
  }
  return n;
}

// ---- grouping

HolderTable group(const MemoryNames& names, const std::vector<LifeIndex>& lives, HoldBy by, const std::atomic<bool>& cancelled) {
  static std::atomic<uint64_t> serial{0};
  HolderTable t;
  t.by = by, t.serial = ++serial;
  const MemoryHistory& h = names.history();
  std::unordered_map<std::string, size_t> at;
  size_t looked = 0;
  for (const LifeIndex l : lives) {
    if (++looked % 1024 == 0 && cancelled) break;
    MemoryNames::Name n = names.of(l, by);
    const bool known = !n.name.empty();
    const auto [i, fresh] = at.emplace(known ? "+" + n.name : "-" + n.note, t.rows.size());
    if (fresh) t.rows.push_back({known ? n.name : n.note, known ? n.note : "", 0, 0, kNoIndex, {}, known});
    Holder& row = t.rows[i->second];
    if (row.biggest == kNoIndex || h.lives[l].size > h.lives[row.biggest].size) {
      row.biggest = l, row.event = names.hop(l);
      if (known) row.note = n.note;
    }
    row.bytes += h.lives[l].size, row.blocks++;
    t.bytes += h.lives[l].size, t.blocks++;
  }
  std::sort(t.rows.begin(), t.rows.end(), [](const Holder& a, const Holder& b) {
    return a.known != b.known ? a.known : a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  return t;
}

std::vector<LifeIndex> held(const MemoryState& s) {
  std::vector<LifeIndex> out;
  for (const MemoryBlock& b : s.blocks) if (b.state == BlockState::kActive && b.life != kNoIndex) out.push_back(b.life);
  return out;
}

std::vector<LifeIndex> stayed(const MemoryHistory& h, uint16_t device, MemoryIndex a, MemoryIndex b) {
  std::vector<LifeIndex> out;
  if (device >= h.devices.size()) return out;
  const auto& lives = h.devices[device].lives;
  for (auto l = std::lower_bound(lives.begin(), lives.end(), a, [&](LifeIndex i, MemoryIndex m) { return h.lives[i].begin < m; }); l != lives.end() && h.lives[*l].begin < b; ++l)
    if (!h.lives[*l].older && h.lives[*l].freed >= b) out.push_back(*l);
  return out;
}

std::vector<LifeIndex> went(const MemoryHistory& h, uint16_t device, MemoryIndex a, MemoryIndex b) {
  std::vector<LifeIndex> out;
  if (device >= h.devices.size()) return out;
  for (const LifeIndex l : h.devices[device].lives) {
    if (h.lives[l].begin >= a) break;
    if (h.lives[l].freed >= a && h.lives[l].freed < b) out.push_back(l);
  }
  return out;
}

// ---- pools

std::string stream_name(const MemoryHistory& h, uint16_t stream) {
  const uint64_t handle = stream < h.streams.size() ? h.streams[stream] : 0;
  if (!handle) return "default stream";
  char b[40];
  snprintf(b, sizeof b, "stream 0x%llx", static_cast<unsigned long long>(handle));
  return b;
}

std::string pool_name(const MemoryHistory& h, uint16_t pool, bool large) {
  return std::string(large ? "large" : "small") + (pool && pool < h.pools.size() ? ", private pool " + h.pools[pool] : "");
}

std::vector<PoolRow> pools(const MemoryHistory& h, const MemoryState& s) {
  std::map<std::tuple<uint16_t, bool, uint16_t>, PoolRow> all;
  for (const MemorySegment& g : s.segments) {
    PoolRow& row = all[{g.pool, !g.large, g.stream}];
    if (row.name.empty()) row.name = pool_name(h, g.pool, g.large) + ", " + stream_name(h, g.stream);
    row.segments++, row.reserved += g.size;
    bool empty = true;
    for (uint32_t i = g.first_block; i < g.first_block + g.blocks; i++) {
      const MemoryBlock& b = s.blocks[i];
      empty &= b.state == BlockState::kInactive;
      if (b.state == BlockState::kActive) row.allocated += b.size;
      else if (b.state == BlockState::kPendingFree) row.pending += b.size;
      else row.free += b.size, row.free_blocks++, row.largest_free = std::max(row.largest_free, b.size);
    }
    if (empty) row.releasable += g.size;
  }
  std::vector<PoolRow> out;
  for (auto& [key, row] : all) out.push_back(std::move(row));
  std::sort(out.begin(), out.end(), [](const PoolRow& a, const PoolRow& b) { return a.reserved != b.reserved ? a.reserved > b.reserved : a.name < b.name; });
  return out;
}

// ---- moments

MemoryIndex moment_of_hop(const Session& s, const MemoryHistory& h, EventId selected) {
  if (!selected || selected.value > s.size()) return static_cast<MemoryIndex>(h.events.size());
  const Event e = s.event(selected);
  if (e.end == kOpen) return static_cast<MemoryIndex>(h.events.size());
  return h.moment_of(std::max(e.begin, e.end));
}

uint16_t main_device(const MemoryHistory& h) {
  size_t best = 0;
  for (size_t d = 1; d < h.devices.size(); d++) {
    const MemoryDevice &a = h.devices[d], &b = h.devices[best];
    const auto rank = [](const MemoryDevice& x) { return x.caching() ? 2 : x.cuda_pools ? 1 : 0; };
    if (rank(a) != rank(b) ? rank(a) > rank(b) : a.events.size() > b.events.size()) best = d;
  }
  return static_cast<uint16_t>(best);
}

Parts moment_sentence(const MemoryNames& names, uint16_t device, MemoryIndex moment) {
  const MemoryHistory& h = names.history();
  Parts p;
  if (device >= h.devices.size()) return p;
  const MemoryDevice& d = h.devices[device];
  const MemoryTotals t = d.at(moment);
  strong(p, bytes_text(t.allocated));
  say(p, " allocated");
  if (d.caching()) {
    say(p, ", ");
    strong(p, bytes_text(t.reserved));
    say(p, " reserved");
    if (t.active > t.allocated) say(p, ", " + bytes_text(t.active - t.allocated) + " waiting to become free");
  }
  if (d.peak_at == kNoIndex) return p;
  say(p, "; peak ");
  strong(p, bytes_text(d.peak.allocated));
  const MemoryEvent& e = h.events[d.peak_at];
  const std::string where = names.op(e), line = names.line(e);
  if (!where.empty()) say(p, " in "), code(p, where);
  if (!line.empty()) say(p, " at "), code(p, line);
  return p;
}

std::string describe(const MemoryNames& names, LifeIndex l) {
  const MemoryHistory& h = names.history();
  if (l >= h.lives.size()) return "";
  const Life& life = h.lives[l];
  std::string s = bytes_text(life.size);
  if (life.requested != life.size) s += " (" + count_text(static_cast<uint64_t>(life.requested)) + " bytes asked for)";
  if (life.older) return s + "\nolder than the recording: where it came from is not known";
  const MemoryEvent& e = h.events[life.begin];
  const std::string op = names.op(e), line = names.line(e), module = names.module(e);
  if (!op.empty()) s += "\n" + op + (line.empty() ? "" : "  " + line);
  else if (!line.empty()) s += "\n" + line;
  if (!module.empty()) s += "\n" + module;
  if (const uint32_t t = h.tensor(e.storage)) s += "\n" + tensor_name(TensorId(t));
  if (e.stream) s += "\n" + stream_name(h, e.stream);
  if (life.freed == kNoIndex) s += "\nnot freed in the recording";
  else s += "\nheld for " + duration(h.events[life.freed].time - e.time);
  if (life.freed != kNoIndex && life.end != life.freed && life.end != kNoIndex && h.events[life.end].time - h.events[life.freed].time > 0 && e.device < h.devices.size() && life.end > life.freed + 1)
    s += ", then waited " + duration(h.events[life.end].time - h.events[life.freed].time) + " for another stream";
  return s;
}

}  // namespace peel::views
