// peel findings: what deserves attention in a session.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "sessions/query.h"
#include "views/findings_model.h"

namespace peel::app {
namespace {

const std::atomic<bool> kNever{false};

}  // namespace

int findings_main(const std::vector<std::string>& arguments) {
  CLI::App app(
      "What deserves attention: exceptions and what they were about, failed look-ups, tensors that contradict themselves, where gradients stop,\n"
      "saved tensors that were written, hidden copies, fallbacks that loop, what is missing from the recording, notes.",
      "peel findings");
  std::string file;
  bool json = false;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_flag("--json", json, "One JSON object a line");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  const views::Ask ask = [&](const std::string& sql) {
    QueryOptions o;
    o.limit_ms = 20000, o.max_rows = 1000;
    return query(file, sql, o);
  };
  const views::Findings found = views::find_all(*session, ask, kNever);
  for (const views::Finding& f : found.rows) {
    const std::string text = views::plain(f.sentence);
    if (json) {
      JsonObject row;
      row.text("kind", views::finding_word(f.kind)).text("text", text).number("count", f.count);
      if (f.event) row.number("hop", f.event.value);
      else row.null("hop");
      std::printf("%s\n", row.done().c_str());
      continue;
    }
    std::string where = f.event ? "hop " + std::to_string(f.event.value) : "";
    if (f.count > 1) where += (where.empty() ? "" : ", ") + thousands(f.count) + " times";
    std::printf("%-9s %s%s\n", views::finding_word(f.kind), text.c_str(), where.empty() ? "" : inked(Ink::kDim, "  (" + where + ")").c_str());
  }
  if (!json) std::printf("%s\n", inked(Ink::kDim, found.summary()).c_str());
  return kDone;
}

}  // namespace peel::app
