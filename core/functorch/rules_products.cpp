#include "core/functorch/rules.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch::rules {

// Products go to matmul, which takes batches.
void mm(BatchCall& c) {
  const Tensor a = front(c.tensor(0)), b = front(c.tensor(1));
  c.give(ops::matmul::call(a, b), 0);
}

void mv(BatchCall& c) {
  const Batched self = c.tensor(0), vec = c.tensor(1);
  if (!vec.dim) return c.give(ops::matmul::call(front(self), vec.value), 0);
  if (!self.dim) {
    const Tensor columns = ops::movedim_int::call(vec.value, *vec.dim, -1);
    return c.give(ops::matmul::call(self.value, columns), 1);
  }
  const Tensor a = ops::movedim_int::call(self.value, *self.dim, -3);
  const Tensor b = ops::unsqueeze::call(front(vec), -1);
  c.give(ops::squeeze_dim::call(ops::matmul::call(a, b), -1), 0);
}

void dot(BatchCall& c) {
  const Batched a = c.tensor(0), b = c.tensor(1);
  const Tensor x = front(a), y = front(b);
  if (a.dim && b.dim) {
    const Tensor column = ops::unsqueeze::call(y, -1), row = ops::unsqueeze::call(x, -2);
    const Tensor product = ops::matmul::call(row, column);
    return c.give(ops::squeeze_dim::call(ops::squeeze_dim::call(product, -1), -1), 0);
  }
  c.give(ops::matmul::call(x, ops::t::call(y)), 0);
}

}  // namespace peel::core::functorch::rules
