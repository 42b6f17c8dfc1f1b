// Vectors' products: of three dimensions, and the inner one of C++'s own name.
#include <algorithm>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  if (self.dim() != other.dim()) throw Error("linalg.cross: inputs must have the same number of dimensions.");
  if (self.size(dim) != 3 || other.size(dim) != 3) {
    throw Error("linalg.cross: inputs dimension " + std::to_string(dim) + " must have length 3. Got " + std::to_string(self.size(dim)) + " and " + std::to_string(other.size(dim)));
  }
  const SizeVector shape = broadcast(self.sizes(), other.sizes());
  const Tensor out = empty(shape, self.dtype(), self.device());
  const Tensor a = ops::expand::call(self, shape), b = ops::expand::call(other, shape);
  const auto named = named_dims(dim, out.dim());
  const Rows x = rows_of(a, named), y = rows_of(b, named), z = rows_like(out, named);
  with_type(self.dtype(), "cross", [&]<class T>(T) {
    using M = Math<T>;
    for (int64_t r = 0; r < x.count; ++r) {
      const T *u = x.data.data_as<T>() + 3 * r, *v = y.data.data_as<T>() + 3 * r;
      for (int64_t i = 0; i < 3; ++i) {
        const int64_t j = (i + 1) % 3, k = (i + 2) % 3;
        z.data.data_as<T>()[3 * r + i] = static_cast<T>(static_cast<M>(u[j]) * static_cast<M>(v[k]) - static_cast<M>(u[k]) * static_cast<M>(v[j]));
      }
    }
  });
  put_rows(out, named, z);
  return out;
}

}  // namespace peel::kernels
