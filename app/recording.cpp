#include "app/recording.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "app/json.h"

namespace peel::app {
namespace {

/// The file's name without folder and `.py`; a module's last part.
std::string base_name(const std::vector<std::string>& arguments) {
  if (arguments.size() >= 2 && arguments[0] == "-m") return arguments[1].substr(arguments[1].rfind('.') + 1);
  std::filesystem::path p(arguments.empty() ? "program" : arguments[0]);
  if (!p.has_filename()) p = p.parent_path();  // `folder/`
  p = p.filename();
  if (p == "." || p == "..") p = std::filesystem::absolute(arguments[0]).lexically_normal().parent_path().filename();
  return p.extension() == ".py" ? p.stem().string() : p.string();
}

Result<Prepared> prepare_embedded(const RecordingOptions& o) {
  const Result<launch::Engine> engine = launch::find_engine();
  if (!engine) return Error{engine.error()};
  const Result<launch::Python> python = launch::python_for(*engine, o.python);
  if (!python) return Error{python.error()};
  return Prepared{*python, {"", engine->folder, true}, "embedded", engine->version};
}

std::string argv_json(const std::vector<std::string>& arguments) {
  std::string text = "[";
  for (const std::string& a : arguments) text += (text.size() > 1 ? ", " : "") + json_text(a);
  return text + "]";
}

}  // namespace

std::string program_title(const std::vector<std::string>& arguments) {
  if (arguments.size() >= 2 && arguments[0] == "-m") return arguments[1];
  return arguments.empty() ? "" : std::filesystem::path(arguments[0]).filename().string();
}

std::string default_session_path(const std::vector<std::string>& arguments) { return base_name(arguments) + ".peel"; }

Result<Prepared> prepare(const RecordingOptions& o, const std::function<void(launch::BuildProgress)>& progress,
                         const std::atomic<bool>* cancel) {
  if (o.engine == "embedded") return prepare_embedded(o);
  Result<launch::Python> python = launch::find_python(o.python);
  if (o.engine == "auto" && (!python ? o.python.empty() : python->torch_version.empty()) && launch::find_engine()) return prepare_embedded(o);
  if (!python) return Error{python.error()};
  Result<launch::AgentBuild> agent = launch::ensure_agent(*python, progress, cancel);
  if (!agent) return Error{agent.error()};
  return Prepared{*python, *agent, "pytorch", python->torch_version};
}

Result<std::unique_ptr<Recording>> Recording::start(const RecordingOptions& o, const Prepared& prepared) {
  std::error_code error;
  if (std::filesystem::exists(o.path, error) && Drain::alive(o.path))
    return Error{o.path + ": another peel is recording into this file; wait for its end or choose another name with -o"};
  std::unique_ptr<Recording> r(new Recording);
  r->options_ = o;
  r->title_ = program_title(o.arguments);
  DrainOptions d;
  d.path = o.path;
  d.keep_source = o.keep_source;
  d.max_bytes = o.max_bytes;
  r->live_ = o.live ? o.live : std::make_shared<LiveControl>();
  d.live = r->live_.get();
  if (!o.live)
    for (const Breakpoint& b : o.breakpoints)
      if (const Result<uint32_t> id = r->live_->add(b); !id) return Error{id.error()};
  Result<std::unique_ptr<Drain>> drain = Drain::create(d);
  if (!drain) return Error{drain.error()};
  r->drain_ = std::move(*drain);
  r->set_meta(prepared);

  launch::RunOptions run;
  run.python = prepared.python;
  run.agent = prepared.agent;
  run.arguments = o.arguments;
  run.detail = o.detail;
  run.on_full = o.on_full;
  run.ring_mib = o.ring_mib;
  run.forward_output = o.forward_output;
  launch::RunEvents events;
  Recording* self = r.get();
  events.on_process = [self](int memory_fd, int connection_fd, const void* hello, size_t bytes) {
    const Status s = self->drain_->attach(memory_fd, connection_fd, hello, bytes);
    if (s) return;
    std::lock_guard lock(self->mutex_);
    if (self->trouble_.empty()) self->trouble_ = s.error();
  };
  events.on_output = [self](int stream, std::string text, int64_t monotonic_ns) {
    self->drain_->output(stream, std::move(text), monotonic_ns);
  };
  Result<std::unique_ptr<launch::Run>> started = launch::Run::start(run, events);
  if (!started) {
    r->finished_ = true;
    r->drain_->finish("crashed", 127);
    r->drain_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) ::unlink((o.path + suffix).c_str());  // holds nothing
    return Error{started.error()};
  }
  r->run_ = std::move(*started);
  return r;
}

void Recording::set_meta(const Prepared& p) {
  const auto set = [&](const char* key, const std::string& value) { drain_->set_meta(key, value); };
  std::error_code error;
  set("engine", p.engine);
  set("engine_version", p.engine_version);
  if (p.engine == "pytorch") set("engine_build", p.python.torch_build);
  set("program", options_.arguments.size() >= 2 && options_.arguments[0] == "-m"
                     ? options_.arguments[1]
                     : std::filesystem::absolute(options_.arguments[0], error).lexically_normal().string());
  set("argv", argv_json(options_.arguments));
  set("folder", std::filesystem::current_path(error).string());
  set("python", p.python.path);
  set("python_version", p.python.version);
  set("torch_path", p.engine == "pytorch" ? p.python.torch_path : p.agent.bootstrap + "/torch");
  set("detail", options_.detail);
  set("on_full", options_.on_full);
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) == 0) set("host", host);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  set("started_unix_ns", std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
}

Recording::~Recording() {
  if (!run_) return;
  if (!run_->ended()) run_->kill();
  wait();
}

int Recording::wait() {
  const int status = run_->wait();
  std::lock_guard lock(mutex_);
  if (finished_) return status_;
  finished_ = true;
  status_ = status;
  const Status s = drain_->finish(run_->killed_by_signal() ? "crashed" : "complete", status);
  if (!s && trouble_.empty()) trouble_ = s.error();
  return status_;
}

std::string Recording::trouble() const {
  std::lock_guard lock(mutex_);
  return trouble_.empty() ? drain_->trouble() : trouble_;
}

}  // namespace peel::app
