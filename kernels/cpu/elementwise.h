// What element-wise kernels share: the common element type, casts of operands (calls of to.dtype, as stock's), the result's
// shape, strides and memory, and the checks on what is written.
#pragma once
#include "core/ops/types.h"
#include "core/tensor/promotion.h"
#include "kernels/cpu/walk.h"

namespace peel::kernels {

enum class Want : uint8_t { kPromoted, kFloating };
/// How a kernel's result is made.
struct Plan {
  Want want = Want::kPromoted;
  std::optional<ScalarType> result = {};  // of comparisons: another type than the one computed in
  bool allocates_by_call = false;         // where stock's kernel isn't a structured one, its result is a call of empty
};

/// Ready to compute: operands in the common type, `out` to be written in it. finish() brings the result to where it belongs.
class Elementwise {
 public:
  /// `out`: written in place, its shape stays; undefined: made.
  Elementwise(std::vector<Tensor> operands, Tensor out = {}, Plan = {});
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

/// f(x), f(x, y) in the common type; one loop a floating type.
template <class F>
Tensor map_floating(const char* name, std::vector<Tensor> in, F f, Tensor out = {}, Plan plan = {Want::kFloating}) {
  constexpr bool binary = std::is_invocable_v<F, float, float>;
  Elementwise e(std::move(in), std::move(out), plan);
  with_floating(e.type(), name, [&]<class T>(T) {
    using M = Math<T>;
    if constexpr (binary) {
      auto walk = e.walk<3>();
      each<T, T, T>(walk, [f](T& o, T x, T y) { o = static_cast<T>(f(static_cast<M>(x), static_cast<M>(y))); });
    } else {
      auto walk = e.walk<2>();
      each<T, T>(walk, [f](T& o, T x) { o = static_cast<T>(f(static_cast<M>(x))); });
    }
  });
  return e.finish();
}

/// A result that is a call of empty or empty_strided, as TensorIterator's are outside structured kernels.
Tensor allocated(Sizes, Sizes strides, ScalarType, Device);
/// Elements of one tensor into another of the same or a broader shape, converted.
void copy_elements(const Tensor& to, const Tensor& from);
/// As C++ calls the type: `float`, `long`.
std::string cpp_name(ScalarType);
/// In place, in memory.
void conjugate_elements(const Tensor&);
/// A new shape for an out= argument, row-major; its memory grows when needed. No call.
void reshape_out(const Tensor& out, Sizes);
/// The value of an out= argument: its shape changes when it has another, its type stays.
Tensor& write_into(Tensor& out, const Tensor& value);
/// The value of an in-place operator, whose tensor keeps its shape and type.
Tensor& write_over(Tensor& self, const Tensor& value);
Operand as_operand(const Tensor&);
/// A Python number as a tensor without dimensions, weak in promotion.
Tensor wrapped(const Scalar&);
/// Errors of stock for memory that is written twice or read after.
void check_no_overlap(const Tensor& written);
void check_no_partial_overlap(const Tensor& written, const Tensor& read);

}  // namespace peel::kernels
