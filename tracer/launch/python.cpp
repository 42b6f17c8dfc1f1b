// Which Python runs the program, and what can be known about it without importing torch.
#include <cstdlib>

#include "tracer/launch/launch.h"
#include "tracer/launch/posix.h"

namespace peel::launch {
namespace {

// Finds torch by its spec and reads torch/version.py as text: importing torch takes seconds.
// The current folder is taken off the path: a script's own folder stands there, not ours.
constexpr const char* kProbe = R"PY(
import sys
sys.path[:] = [p for p in sys.path if p not in ("", ".")]
import importlib.util, os, re, sysconfig
def say(name, value): sys.stdout.write(name + "\0" + (value or "") + "\0")
say("path", sys.executable)
say("version", "%d.%d.%d" % sys.version_info[:3])
include = ""
for folder in [sysconfig.get_paths().get("include"), sysconfig.get_paths().get("platinclude"), sysconfig.get_config_var("INCLUDEPY")]:
    if folder and os.path.exists(os.path.join(folder, "Python.h")):
        include = folder
        break
say("include", include)
try: spec = importlib.util.find_spec("torch")
except Exception: spec = None
if spec and spec.origin and os.path.basename(spec.origin) == "__init__.py":
    folder = os.path.dirname(os.path.abspath(spec.origin))
    say("torch_path", folder)
    try: text = open(os.path.join(folder, "version.py"), encoding="utf-8", errors="replace").read()
    except OSError: text = ""
    def field(name):
        found = re.search(r"^%s(?:\s*:[^=\n]*)?\s*=\s*['\"]([^'\"]*)['\"]" % name, text, re.M)
        return found.group(1) if found else ""
    say("torch_version", field("__version__"))
    say("torch_build", " ".join(name + "=" + field(name) for name in ("git_version", "cuda", "hip", "xpu") if field(name)))
)PY";

}  // namespace

Result<Python> find_python(const std::string& wanted) {
  std::string path;
  if (!wanted.empty()) {
    path = find_program(wanted);
    if (path.empty()) return Error{"--python " + wanted + ": there is no such program; give the path of a Python 3"};
  } else {
    const std::string environment_folder = environment("VIRTUAL_ENV");
    if (!environment_folder.empty()) path = find_program(environment_folder + "/bin/python");
    if (path.empty()) path = find_program("python3");
    if (path.empty())
      return Error{"no python3 on the PATH and no active virtual environment: install Python 3 or give --python PATH"};
  }
  const Result<Captured> run = capture({path, "-c", kProbe}, {"PEEL_SOCKET"});
  if (!run) return Error{run.error()};
  if (run->status != 0) {
    std::string line = run->err.substr(0, run->err.find_last_not_of('\n') + 1);
    line = line.substr(line.rfind('\n') + 1);
    return Error{path + " is not a Python 3 that works" + (line.empty() ? "" : " (" + line + ")") + ": give another one by --python PATH"};
  }
  Python python;
  const std::string& text = run->out;
  for (size_t at = 0; at < text.size();) {
    const size_t middle = text.find('\0', at);
    const size_t end = middle == std::string::npos ? middle : text.find('\0', middle + 1);
    if (end == std::string::npos) break;
    const std::string name = text.substr(at, middle - at), value = text.substr(middle + 1, end - middle - 1);
    if (name == "path") python.path = value;
    if (name == "version") python.version = value;
    if (name == "include") python.include = value;
    if (name == "torch_path") python.torch_path = value;
    if (name == "torch_version") python.torch_version = value;
    if (name == "torch_build") python.torch_build = value;
    at = end + 1;
  }
  if (python.path.empty()) python.path = path;
  if (python.version.empty()) return Error{path + " is not a Python 3 that works: give another one by --python PATH"};
  return python;
}

}  // namespace peel::launch
