// peel why: how a hop came about, or why it did not go to a key.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "sessions/show.h"
#include "sessions/why.h"

namespace peel::app {
namespace {

/// One line a key that could have mattered.
void print_json(const Session& s, EventId hop) {
  const Why w = why(s, hop);
  for (const WhyKey& k : w.keys) {
    const Key* key = s.key(k.key);
    JsonObject o;
    o.number("id", hop.value).text("key", key ? key->name : "").text("verdict", verdict_name(k.verdict)).text("reason", k.reason).text("detail", k.detail).boolean("inferred", k.inferred);
    k.evidence ? o.number("evidence", k.evidence.value) : o.null("evidence");
    const std::string where = where_brief(s, k.place);
    where.empty() ? o.null("where") : o.text("where", where);
    std::printf("%s\n", o.done().c_str());
  }
}

}  // namespace

int why_main(const std::vector<std::string>& arguments) {
  CLI::App app("Explain how a hop came about: the key sets it was computed from, the kernel, and every layer that was passed over.", "peel why");
  std::string file, not_key;
  long long number = 0;
  bool markdown = false, json = false;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  auto* hop_option = app.add_option("HOP", number, "Number of the hop, as peel show lists it; may be left out with --json")->option_text("N");
  app.add_option("--not", not_key, "Say why the hop did not go to this dispatch key")->option_text("KEY");
  app.add_flag("--markdown", markdown, "For an issue report");
  app.add_flag("--json", json, "The verdict on every key that could have mattered, one JSON object a line; without HOP: of every hop");
  if (const auto ended = parse(app, arguments)) return *ended;
  if (!*hop_option && (!json || !not_key.empty())) return fail("which hop? peel why " + file + " N; peel show " + file + " lists them");
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  if (!*hop_option) {
    for (uint32_t i = 1; i <= session->size(); ++i) print_json(*session, EventId{i});
    return kDone;
  }
  const EventId hop = hop_argument(*session, number);
  if (!hop) return kCouldNot;
  if (not_key.empty()) {
    if (json) print_json(*session, hop);
    else std::fputs(why_text(*session, why(*session, hop), markdown).c_str(), stdout);
    return kDone;
  }
  const Key* key = session->key_by_name(not_key);
  if (!key) return fail("there is no dispatch key " + not_key + " in this recording; peel query " + file + " \"select name from dispatch_key\" lists them");
  const NotWhy answer = why_not(*session, hop, key->id);
  if (json) {
    std::printf("%s\n", JsonObject().number("id", hop.value).text("key", key->name).text("verdict", verdict_name(answer.verdict)).text("reason", answer.sentence).done().c_str());
  } else if (markdown) {
    std::printf("**Why not `%s`?** %s\n\n%s", key->name.c_str(), answer.sentence.c_str(), why_text(*session, why(*session, hop), true).c_str());
  } else {
    std::printf("%s\n", answer.sentence.c_str());
  }
  return kDone;
}

}  // namespace peel::app
