// Putting tensors into a level and taking them out, as the functions of torch.func do at their borders.
#pragma once
#include "core/tensor/tensor.h"

namespace peel::core::functorch {

Tensor add_batch_dim(const Tensor&, int64_t dim, int64_t level);
/// Repeats a result that didn't depend on the batch.
Tensor remove_batch_dim(const Tensor&, int64_t level, int64_t batch_size, int64_t out_dim);
/// Immutable: false, as what a transform is given may be written in it.
Tensor wrap_for_grad(const Tensor&, int64_t level);
Tensor unwrap_for_grad(const Tensor&, int64_t level);
/// -1 for a tensor of no level, -2 for a dead one.
int64_t level_of(const Tensor&);
/// What it stands for; the tensor itself outside of levels.
Tensor unwrapped(const Tensor&);

}  // namespace peel::core::functorch
