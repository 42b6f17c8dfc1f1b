// The panel interface. One panel = one pair of files; all panels are made in one list (panels.cpp).
// What to draw is computed apart from ImGui (a `..._model` file) so that unit tests can check it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "views/context.h"

namespace peel::views {

class Panel {
 public:
  virtual ~Panel() = default;
  virtual const char* title() const = 0;    // also the ImGui window's name and the id in layouts
  virtual const char* help() const = 0;     // one sentence, for the palette and an empty panel
  /// Called once a frame between Begin and End of its window, only while visible. Sizes come from ImGui.
  virtual void draw(Context&) = 0;
  /// A new session was opened (or none): drop everything derived from the old one.
  virtual void session_changed(Context&) {}
  /// True while background work of this panel goes on (keeps frames coming).
  virtual bool busy() const { return false; }
  bool open = true;                          // shown at all
};

/// All panels, in the order of the View menu.
std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace peel::views
