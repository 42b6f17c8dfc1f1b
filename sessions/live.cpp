#include "sessions/live.h"

#include <unistd.h>

#include <chrono>
#include <cstring>

namespace peel {
namespace {

constexpr const char* kGoesOn = "the program does not stand any more";

}  // namespace

// ---- breakpoints

Result<uint32_t> LiveControl::add(Breakpoint b, bool once) {
  std::lock_guard lock(mutex_);
  forget_spent();
  uint64_t taken = 0;
  for (const auto& [id, s] : set_) taken |= 1ull << s.slot;
  if (taken == ~uint64_t{0}) return Error{"there are too many breakpoints: 64 at most"};
  Set s{std::move(b), true, once, static_cast<uint8_t>(__builtin_ctzll(~taken)), 0};
  std::vector<wire::Break> rows{s.breakpoint.table_row(s.slot, once)};
  for (const auto& [id, other] : set_) rows.push_back(other.breakpoint.table_row(other.slot, other.once));
  std::vector<uint8_t> bytes;
  if (const std::string_view wrong = wire::write_breaks(rows, &bytes); !wrong.empty()) return Error{std::string(wrong)};
  for (const Program& p : programs_) {
    p.control->live.hits[s.slot].store(0);
    p.control->live.spent.fetch_and(~(1ull << s.slot));
  }
  const uint32_t id = ++last_id_;
  set_.emplace(id, std::move(s));
  write_tables();
  return id;
}

bool LiveControl::remove(uint32_t id) {
  std::lock_guard lock(mutex_);
  if (!set_.erase(id)) return false;
  write_tables();
  return true;
}

bool LiveControl::enable(uint32_t id, bool on) {
  std::lock_guard lock(mutex_);
  const auto it = set_.find(id);
  if (it == set_.end()) return false;
  it->second.enabled = on;
  write_tables();
  return true;
}

std::vector<LiveControl::Row> LiveControl::breakpoints() const {
  std::lock_guard lock(mutex_);
  std::vector<Row> out;
  for (const auto& [id, s] : set_) {
    Row r{id, s.breakpoint.text(), s.enabled, s.once, s.hits};
    for (const Program& p : programs_) r.hits += p.control->live.hits[s.slot].load(std::memory_order_relaxed);
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<Breakpoint> LiveControl::enabled() const {
  std::lock_guard lock(mutex_);
  std::vector<Breakpoint> out;
  for (const auto& [id, s] : set_) if (s.enabled && !s.once) out.push_back(s.breakpoint);
  return out;
}

void LiveControl::write_tables() {
  for (const Program& p : programs_) write_table(p.control);
}

void LiveControl::write_table(wire::Control* c) const {
  std::vector<wire::Break> rows;
  for (const auto& [id, s] : set_) if (s.enabled) rows.push_back(s.breakpoint.table_row(s.slot, s.once));
  std::vector<uint8_t> bytes;
  wire::write_breaks(rows, &bytes);  // fits: add() saw to it
  wire::Live& live = c->live;
  wire::write_table(live, bytes);
  if (rows.empty()) live.attention.fetch_and(~uint32_t{wire::kWatch});
  else live.attention.fetch_or(wire::kWatch);
}

/// Breakpoints that stop once and did are no more.
void LiveControl::forget_spent() {
  uint64_t spent = 0;
  for (const Program& p : programs_) spent |= p.control->live.spent.load();
  if (std::erase_if(set_, [&](const auto& i) { return i.second.once && spent >> i.second.slot & 1; })) write_tables();
}

// ---- processes

void LiveControl::attach(wire::Control* c) {
  std::lock_guard lock(mutex_);
  programs_.push_back({c});
  write_table(c);
}

void LiveControl::detach(wire::Control* c) {
  std::lock_guard lock(mutex_);
  forget_spent();
  for (auto& [id, s] : set_) {
    for (const Program& p : programs_) if (p.control == c) s.hits += c->live.hits[s.slot].load();
  }
  std::erase_if(programs_, [&](const Program& p) { return p.control == c; });
}

uint32_t LiveControl::stands(const wire::Control* c, uint32_t* ring) {
  const uint32_t focus = c->live.focus.load(std::memory_order_acquire);
  if (focus == 0 || focus > wire::kMaxRings) return 0;
  const wire::Stand& s = c->stand[*ring = focus - 1];
  const uint32_t number = s.stop.load(std::memory_order_acquire);
  return s.reason == wire::Reason::kAlong || s.reason == wire::Reason::kNone ? 0 : number;
}

std::optional<LiveControl::Unplaced> LiveControl::unplaced(const wire::Control* c) const {
  std::lock_guard lock(mutex_);
  for (const Program& p : programs_) {
    Unplaced u{};
    if (p.control != c || !(u.number = stands(c, &u.ring)) || p.placed == u.number) continue;
    u.head = c->stand[u.ring].head;
    return u;
  }
  return std::nullopt;
}

void LiveControl::place(const wire::Control* c, const Unplaced& u, uint32_t process, ThreadId thread, EventId event) {
  std::lock_guard lock(mutex_);
  for (Program& p : programs_) {
    if (p.control != c) continue;
    const wire::Stand& s = c->stand[u.ring];
    const uint64_t hit = s.breakpoints;
    p.placed = u.number;
    p.ordered = false;
    p.stop = {++stops_, process, thread, event, s.phase == wire::Phase::kAfter, Stop::Why::kStep, {}};
    if (s.reason == wire::Reason::kPause) p.stop.why = Stop::Why::kPause;
    if (s.reason == wire::Reason::kBreakpoint) p.stop.why = Stop::Why::kBreakpoint;
    for (const auto& [id, b] : set_) if (hit >> b.slot & 1) p.stop.breakpoints.push_back(id);
  }
}

LiveControl::Program* LiveControl::standing() {
  for (Program& p : programs_) {
    uint32_t ring;
    if (p.placed && !p.ordered && stands(p.control, &ring) == p.placed) return &p;
  }
  return nullptr;
}

// ---- run, pause, step

std::optional<Stop> LiveControl::stop() const {
  std::lock_guard lock(mutex_);
  const Program* p = const_cast<LiveControl*>(this)->standing();
  return p ? std::optional(p->stop) : std::nullopt;
}

void LiveControl::pause() {
  std::lock_guard lock(mutex_);
  for (const Program& p : programs_) p.control->live.attention.fetch_or(wire::kPause);
}

bool LiveControl::pausing() const {
  std::lock_guard lock(mutex_);
  for (const Program& p : programs_) if (p.control->live.attention.load() & wire::kPause) return true;
  return false;
}

bool LiveControl::go() { return step(wire::Order::kGo); }

bool LiveControl::step(wire::Order order) {
  std::lock_guard lock(mutex_);
  for (const Program& p : programs_) p.control->live.attention.fetch_and(~uint32_t{wire::kPause});
  Program* p = standing();
  if (!p) return false;
  uint32_t ring = 0;
  const uint32_t number = stands(p->control, &ring);
  wire::Stand& s = p->control->stand[ring];
  s.order.store(wire::order_word(order, number), std::memory_order_release);
  wire::ring_bell(s.bell);
  p->ordered = true;
  forget_spent();
  return true;
}

void LiveControl::let_go() {
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, s] : set_) s.enabled = false;
    write_tables();
  }
  go();
}

// ---- questions

Result<LiveControl::Answer> LiveControl::ask(wire::Ask what, std::string_view text, int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(milliseconds);
  wire::Control* asked = nullptr;
  uint32_t number = 0, ring = 0, question = 0;
  for (;; ::usleep(500)) {
    {
      // The memory is looked at under the lock only: it goes when the process does.
      std::lock_guard lock(mutex_);
      Program* p = standing();
      if (!p) return Error{kGoesOn};
      wire::Live& live = p->control->live;
      if (!asked) {
        number = stands(p->control, &ring);
        const bool free = live.asked.load() == live.answered.load(std::memory_order_acquire);
        if (free || live.question.stop != number) {  // what was asked of a stop that is over is not answered any more
          asked = p->control;
          live.question.ask = what;
          live.question.ring = ring;
          live.question.stop = number;
          live.question.bytes = static_cast<uint32_t>(std::min<size_t>(text.size(), wire::kQuestionBytes));
          std::memcpy(live.question.text, text.data(), live.question.bytes);
          question = live.asked.load() + 1;
          live.asked.store(question, std::memory_order_release);
          wire::ring_bell(p->control->stand[ring].bell);
        }
      } else if (p->control != asked || p->placed != number) {
        return Error{kGoesOn};
      } else if (live.answered.load(std::memory_order_acquire) == question) {
        const uint32_t bytes = std::min(live.answer.bytes, wire::kAnswerBytes);
        return Answer{wire::read_rows(std::string(live.answer.text, bytes)), live.answer.cut != 0};
      }
    }
    if (Clock::now() > deadline) return Error{"the program does not answer: something in it holds Python's lock, or a repr takes long"};
  }
}

}  // namespace peel
