#include "views/program.h"

#include <algorithm>

#include "TextEditor.h"
#include "imgui_internal.h"
#include "views/pen.h"
#include "views/program_model.h"
#include "views/words.h"

namespace peel::views {
namespace {

using theme::color;
using theme::Type;
using theme::u;
using RunState = ProgramState::Run;

constexpr float kLine = 19, kGutter = 30;

// Source is told apart by weight and greys: hue belongs to the families of layers.
TextEditor::Palette editor_palette() {
  const theme::Palette& p = theme::palette();
  TextEditor::Palette out = TextEditor::GetDarkPalette();
  auto set = [&](TextEditor::Color c, unsigned rgb, float alpha = 1) { out[size_t(c)] = color(rgb, alpha); };
  using C = TextEditor::Color;
  for (C c : {C::text, C::identifier, C::knownIdentifier, C::declaration, C::keyword, C::number, C::preprocessor, C::matchingBracketActive,
              C::matchingBracketLevel1, C::matchingBracketLevel2, C::matchingBracketLevel3, C::matchingBracketError})
    set(c, p.text);
  for (C c : {C::string, C::punctuation}) set(c, p.dim);
  for (C c : {C::comment, C::lineNumber, C::whitespace}) set(c, p.faint);
  set(C::currentLineNumber, p.text), set(C::background, p.sunken), set(C::cursor, p.focus), set(C::selection, p.line_strong, .7f);
  set(C::matchingBracketBackground, p.select), set(C::currentLineHighlight, p.hover, .5f), set(C::currentLineHighlightBorder, p.line, 0);
  return out;
}

class ProgramPanel : public Panel {
 public:
  const char* title() const override { return "Program"; }
  const char* help() const override { return "The source with the current line, the output up to the selected hop, run and step; edit and run again."; }
  void session_changed(Context& c) override {
    counts_ = {}, output_.clear(), output_generation_ = 0, seen_selection_ = 0, shown_.line = 0;
    if (!editing_) loaded_.clear(), shown_ = {}, lines_.clear();
    c.open_path.clear();
  }
  bool busy() const override { return counting_; }
  void draw(Context&) override;
  bool run(Context&, std::string_view id) override;
  std::string copy_text(Context&) override;

 private:
  float draw_buttons(Context&, const Pen&, const Area&);
  float draw_state(Context&, const Pen&, const Area&, float y);
  void draw_source(Context&, const Area&);
  void draw_editor(Context&, const Area&);
  void draw_output(Context&, const Pen&, const Area&);
  void choose_file(Context&);
  void begin_edit(Context&);
  void end_edit(Context&);

  LineCounts counts_;
  SourcePlace shown_;                // file shown, current line in it
  std::string loaded_;               // file that lines_ are of
  std::vector<std::string> lines_;
  std::vector<OutputLine> output_;
  uint64_t output_generation_ = 0, seen_selection_ = 0;
  VirtualList source_list_, output_list_;
  bool counting_ = false, editing_ = false, follow_output_ = true;
  std::unique_ptr<TextEditor> editor_;
  std::string original_;
  size_t undo_ = 0;
};

void ProgramPanel::choose_file(Context& c) {
  if (!c.session) return;
  if (!c.open_path.empty() && c.open_path != shown_.file) shown_ = {c.open_path, 0};
  if (seen_selection_ != c.selection_changes) {
    seen_selection_ = c.selection_changes;
    if (const SourcePlace p = place_of(*c.session, c.selected); p.line) {
      shown_ = p, c.open_path.clear();
      source_list_.reveal(p.line - 1);
    } else {
      shown_.line = 0;
    }
    follow_output_ = true;
  }
  if (shown_.file.empty()) shown_.file = c.session->meta("program");
  if (loaded_ != shown_.file || lines_.empty()) {
    const std::string text = c.session->source(shown_.file);
    if (!text.empty() || loaded_ != shown_.file) lines_ = split_lines(text);
    loaded_ = shown_.file;
    if (shown_.line) source_list_.reveal(shown_.line - 1);
  }
}

void ProgramPanel::draw(Context& c) {
  const Pen pen;
  const Area a = panel_area();
  float y = draw_buttons(c, pen, a);
  y = draw_state(c, pen, a, y);
  if (!c.session) {
    if (c.program.run == RunState::kNone)
      pen.empty({a.x, y, a.w, a.bottom() - y}, "No program", "peel run program.py shows its source and output here.");
    return;
  }
  choose_file(c);
  counts_.start(c.session, EventId(1), {});
  counting_ = counts_.advance(30000);
  if (const uint64_t g = c.session->generation(); g != output_generation_) output_generation_ = g, output_ = output_lines(c.session->output());

  // Head of the source: which file, and the way into the editor.
  const auto& p = theme::palette();
  const float base = base_of(y, u(20));
  Hit edit;
  const char* word = editing_ ? "done" : "edit";
  const bool can_edit = editing_ || (c.program.can_run_again && !lines_.empty());
  float right = a.right();
  if (can_edit) {
    const float w = text_width(Type::kSmall, word);
    pen.link("edit", right - w, base, word, &edit);
    right -= w + u(12);
  }
  if (!editing_ && right - a.x > u(200)) pen.note_right(right, base, "hops");
  const std::string name = base_name(editing_ ? c.edit.path : shown_.file) + (c.edit.dirty && editing_ ? " (edited)" : "");
  Hit files;
  const float name_w = std::min(text_width(Type::kSemiSmall, name), right - a.x - u(60));
  if (!editing_ && counts_.files().size() > 1) {
    files = hit("files", a.x, y, name_w + u(16), u(20));
    pen.caret(a.x + name_w + u(6), y + u(10), true, color(files.hovered ? p.text : p.dim));
  }
  pen.text_cut(Type::kSemiSmall, a.x, base, name_w + 1, p.dim, name);
  if (files) ImGui::OpenPopup("##files");
  if (ImGui::BeginPopup("##files")) {
    for (const std::string& f : counts_.files())
      if (ImGui::MenuItem(base_name(f).c_str(), nullptr, f == shown_.file)) c.open_path = f;
    ImGui::EndPopup();
  }
  if (edit) editing_ ? end_edit(c) : begin_edit(c);
  if (c.focus_field == "edit") {
    c.focus_field.clear();
    if (!editing_ && can_edit) begin_edit(c);
  }
  y += u(23);

  // Source above, output below: a quarter of the height, at least three lines, no more than it needs.
  const float room = a.bottom() + u(theme::kPadY) - y;
  const float want = u(30) + float(std::max<size_t>(2, output_.size()) + 1) * u(kLine) + u(8);
  const float low = std::min({want, std::max(u(110), room * .3f), room * .6f});
  const Area top{a.x, y, a.w, std::max(1.f, room - low)};
  if (editing_) draw_editor(c, top);
  else draw_source(c, top);
  draw_output(c, pen, {a.x, y + top.h, a.w, low});
}

float ProgramPanel::draw_buttons(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  // What the first button does depends on what the program does.
  struct Main { const char *id, *label, *key; };
  const Main main = c.program.run == RunState::kBuildingAgent ? Main{"run.stop", "Stop", ""}
                    : c.program.run == RunState::kRunning     ? Main{"run.pause", "Pause", "P"}
                    : c.program.run == RunState::kPaused      ? Main{"run.continue", "Go on", "C"}
                                                              : Main{"run.again", "Run", "^R"};
  struct Button { const char *id, *back, *label, *key; };
  const Button buttons[] = {{"step.into", "step.back_into", "Into", "I"}, {"step.over", "step.back_over", "Over", "O"}, {"step.out", "step.back_out", "Out", "U"}};
  const float back_w = u(18);
  auto need = [&](bool keys) {
    float w = Pen::button_width(main.label, keys ? main.key : "", true);
    for (const Button& b : buttons) w += back_w + Pen::button_width(b.label, keys ? b.key : "");
    return w - u(theme::kGap);
  };
  const bool keys = need(true) <= a.w;
  float x = a.x;
  auto enabled = [&](const char* id) {
    const Command* command = c.commands ? c.commands->find(id) : nullptr;
    return command && (!command->enabled || command->enabled());
  };
  auto says = [&](const Hit& h, const char* id) {
    if (const Command* command = c.commands ? c.commands->find(id) : nullptr) tip(h, command->help);
    if (h && c.commands) c.commands->run(id);
  };
  Hit run;
  x += pen.button(main.id, x, a.y, main.label, keys ? main.key : "", &run, true, enabled(main.id));
  says(run, main.id);
  for (const Button& b : buttons) {
    const bool on = enabled(b.id);
    // The twin backwards is the narrow part at the left.
    const float h = u(theme::kButton), w = back_w + u(4);
    ImGui::BeginDisabled(!on);
    const Hit back = hit(b.back, x, a.y, back_w, h);
    ImGui::EndDisabled();
    pen.fill(x, a.y, w, h, color(back.held ? p.select : back.hovered ? p.hover : p.raised), u(theme::kRadius));
    pen.frame(x, a.y, w, h, color(p.line), u(theme::kRadius));
    const float k = theme::scale(), cx = x + back_w / 2, cy = a.y + h / 2;
    pen.dl->AddTriangleFilled({cx + 2 * k, cy - 4 * k}, {cx + 2 * k, cy + 4 * k}, {cx - 3 * k, cy}, color(on ? p.dim : p.line_strong));
    says(back, b.back);
    Hit forward;
    x += back_w + pen.button(b.id, x + back_w, a.y, b.label, keys ? b.key : "", &forward, false, on);
    says(forward, b.id);
  }
  return a.y + u(34);
}

float ProgramPanel::draw_state(Context& c, const Pen& pen, const Area& a, float y) {
  const ProgramState& s = c.program;
  if (s.run == RunState::kNone || (s.run == RunState::kEnded && s.exit_code == 0 && !c.edit.dirty)) return y;
  const auto& p = theme::palette();
  std::string line = s.title.empty() ? s.message : s.title + ": " + s.message;
  if (s.run == RunState::kPaused) line = s.message;
  if (s.run == RunState::kEnded && c.edit.dirty) line = "edited; " + std::string("Ctrl+R saves and runs");
  const bool paused = s.run == RunState::kPaused;
  const std::vector<Run> runs = {{paused ? Type::kSemi : Type::kBody, paused || s.run == RunState::kEnded ? p.text : p.dim, line}};
  const int lines = pen.rich_wrapped(a.x, base_of(y, u(20)), a.w, u(20), runs, false);
  if (paused) pen.fill(a.x - u(theme::kPadX), y, a.w + 2 * u(theme::kPadX), float(lines) * u(20), color(p.select));
  pen.rich_wrapped(a.x, base_of(y, u(20)), a.w, u(20), runs);
  y += float(lines) * u(20);
  if (s.run == RunState::kBuildingAgent) {
    pen.progress(a.x, y + u(4), a.w, s.progress);
    y += u(12);
    Hit cancel;
    pen.link("cancel build", a.x, base_of(y, u(20)), "cancel", &cancel);
    if (cancel && c.commands) c.commands->run("run.stop");
    y += u(22);
  }
  return y + u(6);
}

void ProgramPanel::draw_source(Context& c, const Area& a) {
  const auto& p = theme::palette();
  const float pad = u(theme::kPadX), row = u(kLine);
  if (lines_.empty()) {
    Pen().empty(a, shown_.file.empty() ? "No line of yours at this hop" : base_name(shown_.file),
                shown_.file.empty() ? "Select a hop that a line of your program led to." : "The recording holds no text of this file (recorded with --no-source, or not a file).");
    return;
  }
  const Area body{a.x - pad, a.y, a.w + 2 * pad, a.h};
  source_list_.begin("##source", body, int64_t(lines_.size()), row);
  const Pen pen;
  for (int64_t i = source_list_.first(); i < source_list_.end_row(); i++) {
    const float y = source_list_.y(i), base = base_of(y, row);
    const int line = int(i) + 1;
    const bool here = line == shown_.line;
    // A line with a breakpoint has its number on a plate; a click on the number sets one or takes it away.
    const std::string place = "line:" + base_name(shown_.file) + ":" + std::to_string(line), text = place.find(' ') == std::string::npos ? place : "\"" + place + "\"";
    const auto at = std::find_if(c.live.breakpoints.begin(), c.live.breakpoints.end(), [&](const LiveControl::Row& r) { return r.text == text && !r.once; });
    const bool stops = at != c.live.breakpoints.end();
    ImGui::PushID(line);
    const float gutter = u(22) + a.x - body.x;
    const Hit mark = hit("break", body.x, y, gutter, row);
    tip(mark, stops ? "The program stops at this line; a click takes the breakpoint away" : "A click sets a breakpoint at this line");
    if (mark) c.live.wanted.push_back({stops ? LiveWish::Kind::kRemove : LiveWish::Kind::kAdd, stops ? at->id : 0, text});
    const Hit over = hit("line", body.x + gutter, y, body.w - u(10) - gutter, row);
    ImGui::PopID();
    if (here) {
      pen.fill(body.x, y, body.w, row, color(p.select));
      pen.dl->AddTriangleFilled({a.x - u(8), y + u(5)}, {a.x - u(2), y + row / 2}, {a.x - u(8), y + row - u(5)}, color(p.focus));
    } else if (over.hovered) {
      pen.hovered_row(a, y, row);
    }
    const uint64_t hops = counts_.hops(shown_.file, line);
    const unsigned quiet = here ? p.text : p.faint;
    if (stops) pen.fill(a.x - u(2), y + u(2), u(22), row - u(4), color(at->enabled ? p.focus : p.line_strong), u(theme::kRadius));
    pen.text_right(Type::kMono, a.x + u(18), base, stops ? p.sunken : mark.hovered ? p.text : quiet, std::to_string(line));
    const std::string count = hops ? count_text(hops) : "";
    const float count_w = hops ? text_width(Type::kMono, count) + u(8) : 0;
    pen.text_cut(here ? Type::kBold : Type::kMono, a.x + u(kGutter), base, a.w - u(kGutter) - count_w, here ? p.text : hops ? p.text : p.dim, lines_[size_t(i)]);
    if (hops) pen.text_right(Type::kMono, a.right(), base, quiet, count);
    // A line goes to its first hop; clicked again, to the next call that it made.
    if (over && hops) {
      EventId to = counts_.first_hop(shown_.file, line);
      if (here && c.selected) {
        for (EventId e = c.session->last(c.selected); e.value < c.session->size() && e.value < c.selected.value + 200000;) {
          e = EventId(e.value + 1);
          if (c.session->parent(e)) continue;
          if (const SourcePlace at = place_of(*c.session, e); at.line == line && at.file == shown_.file) {
            to = e;
            break;
          }
        }
      }
      c.select(to);
    }
    if (over.hovered) tip(over, hops ? plural(hops, "hop") + " in the whole recording; a click goes to the first one, again to the next" : "");
  }
  source_list_.end();
}

void ProgramPanel::draw_output(Context& c, const Pen& pen, const Area& a) {
  const auto& p = theme::palette();
  const float pad = u(theme::kPadX), row = u(kLine);
  pen.hline(a.x - pad, a.y, a.w + 2 * pad, color(p.line));
  const size_t printed = c.selected ? printed_by(output_, c.effective()) : output_.size();
  pen.section(a.x, a.y + u(6), a.w, "Output", output_.empty() ? "" : plural(output_.size(), "line"));
  const Area body{a.x - pad, a.y + u(30), a.w + 2 * pad, std::max(1.f, a.h - u(32))};
  if (output_.empty()) {
    pen.note(a.x, base_of(body.y, row), "nothing printed");
    return;
  }
  const bool split = printed < output_.size();  // one more row says where the selected hop is
  const int64_t rows = int64_t(output_.size()) + (split ? 1 : 0);
  if (follow_output_) output_list_.reveal(split ? int64_t(printed) : rows - 1), follow_output_ = false;
  output_list_.begin("##output", body, rows, row);
  const Pen inner;
  for (int64_t i = output_list_.first(); i < output_list_.end_row(); i++) {
    const float y = output_list_.y(i), base = base_of(y, row);
    if (split && i == int64_t(printed)) {
      const float t = inner.note(a.x, base, "after the selected hop");
      inner.hline(a.x + t + u(8), y + row / 2, a.w - t - u(8), color(p.line));
      continue;
    }
    const size_t n = size_t(i) - (split && i > int64_t(printed) ? 1 : 0);
    const OutputLine& line = output_[n];
    ImGui::PushID(int(n));
    const Hit over = hit("output", body.x, y, body.w - u(10), row);
    ImGui::PopID();
    if (over.hovered) inner.hovered_row(a, y, row);
    inner.text_cut(line.stream == 2 ? Type::kBold : Type::kMono, a.x, base, a.w, n < printed ? p.text : p.faint, line.text);
    if (over && line.after) c.select(line.after);
    tip(over, line.after ? "printed after hop " + count_text(line.after.value) : "printed before the first hop");
  }
  output_list_.end();
}

// ---- editing

void ProgramPanel::begin_edit(Context& c) {
  if (c.edit.path != shown_.file || !editor_) {
    c.edit = {shown_.file, c.session->source(shown_.file), false};
    original_ = c.edit.text;
    editor_ = std::make_unique<TextEditor>();
    editor_->SetLanguage(TextEditor::Language::Python());
    editor_->SetText(c.edit.text);
    editor_->SetShowScrollbarMiniMapEnabled(false);
    editor_->SetInsertSpacesOnTabs(true);
    editor_->SetTabSize(4);
    undo_ = editor_->GetUndoIndex();
  }
  editor_->SetCursor({size_t(std::max(0, shown_.line - 1)), 0});
  editor_->SetFocus();
  editing_ = true;
}

void ProgramPanel::end_edit(Context& c) {
  editing_ = false;
  if (c.edit.dirty) c.notice = "The edits to " + base_name(c.edit.path) + " are kept here; running again asks whether to save them.";
}

void ProgramPanel::draw_editor(Context& c, const Area& a) {
  editor_->SetPalette(editor_palette());
  ImGui::SetCursorScreenPos({a.x, a.y});
  ImGui::PushFont(theme::font(Type::kMono), theme::font_size(Type::kMono));
  editor_->Render("##editor", {a.w, std::max(u(40), a.h - u(6))});
  const bool focused = ImGui::IsItemFocused() || ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows);
  ImGui::PopFont();
  // The editor is no InputText: tell the window that letters belong to it.
  if (focused) ImGui::GetCurrentContext()->WantTextInputNextFrame = 1;
  if (const size_t n = editor_->GetUndoIndex(); n != undo_) {
    undo_ = n;
    c.edit.text = editor_->GetText();
    c.edit.dirty = c.edit.text != original_;
  }
  if (focused && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) end_edit(c);
}

bool ProgramPanel::run(Context& c, std::string_view id) {
  if (editing_ || !c.session) return false;
  if (id == "list.last") return source_list_.to_bottom(), true;
  const auto by = source_list_.step(id);
  if (!by) return false;
  source_list_.set_top(std::max<int64_t>(0, source_list_.top() + *by));
  return true;
}

std::string ProgramPanel::copy_text(Context&) {
  if (shown_.line < 1 || size_t(shown_.line) > lines_.size()) return "";
  return lines_[size_t(shown_.line) - 1] + "\n";
}

}  // namespace

std::unique_ptr<Panel> make_program_panel() { return std::make_unique<ProgramPanel>(); }

}  // namespace peel::views
