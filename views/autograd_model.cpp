#include "views/autograd_model.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "sessions/memory.h"
#include "sessions/saved.h"

namespace peel::views {
namespace {

constexpr float kNodeW = 146, kWidest = 230, kNodeH = 66, kLeafH = 46, kStopH = 30;
constexpr float kLetter = 7;     // a letter of the mono face, in units
constexpr uint32_t kNear = 50000;  // hops looked at around a selection

bool is_leaf(const Session& s, const Node& n) { return n.name == "AccumulateGrad" || (n.variable && s.edges(n.id).empty()); }

/// Slots of a node stand for the tensor inputs of its call, in order, lists flattened.
std::vector<Value> differentiable_inputs(const Session& s, EventId e) {
  std::vector<Value> out;
  if (!e) return out;
  const Op& op = s.op(s.event(e).op);
  for (Value& v : s.arguments(e)) {
    const bool tensor_like = static_cast<size_t>(v.position) < op.arguments.size() && op.arguments[static_cast<size_t>(v.position)].flags & 2;
    if (v.tensor || tensor_like || !v.dtype.empty()) out.push_back(std::move(v));
  }
  return out;
}

std::string input_name(const Value& v) {
  std::string name = v.name;
  if (v.list_index >= 0) name += "[" + std::to_string(v.list_index) + "]";
  return name;
}

bool names_a_parameter(std::string_view n) { return n.starts_with("weight") || n.starts_with("bias") || n.starts_with("params"); }

const Span* innermost_module(const std::vector<Span>& spans, const Event& hop) {
  const Span* best = nullptr;
  for (const Span& s : spans)
    if (s.kind == "module" && s.thread == hop.thread && s.begin && s.begin <= hop.id && (!s.end || hop.id <= s.end))
      if (!best || s.begin >= best->begin) best = &s;
  return best;
}

/// The connected graph around `focus`, breadth first, nearest first. Users of a leaf are not followed: a
/// parameter is shared by all iterations.
struct Search {
  std::vector<NodeId> found;
  std::unordered_map<NodeId, uint32_t> index;
  bool cut = false;
};

NodeId user_of_leaf(const Session& s, NodeId leaf, int64_t task) {
  const auto users = s.users(leaf);
  if (task >= 0)
    for (NodeId u : users)
      for (const NodeRun& r : s.runs(u)) if (r.graph_task == task) return u;
  return users.empty() ? NodeId() : users.back();
}

Search search(const Session& s, NodeId focus, int64_t task, uint32_t max, const std::atomic<bool>& cancelled) {
  Search g;
  auto add = [&](NodeId n) {
    if (!n || n.value > s.nodes() || g.index.contains(n)) return;
    if (g.found.size() >= max) {
      g.cut = true;
      return;
    }
    g.index[n] = static_cast<uint32_t>(g.found.size());
    g.found.push_back(n);
  };
  add(focus);
  if (is_leaf(s, s.node(focus))) add(user_of_leaf(s, focus, task));
  for (size_t i = 0; i < g.found.size() && !cancelled; i++) {
    const NodeId n = g.found[i];
    const auto edges = s.edges(n);
    for (const Edge& e : edges) add(e.next);
    if (!edges.empty() || !is_leaf(s, s.node(n))) for (NodeId u : s.users(n)) add(u);
  }
  return g;
}

void make_sentence(const Session& s, const Search& g, AutogradModel& m) {
  uint32_t made = 0, leaves = 0;
  for (NodeId n : g.found) is_leaf(s, s.node(n)) ? leaves++ : made++;
  Parts& p = m.sentence;
  const std::string more = g.cut ? "More than " : "";
  say(p, more + plural(made, "node") + (made == 1 && !g.cut ? " leads" : " lead") + " to " + plural(leaves, "leaf", "leaves"));
  if (m.graph_task < 0) say(p, s.live() ? "; no backward ran through them yet. " : "; no backward ran through them. ");
  else if (m.ran == g.found.size()) say(p, "; all ran in backward. ");
  else say(p, "; " + count_text(m.ran) + " of " + count_text(g.found.size()) + " ran in backward. ");
  // where it stops, each name once
  std::vector<std::string> stops;
  for (const GraphBox& b : m.boxes)
    if (b.kind == GraphBox::Kind::kStop && std::find(stops.begin(), stops.end(), b.name) == stops.end()) stops.push_back(b.name);
  if (stops.empty()) return;
  say(p, "The gradient stops at ", false, true);
  const size_t shown = std::min<size_t>(stops.size(), 3);
  for (size_t i = 0; i < shown; i++) {
    if (i) say(p, i + 1 == shown && shown == stops.size() ? " and " : ", ", false, true);
    say(p, stops[i], true);
  }
  if (shown < stops.size()) say(p, " and " + count_text(stops.size() - shown) + " more", false, true);
  say(p, stops.size() == 1 ? ": it does not require it." : ": they do not require it.", false, true);
}

GraphBox node_box(const Session& s, NodeId id, const std::vector<Span>& spans) {
  const Node n = s.node(id);
  GraphBox b;
  b.node = id, b.event = n.event, b.w = kNodeW;
  if (is_leaf(s, n)) {
    b.kind = GraphBox::Kind::kLeaf, b.h = kLeafH, b.tensor = n.variable;
    b.name = n.variable ? leaf_name(s, n, spans) : "leaf";
    b.second = n.name;
    b.w = std::clamp(50 + kLetter * static_cast<float>(b.name.size()), kNodeW, kWidest);
    return b;
  }
  b.h = kNodeH, b.name = n.name;
  b.w = std::clamp(32 + kLetter * static_cast<float>(b.name.size()), kNodeW, kWidest);
  if (n.sequence_nr != UINT64_MAX) b.second = "#" + std::to_string(n.sequence_nr);
  if (n.event) {
    b.second += (b.second.empty() ? "hop " : "  hop ") + count_text(n.event.value);
    b.third = hop_name(s, n.event);
    const std::string line = line_of(s, n.event);
    const size_t colon = line.rfind(':');
    if (colon != line.npos) b.third += "  " + line.substr(colon);
  } else {
    b.third = "made outside of any hop";
  }
  return b;
}

void add_boxes(const Session& s, const Search& g, uint32_t max, AutogradModel& m, const std::atomic<bool>& cancelled) {
  const std::vector<Span> spans = s.spans();
  m.nodes_drawn = static_cast<uint32_t>(std::min<size_t>(g.found.size(), max));
  for (uint32_t i = 0; i < m.nodes_drawn && !cancelled; i++) {
    m.box_of[g.found[i]] = static_cast<uint32_t>(m.boxes.size());
    m.boxes.push_back(node_box(s, g.found[i], spans));
  }
  auto stub = [&](uint32_t of, GraphBox b, bool leaves_box) {
    b.w = kNodeW, b.h = kStopH;
    const auto i = static_cast<uint32_t>(m.boxes.size());
    m.boxes.push_back(std::move(b));
    m.edges.push_back(leaves_box ? GraphEdge{of, i, true} : GraphEdge{i, of, true});
  };
  // a node behind the bound is folded into one stub per side of a drawn box
  const size_t drawn = m.boxes.size();
  std::unordered_set<uint64_t> said;
  for (uint32_t i = 0; i < drawn && !cancelled; i++) {
    const NodeId id = m.boxes[i].node;
    std::vector<Value> inputs;
    bool read = false;
    const auto edges = s.edges(id);
    uint32_t beyond = 0;
    NodeId first_beyond;
    for (const Edge& e : edges) {
      if (e.next) {
        const auto to = m.box_of.find(e.next);
        if (to == m.box_of.end()) {
          if (!beyond++) first_beyond = e.next;
        } else if (said.insert(static_cast<uint64_t>(i) << 32 | to->second).second) {
          m.edges.push_back({i, to->second, false, e.next_input});
        }
        continue;
      }
      if (!read) inputs = differentiable_inputs(s, m.boxes[i].event), read = true;
      GraphBox stop;
      stop.kind = GraphBox::Kind::kStop, stop.node = id, stop.second = "no gradient";
      if (inputs.size() == edges.size()) {
        const Value& v = inputs[static_cast<size_t>(std::min<int>(e.slot, static_cast<int>(inputs.size()) - 1))];
        if (!v.tensor && (v.dtype.empty() || v.flags.find("undefined") != v.flags.npos)) continue;  // an optional one, not given
        stop.tensor = v.tensor;
        stop.name = input_name(v);
      } else {
        stop.name = "input " + std::to_string(e.slot);
      }
      stub(i, std::move(stop), true);
    }
    if (beyond) stub(i, {GraphBox::Kind::kFolded, first_beyond, plural(beyond, "more node"), "click to go there"}, true);
    if (m.boxes[i].kind == GraphBox::Kind::kLeaf) continue;
    uint32_t behind = 0;
    NodeId first_behind;
    for (NodeId u : s.users(id)) if (!m.box_of.contains(u) && !behind++) first_behind = u;
    if (behind) stub(i, {GraphBox::Kind::kFolded, first_behind, plural(behind, "more node"), "click to go there"}, false);
  }
}

void number(const Session& s, const Search& g, AutogradModel& m, const std::atomic<bool>& cancelled) {
  if (m.graph_task < 0) return;
  std::vector<std::pair<EventId, NodeId>> runs;
  for (NodeId n : g.found) {
    if (cancelled) return;
    for (const NodeRun& r : s.runs(n)) if (r.graph_task == m.graph_task) {
      runs.push_back({r.event, n});
      break;
    }
  }
  std::sort(runs.begin(), runs.end());
  m.ran = static_cast<uint32_t>(runs.size());
  for (uint32_t i = 0; i < runs.size(); i++)
    if (const auto b = m.box_of.find(runs[i].second); b != m.box_of.end()) m.boxes[b->second].order = i + 1;
}

}  // namespace

std::string leaf_name(const Session& s, const Node& leaf, const std::vector<Span>& spans) {
  std::string text = tensor_name(leaf.variable), brief, best;
  EventId where;
  constexpr size_t kUsers = 4;
  const auto users = s.users(leaf.id);
  for (size_t i = 0; i < users.size() && i < kUsers && best.empty(); i++) {
    // the operator that used it, and the calls around that: `t` within `linear`, which calls it `weight`
    EventId e = s.node(users[i]).event;
    for (int up = 0; e && up < 32; e = s.parent(e), up++) {
      if (!is_call(s.event(e).kind)) continue;
      for (const Value& v : s.arguments(e)) {
        if (v.tensor != leaf.variable) continue;
        if (brief.empty()) brief = tensor_brief(v);
        if (names_a_parameter(v.name)) best = input_name(v), where = e;
      }
    }
  }
  if (!best.empty())
    if (const Span* module = innermost_module(spans, s.event(where))) return module->name + "." + best;
  return brief.empty() ? text : text + " " + brief;
}

AutogradModel make_autograd_model(const Session& s, NodeId focus, const AutogradOptions& o, const std::atomic<bool>& cancelled) {
  AutogradModel m;
  m.generation = s.generation();
  m.final = s.progress().ready && !s.live();
  if (!focus || focus.value > s.nodes()) return m;
  m.focus = focus;
  m.graph_task = o.graph_task;
  const auto runs = s.runs(focus);
  if (std::none_of(runs.begin(), runs.end(), [&](const NodeRun& r) { return r.graph_task == o.graph_task; }))
    m.graph_task = runs.empty() ? -1 : runs[0].graph_task;
  const Search g = search(s, focus, m.graph_task, o.max_search, cancelled);
  m.search_cut = g.cut;
  m.nodes_found = static_cast<uint32_t>(g.found.size());
  // a focus that did not run may still stand in a graph that did
  for (size_t i = 0; i < g.found.size() && m.graph_task < 0 && !cancelled; i++)
    if (const auto r = s.runs(g.found[i]); !r.empty() && !is_leaf(s, s.node(g.found[i]))) m.graph_task = r[0].graph_task;
  add_boxes(s, g, o.max_boxes, m, cancelled);
  number(s, g, m, cancelled);
  make_sentence(s, g, m);
  if (cancelled) return m;
  std::vector<LayoutBox> boxes;
  std::vector<LayoutEdge> edges;
  for (const GraphBox& b : m.boxes) boxes.push_back({b.w, b.h});
  for (const GraphEdge& e : m.edges) edges.push_back({e.from, e.to});
  m.layout = lay_out(boxes, edges);
  return m;
}

namespace {

void describe_saved(const Session& s, NodeDetails& d, size_t shown) {
  const auto saved = s.saved_of(d.node);
  if (saved.empty()) return;
  // What came after its last run doesn't matter any more.
  EventId until;
  for (const NodeRun& r : s.runs(d.node)) until = std::max(until, r.event);
  const auto changed = changed_since_saved(s, d.node, until);
  std::map<uint64_t, uint64_t> storages;  // each counts once
  for (const Saved& v : saved) {
    const auto row = v.tensor ? s.tensor(v.tensor) : std::nullopt;
    if (row && row->storage) storages[row->storage] = v.bytes;
    if (d.saved.size() >= shown) continue;
    NodeDetails::Link link{{}, {}, saved_name(v), "", v.tensor};
    if (v.tensor) link.text += " " + tensor_name(v.tensor);
    std::string note = v.dtype.empty() ? "" : dtype_brief(v.dtype) + v.shape;
    const auto add = [&](const std::string& t) { note += (note.empty() || t.empty() ? "" : ", ") + t; };
    if (v.version >= 0) add("version " + std::to_string(v.version));
    for (const ChangedSaved& c : changed)
      if (c.saved.tensor == v.tensor && c.saved.name == v.name && c.saved.list_index == v.list_index) add("later " + std::to_string(c.version)), link.event = c.write.event;
    add(saved_note(v));
    link.note = note;
    d.saved.push_back(std::move(link));
  }
  uint64_t bytes = 0;
  for (const auto& [storage, size] : storages) bytes += size;
  d.saved_head = "Saves " + plural(saved.size(), "tensor") + (bytes ? ", " + bytes_text(static_cast<int64_t>(bytes)) : "");
  if (saved.size() > shown) d.saved.push_back({{}, {}, "and " + count_text(saved.size() - shown) + " more", ""});
}

}  // namespace

NodeDetails node_details(const Session& s, NodeId id, const AutogradModel& m) {
  NodeDetails d;
  const Node n = s.node(id);
  if (!n.id) return d;
  d.node = id, d.name = n.name, d.leaf = is_leaf(s, n), d.variable = n.variable;
  if (n.sequence_nr != UINT64_MAX) d.sequence = "sequence number " + std::to_string(n.sequence_nr);
  d.made_by = n.event ? n.event : n.found;
  d.found_late = !n.event;
  if (d.made_by) {
    const Event e = s.event(d.made_by);
    d.made_op = hop_name(s, d.made_by);
    if (const Key* k = s.key(e.key); k && e.key) d.made_key = k->name;
    d.made_line = line_of(s, d.made_by);
  }
  if (d.leaf && n.variable) {
    const auto b = m.box_of.find(id);
    d.parameter = b == m.box_of.end() ? tensor_name(n.variable) : m.boxes[b->second].name;
  }
  auto text = [&](NodeId i) {
    const Node o = s.node(i);
    const auto b = m.box_of.find(i);
    if (b != m.box_of.end() && m.boxes[b->second].kind == GraphBox::Kind::kLeaf) return m.boxes[b->second].name;
    return std::string(o.name) + (o.sequence_nr == UINT64_MAX ? "" : " #" + std::to_string(o.sequence_nr));
  };
  for (const Edge& e : s.edges(id))
    if (e.next) d.passes_to.push_back({e.next, s.node(e.next).event, text(e.next), "input " + std::to_string(e.next_input)});
  constexpr size_t kShown = 8;
  describe_saved(s, d, kShown);
  const auto users = s.users(id);
  for (size_t i = 0; i < users.size() && i < kShown; i++) d.comes_from.push_back({users[i], s.node(users[i]).event, text(users[i]), ""});
  if (users.size() > kShown) d.comes_from.push_back({{}, {}, "and " + count_text(users.size() - kShown) + " more", ""});
  const auto runs = s.runs(id);
  d.runs = static_cast<uint32_t>(runs.size());
  for (const NodeRun& r : runs) if (!d.run || r.graph_task == m.graph_task) d.run = r.event;
  if (!d.run) return d;
  const auto b = m.box_of.find(id);
  const uint32_t order = b == m.box_of.end() ? 0 : m.boxes[b->second].order;
  d.run_text = order ? "Ran in backward, " + ordinal(order) + " of " + count_text(m.ran) : "Ran in backward";
  if (d.runs > 1) d.run_text += ", one of " + count_text(d.runs) + " times";
  const Event run = s.event(d.run);
  if (run.end != kOpen) d.run_time = duration(run.end - run.begin);
  const auto calls = s.children(d.run);
  for (size_t i = 0; i < calls.size() && i < kShown; i++) d.calls.push_back({{}, calls[i], hop_name(s, calls[i]), ""});
  if (calls.size() > kShown) d.calls.push_back({{}, {}, "and " + count_text(calls.size() - kShown) + " more", ""});
  return d;
}

int64_t graph_task_at(const Session& s, EventId e) {
  for (int i = 0; e && i < 1000; e = s.parent(e), i++)
    if (s.event(e).kind == Kind::kBackwardNode)
      if (const auto run = s.run_of(e)) return run->graph_task;
  return -1;
}

NodeId node_for(const Session& s, EventId selected) {
  if (!selected || selected.value > s.size() || !s.nodes()) return {};
  const Event e = s.event(selected);
  if (e.node) return e.node;
  // the layers above it in its own onion
  for (Event up = e; up.parent && is_redispatch(up.kind);) {
    up = s.event(up.parent);
    if (up.op != e.op) break;
    if (up.node) return up.node;
  }
  uint32_t looked = 0;
  if (s.nodes_inside(selected))
    for (uint32_t i = selected.value + 1; i <= e.last.value && looked < kNear; i++, looked++)
      if (const Event in = s.event(EventId(i)); in.node && in.thread == e.thread) return in.node;
  EventId up = selected;
  for (int i = 0; up && i < 1000; up = s.parent(up), i++)
    if (s.event(up).kind == Kind::kBackwardNode)
      if (const auto run = s.run_of(up); run && run->node) return run->node;
  looked = 0;
  for (uint32_t i = selected.value; i-- > 1 && looked < kNear; looked++) if (const NodeId n = s.event(EventId(i)).node) return n;
  looked = 0;
  for (uint32_t i = selected.value + 1; i <= s.size() && looked < kNear; i++, looked++) if (const NodeId n = s.event(EventId(i)).node) return n;
  return {};
}

}  // namespace peel::views
