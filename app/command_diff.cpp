// peel diff: what differs between two sessions, or between two spans.
#include "app/commands.h"
#include "app/console.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "sessions/diff.h"

namespace peel::app {
namespace {

/// False after a message on stderr.
bool read_span(const Session& session, const std::string& text, DiffScope* scope) {
  const Result<DiffScope> parsed = parse_scope(session, text);
  if (!parsed) return fail(parsed.error()), false;
  *scope = *parsed;
  return true;
}

}  // namespace

int diff_main(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Compare two sessions, or two spans of one, call by call: what is only in one of them, and what changed in which layer and why.\n"
      "A span is iteration:2, mode:no_grad, module:net.0 (a second one of a name: module:net.0#2) or hops as 12-40.\n"
      "With one file and no span, lines that ran under several modes are compared: no_grad against inference_mode.\n"
      "The exit status is 0 when there is no difference, 1 when there are, 2 when it could not be found out.",
      "peel diff");
  std::string left_file, right_file, left_span, right_span;
  bool json = false;
  app.add_option("LEFT", left_file, "Session file")->required()->option_text("F.peel");
  app.add_option("RIGHT", right_file, "The other session file; none: two spans of the first")->option_text("[G.peel]");
  app.add_option("--left", left_span, "Only this span of the left session")->option_text("SPAN");
  app.add_option("--right", right_span, "Only this span of the right session")->option_text("SPAN");
  app.add_flag("--json", json, "One JSON object a difference, and last one with the sums");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> first = open_session(left_file);
  if (!first) return kCouldNot;
  std::unique_ptr<Session> second;
  if (!right_file.empty() && !(second = open_session(right_file))) return kCouldNot;
  DiffSide left{first.get(), {}}, right{second ? second.get() : first.get(), {}};
  if (!second && left_span.empty() && right_span.empty()) {
    if (!mode_pair(*first, &left.scope, &right.scope))
      return fail("no line of " + left_file + " ran under two modes; give a second file, or --left SPAN and --right SPAN");
  } else if (!read_span(*left.session, left_span, &left.scope) || !read_span(*right.session, right_span, &right.scope)) {
    return kCouldNot;
  }
  if (!second && left_span.empty() != right_span.empty()) return fail("two spans of one session need both --left and --right");
  const Diff d = diff(left, right);
  diff_text(left, right, d, json, [](std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
  });
  return d.differ() ? kNo : kDone;
}

}  // namespace peel::app
