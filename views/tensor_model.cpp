#include "views/tensor_model.h"

#include <algorithm>
#include <optional>
#include <set>

#include "sessions/memory.h"
#include "sessions/saved.h"

namespace peel::views {
namespace {

constexpr size_t kMostUses = 2000, kShownUses = 60;

std::optional<Value> value_in(const std::vector<Value>& values, TensorId t) {
  for (const Value& v : values) if (v.tensor == t) return v;
  return {};
}

std::string argument_word(const Value& v) {
  return v.name.empty() ? "argument " + std::to_string(v.position) : v.list_index < 0 ? v.name : v.name + "[" + std::to_string(v.list_index) + "]";
}

/// "clamp_min within relu": the hop and the outermost operator around it.
std::string born_in(const Session& s, EventId e) {
  const std::string inner = hop_name(s, e);
  std::string outer = inner;
  for (EventId up = s.parent(e); up; up = s.parent(up)) {
    if (s.event(up).kind == Kind::kBackwardNode) break;
    if (s.event(up).op) outer = hop_name(s, up);
  }
  return outer == inner ? inner : inner + " within " + outer;
}

/// Are these the strides that the shape gives by itself?
bool contiguous(std::string_view shape, std::string_view strides) {
  auto numbers = [](std::string_view t) {
    std::vector<int64_t> out;
    int64_t n = -1;
    for (const char c : t) {
      if (c >= '0' && c <= '9') n = std::max<int64_t>(n, 0) * 10 + (c - '0');
      else if (n >= 0) out.push_back(n), n = -1;
    }
    if (n >= 0) out.push_back(n);
    return out;
  };
  const auto size = numbers(shape), step = numbers(strides);
  if (size.size() != step.size()) return false;
  int64_t want = 1;
  for (size_t i = size.size(); i-- > 0;) {
    if (size[i] == 0) return true;
    if (size[i] != 1 && step[i] != want) return false;
    want *= size[i];
  }
  return true;
}

std::string mode_words(const Tls& t) {
  std::string s = t.inference_mode ? "inference mode" : t.grad_mode ? "grad mode on" : "grad mode off";
  if (!t.modes.empty()) s += ", " + t.modes;
  return s;
}

/// What the tensor looked like at the last hop up to `at` that shows it.
std::string describe(const Session& s, TensorId t, EventId birth, const std::vector<EventId>& uses, const std::vector<WriteRow>& writes, EventId at) {
  std::optional<Value> v;
  EventId seen;
  if (birth && (v = value_in(s.results(birth), t))) seen = birth;
  for (EventId e : uses) {
    if (v && e > at) break;
    if (auto now = value_in(s.arguments(e), t)) v = now, seen = e;
  }
  if (!v) return "";
  int64_t version = v->version;
  for (const WriteRow& w : writes) if (w.event >= seen && w.event <= at && w.after >= 0) version = w.after;
  std::string out = dtype_brief(v->dtype) + " " + tensor_brief(*v).substr(dtype_brief(v->dtype).size());
  if (!v->device.empty()) out += ", " + v->device;
  if (!v->layout.empty() && v->layout != "strided" && v->layout != "torch.strided") out += ", " + v->layout;
  if (!v->strides.empty() && !contiguous(v->shape, v->strides)) out += ", strides " + v->strides;
  out += version >= 0 ? ", version " + std::to_string(version) : ", no version counter";
  if (v->flags.find("requires_grad") != v->flags.npos) out += ", requires grad";
  if (v->flags.find("inference") != v->flags.npos) out += ", inference tensor";
  return out;
}

/// The node that a tensor is an output of: it is no leaf then.
NodeId made_by(const Session& s, TensorId t, EventId birth) {
  for (EventId e = birth; e; e = s.parent(e)) {
    for (const NodeId n : s.nodes_of(e))
      if (s.node(n).output == t && s.node_name(n) != "AccumulateGrad") return n;
    const Event hop = s.event(e);
    if (hop.kind == Kind::kBackwardNode) break;
  }
  return {};
}

}  // namespace

TensorId tensor_for(const Session& s, EventId e) {
  if (!e || e.value > s.size()) return {};
  const Event hop = s.event(e);
  if (hop.kind == Kind::kBackwardNode) {
    // what a node's run is about is what its first call is about
    const EventId child = s.first_child(e);
    return child ? tensor_for(s, child) : TensorId();
  }
  for (const Value& v : s.results(e)) if (v.tensor) return v.tensor;
  for (const Value& v : s.arguments(e)) if (v.tensor) return v.tensor;
  // a redispatch: its call has them
  for (EventId up = hop.parent; up && is_redispatch(hop.kind); up = s.parent(up)) {
    if (s.event(up).op != hop.op) break;
    for (const Value& v : s.results(up)) if (v.tensor) return v.tensor;
    for (const Value& v : s.arguments(up)) if (v.tensor) return v.tensor;
    if (is_call(s.event(up).kind)) break;
  }
  return {};
}

TensorModel make_tensor_model(const Session& s, TensorId t, EventId at) {
  TensorModel m;
  m.tensor = t, m.name = tensor_name(t);
  const auto row = s.tensor(t);
  if (!row) return m;
  m.known = true;
  m.base = row->base;
  const EventId effective = at ? s.last(at) : EventId(s.size());
  auto place = [&](TensorMoment& o) {
    o.current = at && o.event >= at && o.event <= effective;
    o.later = at && o.event > effective;
  };

  // ---- how it came
  const EventId birth = row->birth;
  TensorMoment first{birth ? TensorMoment::Kind::kBirth : TensorMoment::Kind::kFirstSeen, birth ? birth : row->first};
  if (birth) {
    say(first.words, "born in ");
    code(first.words, born_in(s, birth));
    first.note = mode_words(s.tls(s.event(birth).tls));
  } else {
    say(first.words, "first seen by ");
    if (row->first) code(first.words, hop_name(s, row->first));
    first.note = "made before recording began, or outside of any hop";
  }
  if (row->base) first.tensor = row->base, say(first.words, ", a view of "), code(first.words, tensor_name(row->base));
  place(first);
  const auto uses = s.uses(t, kMostUses);
  const auto writes = s.writes(t);
  m.brief = describe(s, t, birth, uses, writes, effective);

  // ---- uses and writes, in order; a hop that writes is not said to use as well
  std::set<EventId> writing;
  std::vector<TensorMoment> moments;
  std::set<TensorId> others;
  if (row->base) others.insert(row->base);
  uint64_t own_writes = 0, bumped = 0;
  for (const WriteRow& w : writes) {
    writing.insert(w.event);
    TensorMoment o{TensorMoment::Kind::kWrite, w.event};
    const bool through = w.tensor != t;
    if (w.before >= 0 && w.after >= 0) say(o.words, w.before == w.after ? "written, version stays " + std::to_string(w.after) + ", by " : "version " + std::to_string(w.before) + " to " + std::to_string(w.after) + " by ");
    else say(o.words, "written, no version counter, by ");
    code(o.words, hop_name(s, w.event));
    if (through) say(o.words, " through "), code(o.words, tensor_name(w.tensor)), o.tensor = w.tensor, others.insert(w.tensor);
    own_writes++, bumped += w.after > w.before;
    o.note = line_of(s, w.event);
    place(o);
    moments.push_back(std::move(o));
  }
  uint64_t plain_uses = 0;
  for (EventId e : uses) {
    if (writing.contains(e)) continue;
    const Event hop = s.event(e);
    if (!is_call(hop.kind)) continue;  // its layers handle the same argument
    TensorMoment o{TensorMoment::Kind::kUse, e};
    say(o.words, "used by ");
    code(o.words, hop_name(s, e));
    if (const auto v = value_in(s.arguments(e), t)) say(o.words, " as "), code(o.words, argument_word(*v));
    for (const Value& r : s.results(e)) {
      if (!r.tensor || r.tensor == t) continue;
      const auto other = s.tensor(r.tensor);
      if (!other || other->birth != e || !(other->base == t || (row->storage && other->storage == row->storage))) continue;
      o.kind = TensorMoment::Kind::kView, o.tensor = r.tensor, others.insert(r.tensor);
      o.words.clear();
      code(o.words, hop_name(s, e)), say(o.words, " made the view "), code(o.words, tensor_name(r.tensor));
      break;
    }
    o.note = line_of(s, e);
    place(o);
    plain_uses++;
    moments.push_back(std::move(o));
  }
  // ---- what keeps it for backward, and when that was read
  const auto saved = s.saved_by(t);
  for (size_t i = 0; i < saved.size() && i < kMostUses; i++) {
    const Saved& v = saved[i];
    const Node n = s.node(v.node);
    TensorMoment o{TensorMoment::Kind::kSaved, n.event ? n.event : n.found};
    o.node = v.node;
    say(o.words, "saved by "), code(o.words, std::string(n.name)), say(o.words, " as " + saved_name(v) + (v.version < 0 ? "" : ", version " + std::to_string(v.version)));
    o.note = v.bytes ? "keeps " + bytes_text(static_cast<int64_t>(v.bytes)) : line_of(s, o.event);
    place(o);
    moments.push_back(o);
    for (const NodeRun& r : s.runs(v.node)) {
      TensorMoment read{TensorMoment::Kind::kRead, r.event};
      read.node = v.node;
      say(read.words, s.event(r.event).flags & kRaised ? "refused by " : "read by "), code(read.words, std::string(n.name)), say(read.words, " in backward");
      place(read);
      moments.push_back(std::move(read));
    }
  }
  std::stable_sort(moments.begin(), moments.end(), [](const TensorMoment& a, const TensorMoment& b) { return a.event < b.event; });

  // ---- fold plain uses when there are many: those near the selection stay
  if (moments.size() > kShownUses) {
    size_t here = 0;
    while (here < moments.size() && (!at || moments[here].event < at)) here++;
    const size_t from = here > kShownUses / 2 ? here - kShownUses / 2 : 0, to = from + kShownUses;
    std::vector<TensorMoment> kept;
    uint64_t run = 0;
    bool plain = true;
    EventId run_first;
    auto close = [&] {
      if (!run) return;
      TensorMoment o{TensorMoment::Kind::kFolded, run_first};
      say(o.words, plural(run, plain ? "use" : "moment") + " folded");
      place(o);
      kept.push_back(std::move(o));
      m.uses_folded += run, run = 0, plain = true;
    };
    for (size_t i = 0; i < moments.size(); i++) {
      const auto kind = moments[i].kind;
      const bool use = kind == TensorMoment::Kind::kUse;
      if ((use || kind == TensorMoment::Kind::kSaved || kind == TensorMoment::Kind::kRead) && (i < from || i >= to)) {
        if (!run++) run_first = moments[i].event;
        plain &= use;
        continue;
      }
      close();
      kept.push_back(std::move(moments[i]));
    }
    close();
    moments = std::move(kept);
  }
  m.birth = first.event;
  m.moments.push_back(std::move(first));
  for (TensorMoment& o : moments) m.moments.push_back(std::move(o));
  TensorMoment end{TensorMoment::Kind::kEnd, {}};
  if (row->death == kOpen || row->death < 0) say(end.words, uses.size() >= kMostUses ? "more uses than are read here; death unknown" : "death unknown: the recorder does not see when a tensor is freed");
  else say(end.words, "died at " + duration(row->death)), end.note = "its memory was given back";
  m.moments.push_back(std::move(end));
  m.others.assign(others.begin(), others.end());

  // ---- one sentence
  Parts& p = m.sentence;
  strong(p, m.name);
  if (birth) {
    say(p, " was born in "), strong(p, born_in(s, birth));
    say(p, " with " + mode_words(s.tls(s.event(birth).tls)));
  } else {
    say(p, " came from outside of any recorded hop");
  }
  if (row->base) say(p, " as a view of " + tensor_name(row->base));
  say(p, own_writes ? "; its storage was written " + (own_writes == 1 ? std::string("once") : count_text(own_writes) + " times") : "; nothing wrote it");
  if (own_writes && bumped < own_writes) say(p, ", " + count_text(own_writes - bumped) + " without a version bump");
  if (const NodeId by = made_by(s, t, birth)) say(p, "; "), strong(p, std::string(s.node_name(by))), say(p, " made it, so backward passes its gradient on and leaves .grad as it is");
  if (!saved.empty()) say(p, ", " + plural(saved.size(), "node") + " saved it");
  say(p, plain_uses ? ", " + plural(plain_uses, "call") + (plain_uses == 1 ? " used it." : " used it.") : ".");
  return m;
}

}  // namespace peel::views
