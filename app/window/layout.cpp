#include "app/window/layout.h"

#include "imgui.h"
#include "imgui_internal.h"

namespace peel::app {
namespace {

constexpr Cut kDispatchCuts[] = {{0, 'l', .235f}, {0, 'd', .25f}, {2, 'r', .5f}, {0, 'l', .5f}};
constexpr Place kDispatchPlaces[] = {{1, "Program"}, {4, "Trace"}, {0, "Why"}, {0, "Operator"}, {0, "What if"}, {2, "Findings"}, {2, "Autograd"}, {2, "Query"}, {2, "Breakpoints"}, {3, "Tensor"}};
constexpr Cut kAutogradCuts[] = {{0, 'd', .32f}, {1, 'r', .5f}};
constexpr Place kAutogradPlaces[] = {{0, "Autograd"}, {1, "Trace"}, {1, "Program"}, {2, "Tensor"}, {2, "Why"}, {2, "Findings"}};
constexpr Cut kMemoryCuts[] = {{0, 'd', .25f}, {1, 'r', .5f}};
constexpr Place kMemoryPlaces[] = {{0, "Memory"}, {1, "Trace"}, {1, "Program"}, {2, "Tensor"}, {2, "Why"}, {2, "Findings"}};
constexpr Cut kQueryCuts[] = {{0, 'l', .45f}};
constexpr Place kQueryPlaces[] = {{0, "Query"}, {1, "Trace"}, {1, "Why"}};
constexpr Cut kTimelineCuts[] = {{0, 'd', .3f}, {1, 'r', .36f}, {1, 'r', .44f}};
constexpr Place kTimelinePlaces[] = {{0, "Timeline"}, {1, "Trace"}, {3, "Program"}, {2, "Why"}, {2, "Autograd"}, {2, "Tensor"}};
constexpr Place kComparePlaces[] = {{0, "Compare"}, {0, "Trace"}, {0, "Why"}, {0, "Program"}};
constexpr Cut kDebugCuts[] = {{0, 'l', .235f}, {0, 'd', .38f}, {0, 'l', .5f}};
constexpr Place kDebugPlaces[] = {{1, "Program"}, {3, "Trace"}, {0, "Why"}, {0, "Tensor"}, {2, "Breakpoints"}, {2, "Findings"}, {2, "Autograd"}};
// In the order of Ctrl+1, Ctrl+2, ...
constexpr Workspace kAll[] = {{"Dispatch", "Trace", kDispatchCuts, kDispatchPlaces},       {"Compare", "Compare", {}, kComparePlaces},
                              {"Memory", "Memory", kMemoryCuts, kMemoryPlaces},            {"Timeline", "Timeline", kTimelineCuts, kTimelinePlaces},
                              {"Autograd", "Autograd", kAutogradCuts, kAutogradPlaces},    {"Query", "Query", kQueryCuts, kQueryPlaces},
                              {"Debug", "Breakpoints", kDebugCuts, kDebugPlaces}};

}  // namespace

std::span<const Workspace> workspaces() { return kAll; }
const Workspace* workspace(const std::string& name) {
  for (const Workspace& w : kAll) if (name == w.name) return &w;
  return nullptr;
}

std::string window_name(const std::string& panel, const Workspace& w) {
  return &w == &kAll[0] ? panel : panel + "###" + panel + "@" + w.name;
}
unsigned dock_id(const Workspace& w) { return ImHashStr((std::string("dock ") + w.name).c_str()); }
bool layout_exists(const Workspace& w) {
  const ImGuiDockNode* n = ImGui::DockBuilderGetNode(dock_id(w));
  return n && (n->IsSplitNode() || (w.cuts.empty() && !n->Windows.empty()));
}

void build_layout(const Workspace& w, float width, float height) {
  const ImGuiID root = dock_id(w);
  ImGui::DockBuilderRemoveNode(root);
  ImGui::DockBuilderAddNode(root, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(root, {width, height});
  std::vector<ImGuiID> parts = {root};
  for (const Cut& c : w.cuts) {
    const ImGuiDir side = c.side == 'l' ? ImGuiDir_Left : c.side == 'r' ? ImGuiDir_Right : c.side == 'u' ? ImGuiDir_Up : ImGuiDir_Down;
    ImGuiID rest = 0;
    const ImGuiID part = ImGui::DockBuilderSplitNode(parts[size_t(c.of)], side, c.share, nullptr, &rest);
    parts[size_t(c.of)] = rest;
    parts.push_back(part);
  }
  std::vector<bool> fronted(parts.size());
  for (const Place& p : w.places) {
    const std::string name = window_name(p.panel, w);
    ImGui::DockBuilderDockWindow(name.c_str(), parts[size_t(p.part)]);
    if (fronted[size_t(p.part)]) continue;
    fronted[size_t(p.part)] = true;
    if (ImGuiDockNode* n = ImGui::DockBuilderGetNode(parts[size_t(p.part)])) n->SelectedTabId = ImHashStr("#TAB", 0, ImHashStr(name.c_str()));
  }
  for (ImGuiID i : parts)
    if (ImGuiDockNode* n = ImGui::DockBuilderGetNode(i)) n->LocalFlags |= ImGuiDockNodeFlags_NoWindowMenuButton;
  ImGui::DockBuilderFinish(root);
}

}  // namespace peel::app
