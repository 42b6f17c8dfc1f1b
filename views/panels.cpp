// The one list of panels, in the order of the View menu.
#include "views/panel.h"
#include "views/trace.h"
#include "views/why.h"

namespace peel::views {

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> all;
  all.push_back(make_trace_panel());
  all.push_back(make_why_panel());
  return all;
}

}  // namespace peel::views
