#include "views/timeline_text.h"

#include <algorithm>
#include <cstdio>

#include "sessions/memory.h"

namespace peel::views {
namespace {

std::string three(const uint32_t (&v)[3]) {
  return count_text(v[0]) + " × " + count_text(v[1]) + " × " + count_text(v[2]);
}

std::string span_name(const Span& s) {
  if (s.kind == "module") return s.name.empty() ? s.detail : s.detail.empty() ? s.name : s.name + " (" + s.detail + ")";
  if (s.name.empty()) return s.kind;
  return s.kind == "backward" && s.name != "backward" ? "backward " + s.name : s.name;
}

std::string key_of(const Session& s, const Event& e) {
  const Key* k = s.key(e.key);
  return k ? k->name : "";
}

/// The operator call that a kernel's hop belongs to: the innermost call around it.
EventId call_around(const Session& s, EventId e) {
  for (Event x = s.event(e); x.id; x = s.event(x.parent)) {
    if (!is_redispatch(x.kind)) return x.id;
    if (!x.parent) return x.id;
  }
  return e;
}

void work_facts(const GpuActivity& g, const Work& w, std::vector<TimelineFact>& out) {
  const WorkShape& k = g.shape(w);
  if (k.kind == WorkKind::kKernel) {
    out.push_back({"grid", three(k.grid), {}, true});
    out.push_back({"block", three(k.block) + "  (" + count_text(uint64_t{k.block[0]} * k.block[1] * k.block[2]) + " threads)", {}, true});
    out.push_back({"registers", count_text(k.registers) + " a thread", {}, true});
    out.push_back({"shared", bytes_text(k.static_shared) + " static, " + bytes_text(k.dynamic_shared) + " dynamic", {}, true});
    if (k.local_per_thread) out.push_back({"local", bytes_text(k.local_per_thread) + " a thread", {}, true});
  } else if (k.kind == WorkKind::kCopy || k.kind == WorkKind::kSet) {
    const std::string rate = rate_text(k.bytes, w.end - w.begin);
    out.push_back({"bytes", bytes_text(static_cast<int64_t>(k.bytes)) + (rate.empty() ? "" : ", " + rate), {}, true});
    if (k.kind == WorkKind::kCopy) out.push_back({"memory", std::string(memory_kind_name(k.source)) + " to " + memory_kind_name(k.target), {}});
  }
  if (w.in_graph) out.push_back({"graph", "a node of a replayed CUDA graph", {}});
}

}  // namespace

std::string rate_text(uint64_t bytes, Nanoseconds in) {
  if (in <= 0 || !bytes) return "";
  const double rate = static_cast<double>(bytes) / static_cast<double>(in);  // bytes a nanosecond = GB/s
  char b[40];
  std::snprintf(b, sizeof b, rate >= 99.95 ? "%.0f GB/s" : rate >= .1 ? "%.1f GB/s" : "%.2g GB/s", rate);
  return b;
}

std::string item_name(const Session& s, const TimelineTracks& t, const TimelineItem& i) {
  switch (i.kind) {
    case RowKind::kHop: return hop_name(s, EventId{i.item});
    case RowKind::kSpan: return span_name(t.spans()[i.item]);
    case RowKind::kIteration: return t.iterations()[i.item].name;
    case RowKind::kCall: return t.gpu()->text(t.gpu()->calls()[i.item].name);
    case RowKind::kWork: return t.gpu()->name(t.gpu()->work({i.stream, i.item}));
    case RowKind::kMemory: break;
  }
  return "";
}

std::vector<TimelineFact> item_facts(const Session& s, const TimelineTracks& t, const TimelineItem& i) {
  std::vector<TimelineFact> out;
  const EventId event = event_of(t, i);
  if (const std::string line = line_of(s, event); !line.empty()) out.push_back({"line", line, event, true});
  if (event && i.kind != RowKind::kHop) {
    const EventId call = call_around(s, event);
    out.push_back({i.kind == RowKind::kSpan || i.kind == RowKind::kIteration ? "first" : "call", hop_name(s, call) + "  hop " + count_text(call.value), call, true});
  }
  if (const std::string key = key_of(s, s.event(event)); !key.empty() && i.kind != RowKind::kSpan && i.kind != RowKind::kIteration) out.push_back({"layer", key, event, true});
  const Stretch at = stretch_of(s, t, i);
  if (i.kind == RowKind::kHop) {
    const Event e = s.event(event);
    out.push_back({"hop", count_text(event.value) + ", " + kind_name(e.kind), {}, true});
    if (e.node) out.push_back({"node", std::string(s.node(e.node).name), {}, true});
    if (t.gpu()) {
      constexpr size_t kListed = 4;
      const auto works = t.gpu()->works_of(e.id, e.last, 1000);
      for (size_t w = 0; w < std::min(works.size(), kListed); w++) {
        const Work& work = t.gpu()->work(works[w]);
        if (const HostCall* c = t.gpu()->call_of(work)) out.push_back({"launch", t.gpu()->text(c->name) + "  correlation " + std::to_string(work.correlation), {}, true});
        out.push_back({t.gpu()->shape(work).kind == WorkKind::kKernel ? "kernel" : "work", duration(work.end - work.begin) + "  " + t.gpu()->name(work), {}, true});
      }
      if (works.size() > kListed) out.push_back({"", count_text(works.size() - kListed) + (works.size() == 1000 ? " or more" : "") + " more pieces of work", {}});
    }
  } else if (i.kind == RowKind::kSpan) {
    out.push_back({"kind", t.spans()[i.item].kind, {}});
  } else if (i.kind == RowKind::kCall) {
    const HostCall& c = t.gpu()->calls()[i.item];
    if (c.sync != SyncKind::kNone) out.push_back({"waits", sync_name(c.sync), {}});
    if (c.result) out.push_back({"result", "error " + std::to_string(c.result), {}});
    for (const WorkRef& w : t.gpu()->works_of(c)) {
      if (out.size() > 12) break;
      out.push_back({"work", t.gpu()->name(t.gpu()->work(w)), {}, true});
    }
  } else if (i.kind == RowKind::kWork) {
    const Work& w = t.gpu()->work({i.stream, i.item});
    if (const HostCall* c = t.gpu()->call_of(w)) {
      out.push_back({"launch", t.gpu()->text(c->name) + "  correlation " + std::to_string(w.correlation), {}, true});
      out.push_back({"queued", duration(std::max<Nanoseconds>(w.begin - c->end, 0)) + " after the launch", {}});
    }
    work_facts(*t.gpu(), w, out);
  }
  out.push_back({"time", duration(at.end - at.begin) + " from " + duration(at.begin - t.begin()), {}, true});
  return out;
}

std::string item_tip(const Session& s, const TimelineTracks& t, const TimelineItem& i) {
  std::string out = i.kind == RowKind::kWork ? t.gpu()->full_name(t.gpu()->work({i.stream, i.item})) : item_name(s, t, i);
  if (i.kind == RowKind::kHop && s.event(EventId{i.item}).op) out = s.op(s.event(EventId{i.item}).op).full;
  for (const TimelineFact& f : item_facts(s, t, i)) out += "\n" + f.what + "  " + f.text;
  return out;
}

std::string box_tip(const Session& s, const TimelineTracks& t, const PlacedRow& at, const LaneBox& b) {
  const TimelineItem longest = item_of(t, at, b.longest);
  if (!b.folded()) return item_tip(s, t, longest);
  const Stretch l = stretch_of(s, t, longest);
  return count_text(b.count()) + " folded here, " + duration(b.busy) + " together in " + duration(b.end - b.begin) + "\nlongest  " + item_name(s, t, longest) + ", " +
         duration(l.end - l.begin) + "\nZoom in (W, or the wheel) to tell them apart.";
}

Parts item_sentence(const Session& s, const TimelineTracks& t, const TimelineItem& i) {
  Parts p;
  const auto say = [&](const std::string& text, bool strong = false) { p.push_back({text, strong}); };
  const Stretch at = stretch_of(s, t, i);
  const std::string took = duration(at.end - at.begin);
  const EventId event = event_of(t, i);
  if (i.kind == RowKind::kWork) {
    const Work& w = t.gpu()->work({i.stream, i.item});
    const HostCall* c = t.gpu()->call_of(w);
    if (event) {
      const std::string key = key_of(s, s.event(event));
      say(hop_name(s, call_around(s, event)), true), say(" launched "), say(item_name(s, t, i), true);
      if (!key.empty()) say(" from its "), say(key, true), say(" layer");
      say("; it ran " + took);
    } else {
      say(item_name(s, t, i), true), say(" ran " + took + "; the hop that asked for it is not recorded");
    }
    if (c) say(", " + duration(std::max<Nanoseconds>(w.begin - c->end, 0)) + " after the launch");
  } else if (i.kind == RowKind::kCall) {
    const HostCall& c = t.gpu()->calls()[i.item];
    say(item_name(s, t, i), true);
    if (event) say(", called by "), say(hop_name(s, call_around(s, event)), true), say(",");
    say(c.sync != SyncKind::kNone && c.sync != SyncKind::kStreamWaitsEvent ? " waited " + took + " for the GPU" : " took " + took);
    if (c.works) say(" and started " + plural(c.works, "piece") + " of work");
  } else if (i.kind == RowKind::kHop) {
    const Event e = s.event(event);
    // The layer that launched one thing: from the operator to the kernel.
    if (t.gpu() && is_redispatch(e.kind))
      if (const auto own = t.gpu()->works_of(e.id, e.id, 2); own.size() == 1) return item_sentence(s, t, {RowKind::kWork, own[0].index, own[0].stream});
    const std::string key = key_of(s, e);
    say(hop_name(s, event), true);
    say(" took " + took);
    if (!key.empty()) say(" in its "), say(key, true), say(" layer");
    const size_t works = t.gpu() ? t.gpu()->works_of(e.id, e.last, 1000).size() : 0;
    if (works) say(" and launched " + plural(works, "piece") + " of GPU work");
    if (e.node) say("; it made "), say(std::string(s.node(e.node).name), true);
  } else {
    say(item_name(s, t, i), true), say(" took " + took);
  }
  say(".");
  return p;
}

std::string range_text(const RangeStats& r) {
  std::string out = duration(r.to - r.from) + "\t" + plural(r.hops, "hop") + "\t" + plural(r.kernels, "kernel") + "\n";
  for (const auto& b : r.threads) out += b.name + "\t" + duration(b.busy) + "\n";
  for (const auto& b : r.streams) out += b.name + "\t" + duration(b.busy) + "\n";
  for (const auto& i : r.idle) out += std::string("idle: ") + gap_name(i.reason) + "\t" + count_text(i.count) + "\t" + duration(i.time) + "\n";
  for (const auto* tops : {&r.operators, &r.kernel_names})
    for (const auto& t : *tops) out += t.name + "\t" + count_text(t.count) + "\t" + duration(t.time) + "\n";
  return out;
}

}  // namespace peel::views
