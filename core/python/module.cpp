#include "core/python/module.h"

#include <nanobind/stl/string.h>

#include "core/autograd/fallback.h"
#include "core/dispatch/error.h"
#include "core/python/arguments.h"
#include "core/python/autograd.h"
#include "core/python/library.h"
#include "core/python/overrides.h"
#include "core/python/tensor_methods.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"

namespace peel::core::python {
namespace {

PyObject* linalg_error = nullptr;  // never freed: the translator lives as long as the interpreter

// The engine's errors as Python's: the most particular first.
void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const NotImplemented& e) {
    PyErr_SetString(PyExc_NotImplementedError, e.what());
  } catch (const TypeError& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const ValueError& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const IndexError& e) {
    PyErr_SetString(PyExc_IndexError, e.what());
  } catch (const LinAlgError& e) {
    PyErr_SetString(linalg_error, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void warn_in_python(const std::string& text) {
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw nb::python_error();
}

}  // namespace

void bind(nb::module_& m) {
  set_warning_handler(&warn_in_python);
  nb::set_leak_warnings(false);  // the process's operators hold functions of Python for good
  linalg_error = PyErr_NewException("torch._C._LinAlgError", PyExc_RuntimeError, nullptr);
  m.attr("_LinAlgError") = nb::borrow(linalg_error);
  nb::register_exception_translator(&translate);
  bind_tensor_type(m);
  bind_values(m);
  bind_overrides(m);
  bind_operators(m);
  bind_tensor_methods(m);
  bind_indexing(m);
  bind_data(m);
  bind_sparse(m);
  bind_nested(m);
  bind_graph(m);
  bind_autograd(m);
  bind_function(m);
  bind_functorch(m);
  bind_library(m);
  bind_python_dispatch(m);
  bind_memory(m);
  bind_profiler(m);
}

}  // namespace peel::core::python
