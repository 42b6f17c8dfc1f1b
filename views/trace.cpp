#include "views/trace.h"

#include <algorithm>
#include <map>

#include "imgui_internal.h"
#include "imgui_stdlib.h"
#include "sessions/iterations.h"
#include "views/background.h"
#include "views/compare_draw.h"
#include "views/matches.h"
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
    filter_.set(nullptr, ""), find_.set(nullptr, "");
    loops_.stop(), loops_for_ = 0, loops_at_ = -10;
    marks_.clear(), marks_for_ = 0;
    list_ = VirtualList(), cursor_ = 0, seen_selection_ = 0, finding_ = false;
  }
  bool busy() const override { return working_ || filter_.busy() || find_.busy() || loops_.busy(); }
  void draw(Context&) override;
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;

 private:
  struct Columns { float call, note, layers, time, node; };
  Columns columns(const Area&) const;
  void follow(Context&);
  void find_loops(const Session&);
  float draw_filter(Context&, const Pen&, const Area&);
  void find_next(Context&, bool forward);
  void draw_head(const Pen&, const Area&, const Columns&) const;
  void draw_row(Context&, const Pen&, const Area&, const Columns&, const TraceRow&, uint64_t row, float y);
  void draw_strip(const Pen&, const Columns&, const TraceRow&, float cy) const;
  void pick(Context&, const TraceRow&);
  void draw_menu(Context&);
  void read_marks(const Session&);
  const std::string* draw_mark(const Pen&, const TraceRow&, float x, float cy) const;
  void move(Context&, int64_t by);

  TraceModel model_;
  VirtualList list_;
  uint64_t cursor_ = 0;              // key of the marked row: the selected hop, or a group
  uint64_t seen_selection_ = 0;
  bool working_ = false;
  std::map<EventId, std::pair<std::string, bool>> marks_;  // text; a note?
  uint64_t marks_for_ = 0;
  Matches filter_, find_;
  Background<std::vector<TraceStretch>> loops_;
  uint64_t loops_for_ = 0;   // generation that they were looked for in
  double loops_at_ = -10;    // and when, as a recording grows
  std::string find_text_;
  bool finding_ = false, take_focus_ = false;
  TraceRow menu_;            // row that the menu was opened on
  bool open_menu_ = false;
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

// Iterations are looked for on a thread of their own, and again as the recording grows, once a second at most.
void TracePanel::find_loops(const Session& s) {
  if (auto found = loops_.take()) {
    if (model_.set_stretches(std::move(*found))) seen_selection_ = 0;  // rows moved: bring the selection back
  }
  const double now = ImGui::GetTime();
  if (loops_.busy() || loops_for_ == s.generation() || (now < loops_at_ + 1 && !(s.progress().ready && !s.live()))) return;
  loops_for_ = s.generation(), loops_at_ = now;
  loops_.start([&s](const std::atomic<bool>&) {
    std::vector<TraceStretch> out;
    for (const Iteration& i : iterations(s, main_thread(s))) out.push_back({i.name, i.first, i.last});
    return out;
  });
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
  find_loops(*c.session);
  filter_.set(c.session, c.filter);
  if (filter_.poll()) {
    model_.set_matches(filter_.active() ? std::optional(filter_.ids()) : std::nullopt);
    seen_selection_ = 0;  // the selection may have come back into sight
  }
  find_.set(c.session, finding_ ? find_text_ : "");
  find_.poll();
  follow(c);
  if (c.session->live() && at_end && model_.rows() > before && before > uint64_t(list_.visible_rows())) list_.to_bottom();
  const float top = draw_filter(c, pen, a);
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
  read_marks(*c.session);
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
  draw_menu(c);
}

// What the right button offers on a row: filters made from it, its tensor, marks and copies.
void TracePanel::draw_menu(Context& c) {
  if (open_menu_) ImGui::OpenPopup("##row"), open_menu_ = false;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(8), u(8)));
  const bool shown = ImGui::BeginPopup("##row");
  ImGui::PopStyleVar();
  if (!shown) return;
  const Event e = c.session->event(menu_.event);
  auto add = [&](const std::string& term) { c.filter += (c.filter.empty() ? "" : " ") + term; };
  if (is_hop(menu_.kind)) {
    const std::string op = c.session->op(e.op).full;
    const Key* key = c.session->key(e.key);
    if (e.op && ImGui::MenuItem(("Only " + op).c_str())) add(op);
    if (e.op && ImGui::MenuItem(("Without " + op).c_str())) add("-op:" + op);
    if (key && ImGui::MenuItem(("Only hops at " + key->name).c_str())) add("key:" + key->name);
  }
  if (const StackId f = c.session->user_frame(e.stack)) {
    const Frame frame = c.session->frame(f);
    if (ImGui::MenuItem(("Only line " + std::to_string(frame.line) + " of " + base_name(frame.file)).c_str()))
      add("file:" + base_name(frame.file) + " line:" + std::to_string(frame.line));
  }
  draw_compare_menu(c, {menu_.name, e.thread, menu_.first, menu_.last});
  ImGui::Separator();
  for (const char* id : {"tensor.show", "tensor.birth", "edit.bookmark", "edit.note", "edit.copy", "copy.text", "copy.markdown", "copy.sql", "copy.python"})
    if (const Command* command = c.commands->find(id); command && ImGui::MenuItem(command->title)) c.commands->run(id);
  ImGui::EndPopup();
}

// The bar: a filter, or with Ctrl+F a search that hides nothing. Below it, what was understood. Returns where the
// head of the list begins.
float TracePanel::draw_filter(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  const float h = u(kFilterHeight);
  if (c.focus_field == "find" || c.focus_field == "filter") {
    finding_ = c.focus_field == "find";
    take_focus_ = true;
    c.focus_field.clear();
  }
  Matches& m = finding_ ? find_ : filter_;
  std::string counted = plural(c.session->size(), "hop");
  if (m.active() && !m.busy()) {
    if (!finding_) counted = count_text(m.ids().size()) + " of " + count_text(c.session->size()) + " shown";
    else counted = m.ids().empty() ? "no hit" : plural(m.ids().size(), "hit");
  } else if (m.busy()) {
    counted = "searching …";
  }
  const float room = a.w - text_width(Type::kSmall, counted) - u(20);
  pen.fill(a.x, a.y, a.w, h, color(p.sunken), u(theme::kRadius));
  ImGui::SetCursorScreenPos({a.x, a.y});
  ImGui::PushFont(theme::font(Type::kBody), theme::font_size(Type::kBody));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(u(8), std::round((h - ImGui::GetFontSize()) / 2)));
  ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
  ImGui::SetNextItemWidth(std::max(u(60), room));
  if (take_focus_) ImGui::SetKeyboardFocusHere();
  bool active, leave = false;
  if (finding_) {
    const bool enter = ImGui::InputTextWithHint("##find", "Find:  mm   node:Addmm*   error:   (Enter, Shift+Enter)", &find_text_,
                                                ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_AutoSelectAll);
    active = ImGui::IsItemActive();
    if (enter) {
      find_next(c, !ImGui::GetIO().KeyShift);
      ImGui::SetKeyboardFocusHere(-1);  // Enter goes on to the next one
    }
    leave = ImGui::IsItemDeactivated() && ImGui::IsKeyPressed(ImGuiKey_Escape, false);
  } else {
    // The field has its own copy while it is edited: a filter set from elsewhere must reach it.
    ImGui::InputTextWithHint("##filter", "Filter:  relu*   key:Autograd*   node:   line:17", &c.filter, ImGuiInputTextFlags_EscapeClearsAll);
    active = ImGui::IsItemActive();
  }
  take_focus_ = false;
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PopFont();
  pen.frame(a.x, a.y, a.w, h, color(active ? p.focus : p.line), u(theme::kRadius));
  pen.text_right(Type::kSmall, a.right() - u(8), base_of(a.y, h), p.dim, counted);
  float y = a.y + h + u(6);
  const std::string& text = finding_ ? find_text_ : c.filter;
  if (!text.empty() || finding_) {
    const std::string said = !m.error().empty() ? m.error() : m.active() ? (finding_ ? "finds " : "shows ") + m.explains() : "";
    Hit close;
    const float w = text_width(Type::kSmall, "close");
    pen.link("close filter", a.right() - w, base_of(y - u(3), u(20)), "close", &close);
    pen.text_cut(Type::kSmall, a.x, base_of(y - u(3), u(20)), a.w - w - u(12), m.error().empty() ? p.faint : p.text, said);
    if (close || leave) {
      if (finding_) finding_ = false;
      else c.filter.clear();
      ImGui::ClearActiveID();
    }
    y += u(20);
  }
  return y;
}

void TracePanel::find_next(Context& c, bool forward) {
  const EventId to = find_.next(c.selected, forward);
  if (to) c.select(to);
  else c.notice = find_.busy() ? "Still searching." : "Nothing matches " + find_text_ + ".";
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
  if (find_.active() && is_hop(r.kind) && std::binary_search(find_.ids().begin(), find_.ids().end(), r.event))
    pen.fill(a.right() + pad - u(14), y + u(4), u(3), h - u(8), color(p.focus));  // a hit
  for (int d = 0; d < r.depth; d++) pen.vline(a.x + float(d) * u(theme::kIndent) + u(4), y, h, color(p.line));
  if (r.expandable) pen.caret(x, cy, r.expanded, color(r.kind == Kind::kRedispatch ? p.faint : p.dim));

  const std::string* note = draw_mark(pen, r, a.x - pad, cy);
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
    pen.text_right(Type::kMono, at.time, base, p.dim, r.time < 100'000'000 ? micros(r.time) : duration(r.time));  // what would be too wide says its unit
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
      float x = at.node;
      if (!r.changed.empty()) x += pen.text_cut(Type::kSemiSmall, x, base, room, p.text, r.changed) + u(10);
      if (x + u(30) < a.right()) pen.node_made(x, cy, cut_text(marked ? Type::kBold : Type::kMono, r.node, a.right() - x - u(14)), r.inside, marked);
    }
  }
  if (over.hovered) {
    std::string t;
    const float mouse = ImGui::GetIO().MousePos.x;
    if (mouse >= at.layers && mouse < at.time - u(kTimeColumn)) t = r.path.empty() ? r.detail : "passed " + r.path;
    else if (mouse < at.note && text_width(Type::kMono, r.name) > name_room) t = r.name;
    else if (at.node > 0 && mouse >= at.node) t = !r.error.empty() ? r.error : r.node.empty() ? "" : r.inside ? r.node + ", and " + plural(r.inside, "node") + " inside" : r.node;
    if (!r.changed.empty() && at.node > 0 && mouse >= at.node) t += (t.empty() ? "" : "\n") + r.changed;
    if (note && !note->empty() && (t.empty() || mouse < at.note)) t = *note + (t.empty() ? "" : "\n" + t);
    tip(over, t);
  }
  ImGui::PopID();
  ImGui::PopID();
  if (over.right_clicked) {
    pick(c, r);
    menu_ = r, open_menu_ = true;
  }
  const bool on_caret = r.expandable && ImGui::GetIO().MousePos.x < tx;
  if (over.clicked) {
    if (on_caret) model_.set_expanded(row, !r.expanded);
    else pick(c, r);
  } else if (over.double_clicked && !on_caret) {
    model_.set_expanded(row, !r.expanded);
  }
}

void TracePanel::read_marks(const Session& s) {
  if (marks_for_ == s.generation()) return;
  marks_for_ = s.generation();
  marks_.clear();
  for (Bookmark& b : s.bookmarks()) marks_[b.event] = {std::move(b.text), false};
  for (Note& n : s.notes()) marks_[n.event] = {std::move(n.text), true};
}

// A bookmark is a ribbon, a note a speech bubble, left of everything. Returns the text, null = no mark.
const std::string* TracePanel::draw_mark(const Pen& pen, const TraceRow& r, float x, float cy) const {
  const auto mark = is_hop(r.kind) ? marks_.find(r.event) : marks_.end();
  if (mark == marks_.end()) return nullptr;
  const ImU32 ink = color(theme::palette().focus);
  const float w = u(7), h = u(8), l = x + u(4), t = cy - h / 2;
  if (mark->second.second) {
    pen.fill(l, t, w, u(6), ink, u(1.5f));
    pen.dl->AddTriangleFilled({l + u(1), t + u(5)}, {l + u(4), t + u(5)}, {l + u(1), t + u(9)}, ink);
  } else {
    pen.dl->AddTriangleFilled({l, t}, {l + w, t}, {l, t + h}, ink);
    pen.dl->AddTriangleFilled({l + w, t}, {l + w, t + h}, {l, t}, ink);
  }
  return &mark->second.first;
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
  if (const auto by = list_.step(id)) return move(c, *by), true;
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
  for (const std::string& s : {r.detail, r.note, r.path, r.node, r.error, r.changed}) if (!s.empty()) out += "\t" + s;
  if (r.time >= 0) out += "\t" + duration(r.time);
  return out + "\n";
}

}  // namespace

std::unique_ptr<Panel> make_trace_panel() { return std::make_unique<TracePanel>(); }

}  // namespace peel::views
