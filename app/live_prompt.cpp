#include "app/live_prompt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "app/console.h"
#include "sessions/live_text.h"
#include "sessions/show.h"
#include "sessions/why.h"

namespace peel::app {
namespace {

constexpr int kLookMs = 20, kVisibleMs = 5000;

void print(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::fprintf(stderr, "%s\n", text.c_str());
}

constexpr const char* kHelp =
    "  i, o, u        into, over, out: to the next hop; the next one not deeper; the end of the hop around this one\n"
    "  I, O, U        the same backwards, over what is recorded; i, o, u then lead forwards again\n"
    "  c [N]          continue to the next stop, or to the Nth breakpoint from here\n"
    "  b TERMS        a breakpoint: op:addmm key:AutogradCPU, line:train.py:14, error:, node:, write:self, hit:10\n"
    "  breaks         all breakpoints with their hits;  delete N, disable N, enable N\n"
    "  args           arguments (after the kernel: results) with their values;  locals  Python's variables\n"
    "  why, tls, table, threads    of the hop that is shown; every thread of the program\n"
    "  change WHAT    embedded engine: what happens next. exclude KEY, include KEY, fallthrough, kernel KEY, return VALUE (self, zeros, full 2.5,\n"
    "                 3, None), thread exclude KEY, thread include KEY, thread clear, undo\n"
    "  detach         no more stops;  kill  ends the program";

std::string word(std::string_view* text) {
  const size_t begin = std::min(text->find_first_not_of(" \t"), text->size()), end = std::min(text->find_first_of(" \t", begin), text->size());
  const std::string w(text->substr(begin, end - begin));
  text->remove_prefix(std::min(text->find_first_not_of(" \t", end), text->size()));
  return w;
}

uint32_t number(std::string_view text) {
  uint32_t n = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), n);
  return wrong == std::errc() && end == text.data() + text.size() ? n : 0;
}

}  // namespace

void drive_in_terminal(const RecordOptions& o, Recording& r) {
  if (o.recording.breakpoints.empty()) return;
  LivePrompt prompt(r, o.script, !o.break_commands.empty());
  prompt.run();
}

LivePrompt::LivePrompt(Recording& r, std::deque<std::string> script, bool scripted) : recording_(r), script_(std::move(script)), scripted_(scripted) {
  // The program's input is the program's: commands come from the terminal itself.
  if (!scripted_ && is_terminal(stdin) && is_terminal(stderr)) terminal_ = ::open("/dev/tty", O_RDONLY | O_CLOEXEC);
}

LivePrompt::~LivePrompt() {
  if (terminal_ >= 0) ::close(terminal_);
}

void LivePrompt::run() {
  while (!recording_.ended()) {
    const std::optional<Stop> stop = recording_.live().stop();
    if (!stop || stop->id == told_) {
      ::usleep((pass_ ? 1 : kLookMs) * 1000);
      continue;
    }
    told_ = stop->id;
    if (pass_ && stop->why == Stop::Why::kBreakpoint && --pass_) {
      recording_.live().go();
      continue;
    }
    pass_ = 0;
    shown_ = stop->event;
    stepper_.forget();
    tell_stop(*stop);
    for (std::string line;;) {
      if (!next_line(*stop, &line)) break;
      if (obey(*stop, line)) break;
    }
  }
}

/// False: the program goes on by itself.
bool LivePrompt::next_line(const Stop& stop, std::string* line) {
  if (scripted_) {
    if (script_.empty()) return recording_.live().let_go(), false;
    *line = script_.front();
    script_.pop_front();
    print("peel> " + *line);
    return true;
  }
  if (terminal_ < 0) return recording_.live().go(), false;
  std::fputs("peel> ", stderr);
  std::fflush(stderr);
  line->clear();
  for (;;) {
    pollfd p{terminal_, POLLIN, 0};
    if (::poll(&p, 1, 100) > 0) {
      char c;
      const ssize_t n = ::read(terminal_, &c, 1);
      if (n <= 0) return recording_.live().let_go(), print(""), false;  // Ctrl-D
      if (c == '\n') return true;
      *line += c;
      continue;
    }
    const auto now = recording_.live().stop();
    if (recording_.ended() || !now || now->id != stop.id) return print(""), false;  // Ctrl-C let it go on, or it was killed
  }
}

bool LivePrompt::wait_for(EventId e) {
  if (!session_) {
    Result<std::unique_ptr<Session>> opened = Session::open(recording_.path());
    if (!opened) return false;
    session_ = std::move(*opened);
  }
  const uint64_t look = session_->look_now();
  for (int ms = 0; ms < kVisibleMs; ms += 5) {
    if (session_->progress().ready && session_->size() >= e.value && session_->has_looked(look)) return true;
    ::usleep(5000);
  }
  return false;
}

void LivePrompt::tell_hop(EventId id, bool standing) {
  const Event e = session_->event(id);
  const Key* key = session_->key(e.key);
  const Why w = why(*session_, id);
  std::string line = "hop " + grouped(id.value) + "  " + w.title + "  " + kind_name(e.kind);
  if (key && e.kind != Kind::kBackwardNode) line += " -> " + key->name;
  if (!w.where.empty()) line += "  " + w.where;
  print(inked(Ink::kBold, line, stderr));
  if (!standing) print("  " + w.sentence);
}

void LivePrompt::tell_stop(const Stop& stop) {
  const std::string reason = stop_reason(stop, recording_.live().breakpoints());
  if (!stop.event || !wait_for(stop.event)) {
    print("peel: stopped (" + reason + ")" + (stop.event ? ", before the file shows where" : " outside of any hop"));
    return;
  }
  const Thread* thread = session_->thread(stop.thread);
  print("peel: stopped " + std::string(stop.after ? "after the kernel of" : "at") + " a hop" +
        (thread && thread->name != "main" ? " of thread " + (thread->name.empty() ? std::to_string(thread->os_id) : thread->name) : "") + ": " + reason);
  tell_hop(stop.event, true);
  print("  " + standing_sentence(*session_, stop));
  tell_tensors(stop);
}

void LivePrompt::tell_tensors(const Stop& stop) {
  const auto answer = recording_.live().ask(wire::Ask::kTensors);
  if (!answer) print("  values: " + answer.error());
  std::vector<std::vector<std::string>> rows;
  for (const StandingValue& v : standing_values(*session_, stop, answer ? answer->rows : std::vector<std::vector<std::string>>{}))
    rows.push_back({"  " + v.name, (v.tensor ? "t" + std::to_string(v.tensor.value) + " " : "") + v.brief, v.statistics, v.values});
  if (rows.empty()) return print(stop.after ? "  no results" : "  no arguments are recorded");
  print(aligned(rows));
}

void LivePrompt::tell_rows(wire::Ask what) {
  const auto answer = recording_.live().ask(what);
  if (!answer) return print("  " + answer.error());
  if (answer->rows.empty()) return print(what == wire::Ask::kLocals ? "  no Python of yours called this thread" : "  nothing");
  std::vector<std::vector<std::string>> rows;
  for (const auto& r : answer->rows) {
    if (r.size() == 1) rows.push_back({r[0]});
    else if (r.size() == 3 && what == wire::Ask::kLocals) rows.push_back({"  " + r[0], r[2]});
    else if (r.size() == 3) rows.push_back({"  " + r[1], r[0], r[2]});
  }
  if (what == wire::Ask::kThreads) {
    print(aligned(rows));
  } else {
    for (const auto& r : rows) print(r[0] + (r.size() > 1 ? " = " + r[1] : ""));
  }
  if (answer->cut) print("  ... more was cut");
}

void LivePrompt::change(std::string_view what) {
  const auto answer = recording_.live().ask(wire::Ask::kChange, what);
  if (!answer) return print("  " + answer.error());
  if (answer->rows.empty() || answer->rows[0].size() < 2) return print("  the program does not say what that would do");
  print("  " + answer->rows[0][1]);
}

void LivePrompt::tell_state(EventId id) {
  const Tls& t = session_->tls(session_->event(id).tls);
  const KeyMath math(*session_);
  print("  included  " + math.text(t.included));
  print("  excluded  " + math.text(t.excluded));
  print(std::string("  grad mode ") + (t.grad_mode ? "on" : "off") + ", inference mode " + (t.inference_mode ? "on" : "off") + ", modes: " + (t.modes.empty() ? "none" : t.modes));
}

void LivePrompt::tell_table(EventId id) {
  const Event e = session_->event(id);
  if (!e.op) return print("  a node's run has no operator");
  std::vector<std::vector<std::string>> rows;
  for (const Slot& slot : session_->table(e.op, id)) {
    const Kernel* kernel = session_->kernel(slot.kernel);
    std::string name;
    for (const Key* k : session_->keys()) if (k->slot == slot.slot) name = k->name;
    if (kernel && !kernel->fallthrough) rows.push_back({"  " + name, kernel->rule, place_brief(kernel->registered_at)});
  }
  print(session_->op(e.op).full + ", slots that are no fallthrough:\n" + aligned(rows));
}

void LivePrompt::tell_breakpoints() {
  std::vector<std::vector<std::string>> rows;
  for (const LiveControl::Row& r : recording_.live().breakpoints()) rows.push_back({"  " + std::to_string(r.id), counted(r.hits, "hit"), r.enabled ? r.text : r.text + " (disabled)"});
  print(rows.empty() ? "  no breakpoints" : aligned(rows));
}

void LivePrompt::add(const Stop& stop, const std::string& text) {
  std::vector<StandingValue> values;
  if (text.find("write:") != std::string::npos)
    if (const auto answer = recording_.live().ask(wire::Ask::kTensors)) values = standing_values(*session_, stop, answer->rows);
  Result<Breakpoint> b = Breakpoint::parse(text, storage_of(values));
  if (!b) return print("  " + b.error());
  const Result<uint32_t> id = recording_.live().add(std::move(*b));
  print(id ? "  breakpoint " + std::to_string(*id) : "  " + id.error());
}

/// Backwards, and forwards again, over what is recorded; forwards past the end runs the program.
void LivePrompt::step(const Stop& stop, views::Step kind, bool* goes_on) {
  const bool back = kind == views::Step::kBackInto || kind == views::Step::kBackOver || kind == views::Step::kBackOut;
  if (back || shown_ != stop.event) {
    const EventId to = stepper_.step(*session_, kind, shown_);
    if (to) {
      shown_ = to;
      return tell_hop(shown_, shown_ == stop.event);
    }
    if (back) return print(std::string("  ") + views::why_not(kind));
  }
  if (kind == views::Step::kOut && !session_->parent(stop.event)) return print(std::string("  ") + views::why_not(kind));
  *goes_on = recording_.live().step(kind == views::Step::kInto ? wire::Order::kInto : kind == views::Step::kOver ? wire::Order::kOver : wire::Order::kOut);
}

bool LivePrompt::obey(const Stop& stop, const std::string& line) {
  using views::Step;
  std::string_view rest = line;
  const std::string w = word(&rest);
  LiveControl& live = recording_.live();
  constexpr std::pair<const char*, Step> kSteps[] = {{"i", Step::kInto}, {"into", Step::kInto}, {"o", Step::kOver}, {"over", Step::kOver}, {"u", Step::kOut}, {"out", Step::kOut},
                                                     {"I", Step::kBackInto}, {"O", Step::kBackOver}, {"U", Step::kBackOut}};
  if (w.empty()) return false;
  if (w == "help" || w == "h" || w == "?") return print(kHelp), false;
  if (w == "c" || w == "continue") {
    pass_ = number(rest);
    if (!rest.empty() && !pass_) return print("  c N: a number from 1 on"), false;
    return live.go();
  }
  if (w == "detach") return live.let_go(), true;
  if (w == "kill") return recording_.kill(), true;
  if (w == "b" || w == "break") return add(stop, std::string(rest)), false;
  if (w == "breaks") return tell_breakpoints(), false;
  if (w == "delete" || w == "disable" || w == "enable") {
    const uint32_t id = number(rest);
    if (!(w == "delete" ? live.remove(id) : live.enable(id, w == "enable"))) print("  there is no breakpoint " + std::string(rest));
    return false;
  }
  if (w == "change") return change(rest), false;
  if (w == "locals") return tell_rows(wire::Ask::kLocals), false;
  if (w == "threads") return tell_rows(wire::Ask::kThreads), false;
  if (!session_ || !shown_) return print("  the file does not show yet where the program stands"), false;
  for (const auto& [name, kind] : kSteps) {
    bool goes_on = false;
    if (w == name) return step(stop, kind, &goes_on), goes_on;
  }
  if (w == "args") return tell_tensors(stop), false;
  if (w == "why") return print(why_text(*session_, why(*session_, shown_), false)), false;
  if (w == "tls") return tell_state(shown_), false;
  if (w == "table") return tell_table(shown_), false;
  print("  there is no command " + w + "; help lists them");
  return false;
}

}  // namespace peel::app
