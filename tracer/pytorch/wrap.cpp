// Putting wrappers over what is registered, and the test that comes before it.
//
// A registered KernelFunction is changed in place: its functor becomes a Wrapper (which keeps the original),
// its entry points our thunks. A table slot holds a copy of a registered kernel; each slot gets the wrapped
// form of exactly the kernel that it holds now, so that slots that PyTorch left stale stay so. Fallthroughs
// are never run and stay as they are; empty slots stay empty, so a missing kernel fails as it does in stock.
#include <ATen/ATen.h>
#include <torch/csrc/PyInterpreter.h>

#include <unordered_map>

#include "tracer/pytorch/agent.h"

namespace peel::agent {
namespace {

using c10::impl::OperatorEntry;

struct Thunks { void* unboxed; void* symint; bool (*matches)(const OperatorEntry&); Range call, redispatch; };
std::unordered_map<std::string, Thunks>& by_operator() {
  static auto* m = [] {
    auto* r = new std::unordered_map<std::string, Thunks>();
    for (const TypedThunks& t : typed_thunks())
      (*r)[std::string(t.name) + "." + t.overload] = {t.unboxed, t.symint, t.matches, call_site(t.structure, false), call_site(t.structure, true)};
    return r;
  }();
  return *m;
}

bool same(const c10::KernelFunction& a, const c10::KernelFunction& b) {
  return a.boxed_kernel_func_.functor_.get() == b.boxed_kernel_func_.functor_.get() &&
         a.boxed_kernel_func_.boxed_kernel_func_ == b.boxed_kernel_func_.boxed_kernel_func_ &&
         a.unboxed_kernel_func_ == b.unboxed_kernel_func_ && a.sym_unboxed_kernel_func_ == b.sym_unboxed_kernel_func_;
}

/// The original and where its wrapped form is.
struct Wrapped { const c10::KernelFunction* original; const c10::KernelFunction* now; };

/// Layers whose boxed kernels re-enter an operator by a fresh call, under other thread-local sets; all others
/// go on by redispatch. Seen on stock; decides only where the code and the sets leave both open.
bool calls_again(c10::DispatchKey k) {
  using c10::DispatchKey;
  switch (k) {
    case DispatchKey::FuncTorchDynamicLayerFrontMode:
    case DispatchKey::FuncTorchDynamicLayerBackMode:
    case DispatchKey::FuncTorchGradWrapper:
    case DispatchKey::FuncTorchBatched:
    case DispatchKey::FuncTorchBatchedDecomposition:
    case DispatchKey::FuncTorchVmapMode:
    case DispatchKey::BatchedNestedTensor:
    case DispatchKey::Batched:
    case DispatchKey::VmapMode:
    case DispatchKey::Functionalize:
    case DispatchKey::Python: return true;
    default: return false;
  }
}

void wrap(c10::KernelFunction& k, OpInfo* op, const Thunks* typed, uint16_t key, std::vector<Wrapped>* out) {
  if (!k.isValid() || k.isFallthrough() || wrapper_of(k)) return;
  auto w = c10::make_intrusive<Wrapper>();
  w->original = k;
  w->functor = k.boxed_kernel_func_.functor_.get();
  w->unboxed = k.unboxed_kernel_func_;
  w->symint = k.sym_unboxed_kernel_func_;
  w->op = op;
  w->key = key;
  w->calls_again = calls_again(static_cast<c10::DispatchKey>(key));
  k.unboxed_kernel_func_ = typed && w->unboxed ? typed->unboxed : nullptr;
  k.sym_unboxed_kernel_func_ = typed && w->symint ? typed->symint : nullptr;
  k.boxed_kernel_func_.boxed_kernel_func_ = &boxed_thunk;
  out->push_back({&w->original, &k});
  k.boxed_kernel_func_.functor_ = std::move(w);
}

std::vector<Wrapped>& wrapped_fallbacks() {
  static auto* v = new std::vector<Wrapped>();
  return *v;
}

/// Wraps what is new at an operator; says how many kernels that were.
size_t wrap_operator(OperatorEntry& e) {
  OpInfo* op = op_of(&e);
  const auto& name = e.operator_name();
  const Thunks* typed = nullptr;
  auto it = by_operator().find(name.name + "." + name.overload_name);
  if (it != by_operator().end()) {
    if (it->second.matches(e)) typed = &it->second;
    op->call_at = it->second.call.at, op->call_size = it->second.call.size;
    op->redispatch_at = it->second.redispatch.at, op->redispatch_size = it->second.redispatch.size;
  }
  if (!op->has_schema && e.hasSchema()) {  // met before it had one
    op->has_schema = true;
    op->arguments = static_cast<uint16_t>(e.schema().arguments().size());
    op->returns = static_cast<uint16_t>(e.schema().returns().size());
  }
  std::vector<Wrapped> fresh;
  for (auto& [key, list] : e.kernels_)
    for (auto& a : list) wrap(a.kernel, op, typed, static_cast<uint16_t>(key), &fresh);
  for (auto& slot : e.dispatchTable_) {
    if (!slot.isValid() || slot.isFallthrough() || wrapper_of(slot)) continue;
    const c10::KernelFunction* now = nullptr;
    for (const Wrapped& w : fresh) if (same(slot, *w.original)) now = w.now;
    if (!now) for (const Wrapped& w : wrapped_fallbacks()) if (same(slot, *w.original)) now = w.now;
    if (now) slot = *now;
  }
  return fresh.size();
}

size_t wrap_fallbacks() {
  auto& all = c10::Dispatcher::singleton().backendFallbackKernels_;
  const size_t before = wrapped_fallbacks().size();
  // The keys by slot, to say where each was registered.
  std::vector<uint16_t> key(all.size(), 0);
  for (const c10::DispatchKey k : c10::DispatchKeySet(c10::DispatchKeySet::FULL)) {
    const int slot = c10::getDispatchTableIndexForDispatchKey(k);
    if (slot >= 0) key[static_cast<size_t>(slot)] = static_cast<uint16_t>(k);
  }
  for (size_t i = 0; i < all.size(); i++) wrap(all[i].kernel, nullptr, nullptr, key[i], &wrapped_fallbacks());
  return wrapped_fallbacks().size() - before;
}

// ---- look-ups that fail
//
// OperatorEntry::reportError asks a callback object first. Ours belongs to a Python interpreter object whose
// table of virtual functions is a copy of the real one, but for two entries: giving it back does nothing, and
// reporting records the failed look-up, takes the callback away and lets PyTorch report the error as ever.

struct MissingHook {
  const void* vtable[2 + 64];
  struct Table { const void* const* pointer; } table;
  c10::impl::PyInterpreter interpreter;
};

void missing_kernel(OperatorEntry& e, c10::DispatchKey key) {
  const uint32_t detail = g_detail.load(std::memory_order_relaxed);
  Thread* t = detail == kOff ? nullptr : this_thread();
  if (!t || t->depth >= kMaxDepth) return;
  OpInfo* op = op_of(&e);
  record_missing(t, op, key);
}

void on_missing(const void*, PyObject* callback, c10::DispatchKey key) {
  auto& e = *reinterpret_cast<OperatorEntry*>(callback);
  auto mine = std::move(e.report_error_callback_);
  missing_kernel(e, key);
  try {
    e.reportError(key);
  } catch (...) {
    if (!e.report_error_callback_) e.report_error_callback_ = std::move(mine);
    throw;
  }
}
void do_nothing(const void*) {}

template <class Member>
size_t vtable_index(Member m) {  // Itanium ABI: 1 + offset in the table
  uintptr_t words[2];
  static_assert(sizeof m == sizeof words);
  __builtin_memcpy(words, &m, sizeof words);
  return (words[0] - 1) / sizeof(void*);
}

MissingHook* missing_hook() {
  static MissingHook* hook = []() -> MissingHook* {
    c10::impl::PyInterpreter* real = getPyInterpreter();
    if (!real || !real->vtable_) return nullptr;
    auto* h = static_cast<MissingHook*>(calloc(1, sizeof(MissingHook)));
    const void* const* virtuals = *reinterpret_cast<const void* const* const*>(real->vtable_);
    for (size_t i = 0; i < 2 + 40; i++) h->vtable[i] = virtuals[static_cast<ptrdiff_t>(i) - 2];
    h->vtable[2 + vtable_index(&c10::impl::PyInterpreterVTable::decref)] = reinterpret_cast<const void*>(&do_nothing);
    h->vtable[2 + vtable_index(&c10::impl::PyInterpreterVTable::incref)] = reinterpret_cast<const void*>(&do_nothing);
    h->vtable[2 + vtable_index(&c10::impl::PyInterpreterVTable::reportErrorCallback)] = reinterpret_cast<const void*>(&on_missing);
    h->table.pointer = h->vtable + 2;
    h->interpreter.vtable_ = reinterpret_cast<const c10::impl::PyInterpreterVTable*>(&h->table);
    return h;
  }();
  return hook;
}

void hook_missing(OperatorEntry& e) {
  if (MissingHook* h = missing_hook(); h && !e.report_error_callback_)
    e.report_error_callback_ = std::make_unique<c10::SafePyObject>(reinterpret_cast<PyObject*>(&e), &h->interpreter);
}

}  // namespace

const void* entry_signature(const OperatorEntry& e, bool symint) {
  const auto& s = symint ? e.sym_cpp_signature_ : e.cpp_signature_;
  if (!s) return nullptr;
  // std::type_index holds nothing but the type_info's address.
  static_assert(sizeof(s->signature.signature_) == sizeof(const std::type_info*));
  const std::type_info* t;
  __builtin_memcpy(&t, &s->signature.signature_, sizeof t);
  return t;
}

std::vector<TypedThunks>& typed_thunks() {
  static auto* v = new std::vector<TypedThunks>();
  return *v;
}

Wrapper* wrapper_of(const c10::KernelFunction& k) {
  return k.boxed_kernel_func_.boxed_kernel_func_ == &boxed_thunk ? static_cast<Wrapper*>(k.boxed_kernel_func_.functor_.get()) : nullptr;
}

std::string self_test() {
  using c10::DispatchKey;
  auto& d = c10::Dispatcher::singleton();
  find_call_sites();
  if (typed_thunks().size() < 1000) return "the agent has too few typed wrappers";
  size_t checked = 0, matching = 0, placed = 0;
  for (const char* overload : {"Tensor", "out", "Scalar"}) {
    auto h = d.findOp({"aten::add", overload});
    if (!h) return "aten::add is not registered";
    const auto& e = h->operatorDef_->op;
    if (e.name_.name != "aten::add" || e.name_.overload_name != overload) return "an operator's name is not where it should be";
    if (!e.schema_ || e.schema().arguments().size() < 3) return "an operator's schema is not where it should be";
    // every registration must be found in the table that is computed from it, by the layout as compiled
    for (const auto& [key, list] : e.kernels_) {
      if (list.empty() || static_cast<uint32_t>(key) > static_cast<uint32_t>(DispatchKey::EndOfAliasKeys)) return "registrations are not where they should be";
      const auto& k = list.front().kernel;
      if (!k.isValid() || c10::isAliasDispatchKey(key) || key == DispatchKey::Undefined) continue;
      const auto& slot = e.dispatchTable_[static_cast<size_t>(c10::getDispatchTableIndexForDispatchKey(key))];
      if (!same(slot, k)) return "the dispatch table is not where it should be";
      ++checked;
    }
    const auto it = by_operator().find(std::string("aten::add.") + overload);
    if (it == by_operator().end()) return "aten::add has no typed wrapper";
    matching += it->second.matches(e);
    placed += it->second.call.size && it->second.redispatch.size;
  }
  if (checked == 0) return "no registration could be checked against its table slot";
  if (matching != 3) return "C++ signatures differ from those that PyTorch recorded";
  if (placed != 3) return "the entry points of operators are not among PyTorch's symbols";
  // A copy of a kernel, wrapped, must give what the kernel gives, boxed and unboxed; nothing of PyTorch is changed.
  auto h = d.findOp({"aten::add", "Tensor"});
  auto& e = h->operatorDef_->op;
  c10::KernelFunction copy = e.dispatchTable_[static_cast<size_t>(c10::getDispatchTableIndexForDispatchKey(DispatchKey::CPU))];
  std::vector<Wrapped> fresh;
  OpInfo* op = op_of(&e);
  wrap(copy, op, &by_operator()["aten::add.Tensor"], static_cast<uint16_t>(DispatchKey::CPU), &fresh);
  if (fresh.size() != 1) return "a kernel could not be wrapped";
  at::AutoDispatchBelowADInplaceOrView below;
  const at::Tensor a = at::arange(4, at::kFloat), b = at::ones({4}, at::kFloat);
  const c10::DispatchKeySet cpu(DispatchKey::CPU);
  const c10::TypedOperatorHandle<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)> typed = h->typed<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&)>();
  const at::Tensor unboxed = copy.call<at::Tensor, const at::Tensor&, const at::Tensor&, const at::Scalar&>(typed, cpu, a, b, at::Scalar(2));
  torch::jit::Stack stack{a, b, at::Scalar(2)};
  copy.callBoxed(*h, cpu, &stack);
  const at::Tensor boxed = stack.at(0).toTensor();
  for (int i = 0; i < 4; i++)
    if (unboxed.data_ptr<float>()[i] != static_cast<float>(i + 2) || boxed.data_ptr<float>()[i] != static_cast<float>(i + 2)) return "a wrapped kernel gave another result";
  return "";
}

std::string wrap_all() {
  const uint64_t start = wire::monotonic_ns();
  auto& d = c10::Dispatcher::singleton();
  // Told of every operator there is, and of later ones as they get their schema. Stays for the life of the process.
  struct Listener : c10::OpRegistrationListener {
    void onOperatorRegistered(const c10::OperatorHandle& op) override { hook_missing(op.operatorDef_->op); }
    void onOperatorDeregistered(const c10::OperatorHandle&) override {}
  };
  static auto* listening = new c10::RegistrationHandleRAII(d.addRegistrationListener(std::make_unique<Listener>()));
  (void)listening;
  std::lock_guard<std::mutex> lock(d.guard_->mutex);
  size_t kernels = 0, operators = 0;
  const size_t fallbacks = wrap_fallbacks();
  for (auto& def : d.operators_) kernels += wrap_operator(def.op), ++operators;
  char text[160];
  snprintf(text, sizeof text, "%zu kernels of %zu operators, %zu fallbacks, %.0f ms", kernels, operators, fallbacks, static_cast<double>(wire::monotonic_ns() - start) / 1e6);
  return text;
}

void wrap_new(std::string_view name) {
  auto& d = c10::Dispatcher::singleton();
  std::lock_guard<std::mutex> lock(d.guard_->mutex);
  if (!name.empty()) {
    const size_t dot = name.find('.');
    const c10::OperatorName wanted(std::string(name.substr(0, dot)), dot == std::string_view::npos ? "" : std::string(name.substr(dot + 1)));
    if (auto h = d.findOp(wanted)) {
      wrap_operator(h->operatorDef_->op);
      // seen again at its next hop, and only this operator
      op_of(*h)->epoch.store(0);
      return;
    }
  }
  wrap_fallbacks();
  for (auto& def : d.operators_) wrap_operator(def.op);
  g_epoch.fetch_add(1);
}

}  // namespace peel::agent
