// The allocator's history at scale: peel_memory_bench [ALLOCATIONS] [FILE]. Makes a session of a training program with so many
// allocations (kept when FILE is given, and used again when it is there) and prints what reading it, going to any moment and a
// frame with the Memory panel in front cost. 0 allocations: a short program that runs out of memory, to look at.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "tests/perf/null_window.h"
#include "tests/unit/sessions/memory_story.h"
#include "views/memory_bands.h"
#include "views/memory_oom_model.h"

using namespace peel;
using namespace peel::bench;

namespace {

/// Hard for a replay: 1 M allocations of which 200,000 live at a time, freed in any order.
void scattered() {
  MemoryHistory h;
  h.streams = {0}, h.pools = {""};
  h.devices.emplace_back();
  h.devices[0].name = "cuda:0";
  uint64_t random = 1, next = uint64_t{1} << 40;
  std::vector<uint64_t> held;
  const auto add = [&](MemoryAction a, uint64_t address, int64_t size) {
    MemoryEvent e{};
    e.id = static_cast<uint32_t>(h.events.size() + 1), e.action = a, e.address = address, e.size = size, e.life = kNoIndex, e.time = e.id;
    h.events.push_back(e);
  };
  for (int i = 0; i < 205'000; ++i) add(MemoryAction::kSegmentAlloc, next + static_cast<uint64_t>(i) * (2 << 20), 2 << 20);
  std::vector<uint64_t> places;
  for (uint64_t i = 205'000; i-- > 0;) places.push_back(next + i * (2 << 20));
  for (int i = 0; i < 1'000'000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    if (held.size() >= 200'000) {
      const size_t at = (random >> 33) % held.size();
      std::swap(held[at], held.back());
      add(MemoryAction::kFreeRequested, held.back(), 0), add(MemoryAction::kFreeCompleted, held.back(), 0);
      places.push_back(held.back());
      held.pop_back();
    }
    add(MemoryAction::kAlloc, places.back(), static_cast<int64_t>(random >> 45) + 1);
    held.push_back(places.back());
    places.pop_back();
  }
  const double begin = cpu_ms();
  follow_history(h);
  std::printf("200,000 of %zu allocations live at a time, %zu events: followed in %.0f ms, %.1f MiB held; trouble: %s\n", h.lives.size(), h.events.size(), cpu_ms() - begin,
              static_cast<double>(h.bytes()) / 1048576, h.trouble_text().empty() ? "none" : h.trouble_text().c_str());
  row("state at any moment (bound: 20 ms)", 200, [&](int i) { replay(h, 0, static_cast<MemoryIndex>(uint64_t(i) * 2654435761u % h.events.size())); });
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  const std::string path = argc > 2 ? argv[2] : "/tmp/peel-memory-bench-" + std::to_string(::getpid()) + ".peel";
  struct stat st{};
  if (argc <= 2 || ::stat(path.c_str(), &st) != 0) {
    test::StoryOptions o;
    o.allocations = wanted;
    const double begin = now_ms();
    const test::MemoryStory story(path, o);
    std::printf("made %s: %llu allocations in %.1f s\n", path.c_str(), static_cast<unsigned long long>(story.allocations()), (now_ms() - begin) / 1e3);
    if (!wanted) return 0;
  }
  {
    const double begin = cpu_ms(), wall = now_ms();
    const auto loaded = load_memory(path);
    if (!loaded) {
      std::fprintf(stderr, "%s\n", loaded.error().c_str());
      return 2;
    }
    const MemoryHistory& h = **loaded;
    std::printf("%zu memory events, %zu allocations; read and followed in %.0f ms of processor time (%.0f ms), %.1f MiB held (%.0f bytes an event); trouble: %s\n", h.events.size(), h.lives.size(),
                cpu_ms() - begin, now_ms() - wall, static_cast<double>(h.bytes()) / 1048576, static_cast<double>(h.bytes()) / static_cast<double>(std::max<size_t>(1, h.events.size())),
                h.trouble_text().empty() ? "none" : h.trouble_text().c_str());
    const uint16_t device = views::main_device(h);
    const auto somewhere = [&](int i) { return static_cast<MemoryIndex>(uint64_t(i) * 2654435761u % (h.events.size() + 1)); };
    size_t sum = 0;
    std::printf("processor time, of one\n");
    row("state at any moment (bound: 20 ms)", 300, [&](int i) { sum += replay(h, device, somewhere(i)).blocks.size(); });
    auto session = Session::open(path, true);
    if (!session) return 2;
    const views::MemoryNames names(**session, h);
    const std::atomic<bool> never{false};
    row("who holds it at any moment, by line", 100, [&](int i) { sum += views::group(names, views::held(replay(h, device, somewhere(i))), views::HoldBy::kLine, never).rows.size(); });
    row("by module", 100, [&](int i) { sum += views::group(names, views::held(replay(h, device, somewhere(i))), views::HoldBy::kModule, never).rows.size(); });
    const auto n = static_cast<double>(h.devices[device].events.size());
    row("picture of everything, 1800 x 400", 20, [&](int) { sum += views::make_bands(names, device, 0, n, 1800, 400, never).pieces.size(); });
    row("picture of a part, 1800 x 400", 60, [&](int i) {
      const double from = static_cast<double>(somewhere(i)) / static_cast<double>(h.events.size() + 1) * n * .9;
      sum += views::make_bands(names, device, from, from + n / std::pow(10, 1 + i % 4), 1800, 400, never).pieces.size();
    });
    if (!h.ooms.empty()) row("why an allocation failed", 10, [&](int) { sum += views::explain_oom(names, h.ooms[0], never).blocks.size(); });
    if (sum == 0) return 1;
  }
  scattered();
  {
    NullWindow window;
    app::Application& app = window.app();
    ImGuiIO& io = ImGui::GetIO();
    if (const Status s = app.open(path); !s) return 2;
    app.commands().run("workspace.Memory");
    const double begin = now_ms();
    window.settle();
    std::printf("Memory panel complete %.0f ms after it was opened\nprocessor time of a frame, Memory workspace (bound: 4 ms)\n", now_ms() - begin);
    const uint32_t hops = app.session()->size();
    row("standing still", 200, [&](int) { return window.frame(); });
    row("another hop each frame", 200, [&](int i) {
      app.go_to(EventId(1 + static_cast<uint32_t>(uint64_t(i) * 2654435761u % hops)));
      window.frame();
    });
    window.settle();
    row("zooming with the wheel", 200, [&](int i) {
      io.AddMousePosEvent(900, 200);
      io.AddMouseWheelEvent(0, i % 60 < 30 ? 1.f : -1.f);
      window.frame();
    });
    window.settle();
    app.commands().run("memory.peak");
    window.settle();
    row("the pointer over the bands", 200, [&](int i) {
      io.AddMousePosEvent(300.f + static_cast<float>(i) * 5, 250);
      window.frame();
    });
  }
  if (argc <= 2) ::unlink(path.c_str());
  return 0;
}
