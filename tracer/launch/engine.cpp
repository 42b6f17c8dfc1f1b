// The embedded engine's package: where it is installed, and the Python that it was built for.
#include <filesystem>
#include <sstream>

#include "tracer/launch/launch.h"
#include "tracer/launch/posix.h"

namespace peel::launch {
namespace {

std::string minor_of(const std::string& version) { return version.substr(0, version.find('.', version.find('.') + 1)); }

}  // namespace

Result<Engine> find_engine() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path here = program.parent_path();
  for (const std::filesystem::path& folder : {here / "engine", here.parent_path() / "lib" / "peel" / "engine"}) {
    std::string about;
    if (!read_file((folder / "about.txt").string(), about)) continue;
    Engine e;
    e.folder = folder.string();
    std::istringstream lines(about);
    std::getline(lines, e.version);
    std::getline(lines, e.python_version);
    std::getline(lines, e.python);
    return e;
  }
  return Error{"the embedded engine is not installed beside " + program.string() + ": build it with ./dev build, or record on PyTorch"};
}

Result<Python> python_for(const Engine& engine, const std::string& wanted) {
  const bool own = wanted.empty() && !find_program(engine.python).empty();
  const Result<Python> python = find_python(own ? engine.python : wanted);
  if (!python) return python;
  if (minor_of(python->version) == engine.python_version) return python;
  return Error{"the embedded engine was built for Python " + engine.python_version + ", but " + python->path + " is Python " + python->version +
               (wanted.empty() ? ": install Python " + engine.python_version + ", or build peel again" : ": leave --python out, or build peel for that Python")};
}

}  // namespace peel::launch
