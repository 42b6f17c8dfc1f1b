#include "core/python/values.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <map>

#include "core/autograd/history.h"
#include "core/dispatch/error.h"
#include "core/python/tensor_object.h"
#include "core/tensor/sparse.h"
#include "core/tensor/promotion.h"
#include "ops_generated/ops.h"

namespace peel::core::python {
namespace {

std::map<ScalarType, PyObject*> dtypes;
std::map<Layout, PyObject*> layouts;
PyObject* size_class = nullptr;

template <class T>
PyObject* keep(T v) {
  return nb::cast(std::move(v)).release().ptr();
}

Device device_of_new;
std::vector<Device> devices_before;

Device device_from(nb::handle h, std::optional<int> index) {
  if (nb::isinstance<Device>(h)) return nb::cast<Device>(h);
  if (PyLong_Check(h.ptr())) throw Error("Cannot access accelerator device when none is available.");
  Device d = device_named(nb::cast<std::string>(h));
  if (index) d.index = static_cast<int8_t>(*index);
  return d;
}

std::string device_repr(Device d) {
  std::string text = to_string(Device{d.type, -1});
  text = "device(type='" + text + "'";
  if (d.index >= 0) text += ", index=" + std::to_string(d.index);
  return text + ")";
}

}  // namespace

void bind_values(nb::module_& m) {
  nb::class_<DType>(m, "dtype")
      .def("__repr__", [](const DType& d) { return std::string("torch.") + python_name(d.type); })
      .def_prop_ro("is_floating_point", [](const DType& d) { return is_floating(d.type); })
      .def_prop_ro("is_complex", [](const DType& d) { return is_complex(d.type); })
      .def_prop_ro("is_signed", [](const DType& d) { return d.type != ScalarType::Byte && d.type != ScalarType::Bool; })
      .def_prop_ro("itemsize", [](const DType& d) { return element_size(d.type); })
      .def("__reduce__", [](const DType& d) { return std::string(python_name(d.type)); });
#define PEEL_ONE(name, number, bytes, python)                            \
  dtypes[ScalarType::name] = keep(DType{ScalarType::name});              \
  m.attr(python) = nb::handle(dtypes[ScalarType::name]);
  PEEL_SCALAR_TYPES(PEEL_ONE)
#undef PEEL_ONE
  nb::class_<LayoutName>(m, "layout").def("__repr__", [](const LayoutName& l) { return std::string("torch.") + python_name(l.layout); });
  for (const Layout l : {Layout::Strided, Layout::Sparse, Layout::SparseCsr, Layout::SparseCsc, Layout::SparseBsr, Layout::SparseBsc}) {
    layouts[l] = keep(LayoutName{l});
    m.attr(python_name(l)) = nb::handle(layouts[l]);
  }
  nb::class_<FormatName>(m, "memory_format").def("__repr__", [](const FormatName& f) {
    static const char* const names[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
    return std::string("torch.") + names[static_cast<int>(f.format)];
  }).def("__eq__", [](const FormatName& f, nb::handle h) { return nb::isinstance<FormatName>(h) && nb::cast<FormatName>(h).format == f.format; }, nb::arg().none())
      .def("__hash__", [](const FormatName& f) { return static_cast<int>(f.format); });
  m.attr("contiguous_format") = nb::cast(FormatName{MemoryFormat::Contiguous});
  m.attr("preserve_format") = nb::cast(FormatName{MemoryFormat::Preserve});
  m.attr("channels_last") = nb::cast(FormatName{MemoryFormat::ChannelsLast});
  m.attr("channels_last_3d") = nb::cast(FormatName{MemoryFormat::ChannelsLast3d});
  nb::class_<Device>(m, "device")
      .def("__init__", [](Device* self, nb::handle what, std::optional<int> index) { new (self) Device(device_from(what, index)); }, nb::arg("device"),
           nb::arg("index") = nb::none())
      .def_prop_ro("type", [](const Device& d) { return to_string(Device{d.type, -1}); })
      .def_prop_ro("index", [](const Device& d) { return d.index < 0 ? std::optional<int>() : std::optional<int>(d.index); })
      .def("__repr__", &device_repr)
      .def("__str__", [](const Device& d) { return to_string(d); })
      .def("__enter__", [](nb::handle self) {
        devices_before.push_back(std::exchange(device_of_new, nb::cast<Device>(self)));
        return nb::borrow(self);
      })
      .def("__exit__", [](const Device&, const nb::args&) {
        device_of_new = devices_before.back();
        devices_before.pop_back();
      })
      .def("__reduce__", [](nb::handle self) {
        const Device d = nb::cast<Device>(self);
        const std::string type = to_string(Device{d.type, -1});
        return nb::make_tuple(self.type(), d.index < 0 ? nb::make_tuple(type) : nb::make_tuple(type, static_cast<int>(d.index)));
      })
      .def("__hash__", [](const Device& d) { return d.type * 256 + d.index; })
      .def("__eq__", [](const Device& a, nb::handle b) { return nb::isinstance<Device>(b) && a == nb::cast<Device>(b); });
  m.def("_set_classes", [](nb::handle tensor, nb::handle size) {
    set_tensor_class(tensor);
    size_class = nb::borrow(size).release().ptr();
  });
  m.def("_default_device", [] { return device_of_new; });
  m.def("_set_default_device", [](Device d) { device_of_new = d; });
  m.def("get_default_dtype", [] { return dtype_object(default_dtype()); });
  m.def("_set_default_dtype", [](const DType& d) {
    if (!is_floating(d.type)) throw TypeError("only floating-point types are supported as the default type");
    set_default_dtype(d.type);
  });
}

nb::object layout_object(Layout l) { return nb::borrow(layouts.at(l)); }
nb::object dtype_object(ScalarType t) { return nb::borrow(dtypes.at(t)); }
nb::object size_object(Sizes s) {
  nb::list items;
  for (const int64_t v : s) items.append(v);
  return nb::borrow(size_class)(nb::tuple(items));
}

Device default_device() { return device_of_new; }

Device device_named(const std::string& text) {
  Device d;
  if (parse_device(text, &d)) return d;
  const std::string type = text.substr(0, text.find(':'));
  if (type != text && parse_device(type, &d)) throw Error("Invalid device string: '" + text + "'");
  throw Error("Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of "
              "device string: " + text);
}

void require_device(Device d) {
  if (d.type == 0 || d.type == 14) return;
  if (d.type != 1) missing("tensors on " + to_string(d));
  PyErr_SetString(PyExc_AssertionError, "Torch not compiled with CUDA enabled");
  throw nb::python_error();
}

void missing(const std::string& what) {
  throw NotImplemented("The embedded engine has no " + what + " yet; the program can be run on stock PyTorch (--engine pytorch).");
}

bool is_index(nb::handle h) {
  if (PyLong_Check(h.ptr())) return !PyBool_Check(h.ptr());
  if (is_tensor(h)) {
    const Tensor& t = tensor_of(h);
    return t.dim() == 0 && !requires_grad(t) && !is_floating(t.dtype()) && !is_complex(t.dtype());
  }
  return !PyFloat_Check(h.ptr()) && !PyBool_Check(h.ptr()) && PyIndex_Check(h.ptr());
}

bool to_scalar(nb::handle h, IValue* out) {
  if (PyBool_Check(h.ptr())) *out = h.ptr() == Py_True;
  else if (PyLong_Check(h.ptr())) *out = nb::cast<int64_t>(h);
  else if (PyFloat_Check(h.ptr())) *out = PyFloat_AS_DOUBLE(h.ptr());
  else if (PyComplex_Check(h.ptr())) *out = std::complex<double>(PyComplex_RealAsDouble(h.ptr()), PyComplex_ImagAsDouble(h.ptr()));
  else if (is_tensor(h) && tensor_of(h).dim() == 0 && !requires_grad(tensor_of(h))) *out = ops::item::call(tensor_of(h)).value;
  else return false;
  return true;
}

bool to_ints(nb::handle h, SizeVector* out) {
  if (!PyTuple_Check(h.ptr()) && !PyList_Check(h.ptr())) return false;
  for (nb::handle one : nb::borrow<nb::sequence>(h)) {
    if (!is_index(one)) return false;
    if (out) out->push_back(is_tensor(one) ? ops::item::call(tensor_of(one)).value.to_int() : nb::cast<int64_t>(one));
  }
  return true;
}

IValue box(nb::handle h) {
  if (h.is_none()) return {};
  if (is_tensor(h)) return IValue(tensor_of(h));
  IValue number;
  if (to_scalar(h, &number)) return number;
  if (nb::isinstance<nb::str>(h)) return IValue(nb::cast<std::string>(h));
  if (nb::isinstance<DType>(h)) return IValue(static_cast<int64_t>(nb::cast<DType>(h).type));
  if (nb::isinstance<LayoutName>(h)) return IValue(static_cast<int64_t>(nb::cast<LayoutName>(h).layout));
  if (nb::isinstance<FormatName>(h)) return IValue(static_cast<int64_t>(nb::cast<FormatName>(h).format));
  if (nb::isinstance<Device>(h)) return IValue(nb::cast<Device>(h));
  if (PyTuple_Check(h.ptr()) || PyList_Check(h.ptr())) {
    std::vector<IValue> all;
    for (nb::handle one : nb::borrow<nb::sequence>(h)) all.push_back(box(one));
    return IValue::list(std::move(all));
  }
  throw TypeError(std::string("an operator can't take a ") + Py_TYPE(h.ptr())->tp_name);
}

nb::object unbox(const IValue& v, const Type& type) {
  if (type.kind == Type::Kind::kOptional) return v.is_none() ? nb::object(nb::none()) : unbox(v, type.element());
  switch (v.tag()) {
    case IValue::Tag::kNone: return nb::none();
    case IValue::Tag::kTensor: return wrap(Tensor(v.to_tensor().release()));
    case IValue::Tag::kInt:
      if (type.is("ScalarType")) return dtype_object(static_cast<ScalarType>(v.to_int()));
      if (type.is("Layout")) return layout_object(static_cast<Layout>(v.to_int()));
      if (type.is("MemoryFormat")) return nb::cast(FormatName{static_cast<MemoryFormat>(v.to_int())});
      return nb::int_(v.to_int());
    case IValue::Tag::kDouble: return nb::float_(v.to_double());
    case IValue::Tag::kBool: return nb::bool_(v.to_bool());
    case IValue::Tag::kDevice: return nb::cast(v.to_device());
    case IValue::Tag::kComplex: return nb::steal(PyComplex_FromDoubles(v.to_complex().real(), v.to_complex().imag()));
    case IValue::Tag::kString: return nb::str(v.to_string().c_str());
    case IValue::Tag::kList: {
      nb::list all;
      const Type none{};
      for (const IValue& one : v.to_list()) all.append(unbox(one, type.kind == Type::Kind::kList ? type.element() : none));
      return all;
    }
    default: throw Error(std::string("a value of the kind ") + to_string(v.tag()) + " can't be handed to Python");
  }
}

nb::object unbox_results(const Stack& s, const std::vector<Argument>& returns, const std::string& name) {
  if (returns.empty()) return nb::none();
  const size_t first = s.size() - returns.size();
  if (returns.size() == 1) {
    nb::object one = unbox(s[first], returns[0].type);
    return PyList_Check(one.ptr()) ? nb::object(nb::tuple(one)) : one;
  }
  nb::list values, names;
  for (size_t i = 0; i < returns.size(); ++i) {
    values.append(unbox(s[first + i], returns[i].type));
    if (!returns[i].name.empty()) names.append(returns[i].name);
  }
  if (nb::len(names) != returns.size()) return nb::tuple(values);
  static std::map<std::string, PyObject*> types;
  PyObject*& type = types[name];
  if (!type) type = nb::module_::import_("torch.return_types").attr("make")(name, names).release().ptr();
  return nb::borrow(type)(values);
}

}  // namespace peel::core::python
