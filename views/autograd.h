// Panel Autograd: the graph of nodes around the selection, where the gradient flows and where it stops.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_autograd_panel();

}  // namespace peel::views
