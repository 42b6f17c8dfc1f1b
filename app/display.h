// Can a window open here? Asked without linking any window system.
#pragma once
#include <string>

namespace peel::app {

/// An X server answers at $DISPLAY, or a Wayland compositor at $WAYLAND_DISPLAY. Else `why_not` is a sentence.
bool has_display(std::string* why_not);

}  // namespace peel::app
