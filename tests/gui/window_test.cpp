// The window as a reader uses it: open, select, step in all six ways, palette, filter, run again, follow a growing file.
#include "app/window/dialogs.h"
#include "tests/catch.h"
#include "tests/gui/gui.h"
#include "views/theme.h"

using namespace peel;
using namespace peel::test;

namespace {

EventId first_of(const Session& s, const char* op) {
  for (uint32_t i = 1; i <= s.size(); i++)
    if (s.op(s.event(EventId(i)).op).brief == op) return EventId(i);
  return {};
}

// Presses a key with the Trace panel focused.
void press(ImGuiTestContext* ctx, ImGuiKeyChord chord) {
  ctx->KeyPress(chord);
  ctx->Yield(2);
}

}  // namespace

TEST_CASE("an opened session is shown with a useful selection", "[gui]") {
  Gui g(training_session());
  CHECK(g.context().selected);
  CHECK(g.context().selected != EventId(1));
  g.run([&](ImGuiTestContext* ctx) {
    for (const auto& p : g.app().panels()) {
      if (!p->open) continue;
      IM_CHECK(ctx->WindowInfo((std::string("//") + p->title()).c_str()).Window != nullptr);
    }
  });
}

TEST_CASE("a click in Trace selects, arrows move, left and right fold", "[gui]") {
  Gui g(training_session());
  const Session& s = *g.context().session;
  const EventId linear = first_of(s, "linear"), addmm = first_of(s, "addmm");
  g.context().select(first_of(s, "relu_"));
  g.frames(3);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Trace/**/linear");
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    IM_CHECK(!ctx->ItemExists("//Trace/**/addmm"));
    press(ctx, ImGuiKey_RightArrow);
    IM_CHECK(ctx->ItemExists("//Trace/**/addmm"));
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    press(ctx, ImGuiKey_RightArrow);
    IM_CHECK_EQ(g.context().selected.value, addmm.value);
    press(ctx, ImGuiKey_UpArrow);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    press(ctx, ImGuiKey_DownArrow);
    press(ctx, ImGuiKey_LeftArrow);  // closed already: to the parent
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    press(ctx, ImGuiKey_LeftArrow);
    ctx->Yield(2);
    IM_CHECK(!ctx->ItemExists("//Trace/**/addmm"));
  });
}

TEST_CASE("the six steps", "[gui]") {
  Gui g(training_session());
  const Session& s = *g.context().session;
  const EventId linear = first_of(s, "linear"), addmm = first_of(s, "addmm"), relu = first_of(s, "relu_");
  g.context().select(linear);
  g.frames(2);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->WindowFocus("//Trace");
    press(ctx, ImGuiKey_I);
    IM_CHECK_EQ(g.context().selected.value, addmm.value);
    press(ctx, ImGuiKey_U);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    press(ctx, ImGuiMod_Shift | ImGuiKey_U);
    IM_CHECK_EQ(g.context().selected.value, addmm.value);
    press(ctx, ImGuiMod_Shift | ImGuiKey_I);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    press(ctx, ImGuiKey_O);
    IM_CHECK_EQ(g.context().selected.value, relu.value);
    press(ctx, ImGuiMod_Shift | ImGuiKey_O);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    press(ctx, ImGuiKey_F10);
    IM_CHECK_EQ(g.context().selected.value, relu.value);
    press(ctx, ImGuiKey_Backspace);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    press(ctx, ImGuiMod_Shift | ImGuiKey_Backspace);
    IM_CHECK_EQ(g.context().selected.value, relu.value);
    // The buttons do the same.
    ctx->ItemClick("//Program/step.into");
    IM_CHECK_EQ(g.context().selected.value, relu.value + 1);
    ctx->ItemClick("//Program/step.back_into");
    IM_CHECK_EQ(g.context().selected.value, relu.value);
  });
}

TEST_CASE("the palette finds commands and operators", "[gui]") {
  Gui g(training_session());
  g.context().select(first_of(*g.context().session, "linear"));
  g.run([&](ImGuiTestContext* ctx) {
    press(ctx, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    ctx->KeyChars("light theme");
    ctx->Yield(2);
    press(ctx, ImGuiKey_Enter);
    IM_CHECK(!g.context().dark);
    press(ctx, ImGuiKey_F1);
    ctx->KeyChars("mse_loss");
    ctx->Yield(4);
    press(ctx, ImGuiKey_Enter);
    const Session& s = *g.context().session;
    IM_CHECK_EQ(g.context().selected.value, first_of(s, "mse_loss").value);
    press(ctx, ImGuiKey_F1);
    ctx->KeyChars("nothing has this name");
    ctx->Yield(2);
    press(ctx, ImGuiKey_Enter);
    press(ctx, ImGuiKey_Escape);
    IM_CHECK_EQ(g.context().selected.value, first_of(s, "mse_loss").value);
  });
}

TEST_CASE("go to hop takes a number and says what is wrong with others", "[gui]") {
  Gui g(training_session());
  g.run([&](ImGuiTestContext* ctx) {
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_G);
    ctx->KeyCharsAppendEnter("4");
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, 4u);
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_G);
    ctx->KeyCharsAppendEnter("4000");
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, 4u);
    press(ctx, ImGuiKey_Escape);
  });
}

TEST_CASE("letters belong to a text field that has the focus", "[gui]") {
  Gui g(training_session());
  g.context().select(EventId(3));
  g.frames(2);
  g.run([&](ImGuiTestContext* ctx) {
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_L);
    ctx->KeyChars("io");
    press(ctx, ImGuiKey_I);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, 3u);
    press(ctx, ImGuiKey_Escape);
    press(ctx, ImGuiKey_Escape);
    ctx->WindowFocus("//Trace");
    press(ctx, ImGuiKey_I);
    IM_CHECK_EQ(g.context().selected.value, 4u);
  });
}

TEST_CASE("a filter hides, counts and explains; Esc shows everything again", "[gui]") {
  Gui g(training_session());
  const EventId addmm = first_of(*g.context().session, "addmm");
  g.run([&](ImGuiTestContext* ctx) {
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_L);
    ctx->KeyChars("addmm kind:call");
    g.settle(ctx);
    IM_CHECK_STR_EQ(g.context().filter.c_str(), "addmm kind:call");
    IM_CHECK(ctx->ItemExists("//Trace/**/addmm"));
    IM_CHECK(!ctx->ItemExists("//Trace/**/mse_loss"));
    press(ctx, ImGuiKey_Escape);
    press(ctx, ImGuiKey_Escape);
    g.settle(ctx);
    IM_CHECK_STR_EQ(g.context().filter.c_str(), "");
    IM_CHECK(ctx->ItemExists("//Trace/**/mse_loss"));
  });
  // Find goes from hit to hit and hides nothing.
  g.context().select(EventId(2));
  g.frames(2);
  g.run([&](ImGuiTestContext* ctx) {
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_F);
    ctx->KeyChars("addmm kind:call");
    g.settle(ctx);
    press(ctx, ImGuiKey_Enter);
    IM_CHECK_EQ(g.context().selected.value, addmm.value);
    press(ctx, ImGuiKey_Enter);
    IM_CHECK_GT(g.context().selected.value, addmm.value);
    IM_CHECK(ctx->ItemExists("//Trace/**/mse_loss"));
    press(ctx, ImGuiKey_Escape);
  });
}

TEST_CASE("run again asks about edits, and lets go of the session", "[gui]") {
  auto program = std::make_unique<FakeProgram>();
  program->state_.run = views::ProgramState::Run::kEnded;
  program->state_.can_run_again = true;
  Gui g(training_session(), std::move(program));
  g.run([&](ImGuiTestContext* ctx) {
    g.context().edit = {"/nonexistent/train.py", "import torch\n", true};
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_R);
    IM_CHECK_EQ(g.program()->runs_, 0);
    ctx->ItemClick("//$FOCUSED/cancel");
    IM_CHECK_EQ(g.program()->runs_, 0);
    g.context().edit.dirty = false;
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_R);
    IM_CHECK_EQ(g.program()->runs_, 1);
    IM_CHECK(g.context().session == nullptr);
  });
}

TEST_CASE("a running program can be interrupted", "[gui]") {
  auto program = std::make_unique<FakeProgram>();
  program->state_.run = views::ProgramState::Run::kRunning;
  Gui g(training_session(), std::move(program));
  g.run([&](ImGuiTestContext* ctx) {
    ctx->WindowFocus("//Trace");
    IM_CHECK(g.app().commands().run("run.stop"));
    IM_CHECK_EQ(g.program()->interrupts_, 1);
    IM_CHECK(g.app().commands().run("run.kill"));
    IM_CHECK_EQ(g.program()->kills_, 1);
    IM_CHECK(ctx->ItemExists("//Program/run.pause"));
  });
}

TEST_CASE("a growing session is followed", "[gui]") {
  auto made = training_session(1);
  FakeSession* s = made.get();
  s->live_ = true;
  Gui g(std::move(made));
  const uint32_t before = s->size();
  CHECK(g.app().busy());
  for (int i = 0; i < 60; i++) {
    const EventId e = s->hop({}, s->op("aten::exp"), Kind::kCall, key::kCpu, bit::kTensor, bit::kTensor);
    s->at(e).stack = s->frame("/p/train.py", 7);
  }
  s->generation_++;
  g.frames(5);
  g.context().select(EventId(before + 60));
  g.frames(5);
  g.run([&](ImGuiTestContext* ctx) { IM_CHECK(ctx->ItemExists("//Trace/**/exp")); });
  s->live_ = false;
  s->generation_++;
  g.run([&](ImGuiTestContext* ctx) { g.settle(ctx); });
  CHECK(g.app().busy_with() == "");
}

TEST_CASE("an empty window says what to do; everything works without a session", "[gui]") {
  Gui g(nullptr);
  for (const views::Command& c : g.app().commands().all()) {
    if (std::string_view(c.id) == "file.quit") continue;
    g.app().commands().run(c.id);
    g.frames(2);
    g.app().dialogs().open(app::Dialogs::Kind::kNone);
    g.frames(2);
  }
  CHECK_FALSE(g.context().selected);
}

TEST_CASE("every scale from 100 to 200 % draws", "[gui]") {
  for (float scale : {1.f, 1.25f, 1.5f, 2.f}) {
    Gui g(training_session(), nullptr, scale);
    g.frames(5);
    CHECK(views::theme::font_size(views::theme::Type::kBody) == std::round(15 * scale));
  }
}
