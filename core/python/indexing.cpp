// x[index]: each part of the index is an operator, as in stock. Parts that take the whole dimension are none.
#include <nanobind/stl/string.h>

#include "core/dispatch/error.h"
#include "core/python/call_by_name.h"
#include "core/python/tensor_methods.h"
#include "core/python/tensor_object.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/ops.h"

namespace peel::core::python {
namespace {

using Int = std::optional<int64_t>;

bool is_tensor_index(nb::handle h) { return (is_tensor(h) && !is_index(h)) || PyList_Check(h.ptr()) || PyBool_Check(h.ptr()); }

int64_t to_index(nb::handle h) {
  if (is_tensor(h)) return ops::item::call(tensor_of(h)).value.to_int();
  return nb::cast<int64_t>(h);
}

Tensor select(const Tensor& t, int64_t dim, int64_t index) {
  const int64_t size = t.sizes()[static_cast<size_t>(dim)];
  if (index < -size || index >= size) {
    throw IndexError("index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(dim) + " with size " + std::to_string(size));
  }
  return ops::select_int::call(t, dim, index);
}

Tensor slice(const Tensor& t, int64_t dim, nb::handle h) {
  static const NamedOperator<Tensor(const Tensor&, int64_t, Int, Int, int64_t)> operation("slice", "Tensor");
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(h.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
  if (step <= 0) throw ValueError("step must be greater than zero");
  if (start == 0 && step == 1 && stop >= t.sizes()[static_cast<size_t>(dim)]) return t;
  return operation(t, dim, start, stop, step);
}

int64_t dimensions_used(const nb::list& parts) {
  int64_t n = 0;
  for (nb::handle p : parts) n += !p.is_none() && p.ptr() != Py_Ellipsis && !PyBool_Check(p.ptr());
  return n;
}

Tensor looked_at(const Tensor& self, nb::handle index) {
  nb::list parts;
  if (PyTuple_Check(index.ptr())) {
    for (nb::handle p : nb::borrow<nb::tuple>(index)) parts.append(p);
  } else {
    parts.append(index);
  }
  const int64_t used = dimensions_used(parts);
  if (self.dim() == 0 && used > 0) throw IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
  if (used > self.dim()) throw IndexError("too many indices for tensor of dimension " + std::to_string(self.dim()));
  Tensor t = self;
  int64_t dim = 0;
  for (nb::handle p : parts) {
    if (is_tensor_index(p)) missing("indexing by a tensor or a list");
    if (p.ptr() == Py_Ellipsis) dim += self.dim() - used;
    else if (p.is_none()) t = ops::unsqueeze::call(t, dim++);
    else if (PySlice_Check(p.ptr())) t = slice(t, dim, p), ++dim;
    else if (is_index(p)) t = select(t, dim, to_index(p));
    else throw IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got " + std::string(Py_TYPE(p.ptr())->tp_name) + ")");
  }
  return t.is_same(self) ? ops::alias::call(self) : t;
}

void write(const Tensor& self, nb::handle index, nb::handle value) {
  const bool everything = index.ptr() == Py_Ellipsis;
  Tensor to = everything ? self : looked_at(self, index);
  IValue number;
  if (is_tensor(value)) {
    ops::copy_::call(to, tensor_of(value));
  } else if (to_scalar(value, &number)) {
    ops::fill__Scalar::call(to, Scalar(number));
  } else {
    throw TypeError(std::string("can't assign a ") + Py_TYPE(value.ptr())->tp_name + " to a torch." + to_string(self.dtype()) + "Tensor");
  }
}

}  // namespace

void bind_indexing(nb::module_&) {
  tensor_base().attr("__getitem__") = nb::cpp_function([](const Tensor& t, nb::handle i) { return looked_at(t, i); }, nb::name("__getitem__"), nb::is_method(), nb::arg().none());
  tensor_base().attr("__setitem__") = nb::cpp_function([](const Tensor& t, nb::handle i, nb::handle v) { write(t, i, v); }, nb::name("__setitem__"), nb::is_method(), nb::arg().none(), nb::arg());
}

}  // namespace peel::core::python
