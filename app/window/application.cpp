#include "app/window/application.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/window/dialogs.h"
#include "app/window/keys.h"
#include "imgui.h"
#include "imgui_internal.h"
#include "views/memory_source.h"
#include "views/pen.h"
#include "views/tensor_model.h"
#include "views/words.h"

namespace peel::app {

using views::theme::u;

Application::Application(WindowOptions o, std::unique_ptr<ProgramHandle> program)
    : options_(std::move(o)), program_(std::move(program)), panels_(views::make_panels()), dialogs_(std::make_unique<Dialogs>(*this)),
      workspace_(&workspaces()[0]) {
  context_.commands = &commands_;
  debugging_ = std::make_unique<Debugging>(*this, options_.live);
  register_commands(*this);
  if (!program_ && options_.program.start) program_ = make_program_handle(options_.program);
  guide_open_ = options_.first_run;
}
Application::~Application() {
  debugging_->session_changed();
  context_.memory->forget();  // it reads the session, which goes first
}

// ---- sessions

Status Application::open(const std::string& path) {
  Result<std::unique_ptr<Session>> s = Session::open(path);
  if (!s) return Error{s.error()};
  settings_.remember(path);
  if (ImGui::GetCurrentContext()) ImGui::MarkIniSettingsDirty();
  show(std::move(*s));
  return {};
}

void Application::show(std::unique_ptr<Session> s) {
  debugging_->session_changed();
  context_.session = s.get();
  context_.forget();
  stepper_.forget();
  stops_.clear(), stop_ = 0, guide_generation_ = 0;
  for (auto& p : panels_) p->session_changed(context_);
  dialogs_->session_changed();
  session_ = std::move(s);  // only now may the old ones go
  other_.reset();
  default_pending_ = session_ != nullptr;
  seen_generation_ = 0;
}
void Application::close_session() { show(nullptr); }

Status Application::open_other(const std::string& path) {
  Result<std::unique_ptr<Session>> s = Session::open(path);
  if (!s) return Error{s.error()};
  show_other(std::move(*s));
  return {};
}

void Application::show_other(std::unique_ptr<Session> s) {
  views::Panel* compare = panel("Compare");
  compare->session_changed(context_);  // lets go of the old one
  context_.compare = {s.get(), {}, {}, context_.compare.changes + 1};
  other_ = std::move(s);
  default_pending_ = false;  // what opens selected is the first difference
  workspace_ = workspace("Compare");  // for this time: it is not what the reader chose
  sync_closed();
}

// A useful first selection as soon as there is enough to choose from; the reader's own choice wins.
void Application::select_default() {
  if (!default_pending_ || !session_) return;
  if (context_.selected) {
    default_pending_ = false;
    return;
  }
  const bool ready = session_->progress().ready;
  if (const uint32_t wanted = options_.screenshot.select; wanted && session_->size() >= wanted) {
    context_.select(EventId(wanted));
    default_pending_ = false;
    return;
  }
  if (!ready || session_->generation() == seen_generation_) return;
  seen_generation_ = session_->generation();
  if (session_->live() && session_->size() < 50) return;
  if (!session_->size()) {
    default_pending_ = session_->live();
    return;
  }
  context_.select(views::first_selection(*session_));
  default_pending_ = false;
}

void Application::watch_program() {
  if (!program_) return;
  context_.program = program_->state();
  if (const int n = program_->recordings(); n != recordings_seen_) {
    recordings_seen_ = n;
    if (const Status s = open(options_.session_path); !s) say(s.error());
  }
}

std::string Application::title() const {
  if (!session_) return "Peel";
  const auto name = [](const Session& s) { return std::filesystem::path(s.path()).filename().string(); };
  return name(*session_) + (other_ ? " and " + name(*other_) : "") + " - Peel";
}

std::string Application::busy_with() const {
  if (dialogs_->busy()) return "the palette's index";
  if (rebuild_) return "the layout";
  if (session_ && session_->live() && !context_.live.stop) return "a recording that grows";
  if (session_ && !session_->progress().ready) return session_->progress().stage;
  if (other_ && !other_->progress().ready) return other_->progress().stage;
  if (context_.live.stop && context_.live.standing.asking) return "a question to the program";
  if (program_ && context_.program.run != views::ProgramState::Run::kEnded && !context_.live.stop) return "the program";
  // A panel behind another one is not drawn, and does not take what was computed for it: it waits.
  for (const views::Panel* p : drawn_) if (p->busy()) return std::string("panel ") + p->title();
  return "";
}
bool Application::settled() const {
  return frames_ > 8 && to_front_.empty() && !busy() && (!session_ || session_->progress().ready) && !default_pending_;
}

// ---- panels and workspaces

views::Panel* Application::panel(std::string_view title) {
  for (auto& p : panels_) if (title == p->title()) return p.get();
  return nullptr;
}
const char* Application::remember_text(std::string s) { return texts_.emplace_back(std::move(s)).c_str(); }

bool Application::offered(const Workspace& w) const {
  return std::any_of(panels_.begin(), panels_.end(), [&](const auto& p) { return std::string_view(w.needs) == p->title(); });
}
void Application::use_workspace(const Workspace& w) {
  if (!offered(w)) return;
  workspace_ = &w;
  settings_.workspace = w.name;
  sync_closed();
  if (ImGui::GetCurrentContext()) ImGui::MarkIniSettingsDirty();
}
void Application::reset_layout() {
  rebuild_ = true;
  for (auto& p : panels_) show_panel(*p, std::any_of(workspace_->places.begin(), workspace_->places.end(), [&](const Place& i) { return std::string_view(i.panel) == p->title(); }));
}
void Application::sync_closed() {
  for (auto& p : panels_) {
    const bool placed = std::any_of(workspace_->places.begin(), workspace_->places.end(), [&](const Place& i) { return std::string_view(i.panel) == p->title(); });
    const std::string name = std::string(p->title()) + "@" + workspace_->name;
    const bool closed = std::find(settings_.closed.begin(), settings_.closed.end(), name) != settings_.closed.end();
    const bool opened = std::find(settings_.closed.begin(), settings_.closed.end(), "+" + name) != settings_.closed.end();
    p->open = opened || (placed && !closed);
  }
}
void Application::show_panel(views::Panel& p, bool shown) {
  p.open = shown;
  const std::string name = std::string(p.title()) + "@" + workspace_->name;
  std::erase(settings_.closed, name);
  std::erase(settings_.closed, "+" + name);
  settings_.closed.push_back(shown ? "+" + name : name);
  if (shown) to_focus_ = p.title();
  if (ImGui::GetCurrentContext()) ImGui::MarkIniSettingsDirty();
}
void Application::focus_panel(std::string_view title) {
  views::Panel* p = panel(title);
  if (!p) return;
  if (!p->open) show_panel(*p, true);
  to_focus_ = title;
}

void Application::set_theme(bool dark, float zoom) {
  settings_.dark = context_.dark = dark, settings_.zoom = zoom;
  context_.scale = display_scale_ * zoom;
  views::theme::apply(dark, context_.scale);
  if (ImGui::GetCurrentContext()) ImGui::MarkIniSettingsDirty();
}
void Application::set_display_scale(float s) {
  display_scale_ = s;
  set_theme(settings_.dark, settings_.zoom);
}

// ---- actions

void Application::step(views::Step s) {
  if (!session_ || !context_.selected || debugging_->step(s)) return;
  const EventId to = stepper_.step(*session_, s, context_.selected);
  if (to) context_.select(to);
  else if (!debugging_->step_past_end(s)) say(views::why_not(s));
}

void Application::show_stop(EventId e) {
  stepper_.forget();
  context_.select(e);
  if (!drawn("Breakpoints")) use_workspace(*workspace("Debug"));
  to_focus_ = "Breakpoints";
}

void Application::go_to(EventId e) {
  if (session_ && e && e.value <= session_->size()) context_.select(e);
}

void Application::toggle_bookmark() {
  if (!session_ || !context_.selected) return;
  const std::vector<Bookmark> marks = session_->bookmarks();
  const bool marked = std::any_of(marks.begin(), marks.end(), [&](const Bookmark& b) { return b.event == context_.selected; });
  const Status s = session_->set_bookmark(context_.selected, "", !marked);
  if (!s) say(s.error());
  else say((marked ? "Bookmark taken away from hop " : "Bookmarked hop ") + views::count_text(context_.selected.value) + ".");
}

void Application::write_note(const std::string& text) {
  if (!session_ || !context_.selected) return;
  const Status s = session_->set_note(context_.selected, text);
  say(!s ? s.error() : (text.empty() ? "No note at hop " : "Note kept at hop ") + views::count_text(context_.selected.value) + (text.empty() ? " any more." : "."));
}

void Application::show_tensor() {
  if (!session_) return;
  if (!context_.tensor) context_.tensor = views::tensor_for(*session_, context_.selected);
  if (!context_.tensor) return say("This hop takes and returns no tensor.");
  focus_panel("Tensor");
}

void Application::go_to_birth() {
  if (!session_ || !context_.selected) return;
  const TensorId t = context_.tensor ? context_.tensor : views::tensor_for(*session_, context_.selected);
  const auto row = t ? session_->tensor(t) : std::nullopt;
  if (!row) return say("This hop takes and returns no tensor.");
  const EventId to = row->birth ? row->birth : row->first;
  if (!to) return say(views::tensor_name(t) + " was made where no hop tells of it.");
  if (!row->birth) say(views::tensor_name(t) + " was made before the recording or outside of any hop: this hop met it first.");
  const bool told = !row->birth;
  const std::string notice = context_.notice;
  context_.select(to);
  if (told) say(notice);
  context_.tensor = t;  // its life stays in sight
}

void Application::copy_as(CallForm form) {
  if (!session_ || !context_.selected) return;
  const Result<std::string> text = call_text(*session_, context_.selected, form);
  if (text) copy(*text);
  else say(text.error().substr(0, 1) == "h" ? "H" + text.error().substr(1) + "." : text.error() + ".");
}

void Application::go_difference(bool forward) {
  if (!drawn("Compare")) use_workspace(*workspace("Compare"));
  panel("Compare")->run(context_, forward ? "compare.next" : "compare.previous");
}

void Application::set_span(bool second) {
  if (!session_ || !context_.selected) return;
  auto& span = second ? context_.compare.b : context_.compare.a;
  span = scope_around(*session_, context_.selected);
  context_.compare.changes++;
  say(std::string(second ? "B is " : "A is ") + span->name + " (" + scope_text(*session_, *span) + ").");
  if (context_.compare.a && context_.compare.b && !drawn("Compare")) use_workspace(*workspace("Compare"));
}

void Application::clear_spans() {
  context_.compare.a.reset(), context_.compare.b.reset();
  context_.compare.changes++;
}

bool Application::drawn(std::string_view title) const {
  return std::any_of(drawn_.begin(), drawn_.end(), [&](const views::Panel* p) { return title == p->title(); });
}

void Application::run_again() {
  if (!program_ || !context_.program.can_run_again) return;
  if (context_.edit.dirty) return dialogs_->open(Dialogs::Kind::kSave);
  // The file is replaced: let go of it first.
  close_session();
  program_->run_again();
  context_.program = program_->state();
}

void Application::copy(const std::string& text) {
  ImGui::SetClipboardText(text.c_str());
  size_t lines = size_t(std::count(text.begin(), text.end(), '\n'));
  say(lines > 1 ? "Copied " + views::plural(lines, "line") + "." : "Copied.");
}

void Application::show_guide(bool shown) {
  guide_open_ = shown;
  guide_generation_ = 0;
}

// ---- the frame

void Application::frame() {
  if (!applied_) {
    applied_ = true;
    if (const Workspace* w = workspace(settings_.workspace); w && offered(*w)) workspace_ = w;
    if (other_) workspace_ = workspace("Compare");
    if (!options_.screenshot.workspace.empty())
      if (const Workspace* w = workspace(options_.screenshot.workspace); w && offered(*w)) workspace_ = w;
    sync_closed();
    set_theme(settings_.dark, settings_.zoom);
    if (settings_.layout != kLayoutVersion) rebuild_ = true, settings_.layout = kLayoutVersion;
  }
  watch_program();
  debugging_->frame();
  select_default();
  run_keys();
  draw_menu();
  draw_status();
  if (guide_open_) draw_guide();
  draw_panels();
  dialogs_->draw();
  frames_++;
}

void Application::run_keys() {
  ImGuiIO& io = ImGui::GetIO();
  if (dialogs_->shown() != Dialogs::Kind::kNone || ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return;
  const bool typing = io.WantTextInput;
  for (const views::Command& c : commands_.all())
    for (views::Chord k : c.keys) {
      if (typing && !passes_text_field(k)) continue;
      if (*c.context && (typing || !focused_)) continue;
      if (!ImGui::IsKeyChordPressed(k, c.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None)) continue;
      commands_.run(c.id);
      return;
    }
  // "?" is somewhere else on many layouts; mouse buttons 4 and 5 go back and forward.
  if (!typing)
    for (ImWchar w : io.InputQueueCharacters)
      if (w == '?' && dialogs_->shown() == Dialogs::Kind::kNone) commands_.run("help.keys");
  if (ImGui::IsMouseClicked(3)) commands_.run("go.back");
  if (ImGui::IsMouseClicked(4)) commands_.run("go.forward");
}

void Application::draw_panels() {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  // The work area is known when menu, status bar and guide have been drawn once.
  const bool any_open = std::any_of(panels_.begin(), panels_.end(), [](const auto& p) { return p->open; });
  if (frames_ >= 1 && (rebuild_ || (any_open && !layout_exists(*workspace_)))) {
    build_layout(*workspace_, viewport->WorkSize.x, viewport->WorkSize.y);
    rebuild_ = false;
    // In one part the panel that is named first comes to the front: focus goes round once, to end at the first.
    std::vector<int> parts;
    for (const Place& i : workspace_->places) {
      if (std::find(parts.begin(), parts.end(), i.part) != parts.end()) continue;
      parts.push_back(i.part);
      to_front_.push_back(i.panel);
    }
    to_front_.push_back(workspace_->needs);
  }
  if (to_focus_.empty() && !to_front_.empty() && frames_ >= 4) {
    to_focus_ = to_front_.front();
    to_front_.pop_front();
  }
  for (const Workspace& w : workspaces())
    if (&w != workspace_ && layout_exists(w)) ImGui::DockSpaceOverViewport(dock_id(w), viewport, ImGuiDockNodeFlags_KeepAliveOnly);
  ImGui::DockSpaceOverViewport(dock_id(*workspace_), viewport, ImGuiDockNodeFlags_NoWindowMenuButton);
  const auto& p = views::theme::palette();
  views::Panel* focused = nullptr;
  const std::string focus = std::exchange(to_focus_, "");
  drawn_.clear();
  for (auto& panel : panels_) {
    if (!panel->open) continue;
    const std::string name = window_name(panel->title(), *workspace_);
    if (focus == panel->title()) ImGui::SetNextWindowFocus();
    // The text colour at Begin becomes that of the tab.
    const ImGuiWindow* window = ImGui::FindWindowByName(name.c_str());
    ImGui::PushStyleColor(ImGuiCol_Text, views::theme::vec(window && !window->DockTabIsVisible ? p.faint : p.text));
    ImGui::SetNextWindowSize({u(420), u(320)}, ImGuiCond_FirstUseEver);
    bool open = true;
    const bool visible = ImGui::Begin(name.c_str(), &open, ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoNav);
    ImGui::PopStyleColor();
    if (visible) {
      if (ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows)) focused = panel.get();
      panel->draw(context_);
      drawn_.push_back(panel.get());
    }
    ImGui::End();
    if (!open) show_panel(*panel, false);
  }
  if (focused) focused_ = focused;
}

}  // namespace peel::app
