// The program's side of control.h: whether a hop is one to stop at, and what its thread does while it stands.
#pragma once
#include <cstdint>

#include "tracer/wire/breakpoints.h"
#include "tracer/wire/link.h"

namespace peel::wire {

/// What an engine does around a thread that stands. Called on that thread.
class StopHost {
 public:
  /// Before it waits: what others may need (Python's lock) is let go of; `take_back` afterwards.
  virtual void give_way() = 0;
  virtual void take_back() = 0;
  /// Peel is gone, or Ctrl-C was pressed: nobody will send an order, or nobody should wait for it.
  virtual bool must_go_on() = 0;
  virtual void answer(const Question&, AnswerRows&) = 0;

 protected:
  ~StopHost() = default;
};

/// One thread's side. Only that thread may use it. Its ring must not be busy.
class Stopping {
 public:
  /// Where attention != 0, each hop calls it twice: when its records are published, and when its kernel has run. Returns when
  /// the hop may go on.
  void arrive(Control& control, uint32_t ring, const HopView& hop, StopHost& host) {
    Live& live = control.live;
    const uint32_t attention = live.attention.load(std::memory_order_acquire);
    if (attention & kHold && hop.phase == Phase::kBefore && live.focus.load() != ring + 1) stand_along(control, ring, hop, host);
    Reason why = Reason::kNone;
    uint64_t hit = 0;
    if (attention & kWatch) {
      refresh(live);
      if ((hit = counted(live, set_.match(hop)))) why = Reason::kBreakpoint;
    }
    if (why == Reason::kNone && attention & kStepping && ends_step(live, ring, hop)) why = Reason::kStep;
    if (why == Reason::kNone && attention & kPause && hop.phase == Phase::kBefore && live.attention.fetch_and(~uint32_t{kPause}) & kPause) why = Reason::kPause;
    if (why == Reason::kNone) return;
    for (uint32_t nobody = 0; !live.focus.compare_exchange_strong(nobody, ring + 1); nobody = 0) {
      if (!stand_along(control, ring, hop, host)) return;
    }
    stand(control, ring, hop, why, hit, host);
  }

 private:
  static constexpr long kLookMs = 100;  // how often a thread that stands looks whether it still should

  void refresh(const Live& live) {
    for (int tries = 0; tries < 100; ++tries) {
      if (live.edition.load(std::memory_order_acquire) == edition_) return;
      std::vector<uint8_t> table;
      uint32_t edition = 0;
      if (!read_table(live, &table, &edition)) continue;
      set_.set(read_breaks(table));
      edition_ = edition;
      return;
    }
  }
  /// Counts the hits; those that are to stop.
  uint64_t counted(Live& live, uint64_t hit) {
    uint64_t stops = 0;
    for (uint64_t left = hit; left; left &= left - 1) {
      const auto slot = static_cast<uint32_t>(__builtin_ctzll(left));
      const Break& b = *set_.at(slot);
      if (live.hits[slot].fetch_add(1) + 1 < b.first_hit) continue;
      if (b.flags & kOnce && live.spent.fetch_or(1ull << slot) >> slot & 1) continue;
      stops |= 1ull << slot;
    }
    return stops;
  }
  static bool ends_step(const Live& live, uint32_t ring, const HopView& hop) {
    if (live.step_ring.load() != ring) return false;
    const uint32_t depth = live.step_depth.load();
    switch (live.step.load()) {
      case Order::kInto: return hop.phase == Phase::kBefore;
      case Order::kOver: return hop.phase == Phase::kBefore && hop.depth <= depth;
      case Order::kOut: return hop.depth <= depth;
      default: return false;
    }
  }
  static void fill(Control& control, uint32_t ring, const HopView& hop, Reason why, uint64_t hit, uint32_t number) {
    Stand& s = control.stand[ring];
    s.reason = why, s.phase = hop.phase, s.depth = hop.depth, s.breakpoints = hit;
    s.head = control.ring[ring].head.load(std::memory_order_relaxed);
    s.order.store(0);
    s.stop.store(number, std::memory_order_release);
  }

  /// Until the focus is free. False: nobody asks for stops any more.
  bool stand_along(Control& control, uint32_t ring, const HopView& hop, StopHost& host) {
    Live& live = control.live;
    Stand& s = control.stand[ring];
    host.give_way();
    fill(control, ring, hop, Reason::kAlong, 0, live.stops.load());
    bool go_on = false;
    for (;;) {
      const uint32_t released = live.released.load();
      if (!(live.attention.load() & kHold) && live.focus.load() == 0) break;
      if ((go_on = control.recording.load() == 0 || host.must_go_on())) break;
      futex_wait(live.released, released, kLookMs);
    }
    s.stop.store(0);
    host.take_back();
    return !go_on;
  }

  void stand(Control& control, uint32_t ring, const HopView& hop, Reason why, uint64_t hit, StopHost& host) {
    Live& live = control.live;
    Stand& s = control.stand[ring];
    live.attention.fetch_or(kHold);
    live.attention.fetch_and(~uint32_t{kStepping});
    const uint32_t number = std::max(1u, (live.stops.load() + 1) & 0xffffff);
    host.give_way();
    fill(control, ring, hop, why, hit, number);
    live.stops.store(number);
    Order order = Order::kNone;
    while (order == Order::kNone) {
      const uint32_t bell = s.bell.load();
      if (live.asked.load(std::memory_order_acquire) != live.answered.load()) reply(live, ring, number, host);
      order = order_of(s.order.load(std::memory_order_acquire), number);
      if (order == Order::kNone && (control.recording.load() == 0 || host.must_go_on())) order = Order::kGo;
      if (order == Order::kNone) futex_wait(s.bell, bell, kLookMs);
    }
    if (order != Order::kGo) {
      live.step_ring.store(ring);
      live.step_depth.store(order == Order::kOut && hop.depth ? hop.depth - 1 : hop.depth);
      live.step.store(order);
      live.attention.fetch_or(kStepping);
    }
    s.stop.store(0);
    if (live.asked.load() != live.answered.load()) reply(live, ring, 0, host);
    live.attention.fetch_and(~uint32_t{kHold});  // before the focus is free for the next
    live.focus.store(0);
    ring_bell(live.released);
    host.take_back();
  }

  static void reply(Live& live, uint32_t ring, uint32_t number, StopHost& host) {
    const uint32_t asked = live.asked.load(std::memory_order_acquire);
    AnswerRows rows(live.answer);
    Question q = live.question;
    q.bytes = std::min(q.bytes, kQuestionBytes);
    if (q.ring == ring && q.stop == number) host.answer(q, rows);
    live.answered.store(asked, std::memory_order_release);
    futex_wake(live.answered);
  }

  BreakSet set_;
  uint32_t edition_ = 0;
};

}  // namespace peel::wire
