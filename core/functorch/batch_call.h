// A call at FuncTorchBatched, as the rules see it: its arguments, and which tensors among them stand for the samples of the innermost vmap.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/dispatch/operator_handle.h"
#include "core/tensor/tensor.h"

namespace peel::core::functorch {

/// A tensor without its level: the dimension of the batch, if it has one.
struct Batched {
  Tensor value;
  std::optional<int64_t> dim;
  /// Dimensions that the program sees.
  int64_t rank() const { return value.dim() - (dim ? 1 : 0); }
};

Batched unwrap_at(const Tensor&, int64_t level);
/// The batch as first dimension, if there is one.
Tensor front(const Batched&);
/// Of one that has been moved to the front: ones after the batch, until it has this many dimensions beside.
Tensor padded(const Tensor&, bool batched, int64_t have, int64_t want);
/// Repeated for each sample where there is no batch.
Tensor with_batch(const Tensor&, bool batched, int64_t batch_size);
/// One dimension made part of another, or part of one made a dimension before the rest of it.
Tensor fold(int64_t from, int64_t into, const Tensor&);
Tensor unfold(int64_t dim, int64_t size, const Tensor&);
/// Where the program's dimension lies in a tensor whose batch is in front. A scalar counts as one dimension.
int64_t physical(int64_t dim, int64_t rank, bool batched = true);

/// While it lives the key that it came to is excluded.
class BatchCall {
 public:
  /// Takes the arguments off the stack. `dims`: numbers of the arguments that name dimensions (or sizes), as the table says.
  BatchCall(const OperatorHandle&, Stack*, std::span<const size_t> dims, const char* what, DispatchKey at = DispatchKey::FuncTorchBatched);

  /// Whether an argument is a sample of this level: else the call just goes on.
  bool any_batched() const;
  void go_on();

  const OperatorHandle& op() const { return op_; }
  int64_t level() const { return level_; }
  int64_t batch_size() const;
  std::span<const size_t> dims() const { return dims_; }
  size_t count() const { return arguments_.size(); }
  IValue& argument(size_t i) { return arguments_[i]; }
  bool is_tensor(size_t i) const { return arguments_[i].tag() == IValue::Tag::kTensor; }
  /// As it was given, wrapped.
  Tensor given(size_t i) const { return Tensor(arguments_[i].to_tensor().release()); }
  Batched tensor(size_t i) const { return unwrap_at(given(i), level_); }
  /// Undefined for None and for undefined tensors.
  Batched optional_tensor(size_t i) const { return is_tensor(i) ? tensor(i) : Batched(); }
  std::vector<Batched> tensors(size_t i) const;
  void set(size_t i, const Tensor& t) { arguments_[i] = IValue(static_cast<const TensorHandle&>(t)); }
  void set(size_t i, std::vector<int64_t> ints);

  /// Calls the operator with the arguments as they are now.
  std::vector<IValue> run();
  /// Results: tensors with the batch in this dimension; none: as they are.
  void give(const std::vector<IValue>&, std::optional<int64_t> dim);
  void give(const Tensor&, std::optional<int64_t> dim);
  /// What an in-place operator returns.
  void give_back(size_t i) { stack_->push_back(arguments_given_[i]); }

 private:
  OperatorHandle op_;
  Stack* stack_;
  std::span<const size_t> dims_;
  std::vector<IValue> arguments_, arguments_given_;
  ExcludeKeys without_;
  int64_t level_;
};

/// Inside of a BatchCall: calls see the batch again.
class BatchedAgain {
 public:
  BatchedAgain() : saved_(local_keys()) { set_local_keys({saved_.included, saved_.excluded - DispatchKey::FuncTorchBatched}); }
  ~BatchedAgain() { set_local_keys(saved_); }
  BatchedAgain(const BatchedAgain&) = delete;
  BatchedAgain& operator=(const BatchedAgain&) = delete;

 private:
  LocalKeys saved_;
};

/// How vmap takes an operator.
using BatchRule = void (*)(BatchCall&);

}  // namespace peel::core::functorch
