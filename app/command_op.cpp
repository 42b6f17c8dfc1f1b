// peel op: an operator's dispatch table, registrations, schema entry and formula; the text twin of the Operator panel.
#include "app/commands.h"
#include "app/console.h"
#include "app/json.h"
#include "app/parse.h"
#include "app/session_argument.h"
#include "sessions/op_report.h"

namespace peel::app {
namespace {

std::string key_name(const Session& s, KeyId k) {
  const Key* key = s.key(k);
  return key ? key->name : "";
}

/// A slot a line, in the last version; then a registration a line.
void print_json(const Session& s, const OpReport& r) {
  for (const OpReport::Row& row : r.rows) {
    for (const KeyId k : row.keys) {
      for (size_t v = 0; v < row.cells.size(); ++v) {
        const OpReport::Cell& c = row.cells[v];
        if (v && c == row.cells[v - 1]) continue;
        std::printf("%s\n", JsonObject().text("slot", key_name(s, k)).number("since", r.versions[v].value).text("rule", c.rule).text("place", c.place).boolean("fallthrough", c.fallthrough).boolean("stale", c.stale).done().c_str());
      }
    }
  }
  for (const OpReport::Registered& g : r.registered) {
    JsonObject o;
    o.text("registered", key_name(s, g.key)).text("what", g.what).text("place", g.place).number("since", g.since.value).boolean("hidden", g.hidden);
    g.until ? o.number("until", g.until.value) : o.null("until");
    std::printf("%s\n", o.done().c_str());
  }
  std::printf("%s\n", JsonObject().text("native_function", r.source.native_function).text("derivative", r.source.derivative).done().c_str());
}

}  // namespace

int op_main(const std::vector<std::string>& arguments) {
  CLI::App app("An operator as the recording has it: its dispatch table, who registered what where and when, its entries in PyTorch's lists.", "peel op");
  std::string file, name;
  bool json = false;
  app.add_option("FILE", file, "Session file")->required()->option_text("FILE.peel");
  app.add_option("OPERATOR", name, "aten::add.Tensor; aten:: may be left out")->required()->option_text("OPERATOR");
  app.add_flag("--json", json, "One JSON object a line: slots, registrations, entries");
  if (const auto ended = parse(app, arguments)) return *ended;
  const std::unique_ptr<Session> session = open_session(file);
  if (!session) return kCouldNot;
  const auto op = find_op(*session, name);
  if (!op) return fail(op.error());
  const OpReport report = op_report(*session, *op);
  if (json) print_json(*session, report);
  else std::fputs(op_text(*session, report).c_str(), stdout);
  return kDone;
}

}  // namespace peel::app
