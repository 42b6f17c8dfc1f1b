#include "sessions/live_text.h"

#include <cstdlib>

#include "sessions/show.h"
#include "sessions/why.h"

namespace peel {

namespace {

/// What the program answered about one tensor (wire::Ask::kTensors).
void add_answer(StandingValue& x, const std::vector<std::string>& r) {
  x.storage = r[2];
  if (r.size() < 10) {
    x.statistics = r[3];
    return;
  }
  if (!r[4].empty()) x.statistics = r[4] == r[5] ? "all " + r[4] : r[4] + " .. " + r[5];
  if (!r[6].empty() && r[4] != r[5]) x.statistics += ", mean " + r[6];
  if (r[7] != "0") x.statistics += (x.statistics.empty() ? "" : ", ") + r[7] + " NaN";
  if (r[8] != "0") x.statistics += (x.statistics.empty() ? "" : ", ") + r[8] + " infinite";
  x.values = r[9];
}

}  // namespace

std::vector<StandingValue> standing_values(const Session& s, const Stop& stop, const std::vector<std::vector<std::string>>& rows) {
  std::vector<StandingValue> out;
  std::vector<bool> used(rows.size());
  for (const Value& v : stop.after ? s.results(stop.event) : s.arguments(stop.event)) {
    StandingValue x{v.name, v.tensor, value_brief(v), "", "", ""};
    if (x.name.empty()) x.name = stop.after ? "result " + std::to_string(v.position) : std::to_string(v.position);
    if (v.list_index >= 0) x.name += "[" + std::to_string(v.list_index) + "]";
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].size() < 4 || rows[i][0] != std::to_string(v.position) || rows[i][1] != std::to_string(v.list_index)) continue;
      add_answer(x, rows[i]);
      used[i] = true;
    }
    out.push_back(std::move(x));
  }
  // At --detail keys nothing is recorded of arguments, but they can be asked for.
  const Op& op = s.op(s.event(stop.event).op);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (used[i] || rows[i].size() < 4) continue;
    const size_t position = std::strtoul(rows[i][0].c_str(), nullptr, 10);
    StandingValue x{stop.after || position >= op.arguments.size() ? "result " + rows[i][0] : op.arguments[position].name, {}, "tensor", "", "", ""};
    if (rows[i][1] != "-1") x.name += "[" + rows[i][1] + "]";
    add_answer(x, rows[i]);
    out.push_back(std::move(x));
  }
  return out;
}

Breakpoint::Storage storage_of(const std::vector<StandingValue>& values) {
  return [values](std::string_view name) -> std::string {
    for (const StandingValue& v : values)
      if (v.name == name || (v.tensor && "t" + std::to_string(v.tensor.value) == name)) return v.storage;
    return "";
  };
}

std::string stop_reason(const Stop& stop, const std::vector<LiveControl::Row>& rows) {
  if (stop.why == Stop::Why::kPause) return "paused";
  if (stop.why == Stop::Why::kStep) return "stepped";
  std::string out;
  for (const uint32_t id : stop.breakpoints) {
    for (const LiveControl::Row& r : rows) {
      if (r.id == id && r.once) out += std::string(out.empty() ? "" : "; ") + "ran to " + r.text;
      else if (r.id == id) out += (out.empty() ? "" : "; ") + std::string("breakpoint ") + std::to_string(id) + ", " + r.text + ", hit " + grouped(r.hits);
    }
  }
  return out.empty() ? "breakpoint" : out;
}

std::string standing_sentence(const Session& s, const Stop& stop) {
  const Event e = s.event(stop.event);
  std::string sentence = why(s, stop.event).sentence;
  if (stop.after || e.kind == Kind::kMissingKernel) return sentence;
  // Only how it got here is certain before the kernel runs.
  const size_t end = sentence.find(". ");
  if (end != std::string::npos) sentence.resize(end + 1);
  if (const size_t at = sentence.find(" ran first: "); at != std::string::npos) sentence.replace(at, 12, " is about to run: ");
  else if (const size_t ran = sentence.find(" ran: "); ran != std::string::npos) sentence.replace(ran, 6, " is about to run: ");
  return sentence;
}

}  // namespace peel
