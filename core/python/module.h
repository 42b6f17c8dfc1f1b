// torch._C of the embedded engine.
#pragma once
#include <nanobind/nanobind.h>

namespace peel::core::python {

/// All of it but what records. The operators are loaded.
void bind(nanobind::module_&);

}  // namespace peel::core::python
