// The Python object of a tensor. One tensor has one object for as long as Python holds it; the class that programs see is torch.Tensor,
// written in Python on top of this one. All of core/python runs with the GIL, kernels too: threads of a program take turns.
#pragma once
#include <nanobind/nanobind.h>

#include "core/tensor/tensor.h"

namespace peel::core::python {

namespace nb = nanobind;

/// Makes `TensorBase` in the module.
void bind_tensor_type(nb::module_&);
nb::handle tensor_base();
/// The class of new objects, once Python has made it.
void set_tensor_class(nb::handle);

bool is_tensor(nb::handle);
/// Of an object for which is_tensor holds.
const Tensor& tensor_of(nb::handle);
/// Error for a tensor that stands for another one inside of a transform: Python can't look at its memory.
void require_memory(const Tensor&);
/// The object of this tensor, None for an undefined one.
nb::object wrap(const Tensor&);
/// A new object of a class that derives from TensorBase, for a tensor that has none yet.
nb::object wrap_as(nb::handle type, const Tensor&);

}  // namespace peel::core::python

namespace nanobind::detail {
template <>
struct type_caster<peel::core::Tensor> {
  NB_TYPE_CASTER(peel::core::Tensor, const_name("Tensor"))
  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    if (!peel::core::python::is_tensor(src)) return false;
    value = peel::core::python::tensor_of(src);
    return true;
  }
  static handle from_cpp(const peel::core::Tensor& t, rv_policy, cleanup_list*) noexcept { return peel::core::python::wrap(t).release(); }
};
}  // namespace nanobind::detail
