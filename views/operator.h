// The Operator panel: the dispatch table of the selected hop's operator, who registered what where and when, and what PyTorch's lists say of it.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_operator_panel();

}  // namespace peel::views
