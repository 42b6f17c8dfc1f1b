#include "sessions/why_onion.h"

#include <algorithm>

namespace peel {
namespace {

constexpr int kMaxSteps = 2'000;  // hops looked at when searching further in

std::string name_of(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

/// The chain's next hop below `e`: its redispatch, else its first nested call of the same operator.
EventId next_layer(const Session& s, EventId e, OpId op) {
  EventId nested;
  for (EventId c = s.first_child(e); c; c = s.next_sibling(c)) {
    const Event child = s.event(c);
    if (child.op != op || child.kind == Kind::kBackwardNode || child.kind == Kind::kTorchFunction) continue;
    if (is_redispatch(child.kind)) return c;
    if (!nested) nested = c;
  }
  return nested;
}

/// A hop of the operator at that key further in, on whatever way: a Python handler may call its operator more than once. 0 = none.
EventId ran_inside(const Session& s, EventId e, OpId op, KeyId key, int* steps) {
  for (EventId c = s.first_child(e); c && --*steps > 0; c = s.next_sibling(c)) {
    const Event child = s.event(c);
    if (child.op != op || child.kind == Kind::kBackwardNode) continue;
    if (child.key == key && child.kind != Kind::kMissingKernel) return c;
    if (const EventId found = ran_inside(s, c, op, key, steps)) return found;
  }
  return {};
}

int priority(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return !key || key->functionality_bit < 0 ? -1 : key->functionality_bit * 64 + std::max(0, key->backend_bit);
}

}  // namespace

Chain chain_of(const Session& s, EventId e) {
  Chain chain;
  const Event asked = s.event(e);
  if (!asked.id) return chain;
  chain.hops.push_back(e);
  if (!asked.op || asked.kind == Kind::kBackwardNode) return chain;
  for (EventId p = asked.parent; p; p = s.parent(p)) {
    const Event up = s.event(p);
    if (up.op != asked.op || up.kind == Kind::kBackwardNode) break;
    chain.hops.push_back(p);
  }
  std::reverse(chain.hops.begin(), chain.hops.end());
  chain.at = chain.hops.size() - 1;
  for (EventId c = next_layer(s, e, asked.op); c; c = next_layer(s, c, asked.op)) chain.hops.push_back(c);
  return chain;
}

EventId call_above(const Session& s, const Chain& chain, size_t index) {
  for (size_t i = index + 1; i-- > 0;) {
    const Kind kind = s.event(chain.hops[i]).kind;
    if (is_call(kind)) return chain.hops[i];
    if (!is_redispatch(kind) && kind != Kind::kMissingKernel) break;
  }
  return {};
}

bool is_composite(const Kernel* k) { return k && k->rule == "math kernel"; }

OnionLayer layer_of(const Session& s, const Chain& chain, size_t index) {
  const EventId id = chain.hops[index];
  const Event e = s.event(id);
  const Kernel* kernel = s.kernel(e.kernel);
  OnionLayer layer{.key = e.key, .verdict = Verdict::kRan, .composite = is_composite(kernel), .event = id, .kind = e.kind,
                   .gloss = key_gloss(name_of(s, e.key)), .nodes_inside = 0, .own = -1, .total = -1};
  if (kernel) {
    layer.rule = kernel->rule;
    layer.registered_at = kernel->registered_at;
  }
  if (e.kind != Kind::kBackwardNode) layer.nodes = s.nodes_of(id);
  layer.writes = s.writes_of(id);
  const EventId inner = index + 1 < chain.hops.size() ? chain.hops[index + 1] : EventId{};
  Nanoseconds below = 0;
  for (EventId c = s.first_child(id); c; c = s.next_sibling(c)) {
    const Event child = s.event(c);
    if (child.end != kOpen) below += child.end - child.begin;
    if (c == inner) continue;
    layer.inner_calls.push_back(c);
    layer.nodes_inside += s.nodes_inside(c);
  }
  if (e.end != kOpen) {
    layer.total = e.end - e.begin;
    layer.own = std::max<Nanoseconds>(0, layer.total - below);
  }
  return layer;
}

WhyKey verdict_of(const Session& s, const KeyMath& math, const Chain& chain, size_t index, KeyId key) {
  const EventId id = chain.hops[index];
  const Event e = s.event(id);
  const std::string hop = "hop " + std::to_string(id.value);
  const bool is_set_known = is_call(e.kind) || is_redispatch(e.kind);
  WhyKey out{.key = key, .verdict = Verdict::kNotInSet};

  if (key == e.key) {
    if (e.kind == Kind::kMissingKernel) {
      out.verdict = Verdict::kBelow;
      out.reason = "wanted, but the operator has no kernel for it";
    } else {
      out.verdict = Verdict::kRan;
      const auto by_hand = moved_by_hand(s, e);
      out.reason = by_hand ? "ran: changed by hand while it stood (" + by_hand->text + ")" : "ran: the highest key of the set";
    }
    return out;
  }
  const EventId call = call_above(s, chain, index);
  const bool in_set = is_set_known && math.has(s.keyset(e.keyset).raw, key);
  for (size_t i = index + 1; i < chain.hops.size(); ++i) {
    const Event below = s.event(chain.hops[i]);
    if (below.key != key || below.kind == Kind::kMissingKernel) continue;
    // BackendSelect goes on with a set of its own making: such a key belongs to this call all the same.
    if (!in_set && !(is_redispatch(below.kind) && call_above(s, chain, i) == call)) continue;
    out.verdict = Verdict::kRan;
    out.reason = std::string("ran further in: ") + (is_redispatch(below.kind) ? "redispatch" : "call") + ", hop " + std::to_string(below.id.value);
    if (!in_set) out.reason += ", with a set that " + name_of(s, s.event(chain.hops[i - 1]).key) + " made";
    return out;
  }
  for (size_t i = 0; i <= index; ++i) {
    const Event changed = s.event(chain.hops[i]);
    const auto by_hand = moved_by_hand(s, changed);
    if (!by_hand || !math.has(s.keyset(by_hand->keyset).raw, key)) continue;
    const bool lost = !math.has(s.keyset(changed.keyset).raw, key), passed_over = i == index && priority(s, key) > priority(s, e.key);
    if (!lost && !passed_over) continue;
    out.verdict = Verdict::kExcluded;
    out.reason = std::string(lost ? "left out" : "passed over") + " by hand while hop " + std::to_string(changed.id.value) + " stood: " + by_hand->text;
    out.evidence = changed.id;
    return out;
  }
  if (in_set && priority(s, key) > priority(s, e.key)) {
    // PythonDispatcher calls the kernel of a lower key by name and hands it the whole set.
    out.verdict = Verdict::kRan;
    out.reason = "passed through: it went on to " + name_of(s, e.key) + " with the whole set";
    return out;
  }
  int steps = kMaxSteps;
  if (const EventId found = in_set ? ran_inside(s, id, e.op, key, &steps) : EventId{}) {
    out.verdict = Verdict::kRan;
    out.reason = "ran further in: hop " + std::to_string(found.value);
    return out;
  }
  if (in_set) {
    out.verdict = Verdict::kBelow;
    const Event last = s.event(chain.hops.back());
    const std::string name = name_of(s, last.key);
    out.evidence = last.id;
    if (last.flags & kRaised) out.reason = "below: " + name + " raised before it was reached";
    else if (last.end == kOpen) out.reason = "below: " + name + " has not come back";
    else if (is_composite(s.kernel(last.kernel))) out.reason = "below: the kernel at " + name + " is composite, it called other operators instead";
    else out.reason = "below: the kernel at " + name + " did not go on";
    return out;
  }
  if (!call) {
    out.reason = "not in the set";
    return out;
  }
  const Terms terms = terms_of(s, math, call);
  const bool handed_on = is_redispatch(e.kind) || (e.kind == Kind::kMissingKernel && call != id);
  const Verdict lost = handed_on && math.has(s.keyset(s.event(call).keyset).raw, key) ? Verdict::kMasked : lost_at(math, terms, key);
  out.verdict = lost;
  switch (lost) {
    case Verdict::kMasked: {
      // Which redispatch took it away, and had it run before?
      size_t taker = index;
      while (taker > 0 && !math.has(s.keyset(s.event(chain.hops[taker - 1]).keyset).raw, key)) --taker;
      const EventId by = taker > 0 ? chain.hops[taker - 1] : EventId{};
      EventId ran;
      for (size_t i = index; i-- > 0;) {
        if (s.event(chain.hops[i]).key == key) ran = chain.hops[i];
      }
      out.evidence = by;
      if (ran) out.reason = "masked: it ran above, hop " + std::to_string(ran.value) + ", and redispatched without itself";
      else out.reason = "masked by the redispatch of " + name_of(s, s.event(by).key) + ", hop " + std::to_string(by.value);
      break;
    }
    case Verdict::kExcluded: {
      const Reason r = why_excluded(s, math, call, key);
      out.reason = "excluded: " + r.text;
      out.inferred = r.inferred;
      out.evidence = r.evidence;
      out.place = r.place;
      out.detail = r.detail;
      break;
    }
    case Verdict::kFellThrough: {
      out.reason = "fell through for this operator";
      out.detail = fallthrough_place(s, call, key);
      break;
    }
    case Verdict::kNotInSet: {
      const Reason r = why_not_in_set(s, math, terms, key);
      out.reason = "not in the set: " + r.text;
      out.evidence = r.evidence;
      out.place = r.place;
      out.detail = r.detail;
      break;
    }
    case Verdict::kBelow:
    case Verdict::kRan:
      // The formula has it and the recorded set does not: nothing that is known explains it.
      out.verdict = Verdict::kNotInSet;
      out.reason = "not in the recorded set, although the formula gives it: unexplained";
      break;
  }
  return out;
}

std::vector<KeyId> involved_keys(const Session& s, const KeyMath& math, const Chain& chain) {
  std::vector<KeyId> keys;
  for (const EventId hop : chain.hops) {
    const Event e = s.event(hop);
    if (is_call(e.kind)) {
      const Terms t = terms_of(s, math, hop);
      for (const KeyId k : math.keys(t.all)) keys.push_back(k);
    } else if (is_redispatch(e.kind)) {
      for (const KeyId k : math.keys(s.keyset(e.keyset).raw)) keys.push_back(k);
    }
    const Key* own = s.key(e.key);
    if (own && own->functionality_bit >= 0) keys.push_back(e.key);
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::sort(keys.begin(), keys.end(), [&](KeyId a, KeyId b) { return priority(s, a) > priority(s, b); });
  return keys;
}

std::vector<OnionLayer> make_onion(const Session& s, const KeyMath& math, const Chain& chain, const std::vector<WhyKey>& passed_over) {
  (void)math;
  std::vector<OnionLayer> out;
  size_t next = 0;  // of passed_over, which is sorted by priority
  const auto add_passed = [&](int above) {
    for (; next < passed_over.size() && priority(s, passed_over[next].key) > above; ++next) {
      const WhyKey& k = passed_over[next];
      out.push_back({.key = k.key, .verdict = k.verdict, .composite = false, .event = {}, .kind = Kind::kCall,
                     .gloss = key_gloss(name_of(s, k.key)), .reason = why_words(k), .nodes_inside = 0, .own = -1, .total = -1});
    }
  };
  for (size_t i = 0; i < chain.hops.size(); ++i) {
    add_passed(priority(s, s.event(chain.hops[i]).key));
    out.push_back(layer_of(s, chain, i));
  }
  add_passed(-2);
  return out;
}

}  // namespace peel
