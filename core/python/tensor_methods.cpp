#include "core/python/tensor_methods.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cctype>

#include "core/autograd/history.h"
#include "core/dispatch/error.h"
#include "core/functorch/layers.h"
#include "core/ops/sparse.h"
#include "core/python/autograd.h"
#include "core/python/call_by_name.h"
#include "core/python/tensor_object.h"
#include "core/tensor/nested.h"
#include "ops_generated/ops.h"

namespace peel::core::python {
namespace {

template <class F, class... Extra>
void method(const char* name, F f, const Extra&... extra) {
  tensor_base().attr(name) = nb::cpp_function(std::move(f), nb::name(name), nb::is_method(), extra...);
}
template <class Get>
void property(const char* name, Get get, nb::object set = nb::none()) {
  const nb::object type = nb::borrow(reinterpret_cast<PyObject*>(&PyProperty_Type));
  tensor_base().attr(name) = type(nb::cpp_function(std::move(get)), std::move(set));
}

using Mode = std::optional<MemoryFormat>;

// The rules by which x.to(...) reads its arguments: a device, a dtype or another tensor, in that order.
struct To {
  std::optional<Device> device;
  std::optional<ScalarType> dtype;
  bool non_blocking = false, copy = false;
  Mode format;
};

void take(nb::handle h, const char* word, To* to) {
  const std::string name = word;
  if (h.is_none() && (name.empty() || name == "device" || name == "dtype" || name == "memory_format")) return;
  if (nb::isinstance<DType>(h)) to->dtype = nb::cast<DType>(h).type;
  else if (nb::isinstance<Device>(h)) to->device = nb::cast<Device>(h);
  else if (nb::isinstance<FormatName>(h)) to->format = nb::cast<FormatName>(h).format;
  else if (PyUnicode_Check(h.ptr())) {
    to->device = device_named(nb::cast<std::string>(h));
  } else if (PyLong_Check(h.ptr()) && !PyBool_Check(h.ptr())) {
    to->device = Device{1, static_cast<int8_t>(nb::cast<int>(h))};
  } else if (is_tensor(h)) {
    to->device = tensor_of(h).device();
    to->dtype = tensor_of(h).dtype();
  } else if (PyBool_Check(h.ptr())) {
    (name == "copy" ? to->copy : to->non_blocking) = h.ptr() == Py_True;
  } else {
    throw TypeError(std::string("to() received an invalid combination of arguments - got (") + Py_TYPE(h.ptr())->tp_name + ")");
  }
}

Tensor convert(const Tensor& self, const To& to) {
  static const NamedOperator<Tensor(const Tensor&, Device, ScalarType, bool, bool, Mode)> to_device("to", "device");
  if (to.device) require_device(*to.device);
  if (!to.device && !to.dtype && !to.copy && !to.format) return self;
  if (!to.device && !to.dtype) return ops::to_dtype_layout::call(self, self.dtype(), {}, self.device(), {}, to.non_blocking, to.copy, to.format);
  if (!to.device) return ops::to_dtype::call(self, *to.dtype, to.non_blocking, to.copy, to.format);
  if (!to.dtype) return ops::to_dtype_layout::call(self, self.dtype(), Layout::Strided, to.device, {}, to.non_blocking, to.copy, to.format);
  return to_device(self, *to.device, *to.dtype, to.non_blocking, to.copy, to.format);
}

Tensor method_to(const Tensor& self, const nb::args& args, const nb::kwargs& kwargs) {
  To to;
  bool blocking_seen = false;
  for (nb::handle a : args) {
    take(a, blocking_seen ? "copy" : "", &to);
    blocking_seen |= PyBool_Check(a.ptr());
  }
  for (auto [key, value] : kwargs) take(value, nb::cast<std::string>(key).c_str(), &to);
  return convert(self, to);
}

// `data`: the same memory under a version counter of its own.
Tensor data_of(const Tensor& t) { return shallow_copy(t, make_ref<VersionCounter>()); }

void set_data(const Tensor& self, const Tensor& from) {
  if (!ops::_has_compatible_shallow_copy_type::call(self, from)) {
    throw Error("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.");
  }
  if (requires_grad(self) && !is_differentiable(from.dtype())) {
    throw Error("data set to a tensor that requires gradients must be floating point or complex dtype");
  }
  TensorImpl &to = self.impl(), &source = from.impl();
  to.storage = source.storage;
  to.sparse = source.sparse ? std::make_unique<SparseParts>(*source.sparse) : nullptr;
  to.nested = source.nested ? std::make_unique<NestedParts>(*source.nested) : nullptr;
  to.sizes = source.sizes;
  to.strides = source.strides;
  to.offset = source.offset;
  to.dtype = source.dtype;
}

// The type's name in C++, as some of stock's errors have it.
std::string cpp_name(ScalarType t) {
  if (t == ScalarType::Half || t == ScalarType::BFloat16) return std::string("c10::") + to_string(t);
  std::string name = to_string(t);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

void set_grad(nb::handle self, nb::handle grad) {
  const Tensor& t = tensor_of(self);
  if (grad.is_none()) {
    if (grad_meta(t)) grad_meta(t)->grad = Tensor();
    return;
  }
  if (!is_tensor(grad)) throw TypeError(std::string("assigned grad expected to be a Tensor or None but got grad of type ") + Py_TYPE(grad.ptr())->tp_name);
  const Tensor& g = tensor_of(grad);
  if (self.is(grad)) throw Error("can't assign Variable as its own grad");
  const auto list = [](Sizes s) {
    std::string out = "[";
    for (const int64_t n : s) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
    return out + "]";
  };
  if (g.dtype() != t.dtype()) {
    throw Error("attempting to assign a gradient with dtype '" + cpp_name(g.dtype()) + "' to a tensor with grad_dtype '" + to_string(t.dtype()) +
                "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to "
                "allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match.");
  }
  if (g.device().type != t.device().type) {
    throw Error("attempting to assign a gradient with device type '" + to_string(Device{g.device().type, -1}) + "' to a tensor with device type '" +
                to_string(Device{t.device().type, -1}) + "'. Please ensure that the gradient and the tensor are on the same device");
  }
  if (!std::ranges::equal(g.sizes(), t.sizes())) {
    throw Error("attempting to assign a gradient of size '" + list(g.sizes()) + "' to a tensor of size '" + list(t.sizes()) +
                "'. Please ensure that the gradient and the tensor are the same size");
  }
  make_grad_meta(t).grad = g;
}

void set_requires(const Tensor& self, bool on) {
  Tensor t = self;
  const GradMeta* meta = grad_meta(t);
  if (meta && grad_node(t)) {
    if (!on) {
      throw Error("you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require "
                  "differentiation use var_no_grad = var.detach().");
    }
    return;
  }
  set_requires_grad(t, on);
}

[[noreturn]] void refuse_of_nested(const char* what) {
  throw Error(std::string("Internal error: NestedTensorImpl doesn't support ") + what + ". Please file an issue.");
}
nb::object size_of(const Tensor& t) {
  if (is_nested(t)) refuse_of_nested("sizes");
  return size_object(t.sizes());
}
nb::object size_of(const Tensor& t, int64_t dim) {
  if (!is_nested(t)) return nb::int_(t.size(dim));
  const std::optional<int64_t> size = nested_size(t, dim);
  if (!size) throw Error("Given dimension " + std::to_string(wrap_dimension(dim, t.dim())) + " is irregular and does not have a size.");
  return nb::int_(*size);
}
int64_t numel_of(const Tensor& t) { return is_nested(t) ? nested_numel(t) : t.numel(); }

void bind_attributes() {
  property("shape", [](const Tensor& t) { return size_of(t); });
  property("ndim", [](const Tensor& t) { return t.dim(); });
  property("dtype", [](const Tensor& t) { return dtype_object(t.dtype()); });
  property("device", [](const Tensor& t) { return t.device(); });
  property("layout", [](const Tensor& t) { return layout_object(layout_of(t)); });
  property("itemsize", [](const Tensor& t) { return element_size(t.dtype()); });
  property("nbytes", [](const Tensor& t) { return static_cast<size_t>(numel_of(t)) * element_size(t.dtype()); });
  property("is_leaf", [](const Tensor& t) { return !grad_node(t); });
  property("is_meta", [](const Tensor& t) { return t.device().type == 14; });
  for (const char* other : {"is_cuda", "is_cpu", "is_quantized", "is_mps", "is_xpu"}) {
    const bool cpu = std::string(other) == "is_cpu";
    property(other, [cpu](const Tensor& t) { return cpu && t.device().type == 0; });
  }
  property("is_nested", [](const Tensor& t) { return is_nested(t); });
  property("is_sparse", [](const Tensor& t) { return is_coo(t); });
  property("is_sparse_csr", [](const Tensor& t) { return layout_of(t) == Layout::SparseCsr; });
  property("_version", [](const Tensor& t) { return t.impl().current_version(); });
  property("output_nr", [](const Tensor& t) { return grad_meta(t) ? grad_meta(t)->output : 0; });
  property("_base", [](const Tensor& t) { return grad_meta(t) ? grad_meta(t)->base : Tensor(); });
  property("grad_fn", [](const Tensor& t) { return node_object(grad_node(t)); });
  property("requires_grad", [](const Tensor& t) { return requires_grad(t); }, nb::cpp_function([](const Tensor& t, bool on) { set_requires(t, on); }));
  property("grad", [](const Tensor& t) { return gradient_of(t); },
           nb::cpp_function([](nb::handle self, nb::handle grad) { set_grad(self, grad); }, nb::arg(), nb::arg().none()));
  property("T", [](const Tensor& t) {
    static const NamedOperator<Tensor(const Tensor&)> transposed("numpy_T");
    return transposed(t);
  });
  property("mT", [](const Tensor& t) {
    static const NamedOperator<Tensor(const Tensor&)> transposed("mT");
    return transposed(t);
  });
  property("mH", [](const Tensor& t) {
    static const NamedOperator<Tensor(const Tensor&)> transposed("mH");
    return transposed(t);
  });
  property("H", [](const Tensor& t) {
    static const NamedOperator<Tensor(const Tensor&)> transposed("matrix_H");
    return transposed(t);
  });
  property("data", &data_of, nb::cpp_function([](const Tensor& t, const Tensor& from) { set_data(t, from); }));
}

void bind_questions() {
  method("dim", [](const Tensor& t) { return t.dim(); });
  method("ndimension", [](const Tensor& t) { return t.dim(); });
  method("size", [](const Tensor& t, std::optional<int64_t> dim) -> nb::object { return dim ? size_of(t, *dim) : size_of(t); },
         nb::arg("dim") = nb::none());
  method("stride", [](const Tensor& t, std::optional<int64_t> dim) -> nb::object {
    if (is_nested(t)) refuse_of_nested("strides");
    const SizeVector strides = t.impl().sparse ? SizeVector(t.sizes().size()) : SizeVector(t.strides().begin(), t.strides().end());  // none: zeros
    if (dim) return nb::int_(strides[static_cast<size_t>(wrap_dimension(*dim, t.dim()))]);
    nb::list all;
    for (const int64_t s : strides) all.append(s);
    return nb::tuple(all);
  }, nb::arg("dim") = nb::none());
  for (const char* name : {"numel", "nelement"}) method(name, [](const Tensor& t) { return numel_of(t); });
  method("storage_offset", [](const Tensor& t) { return t.storage_offset(); });
  method("element_size", [](const Tensor& t) { return element_size(t.dtype()); });
  method("data_ptr", [](const Tensor& t) {
    require_memory(t);
    if (t.impl().sparse) throw Error("Cannot access data pointer of Tensor that doesn't have storage");
    return reinterpret_cast<uintptr_t>(t.data());
  });
  method("is_inference", [](const Tensor& t) { return t.is_inference(); });
  method("is_floating_point", [](const Tensor& t) { return is_floating(t.dtype()); });
  method("is_complex", [](const Tensor& t) { return is_complex(t.dtype()); });
  method("is_conj", [](const Tensor& t) { return t.keys().has(DispatchKey::Conjugate); });
  method("is_neg", [](const Tensor& t) { return t.keys().has(DispatchKey::Negative); });
  method("is_pinned", [](const Tensor&) { return false; });
  method("is_same_size", [](const Tensor& t, const Tensor& other) { return std::ranges::equal(t.sizes(), other.sizes()); });
  method("is_contiguous", [](const Tensor& t, const FormatName& f) {
    return is_nested(t) ? is_nested_contiguous(t) : !t.impl().sparse && is_contiguous(t.sizes(), t.strides(), f.format);
  }, nb::arg("memory_format") = FormatName{MemoryFormat::Contiguous});
  method("get_device", [](const Tensor& t) { return t.device().type == 0 ? -1 : t.device().index; });
}

}  // namespace

void bind_tensor_methods(nb::module_& m) {
  bind_attributes();
  bind_questions();
  method("requires_grad_", [](nb::handle self, bool on) {
    functorch::check_may_require_grad("requires_grad_");
    set_requires(tensor_of(self), on);
    return nb::borrow(self);
  }, nb::arg("requires_grad") = true);
  method("to", &method_to);
  method("cpu", [](const Tensor& t) {
    To to;
    to.device = Device();
    return convert(t, to);
  });
  static constexpr std::pair<const char*, ScalarType> casts[] = {{"float", ScalarType::Float}, {"double", ScalarType::Double}, {"long", ScalarType::Long},
                                                                 {"int", ScalarType::Int}, {"bool", ScalarType::Bool}, {"bfloat16", ScalarType::BFloat16},
                                                                 {"half", ScalarType::Half}, {"short", ScalarType::Short}, {"char", ScalarType::Char}, {"byte", ScalarType::Byte},
                                                                 {"cfloat", ScalarType::ComplexFloat}, {"cdouble", ScalarType::ComplexDouble}};
  for (const auto& [name, type] : casts) {
    method(name, [type = type](const Tensor& t) { return ops::to_dtype::call(t, type); });
  }
  method("contiguous", [](const Tensor& t) {
    static const NamedOperator<Tensor(const Tensor&, MemoryFormat)> contiguous("contiguous");
    if (t.impl().sparse) throw Error("unsupported memory format option Contiguous");
    return (is_nested(t) ? is_nested_contiguous(t) : t.is_contiguous()) ? t : contiguous(t, MemoryFormat::Contiguous);
  });
  m.def("_shallow_data", &data_of);
  m.def("_as_subclass", [](nb::handle type, const Tensor& t) { return wrap_as(type, ops::alias::call(t)); });
  m.def("_nonzero_numpy", [](const Tensor& t) {
    nb::list out;
    for (const Tensor& places : ops::nonzero_numpy::call(t)) out.append(wrap(places));
    return nb::tuple(out);
  });
  m.def("_make_subclass", [](nb::handle type, const Tensor& data, bool wants_grad) {
    Tensor t = ops::detach::call(data);
    nb::object out = wrap_as(type, t);
    set_requires_grad(t, wants_grad);
    return out;
  });
}

}  // namespace peel::core::python
