#include "core/functorch/batch_call.h"

#include "core/functorch/layers.h"
#include "core/functorch/wrappers.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch {

Batched unwrap_at(const Tensor& t, int64_t level) {
  const BatchWrapping* b = batch_wrapping(t);
  if (b && b->level == level) return {b->value, b->dim};
  return {t, std::nullopt};
}

Tensor front(const Batched& b) { return b.dim && *b.dim != 0 ? ops::movedim_int::call(b.value, *b.dim, 0) : b.value; }

Tensor padded(const Tensor& t, bool batched, int64_t have, int64_t want) {
  if (!batched || have >= want) return t;
  SizeVector sizes{t.sizes()[0]};
  sizes.insert(sizes.end(), static_cast<size_t>(want - have), 1);
  sizes.insert(sizes.end(), t.sizes().begin() + 1, t.sizes().end());
  return ops::view::call(t, sizes);
}

Tensor with_batch(const Tensor& t, bool batched, int64_t batch_size) {
  if (batched) return t;
  SizeVector sizes{batch_size};
  sizes.insert(sizes.end(), t.sizes().begin(), t.sizes().end());
  return ops::expand::call(t, sizes, false);
}

Tensor fold(int64_t from, int64_t into, const Tensor& t) {
  from = wrap_dimension(from, t.dim());
  into = wrap_dimension(into, t.dim() - 1);
  SizeVector shape(t.sizes().begin(), t.sizes().end());
  shape.erase(shape.begin() + from);
  shape[static_cast<size_t>(into)] *= t.sizes()[static_cast<size_t>(from)];
  return ops::reshape::call(ops::movedim_int::call(t, from, into), shape);
}

Tensor unfold(int64_t dim, int64_t size, const Tensor& t) {
  dim = wrap_dimension(dim, t.dim());
  SizeVector shape(t.sizes().begin(), t.sizes().end());
  const int64_t rest = size == 0 ? 0 : shape[static_cast<size_t>(dim)] / size;
  shape[static_cast<size_t>(dim)] = size;
  shape.insert(shape.begin() + dim + 1, rest);
  return ops::reshape::call(t, shape);
}

int64_t physical(int64_t dim, int64_t rank, bool batched) { return wrap_dimension(dim, rank) + (batched ? 1 : 0); }

BatchCall::BatchCall(const OperatorHandle& op, Stack* stack, std::span<const size_t> dims, const char* what, DispatchKey at)
    : op_(op), stack_(stack), dims_(dims), without_(at) {
  level_ = current_layer(what).level;
  const auto first = stack->end() - static_cast<ptrdiff_t>(op.schema().arguments.size());
  arguments_.assign(std::make_move_iterator(first), std::make_move_iterator(stack->end()));
  stack->erase(first, stack->end());
  arguments_given_ = arguments_;
}

bool BatchCall::any_batched() const {
  const auto of_level = [this](const IValue& v) {
    if (v.tag() != IValue::Tag::kTensor) return false;
    const BatchWrapping* b = batch_wrapping(Tensor(v.to_tensor().release()));
    return b && b->level == level_;
  };
  for (const IValue& v : arguments_) {
    if (of_level(v)) return true;
    if (v.tag() != IValue::Tag::kList) continue;
    for (const IValue& e : v.to_list()) {
      if (of_level(e)) return true;
    }
  }
  return false;
}

void BatchCall::go_on() {
  for (IValue& v : arguments_) stack_->push_back(std::move(v));
  op_.call_boxed(stack_);
}

int64_t BatchCall::batch_size() const { return layers().back().batch_size; }

std::vector<Batched> BatchCall::tensors(size_t i) const {
  std::vector<Batched> out;
  for (const IValue& v : arguments_[i].to_list()) {
    out.push_back(v.is_none() ? Batched() : unwrap_at(Tensor(v.to_tensor().release()), level_));
  }
  return out;
}

void BatchCall::set(size_t i, std::vector<int64_t> ints) {
  std::vector<IValue> list(ints.begin(), ints.end());
  arguments_[i] = IValue::list(std::move(list));
}

std::vector<IValue> BatchCall::run() {
  Stack stack = arguments_;
  op_.call_boxed(&stack);
  return stack;
}

void BatchCall::give(const Tensor& t, std::optional<int64_t> dim) {
  Tensor made = t.defined() ? make_batched(t, dim, level_) : t;
  stack_->push_back(IValue(static_cast<TensorHandle&&>(made)));
}

void BatchCall::give(const std::vector<IValue>& results, std::optional<int64_t> dim) {
  for (const IValue& v : results) {
    if (v.tag() == IValue::Tag::kTensor) {
      give(Tensor(v.to_tensor().release()), dim);
    } else if (v.tag() == IValue::Tag::kList) {
      std::vector<IValue> list = v.to_list();
      replace_tensors(list, [&](const Tensor& t) { return t.defined() ? make_batched(t, dim, level_) : t; });
      stack_->push_back(IValue::list(std::move(list)));
    } else {
      stack_->push_back(v);
    }
  }
}

}  // namespace peel::core::functorch
