// Where built agents are kept and how an entry is named.
//   <cache>/agent/<torch>-py<version>-<key>-<compiler>/   src/ (the sources), part*.cpp, build.log,
//                                                         bootstrap/sitecustomize.py, peel_agent.so
//   <cache>/agent/<entry>.lock                            held while it is built
// An entry is complete when its library is there: that is renamed into place last.
#pragma once
#include <string>
#include <vector>

#include "tracer/launch/launch.h"

namespace peel::launch {

/// $XDG_CACHE_HOME/peel, ~/.cache/peel, or, when that cannot be written, a folder of ours under TMPDIR.
Result<std::string> cache_folder();

/// A C++ compiler: $CXX (may have words: `ccache g++`), c++, g++, clang++. Empty: none found.
struct Compiler {
  std::vector<std::string> command;
  std::string version;  // first line of --version
};
Result<Compiler> find_compiler();

/// The part of an entry's name that doesn't depend on the compiler.
std::string entry_prefix(const Python&);
std::string entry_name(const Python&, const Compiler&);
constexpr const char* kLibraryName = "peel_agent.so";

/// Why no agent can be made for this Python, as a sentence; "" = nothing stands against it.
std::string unsupported(const Python&);

}  // namespace peel::launch
