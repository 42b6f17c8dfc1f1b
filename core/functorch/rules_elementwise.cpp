#include <algorithm>

#include "core/dispatch/error.h"
#include "core/functorch/rules.h"
#include "core/tensor/promotion.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch::rules {
namespace {

Operand operand(const Tensor& t, bool scalar) {
  return {t.impl().wrapped_number ? Operand::Strength::kNumber : scalar || t.dim() == 0 ? Operand::Strength::kZeroDimensional : Operand::Strength::kTensor, t.dtype()};
}

// Among samples that are scalars and a tensor, the scalars' type is the weaker one, which a batch of them doesn't show any more.
void promote(Tensor* scalars, Tensor* other) {
  const Tensor one = ops::select_int::call(*scalars, 0, 0);
  const Operand both[] = {operand(one, true), operand(*other, false)};
  const ScalarType type = result_type(both);
  if (scalars->dtype() != type) *scalars = ops::to_dtype::call(*scalars, type, false, false, {});
  if (other->dtype() != type) *other = ops::to_dtype::call(*other, type, false, false, {});
}

void align(BatchCall& c, std::span<const size_t> places) {
  int64_t rank = 0;
  for (const size_t i : places) rank = std::max(rank, c.tensor(i).rank());
  for (const size_t i : places) {
    const Batched b = c.tensor(i);
    c.set(i, padded(front(b), b.dim.has_value(), b.rank(), rank));
  }
}

std::vector<size_t> tensor_places(const BatchCall& c) {
  std::vector<size_t> out;
  for (size_t i = 0; i < c.count(); ++i) {
    if (c.is_tensor(i)) out.push_back(i);
  }
  return out;
}

}  // namespace

void incompatible_in_place(const char* name) {
  const std::string op = name;
  throw Error("vmap: " + op + "(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`. This happened "
              "due to `other` being vmapped over but `self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of " + op +
              ". If said operator is being called inside the PyTorch framework, please file a bug report instead.");
}

void unary(BatchCall& c) {
  size_t i = 0;
  while (!c.is_tensor(i)) ++i;
  const Batched self = c.tensor(i);
  c.set(i, self.value);
  c.give(c.run(), self.dim);
}

void unary_in_place(BatchCall& c) {
  c.set(0, front(c.tensor(0)));
  c.run();
  c.give_back(0);
}

void clone(BatchCall& c) {
  const Batched self = c.tensor(0);
  const bool contiguous = !c.argument(1).is_none() && c.argument(1).to_int() == static_cast<int64_t>(MemoryFormat::Contiguous);
  if (!contiguous) return unary(c);
  c.set(0, front(self));
  c.give(c.run(), 0);
}

namespace {

// Both to the front, and then to one rank.
void align_two(BatchCall& c, bool promotes) {
  const Batched a = c.tensor(0), b = c.tensor(1);
  const int64_t rank = std::max(a.rank(), b.rank());
  Tensor x = front(a), y = front(b);
  const bool x_scalar = a.dim && a.rank() == 0, y_scalar = b.dim && b.rank() == 0;
  if (promotes && x_scalar && !y_scalar) promote(&x, &y);
  if (promotes && y_scalar && !x_scalar) promote(&y, &x);
  c.set(0, padded(x, a.dim.has_value(), a.rank(), rank));
  c.set(1, padded(y, b.dim.has_value(), b.rank(), rank));
}

}  // namespace

void binary(BatchCall& c) {
  align_two(c, true);
  c.give(c.run(), 0);
}

void comparison(BatchCall& c) {
  align_two(c, false);
  c.give(c.run(), 0);
}

void pointwise(BatchCall& c) {
  align(c, tensor_places(c));
  c.give(c.run(), 0);
}

void binary_in_place(BatchCall& c) {
  align_two(c, false);
  c.run();
  c.give_back(0);
}
void pointwise_in_place(BatchCall& c) {
  align(c, tensor_places(c));
  c.run();
  c.give_back(0);
}

void copy_in_place(BatchCall& c) {
  if (!c.tensor(0).dim && c.tensor(1).dim) incompatible_in_place("inplace arithmetic");
  binary_in_place(c);
}

void fill_in_place(BatchCall& c) {
  const Batched self = c.tensor(0), value = c.tensor(1);
  if (!self.dim && value.dim) incompatible_in_place("fill_");
  if (!value.dim) {
    c.set(0, self.value);
    c.run();
  } else {
    binary_in_place(c);
    return;
  }
  c.give_back(0);
}

}  // namespace peel::core::functorch::rules
