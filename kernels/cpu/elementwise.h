// What element-wise kernels share: the common element type, casts of operands (calls of to.dtype, as stock's), the result's
// shape, strides and memory, and the checks on what is written.
#pragma once
#include "core/ops/types.h"
#include "core/tensor/promotion.h"
#include "kernels/cpu/walk.h"

namespace peel::kernels {

enum class Want : uint8_t { kPromoted, kFloating };

/// Ready to compute: operands in the common type, `out` to be written in it. finish() brings the result to where it belongs.
class Elementwise {
 public:
  /// `out`: written in place, its shape stays; undefined: made.
  Elementwise(std::vector<Tensor> operands, Tensor out = {}, Want = Want::kPromoted);
  ScalarType type() const { return type_; }
  const Tensor& operand(size_t i) const { return operands_[i]; }
  const Tensor& out() const { return out_; }
  template <size_t N>
  Walk<N> walk() const {
    Walk<N> w(out_.sizes());
    w.set(0, out_);
    for (size_t i = 1; i < N; ++i) w.set(i, operands_[i - 1]);
    return w;
  }
  Tensor finish();

 private:
  std::vector<Tensor> operands_;
  Tensor out_, target_;
  ScalarType type_;
};

Operand as_operand(const Tensor&);
/// A Python number as a tensor without dimensions, weak in promotion.
Tensor wrapped(const Scalar&);
/// Errors of stock for memory that is written twice or read after.
void check_no_overlap(const Tensor& written);
void check_no_partial_overlap(const Tensor& written, const Tensor& read);

}  // namespace peel::kernels
