// The sentence that leads everything else: what ran, why that layer, what it did.
#include <algorithm>

#include "sessions/show.h"
#include "sessions/why_onion.h"

namespace peel {
namespace {

std::string name_of(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

std::string counted(size_t n, const char* one, const char* many) { return grouped(n) + " " + (n == 1 ? one : many); }

/// "a", "a and b", "a, b and 3 more".
std::string listed(const std::vector<std::string>& words, size_t most = 3) {
  std::string out;
  const size_t shown = words.size() > most ? most - 1 : words.size();
  for (size_t i = 0; i < shown; ++i) {
    if (i) out += i + 1 == words.size() ? " and " : ", ";
    out += words[i];
  }
  if (shown < words.size()) out += " and " + std::to_string(words.size() - shown) + " more";
  return out;
}

bool any_flag(const std::vector<Value>& values, const char* flag) {
  return std::any_of(values.begin(), values.end(), [flag](const Value& v) { return v.flags.find(flag) != std::string::npos; });
}

bool only_countable(const std::vector<Value>& results) {
  bool any = false;
  for (const Value& v : results) {
    if (v.dtype.empty()) continue;
    any = true;
    const std::string d = dtype_brief(v.dtype);
    if (d != "bool" && d.front() != 'i' && d.front() != 'u') return false;
  }
  return any;
}

/// Why an autograd kernel made no node. Grad mode is a flag beside the key sets: it removes no layer.
std::string no_node(const Session& s, const Chain& chain) {
  const Event e = s.event(chain.hops[chain.at]);
  if (!s.tls(e.tls).grad_mode) return "grad mode is off, so it made no node";
  if (e.flags & kRaised || e.end == kOpen) return "";
  if (s.op(e.op).brief == "detach" || s.op(e.op).brief == "detach_") return "it made no node: a detached tensor has no history";
  const std::vector<Value> arguments = s.arguments(e.id);
  const bool tensors = std::any_of(arguments.begin(), arguments.end(), [](const Value& v) { return !v.dtype.empty(); });
  if (tensors && !any_flag(arguments, "requires_grad")) return "no argument requires grad, so it made no node";
  const std::vector<Value> results = s.results(e.id);
  if (!results.empty() && std::all_of(results.begin(), results.end(), [](const Value& v) { return v.dtype.empty(); })) return "it made no node: its result is no tensor";
  if (only_countable(results)) return "it made no node: its result is not differentiable";
  return "it made no node";
}

/// Which higher keys the call did not get, and why: "autocast is off and inference_mode excludes AutogradCPU".
/// No more than two reasons: the rest stands in the matrix.
std::string left_out(const Session& s, const KeyMath& math, EventId call, const std::vector<WhyKey>& keys, KeyId winner) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // brief, keys
  for (const WhyKey& k : keys) {
    if (k.key == winner) break;
    if (k.verdict != Verdict::kExcluded) continue;
    const std::string brief = why_excluded(s, math, call, k.key).brief;
    const auto it = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == brief; });
    if (it != reasons.end()) it->second.push_back(name_of(s, k.key));
    else if (reasons.size() < 2) reasons.push_back({brief, {name_of(s, k.key)}});
  }
  std::vector<std::string> words;
  for (auto& [brief, names] : reasons) {
    if (const size_t at = brief.find("{keys}"); at != std::string::npos) brief.replace(at, 6, listed(names));
    words.push_back(brief);
  }
  return listed(words);
}

std::string made(const Session& s, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId n : nodes) names.push_back(std::string(s.node_name(n)));
  return listed(names);
}

std::string inner_names(const Session& s, const OnionLayer& layer) {
  std::vector<std::string> names;
  for (const EventId c : layer.inner_calls) {
    const Event e = s.event(c);
    std::string name = e.op ? s.op(e.op).brief : std::string("?");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return listed(names);
}

bool is_view(const Op& op) {
  return std::any_of(op.arguments.begin(), op.arguments.end(), [](const Op::Argument& a) { return (a.flags & 8) != 0 && (a.flags & 1) == 0; });
}

/// What the layer itself did, as a sentence, "" = nothing worth saying.
std::string effect(const Session& s, const Chain& chain, const OnionLayer& layer, const std::string& key_name) {
  const Event e = s.event(layer.event);
  const Family family = family_of(key_name);
  if (layer.composite) {
    const std::string inner = inner_names(s, layer);
    std::string out = "Its kernel is composite: it only calls other operators";
    out += inner.empty() ? ", here none" : " (" + inner + ")";
    if (layer.nodes_inside) out += ", and " + counted(layer.nodes_inside, "node was made inside", "nodes were made inside");
    else if (family == Family::kAutograd) out += ", and it makes no node of its own";
    return out + ".";
  }
  std::string out;
  if (!layer.nodes.empty()) out = "It made " + made(s, layer.nodes);
  else if (family == Family::kAutograd) out = no_node(s, chain);
  if (!out.empty()) out.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(out.front())));
  std::vector<std::string> writes;
  for (const WriteRow& w : layer.writes) {
    if (w.before >= 0 && w.after > w.before) writes.push_back("the version of t" + std::to_string(w.tensor.value) + " from " + std::to_string(w.before) + " to " + std::to_string(w.after));
  }
  if (!writes.empty()) out += (out.empty() ? "It" : " and") + std::string(" raised ") + listed(writes);
  else if (family == Family::kView && is_view(s.op(e.op))) out += (out.empty() ? "It" : " and") + std::string(" noted that the result is a view");
  if (family == Family::kAutocast) {
    size_t casts = 0;
    for (const EventId c : layer.inner_calls) {
      const std::string& name = s.op(s.event(c).op).name;
      casts += name == "aten::to" || name == "aten::_to_copy";
    }
    out = casts ? "It made " + counted(casts, "cast", "casts") + " and called " + s.op(e.op).brief + " again" : "It cast nothing and called " + s.op(e.op).brief + " again";
  }
  if (layer.nodes_inside && family != Family::kAutograd && out.empty()) out = counted(layer.nodes_inside, "node was", "nodes were") + " made inside, by the operators that it calls";
  return out.empty() ? out : out + ".";
}

std::string missing_sentence(const Session& s, const Event& e) {
  std::vector<std::string> have, near;
  const Key* wanted = s.key(e.key);
  for (const Slot& slot : s.table(e.op, e.id)) {
    const Kernel* kernel = s.kernel(slot.kernel);
    if (!kernel || kernel->fallthrough || slot.slot == 0 || kernel->rule == "backend fallback") continue;
    for (const Key* k : s.keys()) {
      if (k->alias() || k->slot != slot.slot) continue;
      if (family_of(k->name) == Family::kBackend) have.push_back(k->name);
      if (wanted && wanted->backend_bit >= 0 && k->backend_bit == wanted->backend_bit && k->functionality_bit != wanted->functionality_bit) near.push_back(k->name);
    }
  }
  if (have.empty()) {
    for (const KernelId id : s.kernels_of(e.op)) {
      if (const Kernel* k = s.kernel(id); k && !k->fallthrough) have.push_back(name_of(s, k->key));
    }
  }
  const std::string name = wanted && wanted->id != 0 ? wanted->name : "";
  std::string out = name.empty() ? s.op(e.op).full + " was called with no key left in its set (no tensor argument gave one), and it has no kernel for that: the look-up raised."
                                 : s.op(e.op).full + " has no kernel for " + name + ", the highest key of the set: the look-up raised. The dispatcher looks up one key and does not try the next.";
  if (!have.empty()) out += " Backends with a kernel: " + listed(have, 6) + ".";
  else out += " No kernel is registered for any backend.";
  if (!near.empty()) out += " Near: " + listed(near, 4) + ", on the same device.";
  return out;
}

}  // namespace

std::string sentence_of(const Session& s, const KeyMath& math, const Chain& chain, const std::vector<WhyKey>& keys) {
  const Event e = s.event(chain.hops[chain.at]);
  const std::string name = name_of(s, e.key);
  if (e.kind == Kind::kMissingKernel) return missing_sentence(s, e);
  if (e.kind == Kind::kBackwardNode) {
    const auto run = s.run_of(e.id);
    if (!run) return "A node of the autograd graph ran in backward.";
    const Node node = s.node(run->node);
    std::string out = std::string(node.name) + " ran in backward";
    if (node.event) out += "; hop " + std::to_string(node.event.value) + " had made it" + (s.event(node.event).op ? " (" + s.op(s.event(node.event).op).brief + ")" : "");
    else out += "; it was made outside of any recorded hop";
    return out + ".";
  }
  if (e.kind == Kind::kPythonMode) return "A Python mode handled " + s.op(e.op).full + " in its __torch_dispatch__.";
  if (e.kind == Kind::kTorchFunction) return "__torch_function__ handled the call in Python, before the dispatcher.";

  const OnionLayer layer = layer_of(s, chain, chain.at);
  std::string out;
  const bool goes_on = chain.at + 1 < chain.hops.size();
  if (const auto by_hand = moved_by_hand(s, e)) {
    const bool missing = by_hand->kind == Kind::kMissingKernel;
    out = name + " ran: changed while it stood (" + by_hand->text + "); else " + (missing ? "the look-up would have raised, for want of a kernel at " : "") + name_of(s, by_hand->key) + (missing ? "." : " would have run.");
  } else if (is_call(e.kind)) {
    const std::string why = left_out(s, math, e.id, keys, e.key);
    const Key* key = s.key(e.key);
    if (key && key->functionality_bit < 0) {
      out = "No key was left in the set, so the kernel in the slot of Undefined ran";
    } else if (const KeyId top = math.highest(s.keyset(e.keyset).raw); top != e.key && top != 0) {
      out = name + " ran: " + name_of(s, top) + ", the highest key of the set, went on to it with the whole set";
    } else {
      out = name + (goes_on ? " ran first" : " ran") + ": the highest key left";
      if (!why.empty()) out += ", as " + why;
    }
    if (family_of(name) == Family::kBackend) {
      const bool inference = std::none_of(keys.begin(), keys.end(), [&](const WhyKey& k) { return family_of(name_of(s, k.key)) == Family::kAutograd; });
      if (inference && !math.keys(s.keyset(e.arg_keyset).raw).empty()) out += "; no argument carries an Autograd key (inference tensors)";
    }
    out += ".";
  } else {
    const Event caller = chain.at > 0 ? s.event(chain.hops[chain.at - 1]) : Event{};
    out = name + " ran: the highest key of the set that ";
    if (caller.id && family_of(name_of(s, caller.key)) == Family::kBackendSelect) {
      out = name + " ran: BackendSelect (hop " + std::to_string(caller.id.value) + ") picked the backend from the arguments and redispatched there.";
    } else {
      out += caller.id ? "the " + name_of(s, caller.key) + " kernel (hop " + std::to_string(caller.id.value) + ") passed on by redispatch." : "it was redispatched with.";
    }
  }
  for (const HandChange& c : e.flags & kChangedByHand ? s.changes_of(e.id) : std::vector<HandChange>()) {
    if (!c.moved) out += " Changed while it stood: " + c.text + ".";
  }
  const std::string did = effect(s, chain, layer, name);
  if (!did.empty()) out += " " + did;
  if (e.flags & kRaised) {
    for (const Raised& r : s.raised_in(e.id)) {
      out += " It raised " + r.type + (r.event == e.id ? "" : ", from hop " + std::to_string(r.event.value)) + ".";
      break;
    }
  } else if (goes_on) {
    const Event inner = s.event(chain.hops.back());
    const std::string inner_name = name_of(s, inner.key);
    if (inner.kind == Kind::kMissingKernel) out += " Then no kernel was found for " + inner_name + ".";
    else if (is_composite(s.kernel(inner.kernel))) out += " In the end the composite kernel at " + inner_name + " called other operators.";
    else out += " The " + inner_name + " kernel did the work.";
  }
  if (e.end == kOpen) out += s.live() ? " It is still running." : " It never returned.";
  return out;
}

}  // namespace peel
