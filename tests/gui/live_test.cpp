// A program that can be stopped, as the window shows it: an engine without operators stands in for PyTorch.
#include "tests/catch.h"
#include "tests/gui/gui.h"
#include "tests/unit/live/fake_engine.h"
#include "views/change_choices.h"

using namespace peel;
using namespace peel::test;

namespace {

std::unique_ptr<FakeProgram> running_program() {
  auto program = std::make_unique<FakeProgram>();
  program->state_.run = views::ProgramState::Run::kRunning;
  program->state_.title = "train.py";
  return program;
}

/// The hops of training_session(1), with its ids: ones, linear > addmm > addmm, relu_ > relu_ > relu_, mse_loss > mse_loss.
std::vector<EngineHop> training_hops() {
  return {{1, "aten::ones", {{2, "aten::ones", {}}}},
          {3, "aten::linear", {{4, "aten::addmm", {{5, "aten::addmm", {}}}}}},
          {6, "aten::relu_", {{7, "aten::relu_", {{8, "aten::relu_", {}}}}}},
          {9, "aten::mse_loss", {{10, "aten::mse_loss", {}}}}};
}

void press(ImGuiTestContext* ctx, ImGuiKeyChord chord) {
  ctx->KeyPress(chord);
  ctx->Yield(3);
}

}  // namespace

TEST_CASE("break, look, step in, step back, go on", "[gui][live]") {
  Gui g(training_session(1), running_program());
  FakeEngine engine(&g.app().debugging().control());
  engine.answer = [](const wire::Question& q, wire::AnswerRows& rows) {
    if (q.ask == wire::Ask::kTensors) rows.row({"0", "-1", "abc0", "4", "-1.5", "2", "0.25", "1", "0", "-1.5, 2, 1, ..."});
    if (q.ask == wire::Ask::kLocals) rows.row({"/p/train.py:5 <module>"}), rows.row({"x", "Tensor", "Tensor float32[8,4] on cpu"});
    if (q.ask == wire::Ask::kThreads) rows.row({"7", "MainThread", "/p/train.py:5 <module>"});
  };
  g.run([&](ImGuiTestContext* ctx) {
    IM_CHECK(g.app().commands().run("break.add"));
    ctx->Yield(4);
    ctx->KeyCharsReplaceEnter("op:nonsense keey:x");
    ctx->Yield(4);
    IM_CHECK_NE(g.context().live.note.find("no term"), std::string::npos);
    g.app().commands().run("break.add");
    ctx->Yield(4);
    ctx->KeyCharsReplaceEnter("op:addmm");
    ctx->Yield(4);
    IM_CHECK_STR_EQ(g.context().live.note.c_str(), "");
    IM_CHECK_EQ(g.context().live.breakpoints.size(), size_t(1));

    engine.run(training_hops());
    IM_CHECK_EQ(engine.next_stop().id, 4u);
    g.settle(ctx);
    ctx->Yield(4);
    IM_CHECK_EQ(g.context().selected.value, 4u);
    IM_CHECK(g.context().live.stop.has_value());
    IM_CHECK(g.context().program.run == views::ProgramState::Run::kPaused);
    IM_CHECK_NE(g.context().program.message.find("hit 1"), std::string::npos);
    IM_CHECK_NE(g.context().program.message.find("train.py:5"), std::string::npos);
    IM_CHECK(ctx->ItemExists("//Program/run.continue"));
    IM_CHECK_EQ(g.context().live.standing.locals.size(), size_t(2));
    IM_CHECK_EQ(g.context().live.standing.threads.size(), size_t(1));
    IM_CHECK_EQ(g.context().live.standing.values.size(), size_t(1));
    IM_CHECK_STR_EQ(g.context().live.standing.values[0].statistics.c_str(), "-1.5 .. 2, mean 0.25, 1 NaN");

    // Into runs the program; back reads what is recorded; forwards again comes to the same place.
    ctx->WindowFocus("//Trace");
    press(ctx, ImGuiKey_I);
    IM_CHECK_EQ(engine.next_stop().id, 5u);
    g.settle(ctx);
    IM_CHECK_EQ(g.context().selected.value, 5u);
    press(ctx, ImGuiMod_Shift | ImGuiKey_I);
    IM_CHECK_EQ(g.context().selected.value, 4u);
    press(ctx, ImGuiKey_I);
    IM_CHECK_EQ(g.context().selected.value, 5u);
    press(ctx, ImGuiKey_U);
    IM_CHECK_EQ(engine.next_stop().id, 4u);
    g.settle(ctx);
    IM_CHECK_EQ(g.context().selected.value, 4u);
    IM_CHECK(g.context().live.stop->after);

    // B at the selection, by the row's own operator and key; then the program goes on to its end.
    g.app().commands().run("break.clear");
    ctx->Yield(3);
    IM_CHECK(g.context().live.breakpoints.empty());
    press(ctx, ImGuiKey_C);
    IM_CHECK_EQ(engine.next_stop().id, 0u);
    ctx->Yield(3);
    IM_CHECK(!g.context().live.stop.has_value());
    IM_CHECK(g.context().program.run == views::ProgramState::Run::kRunning);
  });
}

TEST_CASE("what happens next is changed from the choices, from words, and taken back", "[gui][live]") {
  auto session = training_session(1);
  FakeSession& s = *session;
  Gui g(std::move(session), running_program());
  FakeEngine engine(&g.app().debugging().control());
  std::vector<std::string> told;
  engine.answer = [&](const wire::Question& q, wire::AnswerRows& rows) {
    if (q.ask != wire::Ask::kChange) return;
    told.emplace_back(q.text, q.bytes);
    if (told.back() == "fly") rows.row({"no", "there is no change `fly`"});
    else rows.row({"yes", "goes to CPU: kernel at …/add.cpp:41 instead of AutogradCPU"});
  };
  g.run([&](ImGuiTestContext* ctx) {
    IM_CHECK(!g.app().commands().run("run.change"));  // nothing stands
    REQUIRE(g.app().debugging().control().add(*Breakpoint::parse("op:addmm")));
    engine.run(training_hops());
    IM_CHECK_EQ(engine.next_stop().id, 4u);
    g.settle(ctx);
    ctx->Yield(4);
    const auto choices = views::change_choices(s, *g.context().live.stop);
    IM_CHECK(!choices.empty());
    IM_CHECK_STR_EQ(choices[0].text.c_str(), "exclude AutogradCPU");
    IM_CHECK(choices[0].note.starts_with("goes to "));
    press(ctx, ImGuiKey_E);
    ctx->Yield(4);
    ctx->ItemClick("//$FOCUSED/##exclude AutogradCPU");
    for (int i = 0; i < 200 && g.context().live.said.empty(); ++i) ctx->Yield();
    IM_CHECK_EQ(g.context().live.said.size(), size_t(1));
    IM_CHECK_STR_EQ(told[0].c_str(), "exclude AutogradCPU");
    IM_CHECK(g.context().live.said[0].done);
    IM_CHECK_NE(g.notice().find("goes to CPU"), std::string::npos);
    IM_CHECK(g.app().commands().run("run.change"));
    ctx->Yield(4);
    ctx->KeyCharsReplaceEnter("fly");
    for (int i = 0; i < 200 && g.context().live.said.size() < 2; ++i) ctx->Yield();
    IM_CHECK(!g.context().live.said[1].done);
    ctx->WindowFocus("//Trace");
    press(ctx, ImGuiKey_C);
    IM_CHECK_EQ(engine.next_stop().id, 5u);
    g.settle(ctx);
    ctx->Yield(4);
    IM_CHECK(g.context().live.said.empty());  // another stop: nothing was changed there
    g.app().commands().run("break.clear");
    ctx->Yield(3);
    press(ctx, ImGuiKey_C);
    IM_CHECK_EQ(engine.next_stop().id, 0u);
  });
}

TEST_CASE("pause, and run to a line", "[gui][live]") {
  Gui g(training_session(1), running_program());
  FakeEngine engine(&g.app().debugging().control());
  g.run([&](ImGuiTestContext* ctx) {
    ctx->WindowFocus("//Trace");
    press(ctx, ImGuiKey_P);
    IM_CHECK(g.context().live.pausing);
    engine.run(training_hops());
    IM_CHECK_EQ(engine.next_stop().id, 1u);
    g.settle(ctx);
    IM_CHECK_EQ(g.context().selected.value, 1u);
    IM_CHECK_NE(g.context().program.message.find("Paused at hop 1"), std::string::npos);
    IM_CHECK_STR_EQ(g.app().current_workspace().name, "Debug");  // where there is room for what can be asked
    IM_CHECK(ctx->ItemExists("//Program###Program@Debug/run.continue"));
    press(ctx, ImGuiMod_Ctrl | ImGuiKey_Enter);
    IM_CHECK_EQ(engine.next_stop().id, 0u);  // its file has another name: nothing stops
  });
}

TEST_CASE("breakpoints of a recording: C and Shift+C go over its hops; rows switch, count and delete", "[gui][live]") {
  Gui g(training_session(2));
  g.context().select(EventId(1));
  g.frames(3);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->WindowFocus("//Trace");
    press(ctx, ImGuiKey_C);
    IM_CHECK_NE(g.notice().find("no breakpoints"), std::string::npos);
    g.context().select(EventId(4));
    press(ctx, ImGuiKey_B);
    IM_CHECK_EQ(g.context().live.breakpoints.size(), size_t(1));
    g.context().select(EventId(1));
    press(ctx, ImGuiKey_C);
    IM_CHECK_EQ(g.context().selected.value, 4u);
    press(ctx, ImGuiKey_C);
    IM_CHECK_EQ(g.context().selected.value, 12u);
    press(ctx, ImGuiKey_C);
    IM_CHECK_EQ(g.context().selected.value, 12u);
    press(ctx, ImGuiMod_Shift | ImGuiKey_C);
    IM_CHECK_EQ(g.context().selected.value, 4u);
    g.app().focus_panel("Breakpoints");
    ctx->Yield(4);
    ctx->ItemClick("//Breakpoints/toggle 1");
    ctx->Yield(3);
    IM_CHECK(!g.context().live.breakpoints[0].enabled);
    ctx->ItemClick("//Breakpoints/delete 1");
    ctx->Yield(3);
    IM_CHECK(g.context().live.breakpoints.empty());
    g.context().select(EventId(4));
    ctx->WindowFocus("//Trace");
    press(ctx, ImGuiKey_B);
    press(ctx, ImGuiKey_B);  // again: away
    IM_CHECK(g.context().live.breakpoints.empty());
  });
}
