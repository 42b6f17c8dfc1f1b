// x[index]: each part of the index is an operator, as in stock. Parts that take the whole dimension are none.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "core/dispatch/error.h"
#include "core/python/call_by_name.h"
#include "core/python/tensor_methods.h"
#include "core/python/tensor_object.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/ops.h"

namespace peel::core::python {
namespace {

using Int = std::optional<int64_t>;

bool is_batched(nb::handle h) { return is_tensor(h) && tensor_of(h).keys().has(DispatchKey::FuncTorchBatched); }  // a number for each sample is no number
bool is_tensor_index(nb::handle h) { return (is_tensor(h) && (is_batched(h) || !is_index(h))) || PyList_Check(h.ptr()) || PyRange_Check(h.ptr()); }
bool is_bool(nb::handle h) { return PyBool_Check(h.ptr()) || (is_tensor(h) && tensor_of(h).dtype() == ScalarType::Bool && tensor_of(h).dim() == 0); }

int64_t to_index(nb::handle h) {
  if (is_tensor(h)) return ops::item::call(tensor_of(h)).value.to_int();
  return nb::cast<int64_t>(h);
}

Tensor select(const Tensor& t, int64_t dim, int64_t index) {
  if (t.impl().nested) return ops::select_int::call(t, dim, index);  // whose sizes only the operator knows
  const int64_t size = t.sizes()[static_cast<size_t>(dim)];
  if (index < -size || index >= size) {
    throw IndexError("index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(dim) + " with size " + std::to_string(size));
  }
  return ops::select_int::call(t, dim, index);
}

Tensor slice(const Tensor& t, int64_t dim, nb::handle h, bool always = false) {
  static const NamedOperator<Tensor(const Tensor&, int64_t, Int, Int, int64_t)> operation("slice", "Tensor");
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(h.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
  if (step <= 0) throw ValueError("step must be greater than zero");
  if (!always && start == 0 && step == 1 && stop >= t.sizes()[static_cast<size_t>(dim)]) return t;
  return operation(t, dim, start, stop, step);
}

int64_t dimensions_used(const nb::list& parts) {
  int64_t n = 0;
  for (nb::handle p : parts) {
    if (is_tensor(p) && tensor_of(p).dtype() == ScalarType::Bool) n += tensor_of(p).dim();
    else n += !p.is_none() && p.ptr() != Py_Ellipsis && !PyBool_Check(p.ptr());
  }
  return n;
}

// What an index asks for: a view, and tensors that choose among its elements.
struct Place {
  Tensor view;
  std::vector<std::optional<Tensor>> chosen;  // by dimension of the view
};

Tensor index_tensor(nb::handle h) {
  return is_tensor(h) ? tensor_of(h) : tensor_of(nb::module_::import_("torch._C").attr("_as_tensor")(h, nb::none(), nb::none()));
}

// Stands for a bool, in a new dimension of one: whether that one is taken.
Tensor taken_or_not(nb::handle h) {
  const bool taken = is_tensor(h) ? ops::item::call(tensor_of(h)).value.to_bool() : h.ptr() == Py_True;
  Tensor t = ops::empty_memory_format::call(SizeVector{taken ? 1 : 0}, ScalarType::Long, Layout::Strided, Device(), {}, {});
  if (taken) ops::fill__Scalar::call(t, 0.0);
  return t;
}

Place place_at(const Tensor& self, nb::handle index) {
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
  std::vector<std::optional<Tensor>> chosen;
  int64_t dim = 0, more = 0;  // dimensions that masks take beyond their place in the list
  for (nb::handle p : parts) {
    if (is_bool(p)) {
      t = ops::unsqueeze::call(t, dim);
      chosen.resize(static_cast<size_t>(dim++ - more), Tensor());
      chosen.emplace_back(taken_or_not(p));
    } else if (is_tensor_index(p)) {
      Tensor by = index_tensor(p);
      const int64_t takes = by.dtype() == ScalarType::Bool ? by.dim() : 1;
      chosen.resize(static_cast<size_t>(dim - more), Tensor());
      chosen.emplace_back(std::move(by));
      dim += takes;
      more += takes - 1;
    } else if (p.ptr() == Py_Ellipsis) dim += self.dim() - used;
    else if (p.is_none()) t = ops::unsqueeze::call(t, dim++);
    else if (PySlice_Check(p.ptr())) t = slice(t, dim, p), ++dim;
    else if (is_index(p)) t = select(t, dim, to_index(p));
    else if (PyUnicode_Check(p.ptr())) throw TypeError("new(): invalid data type 'str'");
    else throw IndexError("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got " + std::string(Py_TYPE(p.ptr())->tp_name) + ")");
  }
  return {t, std::move(chosen)};
}

Tensor read(const Tensor& self, nb::handle i) {
  static const NamedOperator<Tensor(const Tensor&, std::span<const std::optional<Tensor>>)> choose("index", "Tensor");
  if (PySlice_Check(i.ptr()) && self.dim() > 0) return slice(self, 0, i, true);
  const Place p = place_at(self, i);
  if (!p.chosen.empty()) return choose(p.view, p.chosen);
  return p.view.is_same(self) ? ops::alias::call(self) : p.view;
}

// A number as a tensor of this type, below dispatch.
Tensor number_of_type(const IValue& v, ScalarType type) {
  Tensor t = empty({}, type);
  kernels::with_any_type(type, "fill_out", [&]<class T>(T) {
    if constexpr (kernels::kIsComplex<T>) *t.data_as<T>() = kernels::converted<T>(v.to_complex());
    else *t.data_as<T>() = v.tag() == IValue::Tag::kDouble ? static_cast<T>(v.to_double()) : static_cast<T>(v.tag() == IValue::Tag::kBool ? v.to_bool() : v.to_int());
  });
  return t;
}

void write(const Tensor& self, nb::handle index, nb::handle value) {
  static const NamedOperator<Tensor(const Tensor&)> lift("lift_fresh");
  static const NamedOperator<Tensor&(Tensor&, std::span<const std::optional<Tensor>>, const Tensor&, bool)> put("index_put_");
  Tensor given;
  IValue number;
  const bool is_number = !is_tensor(value);
  if (!is_number) {
    given = tensor_of(value);
  } else if (to_scalar(value, &number)) {
    const ExcludeKeys unseen(kAutogradAndADInplaceOrView | DispatchKey::Tracer);
    given = lift(number_of_type(number, self.dtype()));
  } else {
    throw TypeError(std::string("can't assign a ") + Py_TYPE(value.ptr())->tp_name + " to a torch." + to_string(self.dtype()) + "Tensor");
  }
  if (index.ptr() == Py_False) return;
  Place p = index.ptr() == Py_True ? Place{ops::unsqueeze::call(self, 0), {}} : place_at(self, index);
  if (!p.chosen.empty()) {
    put(p.view, p.chosen, given, false);
  } else if (std::ranges::equal(p.view.sizes(), given.sizes())) {
    ops::copy_::call(p.view, given);
  } else if (given.dim() == 0) {
    ops::fill__Tensor::call(p.view, given);
  } else {  // leading ones don't count
    const auto first = std::ranges::find_if(given.sizes(), [](int64_t n) { return n != 1; });
    given = ops::view::call(given, SizeVector(first, given.sizes().end()));
    if (!std::ranges::equal(p.view.sizes(), given.sizes())) given = ops::expand::call(given, p.view.sizes(), true);
    ops::copy_::call(p.view, given);
  }
}

}  // namespace

void bind_indexing(nb::module_&) {
  tensor_base().attr("__getitem__") = nb::cpp_function([](const Tensor& t, nb::handle i) { return read(t, i); }, nb::name("__getitem__"), nb::is_method(), nb::arg().none());
  tensor_base().attr("__setitem__") = nb::cpp_function([](const Tensor& t, nb::handle i, nb::handle v) { write(t, i, v); }, nb::name("__setitem__"), nb::is_method(), nb::arg().none(), nb::arg());
}

}  // namespace peel::core::python
