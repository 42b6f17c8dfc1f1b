// What tensors have in Python beside operators: attributes, conversions, indexing.
#pragma once
#include <nanobind/nanobind.h>

#include "core/tensor/tensor.h"

namespace peel::core::python {

/// Puts them on TensorBase.
void bind_tensor_methods(nanobind::module_&);
/// x[index] and x[index] = value.
void bind_indexing(nanobind::module_&);
/// torch.sparse_coo_tensor(...) and its like.
void bind_sparse(nanobind::module_&);
void bind_nested(nanobind::module_&);
/// The data of a new tensor: a tensor, an array of NumPy or nested lists, in a dtype if one is given.
Tensor read_data(nanobind::handle data, std::optional<ScalarType>);
/// torch.tensor(...), tolist().
void bind_data(nanobind::module_&);
/// Storages, memory of others, generators.
void bind_memory(nanobind::module_&);

}  // namespace peel::core::python
