// Panel Program: the source with the current line and the hops of each line, the output around the selected hop,
// buttons to run and step, and an editor to change the program and run it again.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_program_panel();

}  // namespace peel::views
