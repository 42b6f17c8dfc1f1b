#include "views/stops.h"

#include <algorithm>

#include "imgui.h"
#include "imgui_stdlib.h"  // wants imgui.h before it
#include "views/change_choices.h"
#include "views/pen.h"
#include "views/words.h"

namespace peel::views {
namespace {

using theme::color;
using theme::Type;
using theme::u;

constexpr float kRow = 24, kListWidth = 330, kNameWidth = 74;

class StopsPanel : public Panel {
 public:
  const char* title() const override { return "Breakpoints"; }
  const char* help() const override { return "Where the program stops; while it stands: arguments with values, Python's variables, threads."; }
  void draw(Context&) override;
  std::string copy_text(Context&) override;

 private:
  void draw_breakpoints(Context&, const Area&);
  void draw_row(Context&, const Pen&, const Area&, float y, const LiveControl::Row&);
  void draw_standing(Context&, const Area&);
  float draw_arguments(const Context&, const Pen&, const Area&, float y);
  void draw_variables(const Pen&, const Area&, const Standing&);
  float draw_changes(Context&, const Pen&, const Area&, float y);
  void draw_change_popup(Context&);
  void draw_threads(const Pen&, const Area&, const Standing&);

  std::string text_, change_;
  uint64_t added_ = 0;
};

void StopsPanel::draw(Context& c) {
  const Area a = panel_area();
  const bool stands = c.live.stop.has_value();
  const float list = stands ? std::min(u(kListWidth), a.w * .4f) : a.w;
  // Below the list: the threads, of which there are mostly one or two.
  const size_t named = c.live.standing.threads.size();
  const float threads = stands && named ? u(28) + float(std::min<size_t>(named, 4)) * u(18) : 0;
  draw_breakpoints(c, {a.x, a.y, list, a.h - threads});
  if (!stands) return;
  if (threads > 0) draw_threads(Pen(), {a.x, a.bottom() - threads + u(4), list, threads - u(4)}, c.live.standing);
  const float x = a.x + list + u(theme::kPadX);
  Pen().vline(x - u(theme::kPadX) / 2, a.y, a.h, color(theme::palette().line));
  draw_standing(c, {x + u(6), a.y, a.right() - x - u(6), a.h});
}

void StopsPanel::draw_breakpoints(Context& c, const Area& a) {
  const Pen pen;
  const auto& p = theme::palette();
  ImGui::SetCursorScreenPos({a.x, a.y});
  ImGui::SetNextItemWidth(a.w);
  if (c.focus_field == "break") ImGui::SetKeyboardFocusHere(), c.focus_field.clear();
  const bool enter = ImGui::InputTextWithHint("##break", "Add:  op:addmm   line:14   error:   (Enter)", &text_, ImGuiInputTextFlags_EnterReturnsTrue);
  tip({.hovered = ImGui::IsItemHovered()},
      "Terms of the filter language, all of which must hold; also node:  write:  write:self  finding:  has:KEY  grad:off  hit:10\n"
      "A tensor argument:  dtype:float16  shape:[2,*]  device:cuda  requires_grad:on  (several: one tensor has all of them; -dtype:float16: none has it)");
  if (enter && !text_.empty()) c.live.wanted.push_back({LiveWish::Kind::kAdd, 0, text_});
  if (added_ != c.live.added) added_ = c.live.added, text_.clear();
  float y = a.y + u(32);
  if (!c.live.note.empty()) {
    pen.text_cut(Type::kSmall, a.x, base_of(y, u(18)), a.w, p.text, c.live.note);
    y += u(20);
  }
  if (c.live.breakpoints.empty()) {
    pen.empty({a.x, y, a.w, a.bottom() - y}, "No breakpoints", "B sets one at the selected hop. The program stops there; C goes on. Over a recording C goes to the next hop that matches.");
    return;
  }
  for (const LiveControl::Row& r : c.live.breakpoints) {
    if (y + u(kRow) > a.bottom()) {
      pen.note(a.x, base_of(y, u(14)), "more below: make the panel larger");
      break;
    }
    draw_row(c, pen, a, y, r);
    y += u(kRow);
  }
}

void StopsPanel::draw_row(Context& c, const Pen& pen, const Area& a, float y, const LiveControl::Row& r) {
  const auto& p = theme::palette();
  const float h = u(kRow) - 2, base = base_of(y, h);
  const std::string name = std::to_string(r.id);
  const bool hit_now = c.live.stop && std::find(c.live.stop->breakpoints.begin(), c.live.stop->breakpoints.end(), r.id) != c.live.stop->breakpoints.end();
  if (hit_now) pen.fill(a.x - u(6), y, a.w + u(12), h, color(p.select));
  const Hit toggle = hit(("toggle " + name).c_str(), a.x, y, u(16), h);
  pen.dl->AddCircle({a.x + u(7), y + h / 2}, u(4.5f), color(r.enabled ? p.focus : p.faint), 0, theme::scale());
  if (r.enabled) pen.dot(a.x + u(7), y + h / 2, u(4.5f), color(p.focus));
  tip(toggle, r.enabled ? "Stops; a click switches it off" : "Switched off; a click switches it on");
  if (toggle) c.live.wanted.push_back({r.enabled ? LiveWish::Kind::kDisable : LiveWish::Kind::kEnable, r.id, ""});
  Hit remove;
  const float x_width = text_width(Type::kSmall, "delete");
  pen.link(("delete " + name).c_str(), a.right() - x_width, base, "delete", &remove);
  if (remove) c.live.wanted.push_back({LiveWish::Kind::kRemove, r.id, ""});
  const std::string hits = plural(r.hits, "hit");
  const float right = a.right() - x_width - u(12);
  pen.text_right(Type::kMonoSmall, right, base, p.dim, hits);
  pen.text_cut(Type::kMono, a.x + u(20), base, right - text_width(Type::kMonoSmall, hits) - u(8) - a.x - u(20), r.enabled ? p.text : p.faint, r.once ? r.text + " (once)" : r.text);
  pen.hline(a.x, y + h, a.w, color(p.line));
}

/// Arguments or results: what is recorded of each, and its values as of now.
float StopsPanel::draw_arguments(const Context& c, const Pen& pen, const Area& a, float y) {
  const auto& p = theme::palette();
  const Standing& s = c.live.standing;
  pen.section(a.x, y, a.w, c.live.stop->after ? "Results" : "Arguments", s.asking ? "asking the program" : "");
  y += u(24);
  if (!s.values_note.empty()) pen.text_cut(Type::kSmall, a.x, base_of(y, u(18)), a.w, p.dim, s.values_note), y += u(20);
  if (s.values.empty() && !s.asking) pen.note(a.x, base_of(y, u(18)), c.live.stop->after ? "none" : "none are recorded"), y += u(19);
  for (const StandingValue& v : s.values) {
    const float base = base_of(y, u(19));
    pen.text_cut(Type::kMono, a.x, base, u(kNameWidth) - u(6), p.text, v.name);
    float x = a.x + u(kNameWidth);
    x += pen.text_cut(Type::kMono, x, base, a.right() - x, p.dim, (v.tensor ? tensor_name(v.tensor) + " " : "") + v.brief) + u(12);
    if (!v.statistics.empty()) x += pen.text_cut(Type::kMono, x, base, std::max(0.f, a.right() - x), p.text, v.statistics) + u(12);
    if (!v.values.empty()) pen.text_cut(Type::kMonoSmall, x, base, std::max(0.f, a.right() - x), p.faint, v.values);
    y += u(19);
  }
  return y + u(6);
}

/// The newest first, in two columns.
void StopsPanel::draw_variables(const Pen& pen, const Area& a, const Standing& s) {
  const auto& p = theme::palette();
  std::string place;
  std::vector<const std::vector<std::string>*> rows;
  for (const auto& r : s.locals) {
    if (r.size() == 1 && !place.empty()) break;  // callers come after the innermost call
    if (r.size() == 1) place = base_name(r[0]);
    if (r.size() == 3) rows.push_back(&r);
  }
  std::reverse(rows.begin(), rows.end());
  pen.section(a.x, a.y, a.w, "Python's variables", place);
  const float top = a.y + u(24), row = u(18), column = (a.w - u(16)) / 2;
  if (!s.locals_note.empty()) pen.text_cut(Type::kSmall, a.x, base_of(top, row), a.w, p.dim, s.locals_note);
  const size_t fit = size_t(std::max(1.f, (a.bottom() - top) / row));
  for (size_t i = 0; i < rows.size() && i < 2 * fit; i++) {
    const float x = i < fit ? a.x : a.x + column + u(16), y = top + float(i % fit) * row, base = base_of(y, row);
    if (i + 1 == 2 * fit && rows.size() > 2 * fit) {
      pen.note(x, base, plural(rows.size() - i, "more variable", "more variables"));
      break;
    }
    const float w = std::max(u(kNameWidth), text_width(Type::kMonoSmall, (*rows[i])[0]) + u(10));
    pen.text_cut(Type::kMonoSmall, x, base, column, p.text, (*rows[i])[0]);
    if (w < column) pen.text_cut(Type::kMonoSmall, x + w, base, column - w, p.dim, (*rows[i])[2]);
  }
}

/// The way to change what happens next, in the line of the arguments' title, and what was changed at this stop.
float StopsPanel::draw_changes(Context& c, const Pen& pen, const Area& a, float y) {
  const auto& p = theme::palette();
  constexpr const char* kChange = "change what happens next… (E)";
  Hit more;
  const bool can_change = c.session && c.session->meta("engine") == "embedded";
  if (can_change && !c.live.standing.asking) pen.link("change", a.right() - text_width(Type::kSmall, kChange), base_of(a.y, u(18)), kChange, &more);
  tip(more, "Excludes a key, runs another kernel, returns another value.");
  if (more || c.focus_field == "change") {
    if (c.focus_field == "change") c.focus_field.clear();
    ImGui::OpenPopup("change next");
  }
  draw_change_popup(c);
  if (c.live.said.empty()) return y;
  pen.section(a.x, y, a.w, "What happens next");
  y += u(24);
  const size_t shown = std::min<size_t>(c.live.said.size(), 3);
  for (size_t i = c.live.said.size() - shown; i < c.live.said.size(); i++) {
    const LiveView::Said& s = c.live.said[i];
    const float base = base_of(y, u(19)), w = pen.text_cut(Type::kMono, a.x, base, a.w * .45f, s.done ? p.text : p.faint, s.text);
    pen.text_cut(Type::kSmall, a.x + w + u(10), base, a.w - w - u(10), p.dim, s.answer);
    tip(hit(("said " + std::to_string(i)).c_str(), a.x, y, a.w, u(19)), s.answer);
    y += u(19);
  }
  return y + u(6);
}

void StopsPanel::draw_change_popup(Context& c) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(12), u(10)));
  if (ImGui::BeginPopup("change next")) {
    ImGui::PushFont(theme::font(Type::kBody), theme::font_size(Type::kBody));
    const auto say = [&](const std::string& text) {
      c.live.wanted.push_back({LiveWish::Kind::kChange, 0, text});
      ImGui::CloseCurrentPopup();
    };
    ImGui::SetNextItemWidth(u(460));
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    if (ImGui::InputTextWithHint("##say", "exclude KEY   kernel KEY   return zeros like self   thread exclude KEY", &change_, ImGuiInputTextFlags_EnterReturnsTrue) && !change_.empty()) {
      say(change_);
      change_.clear();
    }
    const Pen pen;
    const auto choices = c.session && c.live.stop ? change_choices(*c.session, *c.live.stop) : std::vector<ChangeChoice>();
    for (const ChangeChoice& choice : choices) {
      const ImVec2 o = ImGui::GetCursorScreenPos();
      if (ImGui::Selectable(("##" + choice.text).c_str(), false, 0, {u(460), u(20)})) say(choice.text);
      pen.text_cut(Type::kMono, o.x + u(2), base_of(o.y, u(20)), u(170), theme::palette().text, choice.text);
      pen.text_cut(Type::kSmall, o.x + u(178), base_of(o.y, u(20)), u(280), theme::palette().dim, choice.note);
    }
    if (!c.live.said.empty() && ImGui::Selectable("undo", false, 0, {u(460), u(20)})) say("undo");
    ImGui::PopFont();
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void StopsPanel::draw_threads(const Pen& pen, const Area& a, const Standing& s) {
  const auto& p = theme::palette();
  pen.section(a.x, a.y, a.w, "Threads");
  float y = a.y + u(24);
  for (const auto& r : s.threads) {
    if (r.size() != 3 || y > a.bottom() - u(18)) continue;
    const float base = base_of(y, u(18));
    const float w = pen.text_cut(Type::kMonoSmall, a.x, base, a.w * .4f, p.text, r[1]);
    pen.text_cut(Type::kMonoSmall, a.x + w + u(10), base, a.w - w - u(10), p.dim, base_name(r[2]));
    y += u(18);
  }
}

void StopsPanel::draw_standing(Context& c, const Area& a) {
  const Pen pen;
  float y = draw_arguments(c, pen, a, a.y);
  y = draw_changes(c, pen, a, y);
  if (y < a.bottom() - u(40)) draw_variables(pen, {a.x, y, a.w, a.bottom() - y}, c.live.standing);
}

std::string StopsPanel::copy_text(Context& c) {
  std::string out;
  for (const LiveControl::Row& r : c.live.breakpoints) out += r.text + "\n";
  for (const StandingValue& v : c.live.standing.values) out += v.name + "\t" + v.brief + "\t" + v.statistics + "\t" + v.values + "\n";
  return out;
}

}  // namespace

std::unique_ptr<Panel> make_stops_panel() { return std::make_unique<StopsPanel>(); }

}  // namespace peel::views
