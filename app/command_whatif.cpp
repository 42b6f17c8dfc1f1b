// peel whatif: what a registration, a key or a mode would change, without running the program again.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "sessions/show.h"
#include "sessions/whatif.h"

namespace peel::app {
namespace {

const std::string& key_name(const Session& s, KeyId k) {
  static const std::string kNone;
  const Key* key = s.key(k);
  return key ? key->name : kNone;
}

void print_json(const Session& s, const WhatIfAnswer& a) {
  for (const WhatIfRow& r : a.rows) {
    const Event e = s.event(r.event);
    JsonObject o;
    o.number("id", r.event.value).text("op", s.op(e.op).full).text("kind", kind_name(e.kind)).text("outcome", outcome_name(r.outcome));
    o.text("key", key_name(s, r.key_before)).text("kernel", r.kernel_before);
    if (r.outcome == WhatIfRow::Outcome::kUnknown) o.null("key_then").null("kernel_then");
    else o.text("key_then", key_name(s, r.key_after)).text("kernel_then", r.kernel_after);
    r.because ? o.number("beyond", r.because.value) : o.null("beyond");
    o.text("where", where_brief(s, e.stack));
    std::printf("%s\n", o.done().c_str());
  }
}

void print_text(const Session& s, const WhatIfAnswer& a, uint32_t max_rows) {
  std::printf("%s\n", whatif_sentence(a).c_str());
  std::vector<std::vector<std::string>> rows;
  uint64_t known = 0;
  for (const WhatIfRow& r : a.rows) {
    if (r.outcome == WhatIfRow::Outcome::kUnknown && r.because) continue;  // told by its number
    if (++known > max_rows && max_rows) continue;
    const Event e = s.event(r.event);
    const bool layer = r.outcome == WhatIfRow::Outcome::kLayer;
    rows.push_back({"  " + std::to_string(r.event.value), (layer ? "-> " : "") + s.op(e.op).full,
                    r.outcome == WhatIfRow::Outcome::kUnknown ? key_name(s, r.key_before) + " -> unknown" : whatif_words(s, r), inked(Ink::kDim, where_brief(s, e.stack))});
  }
  std::fputs(aligned(rows, {true}).c_str(), stdout);
  if (max_rows && known > max_rows) std::printf("%s\n", inked(Ink::kDim, thousands(max_rows) + " of " + counted(known, "row") + " shown").c_str());
  for (const std::string& r : a.remarks) std::printf("%s\n", r.c_str());
}

}  // namespace

int whatif_main(const std::vector<std::string>& arguments) {
  CLI::App app("What would change if a kernel were registered or removed, a key included or excluded, a mode on or off: computed from the recording, nothing is run. "
               "Ends with 1 when a call would go elsewhere first, else with 0.", "peel whatif");
  std::string file;
  bool json = false;
  uint32_t max_rows = 50;
  std::vector<std::string> words;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  const auto change = [&](const char* name, const char* help, const char* operand) {
    app.add_option_function<std::vector<std::string>>(std::string("--") + name, [&words, name](const std::vector<std::string>& all) {
      for (const std::string& a : all) words.insert(words.end(), {name, a});
    }, help)->option_text(operand)->allow_extra_args(false);
  };
  change("register", "A kernel is registered there too; OP * is the backend fallback", "OP@KEY");
  change("fallthrough", "A fallthrough is registered there", "OP@KEY");
  change("remove", "The kernel in force there is removed", "OP@KEY");
  change("include", "The key is in the thread's included set", "KEY");
  change("exclude", "The key is in the thread's excluded set", "KEY");
  change("enter", "no_grad, enable_grad, inference_mode or autocast:DEVICE is on", "MODE");
  change("leave", "The mode is off", "MODE");
  change("hop", "Keys and modes change in this hop and what is inside of it; without: in the whole recording", "N");
  change("span", "... in this span (table span)", "N");
  change("from", "... from this hop on", "N");
  change("to", "... up to this hop", "N");
  app.add_option("--max-rows", max_rows, "Stop after so many rows; 0 = all")->option_text("N");
  app.add_flag("--json", json, "One JSON object a line, what is unknown included");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  const auto question = parse_whatif(*session, words);
  if (!question) return fail(question.error());
  const WhatIfAnswer answer = what_if(*session, *question);
  if (json) print_json(*session, answer);
  else print_text(*session, answer, max_rows);
  return answer.changed ? kNo : kDone;
}

}  // namespace peel::app
