#include "sessions/show.h"

#include <algorithm>
#include <unordered_map>

#include "sessions/filter.h"

namespace peel {
namespace {

/// The operator's name as `hop` shows it, or what stands in its place.
std::string op_text(const Session& s, const Event& e) {
  if (e.kind == Kind::kBackwardNode) {
    const auto run = s.run_of(e.id);
    return run ? std::string(s.node_name(run->node)) : std::string("backward node");
  }
  return s.op(e.op).full;
}

std::string nodes_text(const Session& s, const Event& e) {
  std::string out;
  if (!e.node) return out;
  for (const NodeId n : s.nodes_of(e.id)) out += (out.empty() ? "" : ", ") + std::string(s.node_name(n));
  return out;
}

constexpr size_t kLongestError = 120;  // bytes of a line

std::string error_text(const Session& s, const Event& e) {
  if (!(e.flags & kRaised)) return {};
  for (const Raised& r : s.raised_in(e.id)) {
    if (r.event == e.id) return r.message.empty() ? r.type : r.type + ": " + r.message;
  }
  return "raised";
}

/// "exclude AutogradCPU": what a person said while it stood.
std::string changed_text(const Session& s, const Event& e) {
  std::string out;
  if (e.flags & kChangedByHand) for (const HandChange& c : s.changes_of(e.id)) out += (out.empty() ? "" : "; ") + c.text;
  return out;
}

/// "call", "-> redispatch", ... as a mark in front of the name.
std::string marked_name(const Session& s, const Event& e, const std::string& op) {
  std::string name = op.starts_with("aten::") ? op.substr(6) : op;
  switch (e.kind) {
    case Kind::kCall: break;
    case Kind::kCallBoxed: name += " (boxed)"; break;
    case Kind::kRedispatch: name = "-> " + name; break;
    case Kind::kRedispatchBoxed: name = "-> " + name + " (boxed)"; break;
    case Kind::kMissingKernel: name = "!! " + name + ": no kernel"; break;
    case Kind::kPythonMode: name = "mode " + name; break;
    case Kind::kTorchFunction: name = "torch_function " + name; break;
    case Kind::kBackwardNode: name = "backward " + name; break;
  }
  (void)s;
  return name;
}

/// Columns in the terminal, so that what follows stays aligned (UTF-8: continuation bytes take none).
size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}
void pad(std::string* line, size_t to) {
  const size_t w = width(*line);
  *line += std::string(w < to ? to - w : 1, ' ');
}
void pad_left(std::string* line, const std::string& text, size_t columns) {
  const size_t w = width(text);
  *line += std::string(w < columns ? columns - w : 0, ' ') + text;
}

class OpFilter {
 public:
  OpFilter(const Session& s, const std::string& pattern) : s_(s), pattern_(pattern) {}
  bool operator()(const Event& e) {
    if (pattern_.empty()) return true;
    if (e.kind == Kind::kBackwardNode) return operator_matches(pattern_, op_text(s_, e));
    const auto [it, fresh] = seen_.try_emplace(e.op.value, false);
    if (fresh) it->second = operator_matches(pattern_, s_.op(e.op).full);
    return it->second;
  }

 private:
  const Session& s_;
  const std::string pattern_;
  std::unordered_map<uint32_t, bool> seen_;
};

std::string text_row(const Session& s, const Event& e, uint16_t base_depth, size_t id_columns) {
  std::string line;
  pad_left(&line, std::to_string(e.id.value), id_columns);
  line += "  ";
  const size_t depth = std::min<size_t>(e.depth > base_depth ? e.depth - base_depth : 0, 60);
  line += std::string(depth * 2, ' ') + marked_name(s, e, op_text(s, e));
  pad(&line, id_columns + 44);
  if (const Key* k = e.kind == Kind::kBackwardNode ? nullptr : s.key(e.key)) line += k->name;
  pad(&line, id_columns + 62);
  line += is_redispatch(e.kind) ? std::string() : values_brief(s.arguments(e.id));
  pad(&line, id_columns + 90);
  pad_left(&line, e.end == kOpen ? "open" : time_brief(e.end - e.begin), 9);
  std::string tail = nodes_text(s, e);
  if (tail.empty() && is_call(e.kind)) {
    if (const uint32_t inside = s.nodes_inside(e.id)) tail = grouped(inside) + (inside == 1 ? " node inside" : " nodes inside");
  }
  if (!tail.empty()) line += "  " + tail;
  if (std::string error = error_text(s, e); !error.empty()) {
    if (error.size() > kLongestError) {  // the whole text: --json, or the program's own output
      size_t end = kLongestError;
      while (end > 0 && (static_cast<unsigned char>(error[end]) & 0xc0) == 0x80) --end;  // not within a character
      error = error.substr(0, end) + "…";
    }
    line += "  ! " + error;
  }
  if (const std::string changed = changed_text(s, e); !changed.empty()) line += "  changed by hand: " + changed;
  return line;
}

}  // namespace

std::string show_json(const Session& s, const KeyMath& math, EventId id) {
  const Event e = s.event(id);
  std::string out = "{\"id\":" + std::to_string(e.id.value) + ",\"parent\":" + (e.parent ? std::to_string(e.parent.value) : "null") +
                    ",\"depth\":" + std::to_string(e.depth) + ",\"thread\":" + std::to_string(e.thread.value) + ",\"kind\":\"" +
                    kind_name(e.kind) + "\",\"op\":" + (e.kind == Kind::kBackwardNode ? json_quoted(op_text(s, e)) : e.op ? json_quoted(s.op(e.op).full) : "null");
  const Key* key = e.kind == Kind::kBackwardNode ? nullptr : s.key(e.key);
  out += ",\"key\":" + (key ? json_quoted(key->name) : "null") + ",\"keys\":[";
  bool first = true;
  for (const KeyId k : math.keys(s.keyset(e.keyset).raw)) {
    if (!first) out += ',';
    first = false;
    out += json_quoted(s.key(k)->name);
  }
  out += "],\"begin_ns\":" + std::to_string(e.begin) + ",\"end_ns\":" + (e.end == kOpen ? "null" : std::to_string(e.end));
  out += ",\"node\":" + (e.node ? json_quoted(s.node_name(e.node)) : "null");
  const std::string error = error_text(s, e);
  const std::string changed = changed_text(s, e);
  return out + ",\"error\":" + (error.empty() ? "null" : json_quoted(error)) + (changed.empty() ? "" : ",\"changed\":" + json_quoted(changed)) + "}";
}

ShowCounts show(const Session& s, const ShowOptions& o, bool json, const std::function<void(std::string_view line)>& out) {
  const uint32_t size = s.size();
  ShowCounts counts{0, 0, size};
  uint32_t first = std::max(1u, o.from.value), last = o.to ? std::min(size, o.to.value) : size;
  ThreadId thread;
  uint16_t base_depth = 0;
  if (o.event) {
    const Event e = s.event(o.event);
    thread = e.thread;
    base_depth = e.depth;
    first = std::max(first, o.event.value);
    last = std::min(last, e.last.value);
  }
  const KeyMath math(s);
  OpFilter wanted(s, o.op);
  const size_t id_columns = std::max<size_t>(5, std::to_string(size).size());
  const Result<Filter> filter = Filter::parse(o.filter);
  const bool filtered = filter && !(*filter).empty();
  const std::vector<EventId> matches = filtered ? (*filter).matches(s, EventId{first}, EventId{last}) : std::vector<EventId>();
  size_t next = 0;
  for (uint32_t id = first; id <= last && id != 0; ++id) {
    if (filtered) {
      if (next >= matches.size()) break;
      id = matches[next++].value;
    }
    const Event e = s.event(EventId{id});
    if ((o.event && e.thread != thread) || !wanted(e)) continue;
    if (o.max_rows && counts.matched++ >= o.max_rows) continue;
    if (!o.max_rows) ++counts.matched;
    if (!json && counts.shown == 0) {
      std::string head;
      pad_left(&head, "hop", id_columns);
      head += "  operator";
      pad(&head, id_columns + 44);
      head += "layer";
      pad(&head, id_columns + 62);
      head += "arguments";
      pad(&head, id_columns + 90);
      pad_left(&head, "time", 9);
      out(head + "  node");
    }
    ++counts.shown;
    out(json ? show_json(s, math, EventId{id}) : text_row(s, e, base_depth, id_columns));
  }
  return counts;
}

}  // namespace peel
