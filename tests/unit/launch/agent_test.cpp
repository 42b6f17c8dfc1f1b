// Building the agent: cache, progress, cancelling, two at once, and what goes wrong. The compiler is a script and
// PyTorch a folder of made-up operator headers, so that a build takes a moment.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/catch.h"
#include "tests/unit/launch/environment_guard.h"
#include "tests/unit/launch/sandbox.h"
#include "tracer/launch/agent_cache.h"
#include "tracer/launch/jobs.h"
#include "tracer/launch/launch.h"
#include "tracer/launch/posix.h"

namespace peel::launch {
namespace {

class Workshop {
 public:
  Workshop()
      : cache_("XDG_CACHE_HOME", box.path("cache")), temporary_("TMPDIR", box.path("")), compiler_("CXX", box.path("compiler")) {
    std::string header;
    for (int i = 0; i < 1200; ++i)
      header += "struct TORCH_API op" + std::to_string(i) + " {\n  using schema = int (int);\n  static constexpr const char* name = \"aten::op" +
                std::to_string(i) + "\";\n  static constexpr const char* overload_name = \"\";\n};\n";
    box.write("torch/include/ATen/ops/all_ops.h", header);
    const Result<Python> found = find_python(find_program("python3"));
    REQUIRE(found);
    python = *found;
    python.torch_version = "2.13.0+test";
    python.torch_path = box.path("torch");
    python.include = box.path("torch/include");
    set_compiler("");
  }
  /// `body` runs before the script writes its output and counts.
  void set_compiler(const std::string& body) {
    box.write("compiler",
              "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'test compiler 1.0'; exit 0; fi\n" + body +
                  "\nwhile [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\necho built > \"$out\"\necho x >> " + box.path("count") + "\n",
              0755);
  }
  int runs_of_compiler() const {
    std::string text;
    read_file(box.path("count"), text);
    return static_cast<int>(text.size() / 2);
  }
  Result<AgentBuild> ensure(const std::atomic<bool>* cancel = nullptr) {
    stages.clear();
    return ensure_agent(python, [this](BuildProgress p) { stages.push_back({p.done, p.total}); }, cancel);
  }
  std::string entry() const { return *cache_folder() + "/agent/" + entry_name(python, *find_compiler()); }

  Sandbox box;
  Python python;
  std::vector<std::pair<int, int>> stages;

 private:
  EnvironmentGuard cache_, temporary_, compiler_;
};

TEST_CASE("the agent is built once and then taken from the cache", "[launch]") {
  Workshop w;
  CHECK(cached_agent(w.python).empty());
  const Result<AgentBuild> first = w.ensure();
  INFO((first ? "" : first.error()));
  REQUIRE(first);
  CHECK_FALSE(first->was_cached);
  CHECK(is_file(first->library));
  CHECK(is_file(first->bootstrap + "/sitecustomize.py"));
  REQUIRE(w.stages.size() > 3);
  CHECK(w.stages.back().first == w.stages.back().second);
  CHECK(w.stages.back().second == w.runs_of_compiler());
  for (size_t i = 1; i < w.stages.size(); ++i) CHECK(w.stages[i].first >= w.stages[i - 1].first);

  const int before = w.runs_of_compiler();
  const Result<AgentBuild> second = w.ensure();
  REQUIRE(second);
  CHECK(second->was_cached);
  CHECK(second->library == first->library);
  CHECK(w.runs_of_compiler() == before);
  CHECK(w.stages.empty());
  CHECK(cached_agent(w.python) == first->library);
}

TEST_CASE("another PyTorch, build, Python or compiler has an agent of its own", "[launch]") {
  Workshop w;
  std::vector<std::string> names{entry_name(w.python, *find_compiler())};
  const auto add = [&](const Python& p) { names.push_back(entry_name(p, *find_compiler())); };
  Python p = w.python;
  p.torch_version = "2.14.0";
  add(p);
  p = w.python;
  p.torch_build = "cuda=13.0";
  add(p);
  p = w.python;
  p.version = "3.99.0";
  add(p);
  w.box.write("compiler", "#!/bin/sh\necho another compiler 2.0\n", 0755);
  add(w.python);
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
}

TEST_CASE("an agent in the cache needs no compiler", "[launch]") {
  Workshop w;
  REQUIRE(w.ensure());
  const EnvironmentGuard none("CXX", w.box.path("no-such-compiler"));
  const Result<AgentBuild> again = w.ensure();
  REQUIRE(again);
  CHECK(again->was_cached);
}

TEST_CASE("no compiler and no Python.h are one sentence each", "[launch]") {
  Workshop w;
  Python bare = w.python;
  bare.include.clear();
  const Result<AgentBuild> no_header = ensure_agent(bare, nullptr, nullptr);
  REQUIRE_FALSE(no_header);
  CHECK(no_header.error().find("python3-dev") != std::string::npos);
  const EnvironmentGuard compiler("CXX", nullptr), path("PATH", w.box.path(""));
  const Result<AgentBuild> no_compiler = ensure_agent(w.python, nullptr, nullptr);
  REQUIRE_FALSE(no_compiler);
  CHECK(no_compiler.error().find("no C++ compiler found") != std::string::npos);
}

TEST_CASE("a compile error leaves no library, tells the first error and where the log is", "[launch]") {
  Workshop w;
  w.set_compiler("echo 'x.cpp:3:1: error: no such thing' >&2; exit 1");
  const Result<AgentBuild> r = w.ensure();
  REQUIRE_FALSE(r);
  CHECK(r.error().find("x.cpp:3:1: error: no such thing") != std::string::npos);
  const std::string log = w.entry() + "/build.log";
  CHECK(r.error().find(log) != std::string::npos);
  std::string text;
  REQUIRE(read_file(log, text));
  CHECK(text.find("no such thing") != std::string::npos);
  CHECK(cached_agent(w.python).empty());
  w.set_compiler("");  // and it can be built afterwards
  CHECK(w.ensure());
}

TEST_CASE("a compiler that is killed is told as a lack of memory", "[launch]") {
  Workshop w;
  w.set_compiler("kill -9 $$");
  const Result<AgentBuild> r = w.ensure();
  REQUIRE_FALSE(r);
  CHECK(r.error().find("memory") != std::string::npos);
}

TEST_CASE("cancelling kills the compilers and leaves nothing half built", "[launch]") {
  Workshop w;
  w.set_compiler("echo $$ > " + w.box.path("pid") + "\nsleep 30");
  std::atomic<bool> cancel = false;
  std::thread canceller([&] {
    for (int i = 0; i < 2000 && !is_file(w.box.path("pid")); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancel = true;
  });
  const auto begin = std::chrono::steady_clock::now();
  const Result<AgentBuild> r = w.ensure(&cancel);
  canceller.join();
  REQUIRE_FALSE(r);
  CHECK(r.error().find("cancelled") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK_FALSE(std::filesystem::exists(w.entry()));
  std::string pid;
  REQUIRE(read_file(w.box.path("pid"), pid));
  if (!pid.empty()) CHECK_FALSE(std::filesystem::exists("/proc/" + pid.substr(0, pid.find('\n'))));
}

TEST_CASE("two that want the same agent build it once", "[launch]") {
  Workshop w;
  w.set_compiler("sleep 0.1");
  int built = 0;
  std::thread other([&] {
    const Result<AgentBuild> r = ensure_agent(w.python, nullptr, nullptr);
    built += r && !r->was_cached ? 1 : 0;
  });
  const Result<AgentBuild> mine = ensure_agent(w.python, nullptr, nullptr);
  other.join();
  REQUIRE(mine);
  built += mine->was_cached ? 0 : 1;
  CHECK(built == 1);
}

TEST_CASE("what a killed build has left does not count", "[launch]") {
  Workshop w;
  make_folders(w.entry() + "/objects");
  std::ofstream(w.entry() + "/" + kLibraryName + ".new") << "half";
  CHECK(cached_agent(w.python).empty());
  const Result<AgentBuild> r = w.ensure();
  REQUIRE(r);
  CHECK_FALSE(r->was_cached);
  CHECK_FALSE(std::filesystem::exists(w.entry() + "/objects"));
}

TEST_CASE("jobs stop at the first failure, with the others killed", "[launch]") {
  const Sandbox box;
  std::vector<Job> jobs;
  jobs.push_back({{"/bin/sh", "-c", "sleep 30"}, box.path("0")});
  jobs.push_back({{"/bin/sh", "-c", "echo why; exit 4"}, box.path("1")});
  const auto begin = std::chrono::steady_clock::now();
  const Result<JobsResult> r = run_jobs(jobs, 2, [](int) {}, nullptr);
  REQUIRE(r);
  CHECK(r->failed == 1);
  CHECK(r->status == 4);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  std::string log;
  REQUIRE(read_file(box.path("1"), log));
  CHECK(log == "why\n");
}

}  // namespace
}  // namespace peel::launch
