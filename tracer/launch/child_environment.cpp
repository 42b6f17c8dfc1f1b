#include "tracer/launch/child_environment.h"

#include <cstring>

#include "tracer/wire/link.h"

namespace peel::launch {
namespace {

constexpr const char* kPythonPath = "PYTHONPATH";
// Remembers which folder was put on PYTHONPATH, for a peel inside of a peel.
constexpr const char* kBootstrapEnv = "PEEL_BOOTSTRAP";

std::string python_path(const std::string& first, const std::string& old, const std::string& without) {
  std::string path = first;
  for (size_t begin = 0; !old.empty() && begin <= old.size();) {
    const size_t end = std::min(old.find(':', begin), old.size());
    const std::string part = old.substr(begin, end - begin);
    if ((without.empty() || part != without) && part != first) path += ":" + part;
    begin = end + 1;
  }
  return path;
}

}  // namespace

std::vector<std::string> child_environment(const char* const* base, const RunOptions& o, const std::string& socket) {
  const std::vector<const char*> ours = {kPythonPath,      kBootstrapEnv,    wire::kSocketEnv, wire::kAgentEnv,
                                         wire::kDetailEnv, wire::kOnFullEnv, wire::kRingEnv};
  std::vector<std::string> result;
  std::string old_path, old_bootstrap;
  for (const char* const* e = base; *e; ++e) {
    const char* equals = std::strchr(*e, '=');
    const std::string name = equals ? std::string(*e, equals) : *e;
    bool mine = false;
    for (const char* known : ours) mine = mine || name == known;
    if (!mine) result.emplace_back(*e);
    else if (name == kPythonPath) old_path = equals ? equals + 1 : "";
    else if (name == kBootstrapEnv) old_bootstrap = equals ? equals + 1 : "";
  }
  const auto set = [&](const char* name, const std::string& value) { result.push_back(std::string(name) + "=" + value); };
  set(kPythonPath, python_path(o.agent.bootstrap, old_path, old_bootstrap));
  set(kBootstrapEnv, o.agent.bootstrap);
  set(wire::kSocketEnv, socket);
  set(wire::kAgentEnv, o.agent.library);
  set(wire::kDetailEnv, o.detail);
  set(wire::kOnFullEnv, o.on_full);
  if (o.ring_mib) set(wire::kRingEnv, std::to_string(o.ring_mib));
  return result;
}

}  // namespace peel::launch
