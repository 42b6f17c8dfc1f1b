#include "views/operator.h"

#include <algorithm>

#include "sessions/op_report.h"
#include "views/pen.h"
#include "views/words.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kRow = 20;

class OperatorPanel : public Panel {
 public:
  const char* title() const override { return "Operator"; }
  const char* help() const override { return "The operator of the selected hop: its dispatch table with rule and place of each kernel, what is registered, schema entry and formula."; }
  void session_changed(Context&) override { report_ = {}, for_ = {}; }
  std::string copy_text(Context& c) override { return c.session && report_.op ? op_text(*c.session, report_) : ""; }
  void draw(Context&) override;

 private:
  void refresh(const Context&);
  float head(Context&, const Pen&, const Area&, float y) const;
  float table(Context&, const Pen&, const Area&, float y);
  float registered(Context&, const Pen&, const Area&, float y) const;
  static float listing(const Pen&, const Area&, float y, const char* title, const std::string& text);

  OpReport report_;
  OpId for_;
  uint64_t generation_ = 0;
  bool settled_ = false, all_ = false;
};

void OperatorPanel::refresh(const Context& c) {
  const OpId op = c.session->event(c.selected).op;
  const uint64_t generation = c.session->generation();
  if (for_ == op && (settled_ || generation == generation_)) return;
  for_ = op, generation_ = generation;
  report_ = op ? op_report(*c.session, op) : OpReport();
  settled_ = c.session->progress().ready && !c.session->live();
}

float OperatorPanel::head(Context& c, const Pen& pen, const Area& a, float y) const {
  const auto& p = theme::palette();
  const Op& op = c.session->op(report_.op);
  pen.text_cut(Type::kTitle, a.x, base_of(y, u(22)), a.w, p.text, op.full);
  y += u(24);
  if (!op.schema.empty()) y += static_cast<float>(pen.rich_wrapped(a.x, base_of(y, u(18)), a.w, u(18), {{Type::kMonoSmall, p.dim, op.schema}})) * u(18);
  return y + u(6);
}

/// One line for a row that is the same in all versions, else one a version, side by side with the hop from which it holds.
float OperatorPanel::table(Context& c, const Pen& pen, const Area& a, float y) {
  const auto& p = theme::palette();
  const Event e = c.session->event(c.selected);
  const size_t versions = report_.versions.size();
  const std::string changed = versions > 1 ? "changed " + plural(versions - 1, "time") + " during the recording" : "the same all the time";
  pen.section(a.x, y, a.w, "Dispatch table", changed);
  y += u(24);
  const float keys_w = std::min(u(230), a.w * .42f);
  size_t hidden = 0;
  for (size_t i = 0; i < report_.rows.size(); i++) {
    const OpReport::Row& row = report_.rows[i];
    const bool idle = std::all_of(row.cells.begin(), row.cells.end(), [](const auto& x) { return x.fallthrough; });
    const bool current = std::find(row.keys.begin(), row.keys.end(), e.key) != row.keys.end();
    if (idle && !all_ && !current) {
      hidden += row.keys.size();
      continue;
    }
    const size_t lines = row.differs ? row.cells.size() : std::min<size_t>(1, row.cells.size());
    const float high = u(kRow) * static_cast<float>(std::max<size_t>(1, lines));
    if (current) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), high, theme::color(p.select));
    const Key* first = c.session->key(row.keys.front());
    const Key* shown = current ? c.session->key(e.key) : first;
    pen.tag(a.x, y + u(kRow) / 2, shown ? shown->name : "", idle ? theme::Mark::kFell : theme::Mark::kRan);
    std::string keys = shown ? shown->name : "";
    if (row.keys.size() > 1) keys += " and " + count_text(row.keys.size() - 1) + " more";
    pen.text_cut(Type::kMono, a.x + u(theme::kTagW) + u(8), base_of(y, u(kRow)), keys_w - u(theme::kTagW) - u(14), idle ? p.faint : p.text, keys);
    for (size_t v = 0; v < lines; v++) {
      const OpReport::Cell& cell = row.cells[v];
      const float base = base_of(y + static_cast<float>(v) * u(kRow), u(kRow));
      float x = a.x + keys_w;
      if (row.differs) x += pen.text(Type::kSmall, x, base, p.faint, v ? "from hop " + count_text(report_.versions[v].value) : "at first") + u(8);
      x += pen.text_cut(Type::kBody, x, base, a.right() - x, idle ? p.faint : p.dim, cell.rule + (cell.stale ? ", stale" : "")) + u(8);
      if (!cell.place.empty()) pen.text_cut(Type::kMonoSmall, x, base, a.right() - x, p.faint, cell.place);
    }
    const Hit h = hit(("slot/" + std::to_string(i)).c_str(), a.x, y, a.w, high);
    if (h.hovered) {
      std::string words = key_list(*c.session, row.keys, 40);
      for (size_t v = 0; v < lines; v++) {
        const Kernel* k = c.session->kernel(row.cells[v].kernel);
        words += "\n" + row.cells[v].rule + (k ? ", " + k->registered_at : "");
      }
      tip(h, words);
    }
    y += high;
  }
  if (hidden || all_) {
    Hit more;
    pen.link("fallthroughs", a.x, base_of(y, u(22)), all_ ? "without those that fall through" : plural(hidden, "key") + " fall through", &more);
    if (more) all_ = !all_;
    y += u(22);
  }
  return y + u(8);
}

float OperatorPanel::registered(Context& c, const Pen& pen, const Area& a, float y) const {
  const auto& p = theme::palette();
  pen.section(a.x, y, a.w, "Registered", report_.registrations_known ? "in order of time, then key" : "when, and what was removed, is not recorded");
  y += u(24);
  const float keys_w = std::min(u(230), a.w * .42f);
  for (const OpReport::Registered& r : report_.registered) {
    const Key* key = c.session->key(r.key);
    const float base = base_of(y, u(kRow));
    const bool gone = r.hidden || r.until;
    pen.text_cut(Type::kMono, a.x, base, keys_w - u(8), gone ? p.faint : p.text, key ? key->name : "?");
    float x = a.x + keys_w;
    x += pen.text_cut(Type::kBody, x, base, a.right() - x, gone ? p.faint : p.dim, r.what) + u(8);
    x += pen.text_cut(Type::kMonoSmall, x, base, a.right() - x, p.faint, r.place) + u(8);
    std::string when;
    if (r.later) when = "since hop " + count_text(r.since.value);
    if (r.until) when += (when.empty() ? "until hop " : ", until hop ") + count_text(r.until.value);
    if (r.hidden) when += when.empty() ? "hidden by another" : ", hidden by another";
    pen.text_cut(Type::kSmall, x, base, a.right() - x, p.dim, when);
    y += u(kRow);
  }
  return y + u(8);
}

float OperatorPanel::listing(const Pen& pen, const Area& a, float y, const char* title, const std::string& text) {
  if (text.empty()) return y;
  const auto& p = theme::palette();
  pen.section(a.x, y, a.w, title);
  y += u(24);
  for (size_t from = 0; from < text.size();) {
    const size_t to = std::min(text.find('\n', from), text.size());
    // Long lines go on below, as far in as they begin.
    const std::string line = text.substr(from, to - from);
    const float in = text_width(Type::kMonoSmall, std::string(std::min(line.find_first_not_of(' '), line.size()), ' '));
    y += static_cast<float>(pen.rich_wrapped(a.x + in, base_of(y, u(17)), a.w - in, u(17), {{Type::kMonoSmall, p.dim, line.substr(std::min(line.find_first_not_of(' '), line.size()))}})) * u(17);
    from = to + 1;
  }
  return y + u(8);
}

void OperatorPanel::draw(Context& c) {
  const Area whole = panel_area();
  if (!c.session) return Pen().empty(whole, "No session is open", "Run a program or open a recording; then this shows an operator's kernels.");
  if (!c.selected || c.selected.value > c.session->size()) return Pen().empty(whole, "No hop is selected", "Click a call in Trace: its operator is shown here.");
  refresh(c);
  if (!report_.op) return Pen().empty(whole, "This hop has no operator", "A node's run in backward is no call. Select a call.");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool visible = ImGui::BeginChild("##operator", {0, 0}, 0, ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar();
  if (visible) {
    const Pen pen;
    const Area a = panel_area();
    float y = head(c, pen, a, a.y);
    y = table(c, pen, a, y);
    y = registered(c, pen, a, y);
    y = listing(pen, a, y, "Schema entry (native_functions.yaml)", report_.source.native_function);
    y = listing(pen, a, y, "Derivative (derivatives.yaml)", report_.source.derivative);
    ImGui::SetCursorScreenPos({a.x, a.y});
    ImGui::Dummy({1, y - a.y});
  }
  ImGui::EndChild();
}

}  // namespace

std::unique_ptr<Panel> make_operator_panel() { return std::make_unique<OperatorPanel>(); }

}  // namespace peel::views
