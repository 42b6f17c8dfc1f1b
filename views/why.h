// Panel Why: how the selected hop came about. A sentence, the onion, the key matrix (ux.md).
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_why_panel();

}  // namespace peel::views
