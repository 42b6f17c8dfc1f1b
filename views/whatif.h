// The What if panel: a change is written or taken from the selected hop, and the calls that would go elsewhere are listed.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_whatif_panel();

}  // namespace peel::views
