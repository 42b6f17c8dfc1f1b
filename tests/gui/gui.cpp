#include "tests/gui/gui.h"

#include <chrono>
#include <thread>

#include "imgui_impl_null.h"
#include "tests/catch.h"
#include "views/theme.h"

namespace peel::app {
// The real one starts processes; GUI tests bring their own.
std::unique_ptr<ProgramHandle> make_program_handle(const Startable&) { return nullptr; }
}  // namespace peel::app

namespace peel::test {

Gui::Gui(std::unique_ptr<Session> session, std::unique_ptr<FakeProgram> program, float scale) {
  imgui_ = ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
  io.ConfigInputTextCursorBlink = false;
  ImGui_ImplNull_Init();
  views::theme::load_fonts();
  engine_ = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& test = ImGuiTestEngine_GetIO(engine_);
  test.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  test.ConfigVerboseLevel = ImGuiTestVerboseLevel_Warning;
  test.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Debug;
  test.ConfigSavedSettings = false;
  test.ConfigLogToTTY = false;
  test.ConfigNoThrottle = true;
  program_ = program.get();
  app_ = std::make_unique<app::Application>(app::WindowOptions{}, std::move(program));
  app_->set_display_scale(scale);
  if (session) app_->show(std::move(session));
  ImGuiTestEngine_Start(engine_, imgui_);
  frames(12);
}

Gui::~Gui() {
  ImGuiTestEngine_Stop(engine_);
  app_.reset();
  ImGui_ImplNull_Shutdown();
  ImGui::DestroyContext(imgui_);
  ImGuiTestEngine_DestroyContext(engine_);
}

void Gui::frame() {
  ImGui_ImplNull_NewFrame();
  ImGui::GetIO().DisplaySize = {1280, 720};
  ImGui::NewFrame();
  app_->frame();
  ImGui::Render();
  ImGui_ImplNullRender_RenderDrawData(ImGui::GetDrawData());
  ImGuiTestEngine_PostSwap(engine_);
}
void Gui::frames(int n) {
  for (int i = 0; i < n; i++) frame();
}

void Gui::run(const std::function<void(ImGuiTestContext*)>& script) {
  static int serial = 0;
  script_ = script;
  const std::string name = "script " + std::to_string(++serial);
  ImGuiTest* t = ImGuiTestEngine_RegisterTest(engine_, "gui", name.c_str());
  t->SetOwnedName(name.c_str());
  t->UserData = this;
  t->TestFunc = [](ImGuiTestContext* ctx) { static_cast<Gui*>(ctx->Test->UserData)->script_(ctx); };
  ImGuiTestEngine_QueueTest(engine_, t);
  int frames_left = 20000;
  while (!ImGuiTestEngine_IsTestQueueEmpty(engine_) && frames_left-- > 0) frame();
  INFO(t->Output.Log.Buffer.c_str());
  REQUIRE(frames_left > 0);
  REQUIRE(t->Output.Status == ImGuiTestStatus_Success);
}

void Gui::settle(ImGuiTestContext* ctx) {
  ctx->Yield(2);
  for (int i = 0; i < 5000 && app_->busy(); i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ctx->Yield();
  }
  ctx->Yield(2);
}

std::unique_ptr<FakeSession> training_session(int steps) {
  auto made = std::make_unique<FakeSession>();
  FakeSession& s = *made;
  s.path_ = "/p/train.peel";
  s.meta_ = {{"program", "/p/train.py"}, {"engine", "pytorch"}, {"engine_version", "2.13.0+cpu"}, {"state", "complete"}};
  s.sources_["/p/train.py"] = "import torch\nnet = make()\nx = torch.ones(8, 4)\nfor step in range(2):\n    y = net(x)\n    loss = f(y)\n    print(loss)\n";
  const OpId ones = s.op("aten::ones"), linear = s.op("aten::linear"), addmm = s.op("aten::addmm"), relu = s.op("aten::relu_"), loss = s.op("aten::mse_loss");
  auto call = [&](EventId parent, OpId op, KeyId k, int line) {
    const EventId e = s.hop(parent, op, Kind::kCall, k, bit::kTensor, bit::kTensor);
    static const StackId none;
    s.at(e).stack = s.frame("/p/train.py", line, "<module>", none);
    return e;
  };
  s.hop(call({}, ones, key::kBackendSelect, 3), ones, Kind::kRedispatch, key::kCpu, bit::kTensor);
  for (int i = 0; i < steps; i++) {
    const EventId l = call({}, linear, key::kAutogradCpu, 5);
    s.at(l).kernel = s.kernel(linear, key::kAutogradCpu, "math kernel");
    const EventId a = call(l, addmm, key::kAutogradCpu, 5);
    s.hop(a, addmm, Kind::kRedispatch, key::kCpu, bit::kTensor);
    s.add_node(a, "AddmmBackward0", uint64_t(3 * i));
    const EventId r = call({}, relu, key::kAutogradCpu, 5);
    const EventId iv = s.hop(r, relu, Kind::kRedispatch, key::kADInplaceOrView, bit::kTensor);
    s.hop(iv, relu, Kind::kRedispatch, key::kCpu, bit::kTensor);
    s.add_node(r, "ReluBackward0", uint64_t(3 * i + 1));
    const EventId m = call({}, loss, key::kAutogradCpu, 6);
    s.hop(m, loss, Kind::kRedispatch, key::kCpu, bit::kTensor);
    s.add_node(m, "MseLossBackward0", uint64_t(3 * i + 2));
    s.output_.push_back({s.at(m).end, 1, "loss " + std::to_string(i) + "\n", EventId(m.value + 1)});
  }
  return made;
}

}  // namespace peel::test
