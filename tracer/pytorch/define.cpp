// Definitions: what ids in the rings mean. Rare; under one mutex.
#include <ATen/FuncTorchTLS.h>
#include <ATen/autocast_mode.h>
#include <ATen/functorch/DynamicLayer.h>
#include <Python.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>

#include <string>
#include <unordered_map>

#include "tracer/pytorch/agent.h"

namespace peel::agent {
namespace {

using wire::DefKind;

struct Known {
  uint32_t process_epoch = 0;
  std::unordered_map<std::string, uint32_t> strings;
  std::unordered_map<std::string, uint32_t> plain_kernels;  // AnnotatedKernels that are not wrapped (fallthroughs), by address, key and place
  struct TlsKey {
    uint64_t included, excluded, flags;
    uint32_t modes;
    bool operator==(const TlsKey&) const = default;
  };
  struct TlsHash {
    size_t operator()(const TlsKey& k) const { return (k.included * 31 ^ k.excluded) * 31 ^ k.flags ^ k.modes; }
  };
  std::unordered_map<TlsKey, uint32_t, TlsHash> tls;
  struct StackKey {
    uint32_t parent, file, function, line;
    bool operator==(const StackKey&) const = default;
  };
  struct StackHash {
    size_t operator()(const StackKey& k) const { return ((k.parent * 0x9e3779b1ull ^ k.file) * 0x9e3779b1ull ^ k.function) * 0x9e3779b1ull ^ k.line; }
  };
  std::unordered_map<StackKey, uint32_t, StackHash> stacks;
  uint32_t next_op = 1, next_kernel = 1, next_tls = 1;
  uint64_t fallback_hash = 0;
  uint32_t fallback_epoch = 0;
};
/// Under the mutex. After a fork everything is defined anew.
Known& known() {
  static auto* k = new Known();
  if (k->process_epoch != g_process_epoch) {
    *k = Known();
    k->process_epoch = g_process_epoch;
  }
  return *k;
}

uint32_t intern_locked(std::string_view s) {
  Known& k = known();
  auto [it, fresh] = k.strings.try_emplace(std::string(s), static_cast<uint32_t>(k.strings.size() + 1));
  if (fresh) arena().define_string(it->second, s.data(), s.size());
  return it->second;
}

template <class Def>
Def def(DefKind kind, uint32_t id, uint32_t count = 0) {
  Def d{};
  d.head.kind = kind;
  d.head.id = id;
  d.head.count = count;
  return d;
}

void name_locked(DefKind kind, uint32_t id, std::string_view name) {
  auto d = def<wire::DefName>(kind, id);
  d.name = intern_locked(name);
  arena().define(d);
}

/// The rule by which a registration at that key fills slots (as _dispatch_dump_table words it).
const char* rule_of(c10::DispatchKey k) {
  switch (k) {
    case c10::DispatchKey::CompositeImplicitAutograd: return "math kernel";
    case c10::DispatchKey::CompositeImplicitAutogradNestedTensor: return "nested kernel";
    case c10::DispatchKey::CompositeExplicitAutograd:
    case c10::DispatchKey::CompositeExplicitAutogradNonFunctional: return "default backend kernel";
    case c10::DispatchKey::Autograd: return "autograd kernel";
    case c10::DispatchKey::FuncTorchBatchedDecomposition: return "batched kernel";
    default: return "kernel";
  }
}

uint32_t kernel_locked(const c10::impl::AnnotatedKernel& a, uint32_t op, c10::DispatchKey key, const char* rule) {
  Known& k = known();
  Wrapper* w = wrapper_of(a.kernel);
  if (w && w->process_epoch == g_process_epoch) return w->kernel_id;
  std::string identity;
  if (!w) {
    identity = std::to_string(reinterpret_cast<uintptr_t>(&a)) + ' ' + std::to_string(op) + ' ' + std::to_string(static_cast<int>(key)) + ' ' + a.debug;
    auto it = k.plain_kernels.find(identity);
    if (it != k.plain_kernels.end()) return it->second;
  }
  const uint32_t id = k.next_kernel++;
  auto d = def<wire::DefKernel>(DefKind::kKernel, id);
  const c10::KernelFunction& f = w ? w->original : a.kernel;
  d.op = op;
  d.key = static_cast<uint32_t>(key);
  d.rule = intern_locked(rule);
  d.convention = (f.isValid() ? wire::kBoxed : 0) | (f.unboxed_kernel_func_ ? wire::kUnboxed : 0) | (f.sym_unboxed_kernel_func_ ? wire::kSymInt : 0);
  d.registered_at = intern_locked(a.debug);
  d.fallthrough = f.isFallthrough();
  arena().define(d);
  if (w) w->kernel_id = id, w->process_epoch = g_process_epoch; else k.plain_kernels[identity] = id;
  return id;
}

uint64_t mix(uint64_t h, uint64_t x) { return (h ^ x) * 0x9e3779b97f4a7c15ull; }

void table_locked(OpInfo* op) {
  auto& e = *op->entry;
  auto& d = c10::Dispatcher::singleton();
  std::vector<wire::DefRegistration> registrations;
  std::unordered_map<const c10::impl::AnnotatedKernel*, uint32_t> ids;
  uint64_t hash = 1;
  for (auto& [key, list] : e.kernels_)
    for (auto& a : list) {
      const uint32_t id = ids[&a] = kernel_locked(a, op->id, key, rule_of(key));
      registrations.push_back({static_cast<uint32_t>(key), id});
    }
  // By key: the order of the operator's own map says nothing.
  std::stable_sort(registrations.begin(), registrations.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  for (const auto& r : registrations) hash = mix(hash, uint64_t{r.key} << 32 | r.kernel);
  std::vector<wire::DefSlot> slots;
  const auto look = [&](c10::DispatchKey k) {
    const int slot = c10::getDispatchTableIndexForDispatchKey(k);
    if (slot < 0 || !e.dispatchTable_[static_cast<size_t>(slot)].isValid()) return;
    const c10::KernelFunction& stored = e.dispatchTable_[static_cast<size_t>(slot)];
    auto [computed, rule] = e.computeDispatchTableEntryWithDebug(d, k);
    const bool same = stored.boxed_kernel_func_.functor_ == computed.kernel.boxed_kernel_func_.functor_ &&
                      stored.boxed_kernel_func_.boxed_kernel_func_ == computed.kernel.boxed_kernel_func_.boxed_kernel_func_;
    const bool fallback = !strcmp(rule, "backend fallback");
    const bool own = strcmp(rule, "ambiguous autogradother") != 0 && strcmp(rule, "missing") != 0;
    Wrapper* w = wrapper_of(stored);
    uint32_t kernel = 0;
    const auto known_as = ids.find(&computed);
    if (same && own && fallback) kernel = kernel_locked(computed, 0, k, rule);
    else if (same && known_as != ids.end()) kernel = known_as->second;
    else if (same) kernel = kernel_locked(computed, op->id, k, rule);
    else if (w && w->process_epoch == g_process_epoch) kernel = w->kernel_id;
    slots.push_back({static_cast<uint32_t>(slot), kernel, same ? 0u : 1u, 0});
    hash = mix(mix(hash, static_cast<uint64_t>(slot)), kernel * 2ull + (same ? 0 : 1));
  };
  look(c10::DispatchKey::Undefined);
  for (const c10::DispatchKey k : c10::DispatchKeySet(c10::DispatchKeySet::FULL)) look(k);
  std::vector<uint64_t> masks;
  const auto& x = e.dispatchKeyExtractor_;
  if (x.requiresBitsetPerBackend_) for (auto& m : x.nonFallthroughKeysPerBackend_) masks.push_back(m.raw_repr());
  else masks.push_back(x.nonFallthroughKeys_.raw_repr());
  for (uint64_t m : masks) hash = mix(hash, m);
  if (hash == op->table_hash) return;
  auto t = def<wire::DefTable>(DefKind::kTable, op->id, static_cast<uint32_t>(slots.size()));
  t.mask_count = static_cast<uint32_t>(masks.size());
  t.registration_count = static_cast<uint32_t>(registrations.size());
  t.time = op->table_hash == 0 ? 0 : wire::ticks();
  op->table_hash = hash;
  std::string tail(reinterpret_cast<const char*>(slots.data()), slots.size() * sizeof(wire::DefSlot));
  tail.append(reinterpret_cast<const char*>(masks.data()), masks.size() * 8);
  tail.append(reinterpret_cast<const char*>(registrations.data()), registrations.size() * sizeof(wire::DefRegistration));
  arena().define(t, tail.data(), tail.size());
}

void fallbacks_locked(uint32_t epoch) {
  Known& known_now = known();
  if (known_now.fallback_epoch == epoch) return;
  known_now.fallback_epoch = epoch;
  auto& all = c10::Dispatcher::singleton().backendFallbackKernels_;
  std::vector<wire::DefRegistration> registrations;
  uint64_t hash = 1;
  for (const c10::DispatchKey k : c10::DispatchKeySet(c10::DispatchKeySet::FULL)) {
    const int slot = c10::getDispatchTableIndexForDispatchKey(k);
    if (slot < 0 || !all[static_cast<size_t>(slot)].kernel.isValid()) continue;
    registrations.push_back({static_cast<uint32_t>(k), kernel_locked(all[static_cast<size_t>(slot)], 0, k, "backend fallback")});
    hash = mix(hash, uint64_t{registrations.back().key} << 32 | registrations.back().kernel);
  }
  if (hash == known_now.fallback_hash) return;
  auto t = def<wire::DefTable>(DefKind::kTable, 0);
  t.registration_count = static_cast<uint32_t>(registrations.size());
  t.time = known_now.fallback_hash == 0 ? 0 : wire::ticks();
  known_now.fallback_hash = hash;
  arena().define(t, registrations.data(), registrations.size() * sizeof(wire::DefRegistration));
}

// ---- operators by entry: open addressing, read without a lock
constexpr size_t kOps = 1 << 15;
std::atomic<OpInfo*> g_ops[kOps];

}  // namespace

std::string modes_text(uint64_t excluded) {
  std::string s;
  const auto add = [&](std::string_view x) { s += s.empty() ? "" : ", "; s += x; };
  const int64_t n = c10::impl::TorchDispatchModeTLS::stack_len();
  for (int64_t i = 0; i < n; i++) {
    const auto& mode = c10::impl::TorchDispatchModeTLS::get_stack_at(i);
    PyObject* o = reinterpret_cast<const c10::SafePyObject*>(mode.get())->data_;
    add(o ? Py_TYPE(o)->tp_name : "mode");
  }
  if (at::functorch::functorchTLSAccessor()) {
    for (const auto& layer : at::functorch::getDynamicLayerStack()) {
      static const char* const kNames[] = {"torch", "vmap", "grad", "jvp", "functionalize"};
      const auto kind = static_cast<size_t>(layer.key());
      add(std::string(kind < 5 ? kNames[kind] : "transform") + " level " + std::to_string(layer.layerId()));
    }
  }
  static constexpr struct { c10::DispatchKey key; at::DeviceType device; const char* name; } kCasts[] = {
      {c10::DispatchKey::AutocastCPU, at::kCPU, "cpu"}, {c10::DispatchKey::AutocastCUDA, at::kCUDA, "cuda"}};
  for (const auto& c : kCasts)
    if (!c10::DispatchKeySet(c10::DispatchKeySet::RAW, excluded).has(c.key))
      add(std::string("autocast ") + c.name + " " + c10::toString(at::autocast::get_autocast_dtype(c.device)));
  return s;
}

uint32_t intern(std::string_view s) {
  std::lock_guard<std::mutex> lock(definitions_mutex());
  return intern_locked(s);
}

uint32_t intern_stack(uint32_t parent, std::string_view file, std::string_view function, uint32_t line) {
  std::lock_guard<std::mutex> lock(definitions_mutex());
  const uint32_t file_id = intern_locked(file), function_id = intern_locked(function);
  Known& k = known();
  auto [it, fresh] = k.stacks.try_emplace({parent, file_id, function_id, line}, static_cast<uint32_t>(k.stacks.size() + 1));
  if (fresh) {
    auto d = def<wire::DefStack>(DefKind::kStack, it->second);
    d.parent = parent;
    d.file = file_id;
    d.function = function_id;
    d.line = line;
    arena().define(d);
  }
  return it->second;
}

void fact(std::string_view key, std::string_view value) {
  std::lock_guard<std::mutex> lock(definitions_mutex());
  auto d = def<wire::DefFact>(DefKind::kFact, 0);
  d.key = intern_locked(key);
  d.value = intern_locked(value);
  arena().define(d);
}

namespace {
constexpr int kDtypes = static_cast<int>(c10::ScalarType::NumOptions);
/// PyTorch makes a new string each time, and throws for what has no name.
template <class Name, class Nameless>
std::vector<std::string> names_of(int count, Name&& name, Nameless&& nameless) {
  std::vector<std::string> all;
  for (int i = 0; i < count; i++) {
    try {
      all.emplace_back(name(i));
    } catch (...) {
      all.emplace_back(nameless(i));
    }
  }
  return all;
}
}  // namespace

std::string_view dtype_name(c10::ScalarType type) {
  static const auto all = names_of(kDtypes, [](int i) { return c10::getDtypeNames(static_cast<c10::ScalarType>(i)).first; },
                                   [](int i) { return c10::toString(static_cast<c10::ScalarType>(i)); });
  return static_cast<size_t>(type) < all.size() ? all[static_cast<size_t>(type)] : std::string_view("?");
}
std::string_view device_name(c10::DeviceType type) {
  static const auto all = names_of(c10::COMPILE_TIME_MAX_DEVICE_TYPES, [](int i) { return c10::DeviceTypeName(static_cast<c10::DeviceType>(i), true); },
                                   [](int i) { return "device " + std::to_string(i); });
  return static_cast<size_t>(type) < all.size() ? all[static_cast<size_t>(type)] : std::string_view("?");
}

void define_keys() {
  std::lock_guard<std::mutex> lock(definitions_mutex());
  using c10::DispatchKey;
  for (uint32_t i = 0; i <= static_cast<uint32_t>(DispatchKey::EndOfAliasKeys); i++) {
    const auto k = static_cast<DispatchKey>(i);
    const bool alias = c10::isAliasDispatchKey(k);
    auto d = def<wire::DefKey>(DefKind::kKey, i);
    d.functionality_bit = d.backend_bit = d.slot = -1;
    if (!alias && k != DispatchKey::Undefined) {
      const uint64_t raw = c10::DispatchKeySet(k).raw_repr();
      const uint64_t functionality = raw >> c10::num_backends, backend = raw & ((1ull << c10::num_backends) - 1);
      if (functionality) d.functionality_bit = static_cast<int32_t>(c10::num_backends) + __builtin_ctzll(functionality);
      if (backend) d.backend_bit = __builtin_ctzll(backend);
      // Functionalities that exist per backend are no key of their own; nor are the markers between groups.
      if (!functionality || (c10::isPerBackendFunctionalityKey(c10::toFunctionalityKey(k)) && !backend)) continue;
    }
    if (!alias) d.slot = k == DispatchKey::Undefined ? 0 : c10::getDispatchTableIndexForDispatchKey(k);
    d.name = intern_locked(c10::toString(k));
    arena().define(d);
  }
  for (int i = 0; i < kDtypes; i++) name_locked(DefKind::kDtype, static_cast<uint32_t>(i), dtype_name(static_cast<c10::ScalarType>(i)));
  for (int i = 0; i < c10::COMPILE_TIME_MAX_DEVICE_TYPES; i++) name_locked(DefKind::kDevice, static_cast<uint32_t>(i), device_name(static_cast<c10::DeviceType>(i)));
  static const char* const kLayouts[] = {"strided", "sparse_coo", "sparse_csr", "mkldnn", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};
  for (uint32_t i = 0; i < 8; i++) name_locked(DefKind::kLayout, i, kLayouts[i]);
}

OpInfo* op_of(c10::impl::OperatorEntry* e) {
  const uintptr_t a = reinterpret_cast<uintptr_t>(e);
  size_t i = (a >> 4 ^ a >> 17) % kOps;
  for (size_t n = 0; n < kOps; n++, i = (i + 1) % kOps) {
    OpInfo* o = g_ops[i].load(std::memory_order_acquire);
    if (o && o->entry == e) return o;
    if (o) continue;
    auto* fresh = new OpInfo();
    fresh->entry = e;
    if (e->hasSchema()) {
      fresh->has_schema = true;
      const auto& s = e->schema();
      fresh->arguments = static_cast<uint16_t>(s.arguments().size());
      fresh->returns = static_cast<uint16_t>(s.returns().size());
      for (size_t k = 0; k < s.arguments().size() && k < 64; k++)
        if (const auto* alias = s.arguments()[k].alias_info(); alias && alias->isWrite()) fresh->written |= 1ull << k;
    }
    OpInfo* expected = nullptr;
    if (g_ops[i].compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) return fresh;
    delete fresh;
    if (expected->entry == e) return expected;
  }
  static auto* none = new OpInfo();
  return none;
}
OpInfo* op_of(const c10::OperatorHandle& h) { return op_of(&h.operatorDef_->op); }

void define_op(OpInfo* op) {
  const uint32_t epoch = g_epoch.load();
  std::lock_guard<std::mutex> lock(definitions_mutex());
  if (op->process_epoch != g_process_epoch) {
    op->table_hash = 0;
    Known& k = known();
    auto d = def<wire::DefOp>(DefKind::kOp, k.next_op++);
    const auto& name = op->entry->operator_name();
    d.name = intern_locked(name.name);
    d.overload = intern_locked(name.overload_name);
    std::vector<wire::DefArgument> args;
    if (op->entry->hasSchema()) {
      const auto& s = op->entry->schema();
      d.schema = intern_locked(c10::toString(s));
      d.returns = static_cast<uint32_t>(s.returns().size());
      for (const auto& a : s.arguments()) {
        const auto type = a.type()->annotation_str();
        uint32_t flags = (a.alias_info() && a.alias_info()->isWrite() ? 1 : 0) | (type.find("Tensor") != std::string::npos ? 2 : 0) | (a.default_value() ? 4 : 0);
        if (a.alias_info())
          for (const auto& r : s.returns())
            if (r.alias_info() && r.alias_info()->beforeSets() == a.alias_info()->beforeSets()) flags |= 8;
        args.push_back({intern_locked(a.name()), flags});
      }
    }
    d.head.count = static_cast<uint32_t>(args.size());
    op->id = d.head.id;
    arena().define(d, args.data(), args.size() * sizeof(wire::DefArgument));
    op->process_epoch = g_process_epoch;
  }
  // Someone is registering just now: the table is looked at again at this operator's next hop.
  std::unique_lock<std::mutex> tables(c10::Dispatcher::singleton().guard_->mutex, std::try_to_lock);
  if (!tables.owns_lock()) return;
  fallbacks_locked(epoch);
  table_locked(op);
  op->epoch.store(epoch);
}

uint32_t fallback_kernel_id(Wrapper* w) {
  if (__builtin_expect(w->process_epoch == g_process_epoch, 1)) return w->kernel_id;
  std::lock_guard<std::mutex> lock(definitions_mutex());
  auto& all = c10::Dispatcher::singleton().backendFallbackKernels_;
  for (size_t i = 0; i < all.size(); i++)
    if (wrapper_of(all[i].kernel) == w) return kernel_locked(all[i], 0, static_cast<c10::DispatchKey>(w->key), "backend fallback");
  return 0;
}

uint32_t intern_tls(Thread* t, uint64_t included, uint64_t excluded, uint64_t extra) {
  static const uint64_t with_modes = c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::FuncTorchDynamicLayerFrontMode}).raw_repr();
  const bool modes = (included & with_modes) != 0;
  auto& cached = t->tls[tls_slot(included, excluded, extra)];
  const std::string text = modes_text(excluded);
  std::lock_guard<std::mutex> lock(definitions_mutex());
  Known& k = known();
  const uint32_t text_id = text.empty() ? 0 : intern_locked(text);
  auto [it, fresh] = k.tls.try_emplace({included, excluded, extra, text_id}, k.next_tls);
  if (fresh) {
    auto d = def<wire::DefTls>(DefKind::kTls, k.next_tls++);
    d.included = included;
    d.excluded = excluded;
    d.grad_mode = extra & 1;
    d.inference_mode = extra >> 1 & 1;
    d.modes = text_id;
    arena().define(d);
  }
  if (!modes) cached = {included, excluded, extra, it->second};
  return it->second;
}

}  // namespace peel::agent
