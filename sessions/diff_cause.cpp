// Why a layer ran on one side and not on the other, in the words of why.h.
#include <algorithm>

#include "sessions/diff_side.h"
#include "sessions/show.h"
#include "sessions/why_onion.h"
#include "sessions/why_terms.h"

namespace peel {
namespace {

std::string key_name(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

bool holds(const Session& s, const std::vector<KeyId>& keys, const std::string& name) {
  return std::any_of(keys.begin(), keys.end(), [&](KeyId k) { return key_name(s, k) == name; });
}

/// "excluded: inference_mode is on" as one says it beside a layer: "excluded by inference_mode".
std::string short_reason(const WhyKey& k) {
  const std::string& r = k.reason;
  if (r == "excluded: inference_mode is on") return "excluded by inference_mode";
  if (r == "excluded: autocast is off (default)") return "excluded, autocast is off";
  if (r.starts_with("not in the set: no argument carries an Autograd key")) return "not in the set, its arguments are inference tensors";
  if (r.starts_with("not in the set: inference_mode took it out")) return "not in the set, its arguments are inference tensors";
  if (const size_t colon = r.find(": "); colon != std::string::npos) return r.substr(0, colon) + ", " + r.substr(colon + 2);
  return r;
}

void causes_of(const Session& ran, const Session& other, EventId ran_call, EventId other_call, bool ran_left, std::vector<LayerCause>* out) {
  const std::vector<KeyId> here = diff_layers(ran, ran_call), there = diff_layers(other, other_call);
  const KeyMath math(other);
  const Chain chain = chain_of(other, other_call);
  size_t at = 0;
  while (at < chain.hops.size() && chain.hops[at] != other_call) ++at;
  for (size_t i = 0; i < here.size(); ++i) {
    const std::string name = key_name(ran, here[i]);
    if (holds(other, there, name) || std::find(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(i), here[i]) != here.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    LayerCause c{name, ran_left, Verdict::kNotInSet, {}, {}, {}, false};
    for (const KeyId k : there)
      if (family_of(key_name(other, k)) == family_of(name) && !holds(ran, here, key_name(other, k))) c.instead = key_name(other, k);
    const Key* key = other.key_by_name(name);
    if (!key || chain.hops.empty()) {
      c.words = "unknown to that recording";
    } else {
      WhyKey k = verdict_of(other, math, chain, std::min(at, chain.hops.size() - 1), key->id);
      c.verdict = k.verdict;
      c.inferred = k.inferred;
      c.words = short_reason(k);
      if (k.evidence && k.verdict == Verdict::kExcluded) c.since = "since hop " + std::to_string(k.evidence.value);
    }
    out->push_back(std::move(c));
  }
}

}  // namespace

std::vector<KeyId> diff_layers(const Session& s, EventId call) {
  std::vector<KeyId> keys;
  for (const EventId e : call_tree(s, call).layers) keys.push_back(s.event(e).key);
  return keys;
}

std::string layer_tag(std::string_view key) {
  switch (family_of(key)) {
    case Family::kAutograd: return "AG";
    case Family::kView: return "IV";
    case Family::kAutocast: return "AC";
    case Family::kBackendSelect: return "BS";
    case Family::kPython: return "PY";
    case Family::kFunctorch: return "FT";
    case Family::kFunctionalize: return "FN";
    case Family::kConjugate: return key == "ZeroTensor" ? "ZT" : key == "Negative" ? "NG" : "CJ";
    case Family::kTracer: return "TR";
    default: return key.empty() ? "-" : std::string(key);
  }
}

std::vector<LayerCause> layer_causes(const Session& left, const Session& right, const DiffRow& row) {
  std::vector<LayerCause> out;
  if (!row.left || !row.right || !(row.what & diff_what::kLayers)) return out;
  causes_of(left, right, row.left, row.right, true, &out);
  causes_of(right, left, row.right, row.left, false, &out);
  return out;
}

}  // namespace peel
