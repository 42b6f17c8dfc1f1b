// The graph and the modes as Python has them.
#pragma once
#include <nanobind/nanobind.h>

#include "core/autograd/node.h"

namespace peel::core::python {

/// Grad and inference mode, autocast's switch, backward.
void bind_autograd(nanobind::module_&);
/// Nodes, and hooks on them and on what they keep.
void bind_graph(nanobind::module_&);
/// torch.autograd.Function's part that is not Python.
void bind_function(nanobind::module_&);
/// As stock names it: nodes that no formula made have their C++ name.
std::string node_name(const Node&);
/// torch._C._functorch: the levels of torch.func.
void bind_functorch(nanobind::module_&);
/// `grad_fn`; None for no node.
nanobind::object node_object(Ref<Node>);

}  // namespace peel::core::python
