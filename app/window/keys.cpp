#include "app/window/keys.h"

#include "imgui.h"

namespace peel::app {

std::string chord_text(views::Chord c) {
  std::string out;
  if (c & ImGuiMod_Ctrl) out += "Ctrl+";
  if (c & ImGuiMod_Shift) out += "Shift+";
  if (c & ImGuiMod_Alt) out += "Alt+";
  if (c & ImGuiMod_Super) out += "Super+";
  const ImGuiKey key = ImGuiKey(c & ~ImGuiMod_Mask_);
  if (c == (ImGuiMod_Shift | ImGuiKey_Slash)) return "?";
  switch (key) {
    case ImGuiKey_Equal: return out + "=";
    case ImGuiKey_Minus: return out + "-";
    case ImGuiKey_Slash: return out + "/";
    case ImGuiKey_LeftArrow: return out + "Left";
    case ImGuiKey_RightArrow: return out + "Right";
    case ImGuiKey_UpArrow: return out + "Up";
    case ImGuiKey_DownArrow: return out + "Down";
    case ImGuiKey_PageUp: return out + "Page Up";
    case ImGuiKey_PageDown: return out + "Page Down";
    default: return out + ImGui::GetKeyName(key);
  }
}

std::string keys_text(const views::Command& c) {
  std::string out;
  for (views::Chord k : c.keys) out += (out.empty() ? "" : ", ") + chord_text(k);
  return out;
}
std::string first_key(const views::Command* c) { return c && !c->keys.empty() ? chord_text(c->keys[0]) : ""; }

bool passes_text_field(views::Chord c) {
  const ImGuiKey key = ImGuiKey(c & ~ImGuiMod_Mask_);
  if (key >= ImGuiKey_F1 && key <= ImGuiKey_F24) return true;
  if (!(c & ImGuiMod_Ctrl)) return false;
  switch (key) {  // copy, cut, paste, select all, undo, redo, words, lines
    case ImGuiKey_C: case ImGuiKey_X: case ImGuiKey_V: case ImGuiKey_A: case ImGuiKey_Z: case ImGuiKey_Y:
    case ImGuiKey_LeftArrow: case ImGuiKey_RightArrow: case ImGuiKey_UpArrow: case ImGuiKey_DownArrow:
    case ImGuiKey_Home: case ImGuiKey_End: case ImGuiKey_Backspace: case ImGuiKey_Delete: case ImGuiKey_Enter: return false;
    default: return true;
  }
}

}  // namespace peel::app
