#include "views/trace.h"

#include <algorithm>

#include "imgui_stdlib.h"
#include "views/pen.h"
#include "views/trace_model.h"
#include "views/words.h"

namespace peel::views {
namespace {

using theme::color;
using theme::Type;
using theme::u;
using Kind = TraceRow::Kind;

constexpr float kNodeColumn = 118, kTimeColumn = 46, kFilterHeight = 24, kHeadHeight = 24;

bool is_hop(Kind k) { return k >= Kind::kCall; }

class TracePanel : public Panel {
 public:
  const char* title() const override { return "Trace"; }
  const char* help() const override {
    return "What happened, folded by iteration, module, line and call, with the layers that each call passed.";
  }
  void session_changed(Context& c) override {
    model_.reset(c.session);
    list_ = VirtualList(), cursor_ = 0, seen_selection_ = 0, filter_done_.clear();
  }
  bool busy() const override { return working_; }
  void draw(Context&) override;
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;

 private:
  struct Columns { float call, note, layers, time, node; };
  Columns columns(const Area&) const;
  void follow(Context&);
  void draw_filter(Context&, const Pen&, const Area&);
  void draw_head(const Pen&, const Area&, const Columns&) const;
  void draw_row(Context&, const Pen&, const Area&, const Columns&, const TraceRow&, uint64_t row, float y);
  void draw_strip(const Pen&, const Columns&, const TraceRow&, float cy) const;
  void pick(Context&, const TraceRow&);
  void move(Context&, int64_t by);

  TraceModel model_;
  VirtualList list_;
  uint64_t cursor_ = 0;              // key of the marked row: the selected hop, or a group
  uint64_t seen_selection_ = 0;
  bool working_ = false;
  std::string filter_done_;
};

// The name wins; the shape yields.
TracePanel::Columns TracePanel::columns(const Area& a) const {
  Columns c{};
  const float strip = float(model_.columns().size()) * u(theme::kTagW + theme::kTagGap);
  float right = a.right();
  const bool wide = a.w > strip + u(kNodeColumn + kTimeColumn + 120);
  c.node = wide ? right - u(kNodeColumn) : 0;
  if (wide) right = c.node - u(12);
  c.time = right;
  c.layers = c.time - u(kTimeColumn) - strip;
  c.note = c.layers - u(10);
  c.call = a.x;
  return c;
}

// Another panel, a step or the reader's own click moved the selection: bring it into sight, once.
void TracePanel::follow(Context& c) {
  if (seen_selection_ == c.selection_changes) return;
  seen_selection_ = c.selection_changes;
  if (!c.selected) return;
  const auto row = model_.reveal(c.selected);
  if (!row) return;
  const auto shown = model_.rows(*row, 1);
  if (!shown.empty()) cursor_ = shown[0].key;
  list_.reveal(int64_t(*row));
}

void TracePanel::draw(Context& c) {
  const Area a = panel_area();
  const Pen pen;
  if (!c.session) {
    pen.empty(a, "No recording is open", "Open one with Ctrl+O, or record a program: peel run program.py");
    return;
  }
  const bool at_end = list_.at_bottom() && model_.rows() > 0;
  const uint64_t before = model_.rows();
  working_ = model_.update(1'500'000);
  follow(c);
  if (c.session->live() && at_end && model_.rows() > before && before > uint64_t(list_.visible_rows())) list_.to_bottom();
  draw_filter(c, pen, a);
  const float top = a.y + u(kFilterHeight + 6);
  const Columns at = columns(a);
  draw_head(pen, {a.x, top, a.w, u(kHeadHeight)}, at);
  const float pad = u(theme::kPadX), row_height = u(theme::kRow);
  const Area body{a.x - pad, top + u(kHeadHeight), a.w + 2 * pad, std::max(1.f, a.bottom() + u(theme::kPadY) - top - u(kHeadHeight))};
  if (!model_.rows()) {
    const Progress p = c.session->progress();
    if (!p.ready) pen.empty({a.x, body.y, a.w, body.h}, std::string(p.stage) + " …", count_text(p.done) + " of " + count_text(p.total));
    else if (model_.filtered()) pen.empty({a.x, body.y, a.w, body.h}, "Nothing matches the filter", "Esc in the filter shows everything again.");
    else if (c.session->live()) pen.empty({a.x, body.y, a.w, body.h}, "No operator has been called yet", "Hops appear here as the program calls PyTorch's operators.");
    else pen.empty({a.x, body.y, a.w, body.h}, "The recording holds no hop", "The program called no operator after its first import of torch.");
    return;
  }
  list_.begin("##rows", body, int64_t(model_.rows()), row_height);
  {
    const Pen inner;
    const auto rows = model_.rows(uint64_t(list_.first()), uint64_t(list_.end_row() - list_.first()));
    for (size_t i = 0; i < rows.size(); i++) {
      const uint64_t row = uint64_t(list_.first()) + i;
      draw_row(c, inner, {a.x, body.y, a.w, body.h}, at, rows[i], row, list_.y(int64_t(row)));
    }
  }
  list_.end();
}

void TracePanel::draw_filter(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  const float h = u(kFilterHeight);
  const std::string counted = plural(c.session->size(), "hop");
  const float room = a.w - text_width(Type::kSmall, counted) - u(20);
  pen.fill(a.x, a.y, a.w, h, color(p.sunken), u(theme::kRadius));
  ImGui::SetCursorScreenPos({a.x, a.y});
  ImGui::PushFont(theme::font(Type::kBody), theme::font_size(Type::kBody));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(u(8), std::round((h - ImGui::GetFontSize()) / 2)));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
  ImGui::SetNextItemWidth(std::max(u(60), room));
  ImGui::InputTextWithHint("##filter", "Filter:  relu*   key:Autograd*   node:   line:17", &c.filter);
  const bool active = ImGui::IsItemActive();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  pen.frame(a.x, a.y, a.w, h, color(active ? p.focus : p.line), u(theme::kRadius));
  pen.text_right(Type::kSmall, a.right() - u(8), base_of(a.y, h), p.dim, counted);
}

void TracePanel::draw_head(const Pen& pen, const Area& a, const Columns& at) const {
  const float base = base_of(a.y, u(20)), pad = u(theme::kPadX);
  pen.note(at.call, base, "call");
  pen.note(at.layers, base, "layers");
  pen.note_right(at.time, base, "µs");
  if (at.node > 0) pen.note(at.node, base, "node made");
  pen.hline(a.x - pad, a.y + u(21), a.w + 2 * pad, color(theme::palette().line));
}

void TracePanel::draw_strip(const Pen& pen, const Columns& at, const TraceRow& r, float cy) const {
  float x = at.layers;
  const float step = u(theme::kTagW + theme::kTagGap);
  const bool call = r.kind != Kind::kRedispatch;
  for (const StripCell& cell : r.strip) {
    const Key* k = cell.key ? model_.session()->key(cell.key) : nullptr;
    if (cell.layers > 1 && k) {  // a stack: the edge of a second tag behind the first
      const float off = u(2);
      pen.frame(std::round(x) + off, std::round(cy - u(theme::kTagH) / 2) + off, u(theme::kTagW), u(theme::kTagH),
                color(theme::hue_of(k->name), .6f), u(3));
    }
    if (k) pen.tag(x, cy, k->name, cell.mark);
    else if (call) pen.tag(x, cy, "", theme::Mark::kAbsent);
    x += step;
  }
}

void TracePanel::draw_row(Context& c, const Pen& pen, const Area& a, const Columns& at, const TraceRow& r, uint64_t row, float y) {
  const auto& p = theme::palette();
  const float h = u(theme::kRow), cy = std::round(y + h / 2), base = base_of(y, h), pad = u(theme::kPadX);
  const bool marked = r.key == cursor_;
  ImGui::PushID(int(r.first.value));
  ImGui::PushID(int(r.kind));
  const float x = a.x + float(r.depth) * u(theme::kIndent), tx = x + u(13);
  ImGui::SetNextItemAllowOverlap();
  const Hit over = hit(r.name.c_str(), a.x - pad, y, a.w + 2 * pad - u(10), h);
  if (marked) pen.selected_row(a, y, h, ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows));
  else if (over.hovered) pen.hovered_row(a, y, h);
  for (int d = 0; d < r.depth; d++) pen.vline(a.x + float(d) * u(theme::kIndent) + u(4), y, h, color(p.line));
  if (r.expandable) pen.caret(x, cy, r.expanded, color(r.kind == Kind::kRedispatch ? p.faint : p.dim));

  const float name_room = at.note - tx;
  float used = 0;
  if (!is_hop(r.kind)) {
    const bool top = r.depth == 0;
    const float side = std::max(text_width(Type::kSmall, r.note), 0.f) + u(6);
    used = pen.text_cut(top ? Type::kSemi : Type::kBody, tx, base, name_room - side, top ? p.text : p.dim, r.name);
    pen.note_right(at.note, base, r.note);
    pen.note(at.layers, base, r.detail);
  } else {
    Type face = marked ? Type::kBold : Type::kMono;
    unsigned ink = r.kind == Kind::kRedispatch ? p.faint : p.text;
    float nx = tx;
    if (r.kind == Kind::kNodeRun) {
      pen.diamond(tx + u(4), cy, u(4), color(theme::hue(theme::kAutograd)), true);
      nx += u(13), ink = p.dim;
    }
    if (!r.matches) ink = p.faint;
    used = pen.text_cut(face, nx, base, at.note - nx, ink, r.name) + (nx - tx);
    const std::string& right = !r.note.empty() && r.depth <= 1 ? r.note : r.detail;
    float edge = at.note;
    for (const std::string* s : {&r.detail, &r.note}) {
      if (s->empty()) continue;
      const bool shape = s == &r.detail;
      const float w = text_width(shape ? Type::kMonoSmall : Type::kSmall, *s);
      if (edge - w < tx + used + u(6)) continue;
      if (shape) pen.text_right(Type::kMonoSmall, edge, base, marked ? p.dim : p.faint, *s);
      else pen.note_right(edge, base, *s);
      edge -= w + u(10);
    }
    (void)right;
    draw_strip(pen, at, r, cy);
    if (r.composite && r.strip.size() >= 2 && !r.strip.empty()) {
      // The hole behind a composite kernel's tag tells that it computes nothing itself.
      size_t last = 0;
      for (size_t i = 0; i < r.strip.size(); i++) if (r.strip[i].layers) last = i;
      const float from = at.layers + float(last + 1) * u(theme::kTagW + theme::kTagGap) + u(3);
      const float room = at.time - u(kTimeColumn) - from;
      if (room > text_width(Type::kSmall, "composite") - u(6)) {
        pen.fill(from - u(4), y + u(1), room + u(4), h - u(2), color(marked ? p.select : over.hovered ? p.hover : p.panel));
        pen.note(from, base, "composite");
      }
    }
  }
  if (r.running) {
    pen.text_right(Type::kMono, at.time, base, p.dim, c.session->live() ? "…" : "open");
  } else if (r.time >= 0 && (r.time > 0 || is_hop(r.kind))) {
    const float longest = float(std::max<Nanoseconds>(1, model_.longest()));
    const float bar = u(47) * std::min(1.f, float(r.time) / longest);
    if (bar > 2) pen.fill(at.time - u(44), y + u(3), bar, h - u(6), color(p.line), u(2));
    pen.text_right(Type::kMono, at.time, base, p.dim, micros(r.time));
  }
  if (at.node > 0) {
    const float room = a.right() - at.node;
    if (!r.error.empty()) {
      const ImU32 ink = color(p.text);
      const float ex = at.node + u(4), e = u(3.5f);
      pen.dl->AddLine({ex - e, cy - e}, {ex + e, cy + e}, ink, 1.5f * theme::scale());
      pen.dl->AddLine({ex - e, cy + e}, {ex + e, cy - e}, ink, 1.5f * theme::scale());
      pen.text_cut(Type::kSemiSmall, at.node + u(14), base, room - u(14), p.text, r.error);
    } else {
      pen.node_made(at.node, cy, cut_text(marked ? Type::kBold : Type::kMono, r.node, room - u(14)), r.inside, marked);
    }
  }
  if (over.hovered) {
    std::string t;
    const float mouse = ImGui::GetIO().MousePos.x;
    if (mouse >= at.layers && mouse < at.time - u(kTimeColumn)) t = r.path.empty() ? r.detail : "passed " + r.path;
    else if (mouse < at.note && text_width(Type::kMono, r.name) > name_room) t = r.name;
    else if (at.node > 0 && mouse >= at.node) t = !r.error.empty() ? r.error : r.node.empty() ? "" : r.inside ? r.node + ", and " + plural(r.inside, "node") + " inside" : r.node;
    tip(over, t);
  }
  ImGui::PopID();
  ImGui::PopID();
  const bool on_caret = r.expandable && ImGui::GetIO().MousePos.x < tx;
  if (over.clicked) {
    if (on_caret) model_.set_expanded(row, !r.expanded);
    else pick(c, r);
  } else if (over.double_clicked && !on_caret) {
    model_.set_expanded(row, !r.expanded);
  }
}

void TracePanel::pick(Context& c, const TraceRow& r) {
  cursor_ = r.key;
  c.select(r.event);
  seen_selection_ = c.selection_changes;  // it is in sight already
}

void TracePanel::move(Context& c, int64_t by) {
  if (!model_.rows()) return;
  const auto at = model_.row_of_key(cursor_);
  int64_t to = at ? int64_t(*at) + by : list_.first();
  to = std::clamp<int64_t>(to, 0, int64_t(model_.rows()) - 1);
  const auto rows = model_.rows(uint64_t(to), 1);
  if (rows.empty()) return;
  pick(c, rows[0]);
  list_.reveal(to);
}

bool TracePanel::run(Context& c, std::string_view id) {
  if (!c.session) return false;
  const int64_t page = std::max<int64_t>(1, list_.visible_rows() - 1), all = int64_t(model_.rows());
  if (id == "list.up") return move(c, -1), true;
  if (id == "list.down") return move(c, 1), true;
  if (id == "list.page_up") return move(c, -page), true;
  if (id == "list.page_down") return move(c, page), true;
  if (id == "list.first") return move(c, -all), true;
  if (id == "list.last") return move(c, all), true;
  const auto at = model_.row_of_key(cursor_);
  if (!at) return false;
  const auto here = model_.rows(*at, 1);
  if (here.empty()) return false;
  if (id == "list.left") {
    if (here[0].expanded) return model_.set_expanded(*at, false), true;
    if (const auto up = model_.parent_row(*at)) move(c, int64_t(*up) - int64_t(*at));
    return true;
  }
  if (id == "list.right") {
    if (here[0].expandable && !here[0].expanded) return model_.set_expanded(*at, true), true;
    if (here[0].expanded) move(c, 1);
    return true;
  }
  if (id == "list.open") return model_.set_expanded(*at, !here[0].expanded), true;
  return false;
}

std::string TracePanel::copy_text(Context& c) {
  const auto at = model_.row_of_key(cursor_);
  if (!c.session || !at) return "";
  const auto rows = model_.rows(*at, 1);
  if (rows.empty()) return "";
  const TraceRow& r = rows[0];
  std::string out = is_hop(r.kind) ? "hop " + std::to_string(r.event.value) + "\t" + c.session->op(c.session->event(r.event).op).full : r.name;
  for (const std::string& s : {r.detail, r.note, r.path, r.node, r.error}) if (!s.empty()) out += "\t" + s;
  if (r.time >= 0) out += "\t" + duration(r.time);
  return out + "\n";
}

}  // namespace

std::unique_ptr<Panel> make_trace_panel() { return std::make_unique<TracePanel>(); }

}  // namespace peel::views
