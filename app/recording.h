// Launch and drain joined: a program that runs and the session file that grows from it.
// Used by `peel record`, `peel run` and the window alike.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sessions/drain.h"
#include "sessions/live.h"
#include "tracer/launch/launch.h"

namespace peel::app {

/// What the command line (or the window) asks for.
struct RecordingOptions {
  std::vector<std::string> arguments;  // PROGRAM [ARGS] or -m MODULE [ARGS], as for python
  std::string path;                    // session file; replaced when it exists
  std::string python;                  // --python; "" = find one
  std::string engine = "auto";         // auto | pytorch | embedded
  std::string detail = "standard";     // keys | standard
  std::string on_full = "wait";        // wait | drop
  unsigned ring_mib = 0;               // 0 = default
  bool keep_source = true;
  uint64_t max_bytes = 0;              // 0 = no bound
  bool forward_output = true;          // false: the program's output goes to the session only
  std::vector<Breakpoint> breakpoints; // set before the program's first hop
  std::shared_ptr<LiveControl> live;   // null: made here, with these breakpoints
};

/// What has to be there before a program can be recorded. Finding it can take a minute (building the agent).
struct Prepared {
  launch::Python python;
  launch::AgentBuild agent;
  std::string engine = "pytorch";      // or embedded
  std::string engine_version;
};
/// auto: PyTorch when the Python can import it, else the embedded engine.
Result<Prepared> prepare(const RecordingOptions&, const std::function<void(launch::BuildProgress)>&,
                         const std::atomic<bool>* cancel);

/// `train.py` or the module's name: for titles.
std::string program_title(const std::vector<std::string>& arguments);
/// `<program>.peel` in the current folder.
std::string default_session_path(const std::vector<std::string>& arguments);

class Recording {
 public:
  /// Creates the file and starts the program. Error: neither happened.
  static Result<std::unique_ptr<Recording>> start(const RecordingOptions&, const Prepared&);
  /// Ends the program if it still runs, and finishes the file.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Waits for the program's end and finishes the file; the program's own exit status. Callable once or often.
  int wait();
  bool ended() const { return run_->ended(); }      // the program; wait() then takes no more than a moment
  bool killed_by_signal() const { return run_->killed_by_signal(); }
  void interrupt() { run_->interrupt(); }
  void kill() { run_->kill(); }
  int pid() const { return run_->pid(); }
  LiveControl& live() { return *live_; }

  const std::string& path() const { return options_.path; }
  const std::string& title() const { return title_; }
  DrainStats stats() const { return drain_->stats(); }
  /// Why recording stopped early or the file could not be finished; "" = nothing is wrong.
  std::string trouble() const;

 private:
  Recording() = default;
  void set_meta(const Prepared&);

  RecordingOptions options_;
  std::string title_;
  std::shared_ptr<LiveControl> live_;
  std::unique_ptr<Drain> drain_;
  std::unique_ptr<launch::Run> run_;
  mutable std::mutex mutex_;
  std::string trouble_;
  bool finished_ = false;
  int status_ = 0;
};

}  // namespace peel::app
