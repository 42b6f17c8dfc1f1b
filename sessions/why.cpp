#include "sessions/why.h"

#include <algorithm>
#include <set>

#include "sessions/columns.h"
#include "sessions/iterations.h"
#include "sessions/session_impl.h"
#include "sessions/show.h"
#include "sessions/why_onion.h"

namespace peel {
namespace {

constexpr size_t kMaxArgumentRows = 2000;

std::string name_of(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

/// `self`, `tensors[2]`.
std::string argument_label(const Op& op, const Value& v) {
  std::string label = v.name;
  const auto position = static_cast<size_t>(std::max(0, v.position));
  if (label.empty() && position < op.arguments.size()) label = op.arguments[position].name;
  if (label.empty()) label = "argument " + std::to_string(v.position);
  return v.list_index >= 0 ? label + "[" + std::to_string(v.list_index) + "]" : label;
}

std::string argument_note(const Value& v) {
  if (v.dtype.empty() && !v.tensor) return v.value.empty() ? "no keys" : v.value + " (no keys)";
  std::string note = v.tensor ? "t" + std::to_string(v.tensor.value) + " " : std::string();
  note += value_brief(v);
  if (v.flags.find("wrapped_number") != std::string::npos) note += ", a number from Python";
  if (v.flags.find("inference") != std::string::npos) note += ", inference tensor";
  return note;
}

void call_rows(const Session& s, const KeyMath& math, const Terms& t, Why* w) {
  const Event e = s.event(t.call);
  const Op& op = s.op(e.op);
  uint64_t seen = 0;
  bool all_known = true;
  for (const Value& v : s.arguments(t.call)) {
    if (w->rows.size() >= kMaxArgumentRows) break;
    const uint64_t set = v.participates ? s.keyset(v.keyset).raw : 0;
    seen |= set;
    const bool unknown = v.participates && !v.keyset;
    all_known = all_known && !unknown;
    w->rows.push_back({WhyRow::Op::kArgument, argument_label(op, v), argument_note(v) + (unknown ? ", keys not recorded" : ""), set, set == 0});
  }
  if (const uint64_t rest = t.arguments & ~seen; rest != 0 && all_known) {
    // At --detail keys there are no values; else a generator gives keys without being listed as a tensor.
    w->rows.push_back(w->rows.empty() ? WhyRow{WhyRow::Op::kArgument, "arguments", "recorded without values", t.arguments, false}
                                      : WhyRow{WhyRow::Op::kArgument, "others", "a generator, or values that were cut", rest, false});
  }
  w->rows.push_back({WhyRow::Op::kUnion, "union of arguments", t.arguments ? "" : "no argument has keys", t.arguments, t.arguments == 0});
  w->rows.push_back({WhyRow::Op::kIncluded, "thread included", included_note(s, math, t.call), t.included, t.included == 0});
  w->rows.push_back({WhyRow::Op::kExcluded, "thread excluded", excluded_note(s, math, t.call), t.excluded, t.excluded == 0});
  uint64_t known = 0;
  for (const Key* k : s.keys()) {
    if (!k->alias() && k->functionality_bit >= 0) known |= uint64_t{1} << k->functionality_bit;
  }
  const uint64_t taken = ~t.mask & known;
  w->rows.push_back({WhyRow::Op::kMask, "operator's mask", taken ? "fallthrough there" : "takes nothing away", taken, taken == 0});
  const auto by_hand = moved_by_hand(s, e);
  w->rows.push_back({WhyRow::Op::kResult, "set", by_hand ? "changed by hand; it was " + math.text(s.keyset(by_hand->keyset).raw) : t.explained ? "" : "recorded; the formula gives " + math.text(t.set), t.recorded, t.recorded == 0});
  w->explained = t.explained;
}

void redispatch_rows(const Session& s, const KeyMath& math, const Chain& chain, Why* w) {
  const Event e = s.event(w->event);
  const auto by_hand = moved_by_hand(s, e);
  const uint64_t set = s.keyset(by_hand ? by_hand->keyset : e.keyset).raw, now = s.keyset(e.keyset).raw;
  const Event caller = chain.at > 0 ? s.event(chain.hops[chain.at - 1]) : Event{};
  if (caller.id) {
    const uint64_t incoming = s.keyset(caller.keyset).raw;
    w->rows.push_back({WhyRow::Op::kIncoming, "set of the caller", name_of(s, caller.key) + ", hop " + std::to_string(caller.id.value), incoming, incoming == 0});
    const uint64_t taken = incoming & ~set;
    const bool own_set = (set & ~incoming) != 0;
    w->rows.push_back({WhyRow::Op::kMask, "masked by the caller", own_set ? "the caller made a set of its own" : taken ? "" : "nothing", taken, taken == 0});
    // BackendSelect computes the backend from the device argument; it has no keys to pass on.
    w->explained = !own_set || family_of(name_of(s, caller.key)) == Family::kBackendSelect;
  } else {
    w->rows.push_back({WhyRow::Op::kIncoming, "set that it was given", "by a caller that is no hop of this operator", set, set == 0});
  }
  w->rows.push_back({WhyRow::Op::kResult, "set", by_hand ? "changed by hand; it was " + math.text(set) : "taken as it is: no thread-local keys, no operator's mask", now, now == 0});
}

uint32_t count_never_involved(const Session& s, const Event& e, const std::vector<KeyId>& involved) {
  std::set<int> slots;
  for (const KeyId k : involved) {
    if (const Key* key = s.key(k)) slots.insert(key->slot);
  }
  uint32_t n = 0;
  for (const Slot& slot : s.table(e.op, e.id)) {
    if (slot.slot == 0 || slots.contains(slot.slot)) continue;  // slot 0 is Undefined
    const Kernel* kernel = s.kernel(slot.kernel);
    if (kernel && !kernel->fallthrough) ++n;
  }
  return n;
}

std::string title_of(const Session& s, const Event& e) {
  if (e.kind == Kind::kBackwardNode) {
    const auto run = s.run_of(e.id);
    return run ? std::string(s.node_name(run->node)) : "backward node";
  }
  return s.op(e.op).full;
}

/// Who made a call, where that isn't the program's first thread from a line of its own.
std::string around(const Session& s, const Event& call) {
  std::string out;
  if (const Event by = s.event(call.parent); by.id) {
    const Key* key = s.key(by.key);
    const std::string hop = " (hop " + std::to_string(by.id.value) + ")";
    if (by.kind == Kind::kBackwardNode) {
      const auto run = s.run_of(by.id);
      out = "in backward of " + std::string(run ? s.node_name(run->node) : "a node") + hop;
    } else {
      out = "called by " + (by.op ? s.op(by.op).full : std::string("a hop")) + (key ? " at " + key->name : "") + hop;
    }
  }
  const ThreadId main = main_thread(s);
  if (main && call.thread != main) {
    const Tls& tls = s.tls(call.tls);
    out += (out.empty() ? "" : ", ") + std::string("on thread ") + std::to_string(call.thread.value) + ", " +
           (tls.inference_mode ? "inference_mode" : tls.grad_mode ? "grad mode on" : "grad mode off") + " there";
  }
  return out;
}

}  // namespace

Why why(const Session& s, EventId id) {
  Why w;
  w.event = id;
  const Event e = s.event(id);
  if (!e.id) {
    w.sentence = "There is no hop " + std::to_string(id.value) + ".";
    return w;
  }
  const KeyMath math(s);
  const Chain chain = chain_of(s, id);
  w.call = chain.hops.front();
  w.title = title_of(s, e);
  w.where = where_brief(s, e.stack);
  w.around = around(s, s.event(w.call));
  const bool dispatched = is_call(e.kind) || is_redispatch(e.kind) || e.kind == Kind::kMissingKernel;
  if (const Key* key = s.key(e.key); key && dispatched) w.slot = key->slot;
  for (const Raised& r : s.raised_in(id)) {
    if (!(e.flags & kRaised)) break;
    if (w.error.empty() || r.event == id) w.error = r.message.empty() ? r.type : r.type + ": " + r.message;
  }
  if (is_call(e.kind)) call_rows(s, math, terms_of(s, math, id), &w);
  else if (is_redispatch(e.kind)) redispatch_rows(s, math, chain, &w);

  const std::vector<KeyId> involved = dispatched ? involved_keys(s, math, chain) : std::vector<KeyId>();
  std::vector<WhyKey> passed_over;
  for (const KeyId k : involved) {
    w.keys.push_back(verdict_of(s, math, chain, chain.at, k));
    const bool ran = std::any_of(chain.hops.begin(), chain.hops.end(), [&](EventId h) { return s.event(h).key == k; });
    if (!ran) passed_over.push_back(verdict_of(s, math, chain, 0, k));
  }
  // A key that only a nested call had is judged by that call.
  for (WhyKey& k : passed_over) {
    for (size_t i = 1; k.verdict == Verdict::kNotInSet && i < chain.hops.size(); ++i) {
      if (is_call(s.event(chain.hops[i]).kind)) k = verdict_of(s, math, chain, i, k.key);
    }
  }
  if (dispatched) w.never_involved = count_never_involved(s, e, involved);
  w.onion = make_onion(s, math, chain, passed_over);
  w.sentence = sentence_of(s, math, chain, w.keys);
  return w;
}

NotWhy why_not(const Session& s, EventId id, KeyId key) {
  const Event e = s.event(id);
  const Key* k = s.key(key);
  const std::string name = name_of(s, key);
  if (!e.id) return {Verdict::kNotInSet, "There is no hop " + std::to_string(id.value) + "."};
  if (!k) return {Verdict::kNotInSet, "This recording knows no such dispatch key."};
  if (k->alias()) {
    return {Verdict::kNotInSet, name + " is an alias: it is never in a set. It stands for keys, whose slots are filled from what is registered at it."};
  }
  const std::string where = s.op(e.op).full + " (hop " + std::to_string(id.value) + ")";
  if (e.kind == Kind::kBackwardNode || e.kind == Kind::kPythonMode || e.kind == Kind::kTorchFunction) {
    return {Verdict::kNotInSet, "Hop " + std::to_string(id.value) + " is no look-up in the dispatcher, so no key was chosen."};
  }
  const KeyMath math(s);
  const Chain chain = chain_of(s, id);
  const WhyKey v = verdict_of(s, math, chain, chain.at, key);
  std::string sentence;
  if (v.key == e.key && e.kind != Kind::kMissingKernel) sentence = where + " did go to " + name + ".";
  else if (v.verdict == Verdict::kRan) sentence = name + " is in the set, but " + name_of(s, e.key) + " is higher and came first; " + name + " " + v.reason + ".";
  else sentence = name + " did not run for " + where + ": " + why_words(v) + (v.inferred ? " (inferred)" : "") + ".";
  if (v.verdict != Verdict::kRan) {
    // Would it have had a kernel at all?
    for (const Slot& slot : s.table(e.op, id)) {
      if (slot.slot != k->slot) continue;
      const Kernel* kernel = s.kernel(slot.kernel);
      if (!kernel) break;
      if (kernel->fallthrough) sentence += " Its slot holds a fallthrough, which is never run: the operator's mask takes the key out of every call's set.";
      else sentence += " Its slot " + std::to_string(slot.slot) + " holds: " + kernel->rule + ", " + place_brief(kernel->registered_at) + ".";
      return {v.verdict, sentence, v.evidence};
    }
    if (!s.table(e.op, id).empty()) sentence += " The operator has no kernel for it either.";
  }
  return {v.verdict, sentence, v.evidence};
}

Explained check_key_sets(const Session& s) {
  Explained out{0, 0, {}};
  const KeyMath math(s);
  struct Known {
    bool done = false;
    int backend = 0;
    uint64_t kept = 0, recorded = 0;
  };
  std::vector<Known> by_shape;
  const SessionImpl* real = implementation(s);
  const uint32_t size = s.size();
  for (uint32_t i = 1; i <= size; ++i) {
    const EventId id{i};
    bool good = false;
    if (real) {
      const Columns& columns = real->columns();
      const ShapeId n = columns.shape_id(id);
      const Shape& shape = columns.shape_at(n);
      if (!is_call(shape.kind)) continue;
      if (columns.flags(id) & kChangedByHand) {
        ++out.calls;
        if (terms_of(s, math, id).explained) ++out.explained;
        else if (!out.first_unexplained) out.first_unexplained = id;
        continue;
      }
      if (n >= by_shape.size()) by_shape.resize(size_t{columns.shapes()} + 1);
      Known& k = by_shape[n];
      if (!k.done) {
        const Terms t = terms_of(s, math, id);
        k = {true, math.backend_index(t.kept), t.kept, t.recorded};
      }
      good = (k.kept & s.mask(shape.op, id, k.backend)) == k.recorded;
    } else {
      if (!is_call(s.event(id).kind)) continue;
      good = terms_of(s, math, id).explained;
    }
    ++out.calls;
    if (good) ++out.explained;
    else if (!out.first_unexplained) out.first_unexplained = id;
  }
  return out;
}

}  // namespace peel
