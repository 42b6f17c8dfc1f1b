// Panel Trace: what happened, folded by iteration, module, line, call and hop, with the layers each call passed.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_trace_panel();

}  // namespace peel::views
