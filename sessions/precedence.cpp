#include "sessions/precedence.h"

#include <algorithm>
#include <array>

namespace peel {
namespace {

using core::Alias;

constexpr std::array kAliases = {Alias::kAutograd, Alias::kCompositeImplicit, Alias::kBatchedDecomposition, Alias::kCompositeImplicitNested, Alias::kCompositeExplicit,
                                 Alias::kCompositeExplicitNonFunctional};
constexpr std::array<std::string_view, 5> kLooseBackends = {"FPGA", "Vulkan", "Metal", "CustomRNGKeyId", "MkldnnCPU"};

bool one_of(std::string_view text, std::initializer_list<std::string_view> all) { return std::find(all.begin(), all.end(), text) != all.end(); }

}  // namespace

KeyFamilies::KeyFamilies(const Session& s) {
  const Key* cpu = s.key_by_name("CPU");
  std::map<int, std::string> backends;
  for (const Key* k : s.keys()) {
    if (cpu && !k->alias() && k->functionality_bit == cpu->functionality_bit && k->backend_bit >= 0) backends[k->backend_bit] = k->name;
  }
  for (const Key* k : s.keys()) {
    if (k->alias()) {
      for (const Alias a : kAliases) {
        if (k->name == to_string(a)) aliases_[k->id] = a;
      }
      continue;
    }
    Parts p{k->id, k->name, "", false};
    if (const auto b = backends.find(k->backend_bit); k->backend_bit >= 0 && b != backends.end() && k->name.ends_with(b->second)) {
      p.backend = b->second;
      p.functionality.resize(p.functionality.size() - b->second.size());
    }
    p.loose_backend = std::find(kLooseBackends.begin(), kLooseBackends.end(), k->name) != kLooseBackends.end();
    parts_[k->id] = std::move(p);
  }
}

const KeyFamilies::Parts* KeyFamilies::parts(KeyId k) const {
  const auto it = parts_.find(k);
  return it == parts_.end() || k == 0 ? nullptr : &it->second;
}

KeyId KeyFamilies::named(std::string_view name) const {
  for (const auto& [id, p] : parts_) {
    if (p.functionality + p.backend == name) return id;
  }
  return 0;
}

bool KeyFamilies::is_backend(const Parts& p) const {
  return p.loose_backend || (!p.backend.empty() && one_of(p.functionality, {"", "Quantized", "Sparse", "SparseCsr"}));
}

bool KeyFamilies::is_autograd(const Parts& p) { return one_of(p.functionality, {"AutogradOther", "AutogradNestedTensor"}) || (p.functionality == "Autograd" && !p.backend.empty()); }

Alias KeyFamilies::alias_of(KeyId k) const {
  const auto it = aliases_.find(k);
  return it == aliases_.end() ? Alias::kNone : it->second;
}

KeyId KeyFamilies::key_of(Alias a) const {
  for (const auto& [id, alias] : aliases_) {
    if (alias == a) return id;
  }
  return 0;
}

bool KeyFamilies::includes(Alias a, KeyId k) const {
  const Parts* p = parts(k);
  if (!p) return false;
  const bool nested = p->functionality == "NestedTensor" && !p->backend.empty();
  switch (a) {
    case Alias::kNone: return false;
    case Alias::kAutograd: return is_autograd(*p);
    case Alias::kCompositeImplicit: return is_backend(*p) || is_autograd(*p) || nested;
    case Alias::kBatchedDecomposition: return p->functionality == "FuncTorchBatched";
    case Alias::kCompositeImplicitNested: return nested || p->functionality == "AutogradNestedTensor";
    case Alias::kCompositeExplicit: return is_backend(*p);
    case Alias::kCompositeExplicitNonFunctional: return is_backend(*p) && p->functionality != "Sparse" && !one_of(p->backend, {"XLA", "Lazy"});
  }
  return false;
}

KeyId KeyFamilies::autograd_of(KeyId backend) const {
  const Parts* p = parts(backend);
  if (!p || !is_backend(*p)) return 0;
  return named(p->backend.empty() || one_of(p->backend, {"HIP", "VE"}) ? "AutogradOther" : "Autograd" + p->backend);
}

bool KeyFamilies::is_behind(KeyId autograd, KeyId backend) const {
  const Parts *a = parts(autograd), *b = parts(backend);
  if (!a || !b) return false;
  if (a->functionality == "AutogradNestedTensor") return b->functionality == "NestedTensor" && !b->backend.empty();
  if (a->functionality == "AutogradOther") return is_backend(*b) && !b->functionality.empty();
  // Measured: nothing counts as being behind AutogradHIP, AutogradVE and AutogradMTIA.
  return a->functionality == "Autograd" && b->functionality.empty() && a->backend == b->backend && !one_of(a->backend, {"", "HIP", "VE", "MTIA"});
}

std::vector<KeyId> KeyFamilies::reached_by(KeyId k) const {
  const Alias a = alias_of(k);
  std::vector<KeyId> out;
  if (a == Alias::kNone) {
    out.push_back(k);
    if (const KeyId autograd = autograd_of(k)) out.push_back(autograd);
    return out;
  }
  for (const auto& [id, p] : parts_) {
    if (includes(a, id)) out.push_back(id);
  }
  if (a == Alias::kCompositeImplicit || a == Alias::kCompositeExplicit || a == Alias::kCompositeExplicitNonFunctional) out.push_back(0);
  return out;
}

struct KeyFamilies::Slot {
  const KeyFamilies& families;
  const KernelsByKey &registrations, &fallbacks;
  KeyId key;

  static KernelRef first(const KernelsByKey& all, KeyId k) {
    const auto it = all.find(k);
    return it == all.end() || it->second.empty() ? KernelRef{} : it->second.front();
  }
  KernelRef own() const { return first(registrations, key); }
  KernelRef fallback() const { return first(fallbacks, key); }
  KernelRef registered(Alias a) const {
    const KeyId k = families.key_of(a);
    return k ? first(registrations, k) : KernelRef{};
  }
  KernelRef error_kernel() const { return {KernelRef::Kind::kAmbiguous, {}, 0, false}; }
  bool undefined() const { return key == 0; }
  bool autograd_other() const { return key == families.named("AutogradOther"); }
  bool includes(Alias a) const { return families.includes(a, key); }
  bool backend_has_kernel() const {
    return std::any_of(registrations.begin(), registrations.end(), [this](const auto& r) { return !r.second.empty() && families.is_behind(key, r.first); });
  }
};

core::Entry<KernelRef> KeyFamilies::decide(const KernelsByKey& registrations, const KernelsByKey& fallbacks, KeyId k) const {
  return core::decide(Slot{*this, registrations, fallbacks, k});
}

KernelsByKey kernels_by_key(const Session& s, OpId op, EventId at, bool* known) {
  KernelsByKey out;
  const auto put = [&](KeyId key, KernelId id) {
    const Kernel* k = s.kernel(id);
    out[key].push_back({KernelRef::Kind::kRecorded, id, 0, k && k->fallthrough});
  };
  std::vector<Registration> rows = s.registrations(op, at);
  if (known) *known = !rows.empty();
  std::stable_sort(rows.begin(), rows.end(), [](const Registration& a, const Registration& b) { return a.position < b.position; });
  for (const Registration& r : rows) put(r.key, r.kernel);
  if (!rows.empty() || !op) return out;
  const std::vector<KernelId> all = s.kernels_of(op);
  for (size_t i = all.size(); i-- > 0;) {
    if (const Kernel* k = s.kernel(all[i])) put(k->key, all[i]);
  }
  return out;
}

}  // namespace peel
