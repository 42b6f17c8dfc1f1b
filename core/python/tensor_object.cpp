#include "core/python/tensor_object.h"

#include <unordered_map>

#include "core/dispatch/error.h"

namespace peel::core::python {
namespace {

struct Object {
  PyObject_HEAD
  Tensor tensor;
};

PyTypeObject* base_type = nullptr;
PyObject* tensor_class = nullptr;

// The object of each tensor that has one, not owned.
std::unordered_map<const KeyedObject*, PyObject*>& objects() {
  static auto& all = *new std::unordered_map<const KeyedObject*, PyObject*>;
  return all;
}

PyObject* create(PyTypeObject* type, const Tensor& t) {
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) throw nb::python_error();
  new (&reinterpret_cast<Object*>(self)->tensor) Tensor(t);
  if (t.defined()) objects()[t.object().get()] = self;
  return self;
}

PyObject* make_undefined(PyTypeObject* type, PyObject*, PyObject*) { return create(type, {}); }

void end(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Tensor& tensor = reinterpret_cast<Object*>(self)->tensor;
  if (tensor.defined()) objects().erase(tensor.object().get());
  tensor.~Tensor();
  type->tp_free(self);
  Py_DECREF(type);
}

}  // namespace

void bind_tensor_type(nb::module_& m) {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&end)}, {Py_tp_new, reinterpret_cast<void*>(&make_undefined)}, {0, nullptr}};
  static PyType_Spec spec = {"torch._C.TensorBase", sizeof(Object), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  base_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!base_type) throw nb::python_error();
  m.attr("TensorBase") = nb::handle(reinterpret_cast<PyObject*>(base_type));
}

nb::handle tensor_base() { return reinterpret_cast<PyObject*>(base_type); }
void set_tensor_class(nb::handle type) {
  Py_INCREF(type.ptr());
  tensor_class = type.ptr();
}

bool is_tensor(nb::handle h) { return PyObject_TypeCheck(h.ptr(), base_type); }
const Tensor& tensor_of(nb::handle h) { return reinterpret_cast<Object*>(h.ptr())->tensor; }

void require_memory(const Tensor& t) {
  if (t.impl().wraps) throw Error("Cannot access data pointer of Tensor that doesn't have storage");
}

nb::object wrap(const Tensor& t) {
  if (!t.defined()) return nb::none();
  const auto known = objects().find(t.object().get());
  if (known != objects().end()) return nb::borrow(known->second);
  return nb::steal(create(reinterpret_cast<PyTypeObject*>(tensor_class), t));
}

nb::object wrap_as(nb::handle type, const Tensor& t) { return nb::steal(create(reinterpret_cast<PyTypeObject*>(type.ptr()), t)); }

}  // namespace peel::core::python
