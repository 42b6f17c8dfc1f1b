// peel run: the program, live in the window; without one: recorded, and its trace printed.
#include <unistd.h>

#include "app/commands.h"
#include "app/console.h"
#include "app/display.h"
#include "app/live_prompt.h"
#include "app/record_options.h"
#include "app/session_argument.h"
#include "app/show.h"

#ifdef PEEL_WINDOW
#include "app/window/screenshot.h"
#include "app/window/window.h"
#endif

namespace peel::app {
namespace {

constexpr uint32_t kRowsWithoutWindow = 60;

int run_in_terminal(const RecordOptions& options, const std::string& why_not) {
  say(why_not + ": the program is recorded, and its trace printed");
  Prepared prepared;
  if (const auto ended = prepare_in_terminal(options.recording, prepared)) return *ended;
  int status = 0;
  {
    Result<std::unique_ptr<Recording>> recording = Recording::start(options.recording, prepared);
    if (!recording) return fail(recording.error());
    drive_in_terminal(options, **recording);
    status = (*recording)->wait();
    report_recording(**recording);
    if ((*recording)->stats().hops == 0) return status;
  }
  if (const std::unique_ptr<Session> session = open_session(options.recording.path)) {
    std::printf("\n");
    print_trace(*session, kRowsWithoutWindow);
    std::printf("\nThe session is in %s. Next: peel why %s N explains hop N; peel open %s on a machine with a display.\n",
                options.recording.path.c_str(), options.recording.path.c_str(), options.recording.path.c_str());
  }
  return status;
}

#ifdef PEEL_WINDOW
int run_in_window(RecordOptions& options, WindowOptions window) {
  options.recording.forward_output = false;
  window.session_path = options.recording.path;
  window.program.title = program_title(options.recording.arguments);
  window.program.command_line = options.recording.arguments;
  window.live = options.recording.live = std::make_shared<LiveControl>();
  for (const Breakpoint& b : options.recording.breakpoints)
    if (const Result<uint32_t> id = window.live->add(b); !id) return fail(id.error());
  const RecordingOptions recording = options.recording;
  window.program.start = [recording](const std::function<void(launch::BuildProgress)>& progress,
                                     const std::atomic<bool>* cancel) -> Result<std::unique_ptr<Recording>> {
    const Result<Prepared> prepared = prepare(recording, progress, cancel);
    if (!prepared) return Error{prepared.error()};
    return Recording::start(recording, *prepared);
  };
  int status = kDone;
  const int window_status = run_window(window, &status);
  return window_status == kDone ? status : window_status;
}
#endif

}  // namespace

int run_main(const std::vector<std::string>& arguments) {
  CLI::App app("Run a program on PyTorch, or on the embedded engine, and walk through it in the window while it runs. Without a display the trace is printed. The exit status is the program's own.", "peel run");
  RecordOptions options;
  options.add_to(app);
  bool no_window = false;
  app.add_flag("--no-window", no_window, "Print the trace even when there is a display");
#ifdef PEEL_WINDOW
  WindowOptions window;
  app.add_flag("--guide", window.first_run, "Offer a short tour of the sample")->group("");
  add_screenshot_options(app, window.screenshot);
#else
  bool guide = false;
  app.add_flag("--guide", guide)->group("");
#endif
  if (const auto ended = options.parse_all(app, arguments)) return *ended;
#ifdef PEEL_WINDOW
  std::string why_not = "no window was asked for";
  if (no_window || !has_display(&why_not)) return run_in_terminal(options, why_not);
  return run_in_window(options, window);
#else
  return run_in_terminal(options, "this peel was built without the window");
#endif
}

}  // namespace peel::app
