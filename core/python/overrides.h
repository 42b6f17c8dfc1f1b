// __torch_function__: classes and modes that take over what a program asks of torch's functions, before any operator is called.
#pragma once
#include <nanobind/nanobind.h>

namespace peel::core::python {

/// Modes, guards and the hand-over, for the package's own functions.
void bind_overrides(nanobind::module_&);
/// Whether a mode is on, or a class among the arguments (of lists and tuples the elements) has a handler of its own. `self` may be null.
bool is_overridden(nanobind::handle self, nanobind::handle args, nanobind::handle kwargs);
/// What the mode, else the first handler that takes the call gives back. TypeError where none does; `name` is how the text calls the function, null: by
/// where it comes from.
nanobind::object call_overridden(nanobind::handle function, const char* name, nanobind::handle self, nanobind::handle args, nanobind::handle kwargs);

}  // namespace peel::core::python
