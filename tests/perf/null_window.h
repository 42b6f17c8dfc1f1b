// The window's own code on Dear ImGui's null backend, so that what the graphics processor draws is not in it.
#pragma once
#include <chrono>
#include <memory>
#include <thread>

#include "app/window/application.h"
#include "imgui.h"
#include "imgui_impl_null.h"
#include "tests/perf/bench.h"
#include "views/theme.h"

namespace peel::app {
std::unique_ptr<ProgramHandle> make_program_handle(const Startable&) { return nullptr; }  // nothing is started here
}  // namespace peel::app

namespace peel::bench {

class NullWindow {
 public:
  NullWindow() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
    ImGui_ImplNull_Init();
    views::theme::load_fonts();
    app_ = std::make_unique<app::Application>(app::WindowOptions{});
    app_->set_display_scale(1);
    frame();
  }
  ~NullWindow() {
    app_.reset();
    ImGui_ImplNull_Shutdown();
    ImGui::DestroyContext();
  }
  NullWindow(const NullWindow&) = delete;

  app::Application& app() { return *app_; }
  /// Milliseconds of processor time of this thread: columns and filters are computed on others.
  double frame() {
    const double begin = cpu_ms();
    ImGui_ImplNull_NewFrame();
    ImGui::GetIO().DisplaySize = {1920, 1080};
    ImGui::NewFrame();
    app_->frame();
    ImGui::Render();
    return cpu_ms() - begin;
  }
  /// Frames go by until nothing is computed any more; milliseconds of wall time.
  double settle() {
    const double begin = now_ms();
    do {
      frame();
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    } while (!app_->settled() && now_ms() - begin < 120'000);
    return now_ms() - begin;
  }

 private:
  std::unique_ptr<app::Application> app_;
};

}  // namespace peel::bench
