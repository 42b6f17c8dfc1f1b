// What tensors have in Python beside operators: attributes, conversions, indexing.
#pragma once
#include <nanobind/nanobind.h>

namespace peel::core::python {

/// Puts them on TensorBase.
void bind_tensor_methods(nanobind::module_&);
/// x[index] and x[index] = value.
void bind_indexing(nanobind::module_&);
/// torch.tensor(...), tolist().
void bind_data(nanobind::module_&);
/// Storages, memory of others, generators.
void bind_memory(nanobind::module_&);

}  // namespace peel::core::python
