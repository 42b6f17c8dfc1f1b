#include "views/memory_chart.h"

#include <algorithm>
#include <cmath>

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kGutter = 66, kLane = 20, kAxis = 18;

/// A neutral between two of the palette: bands that lie on each other must not run together.
unsigned between(unsigned a, unsigned b, float t) {
  unsigned out = 0;
  for (int s = 0; s <= 16; s += 8) {
    const float x = static_cast<float>(a >> s & 255), y = static_cast<float>(b >> s & 255);
    out |= static_cast<unsigned>(x + (y - x) * t + .5f) << s;
  }
  return out;
}

}  // namespace

void MemoryChart::forget() {
  work_.stop();
  bands_ = {}, asked_history_ = nullptr, fit_ = true, from_ = 0, to_ = 1;
}

void MemoryChart::refresh(const MemoryView& v, int columns, int rows) {
  if (auto fresh = work_.take()) bands_ = std::move(*fresh);
  if (asked_history_ == v.history.get() && asked_device_ == v.device && asked_from_ == from_ && asked_to_ == to_ && asked_columns_ == columns && asked_rows_ == rows) return;
  if (work_.busy()) return;  // the newest wish is taken up when this one is done: nothing piles up
  asked_history_ = v.history.get(), asked_device_ = v.device, asked_from_ = from_, asked_to_ = to_, asked_columns_ = columns, asked_rows_ = rows;
  work_.start([names = v.names, history = v.history, device = v.device, from = from_, to = to_, columns, rows](const std::atomic<bool>& cancelled) {
    return make_bands(*names, device, from, to, columns, rows, cancelled);
  });
}

/// Wheel: zoom at the mouse. Drag: pan.
void MemoryChart::move(const MemoryView& v, const Area& plot) {
  const double n = std::max<double>(1, static_cast<double>(v.of().events.size()));
  const ImGuiIO& io = ImGui::GetIO();
  if (fit_ || to_ <= from_) from_ = 0, to_ = n, fit_ = false;
  if (ImGui::IsItemHovered()) zoom_ += static_cast<double>(io.MouseWheel);
  if (zoom_ != 0) {
    const double at = from_ + (to_ - from_) * (ImGui::IsItemHovered() ? std::clamp((io.MousePos.x - plot.x) / plot.w, 0.f, 1.f) : .5f);
    const double width = std::clamp((to_ - from_) * std::pow(.8, zoom_), std::min(n, 8.0), n);
    zoom_ = 0;
    from_ = at - (at - from_) * width / (to_ - from_), to_ = from_ + width;
  }
  const double by_keys = pan_ * (to_ - from_);
  from_ += by_keys, to_ += by_keys, pan_ = 0;
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, u(4))) {
    const double by = -static_cast<double>(io.MouseDelta.x) / static_cast<double>(plot.w) * (to_ - from_);
    from_ += by, to_ += by, dragged_ = true;
  }
  if (reveal_) {
    const double at = static_cast<double>(v.of().position(v.moment)), width = to_ - from_;
    if (at < from_ || at > to_) from_ = at - width / 2, to_ = from_ + width;
    reveal_ = false;
  }
  if (from_ < 0) to_ -= from_, from_ = 0;
  if (to_ > n) from_ = std::max(0.0, from_ - (to_ - n)), to_ = n;
}

void MemoryChart::draw_bands(const MemoryView& v, const Pen& pen, const Area& plot, LifeIndex hovered) const {
  const auto& p = theme::palette();
  const bool dark = theme::dark();
  const unsigned low = dark ? between(p.line, p.line_strong, .35f) : between(p.line, p.line_strong, .15f);
  const unsigned shade[3] = {low, between(low, p.line_strong, .3f), between(low, p.line_strong, .6f)};
  const unsigned older = between(p.panel, low, .6f);
  for (const MemoryBands::Piece& b : bands_.pieces) {
    const float x0 = std::max(plot.x, x_of(plot, b.from)), x1 = std::min(plot.right(), x_of(plot, b.to));
    if (x1 <= x0) continue;
    const float y0 = y_of(plot, b.high), y1 = y_of(plot, b.low), gap = y1 - y0 >= 5 ? 1.f : 0.f;
    const bool old = b.life < v.history->lives.size() && v.history->lives[b.life].older;
    const unsigned rgb = b.life == v.life ? p.focus : b.life == hovered ? p.faint : old ? older : shade[b.life % 3];
    pen.fill(x0, y0 + gap, x1 - x0, y1 - y0 - gap, theme::color(rgb));
  }
  // What is too thin: one fill on top of the bands.
  const double step = (bands_.to - bands_.from) / std::max<double>(1, static_cast<double>(bands_.columns.size()));
  const ImU32 rest = theme::color(low, .45f);
  for (size_t c = 0; c < bands_.columns.size();) {
    size_t e = c + 1;
    const auto& column = bands_.columns[c];
    while (e < bands_.columns.size() && bands_.columns[e].folded == column.folded && bands_.columns[e].highest.active == column.highest.active) ++e;
    if (column.folded > 0) {
      const float x0 = std::max(plot.x, x_of(plot, bands_.from + static_cast<double>(c) * step)), x1 = std::min(plot.right(), x_of(plot, bands_.from + static_cast<double>(e) * step));
      const float y0 = y_of(plot, column.highest.active), y1 = y_of(plot, column.highest.active - column.folded);
      if (x1 > x0) pen.fill(x0, y0, x1 - x0, y1 - y0, rest);
    }
    c = e;
  }
  for (const MemoryBands::Label& l : bands_.labels) {
    const MemoryBands::Piece& b = bands_.pieces[l.piece];
    const float x0 = std::max(plot.x, x_of(plot, b.from)), x1 = std::min(plot.right(), x_of(plot, b.to)), y0 = y_of(plot, b.high), y1 = y_of(plot, b.low);
    if (x1 - x0 < u(48) || y1 - y0 < u(13)) continue;
    std::string text = l.text + (l.text.empty() ? "" : "  ") + bytes_text(b.high - b.low);
    if (text_width(Type::kSmall, text) > x1 - x0 - u(10)) text = l.text;
    pen.text_cut(Type::kSmall, x0 + u(6), base_of(y0, y1 - y0), x1 - x0 - u(10), b.life == v.life || b.life == hovered ? p.window : p.text, text);
  }
}

void MemoryChart::draw_totals(const MemoryView& v, const Pen& pen, const Area& plot) const {
  const auto& p = theme::palette();
  const double step = (bands_.to - bands_.from) / std::max<double>(1, static_cast<double>(bands_.columns.size()));
  const auto line = [&](int64_t MemoryTotals::*what, unsigned rgb, bool dashed, float thick) {
    float px = 0, py = 0;
    for (size_t c = 0; c <= bands_.columns.size(); ++c) {
      const bool end = c == bands_.columns.size();
      const float x = std::clamp(x_of(plot, bands_.from + static_cast<double>(c) * step), plot.x, plot.right());
      const float y = end ? py : std::round(y_of(plot, bands_.columns[c].highest.*what));
      if (c && (end || y != py)) {
        if (x > px) {
          if (dashed) pen.dash(px, py + .5f, x, py + .5f, theme::color(rgb), 4, 4);
          else pen.fill(px, py, x - px, thick, theme::color(rgb));
        }
        if (!end) pen.fill(x, std::min(y, py), thick, std::abs(y - py) + thick, theme::color(rgb, dashed ? .6f : 1));
        px = x, py = y;
      } else if (!c) {
        px = x, py = y;
      }
    }
  };
  if (v.of().caching()) line(&MemoryTotals::reserved, p.dim, true, 1);
  line(&MemoryTotals::allocated, p.text, false, std::max(1.f, u(1)));
}

void MemoryChart::draw_axis(const MemoryView& v, const Pen& pen, const Area& plot, float lane_y) const {
  const auto& p = theme::palette();
  for (int k = 0; k <= 4; ++k) {
    const int64_t bytes = bands_.top / 4 * k;
    const float y = std::round(y_of(plot, bytes));
    if (k) pen.hline(plot.x, y, plot.w, theme::color(p.line, .5f));
    if (k % 2 == 0 || plot.h > u(130)) pen.text_right(Type::kSmall, plot.x - u(6), k ? base_of(y - u(8), u(16)) : base_of(y - u(12), u(16)), p.faint, k ? bytes_text(bytes) : "0");
  }
  // Times of a few events: the axis counts events.
  const auto& events = v.of().events;
  if (events.empty()) return;
  Nanoseconds begin = 0;
  std::string before;
  const int marks = std::max(1, static_cast<int>(plot.w / u(150)));
  for (int k = 0; k <= marks; ++k) {
    const double position = from_ + (to_ - from_) * k / marks;
    const size_t i = static_cast<size_t>(std::clamp(position, 0.0, static_cast<double>(events.size() - 1)));
    // The first says when, the others how much later: two that look alike would tell nothing.
    const Nanoseconds time = v.history->events[events[i]].time;
    if (k == 0) begin = time;
    const std::string text = k == 0 ? duration(time) : "+" + duration(time - begin);
    if (text == before) continue;
    before = text;
    const float x = x_of(plot, position), w = text_width(Type::kSmall, text);
    pen.text(Type::kSmall, std::clamp(k == 0 ? x : k == marks ? x - w : x - w / 2, plot.x, plot.right() - w), base_of(lane_y + u(kLane), u(kAxis)), p.faint, text);
  }
}

/// Which line of the program each part belongs to; a click goes there.
void MemoryChart::draw_lane(MemoryView& v, const Pen& pen, const Area& plot, float y) {
  const auto& p = theme::palette();
  pen.text_right(Type::kSmall, plot.x - u(6), base_of(y, u(kLane)), p.faint, "line");
  bool odd = false;
  for (const MemoryBands::Stretch& s : bands_.stretches) {
    const float x0 = std::max(plot.x, x_of(plot, s.from)), x1 = std::min(plot.right(), x_of(plot, s.to));
    odd = !odd;
    if (x1 - x0 < 1 || s.label.empty()) continue;
    pen.fill(x0, y + u(2), std::max(1.f, x1 - x0 - 1), u(kLane - 4), theme::color(odd ? p.raised : p.hover), u(2));
    // Where there is no room for the file, its line alone says most.
    std::string_view text = s.label;
    if (text_width(Type::kSmall, text) > x1 - x0 - u(8) && text.rfind(':') != text.npos) text = text.substr(text.rfind(':'));
    if (x1 - x0 > u(26)) pen.text_cut(Type::kSmall, x0 + u(5), base_of(y, u(kLane)), x1 - x0 - u(8), p.dim, text);
  }
  const Hit h = hit("line of the program", plot.x, y, plot.w, u(kLane));
  if (!h.hovered) return;
  const double at = from_ + static_cast<double>((ImGui::GetIO().MousePos.x - plot.x) / plot.w) * (to_ - from_);
  for (const MemoryBands::Stretch& s : bands_.stretches) {
    if (at < s.from || at >= s.to) continue;
    tip(h, (s.label.empty() ? "no line recorded" : s.label) + "\nClick goes to this moment.");
  }
  if (h) {
    const auto& events = v.of().events;
    const size_t i = static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(events.size()) - 1));
    if (i < events.size()) v.go = events[i] + 1;
  }
}

void MemoryChart::draw_marks(const MemoryView& v, const Pen& pen, const Area& plot) const {
  const auto& p = theme::palette();
  const MemoryDevice& d = v.of();
  const auto flag = [&](MemoryIndex moment, std::string_view text, unsigned rgb, bool strong, bool dashed) {
    const float x = std::round(x_of(plot, static_cast<double>(d.position(moment))));
    if (x < plot.x - 1 || x > plot.right() + 1) return;
    if (dashed) pen.dash(x + .5f, plot.y, x + .5f, plot.bottom(), theme::color(rgb), 3, 3);
    else pen.fill(x, plot.y, strong ? std::max(2.f, u(2)) : 1, plot.h, theme::color(rgb));
    if (text.empty()) return;
    const float w = text_width(Type::kSemiSmall, text) + u(8), left = x + w > plot.right() ? x - w : x;
    pen.fill(left, plot.y, w, u(17), theme::color(rgb), u(2));
    pen.text(Type::kSemiSmall, left + u(4), base_of(plot.y, u(17)), p.panel, text);
  };
  if (d.peak_at != kNoIndex) {
    const float x = x_of(plot, static_cast<double>(d.position(d.peak_at))), y = y_of(plot, d.peak.allocated), s = u(4);
    if (x >= plot.x && x <= plot.right()) {
      pen.dl->AddTriangleFilled({x - s, y - u(3) - s * 1.4f}, {x + s, y - u(3) - s * 1.4f}, {x, y - u(3)}, theme::color(p.text));
      const std::string text = "peak " + bytes_text(d.peak.allocated);
      const float w = text_width(Type::kSmall, text), left = std::clamp(x - w - u(8), plot.x, plot.right() - w);
      if (y - plot.y > u(16)) pen.text(Type::kSmall, left, base_of(y - u(17), u(16)), p.text, text);
    }
  }
  for (const MemoryIndex o : v.history->ooms)
    if (v.history->events[o].device == v.device) flag(o, "out of memory", p.text, false, true);
  if (v.mark_a != kNoIndex) flag(v.mark_a, "A", p.dim, false, false);
  if (v.mark_b != kNoIndex) flag(v.mark_b, "B", p.dim, false, false);
  flag(v.moment, "", p.focus, true, false);
}

void MemoryChart::tell(const MemoryView& v, double position, const MemoryBands::Piece* piece) const {
  const MemoryDevice& d = v.of();
  const size_t i = static_cast<size_t>(std::clamp(position, 0.0, static_cast<double>(d.events.size()) - 1));
  std::string text;
  if (piece) {
    text = describe(*v.names, piece->life) + "\nClick selects its hop.";
  } else {
    const MemoryTotals& t = d.totals[i];
    const MemoryEvent& e = v.history->events[d.events[i]];
    text = bytes_text(t.allocated) + " allocated" + (d.caching() ? ", " + bytes_text(t.reserved) + " reserved" : "") + "\n" + std::string(memory_action_name(e.action)) + " " + bytes_text(e.size);
    const std::string op = v.names->op(e), line = v.names->line(e);
    if (!op.empty() || !line.empty()) text += "\n" + op + (op.empty() || line.empty() ? "" : "  ") + line;
    const size_t c = static_cast<size_t>(std::clamp((position - bands_.from) / std::max(1e-9, bands_.to - bands_.from) * static_cast<double>(bands_.columns.size()), 0.0, static_cast<double>(bands_.columns.size()) - 1));
    if (bands_.folded && c < bands_.columns.size() && bands_.columns[c].folded > 0) text += "\n" + bytes_text(bands_.columns[c].folded) + " here in allocations too small or short to be drawn";
  }
  Hit shown;
  shown.hovered = true;
  tip(shown, text);
}

void MemoryChart::draw(MemoryView& v, const Area& a) {
  const auto& p = theme::palette();
  const Pen pen;
  const Area plot{a.x + u(kGutter), a.y, std::max(u(40), a.w - u(kGutter)), std::max(u(40), a.h - u(kLane + kAxis))};
  const Hit h = hit("memory over time", plot);
  move(v, plot);
  const float ratio = ImGui::GetIO().DisplayFramebufferScale.x > 0 ? ImGui::GetIO().DisplayFramebufferScale.x : 1;
  refresh(v, std::max(1, static_cast<int>(plot.w * ratio)), std::max(1, static_cast<int>(plot.h * ratio)));
  pen.fill(plot.x, plot.y, plot.w, plot.h, theme::color(p.sunken));
  const bool mine = bands_.device == v.device && !bands_.columns.empty();
  const double position = from_ + static_cast<double>((ImGui::GetIO().MousePos.x - plot.x) / plot.w) * (to_ - from_);
  const MemoryBands::Piece* piece = nullptr;
  if (mine && h.hovered) piece = piece_at(bands_, position, static_cast<int64_t>(static_cast<double>((plot.bottom() - ImGui::GetIO().MousePos.y) / plot.h) * static_cast<double>(bands_.top)));
  pen.dl->PushClipRect({plot.x, plot.y}, {plot.right(), plot.bottom()}, true);
  if (mine) draw_bands(v, pen, plot, piece ? piece->life : kNoIndex), draw_totals(v, pen, plot);
  pen.dl->PopClipRect();
  draw_axis(v, pen, plot, plot.bottom());
  if (mine) draw_marks(v, pen, plot);
  if (h.hovered && mine && !v.of().events.empty() && ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort)) tell(v, position, piece);
  const bool click = h.clicked && !dragged_;
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) dragged_ = false;
  if (click && !v.of().events.empty()) {
    const size_t i = static_cast<size_t>(std::clamp(position, 0.0, static_cast<double>(v.of().events.size()) - 1));
    if (piece) v.pick = piece->life;
    else v.go = v.of().events[i] + 1;
  }
  if (mine) draw_lane(v, pen, plot, plot.bottom());
}

}  // namespace peel::views
