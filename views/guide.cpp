#include "views/guide.h"

#include "sessions/iterations.h"
#include "sessions/why.h"
#include "views/words.h"

namespace peel::views {
namespace {

constexpr uint32_t kLook = 200000;

std::string key_name(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "";
}

// Layers that a call passed: itself and the redispatches straight below it.
std::vector<EventId> layers(const Session& s, EventId call) {
  std::vector<EventId> out{call};
  for (EventId at = call; out.size() < 32;) {
    EventId next;
    for (EventId c = s.first_child(at); c && !next; c = s.next_sibling(c))
      if (const Event e = s.event(c); is_redispatch(e.kind) && e.op == s.event(call).op) next = c;
    if (!next) break;
    out.push_back(at = next);
  }
  return out;
}

bool from_user(const Session& s, const Event& e) { return !e.parent && is_call(e.kind) && s.user_frame(e.stack); }

// Keys that the arguments have and the thread excludes.
uint64_t excluded(const Session& s, const Event& e) { return s.keyset(e.arg_keyset).raw & s.tls(e.tls).excluded; }

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); i++) out += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return out;
}

}  // namespace

std::vector<GuideStop> find_stops(const Session& s) {
  const uint32_t size = std::min(s.size(), kLook);
  EventId ran, skipped, node, inference, inference_same;
  for (uint32_t i = 2; i <= size; i++) {
    const EventId id(i);
    const Event e = s.event(id);
    if (!node && e.node && s.user_frame(e.stack)) node = id;
    if (!from_user(s, e)) continue;
    const bool infers = s.tls(e.tls).inference_mode;
    if (!ran && !infers && layers(s, id).size() >= 3) ran = id;
    else if (ran && !skipped && !infers && excluded(s, e) && e.op != s.event(ran).op && layers(s, id).size() >= 2) skipped = id;
    if (infers && !inference) inference = id;
    if (infers && ran && !inference_same && e.op == s.event(ran).op) inference_same = id;
    if (ran && skipped && node && inference_same) break;
  }
  if (inference_same) inference = inference_same;
  std::vector<GuideStop> out;
  if (ran) {
    std::vector<std::string> names;
    for (EventId l : layers(s, ran)) names.push_back(key_name(s, s.event(l).key));
    out.push_back({"This ran", "One call of " + s.op(s.event(ran).op).brief + " passed " + std::to_string(names.size()) + " layers: " +
                                   join(names) + ". Why shows them as nested boxes; the innermost computed the result.", ran});
  }
  if (skipped) {
    const KeyMath math(s);
    std::vector<std::string> names;
    for (KeyId k : math.keys(excluded(s, s.event(skipped)))) names.push_back(key_name(s, k));
    out.push_back({"These were skipped, and why", s.op(s.event(skipped).op).brief + " could have gone to " + join(names) +
                                                      ", but the thread excludes it. Dashed tags are layers that were skipped; the matrix below says at which step.", skipped});
  }
  if (node) {
    const Event e = s.event(node);
    out.push_back({"This made a node", std::string(s.node(e.node).name) + " was made by " + s.op(e.op).brief + " in its " + key_name(s, e.key) +
                                           " layer: the backward pass will run through it. Autograd shows the whole graph.", node});
  }
  if (inference) {
    const Event e = s.event(inference);
    out.push_back({"Now under inference_mode", "The same kind of call under inference_mode: " + s.op(e.op).brief + " went straight to " + key_name(s, e.key) +
                                                   ". The autograd layer is excluded for as long as the mode is on. no_grad would have run it and made no node.", inference});
  }
  return out;
}

EventId first_selection(const Session& s) {
  const EventId chosen = peel::default_selection(s);
  if (!s.raised().empty()) return chosen;
  const std::vector<Iteration> rounds = iterations(s, main_thread(s));
  if (rounds.empty()) {
    const std::vector<GuideStop> stops = find_stops(s);
    return stops.empty() ? chosen : stops.front().event;
  }
  // Of the second round's calls, the first that passed layers and led to a node: profiler marks and the like tell little.
  uint32_t number = 0;
  for (const Iteration& round : rounds) {
    if (round.number < 2 && number != 1) {
      number = round.number;
      continue;
    }
    int looked = 0;
    for (EventId e = round.first; e && e <= round.last && looked++ < 10000; e = s.next_sibling(e))
      if (from_user(s, s.event(e)) && s.nodes_inside(e) && s.first_child(e)) return e;
    break;
  }
  return chosen;
}

}  // namespace peel::views
