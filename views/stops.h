// Panel Breakpoints: the list with hits, and while the program stands what it can be asked: arguments with values, Python's
// variables, threads.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_stops_panel();

}  // namespace peel::views
