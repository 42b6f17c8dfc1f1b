#include "sessions/call_text.h"

#include "sessions/why.h"

namespace peel {

const char* call_form_name(CallForm f) {
  static const char* const names[] = {"text", "markdown", "sql", "python"};
  return names[static_cast<size_t>(f)];
}

namespace {

std::string sql_of(const Session& s, EventId e) {
  const std::string id = std::to_string(e.value);
  std::string out = "-- hop " + id + ": its row, its arguments and its results\n";
  out += "SELECT h.id, h.op, h.kind, h.key, h.keyset, h.begin_ns, h.end_ns, h.file, h.line,\n"
         "  (SELECT json_group_array(json_object('name', a.name, 'tensor', a.tensor, 'dtype', a.dtype, 'shape', a.shape, 'version', a.version, 'value', a.value))\n"
         "     FROM call_argument a WHERE a.event = ";
  // A redispatch holds only what differs from its call.
  const EventId call = call_of(s, e);
  out += std::to_string(call ? call.value : e.value) +
         ") AS arguments,\n"
         "  (SELECT json_group_array(json_object('tensor', r.tensor, 'dtype', d.value, 'shape', sh.value, 'version', r.version, 'value', v.value))\n"
         "     FROM result r LEFT JOIN tensor_meta m ON m.id = r.meta LEFT JOIN string d ON d.id = m.dtype LEFT JOIN string sh ON sh.id = m.shape\n"
         "       LEFT JOIN string v ON v.id = r.value WHERE r.event = h.id) AS results\n"
         "FROM hop h WHERE h.id = " + id + ";\n";
  return out;
}

}  // namespace

EventId call_of(const Session& s, EventId e) {
  if (!e || e.value > s.size()) return {};
  Event hop = s.event(e);
  while (is_redispatch(hop.kind) && hop.parent) {
    const Event up = s.event(hop.parent);
    if (up.op != hop.op) break;
    hop = up;
  }
  return hop.op && (is_call(hop.kind) || hop.kind == Kind::kMissingKernel) ? hop.id : EventId();
}

Result<std::string> call_text(const Session& s, EventId e, CallForm form) {
  if (!e || e.value > s.size()) return Error{"there is no hop " + std::to_string(e.value) + " in " + s.path()};
  switch (form) {
    case CallForm::kText:
    case CallForm::kMarkdown: return why_text(s, why(s, e), form == CallForm::kMarkdown);
    case CallForm::kSql: return sql_of(s, e);
    case CallForm::kPython: break;
  }
  return call_program(s, e);
}

}  // namespace peel
