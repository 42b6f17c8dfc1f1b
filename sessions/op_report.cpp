#include "sessions/op_report.h"

#include <algorithm>
#include <map>

#include "sessions/precedence.h"
#include "sessions/show.h"
#include "sessions/why_terms.h"

namespace peel {
namespace {

std::string name_of(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "key " + std::to_string(k);
}

std::pair<int, int> priority(const Key* k) { return k ? std::pair(k->functionality_bit, k->backend_bit) : std::pair(-1, -1); }

/// Keys that have a slot, Undefined's among them; highest priority first.
std::vector<const Key*> keys_by_priority(const Session& s) {
  std::vector<const Key*> keys = s.keys();
  std::erase_if(keys, [](const Key* k) { return k->alias() || k->name.starts_with("Unknown"); });
  std::stable_sort(keys.begin(), keys.end(), [](const Key* a, const Key* b) { return priority(a) > priority(b); });
  return keys;
}

OpReport::Cell cell_of(const Session& s, const Slot& slot) {
  const Kernel* k = s.kernel(slot.kernel);
  if (!k) return {{}, "ambiguous autogradother", "", false, slot.stale};
  return {slot.kernel, k->fallthrough ? "fallthrough, " + k->rule : k->rule, place_brief(k->registered_at), k->fallthrough, slot.stale};
}

void registered(const Session& s, OpReport* out) {
  // By version: when each came and went.
  std::map<std::pair<KeyId, uint32_t>, OpReport::Registered> all;
  for (const EventId version : out->versions) {
    std::vector<std::pair<KeyId, uint32_t>> here;
    for (const Registration& r : s.registrations(out->op, version)) {
      const Kernel* k = s.kernel(r.kernel);
      here.emplace_back(r.key, r.kernel.value);
      OpReport::Registered& row = all[here.back()];
      if (!row.since) row = {r.key, r.kernel, k ? k->fallthrough ? "fallthrough" : k->rule : "kernel", k ? place_brief(k->registered_at) : "", r.since, {}, false, r.later};
      row.until = {};
      row.hidden = r.position > 0;
    }
    out->registrations_known = out->registrations_known || !here.empty();
    for (auto& [key, row] : all) {
      if (!row.until && std::find(here.begin(), here.end(), key) == here.end()) row.until = version;
    }
  }
  if (all.empty()) {
    for (const KernelId id : s.kernels_of(out->op)) {
      if (const Kernel* k = s.kernel(id)) all[{k->key, id.value}] = {k->key, id, k->fallthrough ? "fallthrough" : k->rule, place_brief(k->registered_at), EventId{}, {}, false, false};
    }
  }
  for (auto& [key, row] : all) out->registered.push_back(std::move(row));
  std::stable_sort(out->registered.begin(), out->registered.end(), [](const auto& a, const auto& b) { return std::tuple(a.since, a.key, a.hidden) < std::tuple(b.since, b.key, b.hidden); });
}

std::string since_text(const OpReport::Registered& r) {
  std::string out;
  if (r.later) out += ", since hop " + std::to_string(r.since.value);
  if (r.until) out += ", until hop " + std::to_string(r.until.value);
  if (r.hidden) out += ", hidden by another at this key";
  return out;
}

std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out + "\n";
}

}  // namespace

Result<OpId> find_op(const Session& s, const std::string& name) {
  for (uint32_t i = 1; i <= s.ops(); ++i) {
    const std::string& full = s.op(OpId{i}).full;
    if (full == name || full == "aten::" + name) return OpId{i};
  }
  std::string near;
  for (uint32_t i = 1; i <= s.ops() && near.size() < 200; ++i) {
    const Op& op = s.op(OpId{i});
    if (op.name == name || op.name == "aten::" + name) near += (near.empty() ? "" : ", ") + op.full;
  }
  return Error{"no hop of this recording is of an operator " + name + (near.empty() ? "; peel query FILE \"SELECT name, overload FROM op\" lists them" : "; there are: " + near)};
}

OpReport op_report(const Session& s, OpId op) {
  OpReport out;
  out.op = op;
  out.versions = s.table_versions(op);
  out.source = s.op_source(op);
  std::vector<std::map<int, OpReport::Cell>> tables;
  for (const EventId version : out.versions) {
    auto& table = tables.emplace_back();
    for (const Slot& slot : s.table(op, version)) table[slot.slot] = cell_of(s, slot);
  }
  for (const Key* k : keys_by_priority(s)) {
    OpReport::Row row{{k->id}, {}, false};
    bool any = false;
    for (const auto& table : tables) {
      const auto found = table.find(k->slot);
      any = any || found != table.end();
      row.cells.push_back(found == table.end() ? OpReport::Cell{{}, "missing", "", false, false} : found->second);
      row.differs = row.differs || !(row.cells.back() == row.cells.front());
    }
    if (!any) continue;
    const auto same = std::find_if(out.rows.begin(), out.rows.end(), [&row](const OpReport::Row& r) { return r.cells == row.cells; });
    if (same == out.rows.end()) out.rows.push_back(std::move(row));
    else same->keys.push_back(k->id);
  }
  // A row is known by its key for the CPU, else by its lowest one. The operator's own kernels stand first, then fallbacks, then what is never run.
  for (OpReport::Row& row : out.rows) {
    std::reverse(row.keys.begin(), row.keys.end());
    const auto cpu = std::find_if(row.keys.begin(), row.keys.end(), [&s](KeyId k) { return name_of(s, k).ends_with("CPU"); });
    if (cpu != row.keys.end()) std::rotate(row.keys.begin(), cpu, cpu + 1);
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), [&s](const OpReport::Row& a, const OpReport::Row& b) { return priority(s.key(a.keys.front())) > priority(s.key(b.keys.front())); });
  std::stable_partition(out.rows.begin(), out.rows.end(), [](const OpReport::Row& r) { return std::any_of(r.cells.begin(), r.cells.end(), [](const auto& c) { return c.rule != "backend fallback"; }); });
  std::stable_partition(out.rows.begin(), out.rows.end(), [](const OpReport::Row& r) { return std::any_of(r.cells.begin(), r.cells.end(), [](const auto& c) { return !c.fallthrough; }); });
  registered(s, &out);
  return out;
}

std::string key_list(const Session& s, const std::vector<KeyId>& keys, size_t most) {
  std::string out;
  for (size_t i = 0; i < keys.size() && i < most; ++i) out += (i ? " " : "") + name_of(s, keys[i]);
  if (keys.size() > most) out += " and " + std::to_string(keys.size() - most) + " more";
  return out;
}

std::string op_text(const Session& s, const OpReport& r) {
  const Op& op = s.op(r.op);
  std::string out = op.full + "\n" + (op.schema.empty() ? "" : "  " + op.schema + "\n");
  const bool many = r.versions.size() > 1;
  out += "table" + (many ? ", which changed " + std::to_string(r.versions.size() - 1) + (r.versions.size() == 2 ? " time" : " times") + " during the recording" : std::string()) + "\n";
  size_t width = 0;
  std::vector<std::string> left;
  for (const OpReport::Row& row : r.rows) {
    left.push_back((row.differs ? "  * " : "    ") + key_list(s, row.keys, 4));
    width = std::max(width, left.back().size());
  }
  for (size_t i = 0; i < r.rows.size(); ++i) {
    const OpReport::Row& row = r.rows[i];
    const size_t shown = row.differs ? row.cells.size() : 1;
    for (size_t v = 0; v < shown; ++v) {
      const OpReport::Cell& c = row.cells[v];
      const std::string head = v ? "" : left[i];
      out += head + std::string(width - head.size() + 2, ' ') + (row.differs ? (v ? "from hop " + std::to_string(r.versions[v].value) + ": " : "at first: ") : "") + c.rule + (c.place.empty() ? "" : ", " + c.place) +
             (c.stale ? " (stale: the rules would give another one now)" : "") + "\n";
    }
  }
  out += r.registrations_known ? "registered\n" : "registered (this recording does not say when, nor what was removed)\n";
  for (const OpReport::Registered& g : r.registered) out += "    " + name_of(s, g.key) + "  " + g.what + (g.place.empty() ? "" : ", " + g.place) + since_text(g) + "\n";
  if (!r.source.native_function.empty()) out += "native_functions.yaml\n" + indented(r.source.native_function);
  if (!r.source.derivative.empty()) out += "derivatives.yaml\n" + indented(r.source.derivative);
  if (r.source.native_function.empty() && r.source.derivative.empty()) out += "PyTorch's lists of operators have no entry for it, or the recording was made without them.\n";
  return out;
}

MissingKernel missing_kernel(const Session& s, EventId id) {
  const Event e = s.event(id);
  MissingKernel out;
  out.wanted = e.key;
  const Key* wanted = s.key(e.key);
  const KeyFamilies families(s);
  const std::vector<Slot> table = s.table(e.op, id);
  for (const Key* k : keys_by_priority(s)) {
    const auto slot = std::find_if(table.begin(), table.end(), [k](const Slot& x) { return x.slot == k->slot; });
    const Kernel* kernel = slot == table.end() ? nullptr : s.kernel(slot->kernel);
    if (!kernel || kernel->fallthrough || kernel->rule == "backend fallback" || k->id == e.key) continue;
    out.available.push_back(k->id);
    if (!wanted || wanted->functionality_bit < 0 || k->functionality_bit < 0) continue;
    if (k->functionality_bit == wanted->functionality_bit) out.near.push_back({k->id, false});
    else if (wanted->backend_bit >= 0 && k->backend_bit == wanted->backend_bit) out.near.push_back({k->id, true});
  }
  const KernelsByKey fallbacks = kernels_by_key(s, OpId{}, id);
  std::vector<KeyId> places = {e.key};
  for (const Key* k : s.keys()) {
    if (k->alias()) places.push_back(k->id);
  }
  for (const KeyId place : places) {
    if (place == 0) continue;
    KernelsByKey with = kernels_by_key(s, e.op, id);
    with[place].insert(with[place].begin(), KernelRef{KernelRef::Kind::kPlanned, {}, place, false});
    if (families.decide(with, fallbacks, e.key).kernel.kind == KernelRef::Kind::kPlanned) out.would_serve.push_back(place);
  }
  OpReport report = op_report(s, e.op);
  out.registered = std::move(report.registered);
  std::erase_if(out.registered, [id](const OpReport::Registered& r) { return r.since > id || (r.until && r.until <= id); });
  return out;
}

std::vector<std::pair<std::string, std::string>> missing_lines(const Session& s, const MissingKernel& m) {
  constexpr size_t kMostKeys = 8;
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("wanted", m.wanted ? name_of(s, m.wanted) : std::string("the slot of Undefined, as no key was left in the set"));
  out.emplace_back("available", m.available.empty() ? "no kernel at any key" : key_list(s, m.available, kMostKeys));
  std::vector<KeyId> same, other;
  for (const auto& n : m.near) (n.same_backend ? same : other).push_back(n.key);
  if (!same.empty()) out.emplace_back("near", key_list(s, same, kMostKeys) + " (the same backend)");
  if (!other.empty()) out.emplace_back("near", key_list(s, other, kMostKeys) + " (the same layer of another backend)");
  if (!m.would_serve.empty()) out.emplace_back("would have been found", "a kernel at " + key_list(s, m.would_serve, kMostKeys));
  for (const auto& r : m.registered) out.emplace_back("registered", name_of(s, r.key) + ", " + r.what + (r.place.empty() ? "" : ", " + r.place) + since_text(r));
  if (m.registered.empty()) out.emplace_back("registered", "nothing");
  return out;
}

}  // namespace peel
