// What a frame of the window costs in processor time: peel_frame_bench FILE (one of peel_open_bench, or any session).
// The window's own code on Dear ImGui's null backend, so drawing on the graphics processor isn't in it. Each part of a frame that
// somebody waits for is measured apart: standing still, stepping, scrolling, another filter, each panel in front.
#include <cstdio>
#include <functional>
#include <string>

#include "tests/perf/null_window.h"

using namespace peel;
using namespace peel::bench;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: peel_frame_bench FILE.peel\n");
    return 2;
  }
  {
    NullWindow window;
    app::Application& app = window.app();
    // a frame after `before`, which is not counted
    const auto frames = [&](const std::string& what, int times, const std::function<void(int)>& before) {
      row(what.c_str(), times, [&](int i) { return before(i), window.frame(); });
    };
    const double begin = now_ms();
    if (const Status s = app.open(argv[1]); !s) {
      std::fprintf(stderr, "%s\n", s.error().c_str());
      return 2;
    }
    window.frame();
    window.frame();
    std::printf("first frames with the session after %.0f ms\n", now_ms() - begin);
    std::string with;  // what the window says it is busy with, and since when
    double since = begin;
    do {
      window.frame();
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
    frames("standing still", 300, [](int) {});
    frames("step over", 300, [&](int) { app.commands().run("step.over"); });
    frames("step into", 300, [&](int) { app.commands().run("step.into"); });
    frames("another place each frame", 100, [&](int i) { app.go_to(somewhere(i)); });
    window.settle();
    for (const auto& p : app.panels()) {
      if (!p->open) continue;
      app.focus_panel(p->title());
      window.settle();
      frames(std::string("in front: ") + p->title(), 100, [&](int) { app.commands().run("step.over"); });
    }
    for (const app::Workspace& w : app::workspaces()) {
      if (!app.offered(w)) continue;
      app.use_workspace(w);
      window.settle();
      frames(std::string("workspace ") + w.name + ", stepping", 100, [&](int) { app.commands().run("step.over"); });
      frames(std::string("workspace ") + w.name + ", elsewhere", 50, [&](int i) { app.go_to(somewhere(i)); });
    }
    for (const char* filter : {"op:op1*", "key:Autograd* -op:op7", "line:10-20 kind:call", ""}) {
      app.context().filter = filter;
      window.frame();
      std::printf("  filter %-27s all panels settled after %.0f ms\n", *filter ? filter : "(none)", window.settle());
    }
  }
}
