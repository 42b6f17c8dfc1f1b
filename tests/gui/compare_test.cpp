// Compare as a reader uses it: opened with two sessions or on lines that ran under two modes, from difference to
// difference, spans set by hand.
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "tests/catch.h"
#include "tests/gui/gui.h"
#include "tests/unit/views/modes_session.h"

using namespace peel;
using namespace peel::test;

namespace {

constexpr const char* kWindow = "//Compare###Compare@Compare";

std::string row(const char* what, size_t n) { return std::string(kWindow) + "/**/" + what + std::to_string(n); }

EventId nth_of(const Session& s, const char* op, int n) {
  for (uint32_t i = 1; i <= s.size(); i++)
    if (s.op(s.event(EventId(i)).op).brief == op && is_call(s.event(EventId(i)).kind) && n-- == 0) return EventId(i);
  return {};
}

void show(Gui& g, ImGuiTestContext* ctx) {
  ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_2);
  ctx->Yield(12);
  g.settle(ctx);
  ctx->Yield(3);
}

}  // namespace

TEST_CASE("Compare: Ctrl+2 pairs what ran under two modes, N goes on, the selection follows", "[gui][compare]") {
  Gui g(modes_session());
  const Session& s = *g.context().session;
  g.run([&](ImGuiTestContext* ctx) {
    show(g, ctx);
    IM_CHECK_STR_EQ(g.app().current_workspace().name, "Compare");
    const EventId view = nth_of(s, "view", 0), exp = nth_of(s, "exp", 0), linear = nth_of(s, "linear", 0), mm = nth_of(s, "mm", 0);
    IM_CHECK_EQ(g.context().selected.value, view.value);  // the first difference
    for (const EventId e : {exp, linear, mm}) {
      ctx->KeyPress(ImGuiKey_N);
      ctx->Yield(3);
      IM_CHECK_EQ(g.context().selected.value, e.value);
    }
    ctx->KeyPress(ImGuiKey_N);
    ctx->Yield(2);
    IM_CHECK_STR_EQ(g.notice().c_str(), "That was the last difference.");
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_F8);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    ctx->ItemClick((std::string(kWindow) + "/**/previous difference").c_str());
    IM_CHECK_EQ(g.context().selected.value, exp.value);
    ctx->ItemClick(row("row\\/", 0).c_str());
    IM_CHECK_EQ(g.context().selected.value, view.value);
    // A selection made elsewhere is found here.
    g.context().select(mm);
    ctx->Yield(3);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_N);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
  });
}

TEST_CASE("Compare: rows open and close, keys move", "[gui][compare]") {
  Gui g(modes_session());
  g.run([&](ImGuiTestContext* ctx) {
    show(g, ctx);
    IM_CHECK(ctx->ItemExists(row("row\\/", 4).c_str()));
    ctx->ItemClick(row("caret\\/", 3).c_str());
    ctx->Yield(2);
    IM_CHECK(!ctx->ItemExists(row("row\\/", 4).c_str()));
    ctx->KeyPress(ImGuiKey_End);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    IM_CHECK(ctx->ItemExists(row("row\\/", 4).c_str()));
    ctx->KeyPress(ImGuiKey_DownArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, nth_of(*g.context().session, "mm", 0).value);
    ctx->KeyPress(ImGuiKey_LeftArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, nth_of(*g.context().session, "linear", 0).value);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
    IM_CHECK(std::string(ImGui::GetClipboardText()).find("3 of 4 calls differ") != std::string::npos);
  });
}

TEST_CASE("Compare: a second session opens it at the first difference", "[gui][compare]") {
  Gui g(training_session(2));
  g.frames(6);
  g.app().show_other(training_session(3));
  g.run([&](ImGuiTestContext* ctx) {
    ctx->Yield(12);
    g.settle(ctx);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(g.app().current_workspace().name, "Compare");
    IM_CHECK(g.app().title().find(" and ") != std::string::npos);
    ctx->KeyPress(ImGuiKey_N);
    ctx->Yield(2);
    IM_CHECK(g.notice().find("ifference") != std::string::npos);
    IM_CHECK(!g.app().commands().run("compare.set_a"));  // spans are for one session
  });
  g.app().show(training_session());  // lets go of both
  g.frames(6);
  CHECK(g.context().compare.other == nullptr);
}

TEST_CASE("Compare: nothing to compare says what to do; Set A and Set B choose", "[gui][compare]") {
  Gui g(training_session(3));
  const Session& s = *g.context().session;
  g.run([&](ImGuiTestContext* ctx) {
    show(g, ctx);
    IM_CHECK(!ctx->ItemExists(row("row\\/", 0).c_str()));
    g.context().select(nth_of(s, "linear", 0));
    IM_CHECK(g.app().commands().run("compare.set_a"));
    ctx->Yield(2);
    g.context().select(nth_of(s, "linear", 2));
    IM_CHECK(g.app().commands().run("compare.set_b"));
    ctx->Yield(3);
    g.settle(ctx);
    ctx->Yield(3);
    IM_CHECK(g.context().compare.a && g.context().compare.b);
    IM_CHECK(ctx->ItemExists((std::string(kWindow) + "/**/next difference").c_str()));
    IM_CHECK(g.app().commands().run("compare.clear"));
    ctx->Yield(3);
    g.settle(ctx);
    ctx->Yield(3);
    IM_CHECK(!ctx->ItemExists((std::string(kWindow) + "/**/next difference").c_str()));
  });
}

TEST_CASE("Compare: rows of Trace can be set as A and B", "[gui][compare]") {
  Gui g(training_session(3));
  const Session& s = *g.context().session;
  g.context().select(nth_of(s, "relu_", 0));
  g.frames(4);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Trace/**/relu_", ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/Set A of Compare");
    ctx->Yield(2);
    IM_CHECK(g.context().compare.a.has_value());
    IM_CHECK_STR_EQ(g.context().compare.a->name.c_str(), "relu_");
    IM_CHECK(g.context().compare.a->last > g.context().compare.a->first);  // with its redispatches
    ctx->ItemClick("//Trace/**/mse_loss", ImGuiMouseButton_Right);
    ctx->ItemClick("//$FOCUSED/Set B of Compare");
    ctx->Yield(12);
    g.settle(ctx);
    ctx->Yield(3);
    IM_CHECK_STR_EQ(g.app().current_workspace().name, "Compare");
    ctx->KeyPress(ImGuiKey_N);
    ctx->Yield(2);
    IM_CHECK(g.notice().find("ifference") != std::string::npos);
  });
}

TEST_CASE("Compare: kernels and memory of two recordings of a GPU", "[gui][compare]") {
  const std::string golden = PEEL_GOLDEN "/gpu/train_step.peel", changed = "/tmp/peel-gui-compare-" + std::to_string(::getpid()) + ".peel";
  std::filesystem::copy_file(golden, changed, std::filesystem::copy_options::overwrite_existing);
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(changed.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, "INSERT INTO string(id, value) VALUES(99001, 'void sm80_gemm<float>(float*)');"
                           "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 99001 WHERE event = 92 AND shortName = (SELECT id FROM string WHERE value = 'sgemm_largek_lds64');"
                           "UPDATE memory_event SET size = size + 4096 WHERE action = 0 AND event = 95", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  auto left = Session::open(golden, true), right = Session::open(changed, true);
  REQUIRE(left);
  REQUIRE(right);
  {
    Gui g(std::move(*left));
    g.frames(6);
    g.app().show_other(std::move(*right));
    g.run([&](ImGuiTestContext* ctx) {
      ctx->Yield(12);
      g.settle(ctx);
      ctx->Yield(3);
      IM_CHECK_EQ(g.context().selected.value, 91u);  // addmm, of which a kernel is another
      ctx->KeyPress(ImGuiKey_N);
      ctx->Yield(2);
      IM_CHECK_EQ(g.context().selected.value, 95u);  // clamp_min
      ctx->KeyPress(ImGuiKey_N);
      ctx->Yield(2);
      IM_CHECK_STR_EQ(g.notice().c_str(), "That was the last difference.");
      ctx->WindowFocus(kWindow);
      ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
      const std::string text = ImGui::GetClipboardText();
      IM_CHECK(text.find("launches `sm80_gemm` where left launches `sgemm_largek_lds64`") != std::string::npos);
      IM_CHECK(text.find("allocates 4.0 KiB more on cuda:0") != std::string::npos);
      IM_CHECK(text.find("; launched 66 | 66") != std::string::npos);
    });
  }
  ::unlink(changed.c_str());
}
