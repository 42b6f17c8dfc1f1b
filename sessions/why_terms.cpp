#include "sessions/why_terms.h"

#include <algorithm>

#include "sessions/show.h"
#include "tracer/wire/wire.h"

namespace peel {
namespace {

using wire::ModeFamily;

constexpr int kMaxWalk = 5'000;  // hops looked at when searching since when something holds

std::string name_of(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

uint64_t functionality_bit(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key && key->functionality_bit >= 0 ? uint64_t{1} << key->functionality_bit : 0;
}

uint64_t bits_named(const Session& s, std::string_view prefix) {
  uint64_t out = 0;
  for (const Key* k : s.keys()) {
    if (!k->alias() && k->functionality_bit >= 0 && k->name.starts_with(prefix)) out |= uint64_t{1} << k->functionality_bit;
  }
  return out;
}

/// Since when `holds` is true of the thread-local state at `e`, looking outwards and, if wanted, at the top backwards.
struct Since {
  EventId first;    // the earliest hop at which it holds without a gap
  EventId opener;   // the hop whose kernel brought it about: the parent of `first`; 0 at the top
};
template <class Holds>
Since since(const Session& s, EventId e, bool backwards, Holds&& holds) {
  int steps = 0;
  EventId p = s.parent(e);
  while (p && holds(s.tls(s.event(p).tls)) && ++steps < kMaxWalk) {
    e = p;
    p = s.parent(e);
  }
  if (p || !backwards) return {e, p};
  for (EventId b = s.previous_sibling(e); b && ++steps < kMaxWalk && holds(s.tls(s.event(b).tls)); b = s.previous_sibling(b)) e = b;
  return {e, {}};
}

/// The innermost mode of that family around the hop, whose name has this in it.
std::optional<Span> mode_around(const Session& s, EventId e, ModeFamily family, std::string_view name = "") {
  for (const Span& m : s.modes_at(e)) {
    if (m.object == static_cast<uint64_t>(family) && m.name.find(name) != std::string::npos) return m;
  }
  return {};
}

/// The reason with what is recorded of the mode.
Reason by_mode(const Session& s, const std::string& what, const Span& mode, const std::string& brief) {
  const std::string place = mode_place(s, mode), line = where_brief(s, mode.stack);
  return {what, false, mode.begin, mode.stack, (place.empty() ? "" : place + ", ") + "since hop " + std::to_string(mode.begin.value), brief + (line.empty() ? "" : " (" + line + ")")};
}

std::string kernel_words(const Session& s, EventId e) {
  const Event v = s.event(e);
  const std::string hop = "hop " + std::to_string(e.value);
  if (v.kind == Kind::kBackwardNode || !v.op) return hop;
  return s.op(v.op).brief + " at " + name_of(s, v.key) + ", " + hop;
}

}  // namespace

std::string autocast_device(std::string_view key_name) {
  std::string device(key_name.substr(std::min(key_name.size(), sizeof "Autocast" - 1)));
  std::transform(device.begin(), device.end(), device.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return device;
}

std::string mode_place(const Session& s, const Span& mode) {
  const std::string where = where_brief(s, mode.stack);
  if (where.empty()) return "";
  const Frame f = s.frame(s.user_frame(mode.stack));
  const std::string source = s.source(f.file);
  size_t from = 0;
  for (int line = 1; line < f.line && from != std::string::npos; ++line) {
    from = source.find('\n', from);
    if (from != std::string::npos) ++from;
  }
  std::string text = from == std::string::npos ? "" : source.substr(from, source.find('\n', from) - from);
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  constexpr size_t kMostShown = 80;
  return where + (text.empty() || text.size() > kMostShown ? "" : " `" + text + "`");
}

std::string fallthrough_place(const Session& s, EventId call, KeyId k) {
  const Key* key = s.key(k);
  for (const Slot& slot : s.table(s.event(call).op, call)) {
    if (!key || slot.slot != key->slot) continue;
    const Kernel* kernel = s.kernel(slot.kernel);
    if (!kernel || !kernel->fallthrough) return "";
    return (kernel->rule == "backend fallback" ? "backend fallback, " : "the operator's own fallthrough, ") + place_brief(kernel->registered_at);
  }
  return "";
}

Family family_of(std::string_view n) {
  const auto any = [n](std::initializer_list<std::string_view> names) { return std::find(names.begin(), names.end(), n) != names.end(); };
  if (n.starts_with("Autocast")) return Family::kAutocast;
  if (n.starts_with("Autograd")) return Family::kAutograd;
  if (n == "ADInplaceOrView") return Family::kView;
  if (n == "BackendSelect") return Family::kBackendSelect;
  if (n.starts_with("FuncTorch") || any({"Batched", "VmapMode", "BatchedNestedTensor"})) return Family::kFunctorch;
  if (any({"Python", "Fake", "PythonDispatcher", "PythonTLSSnapshot", "PreDispatch"})) return Family::kPython;
  if (n == "Functionalize") return Family::kFunctionalize;
  if (any({"Conjugate", "Negative", "ZeroTensor"})) return Family::kConjugate;
  if (n == "Tracer") return Family::kTracer;
  if (any({"DeferredInit", "Named", "Undefined", ""}) || n.starts_with("TESTING_ONLY")) return Family::kOther;
  return Family::kBackend;
}

Terms terms_of(const Session& s, const KeyMath& math, EventId call) {
  const Event e = s.event(call);
  const Tls& tls = s.tls(e.tls);
  Terms t;
  t.call = call;
  t.arguments = s.keyset(e.arg_keyset).raw;
  t.included = tls.included;
  t.excluded = tls.excluded;
  t.all = t.arguments | t.included;
  t.kept = math.minus(t.all, t.excluded);
  t.mask = s.mask(e.op, call, math.backend_index(t.kept));
  t.set = t.kept & t.mask;
  t.recorded = s.keyset(e.keyset).raw;
  const auto by_hand = moved_by_hand(s, e);
  t.explained = t.set == (by_hand ? s.keyset(by_hand->keyset).raw : t.recorded);
  return t;
}

std::optional<HandChange> moved_by_hand(const Session& s, const Event& e) {
  if (e.flags & kChangedByHand) {
    for (HandChange& c : s.changes_of(e.id)) if (c.moved) return std::move(c);
  }
  return {};
}

Verdict lost_at(const KeyMath& math, const Terms& t, KeyId k) {
  if (!math.has(t.all, k)) return Verdict::kNotInSet;
  if (!math.has(t.kept, k)) return Verdict::kExcluded;
  if (!math.has(t.kept & t.mask, k)) return Verdict::kFellThrough;
  return Verdict::kBelow;
}

Reason why_excluded(const Session& s, const KeyMath& math, EventId call, KeyId k) {
  (void)math;
  const Tls& tls = s.tls(s.event(call).tls);
  const uint64_t bit = functionality_bit(s, k);
  const std::string name = name_of(s, k);
  const Family family = family_of(name);
  const bool default_off = family == Family::kAutocast;  // no walk for what nearly every call has
  const Since held = since(s, call, !default_off, [bit](const Tls& t) { return (t.excluded & bit) != 0; });
  const Event opener = s.event(held.opener);
  const std::string hop = "hop " + std::to_string(held.opener.value);
  const bool guarded = family == Family::kAutograd || family == Family::kView;

  if (held.opener && opener.key == k && opener.kind != Kind::kBackwardNode && !guarded) {
    return {"the " + name + " kernel above (" + hop + ") keeps itself out while it calls on", true, held.opener, {}, {}, "the " + name + " kernel above (" + hop + ") keeps itself out"};
  }
  if (held.opener && opener.op && family_of(name_of(s, opener.key)) == Family::kFunctorch) {
    return {"functorch handles one transform at a time, and the level of " + hop + " leaves it out", true, held.opener, {}, {}, "functorch's level of " + hop + " leaves out {keys}"};
  }
  if (family == Family::kAutocast && !held.opener) {
    const auto mode = mode_around(s, call, ModeFamily::kAutocast, "autocast " + autocast_device(name));
    if (mode && mode->name.ends_with(" off")) return by_mode(s, "autocast is off", *mode, "autocast is off");
    if (tls.modes.find("autocast ") != std::string::npos) return {"autocast is off for this device", false, {}, {}, {}, "autocast is off for this device"};
    return {"autocast is off (default)", false, {}, {}, {}, "autocast is off"};
  }
  const uint64_t autograd = bits_named(s, "Autograd"), view = bits_named(s, "ADInplaceOrView");
  const bool above_python = (tls.excluded & bits_named(s, "FuncTorch")) != 0 && (tls.excluded & autograd) != 0 && (tls.excluded & bits_named(s, "Conjugate")) != 0;
  if (above_python) {
    return {"a __torch_dispatch__ handler is at work, below which everything above Python is left out", true, held.opener ? held.opener : held.first, {}, {},
            "a __torch_dispatch__ handler leaves out everything above Python"};
  }
  if (family == Family::kAutograd && tls.inference_mode) {
    if (const auto mode = mode_around(s, call, ModeFamily::kInference, "inference_mode")) {
      Reason r = by_mode(s, "inference_mode is on", *mode, "inference_mode");
      r.brief += " excludes {keys}";
      return r;
    }
    const Since mode = since(s, call, true, [](const Tls& t) { return t.inference_mode; });
    return {"inference_mode is on", false, mode.first, {}, "since hop " + std::to_string(mode.first.value), "inference_mode excludes {keys}"};
  }
  if (!held.opener) {
    if (const auto guard = mode_around(s, held.first, ModeFamily::kGuard)) {
      Reason r = by_mode(s, "guard " + guard->name, *guard, "guard " + guard->name);
      r.brief += " leaves out {keys}";
      return r;
    }
  }
  if (guarded) {
    // What the guard took is seen where it begins to hold; further in there may be another.
    const uint64_t taken = s.tls(s.event(held.first).tls).excluded & ~(held.opener ? s.tls(opener.tls).excluded : 0);
    const std::string guard = (taken & view) ? "AutoDispatchBelowADInplaceOrView" : "AutoDispatchBelowAutograd";
    if (held.opener) {
      const std::string kernel = opener.op ? s.op(opener.op).brief + "'s " + name_of(s, opener.key) + " kernel (" + hop + ")" : hop;
      return {"guard " + guard + " in " + kernel_words(s, held.opener), true, held.opener, {}, {}, "a guard of " + kernel + " leaves out {keys}"};
    }
    if ((taken & autograd) && (taken & view)) {
      return {"guard " + guard + ", as Python's factory functions set it", true, held.first, {}, {}, "Python's factory functions leave out {keys}"};
    }
    return {"guard " + guard + ", set before the dispatcher was called", true, held.first, {}, {}, "a guard leaves out {keys}"};
  }
  if (held.opener) return {"a guard in " + kernel_words(s, held.opener), true, held.opener, {}, {}, "a guard of " + hop + " leaves out {keys}"};
  return {"the thread's excluded set has it", false, held.first, {}, {}, "the thread leaves out {keys}"};
}

Reason why_not_in_set(const Session& s, const KeyMath& math, const Terms& t, KeyId k) {
  const Tls& tls = s.tls(s.event(t.call).tls);
  const std::string name = name_of(s, k);
  const Family family = family_of(name);
  const uint64_t autograd = bits_named(s, "Autograd");
  if (math.keys(t.arguments).empty()) {
    if (family == Family::kAutograd || family == Family::kBackend) return {"no argument is a tensor with keys", false, {}, {}, {}, ""};
  } else if (family == Family::kAutograd && !(t.arguments & autograd)) {
    Reason r{"no argument carries an Autograd key: they are inference tensors", false, {}, {}, {}, ""};
    for (const Value& v : s.arguments(t.call)) {
      const auto tensor = v.flags.find("inference") == std::string::npos ? std::nullopt : s.tensor(v.tensor);
      const auto mode = tensor && tensor->birth ? mode_around(s, tensor->birth, ModeFamily::kInference, "inference_mode") : std::nullopt;
      if (!mode) continue;
      const std::string place = mode_place(s, *mode);
      r.detail = "t" + std::to_string(v.tensor.value) + " was made by hop " + std::to_string(tensor->birth.value) + " under inference_mode" + (place.empty() ? "" : ": " + place);
      r.evidence = tensor->birth;
      r.place = mode->stack;
      break;
    }
    return r;
  } else if (family == Family::kView && tls.inference_mode) {
    return {"inference_mode took it out of the included keys, and no argument has it", false, {}, {}, {}, ""};
  }
  if (family == Family::kAutocast) return {"no argument is on a device with that autocast key", false, {}, {}, {}, ""};
  return {"no argument has it and the thread does not include it", false, {}, {}, {}, ""};
}

std::string functionality_names(const Session& s, uint64_t set) {
  // One name a functionality, highest first as in the matrix; whole families as one word.
  std::vector<const Key*> keys = s.keys();
  std::vector<std::string> names;
  const uint64_t autocast = bits_named(s, "Autocast"), autograd = bits_named(s, "Autograd");
  uint64_t left = set;
  std::vector<std::string> families;
  if (autograd && (set & autograd) == autograd) families.push_back("Autograd*"), left &= ~autograd;
  if (autocast && (set & autocast) == autocast) families.push_back("Autocast*"), left &= ~autocast;
  for (int bit = 0; bit < 64; ++bit) {
    if (!(left >> bit & 1)) continue;
    const Key* first = nullptr;
    bool per_backend = false;
    for (const Key* k : keys) {
      if (k->alias() || k->functionality_bit != bit) continue;
      if (k->backend_bit >= 0) per_backend = true;
      if (!first || k->backend_bit < first->backend_bit) first = k;
    }
    if (!first) continue;
    std::string name = first->name;
    if (per_backend) {
      if (name.ends_with("CPU")) name.resize(name.size() - 3);
      name = name.empty() ? "Dense*" : name + "*";
    }
    names.push_back(name);
  }
  names.insert(names.end(), families.begin(), families.end());
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : " ") + n;
  return out;
}

std::string included_note(const Session& s, const KeyMath& math, EventId e) {
  (void)math;
  const Tls& tls = s.tls(s.event(e).tls);
  const uint64_t usual = bits_named(s, "BackendSelect") | bits_named(s, "ADInplaceOrView");
  if (tls.included == usual) return "default";
  std::string out;
  const uint64_t missing = usual & ~tls.included, more = tls.included & ~usual;
  if (missing) out = std::string(tls.inference_mode ? "inference_mode: " : "") + "without " + functionality_names(s, missing);
  if (more) out += (out.empty() ? "" : "; ") + std::string("with ") + functionality_names(s, more) + (tls.modes.empty() ? "" : ", by " + tls.modes);
  return out;
}

std::string excluded_note(const Session& s, const KeyMath& math, EventId e) {
  const Tls& tls = s.tls(s.event(e).tls);
  const uint64_t autocast = bits_named(s, "Autocast"), autograd = bits_named(s, "Autograd");
  const uint64_t cast = tls.excluded & autocast;
  std::string out;
  const auto casting = cast != autocast ? mode_around(s, e, ModeFamily::kAutocast, " on") : std::nullopt;
  if (cast == autocast && cast) out = "default: autocast is off";
  else if (casting) out = casting->name + ": " + mode_place(s, *casting);
  else if (cast) out = "autocast is on for some devices";
  const uint64_t rest = tls.excluded & ~autocast;
  // One key stands for all that the same guard took.
  uint64_t said = 0;
  for (const Key* k : s.keys()) {
    if (k->alias() || k->functionality_bit < 0 || !(rest >> k->functionality_bit & 1) || (said >> k->functionality_bit & 1)) continue;
    const Family family = family_of(k->name);
    if (family != Family::kAutograd && family != Family::kView) continue;
    if ((said & autograd) && family == Family::kAutograd) continue;
    const Reason r = why_excluded(s, math, e, k->id);
    said |= family == Family::kAutograd ? autograd : uint64_t{1} << k->functionality_bit;
    if (out.find(r.text) == std::string::npos) out += (out.empty() ? "" : "; ") + r.text + (r.inferred ? " (inferred)" : "");
  }
  if (out.empty() && rest) out = "set by a guard";
  return out;
}

}  // namespace peel
