// Convolution under vmap: the batch becomes part of the images, of the channels, or of the groups. Letters in comments are dimensions: B the batch,
// N images, O and I channels of output and input.
#include "core/dispatch/error.h"
#include "core/functorch/rules.h"
#include "core/functorch/wrappers.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch::rules {
namespace {

Tensor tensor_in(const IValue& v) { return Tensor(v.to_tensor().release()); }

// Arguments of convolution and of its backward after the tensors.
enum Forward : size_t { kInput, kWeight, kBias, kStride, kPadding, kDilation, kTransposed, kOutputPadding, kGroups };
constexpr size_t kBackwardGroups = 9, kBackwardTransposed = 7, kMask = 10;

// Stands for a tensor of which only the shape counts.
Tensor shape_of(const Batched& b, int64_t dim, int64_t batch_size) {
  Tensor t = b.dim ? ops::select_int::call(b.value, *b.dim, 0) : b.value;
  const int64_t size = t.size(dim);
  t = ops::slice_Tensor::call(t, dim, 0, 1, 1);
  SizeVector shape(t.sizes().begin(), t.sizes().end());
  shape[static_cast<size_t>(dim)] = batch_size * size;
  return ops::expand::call(ops::new_empty::call(t, SizeVector{}), shape, false);
}

Batched expanded(const Batched& b, int64_t batch_size) { return b.dim ? b : Batched{with_batch(b.value, false, batch_size), 0}; }

}  // namespace

void convolution(BatchCall& c) {
  Batched input = c.tensor(kInput), weight = c.tensor(kWeight);
  const Batched bias = c.optional_tensor(kBias);
  const bool transposed = c.argument(kTransposed).to_bool();
  const int64_t groups = c.argument(kGroups).to_int(), size = c.batch_size();
  const bool bias_apart = bias.value.defined() && (weight.dim || bias.dim);
  if (bias_apart) c.argument(kBias) = IValue();
  else if (bias.value.defined()) c.set(kBias, bias.value);
  if (!input.dim && weight.dim && groups > 1) input = expanded(input, size);
  Tensor out;
  std::optional<int64_t> dim;
  if (input.dim && !weight.dim) {  // BNI, OI -> (BN)I, OI
    c.set(kInput, fold(*input.dim, 0, input.value));
    c.set(kWeight, weight.value);
    out = unfold(0, size, tensor_in(c.run()[0]));
    dim = 0;
  } else if (!input.dim && weight.dim) {  // NI, BOI -> NI, (BO)I -> N(BO)
    c.set(kInput, input.value);
    c.set(kWeight, fold(*weight.dim, transposed ? 1 : 0, weight.value));
    out = unfold(1, size, tensor_in(c.run()[0]));
    dim = 1;
  } else if (input.dim) {  // BNI, BOI -> N(BI), (BO)I with B times as many groups
    c.set(kInput, fold(*input.dim, 1, input.value));
    c.set(kWeight, fold(*weight.dim, 0, weight.value));
    c.argument(kGroups) = groups * size;
    out = unfold(1, size, tensor_in(c.run()[0]));
    dim = 1;
  } else {
    c.set(kInput, input.value);
    c.set(kWeight, weight.value);
    out = tensor_in(c.run()[0]);
  }
  if (!bias_apart) return c.give(out, dim);
  const Batched made{out, dim};
  out = front(made);
  Tensor b = front(bias);
  for (size_t i = 0; i < c.argument(kStride).to_list().size(); ++i) b = ops::unsqueeze::call(b, -1);
  b = padded(b, bias.dim.has_value(), b.dim() - (bias.dim ? 1 : 0), made.rank());
  c.give(ops::add_Tensor::call(out, b, 1), 0);
}

namespace {

struct Gradient {
  Tensor value;
  std::optional<int64_t> dim;
};

IValue mask(bool input, bool weight) { return IValue::list({IValue(input), IValue(weight), IValue(false)}); }
void no_bias(BatchCall& c) { c.argument(3) = IValue(); }

Gradient input_gradient(BatchCall& c, const Batched& grad, const Batched& input, Batched weight, int64_t groups, bool transposed, int64_t size) {
  c.argument(kMask) = mask(true, false);
  c.argument(kBackwardGroups) = groups;
  Batched g = grad;
  if (!g.dim && weight.dim && groups > 1) g = expanded(g, size);
  if (g.dim && weight.dim) {  // BNO, BOI -> N(BO), (BO)I -> N(BI)
    c.set(0, fold(*g.dim, 1, g.value));
    c.set(2, fold(*weight.dim, 0, weight.value));
    c.set(1, shape_of(input, 1, size));
    c.argument(kBackwardGroups) = groups * size;
    return {unfold(1, size, tensor_in(c.run()[0])), 1};
  }
  if (g.dim) {  // BNO, OI -> (BN)O, OI -> (BN)I
    c.set(0, fold(*g.dim, 0, g.value));
    c.set(1, shape_of(input, 0, size));
    c.set(2, weight.value);
    return {unfold(0, size, tensor_in(c.run()[0])), 0};
  }
  if (weight.dim) {  // NO, BOI -> NO, O(BI) -> N(BI)
    c.set(0, g.value);
    c.set(2, fold(*weight.dim, transposed ? 0 : 1, weight.value));
    c.set(1, shape_of(input, 1, size));
    return {unfold(1, size, tensor_in(c.run()[0])), 1};
  }
  c.set(0, g.value);
  c.set(1, shape_of(input, 0, 1));
  c.set(2, weight.value);
  return {tensor_in(c.run()[0]), std::nullopt};
}

Gradient weight_gradient(BatchCall& c, Batched grad, Batched input, const Batched& weight, int64_t groups, bool transposed, int64_t size) {
  c.argument(kMask) = mask(false, true);
  c.argument(kBackwardGroups) = groups;
  if (groups > 1 && grad.dim.has_value() != input.dim.has_value()) {
    grad = expanded(grad, size);
    input = expanded(input, size);
  }
  if (grad.dim && input.dim) {  // BNO, BNI -> N(BO), N(BI) -> (BO)I
    c.set(0, fold(*grad.dim, 1, grad.value));
    c.set(1, fold(*input.dim, 1, input.value));
    c.set(2, shape_of(weight, 0, size));
    c.argument(kBackwardGroups) = groups * size;
    return {unfold(0, size, tensor_in(c.run()[1])), 0};
  }
  if (grad.dim) {  // BNO, NI -> N(BO), NI -> (BO)I
    const int64_t out = transposed ? 1 : 0;
    c.set(0, fold(*grad.dim, 1, grad.value));
    c.set(1, input.value);
    c.set(2, shape_of(weight, out, size));
    return {unfold(out, size, tensor_in(c.run()[1])), out};
  }
  if (input.dim) {  // NO, BNI -> NO, N(BI) -> O(BI)
    const int64_t in = transposed ? 0 : 1;
    c.set(0, grad.value);
    c.set(1, fold(*input.dim, 1, input.value));
    c.set(2, shape_of(weight, in, size));
    return {unfold(in, size, tensor_in(c.run()[1])), in};
  }
  c.set(0, grad.value);
  c.set(1, input.value);
  c.set(2, shape_of(weight, 0, 1));
  return {tensor_in(c.run()[1]), std::nullopt};
}

}  // namespace

// convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask)
void convolution_backward(BatchCall& c) {
  const Batched grad = c.tensor(0), input = c.tensor(1), weight = c.tensor(2);
  const auto& wanted = c.argument(kMask).to_list();
  const bool for_input = wanted[0].to_bool(), for_weight = wanted[1].to_bool(), for_bias = wanted[2].to_bool();
  const bool transposed = c.argument(kBackwardTransposed).to_bool();
  const int64_t groups = c.argument(kBackwardGroups).to_int(), size = c.batch_size();
  Tensor of_bias;
  if (for_bias) {
    const Tensor g = c.given(0);
    SizeVector dims{0};
    for (int64_t d = 2; d < g.dim(); ++d) dims.push_back(d);
    const BatchedAgain seen;
    of_bias = ops::sum_dim_IntList::call(g, Sizes(dims), false, {});
  }
  no_bias(c);
  if (grad.dim && input.dim && weight.dim) {
    c.set(0, fold(*grad.dim, 1, grad.value));
    c.set(1, fold(*input.dim, 1, input.value));
    c.set(2, fold(*weight.dim, 0, weight.value));
    c.argument(kBackwardGroups) = groups * size;
    c.argument(kMask) = mask(for_input, for_weight);
    const std::vector<IValue> results = c.run();
    c.give(for_input ? unfold(1, size, tensor_in(results[0])) : Tensor(), 1);
    c.give(for_weight ? unfold(0, size, tensor_in(results[1])) : Tensor(), 0);
    return c.give(of_bias, std::nullopt);
  }
  const Gradient i = for_input ? input_gradient(c, grad, input, weight, groups, transposed, size) : Gradient();
  const Gradient w = for_weight ? weight_gradient(c, grad, input, weight, groups, transposed, size) : Gradient();
  c.give(i.value, i.dim);
  c.give(w.value, w.dim);
  c.give(of_bias, std::nullopt);
}

}  // namespace peel::core::functorch::rules
