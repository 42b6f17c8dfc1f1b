// The panels around Trace as a reader uses them: layers, chips and keys of Why, nodes of Autograd, rows of Findings,
// moments of Tensor, statistics of Query.
#include "tests/catch.h"
#include "tests/gui/gui.h"

using namespace peel;
using namespace peel::test;

namespace {

EventId first_of(const Session& s, const char* op) {
  for (uint32_t i = 1; i <= s.size(); i++) if (s.op(s.event(EventId(i)).op).brief == op) return EventId(i);
  return {};
}

/// A training session with what the panels show: edges and runs of nodes, tensors, an exception.
std::unique_ptr<FakeSession> rich_session() {
  auto s = training_session();
  for (uint32_t step = 0; step < 2; step++) {
    const NodeId addmm(3 * step + 1), relu(3 * step + 2), loss(3 * step + 3);
    s->add_edge(relu, 0, addmm);
    s->add_edge(loss, 0, relu);
    for (NodeId n : {loss, relu, addmm}) s->run_node({}, n, step);
  }
  const EventId linear = first_of(*s, "linear"), relu = first_of(*s, "relu_");
  s->results_[linear] = {s->tensor_value(0, "", 7, "float32", "[8, 16]", "requires_grad")};
  s->arguments_[relu] = {s->tensor_value(0, "self", 7, "float32", "[8, 16]", "requires_grad")};
  s->tensors_[TensorId(7)] = {TensorId(7), linear, kOpen, 1, {}, linear};
  s->writes_ = {{relu, TensorId(7), 1, 0, 1}};
  const EventId loss = first_of(*s, "mse_loss");
  s->at(loss).flags |= kRaised;
  s->raised_ = {{loss, "RuntimeError", "shapes differ"}};
  return s;
}

std::string id(const char* panel, const char* what, uint32_t n) { return std::string("//") + panel + "/**/" + what + std::to_string(n); }

}  // namespace

TEST_CASE("Why: a click on a layer selects its hop, a chip leads to another operator", "[gui][panels]") {
  Gui g(rich_session());
  const Session& s = *g.context().session;
  const EventId relu = first_of(s, "relu_"), linear = first_of(s, "linear"), addmm = first_of(s, "addmm");
  g.context().select(relu);
  g.frames(4);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->ItemClick(id("Why", "layer\\/", relu.value + 1).c_str());
    IM_CHECK_EQ(g.context().selected.value, relu.value + 1);
    g.context().select(linear);
    ctx->Yield(4);
    ctx->ItemClick(id("Why", "chip\\/", addmm.value).c_str());
    IM_CHECK_EQ(g.context().selected.value, addmm.value);
  });
}

TEST_CASE("Why: another key can be asked for", "[gui][panels]") {
  Gui g(rich_session());
  g.context().select(first_of(*g.context().session, "relu_"));
  g.frames(4);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->ItemClick("//Why/**/why not another key?");
    ctx->Yield(2);
    ctx->KeyChars("AutocastCUDA");
    ctx->Yield(3);
    ImGuiWindow* popup = ImGui::GetTopMostPopupModal();
    IM_CHECK(popup == nullptr);  // it blocks nothing
    IM_CHECK(ctx->GetWindowByRef("//$FOCUSED") != nullptr);
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->KeyPress(ImGuiKey_Escape);
  });
}

TEST_CASE("Autograd: a click on a node selects its hop, and back", "[gui][panels]") {
  Gui g(rich_session());
  const Session& s = *g.context().session;
  const EventId relu = first_of(s, "relu_"), addmm = first_of(s, "addmm");
  g.context().select(relu);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->WindowFocus("//Autograd");
    ctx->Yield(20);
    IM_CHECK_EQ(g.context().node.value, s.event(relu).node.value);
    ctx->ItemClick(id("Autograd", "node\\/", s.event(addmm).node.value).c_str());
    IM_CHECK_EQ(g.context().selected.value, addmm.value);
    IM_CHECK_EQ(g.context().node.value, s.event(addmm).node.value);
    ctx->KeyPress(ImGuiKey_RightArrow);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, relu.value);
  });
}

TEST_CASE("Findings: a click leads to the hop", "[gui][panels]") {
  Gui g(rich_session());
  const EventId loss = first_of(*g.context().session, "mse_loss");
  g.context().select(EventId(1));
  g.run([&](ImGuiTestContext* ctx) {
    ctx->WindowFocus("//Findings");
    ctx->Yield(20);
    ctx->ItemClick("//Findings/**/finding\\/0");
    IM_CHECK_EQ(g.context().selected.value, loss.value);
  });
}

TEST_CASE("Tensor: moments lead to hops and the tensor stays", "[gui][panels]") {
  Gui g(rich_session());
  const EventId linear = first_of(*g.context().session, "linear"), relu = first_of(*g.context().session, "relu_");
  g.context().select(linear);
  g.run([&](ImGuiTestContext* ctx) {
    for (const auto& p : g.app().panels()) if (std::string(p->title()) == "Tensor") p->open = true;
    ctx->Yield(4);
    ctx->WindowFocus("//Tensor");
    ctx->Yield(20);
    ctx->ItemClick("//Tensor/**/moment\\/1");  // the write
    IM_CHECK_EQ(g.context().selected.value, relu.value);
    IM_CHECK_EQ(g.context().tensor.value, 7u);
  });
}

TEST_CASE("Query: a click filters Trace, a second one takes the filter away; SQL says why it cannot", "[gui][panels]") {
  Gui g(rich_session());
  // Rows are named by their place before sorting: which of them is in sight depends on the order.
  auto row = [](ImGuiTestContext* ctx) {
    for (uint32_t i = 0; i < 20; i++)
      if (ctx->ItemExists(id("Query", "stat\\/", i).c_str())) return id("Query", "stat\\/", i);
    return std::string("//Query/no row");
  };
  g.run([&](ImGuiTestContext* ctx) {
    for (const auto& p : g.app().panels()) if (std::string(p->title()) == "Query") p->open = true;
    ctx->Yield(4);
    ctx->WindowFocus("//Query");
    g.settle(ctx);
    ctx->ItemClick(row(ctx).c_str());
    IM_CHECK(g.context().filter.starts_with("op:aten::"));
    ctx->Yield(4);
    ctx->ItemClick(row(ctx).c_str());
    IM_CHECK(g.context().filter.empty());
    ctx->ItemClick("//Query/tab\\/SQL");
    ctx->Yield(2);
    ctx->ItemClick("//Query/run sql");  // there is no such file: the error is a sentence, not a crash
    ctx->Yield(30);
    ctx->ItemClick("//Query/tab\\/Keys");
    g.settle(ctx);
    ctx->ItemClick(row(ctx).c_str());
    IM_CHECK(g.context().filter.starts_with("key:"));
  });
}

TEST_CASE("What if: a change near the selection is one click, another is written; nonsense is told so", "[gui][panels]") {
  Gui g(rich_session());
  const EventId relu = first_of(*g.context().session, "relu_");
  g.context().select(relu);
  views::Panel* panel = g.app().panel("What if");
  REQUIRE(panel);
  g.run([&](ImGuiTestContext* ctx) {
    panel->open = true;
    g.context().commands->run("whatif.exclude");
    g.settle(ctx);
    ctx->Yield(2);
    IM_CHECK(panel->copy_text(g.context()).starts_with("what if: exclude AutogradCPU hop " + std::to_string(relu.value) + "\n"));
    ctx->ItemClick("//What if/**/offer\\/enter autocast:cpu");
    g.settle(ctx);
    ctx->Yield(2);
    IM_CHECK(panel->copy_text(g.context()).starts_with("what if: enter autocast:cpu\n"));
    g.context().commands->run("whatif.ask");
    ctx->Yield(2);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    ctx->KeyChars("register nothing@CPU");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(2);
    IM_CHECK(panel->copy_text(g.context()).find("no hop of this recording is of an operator nothing") != std::string::npos);
  });
}

TEST_CASE("Operator: follows the selection", "[gui][panels]") {
  Gui g(rich_session());
  const EventId relu = first_of(*g.context().session, "relu_"), addmm = first_of(*g.context().session, "addmm");
  views::Panel* panel = g.app().panel("Operator");
  REQUIRE(panel);
  g.run([&](ImGuiTestContext* ctx) {
    panel->open = true;
    for (const EventId e : {relu, addmm}) {
      g.context().select(e);
      ctx->Yield(2);
      ctx->WindowFocus("//Operator");
      ctx->Yield(4);
      IM_CHECK(panel->copy_text(g.context()).starts_with(g.context().session->op(g.context().session->event(e).op).full + "\n"));
    }
  });
}
