// Normalisations under vmap. Without the batch's share in weight and bias they run as they are; those come in afterwards.
#include <algorithm>

#include "core/dispatch/error.h"
#include "core/functorch/rules.h"
#include "core/functorch/wrappers.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch::rules {
namespace {

Tensor tensor_in(const IValue& v) { return Tensor(v.to_tensor().release()); }
IValue boxed(const Tensor& t) { return IValue(static_cast<const TensorHandle&>(t)); }
IValue only_input() { return IValue::list({IValue(true), IValue(false), IValue(false)}); }
Tensor defined_or_none(BatchCall& c, size_t i) { return c.is_tensor(i) ? c.given(i) : Tensor(); }

// One value a channel, of a tensor whose channels are the first dimension.
Tensor along(const Tensor& t, int64_t rank) {
  if (t.dim() >= rank) return t;
  SizeVector shape(t.sizes().begin(), t.sizes().end());
  shape.resize(static_cast<size_t>(rank), 1);
  return ops::view::call(t, shape);
}

Tensor sum_over(const Tensor& t, int64_t from, int64_t to) {
  SizeVector dims;
  for (int64_t d = from; d < to; ++d) dims.push_back(d);
  return dims.empty() ? t : ops::sum_dim_IntList::call(t, Sizes(dims), false, {});
}

bool wants(BatchCall& c, size_t mask, size_t i) { return c.argument(mask).to_list()[i].to_bool(); }

Tensor contiguous(const Tensor& t) { return t.is_contiguous() ? t : ops::contiguous::call(t, MemoryFormat::Contiguous); }

}  // namespace

void layer_norm(BatchCall& c) {
  const Batched input = c.tensor(0), weight = c.optional_tensor(2), bias = c.optional_tensor(3);
  const bool apart = weight.dim || bias.dim;
  c.set(0, front(input));
  if (apart) {
    c.argument(3) = IValue();
    if (weight.value.defined() && !weight.dim) c.set(2, weight.value);
    else c.argument(2) = IValue();
  } else {
    if (weight.value.defined()) c.set(2, weight.value);
    if (bias.value.defined()) c.set(3, bias.value);
  }
  if (apart) c.argument(2) = IValue();
  const std::vector<IValue> results = c.run();
  Tensor out = tensor_in(results[0]);
  if (apart && weight.value.defined()) out = ops::mul_Tensor::call(out, padded(front(weight), weight.dim.has_value(), weight.rank(), input.rank()));
  if (apart && bias.value.defined()) out = ops::add_Tensor::call(out, padded(front(bias), bias.dim.has_value(), bias.rank(), input.rank()), 1);
  c.give(out, 0);
  for (const size_t i : {1, 2}) c.give(tensor_in(results[i]), input.dim ? std::optional<int64_t>(0) : std::nullopt);
}

// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
void layer_norm_backward(BatchCall& c) {
  const Tensor grad = c.given(0), input = c.given(1), mean = c.given(3), rstd = c.given(4), weight = defined_or_none(c, 5), bias = defined_or_none(c, 6);
  const int64_t front_dims = input.dim() - static_cast<int64_t>(c.argument(2).to_list().size());
  Tensor of_input, of_weight, of_bias, normalised_grad = grad;
  {
    const BatchedAgain seen;
    if (bias.defined() && wants(c, 7, 2)) of_bias = sum_over(grad, 0, front_dims);
    if (weight.defined() && wants(c, 7, 1)) {
      const Tensor normalised = ops::mul_Tensor::call(ops::sub_Tensor::call(input, mean), rstd);
      of_weight = sum_over(ops::mul_Tensor::call(normalised, grad), 0, front_dims);
    }
    if (weight.defined() && wants(c, 7, 0)) normalised_grad = ops::mul_Tensor::call(grad, weight);
  }
  std::optional<int64_t> dim;
  if (wants(c, 7, 0)) {
    c.set(0, normalised_grad);
    for (const size_t i : {0, 1, 3, 4}) dim = c.tensor(i).dim ? std::optional<int64_t>(0) : dim;
    for (const size_t i : {0, 1, 3, 4}) {
      const Batched b = c.tensor(i);
      Tensor t = front(b);
      if (dim) t = with_batch(t, b.dim.has_value(), c.batch_size());
      c.set(i, t);
    }
    for (const size_t i : {0, 1}) c.set(i, contiguous(c.given(i)));
    c.argument(5) = IValue();
    c.argument(6) = IValue();
    c.argument(7) = only_input();
    of_input = tensor_in(c.run()[0]);
  }
  c.give(of_input, dim);
  c.give(of_weight, std::nullopt);
  c.give(of_bias, std::nullopt);
}

// native_group_norm(input, weight, bias, N, C, HxW, group, eps)
void group_norm(BatchCall& c) {
  const Batched input = c.tensor(0);
  const Tensor weight = defined_or_none(c, 1), bias = defined_or_none(c, 2);
  const int64_t size = c.batch_size(), rank = input.rank();
  std::optional<int64_t> dim;
  c.set(0, input.value);
  if (input.dim) {
    const BatchedAgain seen;
    c.set(0, fold(*input.dim, 0, input.value));
    c.argument(3) = c.argument(3).to_int() * size;
    dim = 0;
  }
  c.argument(1) = IValue();
  c.argument(2) = IValue();
  std::vector<IValue> results = c.run();
  for (IValue& r : results) r = boxed(make_batched(dim ? unfold(0, size, tensor_in(r)) : tensor_in(r), dim, c.level()));
  Tensor out = tensor_in(results[0]);
  {
    const BatchedAgain seen;
    if (weight.defined()) out = ops::mul_Tensor::call(out, along(weight, rank - 1));
    if (bias.defined()) out = ops::add_Tensor::call(out, along(bias, rank - 1), 1);
  }
  c.give(out, std::nullopt);
  for (const size_t i : {1, 2}) c.give(tensor_in(results[i]), std::nullopt);
}

// native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)
void group_norm_backward(BatchCall& c) {
  const Tensor grad = c.given(0), input = c.given(1), mean = c.given(2), rstd = c.given(3), weight = defined_or_none(c, 4);
  const int64_t n = c.argument(5).to_int(), channels = c.argument(6).to_int(), inner = c.argument(7).to_int(), groups = c.argument(8).to_int(), size = c.batch_size();
  const int64_t rank = input.dim();
  Tensor of_input, of_weight, of_bias, normalised_grad = grad;
  {
    const BatchedAgain seen;
    if (wants(c, 9, 2)) of_bias = sum_over(ops::transpose_int::call(grad, 0, 1), 1, rank);
    if (wants(c, 9, 1)) {
      const Tensor parts = ops::reshape::call(input, SizeVector{n, groups, channels / groups, inner});
      const Tensor m = ops::view::call(mean, SizeVector{n, groups, 1, 1}), r = ops::view::call(rstd, SizeVector{n, groups, 1, 1});
      const Tensor normalised = fold(1, 1, ops::mul_Tensor::call(ops::sub_Tensor::call(parts, m), r));
      const Tensor g = grad.dim() == 3 ? grad : ops::reshape::call(grad, SizeVector{n, channels, inner});
      of_weight = sum_over(ops::transpose_int::call(ops::mul_Tensor::call(normalised, g), 0, 1), 1, 3);
    }
    if (wants(c, 9, 0) && weight.defined()) normalised_grad = ops::mul_Tensor::call(grad, along(weight, rank - 1));
  }
  std::optional<int64_t> dim;
  if (wants(c, 9, 0)) {
    c.set(0, normalised_grad);
    dim = 0;
    for (const size_t i : {0, 1, 2, 3}) {
      const Batched b = c.tensor(i);
      c.set(i, fold(b.dim.value_or(0), 0, with_batch(b.value, b.dim.has_value(), size)));
    }
    for (const size_t i : {2, 3}) c.set(i, contiguous(c.given(i)));
    c.argument(4) = IValue();
    c.argument(5) = n * size;
    c.argument(9) = only_input();
    of_input = unfold(0, size, tensor_in(c.run()[0]));
  }
  c.give(of_input, dim);
  c.give(of_weight, std::nullopt);
  c.give(of_bias, std::nullopt);
}

// native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps): the batch becomes part of the channels.
void batch_norm(BatchCall& c) {
  const Batched input = c.tensor(0), weight = c.optional_tensor(1), bias = c.optional_tensor(2), mean = c.optional_tensor(3), var = c.optional_tensor(4);
  const bool training = c.argument(5).to_bool();
  const int64_t size = c.batch_size();
  if (training && input.dim && ((mean.value.defined() && !mean.dim) || (var.value.defined() && !var.dim))) {
    throw Error("Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, were not batched.\nIf you are using a module "
                "and do not need eval mode, please set `track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please see the functorch "
                "website for resources on how to patch your module to work with vmap");
  }
  Tensor x = front(input);
  if (!input.dim) x = with_batch(x, false, size);
  x = fold(0, 1, x);
  c.set(0, x);
  const auto of_channels = [&](const Batched& b) { return contiguous(fold(0, 0, with_batch(front(b), b.dim.has_value(), size))); };
  c.argument(3) = c.argument(4) = IValue();
  if (mean.value.defined()) c.set(3, of_channels(mean));
  if (var.value.defined()) c.set(4, of_channels(var));
  c.set(1, ops::ones::call(SizeVector{x.sizes()[1]}, x.dtype(), Layout::Strided, x.device(), {}));
  c.set(2, ops::zeros::call(SizeVector{x.sizes()[1]}, x.dtype(), Layout::Strided, x.device(), {}));
  const std::vector<IValue> results = c.run();
  Tensor out = unfold(0, size, ops::transpose_int::call(tensor_in(results[0]), 0, 1));
  const Tensor first = unfold(0, size, tensor_in(results[1])), second = unfold(0, size, tensor_in(results[2]));
  const auto of_rank = [&](const Batched& b) {
    Tensor t = front(b);
    return along(t, input.rank() + (b.dim ? 1 : 0));
  };
  if (weight.value.defined()) out = ops::mul_Tensor::call(out, of_rank(weight));
  if (bias.value.defined()) out = ops::add_Tensor::call(out, of_rank(bias), 1);
  c.give(ops::transpose_int::call(out, 1, 2), 0);
  c.give(first, 0);
  c.give(second, 0);
}

// native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask)
void batch_norm_backward(BatchCall& c) {
  const Tensor grad = c.given(0), input = c.given(1), weight = defined_or_none(c, 2), running_mean = defined_or_none(c, 3), running_var = defined_or_none(c, 4);
  const bool training = c.argument(7).to_bool();
  const int64_t size = c.batch_size(), rank = input.dim();
  Tensor of_input, of_weight, of_bias, normalised_grad = grad;
  {
    const BatchedAgain seen;
    const Tensor mean = training ? c.given(5) : running_mean;
    const Tensor rstd = training ? c.given(6) : ops::rsqrt::call(ops::add_Scalar::call(running_var, c.argument(8).to_double(), 1));
    if (wants(c, 9, 2)) of_bias = sum_over(ops::transpose_int::call(grad, 0, 1), 1, rank);
    if (wants(c, 9, 1)) {
      const Tensor m = along(mean, rank), r = along(rstd, rank);
      const Tensor normalised = ops::mul_Tensor::call(ops::sub_Tensor::call(ops::transpose_int::call(input, 0, 1), m), r);
      of_weight = sum_over(ops::mul_Tensor::call(normalised, ops::transpose_int::call(grad, 0, 1)), 1, rank);
    }
    if (wants(c, 9, 0) && weight.defined()) {
      const Tensor w = along(weight, rank);
      normalised_grad = ops::transpose_int::call(ops::mul_Tensor::call(ops::transpose_int::call(grad, 0, 1), w), 0, 1);
    }
  }
  std::optional<int64_t> dim;
  if (wants(c, 9, 0)) {
    dim = 0;
    const auto batched = [&](const Batched& b) { return with_batch(front(b), b.dim.has_value(), size); };
    c.set(0, normalised_grad);
    const Tensor g = batched(c.tensor(0)), x = fold(0, 1, batched(c.tensor(1)));
    for (const size_t i : {3, 4}) {
      if (c.is_tensor(i) && c.given(i).defined()) c.set(i, fold(0, 0, batched(c.tensor(i))));
    }
    for (const size_t i : {5, 6}) {
      if (c.is_tensor(i) && c.given(i).defined()) c.set(i, contiguous(fold(0, 0, batched(c.tensor(i)))));
    }
    c.set(1, x);
    c.set(0, ops::flatten_using_ints::call(ops::transpose_int::call(g, 0, 1), 1, 2));
    c.set(2, ops::ones::call(SizeVector{x.sizes()[1]}, x.dtype(), Layout::Strided, x.device(), {}));
    c.argument(9) = only_input();
    of_input = ops::transpose_int::call(unfold(1, size, tensor_in(c.run()[0])), 0, 1);
  }
  c.give(of_input, dim);
  c.give(of_weight, std::nullopt);
  c.give(of_bias, std::nullopt);
}

}  // namespace peel::core::functorch::rules
