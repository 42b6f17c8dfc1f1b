// The window on a null backend, driven by Dear ImGui's test engine. One Gui = one window with a session made by
// hand; run() plays a script in it and fails the Catch2 test with the engine's log when the script fails.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "app/window/application.h"
#include "imgui.h"
#include "imgui_te_context.h"
#include "imgui_te_engine.h"
#include "tests/unit/views/fake_session.h"

namespace peel::test {

/// A program that is no process: counts what the window asked of it.
class FakeProgram : public app::ProgramHandle {
 public:
  views::ProgramState state() override { return state_; }
  int recordings() const override { return recordings_; }
  void interrupt() override { interrupts_++; }
  void kill() override { kills_++; }
  void run_again() override { runs_++; }
  int last_status() const override { return -1; }

  views::ProgramState state_;
  int recordings_ = 0, interrupts_ = 0, runs_ = 0, kills_ = 0;
};

class Gui {
 public:
  explicit Gui(std::unique_ptr<Session> session, std::unique_ptr<FakeProgram> program = nullptr, float scale = 1);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  void run(const std::function<void(ImGuiTestContext*)>& script);
  void frames(int n);
  /// In a script: frames go by until no panel that is seen is computing any more (5 s at most).
  void settle(ImGuiTestContext*);

  app::Application& app() { return *app_; }
  views::Context& context() { return app_->context(); }
  FakeProgram* program() { return program_; }
  std::string notice() { return context().notice; }

 private:
  void frame();
  ImGuiContext* imgui_;
  ImGuiTestEngine* engine_;
  std::unique_ptr<app::Application> app_;
  FakeProgram* program_ = nullptr;
  std::function<void(ImGuiTestContext*)> script_;
};

/// The session of most tests: set-up, then steps of linear, relu_, a loss, as a program of a user's would record.
std::unique_ptr<FakeSession> training_session(int steps = 2);

}  // namespace peel::test
