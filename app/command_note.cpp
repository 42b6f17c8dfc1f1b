// peel note: the reader's notes in a session file.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"

namespace peel::app {

int note_main(const std::vector<std::string>& arguments) {
  CLI::App app("List the notes of a session file, or write one at a hop; the window shows them in Findings and Trace.", "peel note");
  std::string file, text;
  long long number = 0;
  bool json = false, remove = false;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("HOP", number, "Where the note stands")->option_text("N");
  app.add_option("TEXT", text, "What it says; it replaces an earlier note there")->option_text("\"TEXT\"");
  app.add_flag("--remove", remove, "Take the note at that hop away");
  app.add_flag("--json", json, "One JSON object a note");
  if (const auto ended = parse(app, arguments)) return *ended;
  if (remove && (!number || !text.empty())) return fail("--remove wants the hop alone: peel note " + file + " N --remove");
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  EventId hop;
  if (number && !(hop = hop_argument(*session, number))) return kCouldNot;
  if (hop && (remove || !text.empty())) {
    if (session->live()) return fail(file + " is still being recorded: its notes can be written when it has ended, or in the window");
    const Status written = session->set_note(hop, text);
    return written ? kDone : fail(written.error());
  }
  size_t shown = 0;
  for (const Note& n : session->notes()) {
    if (hop && n.event != hop) continue;
    ++shown;
    if (json) {
      std::printf("%s\n", JsonObject().number("event", n.event.value).text("text", n.text).done().c_str());
      continue;
    }
    std::string lines = n.text;
    for (size_t i = lines.find('\n'); i != lines.npos; i = lines.find('\n', i + 1)) lines.insert(i + 1, "    ");
    std::printf("hop %u  %s\n    %s\n", n.event.value, session->op(session->event(n.event).op).full.c_str(), lines.c_str());
  }
  if (!shown && !json) say(hop ? "no note at hop " + std::to_string(number) : "no notes in " + file);
  return kDone;
}

}  // namespace peel::app
