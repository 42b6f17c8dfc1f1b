// peel record: the program with its own output and status, and a session file.
#include "app/commands.h"
#include "app/console.h"
#include "app/live_prompt.h"
#include "app/record_options.h"

namespace peel::app {

int record_main(const std::vector<std::string>& arguments) {
  CLI::App app("Run a program on PyTorch, or on the embedded engine, and write its session file. The exit status is the program's own; 2 also when it could not be started.", "peel record");
  RecordOptions options;
  options.add_to(app);
  if (const auto ended = options.parse_all(app, arguments)) return *ended;
  Prepared prepared;
  if (const auto ended = prepare_in_terminal(options.recording, prepared)) return *ended;
  Result<std::unique_ptr<Recording>> recording = Recording::start(options.recording, prepared);
  if (!recording) return fail(recording.error());
  drive_in_terminal(options, **recording);
  const int status = (*recording)->wait();
  report_recording(**recording);
  return status;
}

}  // namespace peel::app
