// The extension module torch._C: the engine's Python part, and what records it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "core/python/module.h"
#include "kernels/load.h"
#include "tracer/embedded/recorder.h"

namespace nb = nanobind;

namespace peel::embedded {
namespace {

struct OpenModule { PyObject* object; std::string name; };
thread_local std::vector<OpenModule> open_modules;

std::string key_of(nb::handle dict, nb::handle value) {
  PyObject *key, *found;
  for (Py_ssize_t at = 0; PyDict_Check(dict.ptr()) && PyDict_Next(dict.ptr(), &at, &key, &found);) {
    if (found == value.ptr() && PyUnicode_Check(key)) return PyUnicode_AsUTF8(key);
  }
  return "";
}

// `net.0` for a child of `net`; the variable's name for an outermost module; else "".
std::string module_name(nb::handle self) {
  for (size_t i = open_modules.size(); i-- > 0;) {
    const std::string own = key_of(nb::handle(open_modules[i].object).attr("__dict__")["_modules"], self), &outer = open_modules[i].name;
    if (!own.empty()) return outer.empty() ? own : outer + "." + own;
  }
  if (!open_modules.empty()) return "";
  // The innermost frame is that of Module.__call__: who called it?
  const nb::object here = nb::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  const nb::object caller = here.is_valid() ? nb::object(here.attr("f_back")) : nb::object();
  return caller.is_valid() && !caller.is_none() ? key_of(nb::object(caller.attr("f_globals")), self) : "";
}

void begin_module(nb::handle self) {
  std::string name = is_recording() ? module_name(self) : "";
  begin_span(wire::SpanKind::kModule, name, nb::cast<const char*>(self.type().attr("__name__")), self.ptr());
  open_modules.push_back({self.ptr(), std::move(name)});
}
void end_module() {
  open_modules.pop_back();
  end_span();
}

// What the program prints, and stops at, is the same whether this works or not.
std::string attach(const std::string& process_name, const std::string& python) {
  if (!getenv(wire::kSocketEnv)) return "";
  std::string why_not;
  if (std::string wrong = take_whatif(getenv(wire::kWhatIfEnv)); !wrong.empty()) return wrong;
  if (!connect_to_peel(process_name.c_str(), &why_not)) return why_not;
  define_keys();
  fact("engine", "embedded");
  fact("engine_version", PEEL_VERSION);
  fact("python", python);
  start_recording();
  if (Thread* t = this_thread()) begin_whatif(*t);
  return "";
}

}  // namespace
}  // namespace peel::embedded

NB_MODULE(_C, m) {
  using namespace peel::embedded;
  peel::kernels::load_operators();
  peel::core::python::bind(m);
  m.attr("__version__") = PEEL_VERSION;
  m.def("_attach", &attach, "Recording begins, when peel asks for it. Why not, or nothing.");
  m.def("_is_recording", &is_recording);
  m.def("_answers", [](nb::handle locals, nb::handle threads) { set_questions(locals.ptr(), threads.ptr()); },
        "What answers questions about Python while a thread stands.");
  m.def("_begin_backward", [] { begin_span(peel::wire::SpanKind::kBackward, "backward", "", nullptr); });
  m.def("_end_backward", &end_span);
  m.def("_begin_module", &begin_module);
  m.def("_end_module", &end_module);
}
