// Finding a Python and its PyTorch without importing it.
#include <sys/stat.h>

#include <cstdlib>

#include "tests/catch.h"
#include "tests/unit/launch/environment_guard.h"
#include "tests/unit/launch/sandbox.h"
#include "tracer/launch/agent_cache.h"
#include "tracer/launch/launch.h"
#include "tracer/launch/posix.h"

namespace peel::launch {
namespace {

/// A folder for PYTHONPATH with a torch whose import would end the program.
void write_torch(const Sandbox& sandbox, const std::string& version_py) {
  sandbox.write("site/torch/__init__.py", "raise SystemExit('torch was imported')\n");
  sandbox.write("site/torch/version.py", version_py);
}

TEST_CASE("torch is found without importing it", "[launch]") {
  const Sandbox sandbox;
  write_torch(sandbox,
              "from typing import Optional\n__version__ = '2.13.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\ngit_version = 'abc123'\nhip: Optional[str] = None\n");
  const EnvironmentGuard path("PYTHONPATH", sandbox.path("site")), none("VIRTUAL_ENV", nullptr);
  const Result<Python> p = find_python("");
  REQUIRE(p);
  CHECK(p->torch_version == "2.13.0+cu130");
  CHECK(p->torch_build == "git_version=abc123 cuda=13.0");
  CHECK(p->torch_path == sandbox.path("site/torch"));
  CHECK(p->path[0] == '/');
  CHECK(p->version.starts_with("3."));
  CHECK(unsupported(*p) == "");
}

TEST_CASE("a torch.py in the current folder is not PyTorch", "[launch]") {
  const Sandbox sandbox;
  sandbox.write("torch.py", "raise SystemExit('imported')\n");
  sandbox.write("site/torch/nothing.txt", "a folder without __init__.py is no PyTorch either");
  const EnvironmentGuard path("PYTHONPATH", sandbox.path("site") + ":" + sandbox.path("")), none("VIRTUAL_ENV", nullptr);
  const Result<Python> p = find_python("");
  REQUIRE(p);
  CHECK(p->torch_version.empty());
  CHECK(unsupported(*p).find("cannot import torch") != std::string::npos);
}

TEST_CASE("versions that are too old or unreadable are named", "[launch]") {
  Python p;
  p.path = "/usr/bin/python3";
  for (const char* good : {"2.11.0", "2.13.0+cpu", "2.14.0a0+git123", "3.0.0"}) {
    p.torch_version = good;
    CHECK(unsupported(p) == "");
  }
  for (const char* old : {"2.10.1", "1.13.1", "0.4"}) {
    p.torch_version = old;
    CHECK(unsupported(p) == "PyTorch " + std::string(old) + " (of /usr/bin/python3) is too old: 2.11 or later is needed");
  }
  p.torch_version = "nightly";
  CHECK(unsupported(p).find("cannot be read") != std::string::npos);
}

TEST_CASE("the active virtual environment goes before the PATH", "[launch]") {
  const Sandbox sandbox;
  const std::string real = find_program("python3");
  sandbox.write("env/bin/python", "#!/bin/sh\nMARK=1 exec " + real + " -c \"import sys; sys.executable='/marked'; exec(sys.argv[1])\" \"$2\"\n", 0755);
  const EnvironmentGuard env("VIRTUAL_ENV", sandbox.path("env"));
  const Result<Python> p = find_python("");
  REQUIRE(p);
  CHECK(p->path == "/marked");
  const Result<Python> named = find_python(real);
  REQUIRE(named);
  CHECK(named->path != "/marked");
}

TEST_CASE("what is no Python is an error with what to do", "[launch]") {
  const Sandbox sandbox;
  const Result<Python> missing = find_python(sandbox.path("nothing"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().find("--python") != std::string::npos);
  const std::string liar = sandbox.write("liar", "#!/bin/sh\nexit 0\n", 0755);
  CHECK_FALSE(find_python(liar));
  const std::string broken = sandbox.write("broken", "#!/bin/sh\necho it is broken >&2; exit 1\n", 0755);
  const Result<Python> p = find_python(broken);
  REQUIRE_FALSE(p);
  CHECK(p.error().find("it is broken") != std::string::npos);
  const EnvironmentGuard path("PATH", sandbox.path("")), none("VIRTUAL_ENV", nullptr);
  CHECK_FALSE(find_python(""));
}

TEST_CASE("the cache falls back to a folder of ours when the usual one cannot be written", "[launch]") {
  const Sandbox sandbox;
  const EnvironmentGuard temporary("TMPDIR", sandbox.path(""));
  {
    const EnvironmentGuard usual("XDG_CACHE_HOME", sandbox.path("cache"));
    CHECK(*cache_folder() == sandbox.path("cache/peel"));
  }
  const EnvironmentGuard usual("XDG_CACHE_HOME", "/proc/nowhere");
  const Result<std::string> folder = cache_folder();
  REQUIRE(folder);
  CHECK(folder->starts_with(sandbox.path("")));
  ::chmod(folder->c_str(), 0777);  // now others could put code there
  CHECK_FALSE(cache_folder());
}

TEST_CASE("the embedded engine wants the Python that it was built for", "[launch]") {
  const Result<Python> any = find_python("");
  if (!any) return;
  const std::string minor = any->version.substr(0, any->version.rfind('.'));
  const Result<Python> own = python_for({"/engine", "0.1.0", minor, any->path}, "");
  REQUIRE(own);
  CHECK(own->version == any->version);
  const Result<Python> other = python_for({"/engine", "0.1.0", "2.7", any->path}, any->path);
  REQUIRE_FALSE(other);
  CHECK(other.error().find("was built for Python 2.7, but " + any->path) != std::string::npos);
  CHECK(other.error().find("leave --python out") != std::string::npos);
}

}  // namespace
}  // namespace peel::launch
