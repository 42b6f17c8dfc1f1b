// peel info: what a session file holds and what it lacks.
#include <array>
#include <ctime>

#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "sessions/why.h"

namespace peel::app {
namespace {

constexpr size_t kKinds = 8;

struct Counts {
  std::array<uint64_t, kKinds> kind{};
  uint64_t open = 0, raised = 0, inferred = 0;
  Nanoseconds last = 0;
};

Counts count(const Session& s) {
  Counts c;
  for (uint32_t i = 1; i <= s.size(); ++i) {
    const Event e = s.event(EventId(i));
    ++c.kind[static_cast<size_t>(e.kind) % kKinds];
    c.open += e.end == kOpen;
    c.raised += (e.flags & kRaised) != 0;
    c.inferred += (e.flags & kInferredKind) != 0;
    c.last = std::max({c.last, e.begin, e.end});
  }
  return c;
}

std::string started_text(const Session& s) {
  const long long ns = std::atoll(s.meta("started_unix_ns").c_str());
  if (ns <= 0) return "";
  const auto seconds = static_cast<time_t>(ns / 1000000000);
  tm local{};
  char text[64];
  ::localtime_r(&seconds, &local);
  return std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local) ? text : "";
}

std::string state_text(const Session& s) {
  const std::string state = s.meta("state"), code = s.meta("exit_code");
  const int status = code.empty() ? 0 : std::atoi(code.c_str());
  if (state == "running") return s.live() ? "running: it is being recorded right now" : "cut off: peel itself was killed while recording; what came after is not in the file";
  std::string text = state.empty() ? "unknown" : state;
  if (state == "truncated") text += ": --max-size was reached, the program went on";
  if (state == "crashed" && status > 128) return text + ": killed by signal " + std::to_string(status - 128);
  if (!code.empty()) text += ", exit status " + code;
  return text;
}

std::string explained_text(const Explained& e) {
  std::string text = thousands(e.explained) + " of " + thousands(e.calls) + " explained";
  if (e.first_unexplained) text += "; the first that is not is hop " + std::to_string(e.first_unexplained.value);
  return text;
}

void print_text(const Session& s) {
  const Counts c = count(s);
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.push_back({inked(Ink::kDim, std::string(name) + ":"), value});
  };
  row("file", s.path());
  row("program", command_text(s));
  row("state", state_text(s));
  row("started", started_text(s));
  row(s.meta("engine") == "embedded" ? "engine" : "PyTorch", (s.meta("engine") == "embedded" ? "embedded " : "") + s.meta("engine_version") + (s.meta("python_version").empty() ? "" : ", Python " + s.meta("python_version")));
  row("detail", s.meta("detail"));
  std::string kinds;
  for (size_t k = 0; k < kKinds; ++k) {
    if (c.kind[k] == 0) continue;
    kinds += (kinds.empty() ? "" : ", ") + thousands(c.kind[k]) + " " + kind_name(static_cast<Kind>(k));
  }
  row("hops", thousands(s.size()) + (kinds.empty() ? "" : " (" + kinds + ")"));
  if (c.last > 0) row("lasting", duration_text(c.last));
  if (c.open) row("never returned", counted(c.open, "hop"));
  if (c.raised) row("left by an exception", counted(c.raised, "hop"));
  row("operators", thousands(s.ops()));
  row("autograd nodes", thousands(s.nodes()));
  row("spans", thousands(s.spans().size()));
  const auto threads = s.threads();
  uint32_t processes = 0;
  for (const Thread& t : threads) processes = std::max(processes, t.process);
  row("threads", counted(threads.size(), "thread") + " of " + counted(processes, "process", "processes"));
  if (const size_t n = s.bookmarks().size()) row("bookmarks", thousands(n));
  if (const size_t n = s.notes().size()) row("notes", thousands(n));
  const Explained e = check_key_sets(s);
  row("key sets", inked(e.explained == e.calls ? Ink::kGood : Ink::kBad, explained_text(e)));
  std::fputs(aligned(rows, {true}, " ").c_str(), stdout);

  const std::vector<Loss> losses = s.losses();
  if (losses.empty()) {
    std::printf("\nNothing is known to be missing, inferred or cut.\n");
    return;
  }
  std::printf("\nMissing, inferred or cut:\n");
  rows.clear();
  for (const Loss& l : losses) rows.push_back({"  " + thousands(static_cast<uint64_t>(l.count)), l.name, inked(Ink::kDim, l.meaning)});
  std::fputs(aligned(rows, {true}).c_str(), stdout);
}

void print_json(const Session& s) {
  const Counts c = count(s);
  JsonObject kinds, losses, meta, all;
  for (size_t k = 0; k < kKinds; ++k) kinds.number(kind_name(static_cast<Kind>(k)), static_cast<int64_t>(c.kind[k]));
  for (const Loss& l : s.losses()) losses.number(l.name, l.count);
  for (const auto& [key, value] : s.all_meta()) meta.text(key, value);
  const Explained e = check_key_sets(s);
  const auto threads = s.threads();
  all.text("file", s.path()).text("state", s.meta("state")).number("hops", s.size()).raw("kinds", kinds.done());
  all.number("open", static_cast<int64_t>(c.open)).number("raised", static_cast<int64_t>(c.raised)).number("inferred_kinds", static_cast<int64_t>(c.inferred));
  all.number("operators", s.ops()).number("nodes", s.nodes()).number("spans", static_cast<int64_t>(s.spans().size()));
  all.number("threads", static_cast<int64_t>(threads.size())).number("bookmarks", static_cast<int64_t>(s.bookmarks().size())).number("notes", static_cast<int64_t>(s.notes().size()));
  all.number("calls", static_cast<int64_t>(e.calls)).number("explained", static_cast<int64_t>(e.explained));
  if (e.first_unexplained) all.number("first_unexplained", e.first_unexplained.value);
  else all.null("first_unexplained");
  all.raw("losses", losses.done()).raw("meta", meta.done());
  std::printf("%s\n", all.done().c_str());
}

}  // namespace

int info_main(const std::vector<std::string>& arguments) {
  CLI::App app("Describe a session file: the program, its engine, what was recorded and what is missing.", "peel info");
  std::string file;
  bool json = false;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_flag("--json", json, "One JSON object");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  if (json) print_json(*session);
  else print_text(*session);
  return kDone;
}

}  // namespace peel::app
