// How vmap takes operators, by kind. core/ops/batch_rules.yaml says which operator is of which kind; what a kind does with the batch's dimension, and
// which calls that makes, is as measured on PyTorch 2.13.0.
#pragma once
#include "core/dispatch/library.h"
#include "core/functorch/batch_call.h"

namespace peel::core::functorch {

/// A kernel at FuncTorchBatched. `dims`: numbers of the arguments that name dimensions or sizes.
KernelFunction batched_kernel(BatchRule, std::vector<size_t> dims = {}, const char* what = "gen_vmap_plumbing");
/// At FuncTorchVmapMode, where a call comes whether or not a tensor of it is batched.
KernelFunction vmap_mode_kernel(BatchRule, std::vector<size_t> dims = {});

namespace rules {

// Element by element.
void unary(BatchCall&);              // the batch stays where it is
void unary_in_place(BatchCall&);
void binary(BatchCall&);             // of two tensors, of which a scalar is weak in type promotion
void comparison(BatchCall&);         // of two tensors without that
void pointwise(BatchCall&);          // of any tensors
void binary_in_place(BatchCall&);
void pointwise_in_place(BatchCall&);
void copy_in_place(BatchCall&);
void fill_in_place(BatchCall&);
void clone(BatchCall&);

// The batch goes to the front.
void to_front(BatchCall&);           // all tensors; nothing else changes
void with_dims(BatchCall&);          // the first tensor; dimensions count from behind the batch
void with_dims_all(BatchCall&);      // all tensors
void with_new_dims(BatchCall&);      // dimensions of the result, which has one more
void with_sizes(BatchCall&);         // sizes begin with the batch's
void new_of_sizes(BatchCall&);       // the tensor only lends its type
void with_sizes_and_dims(BatchCall&);  // of the gradients of views: sizes, then dimensions of the result
void reduction(BatchCall&);
void softmax_backward(BatchCall&);
void flattened(BatchCall&);          // folded into the first dimension, as only so many are taken

// Views.
void squeeze(BatchCall&);
void squeeze_dims(BatchCall&);
void expand(BatchCall&);
void permute(BatchCall&);
void repeat(BatchCall&);
void roll(BatchCall&);
void split(BatchCall&);
void as_strided(BatchCall&);
void cat(BatchCall&);
void stack(BatchCall&);
void in_place_view(BatchCall&);

// Products.
void mm(BatchCall&);
void mv(BatchCall&);
void dot(BatchCall&);

// Indices.
void gather(BatchCall&);
void index(BatchCall&);
void index_put(BatchCall&);
void embedding(BatchCall&);
void embedding_backward(BatchCall&);
void index_along(BatchCall&);
/// The operator for each sample, without a warning: rare shapes of what has a rule.
void each_sample(BatchCall&);

// Layers and losses.
void loss(BatchCall&);
void convolution(BatchCall&);
void convolution_backward(BatchCall&);
void pooling(BatchCall&);
void layer_norm(BatchCall&);
void group_norm(BatchCall&);
void binary_cross_entropy(BatchCall&);
void binary_cross_entropy_backward(BatchCall&);
void layer_norm_backward(BatchCall&);
void group_norm_backward(BatchCall&);
void batch_norm(BatchCall&);
void batch_norm_backward(BatchCall&);
void upsample_backward(BatchCall&);
void grid_sampler(BatchCall&);
void check_errors(BatchCall&);

// What can't be.
void refuse_item(BatchCall&);
void refuse_branch(BatchCall&);
void refuse_dynamic(BatchCall&);

void refuse_allclose(BatchCall&);
[[noreturn]] void incompatible_in_place(const char* name);

// Random numbers, at FuncTorchVmapMode.
void random_sizes(BatchCall&);
void random_in_place(BatchCall&);
void random_like(BatchCall&);
void random_of(BatchCall&);
void random_permutation(BatchCall&);

}  // namespace rules

/// Operators that are taken apart into others, whose rules then hold.
void register_batch_decompositions(Library& at_batched);

}  // namespace peel::core::functorch
