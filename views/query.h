// Panel Query: statistics per operator, key, kernel and line, and a read-only SQL console.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_query_panel();

}  // namespace peel::views
