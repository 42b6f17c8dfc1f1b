// Numbers, times and places as the panels write them, so that all write them alike.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sessions/session.h"

namespace peel::views {

/// A piece of a sentence. Strong parts are names (keys, nodes, operators); code parts are drawn in the mono face.
struct Part {
  std::string text;
  bool strong = false, code = false, faint = false;
  bool operator==(const Part&) const = default;
};
using Parts = std::vector<Part>;
std::string plain(const Parts&);
// A sentence piece by piece.
inline void say(Parts& p, std::string text, bool strong = false, bool faint = false) { p.push_back({std::move(text), strong, false, faint}); }
inline void strong(Parts& p, std::string text) { say(p, std::move(text), true); }
inline void code(Parts& p, std::string text) { p.push_back({std::move(text), false, true}); }

std::string count_text(uint64_t n);                                  // "88,310"
std::string plural(uint64_t n, const char* one, const char* many = nullptr);  // "1 hop", "2 hops"
std::string micros(Nanoseconds t);                                   // in µs without the unit: "9.1", "412"; "" = unknown
std::string duration(Nanoseconds t);                                 // "9.1 µs", "1.30 ms", "2.40 s"; "" = unknown
std::string ordinal(uint64_t n);                                     // "6th"
std::string base_name(std::string_view path);                        // "a/b/train.py" -> "train.py"
/// "registered at /pytorch/build/aten/src/ATen/RegisterCPU_2.cpp:8" -> "RegisterCPU_2".
std::string kernel_place(std::string_view registered_at);
/// The user's line at a hop: "train_step.py:17"; "" = none recorded.
std::string line_of(const Session&, EventId);
/// What a hop is called in a list: `relu_`, or the node's name for a node's run in backward.
std::string hop_name(const Session&, EventId);
std::string tensor_name(TensorId);                                   // "t37"
std::string tensor_brief(const Value&);                              // "f32[8,16]"
std::string dtype_brief(std::string_view dtype);                     // "float32" -> "f32"

}  // namespace peel::views
