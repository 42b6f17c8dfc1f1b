// A session as everything that reads one sees it: columns in memory for what is many (hops, nodes, spans),
// rows on demand for what is wide (arguments, source, SQL).
//
// Threads: one background loader fills the columns and, while a recording grows, keeps following the file.
// Any thread may read rows below `size()`; a hop's end, flags and node may still be filled in later (they
// are read and written atomically). Small tables (keys, operators, ...) are append-only vectors behind a
// shared lock; references to their rows stay valid for the session's life.
// A file is hostile until proven otherwise: open() and the loader check everything that later code relies on.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/gpu.h"
#include "sessions/ids.h"
#include "sessions/result.h"

namespace peel {

enum class Kind : uint8_t { kCall, kRedispatch, kCallBoxed, kRedispatchBoxed, kMissingKernel, kPythonMode, kTorchFunction, kBackwardNode };
constexpr bool is_call(Kind k) { return k == Kind::kCall || k == Kind::kCallBoxed; }
constexpr bool is_redispatch(Kind k) { return k == Kind::kRedispatch || k == Kind::kRedispatchBoxed; }
const char* kind_name(Kind);

/// One hop, copied out of the columns.
struct Event {
  EventId id, parent;
  EventId last;  // last descendant known so far (itself when a leaf): the subtree is [id, last] minus other threads' hops
  ThreadId thread;
  OpId op;
  Kind kind;
  KeyId key;
  KeysetId keyset, arg_keyset;  // arg_keyset: calls only
  TlsId tls;
  KernelId kernel;
  StackId stack;
  Nanoseconds begin, end;  // kOpen = never returned (yet)
  uint32_t flags;          // wire EventFlag bits
  uint16_t depth;          // 0 = no parent
  NodeId node;             // first node that this hop made, 0 = none
};
constexpr uint32_t kRaised = 1, kInferredKind = 2, kTruncated = 4, kNoValues = 8, kChangedByHand = 16;

struct Key { KeyId id; std::string name; int functionality_bit, backend_bit, slot; bool alias() const { return slot < 0; } };
struct Keyset { uint64_t raw; std::string text; };
struct Op {
  std::string name, overload, schema;
  std::string full;   // `aten::add.Tensor`
  std::string brief;  // `add` (namespace aten and overload left out), for narrow places
  struct Argument { std::string name; uint32_t flags; };  // flags: 1 written, 2 tensor-like, 4 default, 8 aliased by a result
  std::vector<Argument> arguments;
};
struct Kernel { OpId op; KeyId key; std::string rule, convention, registered_at; bool fallthrough; };
struct Tls { uint64_t included, excluded; bool grad_mode, inference_mode; std::string modes; };
struct Thread { ThreadId id; uint32_t process; int64_t os_id; std::string name; };
struct RecordedProcess { uint32_t id; int64_t os_id; std::string name; };
struct Frame { StackId id, parent; std::string_view file, function; int line; };
struct Slot { int slot; KernelId kernel; EventId since; bool stale; };
struct Mask { int backend; /* -1 = all */ uint64_t mask; EventId since; };

/// A kernel that is registered for an operator or as a backend fallback. position 0: in force at its key; others are hidden by it.
/// since: the version of the table that had it first; the first version is what was there when the operator was first met.
struct Registration { KeyId key; int position; KernelId kernel; EventId since; bool later; };  // later: registered after the first version

/// What PyTorch's own lists say of an operator, as they are written there (YAML); "" = not recorded, or the list has no such entry.
struct OpSource { std::string native_function, derivative; };

/// An argument or a result, as text and ids.
struct Value {
  int position, list_index;  // list_index -1 = not in a list
  std::string name;
  TensorId tensor;           // 0 = not a tensor
  std::string dtype, shape, strides, device, layout, flags;  // of a tensor
  KeysetId keyset;
  int64_t version;           // -1 = none
  std::string value;         // of anything else
  bool participates;         // its keys went into the union
};

struct Node {
  NodeId id;
  EventId event;        // the hop that made it; 0 = made outside of any hop
  EventId found;        // the hop at which it was first seen
  std::string_view name;
  uint64_t sequence_nr; // UINT64_MAX: AccumulateGrad and the like
  uint64_t topological_nr;
  uint64_t thread;
  TensorId variable;    // leaf of an AccumulateGrad
  TensorId output;
};
struct Edge { NodeId node; int slot; NodeId next; int next_input; };  // next 0 = no gradient flows here
/// A variable that a node keeps for backward.
struct Saved {
  NodeId node;
  std::string name;         // as Python's getter: `_saved_self`
  int list_index;           // -1 = not in a list
  TensorId tensor;          // 0 = not known: packed by a hook, or released before the recorder met the node
  std::string dtype, shape;
  int64_t version;          // when it was saved; -1 = no version counter
  uint64_t bytes;           // of the whole storage that it keeps alive
  uint32_t flags;           // SavedFlag bits
};
constexpr uint32_t kSavedOutput = 1, kSavedPacked = 2, kSavedReleased = 4, kSavedInside = 8;
struct NodeRun { NodeId node; EventId event; int64_t graph_task; EventId cause; };
struct TensorRow { TensorId id; EventId birth; Nanoseconds death; uint64_t storage; TensorId base; EventId first; };  // death kOpen = unknown; storage numbers identify, they are no addresses
struct WriteRow { EventId event; TensorId tensor; uint64_t storage; int64_t before, after; };  // versions, -1 = none
struct Span { SpanId id, parent; std::string kind, name, detail; ThreadId thread; EventId begin, end; Nanoseconds begin_ns, end_ns; StackId stack; uint64_t object; };  // end 0 = open or empty
/// What a person changed at a hop while its thread stood there. `moved`: the hop went another way; kind, key, keyset, kernel are what it would have been.
struct HandChange { EventId event; std::string text; bool moved; Kind kind; KeyId key; KeysetId keyset; KernelId kernel; };
struct Raised { EventId event; std::string type, message; };
struct Output { Nanoseconds time; int stream; std::string text; EventId after; };
struct Loss { std::string name; int64_t count; std::string meaning; };
struct Bookmark { EventId event; std::string text; };
struct Note { EventId event; std::string text; };  // what the reader wrote at a hop; one a hop

/// How far the background loader is. stage is a word for the user ("reading hops").
struct Progress { const char* stage; uint64_t done, total; bool ready; };

/// When something began and ended; end kOpen = not yet.
struct Stretch { Nanoseconds begin, end; };

class Session {
 public:
  /// Opens a file read-only and starts the loader. Errors say what is wrong with the file.
  /// With `wait`, returns when everything is loaded.
  static Result<std::unique_ptr<Session>> open(const std::string& path, bool wait = false);
  virtual ~Session() = default;

  // ---- state
  virtual const std::string& path() const = 0;
  virtual Progress progress() const = 0;
  virtual uint64_t generation() const = 0;   // grows whenever anything became visible: compare to redraw or recompute
  virtual bool live() const = 0;             // still being recorded
  /// Asks for a look at the growing file now; has_looked(ticket) once what the file held when it was asked for is visible.
  virtual uint64_t look_now() { return 0; }
  virtual bool has_looked(uint64_t /*ticket*/) const { return true; }
  virtual std::string meta(std::string_view key) const = 0;  // "" when missing
  virtual std::vector<std::pair<std::string, std::string>> all_meta() const = 0;
  virtual std::string trouble() const = 0;   // what the loader found wrong, one sentence; "" = nothing

  // ---- hops
  virtual uint32_t size() const = 0;         // hops visible now; ids are 1..size()
  virtual Event event(EventId) const = 0;    // cheap: a few loads. An id out of range gives a zero Event
  virtual EventId parent(EventId) const = 0;
  virtual uint16_t depth(EventId) const = 0;
  virtual Stretch stretch(EventId e) const { const Event x = event(e); return {x.begin, x.end}; }  // begin and end alone: cheaper than event()
  virtual EventId last(EventId) const = 0;
  virtual EventId next_sibling(EventId) const = 0;   // same thread, same parent; 0 = none
  virtual EventId previous_sibling(EventId) const = 0;
  virtual EventId first_child(EventId) const = 0;
  virtual EventId next_in_thread(EventId) const = 0;
  virtual EventId previous_in_thread(EventId) const = 0;
  virtual std::vector<EventId> children(EventId) const = 0;
  virtual std::vector<EventId> roots(ThreadId) const = 0;  // depth 0; slow for large sessions: meant for the loader's index, cached

  // ---- small tables
  virtual const Key* key(KeyId) const = 0;                 // null = unknown
  virtual const Key* key_by_name(std::string_view) const = 0;
  virtual std::vector<const Key*> keys() const = 0;        // runtime keys then aliases, in enum order
  virtual const Keyset& keyset(KeysetId) const = 0;
  virtual const Op& op(OpId) const = 0;
  virtual uint32_t ops() const = 0;
  virtual const Kernel* kernel(KernelId) const = 0;
  virtual const Tls& tls(TlsId) const = 0;
  virtual std::vector<Thread> threads() const = 0;
  virtual const Thread* thread(ThreadId) const = 0;
  virtual std::vector<RecordedProcess> processes() const { return {}; }
  virtual Frame frame(StackId) const = 0;
  virtual StackId user_frame(StackId) const = 0;  // innermost frame of the user's own code (not torch, not site-packages, not frozen); 0 = none
  virtual std::vector<Slot> table(OpId, EventId at) const = 0;   // the operator's table as of that hop
  virtual uint64_t mask(OpId, EventId at, int backend) const = 0;
  virtual std::vector<KernelId> kernels_of(OpId) const = 0;      // all that was ever registered
  /// What was registered as of that hop; OpId 0: backend fallbacks. Empty: the recording does not tell.
  virtual std::vector<Registration> registrations(OpId, EventId) const { return {}; }
  virtual OpSource op_source(OpId) const { return {}; }          // may read the file
  virtual std::vector<EventId> table_versions(OpId) const { return {}; }  // since when each version of its table holds

  /// Null: nothing is known about a GPU. What it points to never changes; a newer one replaces it as a recording grows.
  virtual std::shared_ptr<const GpuActivity> gpu() const { return nullptr; }

  // ---- autograd, tensors, spans
  virtual uint32_t nodes() const = 0;
  virtual Node node(NodeId) const = 0;                           // may read the file
  virtual std::string_view node_name(NodeId) const = 0;          // never does
  virtual std::vector<NodeId> nodes_of(EventId) const = 0;       // made by exactly this hop
  virtual uint32_t nodes_inside(EventId) const = 0;              // made by it or below it
  virtual std::vector<Edge> edges(NodeId) const = 0;
  virtual std::vector<NodeId> users(NodeId) const = 0;           // nodes with an edge to it
  virtual std::vector<NodeRun> runs(NodeId) const = 0;
  virtual std::optional<NodeRun> run_of(EventId) const = 0;      // for kBackwardNode hops
  virtual bool has_saved() const { return false; }               // false: not recorded, or nothing was saved
  virtual std::vector<Saved> saved_of(NodeId) const { return {}; }
  virtual std::vector<Saved> saved_by(TensorId) const { return {}; }  // by which nodes
  virtual std::optional<TensorRow> tensor(TensorId) const = 0;
  virtual std::vector<WriteRow> writes(TensorId) const = 0;      // to its storage, in order
  virtual std::vector<WriteRow> writes_of(EventId) const = 0;
  virtual std::vector<EventId> uses(TensorId, size_t limit) const = 0;  // hops that took it as an argument
  virtual std::vector<Value> arguments(EventId) const = 0;       // of a redispatch: those of the call, with what differs
  virtual std::vector<Value> results(EventId) const = 0;
  virtual std::vector<Span> spans() const = 0;
  virtual std::vector<Span> modes_at(EventId) const { return {}; }  // modes that Python had entered there, innermost first; object: wire::ModeFamily
  virtual std::vector<Raised> raised() const = 0;
  virtual std::vector<Raised> raised_in(EventId) const = 0;
  virtual std::vector<HandChange> changes_of(EventId) const { return {}; }  // flag kChangedByHand says that there are some; in order
  virtual std::vector<HandChange> changes() const { return {}; }            // by hop
  virtual std::vector<Output> output() const = 0;
  virtual std::vector<Loss> losses() const = 0;
  virtual std::vector<Bookmark> bookmarks() const = 0;
  virtual Status set_bookmark(EventId, std::string_view text, bool present) = 0;  // finished, writable files; live ones keep it in memory until the end
  virtual std::vector<Note> notes() const { return {}; }         // by hop
  virtual Status set_note(EventId, std::string_view) { return Error{"this session takes no notes"}; }  // "" removes; kept as bookmarks are
  virtual std::string source(std::string_view path) const = 0;   // "" = not recorded
};

/// Computes raw key-set algebra in the numbering of one recording (bits read from dispatch_key).
class KeyMath {
 public:
  explicit KeyMath(const Session&);
  uint64_t minus(uint64_t a, uint64_t b) const;      // clears functionality bits only
  KeyId highest(uint64_t set) const;
  std::vector<KeyId> keys(uint64_t set) const;       // ascending priority, as PyTorch prints
  std::string text(uint64_t set) const;              // `DispatchKeySet(CPU, AutogradCPU)`
  bool has(uint64_t set, KeyId) const;
  int backend_index(uint64_t set) const;
  uint64_t bits(KeyId) const;
 private:
  std::vector<Key> by_bit_;  // runtime keys in iteration order
  uint64_t backends_ = 0;
};

}  // namespace peel
