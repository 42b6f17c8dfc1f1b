// The recorder of the embedded engine: an observer that writes what tracer/pytorch writes, in the same records (tracer/wire).
// The engine runs with Python's lock held, and so does all of this: what threads share needs no lock of its own. A thread that
// stands (live.cpp) lets go of it, between two hops.
#pragma once
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/autograd/history.h"
#include "core/observer.h"
#include "tracer/wire/clock.h"
#include "tracer/wire/ring.h"
#include "tracer/wire/stopping.h"

typedef struct _object PyObject;

namespace peel::embedded {

enum class Detail : uint8_t { kKeys, kStandard };

/// An argument that the open hop may write.
struct Written { const core::TensorImpl* impl; uint32_t position, before; };

/// What is remembered of an open hop or run of a node.
struct Frame {
  const core::OperatorEntry* op = nullptr;
  const core::Node* run = nullptr;  // of a node's run
  uint32_t op_id = 0;
  wire::HopKind kind = wire::HopKind::kCall;
  uint64_t fingerprint = 0;   // of the tensors among the arguments
  uint32_t stack = 0;
  const void* python_frame = nullptr;
  size_t written_first = 0;
  std::vector<core::Ref<core::Node>> nodes;  // made while it was the innermost
  int exceptions = 0;         // in flight when it began
  bool recorded = false, raised = false;
  std::unique_ptr<core::Kernel> stand_in;  // returns what was said by hand
};

/// What is remembered for breakpoints between the begin and the end of a hop; kept only while someone pays attention.
struct Noticed {
  std::vector<std::string> nodes;        // made by the hop that ends
  bool contradiction = false;            // an inference tensor that requires grad came out of it
  std::string error_type, error_message;
  uint32_t error_depth = UINT32_MAX;     // the exception passed through the hop there last
  struct { const void* storage = nullptr; uint32_t version = 0, depth = 0; } write;  // the last one that was told
};

/// One thread of the program.
struct Thread {
  wire::Producer ring;
  uint32_t process_epoch = 0, number = 0;
  std::vector<Frame> frames;
  std::vector<Written> written;
  std::unordered_map<const void*, uint64_t> seen;  // nodes recorded: address and sequence number
  wire::Control* control = nullptr;
  uint32_t ring_index = 0;
  Noticed noticed;
  core::LocalKeys forced{};    // by hand: in its calls' sets, whatever the program has
  bool looks_again = false;    // the sets changed after the call's was made
  wire::Stopping stopping;
};
inline bool attention(const Thread& t) { return t.control->live.attention.load(std::memory_order_relaxed) != 0; }

// ---- link.cpp
/// Null = not recorded.
Thread* this_thread();
bool connect_to_peel(const char* process_name, std::string* why_not);
void start_recording();
void stop_recording();
bool is_recording();
bool peel_is_gone();
Detail detail();
wire::ArenaWriter& arena();
/// 1, and one more in every forked child: ids are given anew there.
uint32_t process_epoch();

// ---- define.cpp: each is written once a process
uint32_t intern(std::string_view);
void define_keys();
void fact(std::string_view key, std::string_view value);
/// Wire id; its table is written again when registrations changed it.
uint32_t define_op(const core::OperatorEntry&);
uint32_t kernel_id(const core::OperatorEntry&, const core::Kernel&);
/// A kernel that only one hop has.
uint32_t define_stand_in(uint32_t op, core::DispatchKey, std::string_view what);
/// With what was put into the thread's sets by hand.
core::LocalKeys keys_of(const Thread&);
uint32_t current_tls(const Thread&);

// ---- stack.cpp
/// Wire id of Python's stack of this thread, 0 = none. *frame: the innermost frame; when it is `known`, its id is `known_id`.
uint32_t python_stack(const void* known, uint32_t known_id, const void** frame);

/// The innermost line of the user's own, where this thread is.
wire::HopView::Place user_place(std::string* file);

// ---- values.cpp
void put_argument(Thread&, uint32_t place, const core::IValue&, const core::Type&, bool result);
uint32_t version_of(const core::TensorImpl&);
/// What the records call it: never used again, as an address is.
uint64_t identity(const core::TensorImpl*);
uint64_t identity(const core::Storage*);

// ---- nodes.cpp
/// The node and what it leads to, as far as that is new. `output`: the tensor that it made.
void put_node(Thread&, const core::Node&, const core::TensorImpl* output, bool made_here);
void put_node_run(Thread&, const core::Node&, uint64_t graph_task);
bool was_seen(const Thread&, const core::Node&);

// ---- live.cpp
/// Where attention() says so: the thread may stand here, at its innermost frame. `hop`: null for a node's run; `results`: null when it raised.
void arrive(Thread&, wire::Phase, core::Hop* hop, core::HopValues* results = nullptr);
/// Functions of Python that give rows, tuples of str.
void set_questions(PyObject* locals, PyObject* threads);

// ---- whatif.cpp
/// Makes the changes that are asked for before the program's first line. Why not, or "".
std::string take_whatif(const char* lines);
void begin_whatif(Thread&);   // recording begins
inline constinit bool whatif_waits = false;  // hops are looked at, until the last one of the range has ended
void whatif_begins(Thread&);  // a hop or a node's run is to begin on the stack of frames
void whatif_ends(Thread&);    // one has ended

// ---- look.cpp
void tell_tensors(const core::Stack&, wire::AnswerRows&);

// ---- record.cpp
core::Observer& recorder();
/// A stretch with a name; ended by end_span.
void begin_span(wire::SpanKind, std::string_view name, std::string_view kind, const void* object);
void end_span();

/// A record of fixed size that has a time: size and time are filled in.
template <class Record>
void put_timed(Thread& t, Record r) {
  constexpr uint32_t kWords = sizeof(Record) / 8;
  r.head.words = kWords;
  const wire::Busy busy(t.ring);
  if (uint64_t* at = t.ring.reserve(kWords)) {
    r.time = wire::ticks();
    std::memcpy(at, &r, sizeof r);
    t.ring.publish(kWords);
  }
}
template <class Record>
void put_plain(Thread& t, Record r, const void* tail = nullptr, size_t tail_bytes = 0) {
  const uint32_t words = wire::words_of(sizeof(Record) + tail_bytes);
  uint64_t* at = t.ring.reserve(words);
  if (!at) return;
  at[words - 1] = 0;
  r.head.words = static_cast<uint16_t>(words);
  std::memcpy(at, &r, sizeof r);
  if (tail_bytes) std::memcpy(reinterpret_cast<char*>(at) + sizeof r, tail, tail_bytes);
  t.ring.publish(words);
}

}  // namespace peel::embedded
