// The one list of panels, in the order of the View menu.
#include "views/autograd.h"
#include "views/compare.h"
#include "views/findings.h"
#include "views/memory.h"
#include "views/operator.h"
#include "views/panel.h"
#include "views/program.h"
#include "views/query.h"
#include "views/stops.h"
#include "views/tensor.h"
#include "views/timeline.h"
#include "views/trace.h"
#include "views/whatif.h"
#include "views/why.h"

namespace peel::views {

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> all;
  all.push_back(make_program_panel());
  all.push_back(make_trace_panel());
  all.push_back(make_why_panel());
  all.push_back(make_operator_panel());
  all.push_back(make_whatif_panel());
  all.push_back(make_findings_panel());
  all.push_back(make_autograd_panel());
  all.push_back(make_tensor_panel());
  all.push_back(make_memory_panel());
  all.push_back(make_query_panel());
  all.push_back(make_timeline_panel());
  all.push_back(make_compare_panel());
  all.push_back(make_stops_panel());
  return all;
}

}  // namespace peel::views
