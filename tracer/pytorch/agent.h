// The agent: lives in the traced process beside an unmodified PyTorch, wraps every registered kernel and
// writes what passes through into this thread's ring (tracer/wire).
//
// How it sees hops: the KernelFunctions in `OperatorEntry::kernels_` and in the dispatcher's backend
// fallbacks are replaced by copies whose functor is a Wrapper and whose entry points are thunks (thunk.h)
// of the same signature. The dispatch tables hold copies of those, so they get the wrapped ones slot by
// slot; which kernel a slot holds never changes. Private members are reached with -fno-access-control;
// the library is built against the exact PyTorch that it is loaded into, and tests itself before it wraps.
//
// Threads: every thread writes only its own Thread and ring. Definitions (operators, strings, stacks) go
// to the arena under `definitions_mutex()`. Wrappers and OpInfos are never freed. Nothing here takes the
// GIL or calls into Python on the recording path.
#pragma once
#include <Python.h>

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <mutex>
#include <string>

#include "tracer/pytorch/hot.h"
#include "tracer/wire/clock.h"
#include "tracer/wire/link.h"
#include "tracer/wire/ring.h"
#include "tracer/wire/stopping.h"

namespace peel::agent {

/// The functor of a wrapped kernel.
struct Wrapper : WrapperBase {
  c10::KernelFunction original;            // owns `functor`
  uint32_t kernel_id = 0;                  // wire id; set when the operator is defined
  uint32_t process_epoch = 0;
  uint16_t key = 0;                        // where it was registered
  bool calls_again = false;                // of a layer known to re-enter by a fresh call, not by redispatch
};

struct Written { c10::TensorImpl* impl; uint32_t position, before; };

inline uint32_t version_of(const c10::TensorImpl* i) {
  const auto& v = i->version_counter_.version_counter_;
  return v ? v->version_.load(std::memory_order_relaxed) : wire::kNoVersion;
}

/// A result that the hop that ended last has already described.
struct LastResult { c10::TensorImpl* impl; uint64_t keyset; uint32_t version; uint16_t flags; };

constexpr uint32_t kMaxDepth = 1024;
constexpr uint32_t kSeenNodes = 8192;
constexpr uint32_t kStackCache = 2048;
constexpr uint32_t kTlsCache = 64;
constexpr uint32_t kNodeClasses = 256;

struct SavedClass;

struct Values;
/// The values of a hop, while its thread stands: typed or boxed.
struct Held { const Values* typed = nullptr; const c10::IValue* boxed = nullptr; size_t count = 0; };

/// What is remembered for breakpoints between the begin and the end of a hop; kept only while someone pays attention.
struct Noticed {
  std::vector<std::string> nodes;        // made by the hop at `depth`
  uint32_t depth = 0;
  bool contradiction = false;            // an inference tensor that requires grad came out
  std::string error_type, error_message;
  uint32_t error_depth = UINT32_MAX;     // the exception passed through the hop there last
  struct { uint64_t storage = 0; uint32_t version = 0, depth = 0; } write;  // the last one that was told
};

struct Thread {
  wire::Producer ring;
  uint32_t depth = 0;          // open hops; may exceed kMaxDepth (those beyond aren't recorded)
  uint32_t process_epoch = 0;
  wire::Control* control = nullptr;                       // nothing after fork, in the child
  const std::atomic<uint32_t>* attention = nullptr;       // never null
  uint32_t ring_index = 0;
  // thread-local words of PyTorch, looked up once
  const c10::impl::PODLocalDispatchKeySet* keysets = nullptr;
  const c10::AutogradState* autograd = nullptr;
  void* python_state = nullptr;
  std::vector<Written> written;
  LastResult last[8];
  uint32_t last_count = 0, last_depth = 0;
  struct SeenNode { const void* node; uint64_t sequence; } seen[kSeenNodes] = {};
  struct CachedStack { const void* code; const void* instruction; const void* check; uint32_t parent, id; } stacks[kStackCache] = {};
  struct CachedTls { uint64_t included, excluded, extra; uint32_t id; } tls[kTlsCache] = {};
  struct NodeClass { const void* type; uint32_t name; const SavedClass* saves; } node_classes[kNodeClasses] = {};
  struct ChainEntry { const void* code; const void* instruction; const void* check; uint32_t id; };
  std::vector<ChainEntry> chain;  // the last Python stack, outermost first
  struct CodeFile { const void* code; const void* check; std::string path; bool own; } files[64] = {};
  Noticed noticed;
  wire::Stopping stopping;
  Frame frames[kMaxDepth];
};

inline size_t tls_slot(uint64_t included, uint64_t excluded, uint64_t extra) {
  return ((included ^ excluded * 3 ^ extra << 7) * 0x9e3779b97f4a7c15ull) >> 58;
}
static_assert(kTlsCache == 64);

// ---- link.cpp: threads, memory, processes
std::mutex& definitions_mutex();
wire::ArenaWriter& arena();
extern uint32_t g_process_epoch;           // 1, and one more in every forked child
bool connect_to_peel(const char* process_name, std::string* why_not);
void start_recording();
void stop_recording();
bool wire_recording();                     // peel still wants records
void lost(Thread*, const char* reason, uint64_t count = 1);
bool peel_is_gone();
bool finalizing();                         // Python ends: its lock can't be had any more

// ---- define.cpp: definitions; each takes the mutex itself
uint32_t intern(std::string_view);                    // string id
std::string_view dtype_name(c10::ScalarType);         // as Python says it: float32
std::string_view device_name(c10::DeviceType);        // cuda
uint32_t intern_stack(uint32_t parent, std::string_view file, std::string_view function, uint32_t line);
void define_keys();
void fact(std::string_view key, std::string_view value);
OpInfo* op_of(const c10::OperatorHandle&);            // made on first sight
OpInfo* op_of(c10::impl::OperatorEntry*);
void define_op(OpInfo*);                              // writes what is new or changed
inline void ensure_defined(OpInfo* op) {
  if (__builtin_expect(op->epoch.load(std::memory_order_relaxed) != g_epoch.load(std::memory_order_relaxed), 0)) define_op(op);
}
uint32_t fallback_kernel_id(Wrapper*);
std::string modes_text(uint64_t excluded);            // dispatch modes, transforms, autocast
uint32_t intern_tls(Thread*, uint64_t included, uint64_t excluded, uint64_t extra);

// ---- wrap.cpp: wrappers
std::string self_test();                              // "" = passed
std::string wrap_all();                               // a line of numbers
void wrap_new(std::string_view op_name);              // "" = look at every operator
Wrapper* wrapper_of(const c10::KernelFunction&);      // null = not one of ours

// ---- record.cpp
void boxed_thunk(c10::OperatorKernel*, const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack*);
uint64_t computed_keyset(const OpInfo*, const Thread*, uint64_t arguments);
bool begin_node_run(Thread*, const void* node, int64_t graph_task);  // a hop of kind backward_node
void record_missing(Thread*, OpInfo*, c10::DispatchKey);             // a look-up that is about to fail
void put_ivalue(Thread*, uint32_t position, const c10::IValue&, uint64_t result_bit, Frame* result_of);
uint32_t tensor_words(const c10::TensorImpl*);          // of its whole description
void describe_tensor(wire::Tensor*, uint32_t words, uint32_t place, c10::TensorImpl*, uint16_t flags);
uint16_t flags_of(const c10::TensorImpl*);

// ---- nodes.cpp: autograd
void find_nodes(Thread*, Frame*, c10::TensorImpl* result);   // nodes made since the hop began
void meet_node(Thread*, c10::TensorImpl* argument);          // a node made outside of any hop
void write_node_run(Thread*, const void* node, int64_t graph_task);
void install_backward_callback();
std::string node_text(const void* node);              // its class, as grad_fn.name() says it
const void* running_node();                           // null = none

// ---- live.cpp: stops
inline bool attention(const Thread* t) { return __builtin_expect(t->attention->load(std::memory_order_relaxed) != 0, 0); }
void arrive(Thread*, Frame*, wire::Phase, const Held*);  // where attention() says so: may stand here
void forget_standing();                                  // after fork, in the child: only this thread is there
void set_questions(PyObject* locals, PyObject* threads); // callables that give rows: tuples of str

// ---- look.cpp: values of tensors, read from memory without a kernel
using TensorTest = std::function<bool(uint32_t position, int64_t list_index, c10::TensorImpl*)>;
bool any_tensor(const Held&, const TensorTest&);      // defined ones, in order, until the test is true
void tell_tensors(const Held&, wire::AnswerRows&);

/// Writes a record that has a time and nothing behind it; its size and time are filled in.
template <class Record>
void put_timed(Thread* t, Record r) {
  constexpr uint32_t kWords = sizeof(Record) / 8;
  r.head.words = kWords;
  t->ring.set_busy();
  if (uint64_t* at = t->ring.reserve(kWords)) {
    r.time = wire::ticks();
    __builtin_memcpy(at, &r, sizeof r);
    t->ring.publish(kWords);
  }
  t->ring.clear_busy();
}

// ---- module.cpp: spans
Thread* spanning_thread();                            // this one, if spans are recorded on it now; else null

// ---- modes.cpp
void follow_modes();                                  // modes that Python enters become spans; once
// ---- saved.cpp: what nodes keep for backward
const char* load_saved_part(const char* path);        // null = done, else why not
const SavedClass* saves(const char* type);            // of a class by its mangled name; null = not known
void write_saved(Thread*, const void* node, const SavedClass*, bool made_here);

// ---- memory.cpp
void record_memory(Thread*, wire::Allocation);            // kind, time and stack are filled in
void follow_cpu_allocator();                          // from now on; once

// ---- gpu.cpp
struct GpuPart;
const char* load_gpu_part(const char* path);          // null = done, else why not
const GpuPart* gpu_part();                            // null = not loaded
/// Bytes of a GPU to the host: null = done, else why not; lives until the next call.
const char* read_gpu_memory(int device, const void* from, void* to, size_t bytes);

// ---- frames.cpp: Python's stack, read without the GIL (a thread's own frames stand still while it is in a kernel)
void* python_frame(Thread*);                          // innermost, null = none
uint32_t python_stack(Thread*, void* innermost);      // stack id
struct UserPlace { std::string file; int line = 0; const void* frame = nullptr; const void* instruction = nullptr; };
UserPlace user_place(Thread*);                        // the innermost line of the user's own; file "" = none

// ---- symbols.cpp
struct Range { uintptr_t at; uint32_t size; };
void find_call_sites();                               // reads libtorch_cpu's dynamic symbols once
Range call_site(std::string_view structure, bool redispatch);  // at::_ops::<structure>::call

bool is_mapped(uintptr_t address);                     // 16 bytes there belong to a loaded library

}  // namespace peel::agent
