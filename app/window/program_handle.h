// The program of `peel run` as the window sees it: a state that is asked every frame. Starting it (and building
// the agent first) happens on a thread of its own. GUI tests put a program of their own in its place.
#pragma once
#include <memory>
#include <string>

#include "app/window/window.h"
#include "views/context.h"

namespace peel::app {

class ProgramHandle {
 public:
  virtual ~ProgramHandle() = default;
  virtual views::ProgramState state() = 0;
  /// Grows with each recording whose file can be opened; 0 = none yet.
  virtual int recordings() const = 0;
  virtual void interrupt() = 0;   // as Ctrl-C; while the agent is being built: cancels that
  virtual void kill() = 0;
  virtual void run_again() = 0;   // ends a running one first
  virtual int last_status() const = 0;  // of the last run that ended; -1 = none did
};

std::unique_ptr<ProgramHandle> make_program_handle(const Startable&);

}  // namespace peel::app
