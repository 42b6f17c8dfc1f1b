// Batches of matrices in memory as LAPACK has them: column-major, one after the other.
#pragma once
#include <tuple>

#include "core/dispatch/modes.h"
#include "kernels/cpu/elementwise.h"

namespace peel::kernels {

using Two = std::tuple<Tensor, Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

/// Calls f(T{}) with float or double; stock's error for what factorisations don't take.
template <class F>
void with_real(ScalarType t, const char* op, F&& f) {
  if (t == ScalarType::Float) return f(float{});
  if (t == ScalarType::Double) return f(double{});
  no_kernel_for(op, t);
}
/// Strides of a batch of column-major matrices.
SizeVector column_major(Sizes);
/// The dimensions before the last two.
inline Sizes batch_of(const Tensor& t) { return t.sizes().first(t.sizes().size() - 2); }
SizeVector with_batch(Sizes batch, std::initializer_list<int64_t> rest);
/// A column-major copy, by the calls that stock makes for it.
Tensor cloned_by_columns(const Tensor&);
/// Stock's errors for what isn't a batch of (square) matrices of floating numbers. `name`: the function's.
void need_matrices(const Tensor&, const std::string& name);
void need_square(const Tensor&, const std::string& name);
void need_floating(const Tensor&, const std::string& name);

/// A result with a shape and strides that the kernel wants, as stock's structured kernels see to it: a given tensor of another shape gets the
/// shape (a call), one of other strides gets a copy in the end (a call).
class Target {
 public:
  Target(Tensor& given, Sizes shape, Sizes strides);
  Tensor& tensor() { return work_; }
  void finish();

 private:
  Tensor& given_;
  Tensor work_;
};

}  // namespace peel::kernels
