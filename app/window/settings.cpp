#include "app/window/settings.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "imgui.h"
#include "imgui_internal.h"

namespace peel::app {

void Settings::remember(const std::string& path) {
  std::error_code ignored;
  std::string full = std::filesystem::absolute(path, ignored).string();
  if (full.empty()) full = path;
  std::erase(recent, full);
  recent.insert(recent.begin(), full);
  if (recent.size() > 12) recent.resize(12);
}

std::string settings_folder() {
  const char* config = getenv("XDG_CONFIG_HOME");
  const char* home = getenv("HOME");
  std::filesystem::path folder;
  if (config && *config) folder = config;
  else if (home && *home) folder = std::filesystem::path(home) / ".config";
  else return "";
  folder /= "peel";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  return error ? "" : folder.string();
}

namespace {

Settings& of(ImGuiSettingsHandler* h) { return *static_cast<Settings*>(h->UserData); }

void read_line(ImGuiContext*, ImGuiSettingsHandler* h, void*, const char* line) {
  Settings& s = of(h);
  const char* eq = strchr(line, '=');
  if (!eq) return;
  const std::string name(line, eq), value(eq + 1);
  if (name == "dark") s.dark = value != "0";
  else if (name == "zoom") s.zoom = std::clamp(float(atof(value.c_str())), .5f, 3.f);
  else if (name == "workspace") s.workspace = value;
  else if (name == "closed") s.closed.push_back(value);
  else if (name == "recent") s.recent.push_back(value);
  else if (name == "layout") s.layout = atoi(value.c_str());
  else if (name == "width") s.width = std::clamp(atoi(value.c_str()), 320, 16384);
  else if (name == "height") s.height = std::clamp(atoi(value.c_str()), 200, 16384);
  else if (name == "guide_done") s.guide_done = value == "1";
}

void write_all(ImGuiContext*, ImGuiSettingsHandler* h, ImGuiTextBuffer* out) {
  const Settings& s = of(h);
  out->appendf("[%s][window]\n", h->TypeName);
  out->appendf("layout=%d\ndark=%d\nzoom=%.2f\nworkspace=%s\nwidth=%d\nheight=%d\nguide_done=%d\n", s.layout, s.dark, double(s.zoom),
               s.workspace.c_str(), s.width, s.height, s.guide_done);
  for (const std::string& c : s.closed) out->appendf("closed=%s\n", c.c_str());
  for (const std::string& r : s.recent) out->appendf("recent=%s\n", r.c_str());
  out->append("\n");
}

}  // namespace

void attach_settings(Settings* s) {
  ImGuiSettingsHandler h;
  h.TypeName = "Peel";
  h.TypeHash = ImHashStr("Peel");
  h.ReadOpenFn = [](ImGuiContext*, ImGuiSettingsHandler* self, const char*) -> void* {
    of(self).closed.clear(), of(self).recent.clear();
    return self->UserData;
  };
  h.ReadLineFn = read_line;
  h.WriteAllFn = write_all;
  h.UserData = s;
  ImGui::AddSettingsHandler(&h);
}

}  // namespace peel::app
