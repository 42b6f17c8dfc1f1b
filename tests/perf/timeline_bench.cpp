// What the Timeline costs: peel_timeline_bench [HOPS] [FILE]. Makes a session of that many hops (default 10 M) with a
// kernel and an allocation for every tenth (kept when FILE is given, and used again when it is there), builds the lanes and draws the
// panel zoomed out, at middle and zoomed in, still and moving; prints processor time a frame.
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "imgui.h"
#include "sessions/session.h"
#include "tests/perf/bench.h"
#include "views/panel.h"
#include "views/theme.h"
#include "views/timeline.h"
#include "views/timeline_range.h"

using namespace peel;
using namespace peel::bench;

namespace {

// Steps of calls five deep, now and then a long pause, a second thread that runs at the same time; every tenth hop
// launches a kernel on one of two streams.
void make(const std::string& path, int64_t hops) {
  sqlite3* db = new_session(path);
  run(db, "INSERT INTO meta VALUES('state','complete'); INSERT INTO process VALUES(1,77,NULL,'python',0,NULL);"
          "INSERT INTO dispatch_key VALUES(19,'ADInplaceOrView',34,NULL,94),(50,'CUDA',16,1,2),(135,'AutogradCUDA',36,1,97);"
          "INSERT INTO keyset VALUES(1,85899411458,'x'),(3,65538,'y'); INSERT INTO tls VALUES(1,0,0,1,0,NULL);"
          "INSERT INTO thread VALUES(1,77,1,'main'),(2,78,1,'autograd'); INSERT INTO string VALUES(1,'/home/me/train.py'),(2,'f'),(3,'cudaLaunchKernel'),(4,'cuda:0');"
          "INSERT INTO memory_action VALUES(0,'alloc'),(1,'free_requested'),(2,'free_completed'),(3,'segment_alloc');"
          "INSERT INTO stack VALUES(1,NULL,1,10,2)");
  for (int i = 1; i <= 200; i++) run(db, "INSERT INTO op VALUES(" + std::to_string(i) + ",'aten::op" + std::to_string(i) + "','',NULL)");
  for (int i = 0; i < 50; i++) run(db, "INSERT INTO string VALUES(" + std::to_string(10 + i) + ",'kernel_" + std::to_string(i) + "')");
  {
    Insert root(db, "INSERT INTO event VALUES(?,NULL,?,?,?,?,1,1,1,NULL,1,?,?,0)"), inner(db, "INSERT INTO event VALUES(?,?,?,?,?,?,3,NULL,1,NULL,1,?,?,0)"),
        call(db, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,0,?,?,3,0,NULL,?)"),
        kernel(db, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,0,1,NULL,?,?,?,?,?,NULL,1,0,40,?,1,1,256,1,1,0,0,0,0,0,NULL,NULL,NULL,NULL)"),
        memory(db, "INSERT INTO memory_event VALUES(NULL,?,1,NULL,?,?,4,?,?,0,NULL,NULL,NULL)"),
        span(db, "INSERT INTO span VALUES(NULL,'module','layer','Block',1,?,?,NULL,?,?,NULL,?)");
    int64_t t = 1000, correlation = 0, gpu[2] = {0, 0};
    uint64_t seed = 1;
    // 64 segments of 20 MiB, of which ten blocks of 2 MiB each go round; the 600 youngest live
    constexpr int64_t kBase = int64_t{1} << 40, kBlock = 2 << 20, kSlots = 640, kLive = 600;
    for (int64_t i = 0; i < kSlots / 10; i++) memory(1, 1, 3, kBase + i * 10 * kBlock, 10 * kBlock);
    const auto place = [&](int64_t n) { return kBase + n % kSlots * kBlock; };
    const auto random = [&](uint64_t n) { return static_cast<int64_t>((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33) % static_cast<int64_t>(n); };
    for (int64_t id = 1; id <= hops;) {
      const int64_t thread = random(5) ? 1 : 2, depth = std::min<int64_t>(1 + random(6), hops - id + 1), length = 2000 + random(20) * random(2000), first = id, op = 1 + random(200);
      for (int64_t d = 0; d < depth; d++, id++) {
        const int64_t at = t + d * 150, end = t + length - d * 100, key = d == 0 ? 135 : d == 1 ? 19 : 50;
        if (d == 0) root(id, thread, op, 0, key, at, std::max(at, end));
        else inner(id, id - 1, thread, op, d < 3 ? 1 : 0, key, at, std::max(at, end));
      }
      while ((correlation + 1) * 10 <= id) {
        const int64_t at = t + length / 2, stream = random(4) == 0, start = std::max(at + 6000, gpu[stream] + 900);
        call(at, at + 700, int64_t{77} << 24 | (thread == 1 ? 77 : 78), ++correlation, id - 1);
        if (correlation > kLive) memory(id - 1, at, 1, place(correlation - kLive), kBlock), memory(id - 1, at, 2, place(correlation - kLive), kBlock);
        memory(id - 1, at, 0, place(correlation), kBlock);
        gpu[stream] = start + 500 + random(30) * random(1500);
        kernel(start, gpu[stream], stream ? 20 : 7, correlation, int64_t{77} << 24, 10 + correlation % 50, 10 + correlation % 50, correlation % 90);
      }
      if (first % 100 < 6) span(first, id - 1, t, t + length, first % 40);
      t += length + (random(2000) == 0 ? 5'000'000 : random(1500));
    }
  }
  run(db, "COMMIT");
  sqlite3_close(db);
}

/// A window as large as usual with the panel in it, without a window system.
class Screen {
 public:
  Screen() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1280, 720};
    io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
    views::theme::load_fonts();
    views::theme::apply(true, 1);
  }
  /// Processor time of the frame, and vertices in it.
  double frame(views::Panel& p, views::Context& c, int* vertices) {
    ImGuiIO& io = ImGui::GetIO();
    io.DeltaTime = 1.f / 60;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize(io.DisplaySize);
    ImGui::Begin("Timeline", nullptr, ImGuiWindowFlags_NoDecoration);
    const double begin = cpu_ms();
    p.draw(c);
    double spent = cpu_ms() - begin;
    ImGui::End();
    ImGui::Render();
    for (ImTextureData* t : ImGui::GetPlatformIO().Textures) {
      if (t->Status == ImTextureStatus_WantCreate) t->SetTexID(1);
      t->SetStatus(t->Status == ImTextureStatus_WantDestroy ? ImTextureStatus_Destroyed : ImTextureStatus_OK);
    }
    *vertices = ImGui::GetDrawData()->TotalVtxCount;
    return spent;
  }
};

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int64_t hops = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  const std::string path = argc > 2 ? argv[2] : "/tmp/peel-timeline-bench-" + std::to_string(::getpid()) + ".peel";
  struct stat st{};
  if (argc <= 2 || ::stat(path.c_str(), &st) != 0) make(path, hops);
  const auto begin = std::chrono::steady_clock::now();
  auto opened = Session::open(path, true);
  if (!opened) return std::fprintf(stderr, "%s\n", opened.error().c_str()), 2;
  const Session& s = **opened;
  const double open_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const auto gpu = s.gpu();
  std::printf("%u hops, %llu kernels, %zu CUDA calls; opened in %.0f ms%s%s\n", s.size(), static_cast<unsigned long long>(gpu ? gpu->works() : 0), gpu ? gpu->calls().size() : 0, open_ms,
              s.trouble().empty() ? "" : ", trouble: ", s.trouble().c_str());
  if (gpu) std::printf("GPU activity in memory: %.0f MiB\n", static_cast<double>(gpu->bytes()) / 1048576);

  const std::atomic<bool> never{false};
  double cpu = cpu_ms();
  const auto tracks = views::TimelineTracks::build(s, never);
  cpu = cpu_ms() - cpu;
  std::printf("lanes built in %.0f ms of processor time, %.1f bytes a hop\n", cpu, static_cast<double>(tracks->bytes()) / s.size());
  cpu = cpu_ms();
  const views::RangeStats all = views::range_stats(s, *tracks, tracks->begin(), tracks->end(), never);
  std::printf("measuring everything: %.0f ms (%llu hops)\n", cpu_ms() - cpu, static_cast<unsigned long long>(all.hops));

  Screen screen;
  views::Context c;
  views::CommandTable commands;
  c.session = &s, c.commands = &commands;
  c.select(EventId{s.size() / 2});
  const auto panel = views::make_timeline_panel();
  panel->session_changed(c);
  int vertices = 0;
  for (int i = 0; i < 20000 && (i < 3 || panel->busy()); i++) screen.frame(*panel, c, &vertices), std::this_thread::sleep_for(std::chrono::milliseconds(2));
  panel->run(c, "timeline.fit");
  std::printf("%-22s %12s %9s %9s %9s %9s\n", "zoom (seen)", "", "still ms", "moving", "worst", "vertices");
  for (int zoom = 0, level = 0; zoom <= 48; zoom++) {
    if (zoom % 6 == 0) {
      views::TimelineProbe probe;
      views::timeline_probe(*panel, EventId{}, probe);
      double still = 0, moving = 0, worst = 0;
      for (int i = 0; i < 30; i++) still += screen.frame(*panel, c, &vertices);
      for (int i = 0; i < 60; i++) {
        panel->run(c, i % 20 < 10 ? "timeline.left" : "timeline.right");
        const double f = screen.frame(*panel, c, &vertices);
        moving += f, worst = std::max(worst, f);
      }
      static const char* const names[] = {"zoomed out", "", "", "", "middle", "", "", "", "zoomed in"};
      std::printf("%-12s %9.3f ms %12s %9.3f %9.3f %9.3f %9d\n", names[level++], static_cast<double>(probe.to - probe.from) / 1e6, "", still / 30, moving / 60, worst, vertices);
    }
    panel->run(c, "timeline.closer");
    screen.frame(*panel, c, &vertices);
  }
  if (argc <= 2) ::unlink(path.c_str());
}
