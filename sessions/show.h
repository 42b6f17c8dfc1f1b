// The rows of `peel show`, as text for people and as JSON, one object a line; and the short texts that they use.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sessions/session.h"

namespace peel {

struct ShowOptions {
  std::string op;            // glob: `aten::add.Tensor`, `add*` matches without namespace too; "" = all
  EventId event;             // only this hop and what is below it
  EventId from, to;          // 0 = from the first / to the last
  uint32_t max_rows = 0;     // 0 = no bound
  std::string filter;        // the language of filter.h, e.g. `op:add* key:Autograd*`; must parse; "" = everything
};
struct ShowCounts {
  uint64_t shown, matched, all;
};
/// JSON, one object a hop: id, parent, depth, thread, kind, op, key, keys, begin_ns, end_ns, node, error.
/// Text: columns aligned, depth by indent, redispatches marked `->`.
ShowCounts show(const Session&, const ShowOptions&, bool json, const std::function<void(std::string_view line)>& out);

/// One row each, for those who lay them out themselves.
std::string show_json(const Session&, const KeyMath&, EventId);
/// `f32[2,3]`, `3.0`, `[f32[2], f32[2]]`: what an argument looks like in a list.
std::string value_brief(const Value&);
/// "f32[2,3] f32[2,3] 1": all arguments, lists folded.
std::string values_brief(const std::vector<Value>&);
/// "float32" -> "f32".
std::string dtype_brief(std::string_view dtype);
/// "12.4 us", "1.30 ms"; "" for an unknown time.
std::string time_brief(Nanoseconds);
/// "train_step.py:14", "" = no line of the user's own.
std::string where_brief(const Session&, StackId);
/// "12,345".
std::string grouped(uint64_t);
/// "registered at /x/build/aten/src/ATen/RegisterCPU_0.cpp:1297" -> "RegisterCPU_0.cpp:1297".
std::string place_brief(std::string_view registered_at);
/// Quoted and escaped; bytes that are no UTF-8 become U+FFFD.
std::string json_quoted(std::string_view);

}  // namespace peel
