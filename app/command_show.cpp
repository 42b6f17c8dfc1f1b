// peel show: the hops of a session, one a line.
#include "app/commands.h"
#include "app/console.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "app/show.h"
#include "sessions/call_text.h"
#include "sessions/filter.h"
#include "sessions/show.h"

namespace peel::app {
namespace {

void print_line(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

void print_counts(const ShowCounts& c) {
  if (c.shown == c.all) return;
  const std::string text = c.matched == c.all ? thousands(c.shown) + " of " + counted(c.all, "hop") + " shown"
                                              : thousands(c.shown) + " of " + counted(c.matched, "matching hop") + " shown; " + counted(c.all, "hop") + " in all";
  std::printf("%s\n", inked(Ink::kDim, text).c_str());
}

}  // namespace

void print_trace(const Session& session, uint32_t max_rows) {
  ShowOptions options;
  options.max_rows = max_rows;
  const ShowCounts c = show(session, options, false, print_line);
  if (c.matched > c.shown)
    std::printf("%s\n", inked(Ink::kDim, thousands(c.matched - c.shown) + " more: peel show " + session.path()).c_str());
}

int show_main(const std::vector<std::string>& arguments) {
  CLI::App app("List the hops of a session file, in the order in which they began.", "peel show");
  std::string file, pattern, filter, form;
  bool json = false;
  long long number = 0, from = 0, to = 0;
  uint32_t max_rows = 0;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("--op", pattern, "Only operators that match: aten::add.Tensor, add*, *norm*")->option_text("PATTERN");
  app.add_option("--filter", filter, "Only hops that match, in the language of the window's filter bar: op:add* key:Autograd*")->option_text("TEXT");
  app.add_option("--event", number, "Only this hop and what it called")->option_text("N");
  app.add_option("--from", from, "From this hop on")->option_text("N");
  app.add_option("--to", to, "Up to this hop")->option_text("N");
  app.add_option("--max-rows", max_rows, "Stop after so many")->option_text("N");
  app.add_flag("--json", json, "One JSON object a hop");
  app.add_option("--as", form, "With --event: that hop to be passed on: text, markdown, sql (selects it), python (repeats the call)")
      ->check(CLI::IsMember({"text", "markdown", "sql", "python"}))->option_text("FORM");
  if (const auto ended = parse(app, arguments)) return *ended;
  if (const Result<Filter> parsed = Filter::parse(filter); !parsed) return fail("--filter: " + parsed.error());
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  ShowOptions options;
  options.op = pattern;
  options.filter = filter;
  options.max_rows = max_rows;
  for (const auto& [given, hop] : {std::pair{number, &options.event}, {from, &options.from}, {to, &options.to}}) {
    if (given == 0) continue;
    *hop = hop_argument(*session, given);
    if (!*hop) return kCouldNot;
  }
  if (from && to && from > to) return fail("--from " + std::to_string(from) + " is after --to " + std::to_string(to));
  if (!form.empty()) {
    if (!options.event) return fail("--as says how one hop is written: name it by --event N");
    for (const CallForm f : {CallForm::kText, CallForm::kMarkdown, CallForm::kSql, CallForm::kPython}) {
      if (form != call_form_name(f)) continue;
      const Result<std::string> text = call_text(*session, options.event, f);
      if (!text) return fail(text.error());
      std::fputs(text->c_str(), stdout);
    }
    return kDone;
  }
  const ShowCounts c = show(*session, options, json, print_line);
  if (json) return kDone;
  if (c.matched == 0 && !(pattern + filter).empty()) say("no hop matches " + (pattern.empty() ? "--filter " + filter : "--op " + pattern));
  else print_counts(c);
  return kDone;
}

}  // namespace peel::app
