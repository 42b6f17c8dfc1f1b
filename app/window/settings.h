// What the window remembers between starts: theme, size, workspace, which panels are closed, recent files. Kept
// with Dear ImGui's own layout in one text file, XDG_CONFIG_HOME/peel/window.ini.
#pragma once
#include <string>
#include <vector>

namespace peel::app {

struct Settings {
  bool dark = true;
  float zoom = 1;                     // times the display's own scale
  std::string workspace = "Dispatch";
  std::vector<std::string> closed;    // "Panel@Workspace"
  std::vector<std::string> recent;    // newest first
  int layout = 0;                     // version of the default layouts that the file was written with
  int width = 1280, height = 720;
  bool guide_done = false;

  void remember(const std::string& path);
};

/// Folder for settings, made when missing; "" when that is impossible (then nothing is remembered).
std::string settings_folder();
/// Hooks the settings into the current ImGui context's .ini handling. `s` must outlive the context.
void attach_settings(Settings* s);

}  // namespace peel::app
