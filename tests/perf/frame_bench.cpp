// What a frame of the window costs in processor time: peel_frame_bench FILE (one of peel_open_bench, or any session).
// The window's own code on Dear ImGui's null backend, so drawing on the graphics processor isn't in it. Each part of a frame that
// somebody waits for is measured apart: standing still, stepping, scrolling, another filter, each panel in front.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "app/window/application.h"
#include "imgui.h"
#include "imgui_impl_null.h"
#include "implot.h"
#include "views/theme.h"

namespace peel::app {
std::unique_ptr<ProgramHandle> make_program_handle(const Startable&) { return nullptr; }  // nothing is started here
}  // namespace peel::app

using namespace peel;

namespace {

double cpu_ms() {  // of this thread: columns and filters are computed on others
  timespec s;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &s);
  return static_cast<double>(s.tv_sec) * 1e3 + static_cast<double>(s.tv_nsec) / 1e6;
}
double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Bench {
  app::Application& app;

  double frame() {
    const double begin = cpu_ms();
    ImGui_ImplNull_NewFrame();
    ImGui::GetIO().DisplaySize = {1920, 1080};
    ImGui::NewFrame();
    app.frame();
    ImGui::Render();
    return cpu_ms() - begin;
  }
  /// Milliseconds of wall time until nothing is computed any more.
  double settle() {
    const double begin = now_ms();
    do {
      frame();
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    } while (!app.settled() && now_ms() - begin < 60'000);
    return now_ms() - begin;
  }
  void row(const char* what, int frames, const std::function<void(int)>& before) {
    std::vector<double> times;
    for (int i = 0; i < frames; ++i) {
      before(i);
      times.push_back(frame());
    }
    std::sort(times.begin(), times.end());
    double sum = 0;
    for (const double t : times) sum += t;
    std::printf("  %-34s mean %6.2f   median %6.2f   99%% %6.2f   worst %6.2f ms\n", what, sum / frames, times[times.size() / 2], times[times.size() * 99 / 100], times.back());
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: peel_frame_bench FILE.peel\n");
    return 2;
  }
  ImGui::CreateContext();
  ImPlot::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
  ImGui_ImplNull_Init();
  views::theme::load_fonts();
  {
    app::Application app{app::WindowOptions{}};
    app.set_display_scale(1);
    Bench b{app};
    b.frame();
    const double begin = now_ms();
    if (const Status s = app.open(argv[1]); !s) {
      std::fprintf(stderr, "%s\n", s.error().c_str());
      return 2;
    }
    b.frame();
    b.frame();
    std::printf("first frames with the session after %.0f ms\n", now_ms() - begin);
    std::string with;  // what the window says it is busy with, and since when
    double since = begin;
    do {
      b.frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (const std::string now = app.busy_with(); now != with) {
        if (!with.empty()) std::printf("  %-34s %.0f ms\n", with.c_str(), now_ms() - since);
        with = now;
        since = now_ms();
      }
    } while (!app.settled() && now_ms() - begin < 120'000);
    std::printf("settled after %.0f ms\n", now_ms() - begin);
    const uint32_t hops = app.session()->size();
    std::printf("%u hops; processor time of a frame (bound: 4 ms)\n", hops);
    const auto somewhere = [&](int i) { return EventId{1 + static_cast<uint32_t>(uint64_t(i) * 2654435761u % hops)}; };
    b.row("standing still", 300, [](int) {});
    b.row("step over", 300, [&](int) { app.commands().run("step.over"); });
    b.row("step into", 300, [&](int) { app.commands().run("step.into"); });
    b.row("another place each frame", 100, [&](int i) { app.go_to(somewhere(i)); });
    b.settle();
    for (const auto& p : app.panels()) {
      if (!p->open) continue;
      app.focus_panel(p->title());
      b.settle();
      b.row((std::string("in front: ") + p->title()).c_str(), 100, [&](int) { app.commands().run("step.over"); });
    }
    for (const app::Workspace& w : app::workspaces()) {
      if (!app.offered(w)) continue;
      app.use_workspace(w);
      b.settle();
      b.row((std::string("workspace ") + w.name + ", stepping").c_str(), 100, [&](int) { app.commands().run("step.over"); });
      b.row((std::string("workspace ") + w.name + ", elsewhere").c_str(), 50, [&](int i) { app.go_to(somewhere(i)); });
    }
    for (const char* filter : {"op:op1*", "key:Autograd* -op:op7", "line:10-20 kind:call", ""}) {
      app.context().filter = filter;
      b.frame();
      std::printf("  filter %-27s done after %.0f ms (bound: 50 ms)\n", *filter ? filter : "(none)", b.settle());
    }
  }
  ImGui_ImplNull_Shutdown();
  ImPlot::DestroyContext();
  ImGui::DestroyContext();
}
