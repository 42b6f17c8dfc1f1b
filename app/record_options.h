// The options that `peel record` and `peel run` share, and what both do before a program starts.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "app/parse.h"
#include "app/recording.h"

namespace peel::app {

/// A command's options about recording. `parse_all` fills `recording`.
struct RecordOptions {
  RecordingOptions recording;
  std::string output, engine = "auto", max_size;
  bool no_source = false;
  std::vector<std::string> breaks;
  std::string break_commands;
  std::deque<std::string> script;     // of --break-commands
  std::optional<std::string> module;  // for --help only: split_at_program takes it out

  void add_to(CLI::App&);
  /// Parses and checks; a status when the command ends here.
  std::optional<int> parse_all(CLI::App&, const std::vector<std::string>& arguments);
};

/// Finds Python, builds the agent with a progress line on stderr; Ctrl-C stops that. A status when it failed.
std::optional<int> prepare_in_terminal(const RecordingOptions&, Prepared&);

/// The lines on stderr after a recording: where it is, how much, what is missing.
void report_recording(Recording&);

}  // namespace peel::app
