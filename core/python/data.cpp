// Tensors out of Python's numbers and lists, and back.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/autograd/history.h"
#include "core/dispatch/error.h"
#include "core/python/arguments.h"
#include "core/python/call_by_name.h"
#include "core/python/tensor_methods.h"
#include "core/python/tensor_object.h"
#include "core/tensor/promotion.h"
#include "kernels/cpu/walk.h"
#include "ops_generated/ops.h"

namespace peel::core::python {
namespace {

bool is_list(nb::handle h) { return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()) || PyRange_Check(h.ptr()); }

bool is_array(nb::handle h) { return std::string_view(Py_TYPE(h.ptr())->tp_name) == "numpy.ndarray"; }
nb::object listed(nb::handle data) { return is_array(data) ? nb::object(data.attr("tolist")()) : nb::borrow(data); }

SizeVector shape_of(nb::handle data) {
  SizeVector out;
  for (nb::object at = listed(data);;) {
    if (is_tensor(at)) out.insert(out.end(), tensor_of(at).sizes().begin(), tensor_of(at).sizes().end());
    if (!is_list(at)) return out;
    const auto n = static_cast<int64_t>(nb::len(at));
    out.push_back(n);
    if (n == 0) return out;
    at = listed(nb::borrow<nb::sequence>(at)[0]);
  }
}

// What NumPy's numbers and arrays hold; nothing for what is no number.
std::optional<ScalarType> numpy_type(nb::handle h) {
  const nb::object known = nb::module_::import_("torch._functions").attr("_NUMPY_TYPES").attr("get")(h.attr("dtype").attr("str")[nb::slice(1, 8, 1)]);
  if (!known.is_none()) return nb::cast<DType>(known).type;
  if (PyNumber_Check(h.ptr())) missing("torch.tensor of NumPy's " + nb::cast<std::string>(nb::str(h.attr("dtype"))));
  return {};
}

ScalarType type_of(nb::handle h) {
  if (is_tensor(h)) return tensor_of(h).dtype();
  if (PyBool_Check(h.ptr())) return ScalarType::Bool;
  if (PyLong_Check(h.ptr())) return ScalarType::Long;
  if (PyFloat_CheckExact(h.ptr())) return default_dtype();
  if (is_numpy_number(h) || is_array(h)) {
    if (const auto type = numpy_type(h)) return *type;
  }
  if (PyFloat_Check(h.ptr())) return default_dtype();
  if (PyComplex_Check(h.ptr())) return complex_of(default_dtype());
  if (!is_list(h)) {
    if (PyIndex_Check(h.ptr())) return ScalarType::Long;
    if (PyNumber_Check(h.ptr())) return default_dtype();
    if (h.is_none()) throw Error("Could not infer dtype of NoneType");
    throw TypeError(std::string("new(): invalid data type '") + Py_TYPE(h.ptr())->tp_name + "'");
  }
  if (nb::len(h) == 0) return default_dtype();
  std::optional<ScalarType> all;
  for (nb::handle one : nb::borrow<nb::sequence>(h)) {
    const ScalarType t = type_of(one);
    all = all ? promote(*all, t) : t;
  }
  return *all;
}

template <class F>
void with_storage_type(ScalarType t, F f) {
  switch (t) {
    case ScalarType::Float: return f(float{});
    case ScalarType::Double: return f(double{});
    case ScalarType::Long: return f(int64_t{});
    case ScalarType::Int: return f(int32_t{});
    case ScalarType::Short: return f(int16_t{});
    case ScalarType::Char: return f(int8_t{});
    case ScalarType::Byte: return f(uint8_t{});
    case ScalarType::Bool: return f(bool{});
    case ScalarType::BFloat16: return f(kernels::BFloat16{});
    case ScalarType::Half: return f(kernels::Half{});
    case ScalarType::ComplexFloat: return f(std::complex<float>{});
    case ScalarType::ComplexDouble: return f(std::complex<double>{});
    default: missing(std::string("Python numbers as torch.") + python_name(t));
  }
}

template <class T>
T real_number(nb::handle h) {
  IValue v;
  nb::object converted;
  if (!to_scalar(h, &v)) {
    converted = nb::steal(std::is_floating_point_v<T> ? PyNumber_Float(h.ptr()) : PyNumber_Index(h.ptr()));
    if (!converted.is_valid()) throw nb::python_error();
    to_scalar(converted, &v);
  }
  if constexpr (std::is_same_v<T, bool>) return v.tag() == IValue::Tag::kDouble ? v.to_double() != 0 : v.tag() == IValue::Tag::kBool ? v.to_bool() : v.to_int() != 0;
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(v.tag() == IValue::Tag::kBool ? v.to_bool() : v.to_double());
  if (v.tag() == IValue::Tag::kDouble) return static_cast<T>(v.to_double());
  return static_cast<T>(v.tag() == IValue::Tag::kBool ? static_cast<int64_t>(v.to_bool()) : v.to_int());
}

template <class T>
T number(nb::handle h) {
  IValue v;
  if constexpr (kernels::kIsComplex<T>) {
    if (!to_scalar(h, &v)) throw TypeError("must be a number");
    const std::complex<double> z = v.to_complex();
    return T(static_cast<typename T::value_type>(z.real()), static_cast<typename T::value_type>(z.imag()));
  } else if constexpr (kernels::kIsSmallFloat<T>) {
    return static_cast<T>(number<float>(h));
  } else {
    return real_number<T>(h);
  }
}
template <class T>
T* fill(nb::handle data, Sizes sizes, size_t dim, T* to) {
  if (is_array(data)) return fill<T>(listed(data), sizes, dim, to);
  if (dim == sizes.size()) {
    *to = number<T>(is_numpy_number(data) ? nb::object(data.attr("item")()) : nb::borrow(data));
    return to + 1;
  }
  if (is_tensor(data)) {
    const Tensor& t = tensor_of(data);
    for (int64_t i = 0; i < t.sizes()[0]; ++i) to = fill<T>(wrap(ops::select_int::call(t, 0, i)), sizes, dim + 1, to);
    return to;
  }
  const auto n = is_list(data) ? static_cast<int64_t>(nb::len(data)) : -1;
  if (n != sizes[dim]) {
    if (n < 0) throw TypeError("not a sequence");
    throw ValueError("expected sequence of length " + std::to_string(sizes[dim]) + " at dim " + std::to_string(dim) + " (got " + std::to_string(n) + ")");
  }
  for (nb::handle one : nb::borrow<nb::sequence>(data)) to = fill<T>(one, sizes, dim + 1, to);
  return to;
}

constexpr Device kMeta{14, -1};

// What stock excludes while it makes a tensor out of data that nobody else may see; the first step, without Tracer in the second.
constexpr DispatchKeySet kUnseen{DispatchKey::Fake, DispatchKey::Python, DispatchKey::FuncTorchDynamicLayerBackMode, DispatchKey::Functionalize, DispatchKey::DeferredInit,
                                 DispatchKey::PythonTLSSnapshot, DispatchKey::FuncTorchDynamicLayerFrontMode};
constexpr DispatchKeySet kTracer{DispatchKey::Tracer};
constexpr DispatchKeySet kTracked = kAutogradAndADInplaceOrView;

Tensor from_data(nb::handle data, std::optional<ScalarType> wanted) {
  const SizeVector sizes = shape_of(data);
  const ScalarType type = wanted.value_or(type_of(data));
  static const NamedOperator<Tensor(const Tensor&, Device, ScalarType, bool, bool, std::optional<MemoryFormat>)> to_device("to", "device");
  Tensor t;
  {
    const ExcludeKeys unseen(kUnseen | kTracked | DispatchKey::Tracer);
    t = ops::empty_memory_format::call(sizes, type, Layout::Strided, Device(), false);
    with_storage_type(type, [&]<class T>(T) { fill<T>(data, sizes, 0, t.data_as<T>()); });
  }
  const ExcludeKeys below(kUnseen | kTracked);
  return to_device(t, Device(), type, false, false, std::optional<MemoryFormat>());
}

// On "meta" only what shape and type the data has counts.
Tensor shaped_like(nb::handle data, std::optional<ScalarType> wanted) {
  const ExcludeKeys unseen(kUnseen | kTracked | DispatchKey::Tracer);
  return ops::empty_memory_format::call(shape_of(data), wanted.value_or(type_of(data)), Layout::Strided, kMeta, {});
}

Tensor lifted(const Tensor& t) {
  static const NamedOperator<Tensor(const Tensor&)> lift("lift_fresh");
  const ExcludeKeys below(kTracked | kTracer);
  return lift(t);
}

Tensor seen(nb::handle array);
Tensor converted(const Tensor& t, std::optional<ScalarType> wanted, bool copy) {
  static const NamedOperator<Tensor(const Tensor&, Device, ScalarType, bool, bool, std::optional<MemoryFormat>)> to_device("to", "device");
  return to_device(t, Device(), wanted.value_or(t.dtype()), false, copy, std::optional<MemoryFormat>());
}
Tensor from_array(nb::handle array, std::optional<ScalarType> wanted, bool copy) {
  static const NamedOperator<Tensor(const Tensor&)> lift("lift_fresh");
  return converted(lift(seen(array)), wanted, copy);
}

}  // namespace

Tensor read_data(nb::handle data, std::optional<ScalarType> wanted) {
  if (is_tensor(data)) return converted(tensor_of(data), wanted, false);
  return is_array(data) ? converted(seen(data), wanted, false) : lifted(from_data(data, wanted));
}

namespace {

Tensor new_tensor(nb::handle data, std::optional<nb::handle> dtype, nb::handle device, bool requires_grad, bool) {
  static const NamedOperator<Tensor&(Tensor&)> detach_("detach_");
  std::optional<ScalarType> type;
  if (dtype && !dtype->is_none()) type = nb::cast<DType>(*dtype).type;
  const Device d = device.is_none() ? default_device() : nb::cast<Device>(nb::module_::import_("torch").attr("device")(device));
  require_device(d);
  const bool meta = d.type == kMeta.type && !is_tensor(data) && !is_array(data);
  if (d.type != 0 && !meta) missing("torch.tensor on " + to_string(d));
  if (data.is_none()) throw Error("Could not infer dtype of NoneType");
  Tensor t;
  if (is_tensor(data)) {
    PyErr_WarnEx(PyExc_UserWarning, "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                 "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).", 1);
    t = converted(ops::detach::call(tensor_of(data)), type, true);
  } else if (is_array(data)) {
    t = from_array(data, type, true);
  } else if (meta) {
    t = shaped_like(data, type);
  } else {
    t = from_data(data, type);
    t = lifted(t);
  }
  t = detach_(t);
  if (requires_grad && !is_differentiable(t.dtype())) throw Error("Only Tensors of floating point and complex dtype can require gradients");
  if (requires_grad) set_requires_grad(t, true);
  return t;
}

// NumPy's array: its memory as a tensor; the functions in Python know how.
Tensor seen(nb::handle array) { return nb::cast<Tensor>(nb::module_::import_("torch._functions").attr("looks_at")(array)); }

// torch.as_tensor of what is no tensor: without the copy of an array where the type fits.
Tensor as_tensor(nb::handle data, nb::handle dtype, nb::handle device) {
  std::optional<ScalarType> type;
  if (!dtype.is_none()) type = nb::cast<DType>(dtype).type;
  if (!device.is_none()) {
    const Device d = nb::cast<Device>(nb::module_::import_("torch").attr("device")(device));
    require_device(d);
    if (d.type != 0) missing("torch.as_tensor on " + to_string(d));
  }
  return is_array(data) ? from_array(data, type, false) : lifted(from_data(data, type));
}

nb::object read(ScalarType type, const void* at) {
  nb::object out;
  with_storage_type(type, [&]<class T>(T) {
    T v;
    std::memcpy(&v, at, sizeof v);
    if constexpr (std::is_same_v<T, bool>) out = nb::bool_(v);
    else if constexpr (kernels::kIsComplex<T>) out = nb::steal(PyComplex_FromDoubles(static_cast<double>(v.real()), static_cast<double>(v.imag())));
    else if constexpr (kernels::kIsSmallFloat<T>) out = nb::float_(static_cast<double>(static_cast<float>(v)));
    else if constexpr (std::is_floating_point_v<T>) out = nb::float_(static_cast<double>(v));
    else out = nb::int_(static_cast<int64_t>(v));
  });
  return out;
}

nb::object list_of(const Tensor& t, size_t dim, const char* at) {
  if (dim == t.sizes().size()) return read(t.dtype(), at);
  nb::list out;
  const int64_t step = t.strides()[dim] * static_cast<int64_t>(element_size(t.dtype()));
  for (int64_t i = 0; i < t.sizes()[dim]; ++i) out.append(list_of(t, dim + 1, at + i * step));
  return out;
}

nb::object to_list(const Tensor& t) {
  if (t.device().type != 0) missing("values of a tensor on " + to_string(t.device()));
  return list_of(t, 0, static_cast<const char*>(t.data()));
}

}  // namespace

void bind_data(nb::module_& m) {
  m.def("tensor", &new_tensor, nb::arg("data").none(), nb::kw_only(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(), nb::arg("requires_grad") = false,
        nb::arg("pin_memory") = false);
  m.def("_as_tensor", &as_tensor, nb::arg("data"), nb::arg("dtype").none(), nb::arg("device").none());
  m.def("_values", [](const Tensor& t) {
    require_memory(t);
    return to_list(t);
  }, "Nested lists of a tensor's numbers, without a call of an operator.");
  m.def("_from_data", [](nb::handle data, const DType& type) { return lifted(from_data(data, type.type)); });
}

}  // namespace peel::core::python
