#include "views/gradient_stops.h"

#include "views/findings_model.h"

namespace peel::views {
namespace {

constexpr size_t kLookedInto = 6;    // calls of one place whose arguments are read
constexpr size_t kPlaces = 20000;    // places of one kind; more are counted as skipped

bool has_word(std::string_view flags, std::string_view word) {
  for (size_t at = flags.find(word); at != flags.npos; at = flags.find(word, at + 1)) {
    const bool begins = at == 0 || flags[at - 1] == ' ' || flags[at - 1] == ',';
    const size_t end = at + word.size();
    if (begins && (end == flags.size() || flags[end] == ' ' || flags[end] == ',')) return true;
  }
  return false;
}

/// Operators that look at a tensor's shape only.
bool takes_shape_only(std::string_view op) {
  return op.ends_with("_like") || op.starts_with("new_") || op.starts_with("empty") || op.starts_with("sym_");
}

bool floating(std::string_view dtype) {
  if (dtype.starts_with("torch.")) dtype.remove_prefix(6);
  return dtype.starts_with("float") || dtype.starts_with("bfloat") || dtype.starts_with("complex") || dtype == "double" || dtype == "half";
}

}  // namespace

GradientStops::GradientStops(const Session& s) : s_(s) {
  for (const Key* k : s.keys()) {
    if (k->alias() || !k->name.starts_with("Autograd")) continue;
    if (autograd_key_.size() <= k->id) autograd_key_.resize(k->id + 1u, false);
    autograd_key_[k->id] = true;
  }
}

/// `empty_like` of `aten::empty_like.memory_format`.
std::string_view GradientStops::base(OpId op) const {
  const std::string_view name = s_.op(op).name;
  const size_t colons = name.rfind(':');
  return colons == name.npos ? name : name.substr(colons + 1);
}

StackId GradientStops::line(StackId stack) {
  if (!stack) return {};
  const auto [at, fresh] = line_.try_emplace(stack);
  if (fresh) at->second = s_.user_frame(stack);
  return at->second;
}

bool GradientStops::in_optimizer(StackId stack) {
  const auto known = optimizer_.find(stack);
  if (known != optimizer_.end()) return known->second;
  bool yes = false;
  StackId at = stack;
  for (int i = 0; at && i < 200 && !yes; i++) {
    const Frame f = s_.frame(at);
    yes = f.file.find("/torch/optim/") != f.file.npos;
    at = f.parent;
  }
  return optimizer_[stack] = yes;
}

void GradientStops::see(const Event& e) {
  if (e.flags & kNoValues) saw_no_values_ = true;
  else if (is_call(e.kind)) saw_values_ = true;
  // inside of a node's run grad mode is off by design
  if (e.kind == Kind::kBackwardNode) inside_ = e.last, inside_thread_ = e.thread;
  if (e.id <= inside_ && e.thread == inside_thread_) return;
  if (!is_call(e.kind) || e.node || e.flags & (kRaised | kNoValues)) return;
  if (e.key >= autograd_key_.size() || !autograd_key_[e.key]) return;
  const Tls& tls = s_.tls(e.tls);
  if (tls.inference_mode) return;
  Place* place;
  if (tls.grad_mode) {
    if (s_.nodes_inside(e.id)) return;
    // a composite's inner calls tell the story themselves
    const Kernel* k = s_.kernel(e.kernel);
    if (k && k->rule == "math kernel") return;
    if (takes_shape_only(base(e.op))) return;
    const auto key = std::pair(e.op, line(e.stack));
    if (grad_on_.size() >= kPlaces && !grad_on_.contains(key)) return void(skipped_++);
    place = &grad_on_[key];
  } else {
    if (e.parent && s_.event(e.parent).op) return;  // count what the line itself calls
    if (in_optimizer(e.stack)) return;
    const StackId at = line(e.stack);
    if (grad_off_.size() >= kPlaces && !grad_off_.contains(at)) return void(skipped_++);
    place = &grad_off_[at];
  }
  place->count++;
  if (place->first.size() < kLookedInto) place->first.push_back(e.id);
}

GradientStops::Answer GradientStops::look(const Event& e) const {
  bool takes = false;
  for (const Value& v : s_.arguments(e.id)) takes |= has_word(v.flags, "requires_grad");
  if (!takes) return Answer::kNo;
  bool tensors = false, numbers = true;
  for (const Value& v : s_.results(e.id)) {
    if (v.dtype.empty()) continue;
    tensors = true;
    if (has_word(v.flags, "requires_grad")) return Answer::kNo;
    numbers &= !floating(v.dtype);
  }
  return !tensors ? Answer::kNo : numbers ? Answer::kStopsWithNumbers : Answer::kStops;
}

void GradientStops::finish(std::vector<Finding>& out, const std::atomic<bool>& cancelled) {
  auto looked = [&](const Place& p, uint64_t* stops, bool* numbers, EventId* first, std::vector<EventId>* events) {
    *stops = 0, *numbers = true;
    for (EventId e : p.first) {
      const Answer a = look(s_.event(e));
      if (a == Answer::kNo) continue;
      if (!(*stops)++) *first = e;
      *numbers &= a == Answer::kStopsWithNumbers;
      events->push_back(e);
    }
    const uint64_t rest = p.count - p.first.size();
    skipped_ += rest;
    return *stops > 0;
  };
  auto code = [](Parts& p, std::string t) { p.push_back({std::move(t), false, true}); };
  auto say = [](Parts& p, std::string t) { p.push_back({std::move(t)}); };
  for (const auto& [key, place] : grad_on_) {
    if (cancelled) return;
    uint64_t stops;
    bool numbers;
    Finding f{Finding::Kind::kStop, {}, {}};
    if (!looked(place, &stops, &numbers, &f.event, &f.events)) continue;
    const std::string name = s_.op(key.first).brief, line = line_of(s_, f.event);
    code(f.sentence, name);
    if (name == "detach" || name == "detach_") say(f.sentence, " cuts the gradient: its result does not require one");
    else if (numbers) say(f.sentence, " stops the gradient: whole numbers and truth values take none");
    else say(f.sentence, " stops the gradient: an argument requires one, its result does not");
    if (!line.empty()) say(f.sentence, " (" + line + ")");
    // when all that were looked into stop, so do those like them at the same place
    f.count = stops == place.first.size() ? place.count : stops;
    f.hover = count_text(stops) + " of " + plural(place.first.size(), "call") + " looked into stop a gradient; " + plural(place.count, "call") + " at this place";
    out.push_back(std::move(f));
  }
  for (const auto& [line, place] : grad_off_) {
    if (cancelled) return;
    uint64_t stops;
    bool numbers;
    Finding f{Finding::Kind::kStop, {}, {}};
    if (!looked(place, &stops, &numbers, &f.event, &f.events) || numbers) continue;
    const std::string where = line_of(s_, f.event);
    say(f.sentence, "grad mode is off at ");
    code(f.sentence, where.empty() ? hop_name(s_, f.event) : where);
    say(f.sentence, ": " + plural(place.count, "call") + (place.count == 1 ? " makes" : " make") + " no node, though an argument requires a gradient");
    f.hover = count_text(stops) + " of " + plural(place.first.size(), "call") + " looked into take a tensor that requires a gradient";
    out.push_back(std::move(f));
  }
}

}  // namespace peel::views
