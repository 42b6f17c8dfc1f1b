// What differs in one row, in words.
#include <algorithm>

#include "sessions/diff_side.h"
#include "sessions/show.h"
#include "sessions/why_onion.h"

namespace peel {
namespace {

constexpr size_t kValuesSaid = 2;  // arguments and results that are named one by one

bool composite(const Session& s, EventId call) {
  const CallTree t = call_tree(s, call);
  return is_composite(s.kernel(s.event(t.layers.back()).kernel));
}

std::string nodes_text(const Session& s, EventId call) {
  std::string out;
  for (const EventId layer : call_tree(s, call).layers)
    for (const NodeId n : s.nodes_of(layer)) out += (out.empty() ? "" : ", ") + std::string(s.node_name(n));
  return out.empty() ? "none" : out;
}

std::string label(const Session& s, const Event& e, const Value& v, bool result) {
  if (result) return v.list_index < 0 && v.position == 0 ? "result" : "result " + std::to_string(std::max(v.position, v.list_index) + 1);
  std::string name = v.name;
  const Op& op = s.op(e.op);
  const auto position = static_cast<size_t>(std::max(0, v.position));
  if (name.empty() && position < op.arguments.size()) name = op.arguments[position].name;
  if (name.empty()) name = "argument " + std::to_string(v.position + 1);
  return v.list_index >= 0 ? name + "[" + std::to_string(v.list_index) + "]" : name;
}

/// "self f32[2,3] -> f16[2,3]", for the first few that differ.
void add_values(const Session& left, const Session& right, const DiffRow& row, std::vector<std::string>* parts) {
  size_t more = 0, said = 0;
  for (const bool result : {false, true}) {
    const std::vector<Value> l = result ? left.results(row.left) : left.arguments(row.left), r = result ? right.results(row.right) : right.arguments(row.right);
    for (size_t i = 0, k = 0; i < l.size() || k < r.size();) {
      const auto place = [](const Value& v) { return std::pair{v.position, v.list_index}; };
      const Value* a = i < l.size() && (k >= r.size() || place(l[i]) <= place(r[k])) ? &l[i] : nullptr;
      const Value* b = k < r.size() && (i >= l.size() || place(r[k]) <= place(l[i])) ? &r[k] : nullptr;
      if (a) ++i;
      if (b) ++k;
      if (a && b && a->dtype == b->dtype && a->shape == b->shape && a->device == b->device && a->value == b->value) continue;
      if (said >= kValuesSaid) {
        ++more;
        continue;
      }
      std::string from = a ? value_brief(*a) : "not there", to = b ? value_brief(*b) : "not there";
      if (a && b && a->device != b->device) from += " " + a->device, to += " " + b->device;
      if (from == to) continue;  // addresses
      ++said;
      parts->push_back(label(a ? left : right, (a ? left : right).event(a ? row.left : row.right), a ? *a : *b, result) + " " + from + " -> " + to);
    }
  }
  if (more) parts->push_back(std::to_string(more) + (more == 1 ? " more value" : " more values"));
}

std::string kernel_text(const Session& s, EventId layer) {
  const Kernel* k = s.kernel(s.event(layer).kernel);
  return k ? k->rule + " " + place_brief(k->registered_at) : "unknown";
}

void add_kernels(const Session& left, const Session& right, const DiffRow& row, std::vector<std::string>* parts) {
  const CallTree l = call_tree(left, row.left), r = call_tree(right, row.right);
  for (size_t i = 0; i < std::min(l.layers.size(), r.layers.size()); ++i) {
    const std::string a = kernel_text(left, l.layers[i]), b = kernel_text(right, r.layers[i]);
    if (a == b) continue;
    const Key* key = left.key(left.event(l.layers[i]).key);
    parts->push_back("kernel" + (key ? " at " + key->name : "") + ": " + a + " -> " + b);
    return;
  }
}

void add_effects(const Session& left, const Session& right, const Diff& d, const DiffRow& row, std::vector<std::string>* parts) {
  Taken taken[2];
  Launched launched[2];
  for (int i = 0; i < 2; ++i)
    for (const EventId layer : call_tree(i ? right : left, i ? row.right : row.left).layers) {
      d.effects[i]->add_taken(layer, &taken[i]);
      d.effects[i]->add_launched(layer, &launched[i]);
    }
  const auto add = [&](std::vector<std::string> words) { parts->insert(parts->end(), words.begin(), words.end()); };
  if (row.what & diff_what::kLaunched) add(launched_words(launched[0], launched[1]));
  if (row.what & diff_what::kAllocation) add(taken_words(taken[0], taken[1]));
}

std::string raised_text(const Session& s, EventId e) {
  if (!(s.event(e).flags & kRaised)) return "nothing";
  for (const Raised& r : s.raised_in(e)) return r.type;
  return "an exception";
}

void add_layers(const Session& left, const Session& right, const DiffRow& row, bool brief, std::vector<std::string>* parts) {
  const std::vector<LayerCause> causes = layer_causes(left, right, row);
  const bool both_composite = composite(left, row.left) && composite(right, row.right);
  std::vector<std::string> done;
  for (const LayerCause& c : causes) {
    if (std::find(done.begin(), done.end(), c.key) != done.end()) continue;
    if (!c.instead.empty()) {
      done.push_back(c.instead);
      parts->push_back(c.ran_left ? c.instead + " instead of " + c.key : c.key + " instead of " + c.instead);
      continue;
    }
    // The composite kernel stands in the slot of whichever key came first: not a cause of its own.
    if (both_composite && c.verdict == Verdict::kBelow) {
      const std::string words = std::string("composite kernel reached at ") + c.key + " instead" + (c.ran_left ? " on the left" : "");
      if (brief) parts->assign(1, words);
      else parts->insert(parts->begin(), words);
      continue;
    }
    const char* side = c.ran_left ? "" : " on the left";
    std::string text = brief ? c.key + " " + c.words + side : c.key + " skipped" + side + ": " + c.words;
    if (!brief && !c.since.empty()) text += " (" + c.since + (c.inferred ? ", inferred)" : ")");
    if (!brief || !both_composite || parts->empty()) parts->push_back(std::move(text));
  }
  if (causes.empty()) parts->push_back("the same layers in another order, or more than once");
}

}  // namespace

std::string diff_reason(const Session& left, const Session& right, const Diff& d, const DiffRow& row, bool brief) {
  if (row.state == DiffState::kLeft || row.state == DiffState::kRight) return diff_state_words(row.state);
  if (row.state == DiffState::kSame) return "no difference";
  std::vector<std::string> parts;
  if (row.what & diff_what::kLayers) add_layers(left, right, row, brief, &parts);
  if (row.what & diff_what::kNode) parts.push_back("node " + nodes_text(left, row.left) + " -> " + nodes_text(right, row.right));
  if (row.what & (diff_what::kDtype | diff_what::kShape | diff_what::kDevice | diff_what::kValues)) add_values(left, right, row, &parts);
  if (row.what & diff_what::kKernel) add_kernels(left, right, row, &parts);
  if (row.what & diff_what::kRaised) parts.push_back("raised " + raised_text(left, row.left) + " -> " + raised_text(right, row.right));
  if (row.what & (diff_what::kAllocation | diff_what::kLaunched)) add_effects(left, right, d, row, &parts);
  if (row.what == diff_what::kKeyset || (row.what & ~diff_what::kInside) == diff_what::kKeyset) {
    const KeyMath l(left), r(right);
    parts.push_back("key set " + l.text(left.keyset(left.event(row.left).keyset).raw) + " -> " + r.text(right.keyset(right.event(row.right).keyset).raw));
  }
  const uint16_t own = row.what & static_cast<uint16_t>(~diff_what::kInside);
  if (own == 0) parts.push_back(row.differ ? grouped(row.differ) + (row.differ == 1 ? " difference inside" : " differences inside") : "differs far inside");
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : "; ") + p;
  return out;
}

}  // namespace peel
