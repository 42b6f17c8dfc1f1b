#include "views/findings_model.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "sessions/memory.h"
#include "sessions/op_report.h"
#include "sessions/saved.h"
#include "views/findings_hidden.h"
#include "views/gradient_stops.h"

namespace peel::views {
namespace {

constexpr size_t kKeptEvents = 200;

void add_event(Finding& f, EventId e) {
  if (f.events.size() < kKeptEvents) f.events.push_back(e);
}

/// Exceptions, each where it began: a hop that an exception left is not said again for the hops around it.
void find_raised(const Session& s, std::vector<Finding>& out) {
  std::vector<Raised> raised = s.raised();
  std::stable_sort(raised.begin(), raised.end(), [](const Raised& a, const Raised& b) { return a.event < b.event; });
  std::map<std::string, size_t> groups;
  for (size_t i = 0; i < raised.size(); i++) {
    const Raised& r = raised[i];
    const Event e = s.event(r.event);
    if (i + 1 < raised.size() && raised[i + 1].event > r.event && raised[i + 1].event <= e.last && s.event(raised[i + 1].event).thread == e.thread) continue;
    if (e.kind == Kind::kMissingKernel) continue;  // a finding of its own
    const std::string name = hop_name(s, r.event), line = line_of(s, r.event);
    const auto [at, fresh] = groups.emplace(name + '\n' + r.type + '\n' + r.message + '\n' + line, out.size());
    if (!fresh) {
      out[at->second].count++;
      add_event(out[at->second], r.event);
      continue;
    }
    Finding f{Finding::Kind::kRaised, {}, r.event};
    code(f.sentence, name);
    say(f.sentence, " raised ");
    say(f.sentence, r.type == "?" ? "an exception that is none of PyTorch's own" : r.type, true);
    if (!r.message.empty()) say(f.sentence, ": " + r.message);
    f.hover = r.type + ": " + r.message + (line.empty() ? "" : "\n" + line);
    add_event(f, r.event);
    tell_origins(s, e, f);
    out.push_back(std::move(f));
  }
}

/// What a person changed while the program stood: what comes after it is not what the program alone would have done.
void find_changes(const Session& s, std::vector<Finding>& out) {
  for (const HandChange& c : s.changes()) {
    Finding f{Finding::Kind::kByHand, {}, c.event};
    code(f.sentence, hop_name(s, c.event));
    say(f.sentence, " was changed while it stood: ");
    say(f.sentence, c.text, true);
    const Key* would = c.moved ? s.key(c.key) : nullptr;
    if (would && would->id != s.event(c.event).key) say(f.sentence, "; it would have gone to " + would->name);
    add_event(f, c.event);
    out.push_back(std::move(f));
  }
}

void find_notes(const Session& s, std::vector<Finding>& out) {
  for (const Bookmark& b : s.bookmarks()) {
    Finding f{Finding::Kind::kNote, {}, b.event};
    if (b.text.empty()) say(f.sentence, "bookmark at "), code(f.sentence, hop_name(s, b.event));
    else say(f.sentence, "“" + b.text + "”");
    add_event(f, b.event);
    out.push_back(std::move(f));
  }
  for (const Note& n : s.notes()) {
    Finding f{Finding::Kind::kNote, {}, n.event};
    say(f.sentence, "“" + n.text.substr(0, n.text.find('\n')) + "” at ");
    code(f.sentence, hop_name(s, n.event));
    f.hover = n.text;
    add_event(f, n.event);
    out.push_back(std::move(f));
  }
}

/// Why backward refused: what its node saved was written in between. `run`: a node's run that an exception left.
void find_changed(const Session& s, EventId run, std::vector<Finding>& out) {
  constexpr size_t kMost = 200;
  const auto ran = s.run_of(run);
  if (!ran || out.size() > kMost) return;
  for (const ChangedSaved& c : changed_since_saved(s, ran->node, run)) {
    Finding f{Finding::Kind::kChanged, {}, c.write.event};
    f.tensor = c.saved.tensor;
    const std::string line = line_of(s, c.write.event), made = line_of(s, c.made);
    code(f.sentence, hop_name(s, c.write.event));
    say(f.sentence, (line.empty() ? "" : " at " + line) + " wrote ");
    code(f.sentence, tensor_name(c.saved.tensor));
    say(f.sentence, ", which ");
    say(f.sentence, std::string(s.node_name(ran->node)), true);
    say(f.sentence, " saved at version " + std::to_string(c.saved.version) + " (hop " + count_text(c.made.value) + "): at version " + std::to_string(c.version) + " backward refused it");
    f.hover = "Saved as " + saved_name(c.saved) + (made.empty() ? "" : " at " + made) + ".\nWritten" + (line.empty() ? "" : " at " + line) + ".\nBackward ran the node at hop " + count_text(run.value) + ".";
    for (const EventId e : {c.write.event, c.made, run}) add_event(f, e);
    f.count = 1;
    out.push_back(std::move(f));
  }
}

void find_losses(const Session& s, std::vector<Finding>& out) {
  for (const Loss& l : s.losses()) {
    if (l.count <= 0) continue;
    const bool inferred = l.name.starts_with("inferred");
    Finding f{inferred ? Finding::Kind::kInferred : Finding::Kind::kLost, {}, {}};
    std::string name = l.name;
    if (inferred && name.size() > 8) name = name.substr(name.find_first_not_of(": ", 8) == name.npos ? 8 : name.find_first_not_of(": ", 8));
    say(f.sentence, name, true);
    if (!l.meaning.empty()) say(f.sentence, ": " + l.meaning.substr(0, l.meaning.find('\n')));
    f.count = static_cast<uint64_t>(l.count);
    f.hover = l.meaning;
    out.push_back(std::move(f));
  }
  if (const std::string t = s.trouble(); !t.empty()) {
    Finding f{Finding::Kind::kLost, {}, {}};
    say(f.sentence, t);
    out.push_back(std::move(f));
  }
}

void find_ending(const Session& s, std::vector<Finding>& out) {
  const std::string state = s.meta("state"), code_text = s.meta("exit_code");
  if (state == "crashed") {
    Finding f{Finding::Kind::kEnded, {}, {}};
    const int status = code_text.empty() ? 0 : atoi(code_text.c_str());
    say(f.sentence, "the program crashed", true);
    if (status > 128) say(f.sentence, ": killed by signal " + std::to_string(status - 128));
    else if (status < 0) say(f.sentence, ": killed by signal " + std::to_string(-status));
    else if (!code_text.empty() && status) say(f.sentence, ", exit status " + code_text);
    if (s.size()) f.event = EventId(s.size()), say(f.sentence, "; this was the last hop"), add_event(f, f.event);
    out.push_back(std::move(f));
  } else if (state == "truncated") {
    Finding f{Finding::Kind::kLost, {}, {}};
    say(f.sentence, "recording stopped early", true);
    say(f.sentence, ": the bound on its size was reached; the program went on");
    out.push_back(std::move(f));
  } else if (!code_text.empty() && code_text != "0") {
    Finding f{Finding::Kind::kEnded, {}, {}};
    say(f.sentence, "the program ended with exit status ");
    say(f.sentence, code_text, true);
    out.push_back(std::move(f));
  }
}

/// What one pass over the hops finds: failed look-ups and hops that never returned.
struct Pass {
  const Session& s;
  std::vector<Finding>& out;
  bool live;
  std::map<std::pair<uint32_t, KeyId>, size_t> missing;
  std::map<uint32_t, std::pair<Event, uint64_t>> open;  // per thread: the innermost, how many

  void see(const Event& e) {
    if (e.kind == Kind::kMissingKernel) see_missing(e);
    if (e.kind == Kind::kBackwardNode && e.flags & kRaised && out.size() < 1000) {
      const size_t before = out.size();
      find_changed(s, e.id, out);
      if (out.size() == before) find_failed_run(s, e, out);
    }
    if (e.end == kOpen && !live) {
      auto& [deepest, count] = open[e.thread.value];
      if (!count++ || e.depth >= deepest.depth) deepest = e;
    }
  }
  void see_missing(const Event& e) {
    const auto [at, fresh] = missing.emplace(std::pair(e.op.value, e.key), out.size());
    if (!fresh) {
      out[at->second].count++;
      add_event(out[at->second], e.id);
      return;
    }
    const Key* k = s.key(e.key);
    Finding f{Finding::Kind::kMissing, {}, e.id};
    code(f.sentence, s.op(e.op).full);
    say(f.sentence, " has no kernel");
    if (k && e.key) say(f.sentence, " for "), say(f.sentence, k->name, true);
    const MissingKernel missing_here = missing_kernel(s, e.id);
    if (!missing_here.available.empty()) say(f.sentence, "; there is one for " + key_list(s, missing_here.available, 2));
    for (const auto& [what, text] : missing_lines(s, missing_here)) f.hover += what + ": " + text + "\n";
    const auto raised = s.raised_in(e.id);
    if (!raised.empty()) f.hover += raised[0].type + ": " + raised[0].message;
    add_event(f, e.id);
    out.push_back(std::move(f));
  }
  void finish() {
    for (const auto& [thread, found] : open) {
      const auto& [deepest, count] = found;
      Finding f{Finding::Kind::kOpen, {}, deepest.id};
      code(f.sentence, hop_name(s, deepest.id));
      const Thread* t = s.thread(ThreadId(thread));
      say(f.sentence, std::string(" never returned") + (count > 1 ? ", nor did " + plural(count - 1, "hop") + " around it" : ""));
      if (t && !t->name.empty() && s.threads().size() > 1) say(f.sentence, " (" + t->name + ")");
      add_event(f, deepest.id);
      out.push_back(std::move(f));
    }
  }
};

/// Tensors that are inference tensors and require a gradient at once.
void find_contradictions(const Session& s, const Ask& ask, std::vector<Finding>& out) {
  if (!ask) return;
  const auto metas = ask("SELECT m.id FROM tensor_meta m JOIN string f ON f.id = m.flags WHERE f.value LIKE '%inference%' AND f.value LIKE '%requires_grad%'");
  if (!metas || metas->rows.empty()) return;  // descriptions are few: the big table is only read when there is one
  const auto rows = ask(
      "WITH odd AS MATERIALIZED (SELECT m.id FROM tensor_meta m JOIN string f ON f.id = m.flags WHERE f.value LIKE '%inference%' AND f.value LIKE '%requires_grad%') "
      "SELECT min(event), tensor FROM (SELECT event, tensor FROM result WHERE meta IN odd UNION ALL SELECT event, tensor FROM argument WHERE meta IN odd) GROUP BY tensor ORDER BY 1 LIMIT 200");
  if (!rows) return;
  for (const auto& row : rows->rows) {
    if (row.size() < 2) continue;
    const EventId e(static_cast<uint32_t>(strtoul(row[0].c_str(), nullptr, 10)));
    if (!e || e.value > s.size()) continue;
    Finding f{Finding::Kind::kMixed, {}, e};
    code(f.sentence, "t" + row[1]);
    say(f.sentence, " is an inference tensor and requires a gradient at once, seen at ");
    code(f.sentence, hop_name(s, e));
    add_event(f, e);
    f.tensor = TensorId(static_cast<uint32_t>(strtoul(row[1].c_str(), nullptr, 10)));
    if (const auto t = s.tensor(f.tensor); t && t->birth) {
      const EventId birth = outermost(s, t->birth);
      const Tls& then = s.tls(s.event(birth).tls);
      const std::string line = line_of(s, birth);
      say(f.sentence, "; it was made by ");
      code(f.sentence, hop_name(s, birth));
      say(f.sentence, " (hop " + count_text(birth.value) + ")" + (then.inference_mode ? " under inference_mode" : "") + (line.empty() ? "" : " at " + line));
      add_event(f, birth);
    }
    out.push_back(std::move(f));
  }
}

/// Allocations that failed. A file without the allocator's tables has none.
void find_failed_allocations(const Session& s, const Ask& ask, std::vector<Finding>& out) {
  if (!ask) return;
  const auto rows = ask(
      "SELECT m.event, m.size, d.value, m.free FROM memory_event m JOIN memory_action a ON a.id = m.action LEFT JOIN string d ON d.id = m.device "
      "WHERE a.name = 'oom' ORDER BY m.id LIMIT 200");
  if (!rows) return;
  for (size_t i = 0; i < rows->rows.size(); i++) {
    const auto& row = rows->rows[i];
    if (row.size() < 4 || rows->is_null.size() <= i) continue;
    Finding f{Finding::Kind::kMemory, {}, EventId(static_cast<uint32_t>(strtoul(row[0].c_str(), nullptr, 10)))};
    if (f.event.value > s.size()) f.event = {};
    say(f.sentence, bytes_text(strtoll(row[1].c_str(), nullptr, 10)), true);
    say(f.sentence, " could not be allocated on ");
    say(f.sentence, row[2]);
    if (f.event) say(f.sentence, " for "), code(f.sentence, hop_name(s, f.event));
    if (!rows->is_null[i][3]) say(f.sentence, ": " + bytes_text(strtoll(row[3].c_str(), nullptr, 10)) + " were left there");
    f.hover = "Panel Memory tells why: which free blocks there were and why none was taken.";
    if (f.event) add_event(f, f.event);
    out.push_back(std::move(f));
  }
}

/// Leaves that no backward reached, though some backward ran.
void find_unreached_leaves(const Session& s, std::vector<Finding>& out, const std::atomic<bool>& cancelled) {
  constexpr uint32_t kMost = 2'000'000;
  bool any_ran = false;
  Finding f{Finding::Kind::kStop, {}, {}, 0};
  std::string names;
  for (uint32_t i = 1; i <= std::min(s.nodes(), kMost) && !cancelled; i++) {
    const NodeId id(i);
    const bool ran = !s.runs(id).empty();
    any_ran |= ran;
    if (ran || s.node_name(id) != "AccumulateGrad") continue;
    const Node n = s.node(id);
    if (!f.count++) f.event = n.found;
    if (n.found) add_event(f, n.found);
    if (f.count <= 3) names += (f.count > 1 ? ", " : "") + (n.variable ? tensor_name(n.variable) : "a leaf");
  }
  if (!f.count || !any_ran) return;
  code(f.sentence, names);
  if (f.count > 3) say(f.sentence, " and " + count_text(f.count - 3) + " more");
  say(f.sentence, f.count == 1 ? " requires a gradient and got none: no backward reached it" : " require a gradient and got none: no backward reached them");
  f.count = 1;
  out.push_back(std::move(f));
}

}  // namespace

const char* finding_word(Finding::Kind k) {
  switch (k) {
    case Finding::Kind::kRaised: return "raised";
    case Finding::Kind::kMissing: return "missing";
    case Finding::Kind::kMemory: return "memory";
    case Finding::Kind::kEnded: return "ended";
    case Finding::Kind::kOpen: return "open";
    case Finding::Kind::kMixed: return "mixed";
    case Finding::Kind::kChanged: return "changed";
    case Finding::Kind::kStop: return "stop";
    case Finding::Kind::kLoop: return "loop";
    case Finding::Kind::kCopy: return "copy";
    case Finding::Kind::kByHand: return "by hand";
    case Finding::Kind::kLost: return "lost";
    case Finding::Kind::kInferred: return "inferred";
    case Finding::Kind::kNote: return "note";
  }
  return "";
}

std::string Findings::summary() const {
  uint64_t notes = 0, lost = 0, inferred = 0, found = 0;
  for (const Finding& f : rows) {
    if (f.kind == Finding::Kind::kNote) notes++;
    else if (f.kind == Finding::Kind::kLost) lost += f.count;
    else if (f.kind == Finding::Kind::kInferred) inferred += f.count;
    else found++;
  }
  std::string s = plural(found, "finding") + " in " + plural(hops, "hop") + ", " + plural(notes, "note") + "; " + count_text(lost) + " lost, " +
                  count_text(inferred) + " inferred";
  if (!values) s += "; arguments were not recorded (--detail keys), so gradient stops cannot be seen";
  else if (skipped) s += "; " + count_text(skipped) + " alike calls not looked into";
  return s;
}

void refresh_notes(const Session& s, Findings& f) {
  std::erase_if(f.rows, [](const Finding& i) { return i.kind == Finding::Kind::kNote; });
  find_notes(s, f.rows);  // they sort last
}

Findings find_all(const Session& s, const Ask& ask, const std::atomic<bool>& cancelled) {
  Findings f;
  f.generation = s.generation();
  const bool over = s.progress().ready && !s.live();
  f.hops = s.size();
  find_raised(s, f.rows);
  Pass pass{s, f.rows, s.live() || !s.progress().ready, {}, {}};
  GradientStops stops(s);
  HiddenWork hidden(s);
  for (uint32_t i = 1; i <= f.hops && !cancelled; i++) {
    const Event e = s.event(EventId(i));
    pass.see(e);
    stops.see(e);
    hidden.see(e);
  }
  pass.finish();
  find_ending(s, f.rows);
  if (!cancelled) find_contradictions(s, ask, f.rows);
  if (!cancelled) find_failed_allocations(s, ask, f.rows);
  if (!cancelled) stops.finish(f.rows, cancelled);
  f.skipped = stops.skipped();
  f.values = stops.values_recorded();
  if (!cancelled) find_unreached_leaves(s, f.rows, cancelled);
  hidden.finish(f.rows, cancelled);
  if (!cancelled) find_silent_writes(s, ask, f.rows);
  find_changes(s, f.rows);
  find_losses(s, f.rows);
  find_notes(s, f.rows);
  f.complete = over && !cancelled;
  std::stable_sort(f.rows.begin(), f.rows.end(), [](const Finding& a, const Finding& b) { return a.kind < b.kind; });
  return f;
}

}  // namespace peel::views
