// The onion of a hop as nested boxes: a box per layer that ran, a thin line per layer that was skipped.
#pragma once
#include "views/pen.h"
#include "views/why_model.h"

namespace peel::views {

theme::Mark mark_of(Look);

/// Draws the layers with their column heads from *y on and moves *y below them. Returns the hop that was
/// clicked (a layer or a chip), 0 = none.
EventId draw_onion(const Pen&, const WhyModel&, const Area&, float* y);

}  // namespace peel::views
