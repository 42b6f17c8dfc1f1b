// Sums, products and powers of tensors.
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Tag = IValue::Tag;

void check_alpha(ScalarType t, const Scalar& alpha) {
  if (alpha.value.tag() == Tag::kBool && t != ScalarType::Bool) throw Error("Boolean alpha only supported for Boolean results.");
  if (alpha.value.tag() == Tag::kDouble && !is_floating(t)) throw Error("For integral input tensors, argument alpha must not be a floating point number.");
}

Tensor sum_of(const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor out, double sign) {
  Elementwise e({a, b}, std::move(out));
  check_alpha(e.type(), alpha);
  with_type(e.type(), "add", [&]<class T>(T) {
    const T factor = std::is_floating_point_v<T> ? static_cast<T>(sign * alpha.value.to_double())
                                                 : static_cast<T>(static_cast<int64_t>(sign) * static_cast<int64_t>(alpha.value.to_double()));
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [factor](T& o, T x, T y) {
      if constexpr (std::is_same_v<T, bool>) o = x || (y && factor);
      else o = static_cast<T>(x + factor * y);
    });
  });
  return e.finish();
}

Tensor difference(const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor out) {
  const bool first = a.dtype() == ScalarType::Bool, second = b.dtype() == ScalarType::Bool;
  if (first && second) {
    throw Error("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.");
  }
  if (first || second) {
    throw Error("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
                "`logical_not()` operator instead.");
  }
  return sum_of(a, b, alpha, std::move(out), -1);
}

Tensor product(const Tensor& a, const Tensor& b, Tensor out) {
  Elementwise e({a, b}, std::move(out));
  with_type(e.type(), "mul", [&]<class T>(T) {
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [](T& o, T x, T y) {
      if constexpr (std::is_same_v<T, bool>) o = x && y;
      else o = static_cast<T>(x * y);
    });
  });
  return e.finish();
}

Tensor quotient(const Tensor& a, const Tensor& b, Tensor out) {
  Elementwise e({a, b}, std::move(out), Want::kFloating);
  with_floating(e.type(), "div_true_cpu", [&]<class T>(T) {
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [](T& o, T x, T y) { o = x / y; });
  });
  return e.finish();
}

}  // namespace

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) { return sum_of(self, other, alpha, {}, 1); }
Tensor& add_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  sum_of(self, other, alpha, self, 1);
  return self;
}
Tensor add_number(const Tensor& self, const Scalar& other, const Scalar& alpha) { return ops::add_Tensor::call(self, wrapped(other), alpha); }
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return difference(self, other, alpha, {}); }
Tensor& sub_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  difference(self, other, alpha, self);
  return self;
}
Tensor mul(const Tensor& self, const Tensor& other) { return product(self, other, {}); }
Tensor& mul_(Tensor& self, const Tensor& other) {
  product(self, other, self);
  return self;
}
Tensor mul_number(const Tensor& self, const Scalar& other) { return ops::mul_Tensor::call(self, wrapped(other)); }
Tensor div(const Tensor& self, const Tensor& other) { return quotient(self, other, {}); }
Tensor& div_(Tensor& self, const Tensor& other) {
  quotient(self, other, self);
  return self;
}
Tensor div_number(const Tensor& self, const Scalar& other) { return ops::div_Tensor::call(self, wrapped(other)); }
Tensor& div_number_(Tensor& self, const Scalar& other) { return ops::div__Tensor::call(self, wrapped(other)); }

ScalarType result_type_Scalar(const Tensor& tensor, const Scalar& other) {
  const Operand operands[] = {as_operand(tensor), as_operand(wrapped(other))};
  return result_type(operands);
}

Tensor pow(const Tensor& self, const Scalar& exponent) {
  const bool whole = exponent.value.tag() != Tag::kDouble;
  const double by = exponent.value.to_double();
  if (whole && by < 0 && !is_floating(self.dtype())) throw Error("Integers to negative integer powers are not allowed.");
  const ScalarType type = ops::result_type_Scalar::call(self, exponent);
  Elementwise e({ops::to_dtype::call(self, type)});
  if (by == 1) {
    Tensor out = e.out();
    return ops::copy_::call(out, self);
  }
  if (by == 0) {
    Tensor out = e.out();
    return ops::fill__Scalar::call(out, 1);
  }
  with_type(e.type(), "pow", [&]<class T>(T) {
    auto walk = e.walk<2>();
    if constexpr (std::is_floating_point_v<T>) {
      if (by == 2) each<T, T>(walk, [](T& o, T x) { o = x * x; });
      else each<T, T>(walk, [p = static_cast<T>(by)](T& o, T x) { o = std::pow(x, p); });
    } else {
      each<T, T>(walk, [by](T& o, T x) {
        T r = 1;
        for (int64_t k = 0; k < static_cast<int64_t>(by); ++k) r = static_cast<T>(r * x);
        o = r;
      });
    }
  });
  return e.finish();
}

}  // namespace peel::kernels
