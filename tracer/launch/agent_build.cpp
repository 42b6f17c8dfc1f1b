// The agent library for one PyTorch: out of the cache, or built from the sources that peel carries.
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include "tracer/launch/agent_cache.h"
#include "tracer/launch/agent_sources.h"
#include "tracer/launch/jobs.h"
#include "tracer/launch/launch.h"
#include "tracer/launch/posix.h"

namespace peel::launch {
namespace {

using ProgressFunction = std::function<void(BuildProgress)>;

constexpr const char* kCancelled = "building the agent was cancelled";
constexpr const char* kBootstrap[] = {"peel_questions.py", "sitecustomize.py"};  // of tracer/pytorch

/// What generate.py wants compiled.
struct Recipe {
  std::vector<std::string> sources, flags, link;
  std::vector<std::string> gpu, saved;  // arguments that make a part; empty: there is none
};

/// One builder at a time for an entry, over all processes.
class Lock {
 public:
  /// False: cancelled while another process was building.
  bool take(const std::string& path, const ProgressFunction& progress, const std::atomic<bool>* cancel) {
    file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    bool told = false;
    while (file_ && ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) break;  // a file system without locks: go on without
      if (cancel && *cancel) return false;
      if (!told && progress) progress({0, 0, "waiting for another peel that builds the agent"});
      told = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return true;
  }

 private:
  Fd file_;
};

Status write_sources(const std::string& root) {
  for (const SourceFile& s : agent_sources()) {
    const std::string path = root + "/" + s.name;
    if (Status made = make_folders(path.substr(0, path.rfind('/'))); !made) return made;
    if (Status written = write_file(path, std::string(s.text)); !written) return written;
  }
  return {};
}

Status write_bootstrap(const std::string& folder) {
  if (Status made = make_folders(folder); !made) return made;
  for (const std::string name : kBootstrap) {
    const auto& all = agent_sources();
    const auto source = std::find_if(all.begin(), all.end(), [&](const SourceFile& s) { return "tracer/pytorch/" + name == s.name; });
    if (source == all.end()) return Error{"this peel was built without tracer/pytorch/" + name + ": build it again"};
    if (Status written = write_file(folder + "/" + name, std::string(source->text)); !written) return written;
  }
  return {};
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of("\n\r ");
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

/// Reads build.json through the Python at hand: it is there for certain and has a JSON reader.
Result<Recipe> read_recipe(const Python& python, const std::string& file) {
  const Result<Captured> run = capture({python.path, "-I", "-c",
                                        "import json,sys\n"
                                        "d=json.load(open(sys.argv[1]))\n"
                                        "for k in ('sources','flags','link','gpu','saved'):\n"
                                        "  for v in d[k]: sys.stdout.write(k+'\\0'+v+'\\0')\n",
                                        file});
  if (!run || run->status != 0) return Error{"cannot read " + file + ": " + (run ? last_line(run->err) : run.error())};
  Recipe recipe;
  std::vector<std::string> parts;
  for (size_t at = 0; at < run->out.size();) {
    const size_t end = run->out.find('\0', at);
    parts.push_back(run->out.substr(at, end - at));
    at = end + 1;
  }
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    auto& list = parts[i] == "sources" ? recipe.sources : parts[i] == "flags" ? recipe.flags : parts[i] == "link" ? recipe.link : parts[i] == "gpu" ? recipe.gpu : recipe.saved;
    list.push_back(parts[i + 1]);
  }
  if (recipe.sources.empty()) return Error{file + " names nothing to compile"};
  return recipe;
}

/// The sentence for a failed compiler: its first error, and what usually helps.
Error compile_error(const std::string& log_path, int status) {
  std::string log, first;
  read_file(log_path, log);
  std::istringstream lines(log);
  for (std::string line; first.empty() && std::getline(lines, line);)
    if (line.find("error") != std::string::npos || line.find("cannot execute") != std::string::npos) first = line;
  if (first.empty()) first = last_line(log);
  const std::string where = "; the whole log is " + log_path;
  if (log.find("Python.h: No such file") != std::string::npos)
    return Error{"cannot build the agent: Python.h is missing; install Python's headers (Debian, Ubuntu: apt-get install python3-dev)" + where};
  if (log.find("Killed signal") != std::string::npos || status == 128 + SIGKILL)
    return Error{"cannot build the agent: the compiler was killed, most likely for want of memory (it needs about 1.5 GB); free some and try again" + where};
  if (log.find("No space left") != std::string::npos) return Error{"cannot build the agent: the disk is full" + where};
  if (first.size() > 300) first = first.substr(0, 300) + "...";
  return Error{"cannot build the agent: " + (first.empty() ? "the compiler ended with status " + std::to_string(status) : first) + where};
}

/// Entries for the same PyTorch and Python that were made by other sources: a new peel replaces them.
void remove_old_entries(const std::string& folder, const Python& python, const std::string& keep) {
  const std::string prefix = entry_prefix(python);
  const std::string family = prefix.substr(0, prefix.rfind('-') + 1);
  std::error_code error;
  std::vector<std::filesystem::path> old;
  for (const auto& e : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = e.path().filename().string();
    const auto age = std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(e.path(), error);
    // Young ones may be in use by another peel (a second checkout, a second environment).
    if (!name.starts_with(family) || name.starts_with(keep) || age < std::chrono::hours(24 * 7)) continue;
    old.push_back(e.path());
  }
  for (const auto& path : old) std::filesystem::remove_all(path, error);
}

class Builder {
 public:
  Builder(const Python& python, const Compiler& compiler, std::string folder, const ProgressFunction& progress, const std::atomic<bool>* cancel)
      : python_(python), compiler_(compiler), folder_(std::move(folder)), progress_(progress), cancel_(cancel) {}

  Status build() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);  // what a build that was killed has left
    if (Status s = make_folders(folder_ + "/objects"); !s) return s;
    tell(0, 0, "reading PyTorch's operators");
    if (Status s = write_sources(folder_ + "/src"); !s) return s;
    if (Status s = generate(); !s) return s;
    const Result<Recipe> recipe = read_recipe(python_, folder_ + "/build.json");
    if (!recipe) return Error{recipe.error()};
    total_ = static_cast<int>(recipe->sources.size()) + !recipe->saved.empty() + !recipe->gpu.empty() + 1;
    if (Status s = compile(*recipe); !s) return s;
    if (Status s = build_part(recipe->saved, "saved", "compiling the table of saved tensors"); !s) return s;
    if (Status s = build_part(recipe->gpu, "gpu", "compiling the GPU part"); !s) return s;
    if (Status s = link(*recipe); !s) return s;
    std::filesystem::remove_all(folder_ + "/objects", error);
    return {};
  }

 private:
  void tell(int done, int total, const char* stage) {
    if (progress_) progress_({done, total, stage});
  }

  Status generate() {
    const Result<Captured> run = capture({python_.path, "-I", folder_ + "/src/tracer/pytorch/generate.py", "--torch", python_.torch_path,
                                          "--out", folder_, "--root", folder_ + "/src", "--parts", std::to_string(parts())});
    if (!run) return Error{run.error()};
    if (run->status == 0) return {};
    return Error{"cannot build the agent for PyTorch " + python_.torch_version + ": " + last_line(run->err)};
  }

  // Most of a part's time goes into the same headers: few parts, but enough to keep all jobs busy.
  static int parts() { return std::clamp(sensible_jobs(), 2, 12); }

  Status compile(const Recipe& recipe) {
    std::vector<Job> jobs;
    // The generated parts take longest: they go first.
    std::vector<std::string> sources = recipe.sources;
    std::stable_partition(sources.begin(), sources.end(), [&](const std::string& s) { return !s.starts_with(folder_ + "/src/"); });
    for (size_t i = 0; i < sources.size(); ++i) {
      Job job;
      job.command = compiler_.command;
      job.command.insert(job.command.end(), recipe.flags.begin(), recipe.flags.end());
      const std::string base = folder_ + "/objects/" + std::to_string(i);
      job.command.insert(job.command.end(), {"-c", sources[i], "-o", base + ".o"});
      job.log = base + ".log";
      objects_.push_back(base + ".o");
      jobs.push_back(job);
    }
    tell(0, total_, "compiling");
    const Status s = finish(run_jobs(jobs, sensible_jobs(), [&](int n) { tell(n, total_, "compiling"); }, cancel_), jobs);
    done_ = static_cast<int>(jobs.size());
    return s;
  }

  Status link(const Recipe& recipe) {
    const std::string temporary = folder_ + "/" + kLibraryName + ".new";
    Job job;
    job.command = compiler_.command;
    job.command.insert(job.command.end(), objects_.begin(), objects_.end());
    job.command.insert(job.command.end(), {"-o", temporary});
    job.command.insert(job.command.end(), recipe.link.begin(), recipe.link.end());
    job.log = folder_ + "/objects/link.log";
    tell(total_ - 1, total_, "linking");
    if (Status s = finish(run_jobs({job}, 1, [](int) {}, cancel_), {job}); !s) return s;
    if (Fd file(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC)); file) ::fsync(file.get());
    if (::rename(temporary.c_str(), (folder_ + "/" + kLibraryName).c_str()) != 0)
      return Error{"cannot put the agent into " + folder_ + ": " + errno_text(errno)};
    tell(total_, total_, "linking");
    return {};
  }

  /// Parts are libraries of their own, peel_NAME.so: where one can't be built, all else is recorded, and NAME.txt says why.
  Status build_part(const std::vector<std::string>& arguments, const std::string& name, const char* stage) {
    if (arguments.empty()) return {};
    const std::string made = folder_ + "/peel_" + name + ".so";
    Job job;
    job.command = compiler_.command;
    job.command.insert(job.command.end(), arguments.begin(), arguments.end());
    job.command.insert(job.command.end(), {"-o", made + ".new"});
    job.log = folder_ + "/" + name + ".log";
    tell(done_++, total_, stage);
    const Result<JobsResult> run = run_jobs({job}, 1, [](int) {}, cancel_);
    if (run && run->cancelled) return Error{kCancelled};
    if (!run || run->failed >= 0) return write_file(folder_ + "/" + name + ".txt", "peel_" + name + ".so could not be built (the compiler's words are in " + job.log + ")");
    if (::rename((made + ".new").c_str(), made.c_str()) != 0) return Error{"cannot put the agent into " + folder_ + ": " + errno_text(errno)};
    return {};
  }

  Status finish(const Result<JobsResult>& run, const std::vector<Job>& jobs) {
    if (!run) return Error{run.error()};
    if (run->cancelled) return Error{kCancelled};
    if (run->failed < 0) return {};
    const Job& job = jobs[static_cast<size_t>(run->failed)];
    std::string words, text;
    for (const std::string& w : job.command) words += (words.empty() ? "" : " ") + w;
    read_file(job.log, text);
    const std::string log = folder_ + "/build.log";
    if (!write_file(log, words + "\n" + text)) return compile_error(job.log, run->status);
    return compile_error(log, run->status);
  }

  const Python& python_;
  const Compiler& compiler_;
  std::string folder_;
  const ProgressFunction& progress_;
  const std::atomic<bool>* cancel_;
  std::vector<std::string> objects_;
  int done_ = 0, total_ = 1;  // runs of the compiler
};

AgentBuild agent_at(const std::string& library, bool was_cached) {
  return {library, library.substr(0, library.rfind('/')) + "/bootstrap", was_cached};
}

}  // namespace

Result<AgentBuild> ensure_agent(const Python& python, const ProgressFunction& progress, const std::atomic<bool>* cancel) {
  if (std::string why = unsupported(python); !why.empty()) return Error{why};
  if (const std::string library = cached_agent(python); !library.empty()) {
    AgentBuild agent = agent_at(library, true);
    if (!is_file(agent.bootstrap + "/sitecustomize.py"))
      if (Status s = write_bootstrap(agent.bootstrap); !s) return Error{s.error()};
    return agent;
  }
  const Result<Compiler> compiler = find_compiler();
  if (!compiler) return Error{compiler.error()};
  if (python.include.empty())
    return Error{"Python.h of " + python.path + " is missing, and the agent has to be built once: install Python's headers (Debian, Ubuntu: apt-get install python3-dev)"};
  const Result<std::string> cache = cache_folder();
  if (!cache) return Error{cache.error()};
  const std::string agents = *cache + "/agent";
  if (Status s = make_folders(agents); !s) return Error{s.error()};
  const std::string name = entry_name(python, *compiler), folder = agents + "/" + name, library = folder + "/" + kLibraryName;
  Lock lock;
  if (!lock.take(agents + "/" + name + ".lock", progress, cancel)) return Error{kCancelled};
  if (is_file(library)) return agent_at(library, true);  // another peel has just built it

  Builder builder(python, *compiler, folder, progress, cancel);
  if (Status s = builder.build(); !s) {
    std::error_code error;
    if (s.error() == kCancelled) std::filesystem::remove_all(folder, error);
    else std::filesystem::remove_all(folder + "/objects", error);
    return Error{s.error()};
  }
  const AgentBuild agent = agent_at(library, false);
  if (Status s = write_bootstrap(agent.bootstrap); !s) return Error{s.error()};
  remove_old_entries(agents, python, name);
  return agent;
}

}  // namespace peel::launch
