// peel open: post-mortem, in the window.
#include "app/commands.h"
#include "app/console.h"
#include "app/display.h"
#include "app/parse.h"
#include "app/window/window.h"
#include "sessions/session.h"

namespace peel::app {

int open_main(const std::vector<std::string>& arguments) {
  CLI::App app("Open a session file in the window.", "peel open");
  std::string file;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  if (const auto ended = parse(app, arguments)) return *ended;
  // Errors of the file come first: they are the same everywhere.
  if (Result<std::unique_ptr<Session>> session = Session::open(file); !session) return fail(session.error());
  const std::string instead = "; peel show " + file + " lists its hops, peel info " + file + " describes it";
#ifdef PEEL_WINDOW
  if (std::string why_not; !has_display(&why_not)) return fail("cannot open a window: " + why_not + instead);
  WindowOptions window;
  window.session_path = file;
  return run_window(window, nullptr);
#else
  return fail("this peel was built without the window" + instead);
#endif
}

}  // namespace peel::app
