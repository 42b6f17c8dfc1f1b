// The recorder of the embedded engine: an observer that writes what tracer/pytorch writes, in the same records (tracer/wire).
// The engine runs with Python's lock held, and so does all of this: what threads share needs no lock of its own.
#pragma once
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/autograd/history.h"
#include "core/observer.h"
#include "tracer/wire/clock.h"
#include "tracer/wire/ring.h"

namespace peel::embedded {

enum class Detail : uint8_t { kKeys, kStandard };

/// An argument that the open hop may write.
struct Written { const core::TensorImpl* impl; uint32_t position, before; };

/// What is remembered of an open hop or run of a node.
struct Frame {
  const core::OperatorEntry* op = nullptr;
  uint64_t fingerprint = 0;   // of the tensors among the arguments
  uint32_t stack = 0;
  const void* python_frame = nullptr;
  size_t written_first = 0;
  std::vector<core::Ref<core::Node>> nodes;  // made while it was the innermost
  int exceptions = 0;         // in flight when it began
  bool recorded = false;
};

/// One thread of the program.
struct Thread {
  wire::Producer ring;
  uint32_t process_epoch = 0, number = 0;
  std::vector<Frame> frames;
  std::vector<Written> written;
  std::unordered_map<const void*, uint64_t> seen;  // nodes recorded: address and sequence number
};

// ---- link.cpp
/// Null = not recorded.
Thread* this_thread();
bool connect_to_peel(const char* process_name, std::string* why_not);
void start_recording();
bool is_recording();
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
uint32_t current_tls();

// ---- stack.cpp
/// Wire id of Python's stack of this thread, 0 = none. *frame: the innermost frame; when it is `known`, its id is `known_id`.
uint32_t python_stack(const void* known, uint32_t known_id, const void** frame);

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
