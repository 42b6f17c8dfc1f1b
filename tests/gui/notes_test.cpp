// What a reader writes, takes along and asks of tensors: notes at hops, copies of a call, saved tensors, the birth of a tensor.
#include "tests/catch.h"
#include "tests/gui/gui.h"

using namespace peel;
using namespace peel::test;

namespace {

EventId first_of(const Session& s, const char* op) {
  for (uint32_t i = 1; i <= s.size(); i++) if (s.op(s.event(EventId(i)).op).brief == op) return EventId(i);
  return {};
}

/// relu_ saves its result t7, which linear made; mse_loss wrote it; the node's run raised.
struct Story {
  std::unique_ptr<FakeSession> s = training_session();
  EventId linear = first_of(*s, "linear"), relu = first_of(*s, "relu_"), loss = first_of(*s, "mse_loss"), run;
  NodeId node = s->event(relu).node;
  Story() {
    run = s->run_node({}, node, 0);
    s->at(run).flags |= kRaised;
    s->results_[linear] = {s->tensor_value(0, "", 7, "float32", "[8, 16]", "requires_grad")};
    s->results_[relu] = {s->tensor_value(0, "", 7, "float32", "[8, 16]", "requires_grad", 1)};
    s->tensors_[TensorId(7)] = {TensorId(7), linear, kOpen, 1, {}, linear};
    s->writes_ = {{relu, TensorId(7), 1, 0, 1}, {loss, TensorId(7), 1, 1, 2}};
    s->saved_ = {{node, "_saved_result", -1, TensorId(7), "float32", "[8, 16]", 1, 512, kSavedOutput}};
  }
};

std::string clipboard() {
  const char* t = ImGui::GetClipboardText();
  return t ? t : "";
}

}  // namespace

TEST_CASE("Shift+M writes a note; Findings lists it, an empty one takes it away", "[gui][notes]") {
  Story story;
  const EventId relu = story.relu;
  Gui g(std::move(story.s));
  g.context().select(relu);
  g.frames(4);
  g.run([&](ImGuiTestContext* ctx) {
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_M);
    ctx->Yield(3);
    ctx->KeyCharsAppend("the mask is wrong here");
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_EQ(g.context().session->notes().size(), size_t{1});
    IM_CHECK_STR_EQ(g.context().session->notes()[0].text.c_str(), "the mask is wrong here");
    IM_CHECK_EQ(g.context().session->notes()[0].event.value, relu.value);
    IM_CHECK(g.notice().find("Note kept at hop") != std::string::npos);
    ctx->WindowFocus("//Findings");
    g.settle(ctx);
    IM_CHECK(g.app().panel("Findings")->copy_text(g.context()).find("note: “the mask is wrong here” at relu_") != std::string::npos);
    // M is another key: a bookmark stands beside the note
    ctx->KeyPress(ImGuiKey_M);
    IM_CHECK_EQ(g.context().session->bookmarks().size(), size_t{1});
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_M);
    ctx->Yield(3);
    ctx->KeyPress(ImGuiMod_Ctrl | ImGuiKey_A);
    ctx->KeyPress(ImGuiKey_Delete);
    ctx->KeyPress(ImGuiKey_Enter);
    ctx->Yield(3);
    IM_CHECK_EQ(g.context().session->notes().size(), size_t{0});
    // Esc leaves all as it is
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_M);
    ctx->Yield(3);
    ctx->KeyCharsAppend("never mind");
    ctx->KeyPress(ImGuiKey_Escape);
    ctx->Yield(3);
    IM_CHECK_EQ(g.context().session->notes().size(), size_t{0});
  });
}

TEST_CASE("a finding about a written saved tensor leads to both hops, and one key to the birth", "[gui][saved]") {
  Story story;
  const EventId linear = story.linear, relu = story.relu, loss = story.loss;
  Gui g(std::move(story.s));
  g.run([&](ImGuiTestContext* ctx) {
    ctx->WindowFocus("//Findings");
    g.settle(ctx);
    IM_CHECK(g.app().panel("Findings")->copy_text(g.context()).find("wrote t7, which ReluBackward0 saved at version 1") != std::string::npos);
    ctx->ItemClick("//Findings/**/finding\\/0");
    IM_CHECK_EQ(g.context().selected.value, loss.value);
    IM_CHECK_EQ(g.context().tensor.value, 7u);
    ctx->ItemClick("//Findings/**/finding\\/0");
    IM_CHECK_EQ(g.context().selected.value, relu.value);
    ctx->KeyPress(ImGuiMod_Shift | ImGuiKey_T);
    ctx->Yield(2);
    IM_CHECK_EQ(g.context().selected.value, linear.value);
    IM_CHECK_EQ(g.context().tensor.value, 7u);
  });
}

TEST_CASE("Autograd lists what a node saves; a click shows that tensor's life", "[gui][saved]") {
  Story story;
  const EventId relu = story.relu;
  Gui g(std::move(story.s));
  g.context().select(relu);
  g.run([&](ImGuiTestContext* ctx) {
    g.app().commands().run("workspace.Autograd");  // there it is wide enough for details
    ctx->Yield(10);
    g.settle(ctx);
    ctx->ItemClick("//Autograd###Autograd@Autograd/**/detail\\/saved\\/0");
    ctx->Yield(4);
    g.settle(ctx);
    IM_CHECK_EQ(g.context().tensor.value, 7u);
    IM_CHECK(g.app().panel("Tensor")->open);
    const std::string life = g.app().panel("Tensor")->copy_text(g.context());
    IM_CHECK(life.find("born in linear") != std::string::npos);
    IM_CHECK(life.find("saved by") != std::string::npos);
    IM_CHECK(life.find("refused by") != std::string::npos);
  });
}

TEST_CASE("a call is copied as text, Markdown, SQL and Python; what can't be made is said", "[gui][copy]") {
  Story story;
  const EventId relu = story.relu, run = story.run;
  for (Op& o : story.s->ops_)
    if (o.name == "aten::relu_") o.schema = "aten::relu_(Tensor(a!) self) -> Tensor(a!)", o.arguments = {{"self", 3}};
  story.s->arguments_[relu] = {story.s->tensor_value(0, "self", 7, "float32", "[8, 16]", "requires_grad")};
  story.s->arguments_[relu][0].strides = "[16, 1]";
  Gui g(std::move(story.s));
  g.context().select(relu);
  g.run([&](ImGuiTestContext*) {
    const std::string hop = std::to_string(relu.value);
    IM_CHECK(g.app().commands().run("copy.sql"));
    IM_CHECK(clipboard().find("WHERE h.id = " + hop) != std::string::npos);
    IM_CHECK(g.app().commands().run("copy.text"));
    IM_CHECK(clipboard().find("hop " + hop + "  aten::relu_") != std::string::npos);
    IM_CHECK(g.app().commands().run("copy.markdown"));
    IM_CHECK(clipboard().find("**hop " + hop + " `aten::relu_`**") != std::string::npos);
    IM_CHECK(g.app().commands().run("copy.python"));
    IM_CHECK(clipboard().find("self = torch.rand((8, 16)).requires_grad_().clone()\n") != std::string::npos);
    IM_CHECK(clipboard().find("result = torch.ops.aten.relu_.default(self)\n") != std::string::npos);
    g.context().select(run);
    IM_CHECK(g.app().commands().run("copy.python"));
    IM_CHECK_STR_EQ(g.notice().c_str(), ("Hop " + std::to_string(run.value) + " is no call of an operator: only calls can be repeated.").c_str());
  });
}
