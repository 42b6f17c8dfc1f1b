// Losses, convolutions, pooling and normalisation under vmap.
#include <algorithm>

#include "core/functorch/rules.h"
#include "core/functorch/wrappers.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch::rules {
namespace {

enum Reduction : int64_t { kNone, kMean, kSum };

Tensor flat(const Batched& b) {
  if (!b.dim) return ops::flatten_using_ints::call(b.value, 0, -1);
  const Tensor t = front(b);
  return t.dim() > 1 ? ops::flatten_using_ints::call(t, 1, -1) : t;
}

Tensor tensor_in(const IValue& v) { return Tensor(v.to_tensor().release()); }
IValue boxed(const Tensor& t) { return IValue(static_cast<const TensorHandle&>(t)); }

}  // namespace

// Per element, and then reduced within each sample.
void loss(BatchCall& c) {
  const Batched self = c.tensor(0), target = c.tensor(1);
  const int64_t reduction = c.argument(c.dims()[0]).to_int();
  c.set(0, flat(self));
  c.set(1, flat(target));
  c.argument(c.dims()[0]) = int64_t{kNone};
  const Tensor all = tensor_in(c.run()[0]);
  if (all.dim() == 1) return c.give(all, 0);
  if (reduction == kNone) {
    const Tensor like = front(self.dim ? self : target);
    return c.give(ops::reshape::call(all, like.sizes()), 0);
  }
  const int64_t last[] = {-1};
  c.give(reduction == kSum ? ops::sum_dim_IntList::call(all, Sizes(last), false, {}) : ops::mean_dim::call(all, Sizes(last), false, {}), 0);
}

// The first dimension takes the batch in, and gives it out again.
void flattened(BatchCall& c) {
  for (size_t i = 0; i < c.count(); ++i) {
    if (!c.is_tensor(i)) continue;
    const Batched b = c.tensor(i);
    c.set(i, fold(b.dim.value_or(0), 0, with_batch(b.value, b.dim.has_value(), c.batch_size())));
  }
  std::vector<IValue> results = c.run();
  for (size_t i = results.size(); i-- > 0;) {
    if (results[i].tag() == IValue::Tag::kTensor) results[i] = boxed(unfold(0, c.batch_size(), tensor_in(results[i])));
  }
  c.give(results, 0);
}

// Of tensors with so many dimensions (the table says it), or one more, into which the batch is folded.
void pooling(BatchCall& c) {
  const auto rank = static_cast<int64_t>(c.dims()[0]);
  const bool alone = c.tensor(0).rank() == rank;
  if (!alone) return flattened(c);
  for (size_t i = 0; i < c.count(); ++i) {
    if (!c.is_tensor(i)) continue;
    const Batched b = c.tensor(i);
    c.set(i, b.dim ? front(b) : with_batch(b.value, false, c.batch_size()));
  }
  c.give(c.run(), 0);
}

// Per element; weights and the reduction are for operators that see the batch.
void binary_cross_entropy(BatchCall& c) {
  const Batched self = c.tensor(0), target = c.tensor(1);
  const Tensor weight = c.is_tensor(2) ? c.given(2) : Tensor();
  const int64_t reduction = c.argument(3).to_int();
  Tensor x = front(self), y = front(target);
  const bool batched = self.dim || target.dim;
  if (batched) {
    x = with_batch(x, self.dim.has_value(), c.batch_size());
    y = with_batch(y, target.dim.has_value(), c.batch_size());
  }
  c.set(0, x);
  c.set(1, y);
  c.argument(2) = IValue();
  c.argument(3) = int64_t{kNone};
  Tensor out = make_batched(tensor_in(c.run()[0]), batched ? std::optional<int64_t>(0) : std::nullopt, c.level());
  {
    const BatchedAgain seen;
    if (weight.defined()) out = ops::mul_Tensor::call(out, weight);
    if (reduction == kMean) out = ops::mean::call(out, {});
    if (reduction == kSum) out = ops::sum::call(out, {});
  }
  c.give(out, std::nullopt);
}

void binary_cross_entropy_backward(BatchCall& c) {
  const Tensor given = c.given(1), weight = c.is_tensor(3) ? c.given(3) : Tensor();
  const int64_t reduction = c.argument(4).to_int();
  if (reduction != kNone) {
    const BatchedAgain seen;
    c.set(0, ops::expand_as::call(c.given(0), given));
  }
  bool batched = false;
  for (const size_t i : {0, 1, 2}) batched |= c.tensor(i).dim.has_value();
  for (const size_t i : {0, 1, 2}) {
    const Batched b = c.tensor(i);
    c.set(i, batched ? with_batch(front(b), b.dim.has_value(), c.batch_size()) : b.value);
  }
  c.argument(3) = IValue();
  c.argument(4) = int64_t{kNone};
  Tensor out = make_batched(tensor_in(c.run()[0]), batched ? std::optional<int64_t>(0) : std::nullopt, c.level());
  {
    const BatchedAgain seen;
    if (weight.defined()) ops::mul__Tensor::call(out, weight);
    if (reduction == kMean) ops::div__Scalar::call(out, given.numel());
  }
  c.give(out, std::nullopt);
}

// upsample_..._backward(grad, output_size, input_size, ...)
void upsample_backward(BatchCall& c) {
  const Batched grad = c.tensor(0);
  c.set(0, fold(*grad.dim, 0, grad.value));
  std::vector<int64_t> size;
  for (const IValue& v : c.argument(2).to_list()) size.push_back(v.to_int());
  size[0] *= c.batch_size();
  c.set(2, std::move(size));
  c.give(unfold(0, c.batch_size(), tensor_in(c.run()[0])), 0);
}

void grid_sampler(BatchCall& c) {
  for (const size_t i : {0, 1}) {
    const Batched b = c.tensor(i);
    c.set(i, fold(b.dim.value_or(0), 0, with_batch(b.value, b.dim.has_value(), c.batch_size())));
  }
  const Tensor out = ops::grid_sampler::call(c.given(0), c.given(1), c.argument(2).to_int(), c.argument(3).to_int(), c.argument(4).to_bool());
  c.give(unfold(0, c.batch_size(), out), 0);
}

// _linalg_check_errors(info, api_name, *, is_matrix): a matrix of each sample is no single one.
void check_errors(BatchCall& c) {
  c.set(0, c.tensor(0).value);
  c.argument(2) = false;
  c.run();
}

}  // namespace peel::core::functorch::rules
