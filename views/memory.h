// Panel Memory: the allocator over time, what it holds at the selected hop, who holds it, why an allocation failed.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_memory_panel();

}  // namespace peel::views
