// torch.library and torch.ops: operators and kernels that a program registers.
#pragma once
#include <nanobind/nanobind.h>

namespace peel::core::python {

void bind_library(nanobind::module_&);

}  // namespace peel::core::python
