#include "tracer/launch/jobs.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>

#include "tracer/launch/posix.h"

namespace peel::launch {
namespace {

constexpr double kBytesPerJob = 1.5e9;  // a translation unit over PyTorch's headers at -O2

Result<pid_t> start(const Job& job) {
  std::vector<char*> argv;
  for (const std::string& a : job.command) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) return Error{"cannot start " + job.command[0] + ": " + errno_text(errno)};
  if (child > 0) {
    ::setpgid(child, child);
    return child;
  }
  // A group of its own, so that the driver and the compiler proper are killed together; and not outliving us.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  const int log = ::open(job.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(log, 1);
  ::dup2(log, 2);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

double number_in(const char* path) {
  std::string text;
  if (!read_file(path, text)) return -1;
  return text.starts_with("max") ? -1 : std::strtod(text.c_str(), nullptr);
}

double available_bytes() {
  std::string text;
  double bytes = 4e9;
  if (read_file("/proc/meminfo", text)) {
    const size_t at = text.find("MemAvailable:");
    if (at != std::string::npos) bytes = std::strtod(text.c_str() + at + 13, nullptr) * 1024;
  }
  const double limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) bytes = std::min(bytes, limit - used);
  return bytes;
}

}  // namespace

Result<JobsResult> run_jobs(const std::vector<Job>& jobs, int at_once, const std::function<void(int)>& done, const std::atomic<bool>* cancel) {
  std::map<pid_t, size_t> running;
  size_t next = 0;
  int finished = 0;
  JobsResult result;
  const auto stop = [&] {
    for (const auto& [pid, job] : running) ::kill(-pid, SIGKILL);
    for (const auto& [pid, job] : running) ::waitpid(pid, nullptr, 0);
    running.clear();
  };
  while (next < jobs.size() || !running.empty()) {
    if (cancel && *cancel) {
      stop();
      result.cancelled = true;
      return result;
    }
    if (next < jobs.size() && running.size() < static_cast<size_t>(at_once)) {
      const Result<pid_t> child = start(jobs[next]);
      if (!child) {
        stop();
        return Error{child.error()};
      }
      running[*child] = next++;
      continue;
    }
    bool any = false;
    for (auto it = running.begin(); it != running.end();) {
      int status = 0;
      const pid_t pid = ::waitpid(it->first, &status, WNOHANG);
      if (pid == 0 || (pid < 0 && errno == EINTR)) {
        ++it;
        continue;
      }
      any = true;
      const size_t job = it->second;
      it = running.erase(it);
      if (pid > 0 && exit_status(status) != 0) {
        stop();
        result.failed = static_cast<int>(job);
        result.status = exit_status(status);
        return result;
      }
      done(++finished);
    }
    if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return result;
}

int sensible_jobs() {
  cpu_set_t set;
  const int cores = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::clamp(static_cast<int>(available_bytes() / kBytesPerJob), 1, std::max(1, cores));
}

}  // namespace peel::launch
