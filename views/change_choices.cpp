#include "views/change_choices.h"

#include <algorithm>

#include "sessions/show.h"

namespace peel::views {
namespace {

const Key* key_of_slot(const Session& s, int slot) {
  for (const Key* k : s.keys()) if (!k->alias() && k->slot == slot) return k;
  return nullptr;
}

std::string kernel_note(const Session& s, KernelId id) {
  const Kernel* k = s.kernel(id);
  return k ? k->rule + ", " + place_brief(k->registered_at) : "";
}

/// Tensors that it returns as it was given them, to write: they can't be others.
bool returns_what_it_writes(const Op& op) {
  return std::any_of(op.arguments.begin(), op.arguments.end(), [](const Op::Argument& a) { return (a.flags & 9) == 9; });
}

}  // namespace

std::vector<ChangeChoice> change_choices(const Session& s, const Stop& stop) {
  std::vector<ChangeChoice> out;
  const Event e = s.event(stop.event);
  if (!e.op || e.kind == Kind::kBackwardNode) return out;
  const Op& op = s.op(e.op);
  const bool writes = returns_what_it_writes(op), returns_tensor = op.schema.find("-> Tensor") != std::string::npos;
  if (stop.after) {
    if (returns_tensor && !writes && e.kind != Kind::kMissingKernel) out.push_back({"return zeros", "instead of its result"}), out.push_back({"return ones", "instead of its result"});
    return out;
  }
  const KeyMath math(s);
  const auto table = s.table(e.op, e.id);
  const auto holds = [&](KeyId k) -> const Slot* {
    const Key* key = s.key(k);
    for (const Slot& slot : table) if (key && slot.slot == key->slot) return &slot;
    return nullptr;
  };
  const uint64_t set = s.keyset(e.keyset).raw;
  std::vector<KeyId> keys = math.keys(set);
  std::reverse(keys.begin(), keys.end());
  std::stable_partition(keys.begin(), keys.end(), [&](KeyId k) { return k == e.key; });
  for (const KeyId k : keys) {
    const Key* key = s.key(k);
    if (!key) continue;
    ChangeChoice c{"exclude " + key->name, ""};
    if (k == e.key) {
      const KeyId next = math.highest(math.minus(set, math.bits(k)) & s.mask(e.op, e.id, math.backend_index(set)));
      const Key* to = s.key(next);
      const Slot* slot = holds(next);
      c.note = (to && next ? "goes to " + to->name : std::string("no key is left")) + (slot ? ": " + kernel_note(s, slot->kernel) : ": no kernel there");
    } else {
      c.note = "stays here; what its kernel hands on lacks it";
    }
    out.push_back(std::move(c));
  }
  for (const Slot& slot : table) {
    const Kernel* kernel = s.kernel(slot.kernel);
    const Key* key = key_of_slot(s, slot.slot);
    if (!kernel || kernel->fallthrough || !key || slot.slot == 0 || key->id == e.key || kernel->rule == "backend fallback") continue;
    const Key* here = s.key(e.key);
    const bool same_device = here && (key->backend_bit < 0 || here->backend_bit < 0 || key->backend_bit == here->backend_bit || key->name == "Meta");
    if (same_device && slot.kernel != e.kernel) out.push_back({"kernel " + key->name, kernel_note(s, slot.kernel)});
  }
  for (size_t i = 0; i < op.arguments.size(); ++i) {
    if ((op.arguments[i].flags & 2) == 0 || (writes && (op.arguments[i].flags & 9) != 9)) continue;
    out.push_back({"return " + op.arguments[i].name, writes ? "left unwritten: no kernel runs" : "no kernel runs"});
    break;
  }
  if (returns_tensor && !writes) out.push_back({"return zeros", "no kernel runs; shaped as its result would be, where that is known before"});
  return out;
}

}  // namespace peel::views
