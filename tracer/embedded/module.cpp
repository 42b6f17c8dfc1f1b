// The extension module torch._C: the engine's Python part, and what records it.
#include "core/python/module.h"
#include "kernels/load.h"

NB_MODULE(_C, m) {
  peel::kernels::load_operators();
  peel::core::python::bind(m);
  m.attr("__version__") = PEEL_VERSION;
  m.def("_start_recording", [] {});
  m.def("_begin_span", [](const char*) {});
  m.def("_begin_module", [](nanobind::handle) {});
  m.def("_end_span", [] {});
}
