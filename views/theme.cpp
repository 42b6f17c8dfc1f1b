#include "views/theme.h"

#include <algorithm>

namespace peel::views::theme {
namespace {

constexpr FamilyStyle kFamily[kFamilies] = {
    {"Python and modes", 0xA68AF7, 0x4B1379}, {"functorch", 0xD892AA, 0xAC2F8C},
    {"autocast", 0xEDE162, 0x6B6900},         {"autograd", 0xFA8136, 0x7C2B08},
    {"view / in-place", 0x60EAC3, 0x105C52},  {"backend", 0x8CC1F9, 0x2961C8}};

constexpr KeyStyle kKeys[] = {
    {"PythonDispatcher", "PD", kPython, "asks the Python dispatcher first"},
    {"PreDispatch", "PR", kPython, "modes that run before autograd"},
    {"PythonTLSSnapshot", "PS", kPython, "remembers the thread's state for Python"},
    {"Python", "PY", kPython, "hands the call to __torch_dispatch__"},
    {"FuncTorchDynamicLayerFrontMode", "FF", kFunctorch, "enters the topmost transform"},
    {"FuncTorchDynamicLayerBackMode", "FK", kFunctorch, "leaves the topmost transform"},
    {"FuncTorchGradWrapper", "FG", kFunctorch, "unwraps a level of grad"},
    {"FuncTorchVmapMode", "FV", kFunctorch, "random numbers under vmap"},
    {"FuncTorchBatched*", "FB", kFunctorch, "runs the batching rule"},
    {"BatchedNestedTensor", "FB", kFunctorch, "runs the batching rule"},
    {"Batched", "FB", kFunctorch, "runs the batching rule"},
    {"VmapMode", "FV", kFunctorch, "random numbers under vmap"},
    {"Autocast*", "AC", kAutocast, "casts inputs to a lower precision"},
    {"Autograd*", "AG", kAutograd, "records the backward graph"},
    {"ADInplaceOrView", "IV", kView, "tracks views and versions"},
    {"Functionalize", "FN", kView, "turns in-place writes into copies"},
    {"ZeroTensor", "ZT", kView, "expands lazy zeros"},
    {"Negative", "NG", kView, "resolves lazy negation"},
    {"Conjugate", "CJ", kView, "resolves lazy conjugation"},
    {"BackendSelect", "BS", kBackend, "picks a backend for factories"},
    {"NestedTensor*", "NT", kBackend, "computes on nested tensors"},
    {"Sparse*", "SP", kBackend, "computes on sparse tensors"},
    {"Quantized*", "QU", kBackend, "computes on quantized tensors"},
    {"Meta", "ME", kBackend, "computes shapes only"},
    {"CUDA", "CU", kBackend, "computes the result on the GPU"},
    {"MPS", "MP", kBackend, "computes the result on the GPU"},
    {"XPU", "XP", kBackend, "computes the result on the GPU"},
    {"PrivateUse*", "PU", kBackend, "computes the result on a plug-in device"},
    {"CPU", "CPU", kBackend, "computes the result"},
    {"*", "BE", kBackend, "computes the result"}};  // any other backend

constexpr Palette kDark = {0x0F1216, 0x191D23, 0x232830, 0x14171C, 0x2C323B, 0x4A5362, 0xE8EBEF,
                           0xB4BCC7, 0x98A2B0, 0x2A3340, 0x262C35, 0xD3DAE4, 0x12151A};
constexpr Palette kLight = {0xE2E6EB, 0xFFFFFF, 0xF1F3F6, 0xF7F8FA, 0xD8DDE4, 0x98A2B0, 0x15191F,
                            0x434D59, 0x57616D, 0xDFE7F2, 0xEBEEF2, 0x2A3340, 0xFFFFFF};

bool is_dark = true;
float current_scale = 1;

}  // namespace

const FamilyStyle& family(Family f) { return kFamily[f]; }

const KeyStyle& key_style(std::string_view key) {
  for (const KeyStyle& k : kKeys) {
    std::string_view pattern = k.key;
    bool prefix = pattern.back() == '*';
    if (prefix) pattern.remove_suffix(1);
    if (prefix ? key.starts_with(pattern) : key == pattern) return k;
  }
  return kKeys[std::size(kKeys) - 1];
}

Mark mark_of(Verdict v, bool composite) {
  switch (v) {
    case Verdict::kRan: return composite ? Mark::kComposite : Mark::kRan;
    case Verdict::kFellThrough: return Mark::kFell;
    case Verdict::kExcluded: return Mark::kExcluded;
    case Verdict::kBelow:
    case Verdict::kMasked: return Mark::kMasked;
    case Verdict::kNotInSet: break;
  }
  return Mark::kAbsent;
}

const Palette& palette(bool dark_one) { return dark_one ? kDark : kLight; }
const Palette& palette() { return palette(is_dark); }
bool dark() { return is_dark; }
unsigned hue(Family f) { return is_dark ? kFamily[f].dark : kFamily[f].light; }
float scale() { return current_scale; }

ImU32 color(unsigned rgb, float alpha) {
  return IM_COL32(rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255, int(alpha * 255 + .5f));
}
ImVec4 vec(unsigned rgb, float alpha) { return ImGui::ColorConvertU32ToFloat4(color(rgb, alpha)); }

void apply(bool dark_one, float new_scale) {
  is_dark = dark_one;
  current_scale = std::clamp(new_scale, 0.5f, 4.f);
  if (!ImGui::GetCurrentContext()) return;
  const Palette& p = palette();
  ImGuiStyle& s = ImGui::GetStyle();
  s = ImGuiStyle();
  is_dark ? ImGui::StyleColorsDark() : ImGui::StyleColorsLight();
  s.WindowPadding = {0, 0}, s.FramePadding = {8, 4}, s.ItemSpacing = {8, 4};
  s.WindowBorderSize = 0, s.ChildBorderSize = 0, s.PopupBorderSize = 1, s.FrameRounding = kRadius;
  s.PopupRounding = kRadius, s.WindowRounding = 0, s.TabRounding = 0, s.TabBarBorderSize = 0;
  s.TabBarOverlineSize = 2, s.DockingSeparatorSize = 2, s.ScrollbarSize = 10, s.ScrollbarRounding = 2;
  s.WindowMenuButtonPosition = ImGuiDir_None, s.DockingNodeHasCloseButton = false;
  s.TabCloseButtonMinWidthSelected = 0;  // seen when the mouse is on the tab
  s.ScaleAllSizes(current_scale);
  s.FontSizeBase = std::round(16 * current_scale);
  auto set = [&](int i, unsigned rgb, float a = 1) { s.Colors[i] = vec(rgb, a); };
  set(ImGuiCol_Text, p.text), set(ImGuiCol_TextDisabled, p.faint), set(ImGuiCol_WindowBg, p.panel);
  set(ImGuiCol_MenuBarBg, p.window), set(ImGuiCol_TitleBg, p.window), set(ImGuiCol_TitleBgActive, p.window);
  set(ImGuiCol_TitleBgCollapsed, p.window), set(ImGuiCol_Separator, p.window), set(ImGuiCol_Border, p.line);
  set(ImGuiCol_SeparatorHovered, p.line_strong), set(ImGuiCol_SeparatorActive, p.focus);
  set(ImGuiCol_DockingEmptyBg, p.window), set(ImGuiCol_Tab, p.window), set(ImGuiCol_TabDimmed, p.window);
  set(ImGuiCol_TabSelected, p.panel), set(ImGuiCol_TabDimmedSelected, p.panel), set(ImGuiCol_TabHovered, p.hover);
  set(ImGuiCol_TabSelectedOverline, p.focus), set(ImGuiCol_TabDimmedSelectedOverline, p.panel);
  set(ImGuiCol_FrameBg, p.sunken), set(ImGuiCol_FrameBgHovered, p.hover), set(ImGuiCol_FrameBgActive, p.sunken);
  set(ImGuiCol_Button, p.raised), set(ImGuiCol_ButtonHovered, p.hover), set(ImGuiCol_ButtonActive, p.select);
  set(ImGuiCol_Header, p.select), set(ImGuiCol_HeaderHovered, p.hover), set(ImGuiCol_HeaderActive, p.select);
  set(ImGuiCol_PopupBg, p.raised), set(ImGuiCol_ScrollbarBg, p.panel, 0), set(ImGuiCol_ScrollbarGrab, p.line);
  set(ImGuiCol_ScrollbarGrabHovered, p.line_strong), set(ImGuiCol_ScrollbarGrabActive, p.faint);
  set(ImGuiCol_CheckMark, p.focus), set(ImGuiCol_SliderGrab, p.line_strong), set(ImGuiCol_SliderGrabActive, p.faint);
  set(ImGuiCol_ResizeGrip, p.line, 0), set(ImGuiCol_ResizeGripHovered, p.line_strong);
  set(ImGuiCol_ResizeGripActive, p.focus), set(ImGuiCol_TextSelectedBg, p.line_strong, .7f);
  set(ImGuiCol_NavCursor, p.focus), set(ImGuiCol_InputTextCursor, p.focus), set(ImGuiCol_DockingPreview, p.focus, .35f);
  set(ImGuiCol_TableHeaderBg, p.panel), set(ImGuiCol_TableBorderStrong, p.line), set(ImGuiCol_TableBorderLight, p.line);
  set(ImGuiCol_ModalWindowDimBg, p.window, .55f), set(ImGuiCol_PlotLines, p.dim), set(ImGuiCol_PlotHistogram, p.line_strong);
}

}  // namespace peel::views::theme
