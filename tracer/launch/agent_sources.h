// The text of the agent's sources, carried in the program (made by embed.cmake).
#pragma once
#include <string_view>
#include <vector>

namespace peel::launch {

struct SourceFile {
  const char* name;  // `tracer/pytorch/agent.cpp`
  std::string_view text;
};
const std::vector<SourceFile>& agent_sources();

}  // namespace peel::launch
