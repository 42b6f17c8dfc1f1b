#include "sessions/whatif.h"

#include <algorithm>
#include <unordered_map>

#include "sessions/show.h"
#include "sessions/whatif_tables.h"
#include "sessions/why_terms.h"

namespace peel {
namespace {

using What = WhatIfChange::What;
using Mode = WhatIfChange::Mode;
using Outcome = WhatIfRow::Outcome;

constexpr size_t kMaxRows = 1'000'000;  // what comes after is counted

uint64_t functionality(const Session& s, std::string_view key) {
  const Key* k = s.key_by_name(key);
  return k && k->functionality_bit >= 0 ? uint64_t{1} << k->functionality_bit : 0;
}

/// Which functionality bits modes move, in this recording's numbering.
struct Bits {
  uint64_t view, autograd = 0;
  explicit Bits(const Session& s) : view(functionality(s, "ADInplaceOrView")) {
    for (const Key* k : s.keys()) {
      if (k->alias() || k->functionality_bit < 0) continue;
      if (family_of(k->name) == Family::kAutograd) autograd |= uint64_t{1} << k->functionality_bit;
    }
  }
};

uint64_t autocast_bit(const Session& s, const std::string& device) {
  for (const Key* k : s.keys()) {
    if (!k->alias() && family_of(k->name) == Family::kAutocast && autocast_device(k->name) == device)
      return uint64_t{1} << k->functionality_bit;
  }
  return 0;
}

class Planner {
 public:
  Planner(const Session& s, const WhatIf& w) : s_(s), w_(w), math_(s), bits_(s), families_(s), tables_(s, w.changes) {
    for (const WhatIfChange& c : w.changes) {
      if (c.mode == Mode::kInference) (c.what == What::kEnter ? enters_inference_ : leaves_inference_) = true;
      moves_keys_ = moves_keys_ || c.what == What::kInclude || c.what == What::kExclude || c.mode == Mode::kInference || c.mode == Mode::kAutocast;
      moves_grad_ = moves_grad_ || c.mode == Mode::kGrad || c.mode == Mode::kNoGrad;
    }
  }
  WhatIfAnswer run(const std::atomic<bool>* stop);

 private:
  /// A hop on the way down one thread, and how its set would differ.
  struct Open {
    EventId id, last;
    OpId op;
    EventId unknown;  // the change beyond which it lies, 0 = none
    uint64_t removed = 0, added = 0;
  };

  bool in_scope(const Event& e) const { return (!w_.from || w_.from <= e.id) && (!w_.to || e.id <= w_.to) && (!w_.thread || w_.thread == e.thread); }
  void call(const Event&, Open*);
  void redispatch(const Event&, const Open* parent, Open*);
  void failed_look_up(const Event&, Open*);
  void land(const Event&, uint64_t set, bool is_call, Open*);
  bool thread_state(const Event&, uint64_t* included, uint64_t* excluded) const;  // false: cannot be told
  uint64_t arguments(const Event&);
  bool becomes_inference(TensorId);
  bool was_cast_above(const Event&) const;
  std::string kernel_text(const KernelRef&) const;
  void put(const Event&, Outcome, KeyId after, std::string kernel_after, Open*);
  void remark(WhatIfAnswer*) const;

  const Session& s_;
  const WhatIf& w_;
  const KeyMath math_;
  const Bits bits_;
  const KeyFamilies families_;
  PlannedTables tables_;
  bool enters_inference_ = false, leaves_inference_ = false, moves_keys_ = false, moves_grad_ = false;
  std::unordered_map<uint64_t, TensorId> first_of_storage_;
  std::unordered_map<uint32_t, bool> inference_;
  std::unordered_map<uint32_t, std::vector<Open>> open_;  // by thread
  WhatIfAnswer answer_;
  uint64_t nodes_in_scope_ = 0, not_understood_ = 0;
  EventId first_raise_;
};

std::string Planner::kernel_text(const KernelRef& k) const {
  switch (k.kind) {
    case KernelRef::Kind::kNone: return "no kernel";
    case KernelRef::Kind::kAmbiguous: return "the kernel that raises, as AutogradOther is ambiguous";
    case KernelRef::Kind::kPlanned: {
      const Key* key = s_.key(k.planned_at);
      return std::string("the new ") + (k.fallthrough ? "fallthrough" : "kernel") + " at " + (key ? key->name : "?");
    }
    case KernelRef::Kind::kRecorded: break;
  }
  const Kernel* kernel = s_.kernel(k.recorded);
  return kernel ? kernel->rule + ", " + place_brief(kernel->registered_at) : "a kernel that was not recorded";
}

void Planner::put(const Event& e, Outcome outcome, KeyId after, std::string kernel_after, Open* o) {
  WhatIfRow row{outcome, e.id, {}, e.key, after, "", std::move(kernel_after)};
  if (outcome == Outcome::kUnknown) row.because = o->unknown;
  else row.kernel_before = e.kind == Kind::kMissingKernel ? "no kernel" : kernel_text({KernelRef::Kind::kRecorded, e.kernel, 0, false});
  if (outcome == Outcome::kUnknown) ++answer_.unknown;
  else if (outcome == Outcome::kLayer) ++answer_.layers;
  else ++answer_.changed;
  if (outcome == Outcome::kRaises && !first_raise_) first_raise_ = e.id;
  if (answer_.rows.size() < kMaxRows) answer_.rows.push_back(std::move(row));
  if (!o->unknown) o->unknown = e.id;
}

/// Did a kernel above it leave autocast's key out while it calls on?
bool Planner::was_cast_above(const Event& e) const {
  int steps = 0;
  for (EventId p = e.parent; p && ++steps < 1000; p = s_.parent(p)) {
    const Key* k = s_.key(s_.event(p).key);
    if (k && family_of(k->name) == Family::kAutocast) return true;
  }
  return false;
}

bool Planner::thread_state(const Event& e, uint64_t* included, uint64_t* excluded) const {
  const Tls& tls = s_.tls(e.tls);
  *included = tls.included;
  *excluded = tls.excluded;
  bool known = true;
  for (const WhatIfChange& c : w_.changes) {
    const bool on = c.what == What::kEnter;
    if (c.what == What::kInclude) *included |= math_.bits(c.key);
    if (c.what == What::kExclude) *excluded |= math_.bits(c.key);
    if (c.mode == Mode::kInference && on && !tls.inference_mode) {
      *included &= ~bits_.view;
      *excluded |= bits_.autograd;
    } else if (c.mode == Mode::kInference && !on && tls.inference_mode) {
      *included |= bits_.view;
      *excluded &= ~bits_.autograd;
      // Inside of kernels their guards leave autograd out as well, which the recorded sets hide.
      if (e.parent) known = false;
    } else if (c.mode == Mode::kAutocast) {
      const uint64_t bit = autocast_bit(s_, c.device);
      if (!on) *excluded |= bit;
      else if (!was_cast_above(e)) *excluded &= ~bit;
    }
  }
  return known;
}

/// Tensors of one storage share their keys with the first of them: a view of an inference tensor is one too.
bool Planner::becomes_inference(TensorId t) {
  if (first_of_storage_.empty()) {
    first_of_storage_[0] = TensorId{};
    for (uint32_t i = 1;; ++i) {
      const auto row = s_.tensor(TensorId{i});
      if (!row) break;
      if (row->storage) first_of_storage_.emplace(row->storage, row->id);
    }
  }
  const auto known = inference_.find(t.value);
  if (known != inference_.end()) return known->second;
  const auto row = s_.tensor(t);
  bool yes = false;
  if (row) {
    const auto first = row->storage ? first_of_storage_.find(row->storage) : first_of_storage_.end();
    const auto root = first != first_of_storage_.end() && first->second != t ? s_.tensor(first->second) : row;
    yes = root && root->birth && in_scope(s_.event(root->birth));
  }
  inference_[t.value] = yes;
  return yes;
}

/// The union of the arguments' sets, given which tensors would be inference tensors.
uint64_t Planner::arguments(const Event& e) {
  const uint64_t recorded = s_.keyset(e.arg_keyset).raw;
  if (!enters_inference_ && !leaves_inference_) return recorded;
  uint64_t seen = 0, now = 0;
  for (const Value& v : s_.arguments(e.id)) {
    if (!v.participates || !v.keyset) continue;
    const uint64_t set = s_.keyset(v.keyset).raw;
    const bool is_inference = v.flags.find("inference") != std::string::npos;
    // The tensor that stands for a Python number is made for the call.
    const bool made_there = v.flags.find("wrapped_number") != std::string::npos ? in_scope(e) : v.tensor && becomes_inference(v.tensor);
    uint64_t then = set;
    if (enters_inference_ && !is_inference && made_there) then &= ~(bits_.view | bits_.autograd);
    if (leaves_inference_ && is_inference && made_there) {
      then |= bits_.view;
      for (const KeyId k : math_.keys(set)) {
        if (const KeyId autograd = families_.autograd_of(k)) then |= math_.bits(autograd);
      }
    }
    seen |= set;
    now |= then;
  }
  return now | (recorded & ~seen);
}

void Planner::land(const Event& e, uint64_t set, bool is_call, Open* o) {
  const KeyId key = math_.highest(set);
  const Key* k = s_.key(key);
  const size_t slot = key == 0 ? 0 : k && k->slot > 0 ? static_cast<size_t>(k->slot) : SIZE_MAX;
  const PlannedTables::Table& table = tables_.table(e.op, e.id);
  const KernelRef there = slot < table.slots.size() ? table.slots[slot] : KernelRef{};
  const bool same_kernel = there.kind == KernelRef::Kind::kRecorded && there.recorded == e.kernel;
  if (key == e.key && (same_kernel || (slot < table.changed.size() && !table.changed[slot]))) return;
  if (!table.understood) {
    ++not_understood_;
    return put(e, Outcome::kUnknown, 0, "", o);
  }
  const bool raises = !there || there.kind == KernelRef::Kind::kAmbiguous;
  put(e, raises ? Outcome::kRaises : is_call ? Outcome::kChanges : Outcome::kLayer, key, kernel_text(there), o);
  // A composite kernel does the same wherever it stands: what it calls can be followed.
  const Kernel* kernel = s_.kernel(e.kernel);
  if (same_kernel && kernel && kernel->rule == "math kernel") o->unknown = {};
}

void Planner::call(const Event& e, Open* o) {
  ++answer_.calls;
  const Terms t = terms_of(s_, math_, e.id);
  const uint64_t arguments_now = arguments(e);
  uint64_t included = t.included, excluded = t.excluded;
  const bool known = !moves_keys_ || !in_scope(e) || thread_state(e, &included, &excluded);
  const uint64_t kept = math_.minus(arguments_now | included, excluded);
  const int backend = math_.backend_index(kept);
  const uint64_t set = kept & tables_.mask(e.op, e.id, backend, s_.mask(e.op, e.id, backend));
  const bool nothing_moved = set == t.set;
  if (nothing_moved && !tables_.touches(e.op)) return;
  // Where the recorded hop is not what the formula gives (the Python dispatcher), nothing can be told.
  if (!t.explained || math_.highest(t.recorded) != e.key || !known) {
    if (!nothing_moved) put(e, Outcome::kUnknown, 0, "", o);
    return;
  }
  o->removed = t.set & ~set;
  o->added = set & ~t.set;
  land(e, set, true, o);
}

void Planner::redispatch(const Event& e, const Open* parent, Open* o) {
  if (!parent || parent->op != e.op || s_.event(parent->id).kind == Kind::kBackwardNode) return;
  o->removed = parent->removed;
  o->added = parent->added;
  if (!parent->removed && !parent->added && !tables_.touches(e.op)) return;
  const uint64_t recorded = s_.keyset(e.keyset).raw, incoming = s_.keyset(s_.event(parent->id).keyset).raw;
  uint64_t set = recorded & ~parent->removed;
  // A kernel hands on the keys below its own; BackendSelect makes a set of its own.
  const Key* above = s_.key(s_.event(parent->id).key);
  if (!(recorded & ~incoming) && above && above->functionality_bit > 0) set |= parent->added & ((uint64_t{1} << above->functionality_bit) - 1);
  land(e, set, false, o);
}

void Planner::failed_look_up(const Event& e, Open* o) {
  ++answer_.calls;
  if (moves_keys_ && in_scope(e)) return put(e, Outcome::kUnknown, 0, "", o);
  if (!tables_.touches(e.op)) return;
  const Key* k = s_.key(e.key);
  const PlannedTables::Table& table = tables_.table(e.op, e.id);
  const size_t slot = e.key == 0 ? 0 : k && k->slot > 0 ? static_cast<size_t>(k->slot) : SIZE_MAX;
  if (slot >= table.slots.size() || !table.changed[slot]) return;
  if (table.slots[slot].fallthrough) return put(e, Outcome::kUnknown, 0, "", o);
  put(e, Outcome::kChanges, e.key, kernel_text(table.slots[slot]), o);
}

void Planner::remark(WhatIfAnswer* a) const {
  if (moves_grad_) {
    const bool off = std::any_of(w_.changes.begin(), w_.changes.end(), [](const WhatIfChange& c) { return c.mode == (c.what == What::kEnter ? Mode::kNoGrad : Mode::kGrad); });
    a->remarks.push_back("Grad mode is a flag beside the key sets: no layer changes, the autograd kernels run on or off. " + grouped(nodes_in_scope_) +
                         (nodes_in_scope_ == 1 ? " node was" : " nodes were") + " made there" + (off ? "; there would be none." : "; which there would be is not told."));
  }
  if (first_raise_) a->remarks.push_back("Hop " + std::to_string(first_raise_.value) + " would raise: what comes after it holds only if the program catches that.");
  if (not_understood_) a->remarks.push_back(grouped(not_understood_) + " hops are unknown, as the recorded tables of their operators are not what the rules give.");
  const bool registrations = std::any_of(w_.changes.begin(), w_.changes.end(), [](const WhatIfChange& c) { return c.what == What::kRemove; });
  if (registrations && s_.registrations(OpId{}, EventId{1}).empty()) a->remarks.push_back("This recording does not say what was removed again: registrations are taken from all that was ever registered.");
  if (a->rows.size() == kMaxRows) a->remarks.push_back("Only the first " + grouped(kMaxRows) + " rows are kept; all are counted.");
  if (enters_inference_) a->remarks.push_back("Tensors that are made there would be inference tensors, here and wherever they are used later. Saving one for backward would raise, which is not followed.");
}

WhatIfAnswer Planner::run(const std::atomic<bool>* stop) {
  const uint32_t size = s_.size();
  for (uint32_t i = 1; i <= size && !(stop && stop->load(std::memory_order_relaxed)); ++i) {
    const Event e = s_.event(EventId{i});
    std::vector<Open>& above = open_[e.thread.value];
    while (!above.empty() && (!e.parent || above.back().id != e.parent)) above.pop_back();
    const Open* parent = above.empty() ? nullptr : &above.back();
    Open here{e.id, e.last, e.op, parent ? parent->unknown : EventId{}, 0, 0};
    if (moves_grad_ && in_scope(e)) nodes_in_scope_ += s_.nodes_of(e.id).size();
    if (here.unknown) {
      if (is_call(e.kind) || e.kind == Kind::kMissingKernel) {
        ++answer_.calls;
        put(e, Outcome::kUnknown, 0, "", &here);
      }
    } else if (is_call(e.kind)) {
      call(e, &here);
    } else if (is_redispatch(e.kind)) {
      redispatch(e, parent, &here);
    } else if (e.kind == Kind::kMissingKernel) {
      failed_look_up(e, &here);
    }
    above.push_back(here);
  }
  remark(&answer_);
  return std::move(answer_);
}

}  // namespace

const char* outcome_name(WhatIfRow::Outcome o) {
  constexpr const char* names[] = {"changes", "raises", "layer", "unknown"};
  return names[static_cast<int>(o)];
}

WhatIfAnswer what_if(const Session& s, const WhatIf& w, const std::atomic<bool>* stop) { return Planner(s, w).run(stop); }

}  // namespace peel
