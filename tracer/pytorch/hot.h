// What the typed thunks need of the agent, with as few of PyTorch's headers as can be: the generated parts are
// most of what is compiled on the user's machine.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/OperatorKernel.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Scalar.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tracer/wire/wire.h"

namespace c10 {
struct IValue;
struct Stream;
namespace impl {
class OperatorEntry;
struct PODLocalDispatchKeySet;
}
}

namespace peel::agent {

enum Detail : uint32_t { kOff = 0, kKeys = 1, kStandard = 2 };
extern std::atomic<uint32_t> g_detail;      // what to record now; one load per hop when off
extern std::atomic<uint32_t> g_epoch;       // grows when definitions must be looked at again

/// An operator as the recorder needs it. One per OperatorEntry, never freed.
struct OpInfo {
  c10::impl::OperatorEntry* entry = nullptr;  // valid while the operator is registered
  std::atomic<uint32_t> epoch{0};             // g_epoch at the last look at its definitions
  uint32_t id = 0;                            // wire id in this process
  uint32_t process_epoch = 0;                 // which process (fork) `id` was given in
  // where at::_ops::X::call and ::redispatch lie in the code; 0 = unknown
  uintptr_t call_at = 0, redispatch_at = 0;
  uint32_t call_size = 0, redispatch_size = 0;
  uint64_t written = 0;   // bit i: argument i is written (schema alias annotation)
  uint64_t table_hash = 0;
  uint16_t arguments = 0, returns = 0;
  bool has_schema = false;
};

struct WrapperBase : c10::OperatorKernel {
  c10::OperatorKernel* functor = nullptr;  // the original's
  void* unboxed = nullptr;
  void* symint = nullptr;
  OpInfo* op = nullptr;                    // null: a backend fallback, serves every operator
};
struct Wrapper;

/// What is remembered of an open hop.
struct Frame {
  OpInfo* op;
  uint64_t keyset;
  uint64_t fingerprint;     // of the argument addresses
  uint64_t sequence;        // autograd's next sequence number at the start
  const void* const* caller; // its entry point's return address on the stack
  void* python_frame;       // innermost Python frame at the start
  uint32_t stack;           // its stack id
  uint32_t written_first;   // index into Thread::written
  uint16_t key;             // DispatchKey
  wire::HopKind kind;
  bool fallback_calls;      // Wrapper::calls_again of its kernel
  bool raised;
  bool standard;            // began with values
};

struct Thread;
struct Held;
extern __thread Thread* tl_thread __attribute__((tls_model("initial-exec")));
Thread* open_thread();                     // null when this thread can't be recorded
inline Thread* this_thread() { return tl_thread ? tl_thread : open_thread(); }

/// What a look at the arguments gives: the union of their key sets, and their identity.
struct Look { uint64_t keys = 0, generators = 0, fingerprint = 0; };

// ---- record.cpp: the recording path, called by thunks
/// `caller`: where on the stack the return address of the entry point lies (PEEL_CALLER there).
Frame* begin_hop(Thread*, WrapperBase*, OpInfo*, uint64_t keyset, const Look&, const void* const* caller, bool boxed, bool* values);
#define PEEL_CALLER (static_cast<const void* const*>(__builtin_frame_address(0)) + 1)
/// `results`: what a thread that stops here can be asked about.
void end_hop(Thread*, Frame*, const Held* results = nullptr);
void raise_hop(Thread*, Frame*);                      // in a catch block: records the exception in flight
void put_tensor(Thread*, uint32_t place, c10::TensorImpl*, uint16_t flags);
void put_result(Thread*, Frame*, uint32_t place, c10::TensorImpl*);
void note_written(Thread*, uint32_t position, c10::TensorImpl*);
void put_word(Thread*, uint32_t place, wire::ValueType, uint64_t payload);
void put_none(Thread*, uint32_t place);
void put_words(Thread*, uint32_t place, wire::ValueType, const void* words, size_t count, bool truncated = false);
void put_text(Thread*, uint32_t place, wire::ValueType, std::string_view);
void leave(Thread* t, Frame* f);  // looks at the sequence number before the results are walked
const void* entry_signature(const c10::impl::OperatorEntry&, bool symint);  // std::type_info*, null = not known

struct TypedThunks { const char* name; const char* overload; const char* structure; void* unboxed; void* symint; bool (*matches)(const c10::impl::OperatorEntry&); };
std::vector<TypedThunks>& typed_thunks();             // filled by the generated parts
struct RegisterThunks { RegisterThunks(const TypedThunks* t, size_t n) { typed_thunks().insert(typed_thunks().end(), t, t + n); } };

}  // namespace peel::agent
