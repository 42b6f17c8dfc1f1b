// Panel Findings: what a reader should look at, the most serious first; a click leads to the hop.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_findings_panel();

}  // namespace peel::views
