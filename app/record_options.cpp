#include "app/record_options.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/console.h"

namespace peel::app {
namespace {

std::atomic<bool> cancel_build = false;
std::atomic<int> stop_signal = 0;
void on_stop(int signal) {
  stop_signal = signal;
  cancel_build = true;
}

/// `500M`, `2G`, `1.5GiB`, `4096`: bytes. Nothing: not a size.
std::optional<uint64_t> size_in_bytes(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number) || number <= 0) return std::nullopt;
  std::string unit(end);
  double factor = 1;
  const bool binary = unit.size() > 1 && unit[1] == 'i';
  if (!unit.empty()) {
    const size_t power = std::string("KMGT").find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    if (unit == "B" || unit == "b") factor = 1;
    else if (power == std::string::npos) return std::nullopt;
    else factor = std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
    const std::string tail = unit == "B" || unit == "b" ? "" : unit.substr(binary ? 2 : 1);
    if (!tail.empty() && tail != "B" && tail != "b") return std::nullopt;
  }
  return static_cast<uint64_t>(number * factor);
}

/// `python`, `python3`, `python3.12`, also with a path: what people put before the program by habit.
bool is_python_command(const std::string& word) {
  std::string name = std::filesystem::path(word).filename().string();
  if (!name.starts_with("python")) return false;
  return name.find_first_not_of("0123456789.", 6) == std::string::npos;
}

/// Lines without comments.
Result<std::deque<std::string>> read_script(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Error{"cannot read " + file};
  std::deque<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (const size_t at = line.find_first_not_of(" \t\r"); at != std::string::npos && line[at] != '#') lines.push_back(line.substr(at));
  return lines;
}

}  // namespace

void RecordOptions::add_to(CLI::App& app) {
  const std::string name = app.get_name();
  set_usage(app, "Usage: " + name + " [OPTIONS] [PYTHON] PROGRAM [ARGS...]\n       " + name + " [OPTIONS] [PYTHON] -m MODULE [ARGS...]");
  app.add_option("-o,--output", output, "Session file to write; default: <program>.peel in the current folder")->option_text("FILE.peel");
  app.add_option("-m", module, "Run a module, as python -m does; what follows is the program's")->option_text("MODULE");
  app.add_option("--python", recording.python, "Python to run it with; default: the active virtual environment's, else python3; the embedded engine has its own")->option_text("PATH");
  app.add_option("--engine", engine, "pytorch, embedded (peel's own), or auto: PyTorch when the Python has it")->option_text("NAME");
  app.add_option("--detail", recording.detail, "standard, or keys: hops and keys only, no arguments; faster")->option_text("LEVEL");
  app.add_option("--on-full", recording.on_full, "When the file can't keep up: wait (the program waits), or drop (and count)")->option_text("WHAT");
  app.add_option("--ring-mib", recording.ring_mib, "Memory between program and file, MiB a thread: a power of two, 1 to 1024; default 16")->option_text("N");
  app.add_option("--max-size", max_size, "Stop recording when the file has grown to this; the program goes on")->option_text("SIZE (500M, 2G)");
  app.add_option("--break", breaks, "Stop the program at hops that match (see below); may be given several times")->option_text("TERMS")->allow_extra_args(false);
  app.add_option("--break-commands", break_commands, "What to do at stops, one command a line; after the last one the program goes on without stops")->option_text("FILE");
  app.footer(
      "Breakpoints: terms of the filter language, all of which must hold: 'op:addmm key:AutogradCPU', line:train.py:14, kind:, file:, thread:, and\n"
      "  error: an exception   node: an autograd node is made   write: a tensor is written   finding: an exception, a failed look-up, an inference tensor that requires grad\n"
      "  has:KEY in the key set   grad:off   inference:on   hit:10 from the tenth hit on\n"
      "  of one tensor argument: dtype:float16   shape:[2,*]   device:cuda:0   requires_grad:on; -dtype:float16: no argument is\n"
      "At a stop: i o u (into, over, out), I O U (backwards), c [N], b TERMS, breaks, args, locals, threads, tls, table, why, change, detach, kill; help explains them.\n"
      "They are asked for on the terminal, or taken from --break-commands; without both each stop is told and the program goes on.");
  app.add_flag("--no-source", no_source, "Leave the program's source text out of the file");
}

std::optional<int> RecordOptions::parse_all(CLI::App& app, const std::vector<std::string>& arguments) {
  Split split = split_at_program(app, arguments);
  if (const auto ended = parse(app, split.options)) return ended;
  recording.arguments = std::move(split.program);
  const std::string help = "; try: " + app.get_name() + " --help";
  if (!recording.arguments.empty() && is_python_command(recording.arguments[0])) {
    const std::string before = recording.arguments[0];
    if (!recording.python.empty()) return fail("a Python is named twice: --python " + recording.python + " and " + before);
    recording.python = before;
    const Split after = split_at_program(app, {recording.arguments.begin() + 1, recording.arguments.end()});
    recording.arguments = after.program;
    if (!after.options.empty())
      return fail(before + " " + after.options[0] + ": the program has to be a file or -m MODULE, without options of Python's own" + help);
  }
  if (recording.arguments.empty()) return fail("which program? " + app.get_name() + " PROGRAM [ARGS...]" + help);
  const bool is_module = recording.arguments[0] == "-m";
  if (is_module && recording.arguments.size() < 2) return fail("-m wants the name of a module" + help);

  if (engine != "auto" && engine != "pytorch" && engine != "embedded") return fail("--engine " + engine + ": there are auto, pytorch and embedded" + help);
  recording.engine = engine;
  if (recording.detail == "values") return fail("--detail values is not part of this version: use standard or keys");
  if (recording.detail != "standard" && recording.detail != "keys") return fail("--detail " + recording.detail + ": there are keys and standard" + help);
  if (recording.on_full != "wait" && recording.on_full != "drop") return fail("--on-full " + recording.on_full + ": there are wait and drop" + help);
  const unsigned ring = recording.ring_mib;
  if (ring > 1024 || (ring & (ring - 1)) != 0) return fail("--ring-mib " + std::to_string(ring) + ": a power of two from 1 to 1024 is needed");
  if (!max_size.empty()) {
    const auto bytes = size_in_bytes(max_size);
    if (!bytes || *bytes == 0) return fail("--max-size " + max_size + ": not a size; write 500M or 2G");
    recording.max_bytes = *bytes;
  }
  for (const std::string& text : breaks) {
    Result<Breakpoint> b = Breakpoint::parse(text);
    if (!b) return fail("--break: " + b.error());
    if (b->needs_values() && recording.detail == "keys") return fail("--break '" + text + "': node: and write: need --detail standard");
    recording.breakpoints.push_back(std::move(*b));
  }
  if (!break_commands.empty()) {
    if (breaks.empty()) return fail("--break-commands needs a --break at which they begin" + help);
    Result<std::deque<std::string>> lines = read_script(break_commands);
    if (!lines) return fail("--break-commands: " + lines.error());
    script = std::move(*lines);
  }
  recording.keep_source = !no_source;
  recording.path = output.empty() ? default_session_path(recording.arguments) : output;

  std::error_code error;
  if (!is_module && !std::filesystem::exists(recording.arguments[0], error))
    return fail("cannot open the program " + recording.arguments[0] + ": no such file");
  const auto folder = std::filesystem::path(recording.path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    return fail("cannot write " + recording.path + ": there is no folder " + folder.string());
  if (std::filesystem::is_directory(recording.path, error)) return fail("cannot write " + recording.path + ": that is a folder");
  if (::access((folder.empty() ? "." : folder).c_str(), W_OK) != 0)
    return fail("cannot write " + recording.path + ": the folder is read-only for you; name another place with -o");
  return std::nullopt;
}

std::optional<int> prepare_in_terminal(const RecordingOptions& o, Prepared& prepared) {
  struct sigaction stop {}, old_int {}, old_term {};
  stop.sa_handler = on_stop;
  ::sigaction(SIGINT, &stop, &old_int);
  ::sigaction(SIGTERM, &stop, &old_term);
  ProgressLine line;
  const auto begin = std::chrono::steady_clock::now();
  bool built = false;
  const Result<Prepared> result = prepare(
      o,
      [&](launch::BuildProgress p) {
        built = true;
        std::string text = "peel: building the agent for this PyTorch, once: " + std::string(p.stage);
        if (p.total > 0 && is_terminal(stderr)) text += ", " + std::to_string(p.done) + " of " + std::to_string(p.total) + " done";
        line.show(text, p.stage);
      },
      &cancel_build);
  line.clear();
  ::sigaction(SIGINT, &old_int, nullptr);
  ::sigaction(SIGTERM, &old_term, nullptr);
  if (!result && cancel_build) {
    say("stopped while building the agent; nothing was recorded");
    return 128 + stop_signal;
  }
  if (!result) return fail(result.error());
  prepared = *result;
  if (o.engine == "auto" && prepared.engine == "embedded") say("there is no PyTorch here: the program runs on the embedded engine");
  if (built && !prepared.agent.was_cached) {
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
    say("built the agent for PyTorch " + prepared.python.torch_version + " in " + duration_text(ns) + "; later runs start at once");
  }
  return std::nullopt;
}

void report_recording(Recording& r) {
  const DrainStats s = r.stats();
  if (const int signal = r.killed_by_signal() ? r.wait() - 128 : 0)
    say("the program was killed by signal " + std::to_string(signal) + " (SIG" + (::sigabbrev_np(signal) ? ::sigabbrev_np(signal) : "?") + ")");
  if (const std::string trouble = r.trouble(); !trouble.empty()) say(trouble);
  if (s.processes == 0) {
    say(r.path() + " holds no hops: the program did not get to import torch");
    return;
  }
  std::string line = r.path() + ": " + counted(s.hops, "hop") + ", " + counted(s.nodes, "autograd node");
  if (s.processes > 1) line += ", " + counted(s.processes, "process", "processes");
  say(line + ", " + bytes_text(s.bytes));
  std::string losses = s.lost ? counted(s.lost, "event") + " dropped" : "nothing lost";
  if (s.waits_ns > 0) losses += "; the program waited " + duration_text(static_cast<int64_t>(s.waits_ns)) + " for the file";
  say(losses);
}

}  // namespace peel::app
