// Running a person's program so that it can be recorded: which Python, which PyTorch, the agent for it,
// the child process, its output, and the socket through which traced processes hand over their memory.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sessions/result.h"

namespace peel::launch {

/// What a Python at hand can do; found without importing torch.
struct Python {
  std::string path;           // absolute
  std::string version;        // 3.11.7
  std::string torch_version;  // "" = cannot import torch
  std::string torch_path;     // its package folder
  std::string torch_build;    // git hash and CUDA version: distinguishes builds of one version
  std::string include;        // folder of Python.h, "" = missing
};
/// `wanted` empty: the active virtual environment's, else python3 on the PATH.
Result<Python> find_python(const std::string& wanted);

/// The embedded engine: its package `torch`, which a program imports when `folder` stands first on its path.
struct Engine {
  std::string folder;
  std::string version;         // the engine's
  std::string python_version;  // 3.11: what it was built for
  std::string python;          // that Python
};
Result<Engine> find_engine();
/// The Python to run the engine with; an error when `wanted` is of another version. Empty: the one that it was built for.
Result<Python> python_for(const Engine&, const std::string& wanted);

/// The agent library for that PyTorch: taken from the cache (XDG_CACHE_HOME/peel/agent/<key>) or built there.
struct AgentBuild {
  std::string library;     // path of the .so; the embedded engine needs none
  std::string bootstrap;   // folder to put on PYTHONPATH (holds sitecustomize.py, or the embedded engine's package)
  bool was_cached = false;
};
struct BuildProgress { int done, total; const char* stage; };
Result<AgentBuild> ensure_agent(const Python&, const std::function<void(BuildProgress)>&, const std::atomic<bool>* cancel);
std::string cached_agent(const Python&);  // "" = not built yet

struct RunOptions {
  Python python;
  AgentBuild agent;
  std::vector<std::string> arguments;  // program and its arguments, or -m MODULE ...
  std::string detail = "standard";
  std::string on_full = "wait";
  unsigned ring_mib = 0;               // 0 = default
  bool forward_output = true;          // false: window mode, output only goes to `on_output`
};

/// Called on the launcher's own thread.
struct RunEvents {
  std::function<void(int memory_fd, int connection_fd, const void* hello, size_t bytes)> on_process;
  std::function<void(int stream, std::string text, int64_t monotonic_ns)> on_output;
};

class Run {
 public:
  /// Starts the child. stdin is passed on, Ctrl-C reaches it, output goes through a pseudo-terminal when ours is one.
  /// If peel dies the program goes on (a relay process owns the output).
  static Result<std::unique_ptr<Run>> start(const RunOptions&, const RunEvents&);
  virtual ~Run() = default;
  virtual int wait() = 0;             // the program's own exit status (128 + signal when killed); all output delivered
  virtual bool ended() const = 0;
  virtual bool killed_by_signal() const = 0;
  virtual void interrupt() = 0;       // as Ctrl-C
  virtual void kill() = 0;
  virtual int pid() const = 0;
};

}  // namespace peel::launch
