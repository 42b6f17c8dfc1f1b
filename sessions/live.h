// A recorded program that can be stopped: breakpoints, run, pause, step, and questions to the thread that stands
// (tracer/wire/control.h is what lies between). Any thread may call anything. The drain tells it of processes, and where in
// the file a stop is.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sessions/breakpoint.h"
#include "sessions/ids.h"
#include "tracer/wire/link.h"

namespace peel {

/// Where the program stands.
struct Stop {
  uint64_t id;                  // counts the stops of the recording
  uint32_t process;             // row of table process
  ThreadId thread;
  EventId event;                // the innermost hop that is open there
  bool after;                   // its kernel has run; its end is not recorded yet
  enum class Why : uint8_t { kBreakpoint, kPause, kStep } why;
  std::vector<uint32_t> breakpoints;  // ids of those that were hit
};

class LiveControl {
 public:
  struct Row { uint32_t id; std::string text; bool enabled, once; uint64_t hits; };

  /// A number for it; `once`: it goes when it was hit.
  Result<uint32_t> add(Breakpoint, bool once = false);
  bool remove(uint32_t id);
  bool enable(uint32_t id, bool on);
  std::vector<Row> breakpoints() const;
  /// The breakpoints as they are, for post-mortem and for another run.
  std::vector<Breakpoint> enabled() const;

  /// The thread whose hop begins next stops.
  void pause();
  bool pausing() const;  // asked for, and nobody stopped yet
  /// False: nothing stands.
  bool go();
  bool step(wire::Order);
  /// Nothing stops the program any more; what stands goes on.
  void let_go();
  std::optional<Stop> stop() const;

  struct Answer { std::vector<std::vector<std::string>> rows; bool cut = false; };
  /// Rows as wire::Ask says. Waits `milliseconds` at most. Error: it went on, is gone, or does not answer.
  Result<Answer> ask(wire::Ask, std::string_view text = "", int milliseconds = 3000);

  // ---- for the drain
  void attach(wire::Control*);  // before it is told that it is recorded
  void detach(wire::Control*);  // before the memory goes
  /// A stop that is in no file yet: whose ring, and up to where it has to be read.
  struct Unplaced { uint32_t ring, number; uint64_t head; };
  std::optional<Unplaced> unplaced(const wire::Control*) const;
  void place(const wire::Control*, const Unplaced&, uint32_t process, ThreadId, EventId);

 private:
  struct Program {
    wire::Control* control;
    uint32_t placed = 0;  // number of the stop that `stop` is
    bool ordered = false; // it was told to go on
    Stop stop{};
  };
  struct Set { Breakpoint breakpoint; bool enabled = true, once = false; uint8_t slot = 0; uint64_t hits = 0; };

  Program* standing();
  void write_tables();
  void write_table(wire::Control*) const;
  static uint32_t stands(const wire::Control*, uint32_t* ring);  // number of the stop; 0 = it runs
  void forget_spent();

  mutable std::mutex mutex_;
  std::vector<Program> programs_;
  std::map<uint32_t, Set> set_;
  uint32_t last_id_ = 0;
  uint64_t stops_ = 0;
};

}  // namespace peel
