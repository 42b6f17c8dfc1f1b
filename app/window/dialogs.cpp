#include "app/window/dialogs.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "app/window/application.h"
#include "app/window/keys.h"
#include "imgui.h"
#include "imgui_stdlib.h"
#include "views/pen.h"
#include "views/words.h"

namespace peel::app {

using views::base_of;
using views::count_text;
using views::Hit;
using views::Pen;
using views::plural;
using views::text_width;
using views::theme::color;
using views::theme::Type;
using views::theme::u;

void Dialogs::open(Kind k) {
  kind_ = k, opened_ = false, at_ = 0, text_.clear(), error_.clear(), entries_.clear(), shown_for_ = "\n";
  if (k == Kind::kOpen) {
    std::error_code ignored;
    text_ = std::filesystem::current_path(ignored).string() + "/";
  }
  if (k == Kind::kNote && app_.session()) {
    for (const Note& n : app_.session()->notes()) if (n.event == app_.context().selected) text_ = n.text;
  }
}
void Dialogs::close() {
  kind_ = Kind::kNone;
  ImGui::CloseCurrentPopup();
}

bool Dialogs::begin(const char* title, float width, float height) {
  const ImGuiViewport* v = ImGui::GetMainViewport();
  if (!opened_) ImGui::OpenPopup(title);
  const float w = std::min(u(width), v->WorkSize.x - u(24)), h = height > 0 ? std::min(u(height), v->WorkSize.y - u(40)) : 0;
  ImGui::SetNextWindowPos({v->WorkPos.x + (v->WorkSize.x - w) / 2, v->WorkPos.y + u(40)});
  ImGui::SetNextWindowSize({w, h});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(u(12), u(10)));
  const bool shown = ImGui::BeginPopup(title, ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoTitleBar);
  ImGui::PopStyleVar();
  if (!shown) {
    if (opened_) kind_ = Kind::kNone;  // closed by Esc or a click outside
    opened_ = true;
    return false;
  }
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) {
    close();
    ImGui::EndPopup();
    return false;
  }
  return true;
}
void Dialogs::end() {
  opened_ = true;
  ImGui::EndPopup();
}

void Dialogs::draw() {
  switch (kind_) {
    case Kind::kNone: return;
    case Kind::kPalette: return draw_palette();
    case Kind::kKeys: return draw_keys();
    case Kind::kGoTo: return draw_go_to();
    case Kind::kOpen: return draw_open();
    case Kind::kAbout: return draw_about();
    case Kind::kSave: return draw_save();
    case Kind::kNote: return draw_note();
  }
}

// ---- palette

void Dialogs::advance_index() {
  const Session* s = app_.session();
  if (!s) {
    index_.left = false;
    return;
  }
  const uint32_t size = s->size();
  for (int steps = 100000; steps > 0 && index_.scanned < size; steps--) {
    const Event e = s->event(EventId(++index_.scanned));
    if (is_call(e.kind)) {
      Index::Object& o = index_.operators[e.op.value];
      if (!o.count++) o.first = e.id;
    }
    if (e.parent || !e.stack) continue;
    Index::Object& o = index_.stacks[e.stack.value];
    if (!o.count++) {
      o.first = e.id;
      if (const StackId f = s->user_frame(e.stack)) {
        const Frame frame = s->frame(f);
        Index::Object& line = index_.lines[views::base_name(frame.file) + ":" + std::to_string(frame.line)];
        if (!line.count++) line.first = e.id;
      }
    }
  }
  index_.left = index_.scanned < size;
}

namespace {

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// All words must appear, in any order; 0 = no. Earlier and whole-word hits count more.
int score(const std::string& words, const std::string& text) {
  int sum = 1;
  for (size_t i = 0; i < words.size();) {
    const size_t end = std::min(words.find(' ', i), words.size());
    if (end > i) {
      const size_t at = text.find(words.substr(i, end - i));
      if (at == std::string::npos) return 0;
      sum += 100 - int(std::min<size_t>(at, 60)) + (at == 0 || text[at - 1] == ' ' ? 60 : 0);
    }
    i = end + 1;
  }
  return sum;
}

}  // namespace

std::vector<Dialogs::Entry> Dialogs::find(const std::string& words) {
  std::vector<Entry> out;
  const std::string w = lower(words);
  for (const views::Command& c : app_.commands().all()) {
    if (std::string_view(c.context) == "list") continue;
    const int s = w.empty() ? 1 : std::max(score(w, lower(c.title)) * 2, score(w, lower(std::string(c.title) + " " + c.help)));
    if (s) out.push_back({c.id, c.title, c.help, keys_text(c), {}, s + 40, !c.enabled || c.enabled()});
  }
  if (const Session* s = app_.session(); s && !w.empty()) {
    for (const auto& [op, o] : index_.operators) {
      const Op& row = s->op(OpId(op));
      if (const int n = score(w, lower(row.full)))
        out.push_back({"", row.full, plural(o.count, "call") + ", the first is hop " + count_text(o.first.value), "operator", o.first, n + (lower(row.brief) == w ? 300 : 0), true});
    }
    for (const auto& [line, o] : index_.lines)
      if (const int n = score(w, lower(line))) out.push_back({"", line, "first call there is hop " + count_text(o.first.value), "line", o.first, n, true});
  }
  if (!w.empty()) std::stable_sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) { return a.score > b.score; });
  if (out.size() > 200) out.resize(200);
  return out;
}

void Dialogs::draw_palette() {
  if (!begin("##palette", 620, 420)) return;
  advance_index();
  const auto& p = views::theme::palette();
  if (!opened_) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool enter = ImGui::InputTextWithHint("##words", "A command, an operator, a line (train.py:17)", &text_, ImGuiInputTextFlags_EnterReturnsTrue);
  if (shown_for_ != text_ || entries_scanned_ != index_.scanned) {
    if (shown_for_ != text_) at_ = 0;
    entries_ = find(text_), shown_for_ = text_, entries_scanned_ = index_.scanned;
  }
  const int n = int(entries_.size());
  if (n) {
    const int before = at_;
    if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) at_ = (at_ + 1) % n;
    if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) at_ = (at_ + n - 1) % n;
    scroll_ = at_ != before;
    at_ = std::clamp(at_, 0, n - 1);
  }
  int chosen = enter && n ? at_ : -1;
  ImGui::BeginChild("##found", {0, -u(24)});
  const Pen pen;
  const float row = u(26), w = ImGui::GetContentRegionAvail().x;
  for (int i = 0; i < n; i++) {
    const Entry& e = entries_[size_t(i)];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string id = e.id.empty() ? e.title : e.id;
    const Hit h = views::hit(id.c_str(), at.x, at.y, w, row - 1);
    if (i == at_ && scroll_) ImGui::SetScrollHereY();
    if (i == at_ || h.hovered) pen.fill(at.x, at.y, w, row, color(i == at_ ? p.select : p.hover), u(views::theme::kRadius));
    const float base = base_of(at.y, row), key = text_width(Type::kMonoSmall, e.key);
    const float t = pen.text(e.id.empty() ? Type::kMono : Type::kBody, at.x + u(8), base, e.enabled ? p.text : p.faint, e.title);
    pen.text_cut(Type::kSmall, at.x + u(20) + t, base, w - t - key - u(40), p.faint, e.help);
    pen.text_right(Type::kMonoSmall, at.x + w - u(8), base, p.dim, e.key);
    if (h) chosen = i;
    ImGui::SetCursorScreenPos({at.x, at.y + row});
  }
  ImGui::Dummy({0, 0});
  ImGui::EndChild();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  std::string foot = n ? plural(uint64_t(n), "entry", "entries") : "Nothing has these words in its name.";
  if (index_.left) foot += ", still reading: " + count_text(index_.scanned) + " of " + count_text(app_.session() ? app_.session()->size() : 0) + " hops";
  pen.note(at.x, base_of(at.y, u(22)), foot);
  if (chosen >= 0) {
    const Entry e = entries_[size_t(chosen)];
    if (!e.enabled) {
      app_.say(e.title + " is not possible now.");
    } else {
      close();
      ImGui::EndPopup();
      if (e.event) app_.go_to(e.event);
      else app_.commands().run(e.id);
      return;
    }
  }
  end();
}

// ---- keys

void Dialogs::draw_keys() {
  if (!begin("##keys", 760, 560)) return;
  const Pen pen;
  const auto& p = views::theme::palette();
  ImVec2 at = ImGui::GetCursorScreenPos();
  pen.text(Type::kSemiLead, at.x, base_of(at.y, u(26)), p.text, "Keys");
  pen.note_right(at.x + ImGui::GetContentRegionAvail().x, base_of(at.y, u(26)), "Letters act while no text field has the focus; Esc leaves a field.");
  ImGui::SetCursorScreenPos({at.x, at.y + u(32)});
  ImGui::BeginChild("##table");
  at = ImGui::GetCursorScreenPos();
  const Pen inner;
  const float w = ImGui::GetContentRegionAvail().x, row = u(22), gap = u(24), column = (w - gap) / 2;
  float y[2] = {at.y, at.y};
  int side = 0;
  std::string_view group = "-";
  size_t total = 0, done = 0;
  for (const views::Command& c : app_.commands().all()) total += !c.keys.empty();
  for (const views::Command& c : app_.commands().all()) {
    if (c.keys.empty()) continue;
    const std::string_view g = *c.context ? std::string_view("In a list") : std::string_view(c.menu);
    if (g != group) {
      if (group != "-" && done * 2 > total && !side) side = 1;
      group = g;
      y[side] += y[side] > at.y ? u(8) : 0;
      inner.section(at.x + float(side) * (column + gap), y[side], column, g);
      y[side] += u(22);
    }
    const float x = at.x + float(side) * (column + gap), base = base_of(y[side], row), keys = u(150);
    inner.text_cut(Type::kMonoSmall, x, base, keys, p.text, keys_text(c));
    inner.text_cut(Type::kBody, x + keys + u(8), base, column - keys - u(8), p.dim, c.title);
    tip(views::hit(c.id, x, y[side], column, row), c.help);
    y[side] += row, done++;
  }
  ImGui::SetCursorScreenPos({at.x, std::max(y[0], y[1])});
  ImGui::Dummy({1, u(4)});
  ImGui::EndChild();
  end();
}

// ---- go to hop

void Dialogs::draw_go_to() {
  if (!begin("##goto", 380, 0)) return;
  const uint32_t size = app_.session() ? app_.session()->size() : 0;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Pen pen;
  pen.text(Type::kSemi, at.x, base_of(at.y, u(22)), views::theme::palette().text, "Go to hop");
  pen.note_right(at.x + ImGui::GetContentRegionAvail().x, base_of(at.y, u(22)), "1 to " + count_text(size));
  ImGui::SetCursorScreenPos({at.x, at.y + u(28)});
  if (!opened_) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##number", "number", &text_, ImGuiInputTextFlags_EnterReturnsTrue)) {
    std::string digits;
    for (char c : text_) if (std::isdigit(static_cast<unsigned char>(c))) digits += c;
    const unsigned long n = digits.empty() || digits.size() > 10 ? 0 : strtoul(digits.c_str(), nullptr, 10);
    if (n >= 1 && n <= size) {
      close();
      ImGui::EndPopup();
      app_.go_to(EventId(uint32_t(n)));
      return;
    }
    error_ = "There is no hop " + text_ + ": this session has hops 1 to " + count_text(size) + ".";
    ImGui::SetKeyboardFocusHere(-1);
  }
  if (!error_.empty()) ImGui::TextWrapped("%s", error_.c_str());
  end();
}

// ---- note

void Dialogs::draw_note() {
  if (!begin("##note", 460, 0)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Pen pen;
  const EventId hop = app_.context().selected;
  pen.text(Type::kSemi, at.x, base_of(at.y, u(22)), views::theme::palette().text, "Note at hop " + count_text(hop.value));
  pen.note_right(at.x + ImGui::GetContentRegionAvail().x, base_of(at.y, u(22)), "Enter keeps it, Ctrl+Enter starts a line");
  ImGui::SetCursorScreenPos({at.x, at.y + u(28)});
  if (!opened_) ImGui::SetKeyboardFocusHere();
  const bool done = ImGui::InputTextMultiline("##text", &text_, {-1, u(84)}, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CtrlEnterForNewLine);
  if (done) {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.back()))) text_.pop_back();
    close();
    ImGui::EndPopup();
    app_.write_note(text_);
    return;
  }
  end();
}

// ---- open

void Dialogs::draw_open() {
  if (!begin("##open", 620, 420)) return;
  namespace fs = std::filesystem;
  const auto& p = views::theme::palette();
  if (!opened_) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const bool enter = ImGui::InputTextWithHint("##path", "path of a .peel file", &text_, ImGuiInputTextFlags_EnterReturnsTrue);
  // What is in the folder that is typed so far, then what was open lately.
  const fs::path typed = text_;
  const fs::path folder = text_.empty() || text_.back() == '/' ? typed : typed.parent_path();
  const std::string start = text_.empty() || text_.back() == '/' ? "" : typed.filename().string();
  std::string chosen = enter ? text_ : "";
  const Pen outer;
  ImGui::BeginChild("##files", {0, -u(26)});
  const Pen pen;
  const float row = u(24), w = ImGui::GetContentRegionAvail().x;
  auto line = [&](const std::string& name, const std::string& note, bool is_folder) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Hit h = views::hit(name.c_str(), at.x, at.y, w, row);
    if (h.hovered) pen.fill(at.x, at.y, w, row, color(p.hover), u(views::theme::kRadius));
    const float t = pen.text_cut(Type::kMono, at.x + u(8), base_of(at.y, row), w - u(16), is_folder ? p.dim : p.text, name);
    pen.text_cut(Type::kSmall, at.x + u(20) + t, base_of(at.y, row), w - t - u(28), p.faint, note);
    ImGui::SetCursorScreenPos({at.x, at.y + row});
    return bool(h);
  };
  std::error_code error;
  std::vector<fs::directory_entry> files;
  for (fs::directory_iterator i(folder.empty() ? "." : folder, error), end; !error && i != end && files.size() < 2000; i.increment(error)) {
    const std::string name = i->path().filename().string();
    if (name.starts_with(".") || !name.starts_with(start)) continue;
    std::error_code ignored;
    if (i->is_directory(ignored) || name.ends_with(".peel")) files.push_back(*i);
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    std::error_code ignored;
    const bool fa = a.is_directory(ignored), fb = b.is_directory(ignored);
    return fa != fb ? fb : a.path() < b.path();
  });
  for (const fs::directory_entry& f : files) {
    std::error_code ignored;
    const bool is_folder = f.is_directory(ignored);
    const std::string name = f.path().filename().string() + (is_folder ? "/" : "");
    if (line(name, "", is_folder)) {
      if (is_folder) text_ = f.path().string() + "/";
      else chosen = f.path().string();
    }
  }
  if (!app_.settings().recent.empty()) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    pen.section(at.x, at.y + u(4), w, "Opened lately");
    ImGui::SetCursorScreenPos({at.x, at.y + u(26)});
    for (const std::string& r : app_.settings().recent)
      if (line(r, "", false)) chosen = r;
  }
  ImGui::Dummy({0, 0});
  ImGui::EndChild();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (!error_.empty()) outer.text_cut(Type::kSmall, at.x, base_of(at.y, u(22)), ImGui::GetContentRegionAvail().x, p.text, error_);
  else outer.note(at.x, base_of(at.y, u(22)), "Enter opens; folders and .peel files of the typed folder are listed.");
  if (!chosen.empty()) {
    std::error_code ignored;
    if (std::filesystem::is_directory(chosen, ignored)) {
      text_ = chosen.back() == '/' ? chosen : chosen + "/";
    } else if (const Status s = app_.open(chosen); !s) {
      error_ = s.error();
    } else {
      close();
      ImGui::EndPopup();
      return;
    }
  }
  end();
}

// ---- about, save

void Dialogs::draw_about() {
  if (!begin("##about", 560, 0)) return;
  ImGui::PushFont(views::theme::font(Type::kSemiLead), views::theme::font_size(Type::kSemiLead));
  ImGui::TextUnformatted("Peel");
  ImGui::PopFont();
  ImGui::TextWrapped("Records every hop that an operator call takes through PyTorch's dispatcher, and lets you walk through it.");
  ImGui::Spacing();
  ImGui::TextUnformatted("Fonts");
  ImGui::PushStyleColor(ImGuiCol_Text, views::theme::vec(views::theme::palette().dim));
  ImGui::TextWrapped("%s", views::theme::fonts_found().c_str());
  ImGui::TextWrapped("Settings: %s", settings_folder().c_str());
  ImGui::TextWrapped("Dear ImGui, GLFW, FreeType, SQLite: their own licences.");
  ImGui::PopStyleColor();
  end();
}

void Dialogs::draw_save() {
  if (!begin("##save", 520, 0)) return;
  views::Context::Edit& edit = app_.context().edit;
  const Pen pen;
  const auto& p = views::theme::palette();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float w = ImGui::GetContentRegionAvail().x;
  pen.text(Type::kSemi, at.x, base_of(at.y, u(22)), p.text, "Save the edits and run?");
  pen.text_cut(Type::kBody, at.x, base_of(at.y + u(24), u(22)), w, p.dim, "The file is written: " + edit.path);
  if (!error_.empty()) pen.text_cut(Type::kBody, at.x, base_of(at.y + u(46), u(22)), w, p.text, error_);
  const float y = at.y + u(error_.empty() ? 56 : 76);
  Hit save, without, cancel;
  float x = at.x;
  x += pen.button("save and run", x, y, "Save and run", "Enter", &save, true);
  x += pen.button("run without", x, y, "Run without the edits", "", &without);
  pen.button("cancel", x, y, "Cancel", "Esc", &cancel);
  ImGui::SetCursorScreenPos({at.x, y + u(28)});
  ImGui::Dummy({1, 1});
  if (ImGui::IsKeyPressed(ImGuiKey_Enter, false)) save.clicked = true;
  if (save) {
    // Into a new file first, so that a full disk doesn't cost the old text.
    const std::string next = edit.path + ".peel-save";
    std::error_code error;
    {
      std::ofstream out(next, std::ios::binary);
      out << edit.text;
      out.flush();
      if (!out) error = std::make_error_code(std::errc::io_error);
    }
    if (!error) {
      const auto mode = std::filesystem::status(edit.path, error).permissions();
      if (!error) std::filesystem::permissions(next, mode, error);
      error.clear();
      std::filesystem::rename(next, edit.path, error);
    }
    if (error) {
      error_ = "Cannot write " + edit.path + ": " + error.message() + ".";
      std::filesystem::remove(next, error);
      save.clicked = false;
    }
  }
  if (save || without || cancel) {
    close();
    ImGui::EndPopup();
    if (cancel) return;
    if (save) edit.dirty = false;
    const views::Context::Edit kept = edit;
    edit.dirty = false;
    app_.run_again();
    if (without) app_.context().edit = kept;
    return;
  }
  end();
}

}  // namespace peel::app
