// peel why: how a hop came about, or why it did not go to a key.
#include "app/commands.h"
#include "app/console.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "sessions/why.h"

namespace peel::app {

int why_main(const std::vector<std::string>& arguments) {
  CLI::App app("Explain how a hop came about: the key sets it was computed from, the kernel, and every layer that was passed over.", "peel why");
  std::string file, not_key;
  long long number = 0;
  bool markdown = false;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("HOP", number, "Number of the hop, as peel show lists it")->required()->option_text("N");
  app.add_option("--not", not_key, "Say why the hop did not go to this dispatch key")->option_text("KEY");
  app.add_flag("--markdown", markdown, "For an issue report");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  const EventId hop = hop_argument(*session, number);
  if (!hop) return kCouldNot;
  if (not_key.empty()) {
    std::fputs(why_text(*session, why(*session, hop), markdown).c_str(), stdout);
    return kDone;
  }
  const Key* key = session->key_by_name(not_key);
  if (!key) return fail("there is no dispatch key " + not_key + " in this recording; peel query " + file + " \"select name from dispatch_key\" lists them");
  std::printf("%s\n", why_not(*session, hop, key->id).sentence.c_str());
  return kDone;
}

}  // namespace peel::app
