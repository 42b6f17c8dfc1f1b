// The hidden options of `peel open` and `peel run` that write a picture of the window and end.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "app/window/window.h"

namespace peel::app {

/// Adds --screenshot FILE.png [--size WxH] [--select N] [--workspace NAME] [--command ID] [--light] [--zoom F]
/// [--frames N] to a command line, out of its help.
inline void add_screenshot_options(CLI::App& app, Screenshot& s) {
  app.add_option("--screenshot", s.file)->group("");
  app.add_option_function<std::string>("--size", [&s](const std::string& text) {
    if (std::sscanf(text.c_str(), "%dx%d", &s.width, &s.height) != 2 || s.width < 320 || s.height < 200 || s.width > 8192 || s.height > 8192)
      throw CLI::ValidationError("--size", "a size is WIDTHxHEIGHT, as 1280x720");
  })->group("");
  app.add_option("--select", s.select)->group("");
  app.add_option("--workspace", s.workspace)->group("");
  app.add_option("--command", s.command)->group("");
  app.add_flag("--light", s.light)->group("");
  app.add_option("--zoom", s.zoom)->group("");
  app.add_option("--frames", s.frames)->group("");
}

}  // namespace peel::app
