// Sums, products and quotients of tensors.
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Tag = IValue::Tag;

template <class T>
constexpr bool kIsSmallFloating = kIsFloating<T> && sizeof(T) == 2;

void check_alpha(ScalarType t, const Scalar& alpha) {
  const Tag tag = alpha.value.tag();
  if (tag == Tag::kBool && t != ScalarType::Bool) throw Error("Boolean alpha only supported for Boolean results.");
  if (tag == Tag::kDouble && !is_floating(t) && !is_complex(t)) throw Error("For integral input tensors, argument alpha must not be a floating point number.");
  if (tag == Tag::kComplex && !is_complex(t)) throw Error("For non-complex input tensors, argument alpha must not be a complex number.");
}

Tensor sum_of(const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor out, int sign) {
  Elementwise e({a, b}, std::move(out));
  check_alpha(e.type(), alpha);
  with_any_type(e.type(), "add_stub", [&]<class T>(T) {
    using M = Math<T>;
    M factor = as<M>(alpha);
    if constexpr (kIsSmallFloating<T>) factor = static_cast<M>(static_cast<T>(factor));  // alpha is taken in the tensors' type
    if constexpr (!std::is_same_v<M, bool>) factor = sign < 0 ? static_cast<M>(-factor) : factor;
    auto walk = e.walk<3>();
    const bool plain = factor == M(1) || factor == M(-1);  // others are rounded once, as by stock's vector instructions
    each<T, T, T>(walk, [factor, plain](T& o, T x, T y) {
      if constexpr (std::is_same_v<T, bool>) o = x || (y && factor);
      else if constexpr (kIsFloating<T>) o = static_cast<T>(plain ? static_cast<M>(x) + factor * static_cast<M>(y) : std::fma(factor, static_cast<M>(y), static_cast<M>(x)));
      else o = static_cast<T>(static_cast<M>(x) + factor * static_cast<M>(y));
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

// f(x, y) in the type that T is computed in. A second factor or divisor of one element isn't rounded to T before.
template <class T, class F>
void with_unrounded(const Elementwise& e, const Tensor& b, F f) {
  using M = Math<T>;
  if (kIsSmallFloating<T> && b.numel() == 1) {
    M y{};
    with_any_type(b.dtype(), "item", [&]<class U>(U) { y = converted<M>(*b.data_as<U>()); });
    auto walk = e.walk<2>();
    each<T, T>(walk, [f, y](T& o, T x) { o = static_cast<T>(f(static_cast<M>(x), y)); });
    return;
  }
  auto walk = e.walk<3>();
  each<T, T, T>(walk, [f](T& o, T x, T y) { o = static_cast<T>(f(static_cast<M>(x), static_cast<M>(y))); });
}

Tensor product(const Tensor& a, const Tensor& b, Tensor out) {
  Elementwise e({a, b}, std::move(out));
  with_any_type(e.type(), "mul_cpu", [&]<class T>(T) {
    with_unrounded<T>(e, b, [](auto x, auto y) {
      if constexpr (std::is_same_v<T, bool>) return x && y;
      else return x * y;
    });
  });
  return e.finish();
}

Tensor quotient(const Tensor& a, const Tensor& b, Tensor out) {
  Elementwise e({a, b}, std::move(out), {Want::kFloating});
  with_any_type(e.type(), "div_true_cpu", [&]<class T>(T) {
    if constexpr (kIsFloating<T> || kIsComplex<T>) with_unrounded<T>(e, b, [](auto x, auto y) { return x / y; });
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

Tensor& add_number_(Tensor& self, const Scalar& other, const Scalar& alpha) { return ops::add__Tensor::call(self, wrapped(other), alpha); }
Tensor sub_number(const Tensor& self, const Scalar& other, const Scalar& alpha) { return ops::sub_Tensor::call(self, wrapped(other), alpha); }
Tensor& sub_number_(Tensor& self, const Scalar& other, const Scalar& alpha) { return ops::sub__Tensor::call(self, wrapped(other), alpha); }
Tensor& mul_number_(Tensor& self, const Scalar& other) { return ops::mul_out::call(wrapped(other), self, self); }
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return ops::sub_Tensor::call(other, self, alpha); }
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) { return ops::sub_Tensor::call(wrapped(other), self, alpha); }

ScalarType result_type_Scalar(const Tensor& tensor, const Scalar& other) {
  const Operand operands[] = {as_operand(tensor), as_operand(wrapped(other))};
  return result_type(operands);
}
ScalarType result_type_Scalar_Tensor(const Scalar& scalar, const Tensor& tensor) { return result_type_Scalar(tensor, scalar); }
ScalarType promote_types(ScalarType type1, ScalarType type2) { return promote(type1, type2); }
bool can_cast(ScalarType from, ScalarType to) { return core::can_cast(from, to); }
ScalarType result_type_Tensor(const Tensor& tensor, const Tensor& other) {
  const Operand operands[] = {as_operand(tensor), as_operand(other)};
  return result_type(operands);
}

namespace {

template <class F>
Tensor three(const char* name, const Tensor& a, const Tensor& b, const Tensor& c, Tensor out, F f) {
  Elementwise e({a, b, c}, std::move(out));
  with_type(e.type(), name, [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.walk<4>();
    each<T, T, T, T>(walk, [f](T& o, T x, T y, T z) { o = static_cast<T>(f(static_cast<M>(x), static_cast<M>(y), static_cast<M>(z))); });
  });
  return e.finish();
}
Tensor add_product(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value, Tensor out) {
  return three("addcmul_cpu_out", self, a, b, std::move(out), [v = value.value.to_double()](auto x, auto y, auto z) {
    using X = decltype(x);
    return static_cast<X>(x + static_cast<X>(v) * y * z);
  });
}
Tensor add_quotient(const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& value, Tensor out) {
  if (!is_floating(a.dtype()) && !is_floating(b.dtype())) {
    throw Error("Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and "
                "tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for "
                "integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter "
                "implementation: (input + value * tensor1 / tensor2), for all dtypes.");
  }
  return three("addcdiv_cpu_out", self, a, b, std::move(out), [v = value.value.to_double()](auto x, auto y, auto z) {
    using X = decltype(x);
    if constexpr (std::is_floating_point_v<X>) return x + static_cast<X>(v) * y / z;
    else return x;
  });
}
// Near 1 from the other side, so that weight 1 gives the end exactly.
constexpr auto kMix = [](auto a, auto b, auto w) {
  using X = decltype(a);
  const bool small = std::abs(static_cast<double>(w)) < 0.5;
  return static_cast<X>(small ? a + w * (b - a) : b - (b - a) * (X(1) - w));
};
void same_type(const Tensor& self, const Tensor& end) {
  if (self.dtype() != end.dtype()) {
    throw Error(std::string("expected dtype ") + cpp_name(self.dtype()) + " for `end` but got dtype " + cpp_name(end.dtype()));
  }
}
Tensor mixed(const Tensor& self, const Tensor& end, const Scalar& weight, Tensor out) {
  same_type(self, end);
  return map_floating("lerp_kernel_scalar", {self, end}, [w = weight.value.to_double()](auto a, auto b) { return kMix(a, b, static_cast<decltype(a)>(w)); },
                      std::move(out), {Want::kPromoted});
}

}  // namespace

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) { return add_product(self, tensor1, tensor2, value, {}); }
Tensor& addcmul_(Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  add_product(self, tensor1, tensor2, value, self);
  return self;
}
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) { return add_quotient(self, tensor1, tensor2, value, {}); }
Tensor& addcdiv_(Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
  add_quotient(self, tensor1, tensor2, value, self);
  return self;
}
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) { return mixed(self, end, weight, {}); }
Tensor& lerp_(Tensor& self, const Tensor& end, const Scalar& weight) {
  mixed(self, end, weight, self);
  return self;
}
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  same_type(self, end);
  return three("lerp_kernel_tensor", self, end, weight, {}, kMix);
}

}  // namespace peel::kernels
