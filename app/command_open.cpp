// peel open: post-mortem, in the window.
#include "app/commands.h"
#include "app/console.h"
#include "app/display.h"
#include "app/parse.h"
#include "sessions/session.h"

#ifdef PEEL_WINDOW
#include "app/window/screenshot.h"
#include "app/window/window.h"
#endif

namespace peel::app {

int open_main(const std::vector<std::string>& arguments) {
  CLI::App app("Open a session file in the window; two: compare them.", "peel open");
  std::string file, other;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("OTHER", other, "Session file to compare with")->option_text("[OTHER.peel]");
#ifdef PEEL_WINDOW
  WindowOptions window;
  add_screenshot_options(app, window.screenshot);
  app.add_flag("--guide", window.first_run)->group("");
#endif
  if (const auto ended = parse(app, arguments)) return *ended;
  // Errors of the file come first: they are the same everywhere.
  if (Result<std::unique_ptr<Session>> session = Session::open(file); !session) return fail(session.error());
  if (!other.empty())
    if (Result<std::unique_ptr<Session>> session = Session::open(other); !session) return fail(session.error());
  const std::string instead = "; peel show " + file + " lists its hops, peel info " + file + " describes it";
#ifdef PEEL_WINDOW
  if (std::string why_not; !has_display(&why_not)) return fail("cannot open a window: " + why_not + instead);
  window.session_path = file;
  window.compare_path = other;
  return run_window(window, nullptr);
#else
  return fail("this peel was built without the window" + instead);
#endif
}

#ifdef PEEL_WINDOW
int keys_main(const std::vector<std::string>&) {
  std::fputs(keys_markdown().c_str(), stdout);
  return kDone;
}
#endif

}  // namespace peel::app
