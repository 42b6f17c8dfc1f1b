// The event format between a traced process and the drain. Everything here is written by the agent in
// the program's process and read by `sessions/drain` in ours, through one memfd per process (link.h).
//
// Two streams per process:
//  * per-thread RINGS of records about what happened (begin, end, values, nodes, ...), in that thread's
//    order; no lock, no allocation, no formatting on the writing side;
//  * one ARENA ring of definitions (strings, operators, kernels, stacks, ...), written under a mutex and
//    always published before the first ring record that uses them. The drain reads ring heads first, then
//    the arena up to its head, so every id that it meets in a ring is known.
//
// Ids are per process and start at 1; 0 means none. All sizes are in 8-byte words, everything is
// 8-byte aligned, host byte order (both sides run on one machine). Times are ticks of clock.h.
// Both sides are compiled from the same file; kVersion guards against a stale agent.
#pragma once
#include <cstddef>
#include <cstdint>

namespace peel::wire {

constexpr uint32_t kMagic = 0x4c454550;  // "PEEL"
constexpr uint32_t kVersion = 4;

/// How a hop was entered. Values reach disk (table event_kind): never change one.
enum class HopKind : uint8_t {
  kCall = 0,
  kRedispatch = 1,
  kCallBoxed = 2,
  kRedispatchBoxed = 3,
  kMissingKernel = 4,
  kPythonMode = 5,
  kTorchFunction = 6,
  kBackwardNode = 7,
};

/// Bits of event.flags. Values reach disk.
enum EventFlag : uint32_t {
  kRaised = 1,         // left by an exception
  kInferredKind = 2,   // call or redispatch was inferred, not read off the return address
  kTruncated = 4,      // values or stack were cut to fit
  kNoValues = 8,       // recorded without arguments (--detail keys)
  kChangedByHand = 16, // while its thread stood there: Changed
};

enum class RecordKind : uint16_t {
  kPad = 0,
  kBegin = 1,     // Begin: a hop (or a node's run) starts
  kEnd = 2,       // End: the innermost open hop of this thread ends
  kTensor = 3,    // Tensor: an argument or result of the innermost open hop
  kValue = 4,     // Value: a non-tensor argument or result of the innermost open hop
  kWrite = 5,     // Write: an argument that the operator's schema says is written
  kError = 6,     // Error: an exception is passing through the innermost open hop
  kNode = 7,      // Node: an autograd node was made (or first seen) by the innermost open hop
  kNodeRun = 8,   // NodeRun: says which node the innermost open kBackwardNode hop runs
  kSpanBegin = 9, // SpanBegin / SpanEnd: a stretch with a name (nn.Module call, backward, ...)
  kSpanEnd = 10,
  kWaited = 11,   // Waited: the program had to wait for room in this ring
  kLost = 12,     // Lost: records that did not fit were dropped (--on-full drop), or something went unseen
  kMemory = 13,   // Allocation: an allocator's history, on the thread that asked
  kSegment = 14,  // Segment / Block: what the allocator held at the Allocation of action snapshot before them
  kBlock = 15,
  kGpu = 16,       // GpuActivity: what CUPTI reports, on its own thread, after the fact
  kGraphNode = 17, // GraphNode: a node of a CUDA graph was made, on the thread that captures
  kTick = 18,      // Tick: nothing but the time; what stands before it may be taken
  kSaved = 19,     // Saved: a variable that a node keeps for backward
  kGpuMemory = 20, // GpuMemory: memory that CUDA itself gave out or took back, on CUPTI's thread, after the fact
  kChanged = 21,   // Changed: what a person changed at the innermost open hop while its thread stood there
};

/// Every record starts so. `words` counts the whole record, this header included.
struct Head {
  RecordKind kind;
  uint16_t words;
  uint32_t a;  // meaning by kind
};

struct Begin {       // a = op id (0 for kBackwardNode)
  Head head;
  uint64_t time;
  uint64_t keyset;      // raw; as handed to the kernel. kMissingKernel: 0 when not known
  uint64_t arg_keyset;  // raw union over the arguments; calls only, else 0
  uint32_t kernel;      // kernel id; 0 for kMissingKernel and kBackwardNode
  uint32_t tls;         // tls id; never 0
  uint32_t stack;       // stack id, 0 = none
  HopKind kind;
  uint8_t flags;        // EventFlag, the low byte
  uint16_t key;         // the dispatch key (enum value in this process' PyTorch) the hop landed at
};

struct End {  // a = EventFlag to add
  Head head;
  uint64_t time;
};

/// Where a value stands: position among the arguments (or results) and, for lists, the index in it.
/// a = position | list_index_plus_1 << 8 (0 = not in a list) | kResultBit for results.
constexpr uint32_t kResultBit = 0x80000000u;
constexpr uint32_t place(uint32_t position, uint32_t list_index_plus_1 = 0) {
  return (position & 0xff) | (list_index_plus_1 & 0x3fffff) << 8;
}

enum TensorFlag : uint16_t {
  kUndefined = 1,
  kRequiresGrad = 2,
  kHasGradFn = 4,
  kWrappedNumber = 8,
  kInference = 16,
  kParticipates = 32,   // its key set went into arg_keyset
  kSameAsInner = 64,    // a result that an inner hop returned already, unchanged: no sizes follow
  kConj = 128,
  kNeg = 256,
  kNoSizes = 512,       // sizes are symbolic or not available
  kLeaf = 1024,
};

constexpr uint32_t kNoVersion = 0xffffffffu;  // inference tensors have none

struct Tensor {  // followed by int64 sizes[ndim], then int64 strides[ndim] (not with kSameAsInner, kNoSizes)
  Head head;
  uint64_t impl;     // address of the TensorImpl: identity while it lives
  uint64_t storage;  // address of the StorageImpl, 0 = none
  uint64_t data;     // address of the storage's bytes, 0 = none or not looked at: what an Allocation calls address
  uint64_t keyset;   // the tensor's own raw key set
  uint32_t version;  // or kNoVersion
  uint16_t flags;    // TensorFlag
  uint8_t dtype;     // at::ScalarType, named by DefKind::kDtype
  uint8_t ndim;
  uint8_t device_type;  // c10::DeviceType, named by DefKind::kDevice
  int8_t device_index;
  uint8_t layout;    // c10::Layout
  uint8_t pad[5];
};

enum class ValueType : uint8_t { kNone, kBool, kInt, kDouble, kComplex, kString, kIntList, kDoubleList, kBoolList, kDtype, kLayout, kDevice, kMemoryFormat, kOther };
struct Value {  // followed by the payload: int64 / double words; kString: bytes, padded; lists: count words
  Head head;
  ValueType type;
  uint8_t truncated;
  uint8_t pad[2];
  uint32_t count;  // elements or bytes in the payload
};

struct Write {  // a = place(position); versions before and after this hop
  Head head;
  uint64_t impl;
  uint64_t storage;
  uint32_t before;  // kNoVersion for inference tensors
  uint32_t after;
};

struct Error {  // a = string id of the type's name as Python would show it (`RuntimeError`)
  Head head;
  uint32_t message;  // string id, first line of the message
  uint32_t pad;
};

struct Edge {
  uint64_t node;  // address; 0 = no gradient flows here
  uint64_t sequence_nr;
  uint32_t input;
  uint32_t pad;
};
/// A node is identified by (address, sequence_nr); AccumulateGrad nodes share UINT64_MAX and are
/// identified by (address, variable).
struct Node {  // a = string id of the name; followed by Edge[edges]
  Head head;
  uint64_t node;
  uint64_t sequence_nr;
  uint64_t topological_nr;
  uint64_t thread_id;  // autograd's own numbering of threads
  uint64_t variable;   // AccumulateGrad: TensorImpl of the leaf, else 0
  uint64_t output;     // TensorImpl of the result through which it was found, 0 = none
  uint32_t edges;
  uint32_t found_late;  // 1 = made outside of any hop; the hop it stands in only met it
};

/// Bits of saved.flags. Values reach disk.
enum SavedFlag : uint32_t {
  kSavedOutput = 1,    // an output of the node, kept as its data: a TensorImpl of its own
  kSavedPacked = 2,    // saved_tensors_hooks packed it: which tensor it was isn't known
  kSavedReleased = 4,  // backward had let it go before the node was first met
  kSavedInside = 8,    // belongs to the node that a CopySlices runs
};
/// After the Node that it belongs to, maybe on another ring and more than once.
struct Saved {  // a = string id of the name; followed by a Tensor with its sizes, unless packed or released
  Head head;
  uint64_t node;
  uint64_t sequence_nr;
  uint64_t bytes;        // of the whole storage that it keeps alive
  uint32_t number;       // among what the node saved, from 0
  uint32_t list_index;   // + 1; 0 = not in a list
  uint32_t version;      // of the tensor when it was saved
  uint32_t flags;        // SavedFlag
};

enum ChangedWhat : uint8_t {
  kChangedPath = 1,     // it goes on with this set, kernel and kind: those of its Begin were what it would have been
  kChangedResults = 2,  // its results before this record were replaced: those that it returns follow
};
/// Published when the thread goes on. A hop may have two: before its kernel and after it.
struct Changed {  // a = string id of what was said, as in `exclude AutogradCPU`
  Head head;
  uint64_t keyset, keyset_before;
  uint32_t kernel, kernel_before;
  uint16_t key, key_before;
  HopKind kind, kind_before;
  uint8_t what;  // ChangedWhat; 0 = only the thread's sets
  uint8_t pad;
};

struct NodeRun {  // a = 0
  Head head;
  uint64_t node;
  uint64_t sequence_nr;
  uint64_t graph_task;  // autograd's id of the backward call, UINT64_MAX = none
};

enum class SpanKind : uint32_t { kModule = 1, kBackward = 2, kMark = 3, kOptimizer = 4, kCompile = 5, kMode = 6, kFunction = 7 };
/// What a kMode span changes; its `object`. Modes of one family nest; other spans need not nest with them. Values reach disk.
enum class ModeFamily : uint32_t { kNone = 0, kGrad = 1, kInference = 2, kAutocast = 3, kDispatchMode = 4, kFunctorch = 5, kGuard = 6 };
struct SpanBegin {  // a = string id of the name (`net.0`)
  Head head;
  uint64_t time;
  SpanKind kind;
  uint32_t detail;  // string id: the module's type (`Linear`), 0 = none
  uint64_t object;  // identity of what it is about (address of the module; backward: its graph task; mode: its ModeFamily)
  uint32_t stack;   // stack id
  uint32_t pad;
};
struct SpanEnd {  // a = 0: ends this thread's innermost open span that is no mode; else the innermost open mode of that ModeFamily
  Head head;
  uint64_t time;
};

struct Waited {  // a = 0
  Head head;
  uint64_t time;   // when the wait ended
  uint64_t ticks;  // how long
};
/// Numbers and meaning as c10::CachingDeviceAllocator::TraceEntry::Action. Values reach disk (table memory_action): never change one.
enum class MemoryAction : uint8_t { kAlloc, kFreeRequested, kFreeCompleted, kSegmentAlloc, kSegmentFree, kSegmentMap, kSegmentUnmap, kSnapshot, kOom };
constexpr uint32_t memory_place(MemoryAction action, uint8_t device_type, int8_t device_index) {
  return static_cast<uint32_t>(action) | uint32_t{device_type} << 8 | static_cast<uint32_t>(static_cast<uint8_t>(device_index)) << 16;
}
struct Allocation {  // a = memory_place()
  Head head;
  uint64_t time;
  uint64_t address;
  uint64_t size;     // bytes: alloc and free_* as asked for, segment_* of the segment
  uint64_t stream;   // handle, 0 = default
  uint64_t pool[2];  // MempoolId_t; 0, 0 = the default pool
  uint64_t free;     // oom: what the device had left
  uint32_t stack;    // where no hop is open: the Python stack; else 0
  uint32_t pad;
};
enum SegmentFlag : uint32_t { kLargePool = 1, kExpandable = 2 };
struct Segment {  // a = SegmentFlag; sizes in bytes
  Head head;
  uint64_t address, total_size, allocated_size, active_size, requested_size, stream;
  uint64_t pool[2];
};
enum class BlockState : uint32_t { kInactive, kActiveAllocated, kActivePendingFree };
struct Block {  // a = BlockState; belongs to the Segment before it
  Head head;
  uint64_t address, size, requested_size;
};

enum class GpuKind : uint32_t { kKernel, kCopy, kSet, kRuntime, kDriver, kSync, kEvent };
/// One activity of a GPU or one call of CUDA's API. Fields as in CUPTI's record of that kind; those that it lacks are 0.
struct GpuActivity {  // a = GpuKind
  Head head;
  uint64_t start, end;      // ticks; 0 = not known (kEvent has none)
  uint64_t graph_node;      // CUPTI's id of the node, 0 = none
  uint64_t bytes;           // kCopy, kSet
  uint32_t name;            // string id: mangled name of the kernel, or of the API function
  uint32_t correlation;
  uint32_t device, context, stream;
  uint32_t thread;          // kRuntime, kDriver: the operating system's id of the thread
  int32_t result;           // kRuntime, kDriver: return value; kSet: the value
  uint32_t grid[3], block[3];
  uint32_t registers, static_shared, dynamic_shared, local_per_thread, local_total;
  uint32_t kind, from, to;  // kCopy: copy kind, source and destination memory kind; kSet: `to`; kSync: `kind` its type
  uint32_t event;           // kSync, kEvent: id of the CUDA event
  uint32_t pad;
};
enum class GpuMemoryAction : uint32_t { kAlloc, kFree, kPoolCreated, kPoolDestroyed, kPoolTrimmed };
/// Memory from CUDA, or a change of one of its memory pools. Fields as in CUPTI's records; sizes in bytes.
struct GpuMemory {  // a = GpuMemoryAction
  Head head;
  uint64_t at;            // ticks
  uint64_t address;       // of the memory; 0 for pools
  uint64_t bytes;         // of the memory; kPoolTrimmed: what the pool keeps
  uint64_t pc;            // of the caller, 0 = not known
  uint64_t pool;          // address of the pool, 0 = none
  uint64_t threshold, pool_size, pool_used;  // imported pools: pool_size is the owner's process id
  uint32_t correlation, device, context, stream;
  uint32_t memory_kind;   // CUPTI's
  uint32_t pool_type;     // 1 = local, 2 = imported
};
struct GraphNode {  // a = 0
  Head head;
  uint64_t time;
  uint64_t id, origin;  // CUPTI's; origin: the node that it is a copy of, 0 = none
};
struct Tick {  // a = 0
  Head head;
  uint64_t time;
};

struct Lost {  // a = string id of the reason (goes into table loss)
  Head head;
  uint64_t count;
};

// ---------------------------------------------------------------------------------- definitions (arena)

enum class DefKind : uint16_t {
  kPad = 0,
  kString = 1,   // bytes
  kOp = 2,
  kKernel = 3,
  kTable = 4,    // an operator's computed table and masks as of now; again when it changed
  kTls = 5,
  kStack = 6,
  kKey = 7,      // one per runtime and alias key, right after attaching
  kDtype = 8,    // id = number used in Tensor.dtype, a string id follows; likewise kDevice, kLayout
  kDevice = 9,
  kLayout = 10,
  kFact = 11,    // a row of table meta: key, value as string ids
  kThread = 12,  // id = ring index; name as string id
};

struct DefHead {
  DefKind kind;
  uint16_t pad;
  uint32_t words;  // whole definition
  uint32_t id;
  uint32_t count;  // meaning by kind
};

struct DefString {  // count = bytes, which follow, padded with zeros
  DefHead head;
};
struct DefOp {  // count = arguments; followed by count x DefArgument
  DefHead head;
  uint32_t name;      // `aten::add`
  uint32_t overload;  // `Tensor`, may be the empty string
  uint32_t schema;    // full text, or 0
  uint32_t returns;   // how many results
};
struct DefArgument {
  uint32_t name;
  uint32_t flags;  // 1 = written (alias annotation with !), 2 = tensor-like, 4 = has a default, 8 = aliased by a result
};
enum Convention : uint32_t { kBoxed = 1, kUnboxed = 2, kSymInt = 4 };  // bits
struct DefKernel {
  DefHead head;
  uint32_t op;             // 0 = backend fallback
  uint32_t key;            // enum value of the key or alias it was registered at
  uint32_t rule;           // string id: `kernel`, `math kernel`, `autograd kernel`, `backend fallback`, ...
  uint32_t convention;     // Convention bits
  uint32_t registered_at;  // string id: the debug text
  uint32_t fallthrough;    // 0 / 1
};
/// Followed by DefSlot[count] (valid slots only), uint64 masks[mask_count], DefRegistration[registration_count].
struct DefTable {  // id = op id, 0 = the backend fallbacks (registrations only); count = slots
  DefHead head;
  uint32_t mask_count;  // 1 = one mask for all backends, else one per backend component, CPU first
  uint32_t registration_count;
  uint64_t time;        // ticks: holds for hops that begin at or after it (0 = from the start)
};
struct DefSlot {
  uint32_t slot;    // index in the table
  uint32_t kernel;  // kernel id
  uint32_t stale;   // 1 = the stored slot differs from what would be computed now
  uint32_t pad;
};
struct DefRegistration {  // all that is registered now; of one key the one in force first
  uint32_t key;     // runtime or alias
  uint32_t kernel;  // kernel id
};
struct DefTls {
  DefHead head;
  uint64_t included;  // raw, true value (after XOR with the defaults)
  uint64_t excluded;
  uint32_t grad_mode, inference_mode;
  uint32_t modes;     // string id: dispatch modes outermost first, functorch levels, autocast dtype; 0 = none
  uint32_t pad;
};
struct DefStack {  // one Python frame with its caller; interned as a tree
  DefHead head;
  uint32_t parent;    // stack id, 0 = outermost
  uint32_t file;      // string ids
  uint32_t function;
  uint32_t line;
};
struct DefKey {  // id = enum value
  DefHead head;
  uint32_t name;
  int32_t functionality_bit;  // bit in the 64-bit set, -1 = none (Undefined, aliases)
  int32_t backend_bit;        // bit in the set, -1 = none
  int32_t slot;               // index in the table, -1 = alias
};
struct DefName {  // kDtype, kDevice, kLayout, kThread: id as said there
  DefHead head;
  uint32_t name;
  uint32_t pad;
};
/// The fact that says that GPU activity will be reported, and by what; before the first report.
constexpr const char* kGpuFact = "gpu_activity";
/// The fact that says where PyTorch's lists of operators lie (torchgen/packaged); it is used, not stored.
constexpr const char* kListsFact = "operator_lists";
struct DefFact {
  DefHead head;
  uint32_t key;
  uint32_t value;
};

constexpr uint32_t words_of(size_t bytes) { return static_cast<uint32_t>((bytes + 7) / 8); }

}  // namespace peel::wire
