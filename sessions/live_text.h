// What a stop looks like in words, for the command line and the window alike.
#pragma once
#include <string>
#include <vector>

#include "sessions/live.h"
#include "sessions/session.h"

namespace peel {

/// A tensor of the hop where the program stands: what is recorded of it, and its values as of now.
struct StandingValue {
  std::string name;        // `self`
  TensorId tensor;         // 0 = not a tensor
  std::string brief;       // `f32[2,3]`, `1`
  std::string statistics;  // "-0.5 .. 0.7, mean 0.1, 2 NaN"; or why it has none
  std::string values;      // the first ones
  std::string storage;     // its address in hexadecimal, for write:
};
/// Arguments before the kernel, results after it. `rows`: the answer to wire::Ask::kTensors.
std::vector<StandingValue> standing_values(const Session&, const Stop&, const std::vector<std::vector<std::string>>& rows);
/// For Breakpoint::parse: `self`, `t4`.
Breakpoint::Storage storage_of(const std::vector<StandingValue>&);
/// "breakpoint 1, op:addmm, hit 3", "paused", "stepped".
std::string stop_reason(const Stop&, const std::vector<LiveControl::Row>&);
/// What is so of the hop by now, of why()'s sentence: its kernel may not have run.
std::string standing_sentence(const Session&, const Stop&);

}  // namespace peel
