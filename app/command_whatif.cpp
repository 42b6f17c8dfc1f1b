// peel whatif: what a registration, a key or a mode would change: computed, and with --run held against a run with the change made.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/recording.h"
#include "app/session_argument.h"
#include "sessions/show.h"
#include "sessions/whatif_run.h"

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

/// A folder for the changed run, taken away with what is in it.
struct Scratch {
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "peel-whatif-XXXXXX").string();
    if (::mkdtemp(pattern.data())) path = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

void print_reality(const Session& s, const WhatIfReality& r, bool json, uint32_t max_rows) {
  if (json) {
    for (const WhatIfReality::Row& row : r.rows) {
      JsonObject o;
      o.number("id", row.event.value).number("other", row.other.value).text("op", s.op(s.event(row.event).op).full);
      o.text("outcome", row.predicted ? outcome_name(row.predicted->outcome) : "stays");
      row.predicted_words.empty() ? o.null("predicted") : o.text("predicted", row.predicted_words);
      o.text("real", row.real_words).boolean("agrees", row.agrees).text("inside", row.inside);
      std::printf("%s\n", o.done().c_str());
    }
    return;
  }
  std::printf("Really run: %s of %s went to the first kernel that was predicted%s.\n", thousands(r.agreed).c_str(), counted(r.compared, "call").c_str(),
              r.known ? (", " + counted(r.known, "call that was unknown is", "calls that were unknown are") + " known now").c_str() : "");
  std::vector<std::vector<std::string>> rows;
  for (const WhatIfReality::Row& row : r.rows) {
    if (max_rows && rows.size() >= max_rows) break;
    const bool unknown = row.predicted_words.empty();
    rows.push_back({"  " + std::to_string(row.event.value), s.op(s.event(row.event).op).full,
                    unknown ? "was unknown, went to " + row.real_words : row.agrees ? row.real_words : inked(Ink::kBad, "predicted " + row.predicted_words + "; it went to " + row.real_words),
                    row.inside.empty() ? "" : "inside: " + row.inside});
  }
  std::fputs(aligned(rows, {true}).c_str(), stdout);
  if (r.rows.size() > rows.size()) std::printf("%s\n", inked(Ink::kDim, thousands(rows.size()) + " of " + counted(r.rows.size(), "row") + " shown").c_str());
  for (const std::string& remark : r.remarks) std::printf("%s\n", remark.c_str());
}

/// The program once more, on the embedded engine, with the change made.
int run_changed(const Session& before, const WhatIf& question, const WhatIfAnswer& answer, bool json, uint32_t max_rows, std::string path) {
  if (const std::string why_not = why_not_run(before); !why_not.empty()) return fail(why_not);
  const Result<WhatIfScope> scope = scope_of(before, question);
  if (!scope) return fail(scope.error());
  Scratch scratch;
  path = path.empty() ? scratch.path + "/changed.peel" : std::filesystem::absolute(path).string();
  RecordingOptions o;
  o.arguments = argv_of(before);
  o.path = path;
  o.engine = "embedded";
  o.detail = before.meta("detail") == "keys" ? "keys" : "standard";
  o.forward_output = false;
  const Result<Prepared> prepared = prepare(o, {}, nullptr);
  if (!prepared) return fail(prepared.error());
  std::error_code error;
  std::filesystem::current_path(before.meta("folder"), error);
  if (error) return fail("the folder in which it was recorded is not there any more: " + before.meta("folder"));
  ::setenv(wire::kWhatIfEnv, whatif_lines(before, question, *scope).c_str(), 1);
  Result<std::unique_ptr<Recording>> recording = Recording::start(o, *prepared);
  ::unsetenv(wire::kWhatIfEnv);
  if (!recording) return fail(recording.error());
  const int status = (*recording)->wait();
  recording->reset();
  const std::unique_ptr<Session> after = open_session(path);
  if (!after) return kCouldNot;
  if (after->size() == 0) {
    std::string said;
    for (const Output& out : after->output()) if (out.stream == 2) said += out.text;
    const size_t at = said.find("what-if: ");
    return fail(at == std::string::npos ? "the changed program got nowhere; it ended with " + std::to_string(status) : said.substr(at + 9, said.find('\n', at) - at - 9));
  }
  WhatIfReality reality = compare_whatif(before, answer, *after);
  if (status) reality.remarks.push_back("With the change the program ended with status " + std::to_string(status) + ".");
  if (!json) std::printf("%s\n", whatif_sentence(answer).c_str());
  print_reality(before, reality, json, max_rows);
  return reality.agreed == reality.compared ? kDone : kNo;
}

}  // namespace

int whatif_main(const std::vector<std::string>& arguments) {
  CLI::App app("What would change if a kernel were registered or removed, a key included or excluded, a mode on or off: computed from the recording, nothing is run. "
               "Ends with 1 when a call would go elsewhere first, else with 0. With --run the program runs once more, and the status is 1 when a prediction was wrong.", "peel whatif");
  std::string file;
  std::string output;
  bool json = false, run = false;
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
  app.add_flag("--run", run, "Runs the program again on the embedded engine with the change made, and compares; for recordings of that engine");
  app.add_option("-o", output, "Keeps the recording of that run")->option_text("G.peel")->needs("--run");
  app.add_flag("--json", json, "One JSON object a line, what is unknown included");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  const auto question = parse_whatif(*session, words);
  if (!question) return fail(question.error());
  const WhatIfAnswer answer = what_if(*session, *question);
  if (run) return run_changed(*session, *question, answer, json, max_rows, output);
  if (json) print_json(*session, answer);
  else print_text(*session, answer, max_rows);
  return answer.changed ? kNo : kDone;
}

}  // namespace peel::app
