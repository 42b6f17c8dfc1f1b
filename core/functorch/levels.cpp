#include "core/functorch/levels.h"

#include "core/dispatch/error.h"
#include "core/functorch/layers.h"
#include "core/functorch/wrappers.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch {

Tensor add_batch_dim(const Tensor& t, int64_t dim, int64_t level) { return make_batched(t, wrap_dimension(dim, t.dim()), level); }

Tensor remove_batch_dim(const Tensor& t, int64_t level, int64_t batch_size, int64_t out_dim) {
  const BatchWrapping* b = batch_wrapping(t);
  if (!b || b->level != level) {
    SizeVector sizes(t.sizes().begin(), t.sizes().end());
    sizes.insert(sizes.begin() + wrap_dimension(out_dim, t.dim() + 1), batch_size);
    return ops::expand::call(t, sizes, false);
  }
  const Tensor value = b->value;
  const int64_t to = wrap_dimension(out_dim, value.dim());
  if (b->dim == to) return value;
  SizeVector order;
  for (int64_t d = 0; d < value.dim(); ++d) {
    if (d != b->dim) order.push_back(d);
  }
  order.insert(order.begin() + to, b->dim);
  return ops::permute::call(value, order);
}

Tensor wrap_for_grad(const Tensor& t, int64_t level) {
  for (const Layer& l : layers()) {
    if (l.level == level) return make_grad_wrapper(t, level, l.alive);
  }
  throw Error("there is no transform of level " + std::to_string(level));
}

Tensor unwrap_for_grad(const Tensor& t, int64_t level) {
  const GradWrapping* g = grad_wrapping(t);
  return g && g->level == level ? g->value : t;
}

int64_t level_of(const Tensor& t) {
  if (const BatchWrapping* b = batch_wrapping(t)) return b->level;
  if (const GradWrapping* g = grad_wrapping(t)) return *g->alive ? g->level : -2;
  return -1;
}

Tensor unwrapped(const Tensor& t) {
  if (const BatchWrapping* b = batch_wrapping(t)) return b->value;
  if (const GradWrapping* g = grad_wrapping(t)) return g->value;
  return t;
}

}  // namespace peel::core::functorch
