// The Memory panel as a reader uses it: a session that ran out of memory, followed from picture to hop and back.
#include <filesystem>

#include "sessions/memory.h"
#include "tests/catch.h"
#include "tests/gui/gui.h"
#include "tests/unit/sessions/memory_story.h"

using namespace peel;
using namespace peel::test;

namespace {

/// A file of the test's own with a made-up training program.
struct Story {
  std::string path;
  std::unique_ptr<MemoryStory> made;
  std::shared_ptr<const MemoryHistory> history;
  Story() {
    char name[] = "/tmp/peel-gui-memory-XXXXXX";
    const int fd = ::mkstemp(name);
    if (fd >= 0) ::close(fd);
    path = name;
    made = std::make_unique<MemoryStory>(path, StoryOptions{});
    auto h = load_memory(path);
    REQUIRE(h);
    history = *h;
  }
  ~Story() { std::filesystem::remove(path); }
  std::unique_ptr<Session> open() const {
    auto s = Session::open(path, true);
    REQUIRE(s);
    return std::move(*s);
  }
};

bool exists(ImGuiTestContext* ctx, const char* what) { return ctx->ItemExists((std::string("//Memory###Memory@Memory/**/") + what).c_str()); }
std::string item(const char* what) { return std::string("//Memory###Memory@Memory/**/") + what; }

void enter(Gui& g, ImGuiTestContext* ctx) {
  g.app().commands().run("workspace.Memory");
  ctx->Yield(20);
  g.settle(ctx);
}

}  // namespace

TEST_CASE("Memory: opens at the failed allocation, tells why, leads to who holds it", "[gui][memory]") {
  const Story story;
  Gui g(story.open());
  g.run([&](ImGuiTestContext* ctx) {
    enter(g, ctx);
    IM_CHECK_EQ(g.context().selected.value, story.made->failed_hop());  // the hop that raised is the failed allocation
    IM_CHECK(exists(ctx, "memory over time"));
    views::Panel* panel = g.app().panel("Memory");
    const std::string why = panel->copy_text(g.context());
    IM_CHECK(why.find("could not be had") != why.npos);
    IM_CHECK(why.find("too small by") != why.npos);
    IM_CHECK(why.find("default stream") != why.npos);
    ctx->ItemClick(item("tab\\/Who holds it").c_str());
    g.settle(ctx);
    IM_CHECK(panel->copy_text(g.context()).find("train.py:10") != std::string::npos);
    IM_CHECK(panel->copy_text(g.context()).find("older than the recording") != std::string::npos);
    for (const char* by : {"module", "operator", "saved by", "tensor"}) {
      ctx->ItemClick(item((std::string("by\\/") + by).c_str()).c_str());
      g.settle(ctx);
      const std::string text = panel->copy_text(g.context());
      if (std::string(by) == "module") IM_CHECK(text.find("net.blocks.0.up Linear") != text.npos);
      if (std::string(by) == "saved by") IM_CHECK(text.find("AddmmBackward0") != text.npos);
    }
    ctx->ItemClick(item("holder\\/0").c_str());
    g.settle(ctx);
    IM_CHECK(g.context().selected.value != story.made->failed_hop());
    IM_CHECK(g.context().tensor);
  });
}

TEST_CASE("Memory: the selected hop moves the moment; a click on a band selects its hop", "[gui][memory]") {
  const Story story;
  Gui g(story.open());
  g.run([&](ImGuiTestContext* ctx) {
    enter(g, ctx);
    views::Panel* panel = g.app().panel("Memory");
    g.context().select(EventId(2));
    g.settle(ctx);
    const std::string early = panel->copy_text(g.context());
    g.context().select(EventId(400));
    g.settle(ctx);
    IM_CHECK(panel->copy_text(g.context()) != early);
    // Somewhere in the first hill, above the parameters.
    ImGuiTestItemInfo plot = ctx->ItemInfo(item("memory over time").c_str());
    const ImVec2 at(plot.RectFull.Min.x + plot.RectFull.GetWidth() * .15f, plot.RectFull.Max.y - plot.RectFull.GetHeight() * .15f);
    ctx->MouseMoveToPos(at);
    ctx->MouseClick();
    g.settle(ctx);
    const EventId band = g.context().selected;
    IM_CHECK(band.value != 400);
    IM_CHECK(std::any_of(story.history->lives.begin(), story.history->lives.end(), [&](const Life& l) { return !l.older && story.history->events[l.begin].event == band; }));
    // Dragging and zooming select nothing.
    ctx->MouseMoveToPos(at);
    ctx->MouseWheelY(3);
    ctx->MouseDragWithDelta(ImVec2(-80, 0));
    g.settle(ctx);
    IM_CHECK_EQ(g.context().selected.value, band.value);
    for (const ImGuiKey k : {ImGuiKey_W, ImGuiKey_W, ImGuiKey_A, ImGuiKey_D, ImGuiKey_S, ImGuiKey_F}) ctx->KeyPress(k);
    IM_CHECK_EQ(g.context().selected.value, band.value);
    ctx->ItemClick(item("fit memory").c_str());
    ctx->ItemClick(item("line of the program").c_str());
    g.settle(ctx);
    IM_CHECK(g.context().selected.value != band.value);
  });
}

TEST_CASE("Memory: two moments are compared, devices chosen, rows searched", "[gui][memory]") {
  const Story story;
  Gui g(story.open());
  g.run([&](ImGuiTestContext* ctx) {
    enter(g, ctx);
    views::Panel* panel = g.app().panel("Memory");
    g.context().select(EventId(2));
    g.settle(ctx);
    ctx->ItemClick(item("mark a").c_str());
    ctx->ItemClick(item("peak").c_str());
    g.settle(ctx);
    ctx->ItemClick(item("mark b").c_str());
    g.settle(ctx);
    const std::string between = panel->copy_text(g.context());
    IM_CHECK(between.find("train.py:12") != between.npos);  // the optimizer's moments stayed
    IM_CHECK(between.find("older") == between.npos);
    ctx->ItemClick(item("tab\\/Pools").c_str());
    g.settle(ctx);
    IM_CHECK(panel->copy_text(g.context()).find("stream 0x55d0c0de") != std::string::npos);
    ctx->ItemClick(item("tab\\/Who holds it").c_str());
    ctx->ItemClick(item("##memory search").c_str());
    ctx->KeyChars("zeros");
    g.settle(ctx);
    IM_CHECK(exists(ctx, "holder\\/0"));
    IM_CHECK(!exists(ctx, "holder\\/1"));
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->ItemClick(item("device\\/cpu").c_str());
    g.settle(ctx);
    IM_CHECK(!exists(ctx, "failed"));
    g.app().commands().run("memory.failed");  // not on this device: nothing happens
    g.app().commands().run("memory.fit");
    g.settle(ctx);
  });
}

TEST_CASE("Memory: Ctrl+3 opens its workspace", "[gui][memory]") {
  Gui g(training_session());
  g.run([&](ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_3);
    ctx->Yield(10);
    IM_CHECK_STR_EQ(g.app().current_workspace().name, "Memory");
  });
}

TEST_CASE("Memory: a session without allocations says what to do", "[gui][memory]") {
  Gui g(training_session());
  g.run([&](ImGuiTestContext* ctx) {
    enter(g, ctx);
    IM_CHECK(!exists(ctx, "memory over time"));
    IM_CHECK(g.app().panel("Memory")->copy_text(g.context()).empty());
    for (const char* id : {"memory.peak", "memory.failed", "memory.mark_a", "memory.mark_b", "memory.pools", "memory.fit"}) g.app().commands().run(id);
    ctx->Yield(4);
  });
}
