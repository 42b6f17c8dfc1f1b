#include "views/findings_hidden.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace peel::views {
namespace {

constexpr size_t kMostPlaces = 200, kKeptEvents = 200;
constexpr uint32_t kMostNodes = 2'000'000;

std::string at_line(const Session& s, EventId e) {
  const std::string line = line_of(s, e);
  return line.empty() ? "" : " at " + line;
}

bool starts(std::string_view name, std::initializer_list<std::string_view> with) {
  return std::any_of(with.begin(), with.end(), [&](std::string_view w) { return name.starts_with(w); });
}

std::string mode_of(const Tls& t) { return t.inference_mode ? "inference_mode" : t.grad_mode ? "grad mode" : "no_grad"; }

}  // namespace

HiddenWork::HiddenWork(const Session& s) : s_(s) {}

void HiddenWork::learn(OpId op) {
  while (copies_.size() <= op.value) {
    const uint32_t id = static_cast<uint32_t>(copies_.size());
    const std::string name = id && id <= s_.ops() ? s_.op(OpId(id)).name : "";
    copies_.push_back(name == "aten::reshape" || name == "aten::flatten" || name == "aten::reshape_as");
    clone_.push_back(name == "aten::clone");
  }
}

bool HiddenWork::is_fallback(KernelId k) {
  while (fallback_.size() <= k.value) {
    const Kernel* kernel = s_.kernel(KernelId(static_cast<uint32_t>(fallback_.size())));
    fallback_.push_back(kernel && kernel->rule == "backend fallback" && !kernel->fallthrough);
  }
  return fallback_[k.value];
}

void HiddenWork::note(What what, const Event& e, StackId line, uint32_t calls) {
  const auto key = std::tuple(what, e.op, line);
  auto at = places_.find(key);
  if (at == places_.end()) {
    if (places_.size() >= kMostPlaces) return;
    at = places_.emplace(key, Place{}).first;
    at->second.calls = calls;
  }
  at->second.count++;
  if (at->second.events.size() < kKeptEvents) at->second.events.push_back(e.id);
}

void HiddenWork::see(const Event& e) {
  if (!e.op || e.last == e.id) return;
  learn(e.op);
  const bool fallback = is_fallback(e.kernel);
  if (!copies_[e.op.value] && !fallback) return;
  uint32_t same = 0;
  bool clone = false;
  for (EventId c = s_.first_child(e.id); c; c = s_.next_sibling(c)) {
    const Event child = s_.event(c);
    if (!is_call(child.kind) || !child.op) continue;
    learn(child.op);
    clone = clone || clone_[child.op.value];
    same += child.op == e.op;
  }
  const StackId line = s_.user_frame(e.stack);
  if (copies_[e.op.value] && clone) return note(What::kReshape, e, line, 0);
  if (!fallback) return;
  const Key* key = s_.key(e.key);
  if (!key) return;
  if (clone && starts(key->name, {"Conjugate", "Negative", "ZeroTensor"})) note(What::kLazy, e, line, 0);
  else if (same > 1 && starts(key->name, {"FuncTorch", "Batched"})) note(What::kLoop, e, line, same);
}

Finding HiddenWork::tell(What what, const Place& p) const {
  const EventId e = p.events.front();
  Finding f{what == What::kLoop ? Finding::Kind::kLoop : Finding::Kind::kCopy, {}, e, p.count, p.events};
  const Event hop = s_.event(e);
  const std::vector<Value> arguments = s_.arguments(e);
  const Value* self = nullptr;
  for (const Value& v : arguments) if (!self && v.tensor) self = &v;
  code(f.sentence, hop_name(s_, e));
  const std::string of = self ? tensor_name(self->tensor) + " " + tensor_brief(*self) : "its argument";
  switch (what) {
    case What::kReshape:
      say(f.sentence, " copied ");
      code(f.sentence, of);
      say(f.sentence, self && !self->strides.empty() ? ": no view of it has that shape, as its strides are " + self->strides : ": no view of it has that shape");
      say(f.sentence, at_line(s_, e));
      f.hover = "What is written to the result does not reach " + of + ".";
      break;
    case What::kLazy:
      say(f.sentence, " worked on a copy of ");
      code(f.sentence, of);
      say(f.sentence, ": the ");
      say(f.sentence, s_.key(hop.key)->name, true);
      say(f.sentence, " fallback wrote out what was kept lazily" + at_line(s_, e));
      f.hover = "The copies are calls that the fallback makes, then it goes on to the next layer.";
      break;
    case What::kLoop:
      say(f.sentence, " was called " + count_text(p.calls) + " times for one call" + at_line(s_, e) + ": it has no batching rule, so the ");
      say(f.sentence, s_.key(hop.key)->name, true);
      say(f.sentence, " fallback loops over the batch");
      f.hover = "Under vmap an operator without a batching rule runs once for each element.";
      break;
  }
  return f;
}

void HiddenWork::find_warnings(std::vector<Finding>& out, const std::atomic<bool>& cancelled) const {
  std::map<OpId, size_t> known;
  for (uint32_t i = 1; i <= std::min(s_.nodes(), kMostNodes) && !cancelled; i++) {
    if (s_.node_name(NodeId(i)).find("NotImplemented") == std::string_view::npos) continue;
    const Node n = s_.node(NodeId(i));
    const EventId e = n.event ? n.event : n.found;
    if (!e) continue;
    const auto [at, fresh] = known.emplace(s_.event(e).op, out.size());
    if (!fresh) {
      Finding& f = out[at->second];
      f.count++;
      if (f.events.size() < kKeptEvents) f.events.push_back(e);
      continue;
    }
    Finding f{Finding::Kind::kStop, {}, e, 1, {e}};
    code(f.sentence, hop_name(s_, e));
    say(f.sentence, " has no kernel at ");
    say(f.sentence, "Autograd", true);
    say(f.sentence, " and hides its work from it: its node only warns in backward, and no gradient goes through" + at_line(s_, e));
    f.hover = "The node is " + std::string(n.name) + ". Register a formula (torch.library.register_autograd), or let the kernel use operators that autograd sees.";
    out.push_back(std::move(f));
  }
}

void HiddenWork::finish(std::vector<Finding>& out, const std::atomic<bool>& cancelled) {
  for (const auto& [key, place] : places_) {
    if (cancelled) return;
    out.push_back(tell(std::get<0>(key), place));
  }
  find_warnings(out, cancelled);
}

EventId outermost(const Session& s, EventId e) {
  const Event hop = s.event(e);
  const StackId line = s.user_frame(hop.stack);
  EventId out = e;
  for (EventId p = hop.parent; p; p = s.parent(p)) {
    const Event around = s.event(p);
    if (around.kind == Kind::kBackwardNode || s.user_frame(around.stack) != line) break;
    out = p;
  }
  return out;
}

// ---- exceptions

void find_failed_run(const Session& s, const Event& e, std::vector<Finding>& out) {
  if (!s.raised_in(e.id).empty()) return;  // told with its message
  for (EventId c = s.first_child(e.id); c; c = s.next_sibling(c)) if (s.event(c).flags & kRaised) return;
  Finding f{Finding::Kind::kRaised, {}, e.id, 1, {e.id}};
  say(f.sentence, "backward of ");
  say(f.sentence, hop_name(s, e.id), true);
  say(f.sentence, " raised" + at_line(s, e.id));
  f.hover = "PyTorch raised before the node did anything: its saved tensors are gone or were changed. The message went to the caller of backward().";
  tell_origins(s, e, f);
  out.push_back(std::move(f));
}

void tell_origins(const Session& s, const Event& e, Finding& f) {
  if (e.kind == Kind::kBackwardNode) {
    const auto run = s.run_of(e.id);
    if (!run) return;
    for (const NodeRun& before : s.runs(run->node)) {
      if (before.event >= e.id) continue;
      say(f.sentence, "; backward ran this node before, in ");
      code(f.sentence, "hop " + count_text(before.event.value));
      say(f.sentence, at_line(s, before.event));
      f.events.push_back(before.event);
      return;
    }
    return;
  }
  const Tls& now = s.tls(e.tls);
  int told = 0;
  for (const Value& v : s.arguments(e.id)) {
    if (!v.tensor) continue;
    const auto t = s.tensor(v.tensor);
    if (!t || !t->birth) continue;
    const Event birth = s.event(outermost(s, t->birth));
    const Tls& then = s.tls(birth.tls);
    const bool other = then.grad_mode != now.grad_mode || then.inference_mode != now.inference_mode;
    const std::string origin = v.name + " " + tensor_name(v.tensor) + " was made by " + hop_name(s, birth.id) + " (hop " + count_text(birth.id.value) + ")" + (other ? " under " + mode_of(then) : "") + at_line(s, birth.id);
    f.hover += "\n" + origin;
    if ((!other && !t->base) || told++) continue;
    say(f.sentence, "; " + v.name + " ");
    code(f.sentence, tensor_name(v.tensor));
    say(f.sentence, std::string(t->base ? " is a view" : " was") + " made by ");
    code(f.sentence, hop_name(s, birth.id));
    say(f.sentence, " (hop " + count_text(birth.id.value) + ")");
    if (other) say(f.sentence, " under "), say(f.sentence, mode_of(then), true);
    say(f.sentence, at_line(s, birth.id));
    f.events.push_back(birth.id);
  }
}

// ---- writes that nobody noticed

void find_silent_writes(const Session& s, const Ask& ask, std::vector<Finding>& out) {
  if (!ask) return;
  const auto count = ask("SELECT (SELECT count(*) FROM saved) * (SELECT count(*) > 0 FROM write), (SELECT count(*) FROM write)");
  if (!count || count->rows.empty() || count->rows[0].size() < 2) return;
  constexpr int64_t kMost = 300'000;  // rows: beyond, the join takes too long
  const int64_t saved = strtoll(count->rows[0][0].c_str(), nullptr, 10), writes = strtoll(count->rows[0][1].c_str(), nullptr, 10);
  if (saved <= 0 || saved > kMost || writes > kMost) return;
  // A write that raised, or that a version counter told of, makes backward raise: those are other findings. What is left went through.
  const auto rows = ask(
      "WITH w AS MATERIALIZED (SELECT storage, event, tensor FROM write), "
      "v AS MATERIALIZED (SELECT t.storage, v.tensor, v.node, n.event AS made FROM saved v JOIN tensor t ON t.id = v.tensor JOIN node n ON n.id = v.node WHERE n.event IS NOT NULL) "
      "SELECT w.event, v.tensor, v.node, min(r.event), w.tensor FROM v JOIN w ON w.storage = v.storage AND w.event > v.made JOIN node_run r ON r.node = v.node AND r.event > w.event "
      "JOIN event e ON e.id = r.event WHERE e.flags & 1 = 0 AND w.tensor <> v.tensor GROUP BY w.event, v.tensor, v.node ORDER BY w.event LIMIT 200");
  if (!rows) return;
  std::set<std::tuple<uint32_t, std::string, uint32_t>> told;
  for (const auto& row : rows->rows) {
    if (row.size() < 5) continue;
    const auto number = [&](size_t i) { return static_cast<uint32_t>(strtoul(row[i].c_str(), nullptr, 10)); };
    EventId write(number(0));
    const EventId run(number(3));
    const NodeId node(number(2));
    if (!write || write.value > s.size() || run.value > s.size() || !node || node.value > s.nodes()) continue;
    const EventId made = s.node(node).event;
    while (is_redispatch(s.event(write).kind) && s.parent(write)) write = s.parent(write);
    if (!made || write <= s.event(made).last || !told.emplace(write.value, row[1], node.value).second) continue;  // part of the call that saved it; told
    Finding f{Finding::Kind::kChanged, {}, write};
    code(f.sentence, "t" + row[1]);
    say(f.sentence, ", saved by ");
    say(f.sentence, std::string(s.node_name(node)), true);
    say(f.sentence, " (hop " + count_text(made.value) + "), was written through ");
    code(f.sentence, "t" + row[4]);
    say(f.sentence, " by ");
    code(f.sentence, hop_name(s, write));
    say(f.sentence, at_line(s, write) + ", which has a version counter of its own: backward went through with what was written");
    f.hover = "t" + row[4] + " shares the storage of t" + row[1] + " (as .data and detach() give) but not its counter, so nothing was checked. Backward used it in hop " + count_text(run.value) + ".";
    f.events = {write, made, run};
    out.push_back(std::move(f));
  }
}

}  // namespace peel::views
