#include "sessions/live_text.h"

#include "sessions/show.h"
#include "sessions/why.h"

namespace peel {

std::vector<StandingValue> standing_values(const Session& s, const Stop& stop, const std::vector<std::vector<std::string>>& rows) {
  std::vector<StandingValue> out;
  for (const Value& v : stop.after ? s.results(stop.event) : s.arguments(stop.event)) {
    StandingValue x{v.name, v.tensor, value_brief(v), "", "", ""};
    if (x.name.empty()) x.name = stop.after ? "result " + std::to_string(v.position) : std::to_string(v.position);
    if (v.list_index >= 0) x.name += "[" + std::to_string(v.list_index) + "]";
    for (const auto& r : rows) {
      if (r.size() < 4 || r[0] != std::to_string(v.position) || r[1] != std::to_string(v.list_index)) continue;
      x.storage = r[2];
      if (r.size() < 10) {
        x.statistics = r[3];
        continue;
      }
      if (!r[4].empty()) x.statistics = r[4] == r[5] ? "all " + r[4] : r[4] + " .. " + r[5];
      if (!r[6].empty() && r[4] != r[5]) x.statistics += ", mean " + r[6];
      if (r[7] != "0") x.statistics += (x.statistics.empty() ? "" : ", ") + r[7] + " NaN";
      if (r[8] != "0") x.statistics += (x.statistics.empty() ? "" : ", ") + r[8] + " infinite";
      x.values = r[9];
    }
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
