// The rings of link.h in use: a Producer (one thread of the traced process), an ArenaWriter (any thread
// of it, under a mutex), and a Consumer (peel's drain).
//
// One producer and one consumer a ring, no lock: the producer stores `head` (release) after it has filled
// a record, the consumer stores `tail` (release) after it has read one. A ring is mapped twice in a row,
// so that a record that crosses its end is still one stretch of memory.
//
// How a producer writes a record:
//     Busy busy(producer);                          // before the clock is read
//     uint64_t now = ticks();
//     if (uint64_t* at = producer.reserve(words)) { // may wait; null: dropped, or recording is over
//       fill(at, now);
//       producer.publish(words);
//     }                                             // ~Busy: after the record is published
// `busy` is what lets the drain put ids in begin order (sessions/drain_merge.h has the argument), so a
// thread must not block on anything but its own ring or the arena while it is set.
// Times in one ring must not go back (Waited, which is written from inside `reserve`, is exempt).
// In drop mode, a hop whose Begin was refused must not write anything else, its End included.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>

#include "tracer/wire/clock.h"
#include "tracer/wire/link.h"
#include "tracer/wire/wire.h"

namespace peel::wire {

constexpr uint64_t kMinRingBytes = 64 * 1024;  // the largest record must fit many times over in real use
constexpr uint64_t kMaxRingBytes = 1ull << 30;

constexpr bool valid_ring_bytes(uint64_t bytes) {
  return bytes >= kMinRingBytes && bytes <= kMaxRingBytes && (bytes & (bytes - 1)) == 0;
}

/// Maps [offset, offset + bytes) of a memfd twice in a row. Null when that fails.
inline uint8_t* map_ring(int fd, uint64_t offset, uint64_t bytes, bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* room = mmap(nullptr, bytes * 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  uint8_t* base = static_cast<uint8_t*>(room);
  for (int half = 0; half < 2; ++half) {
    void* got = mmap(base + half * bytes, bytes, protection, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset));
    if (got == MAP_FAILED) {
      munmap(room, bytes * 2);
      return nullptr;
    }
  }
  return base;
}
inline void unmap_ring(uint8_t* base, uint64_t bytes) {
  if (base) munmap(base, bytes * 2);
}

/// The shared memory of one process: its file and its mapped control block.
struct Memory {
  int fd = -1;
  Control* control = nullptr;
  uint64_t ring_bytes = 0;

  void close() {
    if (control) munmap(control, kControlBytes);
    if (fd >= 0) ::close(fd);
    fd = -1;
    control = nullptr;
  }
  /// After fork, in the child: drops the mapping and the file without touching what the parent sees.
  void forget() { close(); }
};

/// The traced process' side: makes the memfd (sparse: only what is written takes memory) with `recording` on.
inline bool create_memory(uint64_t ring_bytes, Memory* out) {
  if (!valid_ring_bytes(ring_bytes)) return false;
  rlimit limit;  // beyond it, ftruncate would send a signal that ends the program
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < memory_size(ring_bytes)) return false;
  Memory m;
  m.ring_bytes = ring_bytes;
  m.fd = static_cast<int>(syscall(SYS_memfd_create, "peel", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (m.fd < 0) return false;
  void* control = MAP_FAILED;
  if (ftruncate(m.fd, static_cast<off_t>(memory_size(ring_bytes))) == 0) {
    // a file that cannot shrink cannot make the reader fault
    fcntl(m.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    control = mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
  }
  if (control == MAP_FAILED) {
    ::close(m.fd);
    return false;
  }
  m.control = new (control) Control();
  m.control->version = kVersion;
  m.control->ring_bytes = ring_bytes;
  m.control->recording.store(1, std::memory_order_relaxed);
  m.control->magic.store(kMagic, std::memory_order_release);
  *out = m;
  return true;
}

/// Peel's side: checks a memfd that was handed over. Returns null and fills *out (which then owns `fd`), or
/// says what is wrong (`fd` stays the caller's).
inline const char* open_memory(int fd, Memory* out) {
  struct stat s;
  if (fstat(fd, &s) != 0) return "its memory cannot be read";
  if (static_cast<uint64_t>(s.st_size) < kControlBytes) return "its memory is too small";
  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
  if (fstat(fd, &s) != 0 || !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK)) return "its memory is not sealed against shrinking";
  void* mapped = mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return "its memory cannot be mapped";
  Control* control = static_cast<Control*>(mapped);
  const char* wrong = nullptr;
  const uint64_t ring_bytes = control->ring_bytes;
  if (control->magic.load(std::memory_order_acquire) != kMagic) {
    wrong = "its memory does not begin as it should";
  } else if (control->version != kVersion) {
    wrong = "its agent was built for another version of peel";
  } else if (!valid_ring_bytes(ring_bytes) || static_cast<uint64_t>(s.st_size) < memory_size(ring_bytes)) {
    wrong = "its memory has the wrong size";
  }
  if (wrong) {
    munmap(mapped, kControlBytes);
    return wrong;
  }
  *out = Memory{fd, control, ring_bytes};
  return nullptr;
}

enum class OnFull : uint8_t { kWait, kDrop };

/// What both kinds of writers share: a double-mapped stretch with head and tail.
class Writer {
 public:
  /// Room for `words` words at the head, or null: there is none and none will come (drop mode, recording
  /// over, peel gone, record too large). Nothing is visible to the drain until publish().
  uint64_t* reserve(uint32_t words) {
    if (__builtin_expect(head_ + words * 8ull <= limit_, 1)) return at(head_);
    return reserve_slowly(words);
  }
  /// Makes the first `words` words of what was reserved visible.
  void publish(uint32_t words) {
    head_ += words * 8ull;
    shared_head_->store(head_, std::memory_order_release);
    want(at(head_ + kAhead));
    want(at(head_ + kAhead + 64));
  }
  bool is_open() const { return base_ != nullptr; }
  uint64_t head() const { return head_; }

 protected:
  using Gone = bool (*)(void*);

  uint64_t* at(uint64_t position) const { return reinterpret_cast<uint64_t*>(base_ + (position & mask_)); }

  /// The lines that come next lie in the drain's cache since the last round: they are asked for while the program works.
  static constexpr uint64_t kAhead = 256;
  static void want(const void* line) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
  }

  /// The drain's tail as of now; a tail that makes no sense is not believed.
  void refresh() {
    const uint64_t tail = shared_tail_->load(std::memory_order_acquire);
    if (head_ - tail <= mask_ + 1) limit_ = tail + mask_ + 1;
  }

  __attribute__((noinline)) uint64_t* reserve_slowly(uint32_t words) {
    const uint64_t bytes = words * 8ull, size = mask_ + 1;
    refresh();
    if (head_ + bytes <= limit_) return at(head_);
    if (!base_ || bytes + sizeof(Waited) > size / 2) return refuse();
    if (on_full_ == OnFull::kDrop) return refuse();
    // The wait is told in the ring itself; the arena has no such record and leaves it to the caller's ring.
    const uint64_t note = ring_ ? sizeof(Waited) : 0;
    const uint64_t since = ticks();
    timespec pause{0, 20000};
    for (uint32_t round = 0;; ++round) {
      if (control_->recording.load(std::memory_order_relaxed) == 0) return refuse();
      if (round % 16 == 15 && gone_ && gone_(context_)) return refuse();
      nanosleep(&pause, nullptr);
      if (pause.tv_nsec < 500000) pause.tv_nsec += pause.tv_nsec / 2;
      refresh();
      if (head_ + bytes + note <= limit_) break;
    }
    const uint64_t now = ticks();
    waited_ += now - since;
    if (note) {
      Waited record{};
      record.head = {RecordKind::kWaited, static_cast<uint16_t>(sizeof(Waited) / 8), 0};
      record.time = now;
      record.ticks = now - since;
      std::memcpy(at(head_), &record, sizeof(record));
      publish(sizeof(Waited) / 8);
    }
    return at(head_);
  }
  uint64_t* refuse() {
    if (ring_) ring_->dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }

  // in the order in which the fast path wants them
  uint64_t head_ = 0, limit_ = 0, mask_ = 0;
  uint8_t* base_ = nullptr;
  std::atomic<uint64_t>* shared_head_ = nullptr;
  std::atomic<uint64_t>* shared_tail_ = nullptr;
  RingControl* ring_ = nullptr;
  Control* control_ = nullptr;
  Gone gone_ = nullptr;
  void* context_ = nullptr;
  uint64_t waited_ = 0;
  OnFull on_full_ = OnFull::kWait;
};

/// Takes a free ring; kMaxRings when all are taken. Any thread. The drain hands rings back (kClosed -> kFree).
inline uint32_t claim_ring(Control* control) {
  for (uint32_t i = 0; i < kMaxRings; ++i) {
    uint32_t expected = kFree;
    if (!control->ring[i].state.compare_exchange_strong(expected, kOpen, std::memory_order_acq_rel)) continue;
    uint32_t high = control->rings.load(std::memory_order_relaxed);
    while (high < i + 1 && !control->rings.compare_exchange_weak(high, i + 1, std::memory_order_acq_rel)) {
    }
    return i;
  }
  return kMaxRings;
}

/// Writes one thread's records. Only that thread may use it.
class Producer : public Writer {
 public:
  /// `index` is from claim_ring. `gone` says whether peel is gone (asked now and then while waiting).
  /// `populate`: that many bytes get their memory now instead of at the first write to each page.
  bool open(const Memory& memory, uint32_t index, uint64_t thread_id, OnFull on_full = OnFull::kWait, Gone gone = nullptr,
            void* context = nullptr, uint64_t populate = 0) {
    uint8_t* base = map_ring(memory.fd, ring_offset(index, memory.ring_bytes), memory.ring_bytes, true);
    if (!base) return false;
#ifdef MADV_POPULATE_WRITE
    if (populate) madvise(base, populate < memory.ring_bytes ? populate : memory.ring_bytes, MADV_POPULATE_WRITE);
#else
    (void)populate;
#endif
    open(memory.control, index, base, memory.ring_bytes, thread_id, on_full, gone, context);
    return true;
  }
  /// Over memory that is mapped already.
  void open(Control* control, uint32_t index, uint8_t* base, uint64_t bytes, uint64_t thread_id, OnFull on_full, Gone gone, void* context) {
    base_ = base;
    mask_ = bytes - 1;
    control_ = control;
    ring_ = &control->ring[index];
    shared_head_ = &ring_->head;
    shared_tail_ = &ring_->tail;
    on_full_ = on_full;
    gone_ = gone;
    context_ = context;
    head_ = ring_->head.load(std::memory_order_relaxed);  // positions go on where the last thread stopped
    limit_ = head_;
    refresh();
    ring_->thread_id.store(thread_id, std::memory_order_relaxed);
    ring_->opened.store(ticks(), std::memory_order_release);
  }
  /// The thread ends: what it published is still read, then the ring is free for another.
  void close() {
    if (!base_) return;
    ring_->busy.store(0, std::memory_order_release);
    ring_->state.store(kClosed, std::memory_order_release);
    forget();
  }
  /// After fork, in the child: lets go of the mapping without telling anyone.
  void forget() {
    unmap_ring(base_, mask_ + 1);
    *this = Producer();
  }

  /// See Busy. Not nested: only the outermost one may clear it.
  void set_busy() {
    ring_->busy.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the clock is read after this line
  }
  void clear_busy() { ring_->busy.store(0, std::memory_order_release); }
  RingControl* control() { return ring_; }
};

/// Marks the ring for as long as a time has been read whose record is not yet published.
class Busy {
 public:
  explicit Busy(Producer& p) : p_(p) { p_.set_busy(); }
  ~Busy() { p_.clear_busy(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  Producer& p_;
};

/// Writes definitions. The caller holds the one mutex of the process; a definition must be published before
/// the first ring record that names it. Always waits when full.
class ArenaWriter : public Writer {
 public:
  bool open(const Memory& memory, Gone gone = nullptr, void* context = nullptr) {
    uint8_t* base = map_ring(memory.fd, kControlBytes, kArenaBytes, true);
    if (!base) return false;
    open(memory.control, base, kArenaBytes, gone, context);
    return true;
  }
  void open(Control* control, uint8_t* base, uint64_t bytes, Gone gone, void* context) {
    base_ = base;
    mask_ = bytes - 1;
    control_ = control;
    shared_head_ = &control->arena_head;
    shared_tail_ = &control->arena_tail;
    gone_ = gone;
    context_ = context;
    head_ = shared_head_->load(std::memory_order_relaxed);
    limit_ = head_;
    refresh();
  }
  void forget() {
    unmap_ring(base_, mask_ + 1);
    *this = ArenaWriter();
  }
  uint64_t waited() const { return waited_; }  // ticks spent waiting for room

  /// A definition of fixed size, optionally with words after it. False: recording is over.
  template <class Def>
  bool define(Def def, const void* tail = nullptr, size_t tail_bytes = 0) {
    const uint32_t words = words_of(sizeof(Def) + tail_bytes);
    def.head.words = words;
    uint64_t* at = reserve(words);
    if (!at) return false;
    at[words - 1] = 0;  // padding
    std::memcpy(at, &def, sizeof(Def));
    if (tail_bytes) std::memcpy(reinterpret_cast<uint8_t*>(at) + sizeof(Def), tail, tail_bytes);
    publish(words);
    return true;
  }
  bool define_string(uint32_t id, const char* text, size_t bytes) {
    DefString def{};
    def.head.kind = DefKind::kString;
    def.head.id = id;
    def.head.count = static_cast<uint32_t>(bytes);
    return define(def, text, bytes);
  }
};

/// Reads a ring or an arena. Only one thread may use it.
class Consumer {
 public:
  bool open_ring(const Memory& memory, uint32_t index) {
    uint8_t* base = map_ring(memory.fd, ring_offset(index, memory.ring_bytes), memory.ring_bytes, false);
    if (base) open(&memory.control->ring[index].head, &memory.control->ring[index].tail, base, memory.ring_bytes);
    return base != nullptr;
  }
  bool open_arena(const Memory& memory) {
    uint8_t* base = map_ring(memory.fd, kControlBytes, kArenaBytes, false);
    if (base) open(&memory.control->arena_head, &memory.control->arena_tail, base, kArenaBytes);
    return base != nullptr;
  }
  void open(std::atomic<uint64_t>* head, std::atomic<uint64_t>* tail, const uint8_t* base, uint64_t bytes) {
    shared_head_ = head;
    shared_tail_ = tail;
    base_ = base;
    mask_ = bytes - 1;
    position_ = end_ = tail->load(std::memory_order_relaxed);
  }
  void close() {
    unmap_ring(const_cast<uint8_t*>(base_), mask_ + 1);
    base_ = nullptr;
  }
  bool is_open() const { return base_ != nullptr; }

  /// Looks how far the writer is. False: its head makes no sense (nothing more can be read).
  bool refresh() {
    const uint64_t head = shared_head_->load(std::memory_order_acquire);
    if (head < end_ || head - position_ > mask_ + 1 || head % 8 != 0) return false;
    end_ = head;
    return true;
  }
  uint64_t position() const { return position_; }  // of the next word to read
  uint64_t end() const { return end_; }            // as of the last refresh()
  uint64_t size() const { return mask_ + 1; }
  const uint64_t* at(uint64_t position) const { return reinterpret_cast<const uint64_t*>(base_ + (position & mask_)); }
  void advance(uint64_t position) { position_ = position; }
  /// Gives everything before position() back to the writer.
  void release() { shared_tail_->store(position_, std::memory_order_release); }

 private:
  uint64_t position_ = 0, end_ = 0, mask_ = 0;
  const uint8_t* base_ = nullptr;
  std::atomic<uint64_t>* shared_head_ = nullptr;
  std::atomic<uint64_t>* shared_tail_ = nullptr;
};

}  // namespace peel::wire
