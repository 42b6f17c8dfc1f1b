// peel doctor: what is needed, what is there, and what to do about the rest.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "app/commands.h"
#include "app/console.h"
#include "app/display.h"
#include "app/json.h"
#include "app/parse.h"
#include "tracer/launch/agent_cache.h"
#include "tracer/launch/launch.h"
#include "tracer/launch/posix.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace peel::app {
namespace {

enum class Found { kOk, kMissing, kNote };  // kNote: not there, and recording works without

struct Check {
  std::string name;
  Found found;
  std::string text;  // what there is, or what is wrong
  std::string remedy;
};

const char* word(Found f) { return f == Found::kOk ? "ok" : f == Found::kMissing ? "missing" : "note"; }

Check check_engine() {
  const Result<launch::Engine> e = launch::find_engine();
  if (!e) return {"engine", Found::kNote, "the embedded engine is not installed", "programs are recorded on PyTorch"};
  const Result<launch::Python> python = launch::python_for(*e, "");
  if (!python) return {"engine", Found::kNote, python.error(), ""};
  return {"engine", Found::kOk, "embedded " + e->version + ", Python " + python->version, ""};
}

Check check_torch(const launch::Python& p) {
  if (p.torch_version.empty())
    return {"PyTorch", launch::find_engine() ? Found::kNote : Found::kMissing, "that Python cannot import torch", "activate the environment that has it, give --python PATH, or: pip install torch"};
  if (const std::string why = launch::unsupported(p); !why.empty()) return {"PyTorch", Found::kMissing, why, "install a newer release: pip install --upgrade torch"};
  return {"PyTorch", Found::kOk, p.torch_version + " in " + p.torch_path, ""};
}

Check check_python_h(const launch::Python& p) {
  if (!p.include.empty()) return {"Python.h", Found::kOk, p.include, ""};
  return {"Python.h", Found::kMissing, "the headers of " + p.path + " are not installed", "Debian, Ubuntu: apt-get install python3-dev"};
}

Check check_compiler() {
  const Result<launch::Compiler> c = launch::find_compiler();
  if (c) return {"compiler", Found::kOk, c->command[0] + ": " + c->version, ""};
  return {"compiler", Found::kMissing, "none found (CXX, c++, g++, clang++)", "Debian, Ubuntu: apt-get install g++"};
}

Check check_cache() {
  const Result<std::string> folder = launch::cache_folder();
  if (!folder) return {"cache", Found::kMissing, folder.error(), "set XDG_CACHE_HOME to a folder that can be written"};
  return {"cache", Found::kOk, *folder, ""};
}

Check check_agent(const launch::Python& p) {
  const std::string library = launch::cached_agent(p);
  if (!library.empty()) return {"agent", Found::kOk, library, ""};
  return {"agent", Found::kNote, "not built yet for this PyTorch", "the first recording builds it, in about a minute"};
}

// The recorder reads the processor's counter: it has to run at one speed and equally on all cores.
Check check_clock() {
  const char* name = "clock";
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
  std::string source;
  launch::read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", source);
  if (invariant || source.starts_with("tsc")) return {name, Found::kOk, "invariant cycle counter", ""};
  return {name, Found::kNote, "the cycle counter is not said to be invariant", "times may be off; hops and their order on one thread are right"};
#elif defined(__aarch64__)
  return {name, Found::kOk, "system counter (cntvct)", ""};
#else
  return {name, Found::kOk, "CLOCK_MONOTONIC", ""};
#endif
}

Check check_display() {
#ifdef PEEL_WINDOW
  std::string why_not;
  if (has_display(&why_not)) return {"display", Found::kOk, "a window can open", ""};
  return {"display", Found::kNote, why_not, "recording works without; peel run then prints the trace"};
#else
  return {"display", Found::kNote, "this peel was built without the window", "recording works without; open the file with a peel that has one"};
#endif
}

std::string find_cupti(const launch::Python& p) {
  std::error_code error;
  const auto packages = std::filesystem::path(p.torch_path).parent_path();
  for (const std::filesystem::path& folder : {packages / "nvidia/cuda_cupti/lib", packages / "nvidia/cu13/lib", std::filesystem::path("/usr/local/cuda/extras/CUPTI/lib64"), std::filesystem::path("/usr/local/cuda/lib64")})
    for (const auto& e : std::filesystem::directory_iterator(folder, error))
      if (e.path().filename().string().starts_with("libcupti.so")) return e.path().string();
  return "";
}

Check check_gpu(const launch::Python& p) {
  std::string driver;
  if (::access("/dev/nvidiactl", F_OK) != 0) return {"GPU", Found::kNote, "no NVIDIA GPU here", "operators on the CPU are recorded"};
  launch::read_file("/proc/driver/nvidia/version", driver);
  const size_t at = driver.find("Module");
  const std::string version = at == std::string::npos ? "" : ", " + driver.substr(0, driver.find('\n'));
  const std::string cupti = find_cupti(p);
  return {"GPU", Found::kNote, "NVIDIA GPU" + version + (cupti.empty() ? ", no CUPTI" : ", CUPTI in " + cupti),
          "hops on the GPU's keys are recorded; the kernels that they launch are not, in this version"};
}

void print(const std::vector<Check>& checks, bool json) {
  std::vector<std::vector<std::string>> rows;
  for (const Check& c : checks) {
    if (json) {
      std::printf("%s\n", JsonObject().text("check", c.name).text("state", word(c.found)).text("found", c.text).text("do", c.remedy).done().c_str());
      continue;
    }
    const Ink ink = c.found == Found::kOk ? Ink::kGood : c.found == Found::kMissing ? Ink::kBad : Ink::kWarn;
    rows.push_back({inked(ink, word(c.found)), c.name, c.text});
    if (!c.remedy.empty()) rows.push_back({"", "", inked(Ink::kDim, "-> " + c.remedy)});
  }
  std::fputs(aligned(rows).c_str(), stdout);
}

}  // namespace

int doctor_main(const std::vector<std::string>& arguments) {
  CLI::App app("Check what is needed to record and to show a window. Exit status 1 when something needed is missing.", "peel doctor");
  std::string wanted;
  bool json = false;
  app.add_option("--python", wanted, "Python to look at; default: the active virtual environment's, else python3")->option_text("PATH");
  app.add_flag("--json", json, "One JSON object a check");
  if (const auto ended = parse(app, arguments)) return *ended;
  std::vector<Check> checks;
  const Result<launch::Python> python = launch::find_python(wanted);
  if (python) {
    checks.push_back({"Python", Found::kOk, python->version + ", " + python->path, ""});
    checks.push_back(check_torch(*python));
    checks.push_back(check_python_h(*python));
  } else {
    checks.push_back({"Python", Found::kMissing, python.error(), ""});
  }
  checks.push_back(check_engine());
  checks.push_back(check_compiler());
  checks.push_back(check_cache());
  if (python && launch::unsupported(*python).empty()) checks.push_back(check_agent(*python));
  checks.push_back(check_clock());
  checks.push_back(check_display());
  checks.push_back(check_gpu(python ? *python : launch::Python{}));
  print(checks, json);
  for (const Check& c : checks)
    if (c.found == Found::kMissing) return kNo;
  return kDone;
}

}  // namespace peel::app
