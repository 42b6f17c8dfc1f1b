// The Timeline as a reader uses it: a click selects everywhere, a selection elsewhere is shown here, zoom, measure,
// search, lanes.
#include "sessions/gpu_builder.h"
#include "tests/catch.h"
#include "tests/gui/gui.h"
#include "views/timeline.h"

using namespace peel;
using namespace peel::test;

namespace {

EventId first_of(const Session& s, const char* op) {
  for (uint32_t i = 1; i <= s.size(); i++) if (s.op(s.event(EventId(i)).op).brief == op) return EventId(i);
  return {};
}

/// The training session with a kernel for each addmm, and hops as long as what is inside of them.
std::unique_ptr<FakeSession> timed_session() {
  auto s = training_session();
  for (uint32_t i = s->size(); i >= 1; i--) {
    Event& e = s->at(EventId(i));
    for (uint32_t c = i + 1; c <= e.last.value; c++) e.end = std::max(e.end, s->at(EventId(c)).end + 10);
  }
  GpuBuilder b;
  const uint32_t shape = b.shape({.name = b.text("sgemm_128x64"), .grid = {24, 1, 1}, .block = {256, 1, 1}, .registers = 40});
  uint32_t correlation = 0;
  for (uint32_t i = 1; i <= s->size(); i++) {
    if (s->op(s->at(EventId(i)).op).brief != "addmm" || s->at(EventId(i)).kind != Kind::kRedispatch) continue;
    const Nanoseconds at = s->at(EventId(i)).begin + 100;
    HostCall launch;
    launch.begin = at, launch.end = at + 200, launch.correlation = ++correlation, launch.event = EventId(i), launch.name = b.text("cudaLaunchKernel");
    b.add_call(1, 100, launch);
    b.add_work(1, 0, 0, 7, {.begin = at + 500, .end = at + 1500, .shape = shape, .correlation = correlation});
  }
  GpuOwners owners;
  owners.processes = {{1, 1}};
  owners.threads = {{{1, 100}, ThreadId(1)}};
  s->gpu_ = b.build(owners, true);
  return s;
}

struct Shown {
  Gui& g;
  views::Panel& panel() { return *g.app().panel("Timeline"); }
  views::TimelineProbe probe(EventId e = {}) {
    views::TimelineProbe p;
    views::timeline_probe(panel(), e, p);
    return p;
  }
  bool has(EventId e) {
    views::TimelineProbe p;
    return views::timeline_probe(panel(), e, p);
  }
  void open(ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_4);
    ctx->Yield(12);
    g.settle(ctx);
    ctx->Yield(4);
  }
  void click(ImGuiTestContext* ctx, EventId e) {
    const views::TimelineProbe p = probe(e);
    ctx->MouseMoveToPos({p.x, p.y});
    ctx->MouseClick();
    ctx->Yield(3);
  }
};

}  // namespace

TEST_CASE("Timeline: opens on Ctrl+4; a click selects in every panel, and the reverse", "[gui][timeline]") {
  Gui g(timed_session());
  Shown t{g};
  const Session& s = *g.context().session;
  const EventId relu = first_of(s, "relu_"), addmm = first_of(s, "addmm");
  g.run([&](ImGuiTestContext* ctx) {
    t.open(ctx);
    IM_CHECK_STR_EQ(g.app().current_workspace().name, "Timeline");
    ctx->KeyPress(ImGuiKey_F);
    ctx->Yield(3);
    IM_CHECK(t.has(relu));
    t.click(ctx, relu);
    IM_CHECK_EQ(g.context().selected.value, relu.value);
    ctx->Yield(3);
    // Trace has brought it into sight.
    IM_CHECK(ctx->ItemExists("//Trace###Trace@Timeline/**/relu_"));
    // A selection made elsewhere comes into sight here.
    g.context().select(EventId(1));
    ctx->Yield(3);
    for (int i = 0; i < 12; i++) ctx->KeyPress(ImGuiKey_W);
    ctx->Yield(2);
    const EventId last(s.size());
    g.context().select(last);
    ctx->Yield(3);
    const auto p = t.probe();
    IM_CHECK(p.from <= s.stretch(last).begin);
    IM_CHECK(p.to >= s.stretch(last).begin);
    g.context().select(addmm);
    ctx->Yield(3);
    IM_CHECK(t.probe().from <= s.stretch(addmm).begin);
  });
}

TEST_CASE("Timeline: keys and wheel move and zoom; nothing moves by itself", "[gui][timeline]") {
  Gui g(timed_session());
  Shown t{g};
  const Session& s = *g.context().session;
  const EventId relu = first_of(s, "relu_");
  g.run([&](ImGuiTestContext* ctx) {
    t.open(ctx);
    ctx->KeyPress(ImGuiKey_F);
    ctx->Yield(2);
    const auto whole = t.probe(relu);
    ctx->MouseMoveToPos({whole.x, whole.y});
    ctx->MouseWheelY(3);
    ctx->Yield(3);
    const auto closer = t.probe(relu);
    IM_CHECK(closer.to - closer.from < (whole.to - whole.from) * 2 / 3);
    IM_CHECK(std::abs(closer.x - whole.x) < 30);  // what is under the mouse stays there
    ctx->KeyPress(ImGuiKey_D);
    ctx->Yield(2);
    IM_CHECK(t.probe().from > closer.from);
    ctx->KeyPress(ImGuiKey_A);
    ctx->Yield(2);
    IM_CHECK(std::abs(t.probe().from - closer.from) <= 1);
    ctx->KeyPress(ImGuiKey_S);
    ctx->Yield(2);
    IM_CHECK(t.probe().to - t.probe().from > closer.to - closer.from);
    ctx->Yield(20);
    const auto still = t.probe();
    ctx->Yield(20);
    IM_CHECK_EQ(t.probe().from, still.from);
    g.context().select(relu);
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Z);
    ctx->Yield(2);
    const auto one = t.probe();
    IM_CHECK(one.to - one.from < 3 * (s.stretch(relu).end - s.stretch(relu).begin));
    ctx->KeyPress(ImGuiKey_RightArrow);  // the next call
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, s.next_sibling(relu).value);
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, s.next_sibling(relu).value + 1);
  });
}

TEST_CASE("Timeline: dragging measures, and X takes it away", "[gui][timeline]") {
  Gui g(timed_session());
  Shown t{g};
  const Session& s = *g.context().session;
  const EventId relu = first_of(s, "relu_");
  g.run([&](ImGuiTestContext* ctx) {
    t.open(ctx);
    ctx->KeyPress(ImGuiKey_F);
    ctx->Yield(2);
    const EventId before = g.context().selected;
    const auto p = t.probe(relu);
    ctx->MouseMoveToPos({p.x - 100, p.y});
    ctx->MouseDown(0);
    ctx->MouseMoveToPos({p.x + 250, p.y});
    ctx->MouseUp(0);
    g.settle(ctx);
    ctx->Yield(3);
    IM_CHECK(t.probe().measured);
    IM_CHECK(t.probe().range_hops > 3);
    IM_CHECK(t.probe().range_hops < s.size());
    IM_CHECK_EQ(g.context().selected.value, before.value);  // measuring selects nothing
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
    IM_CHECK(std::string(ImGui::GetClipboardText()).find("aten::") != std::string::npos);
    ctx->KeyPress(ImGuiKey_X);
    ctx->Yield(2);
    IM_CHECK(!t.probe().measured);
  });
}

TEST_CASE("Timeline: search goes through hops and kernels", "[gui][timeline]") {
  Gui g(timed_session());
  Shown t{g};
  const Session& s = *g.context().session;
  g.run([&](ImGuiTestContext* ctx) {
    t.open(ctx);
    g.context().select(EventId(1));
    ctx->Yield(2);
    const EventId addmm = first_of(s, "addmm");
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
    ctx->Yield(3);
    ctx->KeyChars("op:aten::relu_ kind:call");
    ctx->Yield(2);
    g.settle(ctx);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_EQ(g.context().selected.value, first_of(s, "relu_").value);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK(g.context().selected.value > first_of(s, "relu_").value);  // around the end
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    ctx->KeyChars("sgemm");
    ctx->Yield(2);
    g.settle(ctx);
    g.context().select(EventId(1));
    ctx->Yield(2);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_EQ(g.context().selected.value, addmm.value + 1);  // the layer that launched it
    ctx->KeyPress(ImGuiKey_Escape);
  });
}

TEST_CASE("Timeline: lanes fold and can be pinned", "[gui][timeline]") {
  Gui g(timed_session());
  Shown t{g};
  const EventId addmm = first_of(*g.context().session, "addmm"), linear = first_of(*g.context().session, "linear");
  g.run([&](ImGuiTestContext* ctx) {
    t.open(ctx);
    ctx->KeyPress(ImGuiKey_F);
    ctx->Yield(3);
    IM_CHECK(t.has(addmm));
    const float y = t.probe(linear).y;
    ctx->ItemClick("//Timeline###Timeline@Timeline/**/lane\\/main thread");
    ctx->Yield(3);
    IM_CHECK(!t.has(addmm));
    IM_CHECK(t.has(linear));
    ctx->ItemClick("//Timeline###Timeline@Timeline/**/lane\\/main thread");
    ctx->Yield(3);
    ctx->ItemClick("//Timeline###Timeline@Timeline/**/pin\\/stream 7");
    ctx->Yield(3);
    IM_CHECK(t.probe(linear).y > y);  // the stream lies above it now
  });
}
