// The order of all hops: merges the rings of all processes by time.
//
// Which hop may get the next id? The earliest one, once nobody can still publish an earlier one. For every
// ring there is a bound: no record that is published after our look at it carries a time below it.
//
//  A producer does: busy = 1; t = clock; fill; head = ... (release); busy = 0 (release).
//  We do:           now = clock; b = busy (acquire); h = head (acquire).
//
//  * b = 0. Take a record that is not yet below h. Its `busy = 1` cannot precede our load of busy: then either
//    busy would still read 1, or its `busy = 0` was what we read, and with it (release, acquire) its head. So
//    `busy = 1` became visible after our load, and its clock was read after that, up to what a processor moves
//    a store behind a later read of the clock, or our load before ours: the store buffer and the instructions
//    in flight, at most some microseconds (an instruction in flight does not survive an interrupt, so being
//    descheduled in between does not stretch it). Bound: now - kMarginNs, with kMarginNs far above that.
//  * b = 1. A record may be on its way whose clock was read at any time after the last published record. Times
//    in one ring do not go back. Bound: the last time below h.
//  * A ring that we did not see as open counts as b = 0: opening comes before its first `busy = 1`.
//  * Its thread ended, or its process is gone (known before h was read): nothing more comes. No bound.
//
// A ring is never held back by its own bound, only by those of the others: so the ring with the lowest bound
// can always be read to its end, a full ring always gets room, and nobody waits for ever. A ring that stays busy
// without publishing (a thread that was stopped in the middle of it) is no longer waited for after kStuckNs; what
// it publishes later comes late, and is counted.
//
// What has no time of its own goes with the record it belongs to: arguments with the Begin before them; results,
// writes, nodes and errors with the End (or next Begin) after them. That keeps the lives of tensors in order
// across threads too.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sessions/drain_ledger.h"
#include "sessions/drain_process.h"
#include "sessions/drain_track.h"
#include "tracer/wire/ring.h"

namespace peel {

class Merge {
 public:
  explicit Merge(Ledger& ledger) : ledger_(ledger) {}
  ~Merge();

  static constexpr int64_t kMarginNs = 50'000;
  static constexpr int64_t kStuckNs = 1'000'000'000;

  void add(Process*);
  /// Forgets a process that is gone and read to its end. Hops that never ended stay open.
  void remove(Process*);

  /// Looks how far every ring is. Definitions have to be read after it and before advance().
  void look();
  /// Merges what may be merged until the batch is full. True: it is, and there may be more before the next look.
  bool advance();
  /// After advance() came to its end: gives closed rings back, collects what was dropped.
  void settle();
  /// Is anything left to read of a process (meant for one that is gone)?
  bool drained(const Process*) const;
  /// Thread and innermost open hop of a ring, once it is merged up to `head`; hop 0 = none is open.
  std::optional<std::pair<uint32_t, uint32_t>> open_hop(const Process*, uint32_t ring, uint64_t head) const;
  /// All hops that began before this have been merged.
  uint64_t complete_until() const { return complete_until_; }
  /// How full the fullest ring was at the last look, 0..1.
  double fullness() const { return fullness_; }

 private:
  struct Ring {
    Process* process;
    uint32_t index;
    wire::RingControl* control;
    wire::Consumer consumer;
    std::unique_ptr<Track> track;
    uint64_t last = 0;        // newest time that was merged
    uint64_t published = 0;   // newest time below the scanned position
    uint64_t scanned = 0;
    uint64_t bound = 0, limit = 0;
    uint64_t next_time = 0;   // of the record up to which the next step goes
    uint64_t next_end = 0;    // position behind it
    uint64_t released = 0;
    uint64_t busy_head = 0;
    int64_t busy_since = 0;
    bool ready = false, ended = false, damaged = false;
  };

  void look_at(Ring&, int64_t now_ns, bool alone);
  void scan(Ring&);
  void peek(Ring&);
  void step(Ring&);
  void damage(Ring&);
  Track& track(Ring&);

  Ledger& ledger_;
  std::vector<Process*> processes_;
  std::vector<std::unique_ptr<Ring>> rings_;
  uint64_t complete_until_ = 0;
  double fullness_ = 0;
};

}  // namespace peel
