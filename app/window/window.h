// The window's entry: what the command line hands over, and nothing that needs ImGui.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/recording.h"

namespace peel::app {

/// A program that can be (re)started from the window. `start` blocks (it may build the agent for a minute), so
/// the window calls it on a thread of its own; it reports progress and ends early with an error once
/// `cancel` is true. Each call makes a new recording that replaces the session file.
struct Startable {
  std::string title;                        // `train_step.py`
  std::vector<std::string> command_line;    // PROGRAM [ARGS] or -m MODULE [ARGS]
  std::function<Result<std::unique_ptr<Recording>>(const std::function<void(launch::BuildProgress)>& progress,
                                                   const std::atomic<bool>* cancel)>
      start;
};

/// `--screenshot OUT.png`: draws until nothing changes by itself any more, writes a picture and ends.
struct Screenshot {
  std::string file;        // "" = no screenshot
  int width = 1280, height = 720;
  uint32_t select = 0;     // hop to select; 0 = the default selection
  std::string workspace;   // "" = the first
  bool light = false;
  float zoom = 1;
  int frames = 0;          // at least so many frames are drawn first
  std::string command;     // id of a command to run before the picture (`help.keys`), "" = none
};

struct WindowOptions {
  /// peel open: the file. peel run: where the recording goes (there is none before the first start returned).
  std::string session_path;
  std::string compare_path;  // a second session, to compare with; "" = none
  /// peel run: start this when the window opens, and again at "run again". Without `start`: post-mortem.
  Startable program;
  /// Breakpoints, and the program's stops when there is one. Null: made by the window.
  std::shared_ptr<LiveControl> live;
  bool first_run = false;  // `./dev run` and `peel run` of a sample: offers the four stops
  Screenshot screenshot;
};

/// Shows the window until it is closed; ends a program that still runs. `program_status` (when not null) gets
/// the exit status of the last run that ended, untouched when none did. kDone, or kCouldNot after a message.
int run_window(const WindowOptions&, int* program_status);

/// The key table of the README as GitHub Markdown, made from the command table.
std::string keys_markdown();

}  // namespace peel::app
