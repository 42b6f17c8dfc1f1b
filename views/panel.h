// The panel interface. One panel = one pair of files; all panels are made in one list (panels.cpp).
// What to draw is computed apart from ImGui (a `..._model` file) so that unit tests can check it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
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
  /// A command of context "list" (`list.up`, `list.open`, ...) while this panel has the focus. False: not for it.
  virtual bool run(Context&, std::string_view /*id*/) { return false; }
  /// What Ctrl+C puts on the clipboard while this panel has the focus; "" = nothing.
  virtual std::string copy_text(Context&) { return ""; }
  /// True while background work of this panel goes on (keeps frames coming).
  virtual bool busy() const { return false; }
  bool open = true;                          // shown at all
};

/// All panels, in the order of the View menu.
std::vector<std::unique_ptr<Panel>> make_panels();

}  // namespace peel::views
