#include "sessions/saved.h"

#include "sessions/show.h"

namespace peel {

std::string saved_name(const Saved& s) { return s.list_index < 0 ? s.name : s.name + "[" + std::to_string(s.list_index) + "]"; }

std::string saved_note(const Saved& s) {
  if (s.flags & kSavedPacked) return "packed by a hook";
  if (s.flags & kSavedReleased) return "released before it was met";
  if (s.flags & kSavedInside) return "of the node inside";
  return s.flags & kSavedOutput ? "an output" : "";
}

std::vector<ChangedSaved> changed_since_saved(const Session& s, NodeId node, EventId until) {
  std::vector<ChangedSaved> out;
  const Node n = s.node(node);
  const EventId made = n.event ? n.event : n.found;
  if (!made) return out;
  // An in-place operator makes its node, writes, and saves its result: its own hops don't count. A node that was met late was
  // complete when the hop that met it began.
  const EventId from = n.event ? s.last(n.event) : EventId(made.value - 1);
  for (Saved& v : s.saved_of(node)) {
    if (!v.tensor || v.version < 0) continue;
    ChangedSaved c{std::move(v), made, {}, -1};
    for (const WriteRow& w : s.writes(c.saved.tensor)) {
      // Other version counters of the same storage (detached data) have counts of their own.
      if (w.event <= from || (until && w.event >= until) || w.before < c.saved.version || w.after <= w.before) continue;
      if (c.version < 0) c.write = w;
      c.version = w.after;
    }
    if (c.version >= 0) out.push_back(std::move(c));
  }
  return out;
}

std::string saved_lines(const Session& s, const std::vector<NodeId>& made, EventId hop) {
  std::string out;
  const auto tensor = [](TensorId t) { return t ? " t" + std::to_string(t.value) : std::string(); };
  for (const NodeId n : made) {
    const std::string head = "  " + std::string(s.node_name(n)) + " saves ";
    for (const Saved& v : s.saved_of(n)) {
      out += head + saved_name(v) + tensor(v.tensor);
      if (!v.dtype.empty()) out += " " + dtype_brief(v.dtype) + v.shape;
      if (v.version >= 0) out += ", version " + std::to_string(v.version);
      if (const std::string note = saved_note(v); !note.empty()) out += ", " + note;
      out += "\n";
    }
  }
  const auto run = s.event(hop).flags & kRaised ? s.run_of(hop) : std::nullopt;
  if (!run) return out;
  for (const ChangedSaved& c : changed_since_saved(s, run->node, hop)) {
    const std::string where = where_brief(s, s.event(c.write.event).stack);
    out += "  " + saved_name(c.saved) + tensor(c.saved.tensor) + " was saved at version " + std::to_string(c.saved.version) + " (hop " + std::to_string(c.made.value) + "); hop " +
           std::to_string(c.write.event.value) + " " + s.op(s.event(c.write.event).op).full + (where.empty() ? "" : " at " + where) + " wrote it: version " + std::to_string(c.version) + "\n";
  }
  return out;
}

}  // namespace peel
