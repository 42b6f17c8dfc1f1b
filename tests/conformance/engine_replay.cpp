// peel_engine_replay grad_modes|train_step: runs the program and writes its hops, one a line (hop_log.h), and its values.
// peel_engine_replay script: see engine_script.cpp.
#include "tests/conformance/engine_replay.h"

#include <cstdio>
#include <string>

#include "kernels/load.h"
#include "tests/conformance/hop_log.h"

int main(int argc, char** argv) {
  using namespace peel;
  const std::string what = argc > 1 ? argv[1] : "";
  kernels::load_operators();
  if (what == "script") {
    core::script();
    return 0;
  }
  core::HopLog log;
  if (what == "grad_modes") core::grad_modes();
  else if (what == "train_step") core::train_step();
  else return 2;
  for (const std::string& line : log.take()) std::printf("hop\t%s\n", line.c_str());
  return 0;
}
