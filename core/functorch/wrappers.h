// Tensors that stand for others inside of functorch's transforms: one whose gradient a level tracks, and one that stands for each sample of a
// batch. As in PyTorch 2.13.0 their keys are those of a plain tensor of the backend and one more.
#pragma once
#include <functional>
#include <optional>
#include <span>

#include "core/tensor/tensor.h"

namespace peel::core::functorch {

/// Of grad, vjp, jvp. Once its level has ended it is dead: what it stands for is used instead.
struct GradWrapping final : Wrapping {
  GradWrapping(Tensor v, int64_t l, std::shared_ptr<const bool> a, bool i) : value(std::move(v)), level(l), alive(std::move(a)), immutable(i) {}
  std::unique_ptr<Wrapping> copy() const override { return std::make_unique<GradWrapping>(value, level, alive, immutable); }
  Tensor value;
  int64_t level;
  std::shared_ptr<const bool> alive;
  bool immutable;  // a captured tensor: writing to it is an error
};

/// Of vmap: one sample of `value` along its dimension `dim`.
struct BatchWrapping final : Wrapping {
  BatchWrapping(Tensor v, int64_t d, int64_t l) : value(std::move(v)), dim(d), level(l) {}
  std::unique_ptr<Wrapping> copy() const override { return std::make_unique<BatchWrapping>(value, dim, level); }
  Tensor value;
  int64_t dim;
  int64_t level;
};

/// Null when it is no such tensor.
GradWrapping* grad_wrapping(const Tensor&);
BatchWrapping* batch_wrapping(const Tensor&);

Tensor make_grad_wrapper(const Tensor&, int64_t level, std::shared_ptr<const bool> alive, bool immutable = false);
/// Without a dimension the tensor itself.
Tensor make_batched(Tensor, std::optional<int64_t> dim, int64_t level);
/// Sizes and strides anew, after what the wrapper stands for was changed in place.
void refresh_shape(const Tensor& wrapper);
/// What a dead wrapper stands for; any other tensor as it is.
Tensor unwrap_if_dead(const Tensor&);

/// Replaces each tensor of boxed values, those in lists too.
void replace_tensors(std::span<IValue>, const std::function<Tensor(const Tensor&)>&);

}  // namespace peel::core::functorch
