// The parts of the Compare panel that only draw.
#pragma once
#include "views/compare_model.h"
#include "views/pen.h"
#include "views/why_model.h"

namespace peel::views {

/// Where things stand in a row, in pixels.
struct CompareColumns {
  float call, line, strip[2], hops[2], sign, what, right;
  bool words;  // room for "composite" beside a strip
};
CompareColumns compare_columns(const Area&, size_t strip_columns);

void draw_compare_head(const Pen&, const CompareModel&, const CompareColumns&, float y);
/// Returns what the mouse did to the row; *caret: to its caret.
Hit draw_compare_row(const Pen&, const Area&, const CompareColumns&, const CompareRow&, float y, bool marked, bool focused, Hit* caret);

/// "Set A" and "Set B" for a menu of another panel, on a row that covers this span.
void draw_compare_menu(Context&, const DiffScope&);

/// One half of what is below the list: how the call of that side came about.
struct CompareWhy {
  EventId event;
  std::string side, mode;  // "no_grad", "under no_grad"
  std::string effects;     // "Allocates 4.0 KiB on cpu; launches `fill` twice", all that is inside counted; "" = not recorded
  WhyModel model;
};
/// Returns the hop that was clicked, 0 = none.
EventId draw_compare_why(const CompareWhy&, const char* id, const Area&);

}  // namespace peel::views
