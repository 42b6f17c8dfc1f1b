// The environment of a traced program.
#pragma once
#include <string>
#include <vector>

#include "tracer/launch/launch.h"

namespace peel::launch {

/// `base` with peel's variables set (tracer/wire/link.h) and the bootstrap folder first on PYTHONPATH.
/// Variables of an outer peel are replaced, its bootstrap folder is taken off.
std::vector<std::string> child_environment(const char* const* base, const RunOptions&, const std::string& socket);

}  // namespace peel::launch
