#include "views/why_model.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include "sessions/op_report.h"

namespace peel::views {
namespace {

Look look_of(const OnionLayer& l) {
  if (l.event && l.kind == Kind::kMissingKernel) return Look::kMissing;
  if (l.event) return l.composite ? Look::kComposite : Look::kRan;
  switch (l.verdict) {
    case Verdict::kFellThrough: return Look::kFellThrough;
    case Verdict::kExcluded: return Look::kExcluded;
    case Verdict::kMasked: return Look::kMasked;
    case Verdict::kBelow: return Look::kBelow;
    default: return Look::kNotInSet;
  }
}

std::string key_text(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

const char* entry_word(Kind k) {
  switch (k) {
    case Kind::kCall: return "call";
    case Kind::kCallBoxed: return "boxed call";
    case Kind::kRedispatch: return "redispatch";
    case Kind::kRedispatchBoxed: return "boxed redispatch";
    case Kind::kMissingKernel: return "look-up failed";
    case Kind::kPythonMode: return "Python mode";
    case Kind::kTorchFunction: return "torch function";
    case Kind::kBackwardNode: return "node's run";
  }
  return "";
}

/// Cuts a sentence at the names that a reader looks for, so that they can be set in bold.
Parts mark_names(const std::string& text, const std::unordered_set<std::string>& names) {
  Parts runs;
  auto add = [&](std::string_view s, bool strong) {
    if (s.empty()) return;
    if (!runs.empty() && runs.back().strong == strong) runs.back().text += s;
    else runs.push_back({std::string(s), strong});
  };
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  size_t i = 0;
  while (i < text.size()) {
    size_t j = i;
    if (is_word(text[i])) {
      while (j < text.size() && is_word(text[j])) j++;
      add(std::string_view(text).substr(i, j - i), names.contains(text.substr(i, j - i)));
    } else {
      while (j < text.size() && !is_word(text[j])) j++;
      add(std::string_view(text).substr(i, j - i), false);
    }
    i = j;
  }
  return runs;
}

std::string write_text(const std::vector<WriteRow>& writes) {
  std::string s;
  size_t said = 0;
  for (const WriteRow& w : writes) {
    if (said == 2) return s + " and " + std::to_string(writes.size() - said) + " more";
    if (said++) s += ", ";
    s += tensor_name(w.tensor);
    if (w.before < 0 || w.after < 0) s += " written, no version";
    else if (w.before == w.after) s += " written, version stays " + std::to_string(w.after);
    else s += " version " + std::to_string(w.before) + " to " + std::to_string(w.after);
  }
  return s;
}

WhyLayer make_layer(const Session& s, const Why& w, const OnionLayer& l) {
  WhyLayer o;
  o.key = key_text(s, l.key);
  o.look = look_of(l);
  o.event = l.event;
  o.current = l.event && l.event == w.event;
  o.gloss = l.gloss;
  if (!l.event) {
    // the reason begins with the verdict; say what it means for the call
    o.reason = l.reason.empty() ? verdict_words(l.verdict) : l.reason;
    if (const size_t colon = o.reason.find(": "); colon != o.reason.npos) o.reason.replace(colon, 2, ", ");
    if (l.verdict != Verdict::kRan && !o.reason.starts_with("skipped")) o.reason = "skipped: " + o.reason;
    o.hover = o.key + (o.gloss.empty() ? "" : ": " + o.gloss) + "\n" + o.reason;
    return o;
  }
  const Event e = s.event(l.event);
  if (e.kind == Kind::kBackwardNode) o.node_run = true, o.key = hop_name(s, l.event), o.gloss = "one run of this node in backward";
  o.raised = e.flags & kRaised;
  o.open = e.end == kOpen;
  o.entry = entry_word(l.kind);
  if (e.flags & kInferredKind) o.entry += " (inferred)";
  const std::string place = kernel_place(l.registered_at);
  if (!l.rule.empty()) o.entry += ", " + l.rule;
  if (!place.empty()) o.entry += ", " + place;
  o.nodes = l.nodes;
  if (!l.nodes.empty()) {
    o.node_text = s.node_name(l.nodes[0]);
    if (l.nodes.size() > 1) o.node_text += " and " + std::to_string(l.nodes.size() - 1) + " more";
  }
  o.nodes_inside = l.nodes_inside;
  o.writes = write_text(l.writes);
  for (EventId c : l.inner_calls) {
    std::string op = hop_name(s, c);
    if (!o.chips.empty() && o.chips.back().op == op) o.chips.back().count++;
    else o.chips.push_back({c, std::move(op)});
  }
  o.own = micros(l.own), o.total = micros(l.total);
  o.hover = o.key + (o.gloss.empty() ? "" : ": " + o.gloss) + "\nhop " + count_text(l.event.value) + ", " + o.entry;
  if (!l.registered_at.empty()) o.hover += "\nkernel " + l.registered_at;
  o.hover += "\nset handed to it: " + s.keyset(e.keyset).text;
  if (l.composite) o.hover += "\nComposite: this kernel only calls other operators; nodes belong to those.";
  if (l.total >= 0) o.hover += "\n" + duration(l.total) + " in all, " + duration(l.own) + " of its own";
  if (!l.reason.empty()) o.hover += "\n" + l.reason;
  return o;
}

const char* sign_of(WhyRow::Op op) {
  switch (op) {
    case WhyRow::Op::kUnion: return "∪";
    case WhyRow::Op::kIncluded: return "+";
    case WhyRow::Op::kExcluded: return "−";
    case WhyRow::Op::kMask: return "&";
    case WhyRow::Op::kResult: return "=";
    default: return "";
  }
}

int relevance_of(Verdict v) {
  switch (v) {
    case Verdict::kRan: return 6;
    case Verdict::kMasked: return 5;
    case Verdict::kExcluded: return 4;
    case Verdict::kFellThrough: return 3;
    case Verdict::kBelow: return 2;
    case Verdict::kNotInSet: return 1;
  }
  return 0;
}

Look look_of(Verdict v) {
  switch (v) {
    case Verdict::kRan: return Look::kRan;
    case Verdict::kFellThrough: return Look::kFellThrough;
    case Verdict::kExcluded: return Look::kExcluded;
    case Verdict::kMasked: return Look::kMasked;
    case Verdict::kBelow: return Look::kBelow;
    case Verdict::kNotInSet: return Look::kNotInSet;
  }
  return Look::kNotInSet;
}

/// `self[3]` -> `self`; "" when it stands in no list.
std::string list_name(const std::string& label) {
  const size_t b = label.find('[');
  return b == label.npos ? "" : label.substr(0, b);
}

Cell cell_of(const KeyMath& math, const WhyRow& r, const WhyColumn& c) {
  const uint64_t bits = math.bits(c.key);
  // Sets that take away name functionalities, not backends: a key is taken when nothing of it survives.
  const bool taken = bits && !math.has(math.minus(bits, r.set), c.key);
  switch (r.op) {
    case WhyRow::Op::kExcluded: return taken ? Cell::kExcluded : Cell::kNone;
    case WhyRow::Op::kMask: return taken ? Cell::kMasked : Cell::kNone;
    case WhyRow::Op::kResult: return !math.has(r.set, c.key) ? Cell::kNone : c.won ? Cell::kWins : Cell::kHas;
    default: return math.has(r.set, c.key) ? Cell::kHas : Cell::kNone;
  }
}

void make_matrix(const Session& s, const Why& w, WhyModel& m) {
  const KeyMath math(s);
  const KeyId own = s.event(w.event).key;
  for (const WhyKey& k : w.keys) {
    WhyColumn c{k.key, key_text(s, k.key), look_of(k.verdict)};
    c.won = k.key == own;
    c.relevance = relevance_of(k.verdict);
    const char* gloss = key_gloss(c.name);
    c.hover = c.name + (gloss && *gloss ? std::string(": ") + gloss : "") + "\n" + (k.reason.empty() ? verdict_words(k.verdict) : why_words(k));
    if (k.inferred) c.hover += "\nThis is inferred: a C++ guard leaves no record of its own.";
    if (k.evidence && k.verdict == Verdict::kExcluded && k.detail.empty()) c.hover += "\nsince hop " + count_text(k.evidence.value);
    m.columns.push_back(std::move(c));
  }
  for (const WhyRow& r : w.rows) {
    WhyMatrixRow o{sign_of(r.op), r.label, r.note, math.text(r.set), r.set, r.op == WhyRow::Op::kResult, r.greyed};
    for (const WhyColumn& c : m.columns) o.cells.push_back(cell_of(math, r, c));
    const bool argument = r.op == WhyRow::Op::kArgument;
    WhyMatrixRow* last = argument && !m.rows.empty() && !*m.rows.back().sign ? &m.rows.back() : nullptr;
    // what gives no key shares a row, and so do the tensors of a list that give the same keys
    const std::string list = argument ? list_name(r.label) : "";
    const bool scalar = argument && r.greyed, alike = !list.empty() && last && list_name(last->label) == list && last->raw == r.set;
    if (last && last->greyed == r.greyed && (scalar || alike)) {
      if (scalar) last->label += ", " + r.label, last->hover += "\n" + r.label + "  " + r.note;
      last->folded++;
      continue;
    }
    if (scalar) o.hover = r.label + "  " + r.note;
    m.rows.push_back(std::move(o));
  }
  for (WhyMatrixRow& r : m.rows)
    if (r.folded > 1 && r.greyed) r.note = "no keys";
    else if (r.folded > 1) r.label = list_name(r.label) + "[…]", r.note = count_text(r.folded) + " tensors alike";
}

}  // namespace

WhyModel make_why_model(const Session& s, const Why& w) {
  WhyModel m;
  m.event = w.event, m.call = w.call;
  m.title = w.title;
  m.where = "hop " + count_text(w.event.value) + (w.where.empty() ? "" : ", " + w.where) + (w.around.empty() ? "" : ", " + w.around);
  m.error = w.error;
  m.explained = w.explained;
  m.never_involved = w.never_involved;
  const Event e = s.event(w.event);
  m.missing = e.kind == Kind::kMissingKernel;
  if (m.missing) m.remarks = missing_lines(s, missing_kernel(s, w.event));
  std::unordered_set<std::string> names;
  for (const WhyKey& k : w.keys) names.insert(key_text(s, k.key));
  for (const OnionLayer& l : w.onion) {
    names.insert(key_text(s, l.key));
    for (NodeId n : l.nodes) names.insert(std::string(s.node_name(n)));
    m.layers.push_back(make_layer(s, w, l));
  }
  for (NodeId n : s.nodes_of(w.event)) names.insert(std::string(s.node_name(n)));
  if (e.kind == Kind::kBackwardNode) names.insert(hop_name(s, w.event));
  m.sentence = mark_names(w.sentence, names);
  if (e.key) m.chosen = m.missing ? "How the look-up came to " + key_text(s, e.key) : "How " + key_text(s, e.key) + " was chosen";
  make_matrix(s, w, m);
  return m;
}

std::vector<size_t> columns_that_fit(const WhyModel& m, size_t room) {
  std::vector<size_t> order(m.columns.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  if (order.size() <= room) return order;
  auto weight = [&](size_t i) { return m.columns[i].relevance + (m.columns[i].won ? 100 : 0); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weight(a) > weight(b); });
  order.resize(std::max<size_t>(room, 1));
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<WhyNotKey> why_not_keys(const Session& s, KeyId own, std::string_view filter) {
  auto lower = [](std::string_view t) {
    std::string o(t);
    for (char& c : o) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return o;
  };
  const std::string want = lower(filter);
  std::vector<const Key*> keys;
  for (const Key* k : s.keys())
    if (!k->alias() && k->functionality_bit >= 0 && k->id != own && !k->name.starts_with("Unknown") && lower(k->name).find(want) != std::string::npos) keys.push_back(k);
  // priority: functionality first, then backend
  std::stable_sort(keys.begin(), keys.end(), [](const Key* a, const Key* b) {
    return a->functionality_bit != b->functionality_bit ? a->functionality_bit > b->functionality_bit : a->backend_bit > b->backend_bit;
  });
  std::vector<WhyNotKey> out;
  for (const Key* k : keys) out.push_back({k->id, k->name});
  return out;
}

}  // namespace peel::views
