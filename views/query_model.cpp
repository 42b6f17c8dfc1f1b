#include "views/query_model.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace peel::views {
namespace {

/// Rows of one kind, found by an id.
struct Rows {
  std::vector<StatRow>* rows;
  std::unordered_map<uint64_t, uint32_t> index;
  StatRow& at(uint64_t id, EventId e, bool* fresh) {
    const auto [i, made] = index.try_emplace(id, static_cast<uint32_t>(rows->size()));
    if (made) rows->push_back({}), rows->back().first = e;
    *fresh = made;
    return (*rows)[i->second];
  }
};

}  // namespace

Statistics make_statistics(const Session& s, const std::atomic<bool>& cancelled) {
  Statistics out;
  out.generation = s.generation();
  const bool over = s.progress().ready && !s.live();
  out.hops = s.size();
  Rows ops{&out.by[0], {}}, keys{&out.by[1], {}}, kernels{&out.by[2], {}}, lines{&out.by[3], {}};
  std::unordered_map<StackId, StackId> line_of_stack;
  auto line_frame = [&](StackId stack) {
    if (!stack) return StackId();
    const auto [i, fresh] = line_of_stack.try_emplace(stack);
    if (fresh) i->second = s.user_frame(stack);
    return i->second;
  };
  // frames of one line differ in their callers: lines are told apart by file and number
  std::map<std::pair<std::string_view, int>, uint64_t> line_ids;
  std::unordered_map<StackId, uint64_t> line_id_of;
  auto line_id = [&](StackId frame) {
    if (!frame) return uint64_t{0};
    const auto [i, fresh] = line_id_of.try_emplace(frame, 0);
    if (fresh) {
      const Frame f = s.frame(frame);
      i->second = line_ids.try_emplace({f.file, f.line}, line_ids.size() + 1).first->second;
    }
    return i->second;
  };

  for (uint32_t i = 1; i <= out.hops && !cancelled; i++) {
    const Event e = s.event(EventId(i));
    const bool timed = e.end != kOpen && e.end >= e.begin;
    const Nanoseconds took = timed ? e.end - e.begin : 0;
    const Event parent = e.parent ? s.event(e.parent) : Event{};
    const uint64_t nodes = e.node ? s.nodes_of(e.id).size() : 0;
    bool fresh = false;
    // a hop's own time: its time less that of its children, booked where the parent is booked
    auto book = [&](StatRow& r, bool counts, bool outermost) {
      if (counts) r.count++;
      if (outermost) r.total += took;
      r.own += took, r.nodes += nodes;
    };
    const bool parent_timed = e.parent && parent.end != kOpen;
    if (e.op) {
      StatRow& r = ops.at(e.op.value, e.id, &fresh);
      if (fresh) r.name = s.op(e.op).full, r.filter = "op:" + r.name;
      const bool again = e.parent && parent.op == e.op;
      book(r, !again, !again);
      StatRow& k = keys.at(e.key, e.id, &fresh);
      if (fresh) {
        const Key* key = s.key(e.key);
        k.name = key && e.key ? key->name : "no key", k.key = key && e.key ? key->name : "", k.filter = "key:" + k.name;
      }
      book(k, true, true);
      if (e.kernel) {
        StatRow& n = kernels.at(static_cast<uint64_t>(e.kernel.value) << 32 | e.op.value, e.id, &fresh);
        if (fresh) {
          const Kernel* kernel = s.kernel(e.kernel);
          const Key* key = s.key(e.key);
          n.name = s.op(e.op).brief;
          if (key) n.key = key->name;
          if (kernel) n.note = kernel->rule + (kernel->registered_at.empty() ? "" : ", " + kernel_place(kernel->registered_at));
          n.filter = "op:" + s.op(e.op).full + (key ? " key:" + key->name : "");
        }
        book(n, true, true);
      }
    }
    const StackId frame = line_frame(e.stack);
    const uint64_t line = line_id(frame);
    if (line) {
      StatRow& l = lines.at(line, e.id, &fresh);
      if (fresh) {
        const Frame f = s.frame(frame);
        l.name = base_name(f.file) + ":" + std::to_string(f.line);
        l.note = f.function;
        l.filter = "file:" + base_name(f.file) + " line:" + std::to_string(f.line);
      }
      const bool again = e.parent && line_id(line_frame(parent.stack)) == line;
      book(l, true, !again);
    }
    if (!parent_timed || !took) continue;
    // the parent's rows exist: parents have lower ids
    bool none = false;
    if (parent.op) {
      ops.at(parent.op.value, parent.id, &none).own -= took;
      keys.at(parent.key, parent.id, &none).own -= took;
      if (parent.kernel) kernels.at(static_cast<uint64_t>(parent.kernel.value) << 32 | parent.op.value, parent.id, &none).own -= took;
    }
    if (const uint64_t l = line_id(line_frame(parent.stack))) lines.at(l, parent.id, &none).own -= took;
  }
  out.complete = !cancelled;
  out.final = out.complete && over;
  for (auto& rows : out.by)
    for (StatRow& r : rows) r.own = std::max<Nanoseconds>(r.own, 0);  // clocks of two threads may cross
  return out;
}

std::vector<uint32_t> sorted(const std::vector<StatRow>& rows, StatColumn column, bool descending) {
  std::vector<uint32_t> order(rows.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  auto value = [&](const StatRow& r) -> int64_t {
    switch (column) {
      case StatColumn::kCount: return static_cast<int64_t>(r.count);
      case StatColumn::kNodes: return static_cast<int64_t>(r.nodes);
      case StatColumn::kOwn: return r.own;
      case StatColumn::kTotal: return r.total;
      case StatColumn::kName: break;
    }
    return 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const int64_t x = value(rows[a]), y = value(rows[b]);
    if (x != y) return descending ? x > y : x < y;
    return column == StatColumn::kName && descending ? rows[a].name > rows[b].name : rows[a].name < rows[b].name;
  });
  return order;
}

const std::vector<SqlExample>& sql_examples() {
  static const std::vector<SqlExample> examples = {
      {"Hops by kind and key", "SELECT kind, key, count(*) AS hops FROM hop GROUP BY kind, key ORDER BY hops DESC"},
      {"Autograd nodes and the operator that made them", "SELECT id, event, op, name, sequence_nr FROM autograd_node ORDER BY id LIMIT 1000"},
      {"Slowest calls", "SELECT id AS hop, op, key, (end_ns - begin_ns) / 1000.0 AS us FROM hop WHERE kind = 'call' ORDER BY us DESC LIMIT 100"},
      {"Hops of a line", "SELECT id AS hop, op, kind, key FROM hop WHERE line = 17 AND file LIKE '%' ORDER BY id LIMIT 1000"},
      {"Arguments of a hop", "SELECT * FROM call_argument WHERE event = 1"},
      {"Shapes that each operator met",
       "SELECT op, dtype, shape, count(*) AS times FROM call_argument WHERE tensor IS NOT NULL GROUP BY op, dtype, shape ORDER BY times DESC LIMIT 500"},
      {"In-place writes", "SELECT w.event, h.op, w.tensor, w.version_before, w.version_after FROM \"write\" w JOIN hop h ON h.id = w.event ORDER BY w.event LIMIT 1000"},
      {"Distinct key sets", "SELECT s.text, count(*) AS hops FROM event e JOIN keyset s ON s.id = e.keyset GROUP BY e.keyset ORDER BY hops DESC"},
      {"What is missing or inferred", "SELECT name, count, meaning FROM loss"},
      {"Tables and their columns", "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY type, name"}};
  return examples;
}

int hop_column(const QueryTable& t, const std::string& sql) {
  int id = -1;
  for (size_t i = 0; i < t.columns.size(); i++) {
    if (t.columns[i] == "event" || t.columns[i] == "hop") return static_cast<int>(i);
    if (t.columns[i] == "id" && id < 0) id = static_cast<int>(i);
  }
  std::string lower = sql;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  for (char& c : lower) if (c == '\n' || c == '\t') c = ' ';
  // `id` is a hop's when the query reads hops first
  const size_t from = lower.find("from ");
  if (from == lower.npos) return -1;
  const size_t word = lower.find_first_not_of(' ', from + 5);
  if (word == lower.npos) return -1;
  const std::string table = lower.substr(word, lower.find_first_of(" ,;)", word) - word);
  return table == "hop" || table == "event" ? id : -1;
}

std::string table_text(const QueryTable& t, CopyAs as) {
  auto cell = [&](const std::string& s) {
    if (as == CopyAs::kCsv) {
      if (s.find_first_of(",\"\n\r") == s.npos) return s;
      std::string q = "\"";
      for (char c : s) q += c == '"' ? std::string("\"\"") : std::string(1, c);
      return q + "\"";
    }
    std::string o;
    for (char c : s) {
      if (c == '\n' || c == '\r' || c == '\t') o += ' ';
      else if (c == '|' && as == CopyAs::kMarkdown) o += "\\|";
      else o += c;
    }
    return o;
  };
  auto line = [&](const std::vector<std::string>& cells, const std::vector<bool>* null) {
    std::string o = as == CopyAs::kMarkdown ? "| " : "";
    for (size_t i = 0; i < cells.size(); i++) {
      if (i) o += as == CopyAs::kCsv ? "," : as == CopyAs::kMarkdown ? " | " : "\t";
      o += null && (*null)[i] ? (as == CopyAs::kCsv ? "" : "NULL") : cell(cells[i]);
    }
    return o + (as == CopyAs::kMarkdown ? " |\n" : "\n");
  };
  std::string out = line(t.columns, nullptr);
  if (as == CopyAs::kMarkdown) {
    out += "|";
    for (size_t i = 0; i < t.columns.size(); i++) out += t.rows.empty() || !t.is_number[0][i] ? " --- |" : " ---: |";
    out += "\n";
  }
  for (size_t r = 0; r < t.rows.size(); r++) out += line(t.rows[r], &t.is_null[r]);
  return out;
}

std::string table_summary(const QueryTable& t) {
  const std::string time = duration(static_cast<Nanoseconds>(t.milliseconds * 1e6));
  if (t.cut) return "the first " + plural(t.rows.size(), "row") + ", there are more; " + time;
  return plural(t.rows.size(), "row") + " in " + time;
}

}  // namespace peel::views
