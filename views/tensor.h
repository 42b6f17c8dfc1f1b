// Panel Tensor: one tensor's life: birth, the mode then, uses, writes with version numbers, views.
#pragma once
#include <memory>

#include "views/panel.h"

namespace peel::views {

std::unique_ptr<Panel> make_tensor_panel();

}  // namespace peel::views
