#include "views/compare_draw.h"

#include <algorithm>

#include "views/why_onion.h"
#include "views/words.h"

namespace peel::views {

using theme::color;
using theme::Type;
using theme::u;

CompareColumns compare_columns(const Area& a, size_t strip_columns) {
  CompareColumns c{};
  const float strip = static_cast<float>(strip_columns) * u(theme::kTagW + 10);
  const float name = std::clamp(a.w * .17f, u(110), u(260));
  c.words = a.w - name - 2 * strip > u(560);
  const float beside = u(c.words ? 100 : 44);
  c.call = a.x;
  c.line = a.x + name;
  c.strip[0] = c.line + u(20);
  c.hops[0] = c.strip[0] + strip + beside - u(10);
  c.sign = c.hops[0] + u(30);
  c.strip[1] = c.sign + u(42);
  c.hops[1] = c.strip[1] + strip + beside - u(10);
  c.what = c.hops[1] + u(36);
  c.right = a.right();
  return c;
}

void draw_compare_head(const Pen& pen, const CompareModel& m, const CompareColumns& at, float y) {
  const auto& p = theme::palette();
  const float base = base_of(y, u(22)), second = base_of(y + u(19), u(20));
  pen.note(at.call, second, "call");
  for (int i = 0; i < 2; ++i) {
    const float room = (i ? at.what - u(12) : at.sign - u(8)) - at.strip[i];
    pen.text_cut(Type::kSemi, at.strip[i], base, room, p.text, m.choice().name[i]);
    const std::string facts = m.facts(i);
    const float hops = text_width(Type::kSmall, "hops");
    pen.text_cut(Type::kSmall, at.strip[i], second, at.hops[i] - at.strip[i] - hops - u(8), p.faint, facts);
    pen.text_right(Type::kSmall, at.hops[i], second, p.faint, "hops");
  }
  pen.text_cut(Type::kSmall, at.what, second, at.right - at.what, p.faint, "what differs on the right");
}

namespace {

void draw_half(const Pen& pen, const CompareColumns& at, const CompareRow& r, int side, float y, float h) {
  const auto& p = theme::palette();
  const CompareHalf& half = r.half[side];
  const float cy = std::round(y + h / 2), base = base_of(y, h), step = u(theme::kTagW + 10);
  const float hops = half.hops ? pen.text_right(Type::kMonoSmall, at.hops[side], base, p.dim, count_text(half.hops)) : 0;
  if (r.calls > 1) return;
  if (!half.call) {
    pen.note(at.strip[side], base, "not there");
    return;
  }
  float end = at.strip[side];
  for (size_t i = 0; i < half.cells.size(); ++i) {
    const CompareCell& cell = half.cells[i];
    const float x = at.strip[side] + static_cast<float>(i) * step;
    if (cell.key.empty()) {
      if (i + 1 < half.cells.size() && !half.composite) pen.dot(x + u(theme::kTagW) / 2, cy, u(1.5f), color(p.line_strong));
    } else {
      pen.tag(x, cy - u(1), cell.key, cell.mark);
      end = x + u(theme::kTagW);
    }
    if (cell.differs && !cell.key.empty()) pen.fill(std::round(x), std::round(cy + u(theme::kTagH) / 2 + u(1)), u(theme::kTagW), std::max(1.f, u(2)), color(p.text));
  }
  if (half.composite && at.words) pen.text_cut(Type::kSmall, end + u(9), base, at.hops[side] - hops - end - u(15), p.faint, "composite");
}

}  // namespace

Hit draw_compare_row(const Pen& pen, const Area& a, const CompareColumns& at, const CompareRow& r, float y, bool marked, bool focused, Hit* caret) {
  const auto& p = theme::palette();
  const float h = u(theme::kRow + 4), base = base_of(y, h), pad = u(theme::kPadX), cy = std::round(y + h / 2);
  const float x = at.call + static_cast<float>(r.depth) * u(theme::kIndent);
  ImGui::SetNextItemAllowOverlap();
  const Hit over = hit(("row/" + std::to_string(r.index) + (r.calls > 1 ? "+" : "")).c_str(), a.x - pad, y, a.w + 2 * pad - u(10), h);
  if (marked) pen.selected_row(a, y, h, focused);
  else if (over.hovered) pen.hovered_row(a, y, h);
  if (r.expandable) {
    *caret = hit(("caret/" + std::to_string(r.index)).c_str(), x - u(3), y, u(16), h);
    pen.caret(x, cy, r.expanded, color(p.dim));
  }
  const bool same = r.state == DiffState::kSame;
  const float tx = x + u(14), line_w = r.line.empty() ? 0 : text_width(Type::kMonoSmall, r.line) + u(8);
  pen.text_cut(r.calls > 1 ? Type::kBody : marked ? Type::kBold : Type::kMono, tx, base, at.line - tx - line_w, same ? p.dim : p.text, r.name);
  if (line_w > 0) pen.text_right(Type::kMonoSmall, at.line, base, p.faint, r.line);
  for (int side = 0; side < 2; ++side) draw_half(pen, at, r, side, y, h);
  const char* sign = r.state == DiffState::kLeft ? "−" : r.state == DiffState::kRight ? "+" : same ? "=" : "≠";
  const float sign_w = text_width(Type::kBody, sign);
  pen.text(Type::kBody, at.sign - sign_w / 2, base, same ? p.faint : p.text, sign);
  pen.text_cut(Type::kBody, at.what, base, at.right - at.what, same || r.repeats ? p.dim : p.text, r.what);
  if (over.hovered && !same && text_width(Type::kBody, r.what) > at.right - at.what) tip(over, r.what);
  return over;
}

void draw_compare_menu(Context& c, const DiffScope& span) {
  if (c.compare.other) return;
  ImGui::Separator();
  for (const bool second : {false, true}) {
    if (!ImGui::MenuItem(second ? "Set B of Compare" : "Set A of Compare")) continue;
    (second ? c.compare.b : c.compare.a) = span;
    c.compare.changes++;
    c.notice = std::string(second ? "B is " : "A is ") + span.name + ".";
    if (c.compare.a && c.compare.b) c.commands->run("workspace.Compare");
  }
}

EventId draw_compare_why(const CompareWhy& w, const char* id, const Area& a) {
  const auto& p = theme::palette();
  EventId clicked;
  ImGui::SetCursorScreenPos({a.x, a.y});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool visible = ImGui::BeginChild(id, {a.w, a.h}, 0, ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar();
  if (visible) {
    const Pen pen;
    const ImVec2 o = ImGui::GetCursorScreenPos();
    float y = o.y;
    if (!w.event) {
      pen.text_cut(Type::kBody, o.x, base_of(y, u(22)), a.w, p.faint, w.side + " has no such call");
      y += u(22);
    } else {
      const float base = base_of(y, u(22));
      const float t = pen.text_cut(Type::kTitle, o.x, base, a.w, p.text, w.model.title);
      pen.text_cut(Type::kSmall, o.x + t + u(10), base, a.w - t - u(10), p.faint, w.model.where + ", " + w.mode);
      y += u(25);
      std::vector<Run> runs;
      for (const Part& part : w.model.sentence) runs.push_back({part.strong ? Type::kSemi : Type::kBody, p.text, part.text});
      y += static_cast<float>(pen.rich_wrapped(o.x, base_of(y, u(20)), a.w - u(12), u(20), runs)) * u(20);
      if (!w.effects.empty()) {
        const std::vector<Run> effects{{Type::kSmall, p.dim, w.effects}};
        y += static_cast<float>(pen.rich_wrapped(o.x, base_of(y, u(18)), a.w - u(12), u(18), effects)) * u(18);
      }
      y += u(8);
      clicked = draw_onion(pen, w.model, {o.x, y, a.w - u(12), a.h}, &y);
    }
    ImGui::SetCursorScreenPos(o);
    ImGui::Dummy({1, y - o.y});
  }
  ImGui::EndChild();
  return clicked;
}

}  // namespace peel::views
