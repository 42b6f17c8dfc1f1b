// torch._C._nested: what Python's nested tensors are made of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "core/python/tensor_methods.h"
#include "core/python/tensor_object.h"
#include "core/python/values.h"
#include "ops_generated/ops.h"

namespace peel::core::python {

void bind_nested(nb::module_& m) {
  nb::module_ nested = m.def_submodule("_nested");
  nested.def("nested_to_padded_tensor",
             [](const Tensor& self, double padding, std::optional<std::vector<int64_t>> size) {
               if (!size) return ops::nested_to_padded_tensor::call(self, padding);
               return ops::nested_to_padded_tensor::call(self, padding, Sizes(size->data(), size->size()));
             },
             nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace peel::core::python
