// torch.library and torch.ops: operators and kernels that a program registers; modes that handle all calls.
#pragma once
#include <nanobind/nanobind.h>

#include "core/dispatch/ivalue.h"
#include "core/dispatch/schema.h"

namespace peel::core::python {

void bind_library(nanobind::module_&);
/// Modes of torch.utils._python_dispatch, with their fallbacks at the keys Python and PythonTLSSnapshot.
void bind_python_dispatch(nanobind::module_&);
/// What torch.profiler counts, and the operators by which a program names a span.
void bind_profiler(nanobind::module_&);

/// The arguments on top of the stack as a kernel or mode written in Python gets them: those at the end that have their defaults are left out, as in stock.
std::pair<nanobind::tuple, nanobind::dict> python_arguments(const FunctionSchema&, const Stack&);
/// What it returned, as results. Error for another number of them than the schema's.
void push_python_result(Stack*, const std::vector<Argument>& returns, nanobind::handle result);

}  // namespace peel::core::python
