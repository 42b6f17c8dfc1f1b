// Everything of the window but the window system: context, panels, commands, dialogs. One frame() a frame, between
// ImGui::NewFrame and Render; run_window() and the GUI tests both drive it.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "app/window/debugging.h"
#include "app/window/layout.h"
#include "app/window/program_handle.h"
#include "app/window/settings.h"
#include "app/window/window.h"
#include "sessions/call_text.h"
#include "views/guide.h"
#include "views/panel.h"
#include "views/stepping.h"

namespace peel::app {

class Dialogs;

class Application {
 public:
  /// `program` null: made from the options when they name one.
  explicit Application(WindowOptions, std::unique_ptr<ProgramHandle> program = nullptr);
  ~Application();

  /// Shows another session. Error: the sentence; what was shown stays.
  Status open(const std::string& path);
  /// Opens a second session and compares the first with it.
  Status open_other(const std::string& path);
  void show_other(std::unique_ptr<Session>);  // for tests
  void show(std::unique_ptr<Session>);  // for tests: a session made by hand
  void close_session();
  void frame();

  /// Frames should go on coming (a recording grows, something is being computed).
  bool busy() const { return !busy_with().empty(); }
  bool stands() const { return context_.live.stop.has_value(); }  // the program, at a breakpoint or after a step
  std::string busy_with() const;  // what it is, for people; "" = nothing
  bool wants_close() const { return close_; }
  std::string title() const;
  /// The display's own scale; the reader's zoom comes on top.
  void set_display_scale(float s);
  /// Nothing is loading, no panel is busy: a picture taken now will not change by itself.
  bool settled() const;

  // ---- for commands and dialogs
  views::Context& context() { return context_; }
  views::CommandTable& commands() { return commands_; }
  Settings& settings() { return settings_; }
  Session* session() { return session_.get(); }
  const WindowOptions& options() const { return options_; }
  Dialogs& dialogs() { return *dialogs_; }
  std::vector<std::unique_ptr<views::Panel>>& panels() { return panels_; }
  views::Panel* panel(std::string_view title);
  bool offered(const Workspace&) const;
  const Workspace& current_workspace() const { return *workspace_; }
  void use_workspace(const Workspace&);
  void reset_layout();
  void show_panel(views::Panel&, bool shown);
  void toggle_panel(views::Panel& p) { show_panel(p, !p.open); }
  /// Keeps a text alive as long as the application: ids and titles of commands that are made at run time.
  const char* remember_text(std::string);
  void focus_panel(std::string_view title);  // opens it when it is closed
  views::Panel* focused_panel() { return focused_; }
  void step(views::Step);
  void show_stop(EventId);       // the program stands there
  Debugging& debugging() { return *debugging_; }
  void go_to(EventId);
  void toggle_bookmark();
  void write_note(const std::string& text);  // at the selected hop; "" takes it away
  void show_tensor();                        // the selection's, in front
  void go_to_birth();
  void copy_as(CallForm);                    // the selected call
  void go_difference(bool forward);
  void set_span(bool second);  // "Set A", "Set B": the stretch around the selection
  void clear_spans();
  ProgramHandle* program() { return program_.get(); }
  void run_again();
  void set_theme(bool dark, float zoom);
  void copy(const std::string& text);
  void close() { close_ = true; }
  void show_guide(bool);
  bool guide_shown() const { return guide_open_; }
  void say(std::string text) { context_.notice = std::move(text); }

 private:
  void watch_program();
  void select_default();
  void draw_menu();
  void draw_status();
  void draw_guide();
  void draw_panels();
  void run_keys();
  void sync_closed();
  bool drawn(std::string_view title) const;  // in the last frame

  WindowOptions options_;
  std::unique_ptr<ProgramHandle> program_;
  std::unique_ptr<Debugging> debugging_;
  int recordings_seen_ = 0;
  Settings settings_;
  views::Context context_;
  views::CommandTable commands_;
  std::unique_ptr<Session> session_, other_;
  std::vector<std::unique_ptr<views::Panel>> panels_;
  std::unique_ptr<Dialogs> dialogs_;
  views::Stepper stepper_;
  const Workspace* workspace_;
  views::Panel* focused_ = nullptr;
  std::vector<views::Panel*> drawn_;  // in the last frame
  std::deque<std::string> texts_;
  std::deque<std::string> to_front_;
  std::string to_focus_;
  std::vector<views::GuideStop> stops_;
  size_t stop_ = 0;
  uint64_t seen_generation_ = 0, guide_generation_ = 0;
  float display_scale_ = 1;
  bool close_ = false, rebuild_ = false, default_pending_ = false, guide_open_ = false, applied_ = false;
  int frames_ = 0;
};

/// Fills the table: the one place where actions are declared.
void register_commands(Application&);

}  // namespace peel::app
