// `peel why` as text: the terms of the formula, what was passed over, the onion.
#include <algorithm>
#include <map>

#include "sessions/op_report.h"
#include "sessions/saved.h"
#include "sessions/show.h"
#include "sessions/why_terms.h"

namespace peel {
namespace {

std::string name_of(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

std::string key_names(const Session& s, const KeyMath& math, uint64_t set) {
  std::string out;
  for (const KeyId k : math.keys(set)) out += (out.empty() ? "" : " ") + name_of(s, k);
  return out;
}

size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}
std::string padded(std::string text, size_t to) {
  const size_t w = width(text);
  return text + std::string(w < to ? to - w : 0, ' ');
}

const char* kind_words(Kind k) {
  switch (k) {
    case Kind::kCall: return "call";
    case Kind::kRedispatch: return "redispatch";
    case Kind::kCallBoxed: return "boxed call";
    case Kind::kRedispatchBoxed: return "boxed redispatch";
    case Kind::kMissingKernel: return "look-up failed";
    case Kind::kPythonMode: return "Python mode";
    case Kind::kTorchFunction: return "__torch_function__";
    case Kind::kBackwardNode: return "run in backward";
  }
  return "";
}

struct Line {
  std::string left, middle, right;
};

/// The key matrix as lines of three columns.
std::vector<Line> row_lines(const Session& s, const Why& w) {
  const KeyMath math(s);
  uint64_t kept = ~uint64_t{0};
  for (const WhyRow& r : w.rows) {
    if (r.op == WhyRow::Op::kUnion) kept = r.set;
    if (r.op == WhyRow::Op::kIncluded) kept |= r.set;
    if (r.op == WhyRow::Op::kExcluded) kept = math.minus(kept, r.set);
  }
  std::vector<Line> lines;
  for (size_t i = 0; i < w.rows.size(); ++i) {
    const WhyRow& r = w.rows[i];
    const auto in_parentheses = [](const std::string& note) { return note.empty() ? note : "(" + note + ")"; };
    switch (r.op) {
      case WhyRow::Op::kArgument: {
        // Tensors of a list that give the same keys share a line.
        size_t same = i + 1;
        const std::string list = r.label.substr(0, r.label.find('['));
        while (list != r.label && same < w.rows.size() && w.rows[same].op == r.op && w.rows[same].set == r.set && w.rows[same].label.substr(0, w.rows[same].label.find('[')) == list) ++same;
        if (same > i + 1) {
          lines.push_back({"  " + list + "[" + std::to_string(same - i) + "]", grouped(same - i) + " tensors alike", key_names(s, math, r.set)});
          i = same - 1;
        } else {
          std::string note = r.note;
          std::string keys = key_names(s, math, r.set);
          if (keys.empty() && note.ends_with(", keys not recorded")) {
            note.resize(note.size() - 19);
            keys = "(keys not recorded)";
          }
          if (keys.empty()) keys = note.ends_with("(no keys)") || note == "no keys" ? "(no keys)" : "(gives no keys)";
          if (note.ends_with(" (no keys)")) note.resize(note.size() - 10);
          if (note == "no keys") note.clear();
          lines.push_back({"  " + r.label, note, keys});
        }
        break;
      }
      case WhyRow::Op::kUnion: lines.push_back({"  ∪ " + std::string("union"), key_names(s, math, r.set), in_parentheses(r.note)}); break;
      case WhyRow::Op::kIncluded: lines.push_back({"  + " + r.label, functionality_names(s, r.set), in_parentheses(r.note)}); break;
      case WhyRow::Op::kExcluded: lines.push_back({"  − " + r.label, functionality_names(s, r.set), in_parentheses(r.note)}); break;
      case WhyRow::Op::kMask: {
        if (w.rows.front().op == WhyRow::Op::kIncoming) {
          std::string gone;
          for (const KeyId k : math.keys(w.rows.front().set)) {
            if (!math.has(w.rows.back().set, k)) gone += (gone.empty() ? "" : " ") + name_of(s, k);
          }
          lines.push_back({"  & " + r.label, gone.empty() ? "nothing taken away" : "without " + gone, in_parentheses(r.note == "nothing" ? "" : r.note)});
        } else {
          const std::string names = functionality_names(s, r.set & kept);
          lines.push_back({"  & " + r.label, names.empty() ? "takes none of these away" : "without " + names, names.empty() ? "" : "(fallthrough there)"});
        }
        break;
      }
      case WhyRow::Op::kResult: lines.push_back({"  = " + r.label, r.set ? key_names(s, math, r.set) : "nothing", in_parentheses(r.note)}); break;
      case WhyRow::Op::kIncoming: lines.push_back({"  ∪ " + r.label, key_names(s, math, r.set), in_parentheses(r.note)}); break;
    }
  }
  return lines;
}

std::string passed_over(const Session& s, const Why& w) {
  std::map<std::string, std::vector<std::string>> by_reason;
  std::vector<std::string> order;
  for (const WhyKey& k : w.keys) {
    if (k.verdict == Verdict::kRan) continue;
    std::string words;
    switch (k.verdict) {
      case Verdict::kExcluded: words = why_words(k) + (k.inferred ? " (inferred)" : ""); break;
      case Verdict::kFellThrough: words = "fell through"; break;
      default: words = why_words(k); break;
    }
    if (!by_reason.contains(words)) order.push_back(words);
    by_reason[words].push_back(name_of(s, k.key));
  }
  std::string out;
  for (const std::string& reason : order) {
    std::string names;
    for (const std::string& n : by_reason[reason]) names += (names.empty() ? "" : ", ") + n;
    out += (out.empty() ? "" : "; ") + names + " " + reason;
  }
  if (w.never_involved) out += (out.empty() ? "" : "; ") + grouped(w.never_involved) + (w.never_involved == 1 ? " key" : " keys") + " never involved";
  return out;
}

void onion_lines(const Session& s, const Why& w, std::string* out) {
  size_t depth = 0, columns = 0;
  struct Row {
    std::string left, right;
  };
  std::vector<Row> rows;
  for (const OnionLayer& l : w.onion) {
    std::string left(depth * 2 + 2, ' ');
    std::string right;
    if (!l.event) {
      left += "- " + name_of(s, l.key);
      right = l.reason.empty() ? verdict_words(l.verdict) : l.reason;
    } else {
      left += "+ " + (l.kind == Kind::kBackwardNode ? w.title : name_of(s, l.key));
      const Event e = s.event(l.event);
      right = "hop " + std::to_string(l.event.value) + ", " + kind_words(l.kind) + (e.flags & kInferredKind ? " (inferred)" : "");
      if (!l.rule.empty()) right += ", " + l.rule;
      for (const NodeId n : l.nodes) right += ", node " + std::string(s.node_name(n));
      if (l.nodes_inside) right += ", " + grouped(l.nodes_inside) + (l.nodes_inside == 1 ? " node" : " nodes") + " made inside";
      for (const WriteRow& v : l.writes) {
        right += ", t" + std::to_string(v.tensor.value) + " written";
        if (v.before >= 0 && v.after >= 0) right += ", version " + std::to_string(v.before) + " -> " + std::to_string(v.after);
      }
      if (!l.inner_calls.empty()) right += ", calls " + grouped(l.inner_calls.size()) + (l.inner_calls.size() == 1 ? " other" : " others");
      if (e.flags & kRaised) right += ", raised";
      right += l.total >= 0 ? ", " + time_brief(l.total) : ", never returned";
      if (l.event == w.event && w.onion.size() > 1) right += "   <- this hop";
      ++depth;
    }
    columns = std::max(columns, width(left));
    rows.push_back({left, right});
  }
  for (const Row& r : rows) *out += padded(r.left, columns + 2) + r.right + "\n";
}

}  // namespace

std::string why_text(const Session& s, const Why& w, bool markdown) {
  const Event e = s.event(w.event);
  if (!e.id) return w.sentence + "\n";
  std::string body;
  const std::vector<Line> lines = row_lines(s, w);
  size_t left = 0, middle = 0;
  for (const Line& l : lines) {
    left = std::max(left, width(l.left));
    if (!l.right.empty()) middle = std::max(middle, std::min<size_t>(width(l.middle), 44));
  }
  for (const Line& l : lines) {
    std::string line = padded(l.left, left + 2) + (l.right.empty() ? l.middle : padded(l.middle, middle + 2) + l.right);
    while (line.ends_with(' ')) line.pop_back();
    body += line + "\n";
  }
  const Kernel* kernel = s.kernel(e.kernel);
  if (w.slot >= 0) {
    body += "  highest: " + name_of(s, e.key) + ", slot " + std::to_string(w.slot) + ": ";
    if (e.kind == Kind::kMissingKernel) body += "no kernel";
    else if (kernel) body += kernel->rule + ", registered at " + place_brief(kernel->registered_at) + (kernel->convention.empty() ? "" : " (" + kernel->convention + ")");
    else body += "kernel not recorded";
    body += "\n";
    if (e.kind == Kind::kMissingKernel) {
      for (const auto& [what, text] : missing_lines(s, missing_kernel(s, w.event))) body += "  " + what + ": " + text + "\n";
    }
    if (const std::string over = passed_over(s, w); !over.empty()) body += "  passed over: " + over + "\n";
  }
  if (!w.error.empty()) body += "  raised: " + w.error + "\n";
  if (!w.explained) body += "  not explained: the recorded set differs from what the formula gives\n";
  std::string onion;
  onion_lines(s, w, &onion);
  std::vector<NodeId> made;
  for (const OnionLayer& l : w.onion) made.insert(made.end(), l.nodes.begin(), l.nodes.end());
  onion += saved_lines(s, made, w.event);

  const std::string to = w.slot >= 0 && e.kind != Kind::kMissingKernel ? " -> " + name_of(s, e.key) : "";
  if (markdown) {
    std::string out = "**hop " + std::to_string(w.event.value) + " `" + w.title + "`** " + kind_words(e.kind) + to + (w.where.empty() ? "" : ", `" + w.where + "`") + (w.around.empty() ? "" : ", " + w.around) + "\n\n" + w.sentence + "\n\n```\n";
    const std::string version = s.meta("engine_version");
    return out + body + onion + "```\n" + (version.empty() ? "" : "\n" + std::string(s.meta("engine") == "embedded" ? "Peel's embedded engine " : "PyTorch ") + version + "\n");
  }
  std::string head = "hop " + std::to_string(w.event.value) + "  " + w.title + "  " + kind_words(e.kind) + to;
  if (!w.where.empty()) head = padded(head, 50) + "  " + w.where;
  return head + "\n  " + w.sentence + "\n" + (w.around.empty() ? "" : "  " + w.around + "\n") + body + onion;
}

}  // namespace peel
