#include "views/why.h"

#include <algorithm>

#include "imgui.h"
#include "imgui_stdlib.h"
#include "views/pen.h"
#include "views/why_model.h"
#include "views/why_onion.h"

namespace peel::views {
namespace {

using theme::Type;
using theme::u;

constexpr float kMatrixRow = 18, kColumnMin = 36, kLabelMin = 150, kLabelBest = 186;

class WhyPanel : public Panel {
 public:
  const char* title() const override { return "Why"; }
  const char* help() const override { return "How the selected hop came about: the layers it passed, the ones it skipped, and why."; }
  void session_changed(Context&) override { model_ = {}, for_ = {}, not_ = {}, all_columns_ = false; }
  std::string copy_text(Context& c) override { return c.session && for_ ? why_text(*c.session, why_, false) : ""; }
  bool run(Context&, std::string_view id) override;
  void draw(Context&) override;

 private:
  void refresh(const Context&);
  float draw_head(const Pen&, const Area&, float y);
  float draw_matrix(const Pen&, const Area&, float y);
  void draw_cells(const Pen&, float left, float cell, float y, const std::vector<size_t>& columns) const;
  void draw_why_not(Context&);
  void draw_copy_menu(const Context&);

  WhyModel model_;
  Why why_;
  EventId for_;
  uint64_t generation_ = 0, seen_selection_ = 0, stop_ = 0;
  bool settled_ = false;       // nothing about this hop can change any more
  bool all_columns_ = false;   // the matrix scrolls instead of folding columns
  bool open_not_ = false, open_copy_ = false;
  struct { std::string filter; KeyId key = 0; NotWhy answer; EventId for_; } not_;
};

void WhyPanel::refresh(const Context& c) {
  const uint64_t generation = c.session->generation();
  const uint64_t stop = c.live.stop && c.live.stop->event == c.selected ? c.live.stop->id : 0;  // the program stands at this very hop
  if (for_ == c.selected && stop == stop_ && (settled_ || generation == generation_)) return;
  for_ = c.selected, generation_ = generation, stop_ = stop;
  why_ = why(*c.session, c.selected);
  if (stop) why_.sentence = standing_sentence(*c.session, *c.live.stop);
  model_ = make_why_model(*c.session, why_);
  model_.live = c.session->live();
  settled_ = c.session->progress().ready && !c.session->live();
  if (not_.for_ != c.selected) not_.key = 0, not_.for_ = c.selected;
}

/// Up and down walk through the layers that ran.
bool WhyPanel::run(Context& c, std::string_view id) {
  if (id != "list.up" && id != "list.down") return false;
  std::vector<EventId> ran;
  size_t here = SIZE_MAX;
  for (const WhyLayer& l : model_.layers) {
    if (!l.ran()) continue;
    if (l.current) here = ran.size();
    ran.push_back(l.event);
  }
  if (here == SIZE_MAX) return false;
  if (id == "list.up" && here > 0) c.select(ran[here - 1]);
  if (id == "list.down" && here + 1 < ran.size()) c.select(ran[here + 1]);
  return true;
}

float WhyPanel::draw_head(const Pen& pen, const Area& a, float y) {
  const auto& p = theme::palette();
  const float base = base_of(y, u(20));
  Hit copy;
  const float copy_w = text_width(Type::kSmall, "copy");
  pen.link("copy", a.right() - copy_w, base, "copy", &copy);
  if (copy) open_copy_ = true;
  const float room = a.w - copy_w - u(12);
  const float t = pen.text_cut(Type::kTitle, a.x, base, room, p.text, model_.title);
  pen.text_cut(Type::kSmall, a.x + t + u(10), base, room - t - u(10), p.faint, model_.where);
  y += u(23);
  std::vector<Run> runs;
  for (const Part& part : model_.sentence) runs.push_back({part.strong ? Type::kSemiLead : Type::kLead, p.text, part.text});
  y += static_cast<float>(pen.rich_wrapped(a.x, base_of(y, u(22)), a.w, u(22), runs)) * u(22);
  auto remark = [&](const std::string& strong, const std::string& text) {
    y += static_cast<float>(pen.rich_wrapped(a.x, base_of(y, u(20)), a.w, u(20), {{Type::kSemi, p.text, strong}, {Type::kBody, p.dim, text}})) * u(20);
  };
  if (!model_.error.empty()) remark("raised ", model_.error);
  for (const auto& [what, text] : model_.remarks) remark(what + ": ", text);
  if (!model_.explained)
    remark("not explained: ", "the recorded key set differs from the one that the arguments, the thread's state and the mask give.");
  return y + u(9);
}

void WhyPanel::draw_cells(const Pen& pen, float left, float cell, float y, const std::vector<size_t>& columns) const {
  const auto& p = theme::palette();
  const float row = u(kMatrixRow), high = u(28) + static_cast<float>(model_.rows.size()) * row;
  float x = left;
  for (size_t c : columns) {
    const WhyColumn& column = model_.columns[c];
    if (column.won) pen.fill(x, y, cell, high, theme::color(p.select), u(theme::kRadius));
    pen.tag(x + cell / 2 - u(theme::kTagW) / 2, y + u(11), column.name, column.won && !model_.missing ? theme::Mark::kRan : theme::Mark::kComposite);
    const Hit h = hit(("column/" + column.name).c_str(), x, y, cell, high);
    if (h.hovered) {
      if (!column.won) pen.fill(x, y, cell, high, theme::color(p.hover, .35f), u(theme::kRadius));
      tip(h, column.hover);
    }
    x += cell;
  }
  y += u(22);
  for (const WhyMatrixRow& r : model_.rows) {
    if (r.result) y += u(2);
    x = left;
    for (size_t c : columns) {
      const float cx = std::round(x + cell / 2), cy = std::round(y + row / 2);
      const unsigned hue = theme::hue_of(model_.columns[c].name);
      const ImU32 ink = theme::color(hue);
      switch (r.cells[c]) {
        case Cell::kNone: pen.dot(cx, cy, u(1.5f), theme::color(p.line_strong)); break;
        case Cell::kHas: pen.dot(cx, cy, u(4.5f), ink); break;
        case Cell::kWins:
          pen.dot(cx, cy, u(4.5f), ink);
          pen.dl->AddCircle({cx, cy}, u(7.5f), ink, 0, 1.4f * theme::scale());
          break;
        case Cell::kExcluded:
        case Cell::kMasked: {  // the same strokes as on the tags
          pen.dl->AddCircle({cx + .5f, cy + .5f}, u(4.5f), ink, 0, 1.2f * theme::scale());
          const float one = std::max(1.f, u(1)), half = u(8);
          if (r.cells[c] == Cell::kExcluded) pen.fill(cx - half, cy, 2 * half + one, one, ink);
          else pen.fill(cx, cy - half, one, 2 * half + one, ink);
        }
      }
      x += cell;
    }
    y += row;
  }
}

float WhyPanel::draw_matrix(const Pen& pen, const Area& a, float y) {
  const auto& p = theme::palette();
  if (model_.columns.empty() && model_.rows.empty()) return y;
  // ---- head
  const float base = base_of(y, u(20));
  const float head = pen.text(Type::kSemiSmall, a.x, base, p.dim, model_.chosen);
  Hit link;
  const std::string_view words = "why not another key?";
  const float link_w = text_width(Type::kSmall, words);
  const std::string never = plural(model_.never_involved, "key") + " never involved";
  const float never_w = text_width(Type::kSmall, never);
  const bool two_lines = head + never_w + link_w + u(36) > a.w;
  if (two_lines) y += u(20);
  const float base2 = base_of(y, u(20));
  pen.link("why not another key?", a.right() - link_w, base2, words, &link);
  if (link) open_not_ = true;
  const float gap = std::max(u(12), std::min(u(28), a.w - head - never_w - link_w - u(14)));
  pen.text_cut(Type::kSmall, two_lines ? a.x : a.x + head + gap, base2, a.w - link_w - u(12), p.faint, never);
  y += u(22);

  // ---- how many columns fit beside the labels
  const size_t n = model_.columns.size();
  float wanted = u(kLabelBest);
  for (const WhyMatrixRow& r : model_.rows)
    wanted = std::max(wanted, u(38) + text_width(r.result ? Type::kSemi : Type::kBody, r.label) + (r.note.empty() ? 0 : u(7) + text_width(Type::kMonoSmall, r.note)));
  const float label = std::max(u(kLabelMin), std::min({wanted, a.w * .55f, a.w - static_cast<float>(n) * u(kColumnMin + 4)}));
  const bool fits = a.w - label >= static_cast<float>(n) * u(kColumnMin);
  const float row = u(kMatrixRow);
  const float high = u(28) + static_cast<float>(model_.rows.size()) * row;

  // ---- labels
  float ry = y + u(22);
  for (size_t i = 0; i < model_.rows.size(); i++) {
    const WhyMatrixRow& r = model_.rows[i];
    if (r.result) {
      ry += u(2);
      pen.hline(a.x, ry, a.w, theme::color(p.line_strong));
    }
    const float b = base_of(ry, row), room = label - u(24);
    pen.text(Type::kBold, a.x + u(2), b, p.dim, r.sign);
    const float t = pen.text_cut(r.result ? Type::kSemi : Type::kBody, a.x + u(18), b, room, r.result ? p.text : r.greyed ? p.faint : p.dim, r.label);
    if (!r.note.empty() && room - t > u(24)) pen.text_cut(Type::kMonoSmall, a.x + u(25) + t, b, room - t - u(7), p.faint, r.note);
    const Hit h = hit(("row/" + std::to_string(i)).c_str(), a.x, ry, label - u(4), row);
    if (h.hovered) {
      char raw[32];
      snprintf(raw, sizeof raw, "\n0x%llx", static_cast<unsigned long long>(r.raw));
      tip(h, r.label + (r.note.empty() ? "" : "  " + r.note) + (!r.hover.empty() && r.folded > 1 ? "\n" + r.hover : "") + (r.greyed ? "\ngives no key" : "\n" + r.set_text + raw));
    }
    if (h.right_clicked) {
      char raw[32];
      snprintf(raw, sizeof raw, "0x%llx", static_cast<unsigned long long>(r.raw));
      ImGui::SetClipboardText((r.set_text + " " + raw).c_str());
    }
    ry += row;
  }

  // ---- cells
  if (fits || !all_columns_) {
    const float fold_w = fits ? 0 : u(34);
    const size_t room = fits ? n : static_cast<size_t>(std::max(1.f, (a.w - label - fold_w) / u(kColumnMin)));
    const auto columns = columns_that_fit(model_, room);
    if (!columns.empty()) {
      const float cell = std::min((a.w - label - fold_w) / static_cast<float>(columns.size()), u(90));
      draw_cells(pen, a.x + label, cell, y, columns);
      if (!fits) {
        std::string folded = "folded:";
        for (size_t c = 0; c < n; c++)
          if (std::find(columns.begin(), columns.end(), c) == columns.end()) folded += " " + model_.columns[c].name;
        Hit more;
        const std::string text = "+" + std::to_string(n - columns.size());
        pen.link("all columns", a.right() - text_width(Type::kSmall, text), base_of(y + u(1), u(20)), text, &more);
        tip(more, folded + "\nClick to scroll through all.");
        if (more) all_columns_ = true;
      }
    }
    return y + high + u(6);
  }
  ImGui::SetCursorScreenPos({a.x + label, y});
  if (ImGui::BeginChild("cells", {a.w - label, high + ImGui::GetStyle().ScrollbarSize + u(4)}, 0, ImGuiWindowFlags_HorizontalScrollbar)) {
    const Pen inner;
    const ImVec2 o = ImGui::GetCursorScreenPos();
    std::vector<size_t> columns(n);
    for (size_t i = 0; i < n; i++) columns[i] = i;
    draw_cells(inner, o.x, u(kColumnMin), o.y, columns);
    ImGui::SetCursorScreenPos(o);
    ImGui::Dummy({static_cast<float>(n) * u(kColumnMin), high});
  }
  ImGui::EndChild();
  Hit fewer;
  pen.link("fewer columns", a.x, base_of(y, u(20)), "fold", &fewer);
  if (fewer) all_columns_ = false;
  return y + high + u(6) + ImGui::GetStyle().ScrollbarSize;
}

void WhyPanel::draw_why_not(Context& c) {
  if (open_not_) ImGui::OpenPopup("why not"), open_not_ = false;
  ImGui::SetNextWindowSize({u(430), u(330)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(12), u(10)));
  if (ImGui::BeginPopup("why not")) {
    ImGui::PushFont(theme::font(Type::kBody), theme::font_size(Type::kBody));
    ImGui::SetNextItemWidth(-1);
    if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    ImGui::InputTextWithHint("##filter", "Which key did you expect? e.g. CUDA", &not_.filter);
    const auto keys = why_not_keys(*c.session, c.session->event(model_.event).key, not_.filter);
    if (ImGui::BeginChild("keys", {0, -u(68)})) {
      const Pen pen;
      for (const WhyNotKey& k : keys) {
        const ImVec2 o = ImGui::GetCursorScreenPos();
        const bool on = not_.key == k.key;
        const bool pressed = ImGui::Selectable(("##" + k.name).c_str(), on, ImGuiSelectableFlags_NoAutoClosePopups, {0, u(20)});
        if (ImGui::IsItemVisible()) {
          pen.tag(o.x + u(2), o.y + u(10), k.name, theme::Mark::kComposite);
          pen.text(Type::kMono, o.x + u(42), base_of(o.y, u(20)), on ? theme::palette().text : theme::palette().dim, k.name);
        }
        if (pressed || (keys.size() == 1 && !on)) not_.key = k.key, not_.answer = why_not(*c.session, model_.event, k.key);
      }
      if (keys.empty()) ImGui::TextDisabled("No key has this in its name.");
    }
    ImGui::EndChild();
    ImGui::Separator();
    if (not_.key) {
      ImGui::TextWrapped("%s", not_.answer.sentence.c_str());
      if (const EventId there = not_.answer.evidence; there && there != model_.event && ImGui::TextLink(("go to hop " + count_text(there.value)).c_str())) {
        ImGui::CloseCurrentPopup();
        c.select(there);
      }
    }
    else ImGui::TextDisabled("%s of %s keys. Choose one to see why it did not run.", count_text(keys.size()).c_str(),
                             count_text(why_not_keys(*c.session, c.session->event(model_.event).key, "").size()).c_str());
    ImGui::PopFont();
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void WhyPanel::draw_copy_menu(const Context& c) {
  if (open_copy_) ImGui::OpenPopup("copy why"), open_copy_ = false;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(8), u(6)));
  if (ImGui::BeginPopup("copy why")) {
    if (ImGui::MenuItem("Copy as text")) ImGui::SetClipboardText(why_text(*c.session, why_, false).c_str());
    if (ImGui::MenuItem("Copy as Markdown")) ImGui::SetClipboardText(why_text(*c.session, why_, true).c_str());
    if (ImGui::MenuItem("Copy the sentence")) ImGui::SetClipboardText(why_.sentence.c_str());
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void WhyPanel::draw(Context& c) {
  const Area whole = panel_area();
  if (!c.session) return Pen().empty(whole, "No session is open", "Run a program or open a recording; then this explains every hop.");
  if (!c.selected || c.selected.value > c.session->size()) {
    const Progress progress = c.session->progress();
    if (!progress.ready && !c.session->size()) return Pen().empty(whole, progress.stage ? progress.stage : "Reading", "The first hops are shown as soon as they are there.");
    return Pen().empty(whole, "No hop is selected", "Click a call in Trace, or step into one.");
  }
  refresh(c);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  const bool visible = ImGui::BeginChild("##why", {0, 0}, 0, ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar();
  if (visible) {
    if (seen_selection_ != c.selection_changes) seen_selection_ = c.selection_changes, ImGui::SetScrollY(0);
    const Pen pen;
    const Area a = panel_area();
    const float top = a.y;
    float y = draw_head(pen, a, top);
    const EventId go = draw_onion(pen, model_, a, &y);
    y = draw_matrix(pen, a, y + u(7));
    ImGui::SetCursorScreenPos({a.x, top});
    ImGui::Dummy({1, y - top});
    if (ImGui::IsWindowHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Right) && !ImGui::IsAnyItemHovered()) open_copy_ = true;
    draw_why_not(c);
    draw_copy_menu(c);
    if (go) c.select(go);
  }
  ImGui::EndChild();
}

}  // namespace

std::unique_ptr<Panel> make_why_panel() { return std::make_unique<WhyPanel>(); }

}  // namespace peel::views
