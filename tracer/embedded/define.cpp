// Definitions: what ids in the rings mean.
#include <map>

#include "core/dispatch/dispatcher.h"
#include "core/tensor/sparse.h"
#include "tracer/embedded/recorder.h"

namespace peel::embedded {
namespace {

using core::DispatchKey;
using wire::DefKind;

struct KnownOp {
  uint32_t id = 0;
  uint64_t version = 0;      // the dispatcher's, when its table was looked at
  std::string table;         // as it was written last
};
struct Known {
  uint32_t epoch = 0;
  std::unordered_map<std::string, uint32_t> strings;
  std::unordered_map<const core::OperatorEntry*, KnownOp> ops;
  uint32_t last_kernel = 0;
  std::unordered_map<const core::Kernel*, uint32_t> kernels;
  std::map<std::pair<const core::Kernel*, const core::OperatorEntry*>, uint32_t> shared_kernels;  // stand for several operators
  std::map<std::array<uint64_t, 3>, uint32_t> tls;
};
// After a fork everything is defined anew.
Known& known() {
  static Known& k = *new Known;
  if (k.epoch != process_epoch()) {
    k = Known();
    k.epoch = process_epoch();
  }
  return k;
}

template <class Def>
Def def(DefKind kind, size_t id, size_t count = 0) {
  Def d{};
  d.head.kind = kind;
  d.head.id = static_cast<uint32_t>(id);
  d.head.count = static_cast<uint32_t>(count);
  return d;
}
void name(DefKind kind, int id, std::string_view text) {
  auto d = def<wire::DefName>(kind, static_cast<uint32_t>(id));
  d.name = intern(text);
  arena().define(d);
}

// The rule by which a registration at that key fills slots.
const char* rule_of(DispatchKey k) {
  switch (k) {
    case DispatchKey::CompositeImplicitAutograd: return "math kernel";
    case DispatchKey::CompositeImplicitAutogradNestedTensor: return "nested kernel";
    case DispatchKey::CompositeExplicitAutograd:
    case DispatchKey::CompositeExplicitAutogradNonFunctional: return "default backend kernel";
    case DispatchKey::Autograd: return "autograd kernel";
    case DispatchKey::FuncTorchBatchedDecomposition: return "batched kernel";
    default: return "kernel";
  }
}

uint32_t define_kernel(uint32_t op, const core::Kernel& k, DispatchKey key, const char* rule) {
  const uint32_t id = ++known().last_kernel;
  auto d = def<wire::DefKernel>(DefKind::kKernel, id);
  d.op = op;
  d.key = static_cast<uint32_t>(key);
  d.rule = intern(rule);
  d.convention = (k.function.valid() ? wire::kBoxed : 0u) | (k.function.unboxed ? wire::kUnboxed : 0u);
  d.registered_at = intern(k.debug);
  d.fallthrough = k.function.is_fallthrough();
  arena().define(d);
  return id;
}

uint32_t own_kernel(uint32_t op, const core::Kernel& k, DispatchKey key, const char* rule) {
  const auto found = known().kernels.find(&k);
  if (found != known().kernels.end()) return found->second;
  const uint32_t id = define_kernel(op, k, key, rule);
  return known().kernels[&k] = id;
}

uint32_t slot_kernel(const core::OperatorEntry& e, uint32_t op, int slot, DispatchKey key, const core::Kernel& k) {
  switch (e.provenance(slot)) {
    case core::Provenance::kBackendFallback: return own_kernel(0, k, k.key == DispatchKey::Undefined ? key : k.key, "backend fallback");
    case core::Provenance::kAmbiguousAutogradOther: {
      uint32_t& id = known().shared_kernels[{&k, &e}];
      if (!id) id = define_kernel(op, k, key, core::to_string(core::Provenance::kAmbiguousAutogradOther));
      return id;
    }
    default: return own_kernel(op, k, k.key, rule_of(k.key));
  }
}

void define_table(const core::OperatorEntry& e, KnownOp& op) {
  for (const auto& [key, list] : e.registrations()) {
    for (const core::Kernel* k : list) own_kernel(op.id, *k, key, rule_of(key));
  }
  std::vector<wire::DefSlot> slots;
  const auto look = [&](DispatchKey k) {
    const int slot = core::slot_of(k);
    const core::Kernel* stored = e.slot(slot);
    if (!stored->function.valid()) return;
    const bool stale = e.computed(k).kernel != stored;
    slots.push_back({static_cast<uint32_t>(slot), slot_kernel(e, op.id, slot, k, *stored), stale, 0});
  };
  look(DispatchKey::Undefined);
  for (const DispatchKey k : core::DispatchKeySet::full()) look(k);
  std::vector<uint64_t> masks;
  if (e.masks().per_backend_needed()) {
    for (int b = 0; b < core::kBackends; ++b) masks.push_back(e.masks().for_backend(b).raw());
  } else {
    masks.push_back(e.masks().all().raw());
  }
  std::string table(reinterpret_cast<const char*>(slots.data()), slots.size() * sizeof(wire::DefSlot));
  table.append(reinterpret_cast<const char*>(masks.data()), masks.size() * 8);
  if (table == op.table) return;
  auto d = def<wire::DefTable>(DefKind::kTable, op.id, slots.size());
  d.mask_count = static_cast<uint32_t>(masks.size());
  d.time = op.table.empty() ? 0 : wire::ticks();
  arena().define(d, table.data(), table.size());
  op.table = std::move(table);
}

uint32_t argument_flags(const core::FunctionSchema& s, const core::Argument& a) {
  const bool written = (a.alias && a.alias->write) || (a.element_alias && a.element_alias->write);
  uint32_t flags = (written ? 1u : 0u) | (a.type.text().find("Tensor") != std::string::npos ? 2u : 0u) | (a.default_value ? 4u : 0u);
  if (a.alias) {
    for (const core::Argument& r : s.returns) flags |= r.alias && r.alias->before == a.alias->before ? 8u : 0u;
  }
  return flags;
}

}  // namespace

uint32_t intern(std::string_view s) {
  Known& k = known();
  const auto [it, fresh] = k.strings.try_emplace(std::string(s), static_cast<uint32_t>(k.strings.size() + 1));
  if (fresh) arena().define_string(it->second, s.data(), s.size());
  return it->second;
}

void fact(std::string_view key, std::string_view value) {
  auto d = def<wire::DefFact>(DefKind::kFact, 0);
  d.key = intern(key);
  d.value = intern(value);
  arena().define(d);
}

void define_keys() {
  for (int i = 0; i < core::kKeys; ++i) {
    const auto k = static_cast<DispatchKey>(i);
    auto d = def<wire::DefKey>(DefKind::kKey, static_cast<uint32_t>(i));
    d.functionality_bit = d.backend_bit = d.slot = -1;
    if (!core::is_alias(k) && k != DispatchKey::Undefined) {
      const uint64_t raw = core::DispatchKeySet(k).raw(), functionality = raw >> core::kBackends, backend = raw & ((1ull << core::kBackends) - 1);
      // Functionalities that exist per backend are no key of their own; nor are the markers between groups.
      if (!functionality || (core::is_per_backend(core::functionality_of(k)) && !backend)) continue;
      d.functionality_bit = core::kBackends + __builtin_ctzll(functionality);
      if (backend) d.backend_bit = __builtin_ctzll(backend);
    }
    if (!core::is_alias(k)) d.slot = k == DispatchKey::Undefined ? 0 : core::slot_of(k);
    d.name = intern(core::to_string(k));
    arena().define(d);
  }
#define PEEL_ONE(cpp, number, bytes, python) name(DefKind::kDtype, number, python);
  PEEL_SCALAR_TYPES(PEEL_ONE)
#undef PEEL_ONE
  for (const int device : {0, 1, 14}) name(DefKind::kDevice, device, core::to_string(core::Device{static_cast<uint8_t>(device), -1}));
  for (const core::Layout l : {core::Layout::Strided, core::Layout::Sparse, core::Layout::SparseCsr, core::Layout::SparseCsc, core::Layout::SparseBsr, core::Layout::SparseBsc}) {
    name(DefKind::kLayout, static_cast<int>(l), core::python_name(l));
  }
}

uint32_t define_op(const core::OperatorEntry& e) {
  KnownOp& op = known().ops[&e];
  const uint64_t now = core::Dispatcher::get().version();
  if (op.version == now) return op.id;
  if (!op.id) {
    op.id = static_cast<uint32_t>(known().ops.size());
    auto d = def<wire::DefOp>(DefKind::kOp, op.id);
    d.name = intern(e.name().name);
    d.overload = intern(e.name().overload);
    std::vector<wire::DefArgument> arguments;
    if (const core::FunctionSchema* s = e.schema()) {
      d.schema = intern(s->text());
      d.returns = static_cast<uint32_t>(s->returns.size());
      for (const core::Argument& a : s->arguments) arguments.push_back({intern(a.name), argument_flags(*s, a)});
    }
    d.head.count = static_cast<uint32_t>(arguments.size());
    arena().define(d, arguments.data(), arguments.size() * sizeof(wire::DefArgument));
  }
  define_table(e, op);
  op.version = now;
  return op.id;
}

uint32_t kernel_id(const core::OperatorEntry& e, const core::Kernel& k) {
  const auto found = known().kernels.find(&k);
  if (found != known().kernels.end()) return found->second;
  const auto shared = known().shared_kernels.find({&k, &e});
  return shared == known().shared_kernels.end() ? 0 : shared->second;
}

uint32_t define_stand_in(uint32_t op, DispatchKey key, std::string_view what) {
  core::Kernel k;
  k.debug = what;
  return define_kernel(op, k, key, "by hand");
}

core::LocalKeys keys_of(const Thread& t) {
  const core::LocalKeys l = core::local_keys();
  return {l.included | t.forced.included, l.excluded | t.forced.excluded};
}

uint32_t current_tls(const Thread& t) {
  const core::LocalKeys l = keys_of(t);
  const uint64_t flags = (core::grad_state.grad_mode ? 1u : 0u) | (core::grad_state.inference_mode ? 2u : 0u);
  const auto [it, fresh] = known().tls.try_emplace({l.included.raw(), l.excluded.raw(), flags}, static_cast<uint32_t>(known().tls.size() + 1));
  if (fresh) {
    auto d = def<wire::DefTls>(DefKind::kTls, it->second);
    d.included = l.included.raw();
    d.excluded = l.excluded.raw();
    d.grad_mode = flags & 1;
    d.inference_mode = flags >> 1 & 1;
    if (!l.excluded.has(DispatchKey::AutocastCPU)) d.modes = intern("autocast cpu BFloat16");
    arena().define(d);
  }
  return it->second;
}

}  // namespace peel::embedded
