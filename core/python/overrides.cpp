#include "core/python/overrides.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <vector>

#include "core/dispatch/error.h"
#include "core/python/tensor_object.h"

namespace peel::core::python {
namespace {

// How many guards of a kind are open on this thread.
int& subclasses_off() {
  static thread_local int n = 0;
  return n;
}
int& all_off() {
  static thread_local int n = 0;
  return n;
}
std::vector<nb::object>& modes() {
  static thread_local auto& all = *new std::vector<nb::object>;  // never freed: a thread may end after Python
  return all;
}

PyObject* handler_name = nullptr;
PyObject* disabled = nullptr;      // what a class has as its handler to be treated as a plain tensor
PyTypeObject* plain_tensor = nullptr;

bool has_handler(PyTypeObject* type) {
  if (type == plain_tensor || type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type || type == &PyUnicode_Type || type == Py_TYPE(Py_None)) return false;
  PyObject* found = _PyType_Lookup(type, handler_name);
  return found && found != disabled;
}

// f(object) for each that may have a handler, until it says true.
template <class F>
bool any_of(PyObject* given, F f, int depth = 0) {
  if (PyTuple_CheckExact(given) || PyList_CheckExact(given)) {
    if (depth > 1) return false;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(given);
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (any_of(PySequence_Fast_GET_ITEM(given, i), f, depth + 1)) return true;
    }
    return false;
  }
  return has_handler(Py_TYPE(given)) && f(given);
}
template <class F>
bool any_argument(nb::handle self, nb::handle args, nb::handle kwargs, F f) {
  if (self.is_valid() && any_of(self.ptr(), f)) return true;
  if (args.is_valid() && any_of(args.ptr(), f)) return true;
  if (!kwargs.is_valid() || !PyDict_CheckExact(kwargs.ptr())) return false;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(kwargs.ptr(), &at, &key, &value);) {
    if (any_of(value, f)) return true;
  }
  return false;
}

// While a mode handles a call it is off itself.
class WithoutInnermost {
 public:
  WithoutInnermost() : mode_(modes().back()) { modes().pop_back(); }
  ~WithoutInnermost() { modes().push_back(mode_); }
  WithoutInnermost(const WithoutInnermost&) = delete;
  WithoutInnermost& operator=(const WithoutInnermost&) = delete;
  const nb::object& mode() const { return mode_; }

 private:
  nb::object mode_;
};

template <int& counter()>
struct Off {
  void enter() { ++counter(); }
  void exit(nb::args) { --counter(); }
};
template <int& counter()>
void bind_off(nb::module_& m, const char* name) {
  nb::class_<Off<counter>>(m, name).def(nb::init<>()).def("__enter__", &Off<counter>::enter).def("__exit__", &Off<counter>::exit);
}

}  // namespace

bool is_overridden(nb::handle self, nb::handle args, nb::handle kwargs) {
  if (all_off()) return false;
  if (!modes().empty()) return true;
  return !subclasses_off() && any_argument(self, args, kwargs, [](PyObject*) { return true; });
}

nb::object call_overridden(nb::handle function, const char* name, nb::handle self, nb::handle args, nb::handle kwargs) {
  std::vector<nb::object> handlers;  // one of each class, of a class below another one first
  if (!subclasses_off()) {
    any_argument(self, args, kwargs, [&handlers](PyObject* o) {
      const auto known = [o](const nb::object& h) { return Py_TYPE(h.ptr()) == Py_TYPE(o); };
      if (std::ranges::any_of(handlers, known)) return false;
      const auto at = std::ranges::find_if(handlers, [o](const nb::object& h) { return PyType_IsSubtype(Py_TYPE(o), Py_TYPE(h.ptr())) != 0; });
      handlers.insert(at, nb::borrow(o));
      return false;
    });
  }
  nb::list kinds;
  for (const nb::object& h : handlers) kinds.append(h.type());
  const nb::tuple types(kinds);
  nb::object all = nb::borrow(args);
  if (self.is_valid()) all = nb::steal(PySequence_Concat(nb::make_tuple(nb::borrow(self)).ptr(), args.ptr()));
  const auto ask = [&](const nb::object& handler) { return handler.attr("__torch_function__")(function, types, all, kwargs.is_valid() ? nb::borrow(kwargs) : nb::object(nb::dict())); };
  if (!modes().empty()) {
    const WithoutInnermost outer;
    nb::object result = ask(outer.mode());
    if (result.ptr() != Py_NotImplemented) return result;
  }
  for (const nb::object& h : handlers) {
    nb::object result = ask(h);
    if (result.ptr() != Py_NotImplemented) return result;
  }
  if (!name) {
    const std::string full = nb::cast<std::string>(nb::str(function.attr("__module__"))) + "." + nb::cast<std::string>(nb::str(function.attr("__name__")));
    throw TypeError("no implementation found for '" + full + "' on types that implement __torch_function__: " + nb::repr(kinds).c_str());
  }
  std::string text = "Multiple dispatch failed for '" + std::string(name) + "'; all __torch_function__ handlers returned NotImplemented:\n\n";
  for (nb::handle kind : kinds) text += std::string("  - tensor subclass ") + nb::repr(kind).c_str() + "\n";
  throw TypeError(text + "\nFor more information, try re-running with TORCH_LOGS=not_implemented");
}

void bind_overrides(nb::module_& m) {
  handler_name = PyUnicode_InternFromString("__torch_function__");
  m.def("_disabled_torch_function_impl", [](nb::handle, nb::args) { return nb::borrow(Py_NotImplemented); });
  disabled = m.attr("_disabled_torch_function_impl").ptr();  // held by the module
  bind_off<subclasses_off>(m, "DisableTorchFunctionSubclass");
  bind_off<all_off>(m, "DisableTorchFunction");
  m.def("_set_plain_tensor", [](nb::handle type) { plain_tensor = reinterpret_cast<PyTypeObject*>(type.ptr()); });
  m.def("_is_torch_function_enabled", [] { return !subclasses_off() && !all_off(); });
  m.def("_overridden", [](nb::handle args, nb::handle kwargs) { return is_overridden({}, args, kwargs.is_none() ? nb::handle() : kwargs); }, nb::arg(), nb::arg().none());
  m.def("_call_overridden", [](nb::handle function, nb::handle args, nb::handle kwargs) { return call_overridden(function, nullptr, {}, args, kwargs); });
  m.def("_handlers", [](nb::handle args) {
    nb::list out;
    any_argument({}, args, {}, [&out](PyObject* o) {
      out.append(nb::borrow(o));
      return false;
    });
    return out;
  });
  m.def("_push_function_mode", [](nb::object mode) { modes().push_back(std::move(mode)); });
  m.def("_pop_function_mode", [] {
    nb::object mode = modes().back();
    modes().pop_back();
    return mode;
  });
  m.def("_function_modes", [] {
    nb::list out;
    for (const nb::object& mode : modes()) out.append(mode);
    return out;
  });
}

}  // namespace peel::core::python
