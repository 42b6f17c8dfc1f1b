#include "views/pen.h"

#include <algorithm>
#include <cfloat>
#include <cstdio>

namespace peel::views {
using theme::color;
using theme::font;
using theme::font_size;
using theme::palette;
using theme::Mark;
using theme::Type;
using theme::u;

Area panel_area() {
  ImVec2 at = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  float px = u(theme::kPadX), py = u(theme::kPadY);
  return {at.x + px, at.y + py, std::max(1.f, size.x - 2 * px), std::max(1.f, size.y - 2 * py)};
}

Hit hit(const char* id, float x, float y, float w, float h) {
  Hit r;
  if (w < 1 || h < 1) return r;
  ImGui::SetCursorScreenPos({x, y});
  r.clicked = ImGui::InvisibleButton(id, {w, h}, ImGuiButtonFlags_EnableNav);
  r.hovered = ImGui::IsItemHovered();
  r.held = ImGui::IsItemActive();
  r.double_clicked = r.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  r.right_clicked = r.hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  return r;
}
Hit hit(const char* id, const Area& a) { return hit(id, a.x, a.y, a.w, a.h); }

void tip(const Hit& h, std::string_view text) {
  if (!h.hovered || text.empty() || !ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort)) return;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(8), u(5)));
  if (ImGui::BeginTooltip()) {
    ImGui::PushFont(font(Type::kSmall), font_size(Type::kSmall));
    ImGui::PushTextWrapPos(u(420));
    ImGui::TextUnformatted(text.data(), text.data() + text.size());
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    ImGui::EndTooltip();
  }
  ImGui::PopStyleVar();
}

// ---- text

float text_width(Type t, std::string_view s) {
  return font(t)->CalcTextSizeA(font_size(t), FLT_MAX, 0, s.data(), s.data() + s.size()).x;
}
float base_of(float y, float h) { return std::round(y + h / 2 + 4.7f * theme::scale()); }

std::string cut_text(Type t, std::string_view s, float w) {
  if (text_width(t, s) <= w) return std::string(s);
  const char *begin = s.data(), *rest = begin;
  float dots = text_width(t, "…");
  if (w <= dots) return "";
  font(t)->CalcTextSizeA(font_size(t), w - dots, 0, begin, begin + s.size(), &rest);
  return std::string(begin, rest) + "…";
}

float Pen::text(Type t, float x, float base, unsigned rgb, std::string_view s) const {
  if (s.empty()) return 0;
  ImFont* f = font(t);
  float size = font_size(t);
  float top = std::round(base - f->GetFontBaked(size)->Ascent);
  dl->AddText(f, size, {std::round(x), top}, color(rgb), s.data(), s.data() + s.size());
  return text_width(t, s);
}
float Pen::text_right(Type t, float right, float base, unsigned rgb, std::string_view s) const {
  return text(t, right - text_width(t, s), base, rgb, s);
}
float Pen::text_cut(Type t, float x, float base, float w, unsigned rgb, std::string_view s) const {
  if (text_width(t, s) <= w) return text(t, x, base, rgb, s);
  return text(t, x, base, rgb, cut_text(t, s, w));
}
float Pen::note(float x, float base, std::string_view s) const {
  return text(Type::kSmall, x, base, palette().faint, s);
}
float Pen::note_right(float right, float base, std::string_view s) const {
  return text_right(Type::kSmall, right, base, palette().faint, s);
}
float Pen::rich(float x, float base, const std::vector<Run>& runs) const {
  float start = x;
  for (const Run& r : runs) x += text(r.type, x, base, r.rgb, r.text);
  return x - start;
}

int Pen::rich_wrapped(float x, float base, float w, float line_height, const std::vector<Run>& runs, bool draw) const {
  float at = 0;
  int lines = 1;
  // A word may be made of several runs ("AutogradCPU" "," ): break only at spaces.
  struct Piece { const Run* run; std::string_view text; float w; };
  std::vector<Piece> word;
  float word_w = 0, space = 0;
  auto flush = [&] {
    if (word.empty()) return;
    if (at > 0 && at + space + word_w > w) lines++, at = 0, space = 0;
    at += space, space = 0;
    for (const Piece& p : word) {
      if (draw) text(p.run->type, x + at, base + float(lines - 1) * line_height, p.run->rgb, p.text);
      at += p.w;
    }
    word.clear(), word_w = 0;
  };
  for (const Run& r : runs) {
    std::string_view s = r.text;
    while (!s.empty()) {
      if (s[0] == ' ') {
        flush();
        size_t n = std::min(s.find_first_not_of(' '), s.size());
        space += text_width(r.type, s.substr(0, n));
        s.remove_prefix(n);
        continue;
      }
      std::string_view part = s.substr(0, s.find(' '));
      float pw = text_width(r.type, part);
      word.push_back({&r, part, pw}), word_w += pw;
      s.remove_prefix(part.size());
    }
  }
  flush();
  return lines;
}

// ---- shapes

void Pen::fill(float x, float y, float w, float h, ImU32 c, float r) const {
  dl->AddRectFilled({x, y}, {x + w, y + h}, c, r);
}
void Pen::frame(float x, float y, float w, float h, ImU32 c, float r) const {
  dl->AddRect({x + .5f, y + .5f}, {x + w - .5f, y + h - .5f}, c, r);
}
void Pen::hline(float x, float y, float w, ImU32 c) const { fill(x, std::round(y), w, 1, c); }
void Pen::vline(float x, float y, float h, ImU32 c) const { fill(std::round(x), y, 1, h, c); }
void Pen::dash(float x0, float y0, float x1, float y1, ImU32 c, float on, float off, float thick) const {
  float n = std::hypot(x1 - x0, y1 - y0);
  if (n < .5f) return;
  float dx = (x1 - x0) / n, dy = (y1 - y0) / n;
  for (float a = 0; a < n; a += on + off) {
    float b = std::min(a + on, n);
    dl->AddLine({x0 + dx * a, y0 + dy * a}, {x0 + dx * b, y0 + dy * b}, c, thick);
  }
}
void Pen::dash_frame(float x, float y, float w, float h, ImU32 c, float on, float off) const {
  x += .5f, y += .5f, w -= 1, h -= 1;
  dash(x, y, x + w, y, c, on, off), dash(x, y + h, x + w, y + h, c, on, off);
  dash(x, y, x, y + h, c, on, off), dash(x + w, y, x + w, y + h, c, on, off);
}
void Pen::caret(float x, float cy, bool open, ImU32 c) const {
  float k = theme::scale();
  if (open) dl->AddTriangleFilled({x, cy - 2 * k}, {x + 8 * k, cy - 2 * k}, {x + 4 * k, cy + 3 * k}, c);
  else dl->AddTriangleFilled({x + 2 * k, cy - 4 * k}, {x + 7 * k, cy}, {x + 2 * k, cy + 4 * k}, c);
}
void Pen::diamond(float cx, float cy, float r, ImU32 c, bool solid) const {
  if (solid) dl->AddQuadFilled({cx, cy - r}, {cx + r, cy}, {cx, cy + r}, {cx - r, cy}, c);
  else dl->AddQuad({cx, cy - r}, {cx + r, cy}, {cx, cy + r}, {cx - r, cy}, c, 1.2f * theme::scale());
}
void Pen::dot(float cx, float cy, float r, ImU32 c) const { dl->AddCircleFilled({cx, cy}, r, c); }

// ---- layers

void Pen::tag(float x, float cy, std::string_view key, Mark m) const {
  const theme::KeyStyle& k = theme::key_style(key);
  const theme::Palette& p = palette();
  unsigned h = theme::hue(k.family);
  float w = u(theme::kTagW), th = u(theme::kTagH), s = theme::scale(), y = std::round(cy - th / 2);
  x = std::round(x);
  if (m == Mark::kAbsent) return dl->AddCircleFilled({x + w / 2, cy}, 1.5f * s, color(p.line_strong));
  if (m == Mark::kRan) fill(x, y, w, th, color(h), 3 * s);
  if (m == Mark::kComposite) {
    fill(x, y, w, th, color(p.panel), 3 * s), fill(x, y, w, th, color(h, .16f), 3 * s);
    frame(x, y, w, th, color(h), 3 * s);
  }
  if (m == Mark::kFell || m == Mark::kExcluded) dash_frame(x, y, w, th, color(h), 3 * s, 2.5f * s);
  if (m == Mark::kMasked) dash_frame(x, y, w, th, color(h), s, 2 * s);
  float tw = text_width(Type::kBoldSmall, k.tag), mid = std::round(cy), one = std::max(1.f, std::floor(s));
  text(Type::kBoldSmall, x + (w - tw) / 2, base_of(y, th) - std::round(s), m == Mark::kRan ? p.on_family : h, k.tag);
  if (m == Mark::kExcluded) {
    fill(x - 4 * s, mid, 7 * s, one, color(h)), fill(x + w - 3 * s, mid, 7 * s, one, color(h));
  }
  if (m == Mark::kFell) {
    fill(x + w / 2, y - 3 * s, one, 5 * s, color(h)), fill(x + w / 2, y + th - 2 * s, one, 5 * s, color(h));
  }
}
void Pen::strip(float x, float cy, const std::vector<StripLayer>& layers) const {
  for (const StripLayer& l : layers) tag(x + float(l.column) * u(theme::kTagW + theme::kTagGap), cy, l.key, l.mark);
}
float Pen::node_made(float x, float cy, std::string_view node, uint32_t inside, bool strong) const {
  float base = std::round(cy + 4.2f * theme::scale()), d = u(4.5f);
  if (node.empty() && !inside) return 0;
  diamond(x + u(4), cy, d, color(theme::hue(theme::kAutograd)), !node.empty());
  if (node.empty()) return u(14) + note(x + u(14), base, count(inside) + " inside");
  return u(14) + text(strong ? Type::kBold : Type::kMono, x + u(14), base, palette().text, node);
}

// ---- parts of a panel

void Pen::section(float x, float y, float w, std::string_view left, std::string_view right) const {
  text(Type::kSemiSmall, x, base_of(y, u(20)), palette().dim, left);
  note_right(x + w, base_of(y, u(20)), right);
}
void Pen::selected_row(const Area& a, float y, float h, bool focused) const {
  float pad = u(theme::kPadX);
  fill(a.x - pad, y, a.w + 2 * pad, h, color(palette().select));
  fill(a.x - pad, y, u(3), h, color(focused ? palette().focus : palette().faint));
}
void Pen::hovered_row(const Area& a, float y, float h) const {
  float pad = u(theme::kPadX);
  fill(a.x - pad, y, a.w + 2 * pad, h, color(palette().hover, .6f));
}
void Pen::list_row(float x, float y, float w, float h, std::string_view left, float at, Type t, std::string_view s,
                   std::string_view right) const {
  const theme::Palette& p = palette();
  text(Type::kSemiSmall, x, base_of(y, h), p.dim, left);
  float room = w - u(at) - text_width(Type::kMonoSmall, right) - u(8);
  text_cut(t, x + u(at), base_of(y, h), room, p.text, s);
  text_right(Type::kMonoSmall, x + w, base_of(y, h), p.dim, right);
  hline(x, y + h, w, color(p.line));
}
void Pen::empty(const Area& a, std::string_view title, std::string_view what_to_do) const {
  float line = u(21);
  std::vector<views::Run> runs = {{Type::kBody, palette().faint, std::string(what_to_do)}};
  float w = std::min(a.w, u(440));
  float lines = float(rich_wrapped(0, 0, w, line, runs, false));
  float y = std::max(a.y, a.y + (a.h - line * (lines + 1)) * .4f);
  float tw = text_width(Type::kSemi, title);
  text(Type::kSemi, a.x + std::max(0.f, (a.w - tw) / 2), base_of(y, line), palette().dim, title);
  float body = lines > 1 ? w : std::min(w, text_width(Type::kBody, what_to_do));
  rich_wrapped(a.x + (a.w - body) / 2, base_of(y + line, line), w, line, runs);
}
void Pen::progress(float x, float y, float w, float share) const {
  float h = u(4);
  fill(x, y, w, h, color(palette().line), h / 2);
  if (share >= 0) return fill(x, y, w * std::min(share, 1.f), h, color(palette().faint), h / 2);
  float part = w / 4, at = float(std::fmod(ImGui::GetTime(), 1.6) / 1.6) * (w + part) - part;
  float from = std::max(0.f, at), to = std::min(w, at + part);
  if (to > from) fill(x + from, y, to - from, h, color(palette().faint), h / 2);
}

// ---- things to press

float Pen::button_width(std::string_view label, std::string_view key, bool strong) {
  float k = key.empty() ? u(16) : text_width(Type::kMonoSmall, key) + u(22);
  return text_width(strong ? Type::kSemi : Type::kBody, label) + k + u(theme::kGap);
}
float Pen::button(const char* id, float x, float y, std::string_view label, std::string_view key, Hit* out, bool strong,
                  bool enabled) const {
  const theme::Palette& p = palette();
  float w = button_width(label, key, strong) - u(theme::kGap), h = u(theme::kButton);
  ImGui::BeginDisabled(!enabled);
  Hit r = hit(id, x, y, w, h);
  ImGui::EndDisabled();
  bool focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
  fill(x, y, w, h, color(r.held ? p.select : r.hovered ? p.hover : p.raised), u(theme::kRadius));
  frame(x, y, w, h, color(focused ? p.focus : r.hovered && enabled ? p.line_strong : p.line), u(theme::kRadius));
  float t = text(strong ? Type::kSemi : Type::kBody, x + u(8), base_of(y, h), enabled ? p.text : p.faint, label);
  text(Type::kMonoSmall, x + u(14) + t, base_of(y, h), p.faint, key);
  if (out) *out = r;
  return w + u(theme::kGap);
}
float Pen::chip(const char* id, float x, float cy, std::string_view s, Hit* out) const {
  const theme::Palette& p = palette();
  float w = text_width(Type::kMonoSmall, s) + u(22), h = u(18), y = std::round(cy - h / 2);
  Hit r = hit(id, x, y, w, h);
  if (r.hovered) fill(x, y, w, h, color(p.hover), h / 2);
  frame(x, y, w, h, color(r.hovered ? p.focus : p.line_strong), h / 2);
  text(Type::kMonoSmall, x + u(8), base_of(y, h) - std::round(theme::scale()), p.text, s);
  caret(x + w - u(13), cy, false, color(p.dim));
  if (out) *out = r;
  return w;
}
float Pen::link(const char* id, float x, float base, std::string_view s, Hit* out) const {
  const theme::Palette& p = palette();
  float w = text_width(Type::kSmall, s);
  Hit r = hit(id, x, base - u(14), w, u(20));
  text(Type::kSmall, x, base, r.hovered ? p.text : p.dim, s);
  hline(x, base + u(2), w, color(r.hovered ? p.focus : p.line_strong));
  if (r.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (out) *out = r;
  return w;
}

// ---- numbers

std::string microseconds(Nanoseconds ns, bool unit) {
  char b[32];
  double us = double(ns) / 1000;
  if (!unit) snprintf(b, sizeof b, us < 10 ? "%.1f" : "%.0f", us);
  else if (us < 1000) snprintf(b, sizeof b, us < 10 ? "%.1f µs" : "%.0f µs", us);
  else if (us < 1e6) snprintf(b, sizeof b, us < 1e4 ? "%.1f ms" : "%.0f ms", us / 1000);
  else snprintf(b, sizeof b, "%.1f s", us / 1e6);
  return unit ? b : us < 10000 ? std::string(b) : count(uint64_t(us + .5));
}
std::string count(uint64_t n) {
  std::string s = std::to_string(n);
  for (int i = int(s.size()) - 3; i > 0; i -= 3) s.insert(size_t(i), ",");
  return s;
}
std::string counted(uint64_t n, std::string_view one, std::string_view many) {
  return count(n) + " " + std::string(n == 1 ? one : many);
}

// ---- virtual list

void VirtualList::scroll(double pixels) {
  double p = double(pixel_) + pixels, rows = std::floor(p / row_);
  top_ += int64_t(rows);
  pixel_ = float(p - rows * row_);
}
std::optional<int64_t> VirtualList::step(std::string_view command) const {
  constexpr int64_t kAll = int64_t{1} << 48;
  const int64_t page = std::max<int64_t>(1, page_ - 1);
  const std::pair<std::string_view, int64_t> steps[] = {{"list.up", -1}, {"list.down", 1}, {"list.page_up", -page}, {"list.page_down", page}, {"list.first", -kAll}, {"list.last", kAll}};
  for (const auto& [name, by] : steps) if (command == name) return by;
  return std::nullopt;
}
std::optional<int64_t> VirtualList::row_after(std::string_view command, int64_t here, size_t rows) const {
  const std::optional<int64_t> by = step(command);
  if (!by || !rows) return std::nullopt;
  return std::clamp<int64_t>(here < 0 && *by < 0 ? 0 : here + *by, 0, static_cast<int64_t>(rows) - 1);
}
void VirtualList::shift(int64_t by) {
  if (top_ > 0 || pixel_ > 0) top_ += by;
}
void VirtualList::begin(const char* id, const Area& area, int64_t rows, float row_height) {
  area_ = area, rows_ = rows, row_ = std::max(1.f, row_height);
  page_ = std::max<int64_t>(1, int64_t(area.h / row_));
  ImGui::SetCursorScreenPos({area.x, area.y});
  ImGui::BeginChild(id, {area.w, std::max(1.f, area.h)}, ImGuiChildFlags_None,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoBackground);
  ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsWindowHovered() && io.MouseWheel != 0 && !io.KeyCtrl) scroll(-double(io.MouseWheel) * row_ * 3);
  if (reveal_ >= 0) {
    int64_t r = std::min(reveal_, std::max<int64_t>(0, rows - 1));
    bool far_away = r < top_ - page_ || r > top_ + 2 * page_;
    if (far_away) top_ = r - page_ / 2, pixel_ = 0;
    else if (r < top_ || (r == top_ && pixel_ > 0)) top_ = r, pixel_ = 0;
    else if (r >= top_ + page_ - 1) {
      top_ = r, pixel_ = 0;
      scroll(-double(area.h - row_));
    }
    reveal_ = -1;
  }
  if (to_bottom_) top_ = rows, to_bottom_ = false;
  // Not past the last row, not before the first.
  int64_t last_top = rows;
  float last_pixel = 0;
  std::swap(top_, last_top), std::swap(pixel_, last_pixel);
  scroll(-double(area.h));
  std::swap(top_, last_top), std::swap(pixel_, last_pixel);
  if (last_top < 0) last_top = 0, last_pixel = 0;
  at_bottom_ = top_ > last_top || (top_ == last_top && pixel_ >= last_pixel - 1);
  if (top_ > last_top || (top_ == last_top && pixel_ > last_pixel)) top_ = last_top, pixel_ = last_pixel;
  if (top_ < 0) top_ = 0, pixel_ = 0;
  first_ = top_;
  end_ = std::min(rows, top_ + page_ + 2);
}
float VirtualList::y(int64_t row) const { return std::round(area_.y + float(row - top_) * row_ - pixel_); }
void VirtualList::end() {
  double all = double(rows_) * row_;
  if (all > area_.h + 1) {
    float w = u(4), grip = u(10), x = area_.right() - grip;
    double share = area_.h / all, at = (double(top_) * row_ + pixel_) / all;
    float h = std::max(u(24), float(share) * area_.h), room = area_.h - h;
    float y0 = area_.y + float(std::min(1.0, at / (1 - share))) * room;
    Hit r = hit("##scrollbar", x, area_.y, grip, area_.h);
    float mouse = ImGui::GetIO().MousePos.y;
    if (r.held && !dragging_) dragging_ = true, grab_ = mouse >= y0 && mouse <= y0 + h ? mouse - y0 : h / 2;
    if (!r.held) dragging_ = false;
    if (dragging_ && room > 0) {
      double f = std::clamp(double(mouse - grab_ - area_.y) / double(room), 0.0, 1.0);
      top_ = 0, pixel_ = 0, scroll(f * (all - area_.h));
      y0 = area_.y + float(f) * room;
    }
    const theme::Palette& p = palette();
    ImU32 c = color(dragging_ ? p.faint : r.hovered ? p.line_strong : p.line);
    Pen().fill(x + (grip - w) - u(1), y0, w, h, c, w / 2);
  }
  ImGui::EndChild();
}

}  // namespace peel::views
