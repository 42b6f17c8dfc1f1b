// A comparison as lines: for a terminal, and one JSON object a line.
#include <algorithm>
#include <array>
#include <map>

#include "sessions/diff.h"
#include "sessions/memory.h"
#include "sessions/show.h"
#include "sessions/why_terms.h"

namespace peel {
namespace {

constexpr size_t kStateColumn = 2, kNameColumn = 13, kLayersLeast = 10;
constexpr size_t kRowsLookedAt = 500;  // for the headline

const Session& session_of(const DiffSide& l, const DiffSide& r, const DiffRow& row) { return row.left ? *l.session : *r.session; }
EventId call_of(const DiffRow& row) { return row.left ? row.left : row.right; }

std::string name_of(const Session& s, EventId e) {
  const Event v = s.event(e);
  if (v.kind == Kind::kBackwardNode) {
    const auto run = s.run_of(e);
    return run ? std::string(s.node_name(run->node)) : "backward node";
  }
  return v.op ? s.op(v.op).brief : "?";
}

std::string tags(const Session& s, EventId call) {
  std::string out;
  for (const KeyId k : diff_layers(s, call)) {
    const Key* key = s.key(k);
    out += (out.empty() ? "" : " ") + layer_tag(key && key->name != "Undefined" ? key->name : "");
  }
  return out;
}

void pad(std::string* line, size_t to) {
  if (line->size() < to) line->append(to - line->size(), ' ');
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string both(uint64_t a, uint64_t b) { return grouped(a) + " | " + grouped(b); }

std::string json_layers(const Session& s, EventId call) {
  if (!call) return "null";
  std::string out = "[";
  for (const KeyId k : diff_layers(s, call)) out += (out.size() > 1 ? "," : "") + (s.key(k) ? json_quoted(s.key(k)->name) : "null");
  return out + "]";
}
std::string json_time(const Session& s, EventId e) {
  const Stretch t = e ? s.stretch(e) : Stretch{0, kOpen};
  return t.end == kOpen ? "null" : std::to_string(t.end - t.begin);
}
std::string json_id(EventId e) { return e ? std::to_string(e.value) : "null"; }

/// Reasons of rows in turn. Calls that are alike, in a stretch in which neither side's thread state changes, have the
/// same reason: finding out since when a mode holds takes time, and thousands of rows in a row may ask.
class Reasons {
 public:
  Reasons(const DiffSide& l, const DiffSide& r, const Diff& d) : l_(*l.session), r_(*r.session), d_(d) {}
  std::string of(const DiffRow& row) {
    constexpr uint16_t kCached = diff_what::kLayers | diff_what::kKeyset;
    if (row.state != DiffState::kChanged || row.depth || !(row.what & diff_what::kLayers)) return diff_reason(l_, r_, d_, row);
    const Event a = l_.event(row.left), b = r_.event(row.right);
    if (a.tls != tls_[0] || b.tls != tls_[1]) known_.clear();
    tls_[0] = a.tls, tls_[1] = b.tls;
    if (row.what & ~(kCached | diff_what::kInside)) return diff_reason(l_, r_, d_, row);
    const auto [it, fresh] = known_.try_emplace({a.op.value, a.keyset.value, a.arg_keyset.value, a.kernel.value, b.keyset.value, b.arg_keyset.value, b.kernel.value, row.what});
    if (fresh) it->second = diff_reason(l_, r_, d_, row);
    return it->second;
  }

 private:
  const Session &l_, &r_;
  const Diff& d_;
  TlsId tls_[2];
  std::map<std::array<uint32_t, 8>, std::string> known_;
};

std::string json_taken(const Session& s, const CallEffects* of, EventId call) {
  if (!call || !of || !of->has_memory()) return "null";
  std::string out;
  for (const auto& [device, t] : of->taken_in(s, call))
    out += (out.empty() ? "" : ",") + json_quoted(device) + ":{\"blocks\":" + std::to_string(t.blocks) + ",\"bytes\":" + std::to_string(t.bytes) + "}";
  return "{" + out + "}";
}
std::string json_launched(const Session& s, const CallEffects* of, EventId call) {
  if (!call || !of || !of->has_gpu()) return "null";
  std::string out;
  for (const auto& [name, n] : of->launched_in(s, call)) out += (out.empty() ? "" : ",") + json_quoted(name) + ":" + std::to_string(n);
  return "{" + out + "}";
}

std::string json_row(const DiffSide& l, const DiffSide& r, const Diff& d, const DiffRow& row, const std::string& reason) {
  const Session& s = session_of(l, r, row);
  const Event e = s.event(call_of(row));
  std::string what;
  for (const char* w : diff_what_words(row.what)) what += (what.empty() ? "" : ",") + json_quoted(w);
  return "{\"state\":" + json_quoted(diff_state_words(row.state)) + ",\"depth\":" + std::to_string(row.depth) +
         ",\"op\":" + json_quoted(e.op && e.kind != Kind::kBackwardNode ? s.op(e.op).full : name_of(s, e.id)) + ",\"line\":" + json_quoted(where_brief(s, e.stack)) +
         ",\"left\":" + json_id(row.left) + ",\"right\":" + json_id(row.right) + ",\"what\":[" + what + "],\"left_layers\":" + json_layers(*l.session, row.left) +
         ",\"right_layers\":" + json_layers(*r.session, row.right) + ",\"reason\":" + json_quoted(reason) +
         ",\"left_ns\":" + json_time(*l.session, row.left) + ",\"right_ns\":" + json_time(*r.session, row.right) +
         ",\"left_allocated\":" + json_taken(*l.session, d.effects[0].get(), row.left) + ",\"right_allocated\":" + json_taken(*r.session, d.effects[1].get(), row.right) +
         ",\"left_launched\":" + json_launched(*l.session, d.effects[0].get(), row.left) + ",\"right_launched\":" + json_launched(*r.session, d.effects[1].get(), row.right) + "}";
}

std::string json_summary(const DiffSide& l, const DiffSide& r, const Diff& d) {
  const auto known = [](int64_t n) { return n < 0 ? "null" : std::to_string(n); };
  const auto side = [&](const DiffSide& of, const DiffTotals& t) {
    return "{\"file\":" + json_quoted(of.session->path()) + ",\"span\":" + json_quoted(of.scope.whole() ? "all" : of.scope.name) + ",\"calls\":" + std::to_string(t.calls) +
           ",\"hops\":" + std::to_string(t.hops) + ",\"nodes\":" + std::to_string(t.nodes) + ",\"saved\":" + known(t.saved) +
           ",\"ns\":" + std::to_string(t.time) + ",\"allocated\":" + known(t.allocated) + ",\"held\":" + known(t.held) + ",\"launched\":" + known(t.launched) + "}";
  };
  std::string missing;
  for (const std::string& sentence : diff_not_compared(d)) missing += (missing.empty() ? "" : ",") + json_quoted(sentence);
  return "{\"state\":\"summary\",\"same\":" + std::to_string(d.same) + ",\"changed\":" + std::to_string(d.changed) + ",\"only_left\":" + std::to_string(d.left) +
         ",\"only_right\":" + std::to_string(d.right) + ",\"left\":" + side(l, d.totals[0]) + ",\"right\":" + side(r, d.totals[1]) + ",\"not_compared\":[" + missing + "]}";
}

/// Rows that are told: all at the top, and what is inside a row that has no difference of its own.
std::vector<size_t> told(const Diff& d) {
  std::vector<size_t> out;
  for (size_t i = 0; i < d.rows.size();) {
    const DiffRow& row = d.rows[i];
    if (row.state != DiffState::kSame) out.push_back(i);
    i += Diff::is_difference(row) || row.state == DiffState::kSame ? row.below + size_t{1} : size_t{1};
  }
  return out;
}

}  // namespace

std::string diff_summary(const DiffSide& l, const DiffSide& r, const Diff& d) {
  const uint64_t calls = d.same + d.differ();
  std::string out;
  if (d.differ() == 0) {
    out = "no difference in " + grouped(calls) + (calls == 1 ? " call" : " calls");
  } else {
    out = grouped(d.differ()) + " of " + grouped(calls) + (calls == 1 ? " call differs" : d.differ() == 1 ? " calls differs" : " calls differ");
    const DiffRow& first = d.rows[d.first()];
    const Session& s = session_of(l, r, first);
    const std::string where = where_brief(s, s.event(call_of(first)).stack);
    out += ", first: " + name_of(s, call_of(first)) + (where.empty() ? "" : " (" + where + ")");
    if (d.left || d.right) out += "; " + grouped(d.changed) + " changed, " + grouped(d.left) + " only left, " + grouped(d.right) + " only right";
  }
  const auto &a = d.totals[0], &b = d.totals[1];
  out += "; hops " + both(a.hops, b.hops) + "; nodes " + both(a.nodes, b.nodes);
  if (a.saved >= 0 && b.saved >= 0) out += "; saved " + both(static_cast<uint64_t>(a.saved), static_cast<uint64_t>(b.saved));
  out += "; time " + time_brief(a.time) + " | " + time_brief(b.time);
  if (a.allocated >= 0 && b.allocated >= 0) out += "; allocated " + bytes_text(a.allocated) + " | " + bytes_text(b.allocated) + ", held at the end " + bytes_text(a.held) + " | " + bytes_text(b.held);
  if (a.launched >= 0 && b.launched >= 0) out += "; launched " + both(static_cast<uint64_t>(a.launched), static_cast<uint64_t>(b.launched));
  return out;
}

std::vector<std::string> diff_not_compared(const Diff& d) {
  std::vector<std::string> out;
  const auto add = [&](const char* what, bool left, bool right, const char* lack) {
    if (left != right) out.push_back(std::string(what) + " not compared: the " + (left ? "right" : "left") + " recording has no " + lack + ".");
  };
  if (!d.effects[0] || !d.effects[1]) return out;
  if (!d.effects[0]->has_memory() && !d.effects[1]->has_memory()) out.push_back("Allocation is not compared: neither recording tells of memory.");
  add("Allocation is", d.effects[0]->has_memory(), d.effects[1]->has_memory(), "allocations");
  add("Kernels are", d.effects[0]->has_gpu(), d.effects[1]->has_gpu(), "work of a GPU");
  return out;
}

std::string diff_held(const Diff& d) {
  const int64_t l = d.totals[0].held, r = d.totals[1].held;
  if (l < 0 || r < 0 || l == r) return "";
  return std::string("The ") + (r > l ? "right" : "left") + " holds " + bytes_text(std::abs(r - l)) + " more at its end.";
}

namespace {
std::string causes_headline(const DiffSide& l, const DiffSide& r, const Diff& d) {
  const uint64_t calls = d.same + d.differ();
  if (d.differ() == 0) return "No difference in " + grouped(calls) + (calls == 1 ? " call." : " calls.");
  std::string out = grouped(d.differ()) + " of " + grouped(calls) + (calls == 1 ? " call differs" : d.differ() == 1 ? " calls differs" : " calls differ");
  // The layer that most rows lack, and why.
  std::map<std::string, std::pair<size_t, LayerCause>> tally;
  bool nodes = false, no_node = false;
  size_t looked = 0;
  for (size_t i = d.first(); i != SIZE_MAX && looked < kRowsLookedAt; i = d.next(i), ++looked)
    for (const LayerCause& c : layer_causes(*l.session, *r.session, d.rows[i])) {
      if (!c.instead.empty() || c.verdict == Verdict::kBelow) continue;
      auto& [n, cause] = tally.try_emplace((c.ran_left ? "l" : "r") + c.key + c.words, 0, c).first->second;
      ++n;
      if (family_of(c.key) != Family::kAutograd) continue;
      const Session& ran = c.ran_left ? *l.session : *r.session;
      const EventId call = c.ran_left ? d.rows[i].left : d.rows[i].right;
      (ran.nodes_inside(call) ? nodes : no_node) = true;
    }
  const auto most = std::max_element(tally.begin(), tally.end(), [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  if (most == tally.end() || most->second.first * 2 < looked) {  // no one cause explains it
    if (d.changed == 0) return out + ": " + grouped(d.left) + " only left, " + grouped(d.right) + " only right.";
    return out + (d.left || d.right ? ": " + grouped(d.changed) + " changed, " + grouped(d.left) + " only left, " + grouped(d.right) + " only right." : ".");
  }
  const LayerCause& c = most->second.second;
  const Session &ran = c.ran_left ? *l.session : *r.session, &other = c.ran_left ? *r.session : *l.session;
  const DiffRow& first = d.rows[d.first()];
  const EventId ran_call = c.ran_left ? first.left : first.right, other_call = c.ran_left ? first.right : first.left;
  const bool modes = ran_call && other_call && mode_of(ran, ran_call) != mode_of(other, other_call);
  const bool autograd = family_of(c.key) == Family::kAutograd && nodes != no_node;
  const char* made = !autograd ? "" : nodes ? " and makes nodes" : " and makes no node";
  if (c.words == "excluded by inference_mode") out += ": inference_mode excludes " + c.key + "; ";
  else out += ": " + (modes ? "under " + mode_of(other, other_call) : c.ran_left ? "on the right" : "on the left") + " " + c.key + (c.verdict == Verdict::kFellThrough ? " " : " is ") + c.words + "; ";
  return out + (modes ? mode_of(ran, ran_call) + " runs it" : std::string(c.ran_left ? "on the left" : "on the right") + " it runs") + made + ".";
}
}  // namespace

std::string diff_headline(const DiffSide& l, const DiffSide& r, const Diff& d) {
  const std::string held = d.differ() ? diff_held(d) : "";
  return causes_headline(l, r, d) + (held.empty() ? "" : " " + held);
}

void diff_text(const DiffSide& l, const DiffSide& r, const Diff& d, bool json, const std::function<void(std::string_view line)>& out) {
  Reasons reasons(l, r, d);
  if (json) {
    for (const DiffRow& row : d.rows)
      if (row.state != DiffState::kSame) out(json_row(l, r, d, row, reasons.of(row)));
    out(json_summary(l, r, d));
    return;
  }
  const bool two = l.session != r.session;
  const auto head = [&](const char* side, const DiffSide& of) {
    std::string name = two ? file_name(of.session->path()) : "";
    if (!of.scope.whole()) name += (name.empty() ? "" : ", ") + of.scope.name;
    out(std::string(side) + (name.empty() ? "" : name + ": ") + scope_text(*of.session, of.scope));
  };
  head("left   ", l);
  head("right  ", r);
  const std::vector<size_t> rows = told(d);
  size_t name_width = 4, left_width = kLayersLeast, right_width = kLayersLeast;
  for (const size_t i : rows) {
    const DiffRow& row = d.rows[i];
    name_width = std::max(name_width, row.depth * 2 + name_of(session_of(l, r, row), call_of(row)).size());
    if (row.left) left_width = std::max(left_width, tags(*l.session, row.left).size());
    if (row.right) right_width = std::max(right_width, tags(*r.session, row.right).size());
  }
  name_width = std::min<size_t>(name_width, 36);
  std::string last_reason;
  size_t next = 0;
  uint64_t same = 0;
  const auto say_same = [&] {
    if (same) out("  =        " + grouped(same) + (same == 1 ? " call the same" : " calls the same"));
    same = 0;
  };
  for (size_t i = 0; i < d.rows.size(); ++i) {
    const DiffRow& row = d.rows[i];
    if (row.state == DiffState::kSame && row.depth == 0) ++same;
    if (next >= rows.size() || rows[next] != i) continue;
    ++next;
    say_same();
    std::string line(kStateColumn, ' ');
    line += diff_state_words(row.state);
    pad(&line, kNameColumn + size_t{row.depth} * 2);
    line += name_of(session_of(l, r, row), call_of(row));
    pad(&line, kNameColumn + name_width + 2);
    const size_t layers = line.size();
    if (row.left) line += tags(*l.session, row.left);
    pad(&line, layers + left_width + 2);
    line += row.left && row.right ? (row.what & diff_what::kLayers ? "->  " : "=   ") : "    ";
    const size_t right = line.size();
    if (row.right) line += tags(*r.session, row.right);
    pad(&line, right + right_width + 3);
    const std::string reason = reasons.of(row);
    if (row.state != DiffState::kChanged) {
      const Session& s = session_of(l, r, row);
      line += where_brief(s, s.event(call_of(row)).stack);
    } else if (reason == last_reason && (row.what & diff_what::kLayers)) {
      line += "same";
    } else {
      line += reason;
    }
    last_reason = reason;
    while (line.ends_with(' ')) line.pop_back();
    out(line);
  }
  say_same();
  out(diff_summary(l, r, d));
  if (const std::string held = diff_held(d); !held.empty() && d.differ()) out(held);
  for (const std::string& sentence : diff_not_compared(d)) out(sentence);
}

}  // namespace peel
