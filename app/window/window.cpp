// The window system's side: GLFW, OpenGL, the loop that sleeps when nothing happens, pictures for the README.
#include "app/window/window.h"

#include <GLFW/glfw3.h>
#include <png.h>

#include <cmath>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "app/console.h"
#include "app/window/application.h"
#include "imgui.h"
#include "imgui_impl_glfw.h"
#include "imgui_impl_opengl3.h"
#include "views/theme.h"

namespace peel::app {
namespace {

std::string glfw_error;
constexpr double kPictureSeconds = 60;  // then a picture is taken whatever goes on

bool write_picture(const std::string& path, GLFWwindow* window) {
  int w, h;
  glfwGetFramebufferSize(window, &w, &h);
  std::vector<unsigned char> pixels(size_t(w) * size_t(h) * 3);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, w, h, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = unsigned(w), image.height = unsigned(h), image.format = PNG_FORMAT_RGB;
  return png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), -w * 3, nullptr) != 0;  // bottom row first
}

}  // namespace

int run_window(const WindowOptions& options, int* program_status) {
  glfwSetErrorCallback([](int, const char* text) { glfw_error = text; });
  if (!glfwInit()) return fail("cannot open a window: " + glfw_error);
  const bool picture = !options.screenshot.file.empty();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
  io.ConfigInputTrickleEventQueue = true;
  io.ConfigInputTextCursorBlink = !picture;
  Application app(options);
  attach_settings(&app.settings());
  // A picture starts from the defaults and leaves no trace in the reader's settings.
  static std::string ini;
  const std::string folder = picture ? "" : settings_folder();
  ini = folder.empty() ? "" : folder + "/window.ini";
  io.IniFilename = ini.empty() ? nullptr : ini.c_str();
  if (io.IniFilename) ImGui::LoadIniSettingsFromDisk(io.IniFilename);
  if (picture) {
    app.settings().width = options.screenshot.width, app.settings().height = options.screenshot.height;
    app.settings().dark = !options.screenshot.light, app.settings().zoom = options.screenshot.zoom;
  }
  auto end = [&](int status) {
    ImGui::DestroyContext();
    glfwTerminate();
    return status;
  };
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  if (picture) glfwWindowHint(GLFW_DECORATED, GLFW_FALSE);
  else glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  GLFWwindow* window = glfwCreateWindow(app.settings().width, app.settings().height, app.title().c_str(), nullptr, nullptr);
  if (!window) return end(fail("cannot open a window: OpenGL 3.3 is needed (" + glfw_error + "); LIBGL_ALWAYS_SOFTWARE=1 draws without a graphics card"));
  glfwMakeContextCurrent(window);
  glfwSwapInterval(picture ? 0 : 1);
  views::theme::load_fonts();
  float sx = 1, sy = 1;
  if (!picture) glfwGetWindowContentScale(window, &sx, &sy);
  app.set_display_scale(std::max(1.f, sx));
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init("#version 330");
  glfwSetWindowUserPointer(window, &app);
  glfwSetWindowContentScaleCallback(window, [](GLFWwindow* w, float x, float) { static_cast<Application*>(glfwGetWindowUserPointer(w))->set_display_scale(std::max(1.f, x)); });

  int status = kDone, drawn = 0, settled = 0, awake = 3;
  std::string title;
  if (!options.session_path.empty() && !options.program.start) {
    if (const Status s = app.open(options.session_path); !s) {
      status = fail(s.error());
      awake = -1;
    } else if (!options.compare_path.empty()) {
      if (const Status other = app.open_other(options.compare_path); !other) status = fail(other.error()), awake = -1;
    }
  }
  bool commanded = false;
  while (awake >= 0 && !glfwWindowShouldClose(window) && !app.wants_close()) {
    // Idle costs nothing: a few frames after the last activity, then sleep until something happens. While a
    // recording grows the window looks at it twenty times a second; while its program stands, whether it still does.
    constexpr double kStands = .25;
    const double before = glfwGetTime();
    if (picture || awake > 0) glfwPollEvents();
    else if (app.busy()) glfwWaitEventsTimeout(.05);
    else if (app.stands()) glfwWaitEventsTimeout(kStands);
    else glfwWaitEvents();
    const bool nothing = app.stands() && glfwGetTime() - before > kStands * .9;
    awake = awake > 0 ? awake - 1 : app.busy() || nothing ? 0 : 3;
    if (ImGui::GetIO().WantTextInput && io.ConfigInputTextCursorBlink && awake == 0) awake = 1;
    int w, h;
    glfwGetFramebufferSize(window, &w, &h);
    if (!w || !h) continue;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    if (picture) io.AddMousePosEvent(-1000, -1000);
    ImGui::NewFrame();
    app.frame();
    ImGui::Render();
    glViewport(0, 0, w, h);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    drawn++;
    if (picture) {
      settled = app.settled() ? settled + 1 : 0;
      if (settled > 4 && !commanded && !options.screenshot.command.empty()) {
        commanded = true, settled = 0;
        if (!app.commands().run(options.screenshot.command)) {
          status = fail("no such command, or not possible now: " + options.screenshot.command);
          break;
        }
      } else if (const bool late = glfwGetTime() > kPictureSeconds; late || (settled > 8 && drawn >= options.screenshot.frames)) {
        if (late) say("the picture was taken while this was still going on: " + app.busy_with());
        if (!write_picture(options.screenshot.file, window)) status = fail("cannot write " + options.screenshot.file);
        break;
      }
    }
    if (picture) {  // read from the back buffer; between frames the threads of the panels get their turn
      glFinish();
      std::this_thread::sleep_for(std::chrono::milliseconds(app.settled() ? 0 : 20));
    } else {
      glfwSwapBuffers(window);
    }
    if (std::string t = app.title(); t != title) glfwSetWindowTitle(window, (title = t).c_str());
    if (!picture && !glfwGetWindowAttrib(window, GLFW_MAXIMIZED)) {
      int ww, wh;
      glfwGetWindowSize(window, &ww, &wh);
      app.settings().width = ww, app.settings().height = wh;
    }
  }
  if (io.IniFilename) ImGui::SaveIniSettingsToDisk(io.IniFilename);
  if (program_status && app.program() && app.program()->last_status() >= 0) *program_status = app.program()->last_status();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  return end(status);
}

}  // namespace peel::app
