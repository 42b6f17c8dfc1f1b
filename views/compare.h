// Panel Compare: two sessions or two spans of one, pair by pair, with both onions of the chosen pair below.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_compare_panel();

}  // namespace peel::views
