// The recording path: what happens at the begin and end of a hop.
#include <ATen/SequenceNumber.h>
#include <cxxabi.h>
#include <unwind.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/variable.h>

#include "tracer/pytorch/agent.h"

namespace peel::agent {

using wire::Head;
using wire::RecordKind;
using wire::words_of;

std::atomic<uint32_t> g_detail{kOff};
std::atomic<uint32_t> g_epoch{1};

namespace {

constexpr uint16_t kWords(size_t bytes) { return static_cast<uint16_t>(bytes / 8); }

// ---- places in the code from which kernels are entered, by return address
struct Site {
  std::atomic<uintptr_t> at{0};
  std::atomic<uint8_t> target{0};    // what its call instruction names: kCallEntry, kRedispatchEntry, kOtherEntry; 0 = not looked at
  std::atomic<uint8_t> evidence{0};  // bit 0: a call beyond doubt came from here; bit 1: a redispatch
  std::atomic<int32_t> frame{0};     // bytes from its place on the stack to its own function's return address; 0 = unknown, -1 = can't be told
};
constexpr uint8_t kCallEntry = 1, kRedispatchEntry = 2, kOtherEntry = 3;
constexpr size_t kSites = 1 << 14;
Site g_sites[kSites];
Site* site(const void* address) {
  const uintptr_t a = reinterpret_cast<uintptr_t>(address);
  size_t i = (a * 0x9e3779b97f4a7c15ull) >> 50;
  for (size_t n = 0; n < 16; n++, i = (i + 1) % kSites) {
    uintptr_t there = g_sites[i].at.load(std::memory_order_relaxed);
    if (there == 0) g_sites[i].at.compare_exchange_strong(there, a);
    if (there == a || g_sites[i].at.load(std::memory_order_relaxed) == a) return &g_sites[i];
  }
  return nullptr;
}
static_assert(kSites == 1 << (64 - 50));

/// How far up the stack the function that `address` returns into keeps its own return address. The same for
/// every visit of one place, so the unwinder is asked once.
int32_t frame_of(const void* const* place) {
  struct Search { const void* address; uintptr_t inner; int32_t result; } search{*place, 0, -1};
  _Unwind_Backtrace([](_Unwind_Context* c, void* p) {
    auto* s = static_cast<Search*>(p);
    // The canonical frame address of a context is that of the frame inside it: just past the return address into it.
    if (s->inner) {
      const intptr_t distance = static_cast<intptr_t>(_Unwind_GetCFA(c) - s->inner);
      if (distance > 0 && distance < 1 << 16) s->result = static_cast<int32_t>(distance);
      return _URC_END_OF_STACK;
    }
    if (reinterpret_cast<const void*>(_Unwind_GetIP(c)) == s->address) s->inner = _Unwind_GetCFA(c);
    return _URC_NO_REASON;
  }, &search);
  return search.result;
}

/// Where the direct call before a return address goes, through one jump of a procedure linkage table. When
/// at::_ops::X::redispatch ends in a jump to the kernel, the return address is its caller's, and this is
/// how it is known all the same. 0 = not a direct call.
uintptr_t called_function(const void* return_address) {
#if defined(__x86_64__)
  const auto* after = static_cast<const uint8_t*>(return_address);
  const auto relative = [](const uint8_t* at) {
    int32_t d;
    __builtin_memcpy(&d, at, 4);
    return reinterpret_cast<uintptr_t>(at) + 4 + static_cast<uintptr_t>(static_cast<intptr_t>(d));
  };
  const auto slot = [](uintptr_t at) { return is_mapped(at) ? *reinterpret_cast<const uintptr_t*>(at) : 0; };
  if (after[-6] == 0xff && after[-5] == 0x15) return slot(relative(after - 4));
  if (after[-5] != 0xe8) return 0;
  const auto* to = reinterpret_cast<const uint8_t*>(relative(after - 4));
  if (!is_mapped(reinterpret_cast<uintptr_t>(to))) return 0;
  const uint8_t* code = to;
  if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) code += 4;  // endbr64
  if (code[0] == 0xf2) code++;                                                              // bnd
  if (code[0] == 0xff && code[1] == 0x25) return slot(relative(code + 2));
  return reinterpret_cast<uintptr_t>(to);
#elif defined(__aarch64__)
  const auto* after = static_cast<const uint32_t*>(return_address);
  if ((after[-1] >> 26) != 0x25) return 0;  // bl
  const auto* to = after - 1 + (static_cast<int32_t>(after[-1] << 6) >> 6);
  if (!is_mapped(reinterpret_cast<uintptr_t>(to))) return 0;
  // adrp x16, page; ldr x17, [x16, #offset]; add; br x17
  if ((to[0] & 0x9f00001f) != 0x90000010 || (to[1] & 0xffc003ff) != 0xf9400211) return reinterpret_cast<uintptr_t>(to);
  const int64_t pages = (static_cast<int64_t>(static_cast<int32_t>(to[0] << 8) >> 13) << 2) | (to[0] >> 29 & 3);
  const uintptr_t page = (reinterpret_cast<uintptr_t>(to) & ~uintptr_t{4095}) + static_cast<uintptr_t>(pages * 4096);
  const uintptr_t slot = page + (to[1] >> 10 & 4095) * 8;
  return is_mapped(slot) ? *reinterpret_cast<const uintptr_t*>(slot) : 0;
#else
  return 0;
#endif
}

const uint64_t kPythonBits = c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::FuncTorchDynamicLayerFrontMode}).raw_repr();

uint32_t current_tls(Thread* t) {
  const uint64_t included = t->keysets->included_ ^ c10::default_included_set.raw_repr();
  const uint64_t excluded = t->keysets->excluded_ ^ c10::default_excluded_set.raw_repr();
  uint64_t extra = (t->autograd->get_grad_mode() ? 1u : 0u) | (t->autograd->get_inference_mode() ? 2u : 0u);
  // While Python modes or transforms are active, what they are may change without a change of the words.
  if (__builtin_expect(!(included & kPythonBits), 1)) {
    const Thread::CachedTls& c = t->tls[tls_slot(included, excluded, extra)];
    if (c.included == included && c.excluded == excluded && c.extra == extra && c.id) return c.id;
  }
  return intern_tls(t, included, excluded, extra);
}

uint16_t tensor_flags(const c10::TensorImpl* i, const torch::autograd::AutogradMeta* m) {
  uint16_t f = 0;
  if (m) {
    if (m->grad_fn_) f |= wire::kHasGradFn | wire::kRequiresGrad;
    else if (m->requires_grad_) f |= wire::kRequiresGrad | wire::kLeaf;
  }
  if (i->is_wrapped_number_) f |= wire::kWrappedNumber;
  const auto ks = i->key_set_;
  if (!ks.has_any(c10::inplace_or_view_ks) && !ks.has_any(c10::autograd_dispatch_keyset)) f |= wire::kInference;
  if (ks.has(c10::DispatchKey::Conjugate)) f |= wire::kConj;
  if (ks.has(c10::DispatchKey::Negative)) f |= wire::kNeg;
  return f;
}

inline uint8_t layout_of(const c10::TensorImpl* i) {
  const auto ks = i->key_set_;
  if (__builtin_expect(!ks.has_any(c10::sparse_ks | c10::sparse_csr_ks | c10::mkldnn_ks), 1)) return static_cast<uint8_t>(c10::Layout::Strided);
  try {
    return static_cast<uint8_t>(i->layout());
  } catch (...) {
    return static_cast<uint8_t>(c10::Layout::Sparse);
  }
}

inline size_t dims_of(const c10::TensorImpl* i) { return i->has_symbolic_sizes_strides_ ? 0 : std::min<size_t>(i->sizes_and_strides_.size(), 64); }

void write_tensor(Thread* t, uint32_t place, c10::TensorImpl* i, uint16_t flags) {
  const uint32_t words = tensor_words(i);
  uint64_t* at = t->ring.reserve(words);
  if (!at) return;
  describe_tensor(reinterpret_cast<wire::Tensor*>(at), words, place, i, flags);
  t->ring.publish(words);
}

void write_undefined(Thread* t, uint32_t place) {
  const uint32_t words = kWords(sizeof(wire::Tensor));
  uint64_t* at = t->ring.reserve(words);
  if (!at) return;
  auto* r = reinterpret_cast<wire::Tensor*>(at);
  __builtin_memset(at, 0, sizeof *r);
  r->head = {RecordKind::kTensor, static_cast<uint16_t>(words), place};
  r->version = wire::kNoVersion;
  r->flags = wire::kUndefined | wire::kNoSizes;
  t->ring.publish(words);
}

inline bool is_undefined(const c10::TensorImpl* i) { return i == static_cast<const c10::TensorImpl*>(c10::UndefinedTensorImpl::singleton()); }
inline torch::autograd::AutogradMeta* meta_of(const c10::TensorImpl* i) { return static_cast<torch::autograd::AutogradMeta*>(i->autograd_meta_.get()); }

}  // namespace

uint16_t flags_of(const c10::TensorImpl* i) { return tensor_flags(i, meta_of(i)); }

/// 64 bytes and 16 a dimension.
uint32_t tensor_words(const c10::TensorImpl* i) { return kWords(sizeof(wire::Tensor)) + static_cast<uint32_t>(dims_of(i)) * 2; }

void describe_tensor(wire::Tensor* r, uint32_t words, uint32_t place, c10::TensorImpl* i, uint16_t flags) {
  const bool symbolic = i->has_symbolic_sizes_strides_;
  const size_t dims = dims_of(i);
  const bool strides = !i->key_set_.has_any(c10::sparse_ks | c10::sparse_csr_ks);
  r->head = {RecordKind::kTensor, static_cast<uint16_t>(words), place};
  r->impl = reinterpret_cast<uintptr_t>(i);
  const c10::StorageImpl* storage = i->storage_.unsafeGetStorageImpl();
  r->storage = reinterpret_cast<uintptr_t>(storage);
  r->data = storage ? reinterpret_cast<uintptr_t>(storage->data_ptr_.get()) : 0;
  r->keyset = i->key_set_.raw_repr();
  r->version = version_of(i);
  r->flags = static_cast<uint16_t>(flags | (symbolic ? wire::kNoSizes : 0));
  r->dtype = static_cast<uint8_t>(i->data_type_.toScalarType());
  r->ndim = static_cast<uint8_t>(dims);
  r->device_type = i->device_opt_ ? static_cast<uint8_t>(i->device_opt_->type()) : 0xff;
  r->device_index = i->device_opt_ ? i->device_opt_->index() : static_cast<int8_t>(-1);
  r->layout = layout_of(i);
  int64_t* sizes = reinterpret_cast<int64_t*>(r + 1);
  for (size_t d = 0; d < dims; d++) {
    sizes[d] = i->sizes_and_strides_.size_at_unchecked(d);
    sizes[dims + d] = strides ? i->sizes_and_strides_.stride_at_unchecked(d) : 0;
  }
}

uint64_t computed_keyset(const OpInfo* op, const Thread* t, uint64_t arguments) {
  const auto& x = op->entry->dispatchKeyExtractor_;
  using Set = c10::DispatchKeySet;
  const Set included(Set::RAW, t->keysets->included_ ^ c10::default_included_set.raw_repr());
  const Set excluded(Set::RAW, t->keysets->excluded_ ^ c10::default_excluded_set.raw_repr());
  const Set set = (Set(Set::RAW, arguments) | included) - excluded;
  return (set & (x.requiresBitsetPerBackend_ ? x.nonFallthroughKeysPerBackend_[set.getBackendIndex()] : x.nonFallthroughKeys_)).raw_repr();
}

/// What the code says: whether this operator's `call` or `redispatch` entered the kernel. It did when the
/// return address lies in it, or follows a call of it (the entry point ended in a jump), or when one of the
/// next few functions up the stack is it (PyTorch's own helpers lie between). 0 = neither.
static int entry_of(const OpInfo* op, const void* const* place, const void* const* outer) {
  for (int level = 0; level < 4 && (!outer || place < outer); level++) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(*place);
    if (at - op->redispatch_at < op->redispatch_size) return kRedispatchEntry;
    if (at - op->call_at < op->call_size) return kCallEntry;
    Site* s = site(*place);
    if (!s) return 0;
    uint8_t target = s->target.load(std::memory_order_relaxed);
    if (target == 0) {
      const uintptr_t to = called_function(*place);
      target = to && to == op->call_at ? kCallEntry : to && to == op->redispatch_at ? kRedispatchEntry : kOtherEntry;
      s->target.store(target, std::memory_order_relaxed);
    }
    if (target != kOtherEntry) return target;
    int32_t frame = s->frame.load(std::memory_order_relaxed);
    if (frame == 0) s->frame.store(frame = frame_of(place), std::memory_order_relaxed);
    if (frame < 0) return 0;
    place = reinterpret_cast<const void* const*>(reinterpret_cast<const char*>(place) + frame);
  }
  return 0;
}

/// Call or redispatch, by the first that decides: what the code says (entry_of); the key set can only be a
/// call's (it equals what a call would compute) or only a redispatch's (it lies below the caller's of the same
/// operator); what else came from the same place; what the caller's fallback is known to do.
static wire::HopKind kind_of(const Frame* parent, const OpInfo* op, uint64_t keyset, uint64_t arguments, const void* const* caller, bool boxed, bool* inferred, Thread* t) {
  using wire::HopKind;
  const uintptr_t at = reinterpret_cast<uintptr_t>(*caller);
  if (at - op->redispatch_at < op->redispatch_size) return HopKind::kRedispatch;
  if (at - op->call_at < op->call_size) return HopKind::kCall;
  if (const int entry = op->call_at ? entry_of(op, caller, parent ? parent->caller : nullptr) : 0) return entry == kCallEntry ? HopKind::kCall : HopKind::kRedispatch;
  const HopKind call = boxed ? HopKind::kCallBoxed : HopKind::kCall, again = boxed ? HopKind::kRedispatchBoxed : HopKind::kRedispatch;
  Site* s = site(*caller);
  const bool can_call = computed_keyset(op, t, arguments) == keyset;
  const bool can_redispatch = parent && parent->op == op && (keyset & ~parent->keyset) == 0 && keyset >> 16 < parent->keyset >> 16;
  if (can_call != can_redispatch) {
    if (s) s->evidence.fetch_or(can_call ? 1 : 2, std::memory_order_relaxed);
    return can_call ? call : again;
  }
  const uint8_t evidence = s ? s->evidence.load(std::memory_order_relaxed) : 0;
  if (evidence == 1) return call;
  if (evidence == 2) return again;
  *inferred = true;
  if (!can_call) return again;  // a set handed in from outside (torch._C's redispatch with a set of its own)
  return parent->fallback_calls ? call : again;
}

/// The key whose kernel runs: the highest of the set, but for calls that name another key than the set's
/// (callBoxedForDispatchKey, by which the Python dispatcher goes on): then the highest whose slot holds the kernel.
static uint16_t landed_at(const OpInfo* op, const Wrapper* w, uint64_t keyset, bool boxed) {
  c10::DispatchKeySet set(c10::DispatchKeySet::RAW, keyset);
  const c10::DispatchKey highest = set.highestPriorityTypeId();
  if (!boxed) return static_cast<uint16_t>(highest);
  for (c10::DispatchKey k = highest; k != c10::DispatchKey::Undefined; k = set.highestPriorityTypeId()) {
    const int slot = set.getDispatchTableIndexForDispatchKeySet();
    if (slot >= 0 && op->entry->dispatchTable_[static_cast<size_t>(slot)].boxed_kernel_func_.functor_.get() == w) return static_cast<uint16_t>(k);
    set = set.remove(k);
  }
  return static_cast<uint16_t>(highest);
}

Frame* begin_hop(Thread* t, WrapperBase* base, OpInfo* op, uint64_t keyset, const Look& l, const void* const* caller, bool boxed, bool* values) {
  auto* w = static_cast<Wrapper*>(base);
  uint64_t arg_keyset = l.keys;
  if (__builtin_expect(t->depth >= kMaxDepth, 0)) return lost(t, "hops nested deeper than 1,024"), nullptr;
  if (__builtin_expect(t->process_epoch != g_process_epoch, 0)) return nullptr;
  ensure_defined(op);
  const Frame* parent = t->depth ? &t->frames[t->depth - 1] : nullptr;
  bool inferred = false;
  // Unboxed calls of a kernel that is only boxed looked at generators too; calls that began boxed did not.
  if (l.generators && computed_keyset(op, t, arg_keyset) != keyset) arg_keyset |= l.generators;
  const wire::HopKind kind = kind_of(parent, op, keyset, arg_keyset, caller, boxed, &inferred, t);
  const bool call = kind == wire::HopKind::kCall || kind == wire::HopKind::kCallBoxed;
  const uint32_t detail = g_detail.load(std::memory_order_relaxed);
  const bool standard = detail == kStandard;
  const uint32_t tls = current_tls(t);
  uint32_t stack = 0;
  void* frame = nullptr;
  if (standard) {
    frame = python_frame(t);
    stack = parent && parent->python_frame == frame ? parent->stack : python_stack(t, frame);
  }
  t->ring.set_busy();
  uint64_t* at = t->ring.reserve(kWords(sizeof(wire::Begin)));
  if (__builtin_expect(!at, 0)) {
    t->ring.clear_busy();
    if (!wire_recording()) stop_recording();
    return nullptr;
  }
  auto* b = reinterpret_cast<wire::Begin*>(at);
  b->head = {RecordKind::kBegin, kWords(sizeof(wire::Begin)), op->id};
  b->keyset = keyset;
  b->arg_keyset = call ? arg_keyset : 0;
  b->kernel = w->op ? w->kernel_id : fallback_kernel_id(w);
  b->tls = tls;
  b->stack = stack;
  b->kind = kind;
  b->flags = static_cast<uint8_t>((inferred ? wire::kInferredKind : 0) | (standard ? 0 : wire::kNoValues));
  b->key = landed_at(op, w, keyset, boxed);
  b->time = wire::ticks();
  t->ring.publish(kWords(sizeof(wire::Begin)));
  t->ring.clear_busy();
  Frame* f = &t->frames[t->depth++];
  f->op = op;
  f->keyset = keyset;
  f->fingerprint = l.fingerprint;
  f->caller = caller;
  f->key = b->key;
  f->kind = kind;
  f->fallback_calls = w->calls_again;
  f->raised = false;
  f->standard = standard;
  f->python_frame = frame;
  f->stack = stack;
  f->written_first = static_cast<uint32_t>(t->written.size());
  if (standard) {
    f->sequence = at::sequence_number::peek();
    *values = call || !parent || parent->op != op || parent->fingerprint != l.fingerprint;
  }
  return f;
}

// What a hop without a kernel has in common with others.
static Frame* begin_plain(Thread* t, wire::HopKind kind, uint32_t op_id, OpInfo* op, uint16_t key, uint64_t keyset = 0) {
  if (t->depth >= kMaxDepth || t->process_epoch != g_process_epoch) return nullptr;
  const Frame* parent = t->depth ? &t->frames[t->depth - 1] : nullptr;
  const uint32_t tls = current_tls(t);
  const bool standard = g_detail.load(std::memory_order_relaxed) == kStandard;
  void* frame = standard ? python_frame(t) : nullptr;
  const uint32_t stack = !standard ? 0 : parent && parent->python_frame == frame ? parent->stack : python_stack(t, frame);
  t->ring.set_busy();
  uint64_t* at = t->ring.reserve(kWords(sizeof(wire::Begin)));
  if (!at) return t->ring.clear_busy(), nullptr;
  *reinterpret_cast<wire::Begin*>(at) = {{RecordKind::kBegin, kWords(sizeof(wire::Begin)), op_id}, wire::ticks(), keyset, 0, 0, tls, stack, kind, static_cast<uint8_t>(keyset ? wire::kInferredKind : 0), key};
  t->ring.publish(kWords(sizeof(wire::Begin)));
  t->ring.clear_busy();
  Frame* f = &t->frames[t->depth++];
  *f = {};
  f->op = op;
  f->python_frame = frame;
  f->stack = stack;
  f->keyset = keyset;
  f->key = key;
  f->kind = kind;
  f->written_first = static_cast<uint32_t>(t->written.size());
  return f;
}

bool begin_node_run(Thread* t, const void* node, int64_t graph_task) {
  Frame* f = begin_plain(t, wire::HopKind::kBackwardNode, 0, nullptr, 0);
  if (!f) return false;
  write_node_run(t, node, graph_task);
  if (attention(t)) arrive(t, f, wire::Phase::kBefore, nullptr);
  return true;
}

void record_missing(Thread* t, OpInfo* op, c10::DispatchKey key) {
  ensure_defined(op);
  // PyTorch only says which key it looked for. Inside a hop of the same operator the set is what that hop had
  // from this key down, since callers mask whole layers away from the top; else it stays unknown.
  uint64_t keyset = 0;
  const Frame* parent = t->depth ? &t->frames[t->depth - 1] : nullptr;
  const uint64_t bits = c10::DispatchKeySet(key).raw_repr();
  const uint64_t backends = (1ull << c10::num_backends) - 1, functionality = bits & ~backends;
  if (parent && parent->op == op && functionality && (parent->keyset & bits) == bits) keyset = parent->keyset & (backends | functionality | (functionality - 1));
  if (Frame* f = begin_plain(t, wire::HopKind::kMissingKernel, op->id, op, static_cast<uint16_t>(key), keyset)) {
    f->raised = true;
    if (attention(t)) {
      t->noticed.error_type = "NotImplementedError";
      t->noticed.error_message = std::string("no kernel at ") + c10::toString(key);
      arrive(t, f, wire::Phase::kBefore, nullptr);
    }
    end_hop(t, f);
  }
}

void leave(Thread* t, Frame* f) {
  if (f->op->written && f->written_first < t->written.size() && at::sequence_number::peek() != f->sequence)
    for (size_t i = f->written_first; i < t->written.size(); i++) find_nodes(t, f, t->written[i].impl);
  // the results of a hop inside are still described only if it is the one that ended last
  if (t->last_depth != t->depth + 1) t->last_count = 0;
}

void end_hop(Thread* t, Frame* f, const Held* results) {
  if (f->written_first < t->written.size()) {
    for (size_t i = f->written_first; i < t->written.size(); i++) {
      const Written& w = t->written[i];
      uint64_t* at = t->ring.reserve(kWords(sizeof(wire::Write)));
      if (!at) break;
      auto* r = reinterpret_cast<wire::Write*>(at);
      r->head = {RecordKind::kWrite, kWords(sizeof(wire::Write)), wire::place(w.position)};
      r->impl = reinterpret_cast<uintptr_t>(w.impl);
      r->storage = reinterpret_cast<uintptr_t>(w.impl->storage_.unsafeGetStorageImpl());
      r->before = w.before;
      r->after = version_of(w.impl);
      t->ring.publish(kWords(sizeof(wire::Write)));
    }
    if (attention(t)) arrive(t, f, wire::Phase::kAfter, results);
    t->written.resize(f->written_first);
  } else if (attention(t)) {
    arrive(t, f, wire::Phase::kAfter, results);
  }
  t->last_depth = t->depth;
  --t->depth;
  t->ring.set_busy();
  if (uint64_t* at = t->ring.reserve(kWords(sizeof(wire::End)))) {
    auto* e = reinterpret_cast<wire::End*>(at);
    e->head = {RecordKind::kEnd, kWords(sizeof(wire::End)), f->raised ? uint32_t(wire::kRaised) : 0u};
    e->time = wire::ticks();
    t->ring.publish(kWords(sizeof(wire::End)));
  }
  t->ring.clear_busy();
}

void put_tensor(Thread* t, uint32_t place, c10::TensorImpl* i, uint16_t flags) {
  if (is_undefined(i)) return write_undefined(t, place);
  auto* m = meta_of(i);
  if (m && m->grad_fn_) meet_node(t, i);
  write_tensor(t, place, i, static_cast<uint16_t>(flags | tensor_flags(i, m)));
}

void put_result(Thread* t, Frame* f, uint32_t place, c10::TensorImpl* i) {
  if (is_undefined(i)) return write_undefined(t, place);
  auto* m = meta_of(i);
  if (m && m->grad_fn_ && at::sequence_number::peek() != f->sequence) find_nodes(t, f, i);
  const uint16_t flags = tensor_flags(i, m);
  if (__builtin_expect((flags & (wire::kInference | wire::kRequiresGrad)) == (wire::kInference | wire::kRequiresGrad), 0)) t->noticed.contradiction = true;
  const uint32_t version = version_of(i);
  const uint64_t keyset = i->key_set_.raw_repr();
  for (uint32_t k = 0; k < t->last_count; k++) {
    LastResult& l = t->last[k];
    if (l.impl != i || l.keyset != keyset || l.version != version || l.flags != flags) continue;
    if (uint64_t* at = t->ring.reserve(kWords(sizeof(wire::Tensor)))) {
      auto* r = reinterpret_cast<wire::Tensor*>(at);
      __builtin_memset(at, 0, sizeof *r);
      r->head = {RecordKind::kTensor, kWords(sizeof(wire::Tensor)), place};
      r->impl = reinterpret_cast<uintptr_t>(i);
      r->storage = reinterpret_cast<uintptr_t>(i->storage_.unsafeGetStorageImpl());
      r->keyset = keyset;
      r->version = version;
      r->flags = static_cast<uint16_t>(flags | wire::kSameAsInner);
      t->ring.publish(kWords(sizeof(wire::Tensor)));
    }
    return;
  }
  write_tensor(t, place, i, flags);
  if (t->last_count < 8) t->last[t->last_count++] = {i, keyset, version, flags};
}

void note_written(Thread* t, uint32_t position, c10::TensorImpl* i) {
  if (!is_undefined(i)) t->written.push_back({i, position, version_of(i)});
}

// ---- exceptions

namespace {
std::string demangled(const char* name) {
  int status = 0;
  char* s = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string r = status == 0 && s ? s : name;
  free(s);
  return r;
}
std::string first_line(const char* s) {
  const char* e = strchr(s, '\n');
  return e ? std::string(s, static_cast<size_t>(e - s)) : s;
}
/// The name under which Python shows a C++ exception.
std::string python_name(const std::exception& e) {
  std::string n = demangled(typeid(e).name());
  const size_t colon = n.rfind("::");
  std::string last = colon == std::string::npos ? n : n.substr(colon + 2);
  if (last == "Error" || last == "runtime_error" || last == "exception") return "RuntimeError";
  if (last == "out_of_range") return "IndexError";
  if (last == "invalid_argument" || last == "domain_error") return "ValueError";
  if (last == "bad_alloc") return "MemoryError";
  if (last == "OutOfMemoryError") return "OutOfMemoryError";
  return last;
}
}  // namespace

void raise_hop(Thread* t, Frame* f) {
  std::string type = "?", message;
  try {
    throw;
  } catch (const python_error& e) {
    if (e.type) type = reinterpret_cast<PyTypeObject*>(e.type)->tp_name;
    message = first_line(e.message.c_str());
  } catch (const c10::Error& e) {
    type = python_name(e);
    message = first_line(e.what_without_backtrace());
  } catch (const std::exception& e) {
    type = python_name(e);
    const char* what = e.what();
    message = first_line(what ? what : "");
    if (type == "error_already_set") {
      const size_t colon = message.find(": ");
      type = colon == std::string::npos ? "Exception" : message.substr(0, colon);
      if (colon != std::string::npos) message.erase(0, colon + 2);
    }
  } catch (...) {
  }
  const uint32_t type_id = intern(type), message_id = intern(message);
  if (uint64_t* at = t->ring.reserve(kWords(sizeof(wire::Error)))) {
    auto* r = reinterpret_cast<wire::Error*>(at);
    r->head = {RecordKind::kError, kWords(sizeof(wire::Error)), type_id};
    r->message = message_id;
    r->pad = 0;
    t->ring.publish(kWords(sizeof(wire::Error)));
  }
  f->raised = true;
  t->last_count = 0;
  if (attention(t)) t->noticed.error_type = type, t->noticed.error_message = message;
  end_hop(t, f);
}

// ---- kernels that are entered boxed, and fallbacks

void boxed_thunk(c10::OperatorKernel* functor, const c10::OperatorHandle& handle, c10::DispatchKeySet ks, torch::jit::Stack* stack) {
  auto* w = static_cast<Wrapper*>(functor);
  Thread* t = nullptr;
  const uint32_t detail = g_detail.load(std::memory_order_relaxed);
  if (__builtin_expect(detail == kOff || !(t = this_thread()), 1)) return w->original.callBoxed(handle, ks, stack);
  OpInfo* op = w->op ? w->op : op_of(handle);
  const size_t n = op->arguments <= stack->size() ? op->arguments : stack->size();
  const c10::IValue* args = stack->data() + (stack->size() - n);
  Look l;
  const auto look_at = [&](const c10::IValue& v) {
    auto* i = v.unsafeToTensorImpl();
    l.keys |= i->key_set().raw_repr();
    l.fingerprint = (l.fingerprint << 7 | l.fingerprint >> 57) ^ reinterpret_cast<uintptr_t>(i);
  };
  for (size_t i = 0; i < n; i++) {
    const c10::IValue& v = args[i];
    if (v.isTensor()) look_at(v);
    else if (v.isGenerator()) l.generators |= v.toGenerator().defined() ? v.toGenerator().key_set().raw_repr() : 0;
    else if (v.isList()) { for (const auto& e : v.toListRef()) if (e.isTensor()) look_at(e); }
    else if (v.isNone()) l.fingerprint = l.fingerprint << 7 | l.fingerprint >> 57;
  }
  bool values = false;
  Frame* f = begin_hop(t, w, op, ks.raw_repr(), l, PEEL_CALLER, true, &values);
  if (!f) return w->original.callBoxed(handle, ks, stack);
  if (values) for (size_t i = 0; i < n; i++) put_ivalue(t, wire::place(static_cast<uint32_t>(i)), args[i], 0, nullptr);
  if (f->standard && op->written) {
    for (size_t i = 0; i < n; i++) {
      if (!(op->written >> i & 1)) continue;
      if (args[i].isTensor()) note_written(t, static_cast<uint32_t>(i), args[i].unsafeToTensorImpl());
      else if (args[i].isTensorList()) for (const auto& e : args[i].toListRef()) note_written(t, static_cast<uint32_t>(i), e.unsafeToTensorImpl());
    }
  }
  if (attention(t)) {
    const Held held{nullptr, args, n};
    arrive(t, f, wire::Phase::kBefore, &held);
  }
  try {
    w->original.callBoxed(handle, ks, stack);
  } catch (...) {
    raise_hop(t, f);
    throw;
  }
  const size_t m = op->returns <= stack->size() ? op->returns : stack->size();
  if (f->standard) {
    leave(t, f);
    for (size_t i = 0; i < m; i++) put_ivalue(t, wire::place(static_cast<uint32_t>(i)), (*stack)[stack->size() - m + i], wire::kResultBit, f);
  }
  const Held held{nullptr, stack->data() + (stack->size() - m), m};
  end_hop(t, f, &held);
}

}  // namespace peel::agent
