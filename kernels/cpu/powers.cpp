// Powers, bounds, remainders and divisions that round.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Tag = IValue::Tag;

template <class X>
X whole_power(X x, X n) {
  if (n < 0) {
    if (x == 1) return 1;
    return x == static_cast<X>(-1) ? (n % 2 ? static_cast<X>(-1) : X{1}) : X{0};
  }
  X out = 1;
  for (; n > 0; n = static_cast<X>(n / 2)) {
    if (n % 2) out = static_cast<X>(out * x);
    x = static_cast<X>(x * x);
  }
  return out;
}

template <class F>
Tensor map_any(const char* name, const Tensor& a, const Tensor& b, F f, Tensor out = {}, Plan plan = {}) {
  Elementwise e({a, b}, std::move(out), plan);
  with_real_type(e.type(), name, [&]<class T>(T) {
    using M = Math<T>;
    if constexpr (std::is_same_v<T, bool> && !std::is_invocable_v<F, bool, bool>) {
      no_kernel_for(name, e.type());
    } else {
      auto walk = e.walk<3>();
      each<T, T, T>(walk, [f](T& o, T x, T y) { o = static_cast<T>(f(static_cast<M>(x), static_cast<M>(y))); });
    }
  });
  return e.finish();
}

template <class X>
concept NotBool = !std::is_same_v<X, bool>;

Tensor power(const Tensor& self, const Scalar& exponent, Tensor target) {
  const bool whole = exponent.value.tag() != Tag::kDouble;
  const double by = exponent.value.to_double();
  if (whole && by < 0 && !is_floating(self.dtype())) throw Error("Integers to negative integer powers are not allowed.");
  const ScalarType type = ops::result_type_Scalar::call(self, exponent);
  const Tensor from = ops::to_dtype::call(self, type);
  Elementwise e({from}, std::move(target));
  if (by == 1) {
    Tensor out = e.out();
    return ops::copy_::call(out, self);
  }
  if (by == 0) {
    Tensor out = e.out();
    return ops::fill__Scalar::call(out, 1);
  }
  with_real_type(e.type(), "pow", [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.walk<2>();
    if constexpr (kIsFloating<T>) {
      if (by == 2) each<T, T>(walk, [](T& o, T x) { o = static_cast<M>(x) * static_cast<M>(x); });
      else each<T, T>(walk, [p = static_cast<M>(by)](T& o, T x) { o = std::pow(static_cast<M>(x), p); });
    } else if constexpr (!std::is_same_v<T, bool>) {
      each<T, T>(walk, [n = static_cast<T>(by)](T& o, T x) { o = whole_power(x, n); });
    } else {
      each<T, T>(walk, [](T& o, T x) { o = x; });
    }
  });
  return e.finish();
}

// The remainder has the divisor's sign.
constexpr auto kRemainder = [](NotBool auto a, NotBool auto b) {
  using X = decltype(a);
  if constexpr (std::is_floating_point_v<X>) {
    const X r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
  } else {
    if (b == 0) throw Error("ZeroDivisionError");
    const auto r = a % b;
    return static_cast<X>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
  }
};
constexpr auto kFmod = [](NotBool auto a, NotBool auto b) {
  using X = decltype(a);
  if constexpr (std::is_floating_point_v<X>) return std::fmod(a, b);
  else {
    if (b == 0) throw Error("ZeroDivisionError");
    return static_cast<X>(a % b);
  }
};
constexpr auto kFloorDivide = [](NotBool auto a, NotBool auto b) {
  using X = decltype(a);
  if constexpr (std::is_floating_point_v<X>) {
    if (b == 0) return a / b;
    const X r = std::fmod(a, b);
    X q = (a - r) / b;
    if (r != 0 && (b < 0) != (r < 0)) q -= X(1);
    if (q == 0) return std::copysign(X(0), a / b);
    const X f = std::floor(q);
    return q - f > X(0.5) ? f + X(1) : f;
  } else {
    if (b == 0) throw Error("ZeroDivisionError");
    const auto q = a / b;
    return static_cast<X>(a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
  }
};
constexpr auto kTruncDivide = [](NotBool auto a, NotBool auto b) {
  using X = decltype(a);
  if constexpr (std::is_floating_point_v<X>) return std::trunc(a / b);
  else {
    if (b == 0) throw Error("ZeroDivisionError");
    return static_cast<X>(a / b);
  }
};
constexpr auto kMaximum = [](auto a, auto b) { return a != a ? a : b != b ? b : a < b ? b : a; };
constexpr auto kMinimum = [](auto a, auto b) { return a != a ? a : b != b ? b : b < a ? b : a; };

// The operand in the type that bounds make it; NaN stays.
Tensor bounded(const char* name, const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max, Tensor out, bool casts) {
  std::vector<Operand> types{as_operand(self)};
  if (min) types.push_back(as_operand(wrapped(*min)));
  if (max) types.push_back(as_operand(wrapped(*max)));
  const ScalarType t = result_type(types);
  if (out.defined() && !core::can_cast(t, out.dtype())) {
    throw Error(std::string("result type ") + to_string(t) + " can't be cast to the desired output type " + to_string(out.dtype()));
  }
  Elementwise e({casts || t != self.dtype() ? ops::to_dtype::call(self, t) : self}, std::move(out));
  with_real_type(e.type(), name, [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.walk<2>();
    const M low = min ? as<M>(*min) : M{}, high = max ? as<M>(*max) : M{};
    each<T, T>(walk, [low, high, has_low = min.has_value(), has_high = max.has_value()](T& o, T x) {
      M v = static_cast<M>(x);
      if (has_low && v < low) v = low;
      if (has_high && v > high) v = high;
      o = static_cast<T>(v);
    });
  });
  return e.finish();
}
void need_a_bound(const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  if (!min && !max) throw Error("torch.clamp: At least one of 'min' or 'max' must not be None");
}

}  // namespace

Tensor pow(const Tensor& self, const Scalar& exponent) { return power(self, exponent, {}); }
Tensor& pow_(Tensor& self, const Scalar& exponent) {
  power(self, exponent, self);
  return self;
}
Tensor pow(const Tensor& self, const Tensor& exponent) {
  return map_any("pow", self, exponent, [](auto a, auto b) {
    using X = decltype(a);
    if constexpr (std::is_floating_point_v<X>) return std::pow(a, b);
    else if constexpr (std::is_same_v<X, bool>) return a || !b;
    else return whole_power(a, b);
  });
}
Tensor& pow_out(const Tensor& self, const Tensor& exponent, Tensor& out) { return write_into(out, pow(self, exponent)); }
Tensor& pow_out(const Scalar& self, const Tensor& exponent, Tensor& out) {
  if (!std::ranges::equal(out.sizes(), exponent.sizes())) reshape_out(out, exponent.sizes());
  return self.value.to_double() == 1 ? ops::fill__Scalar::call(out, 1) : ops::pow_Tensor_Tensor_out::call(wrapped(self), exponent, out);
}
Tensor pow(const Scalar& self, const Tensor& exponent) {
  Tensor out = empty_strided(exponent.sizes(), like_strides(exponent.sizes(), exponent.strides()), ops::result_type_Scalar_Tensor::call(self, exponent));
  if (self.value.to_double() == 1) return ops::fill__Scalar::call(out, 1);
  return ops::pow_Tensor_Tensor_out::call(wrapped(self), exponent, out);
}

Tensor maximum(const Tensor& self, const Tensor& other) { return map_any("maximum_cpu", self, other, kMaximum); }
Tensor minimum(const Tensor& self, const Tensor& other) { return map_any("minimum_cpu", self, other, kMinimum); }
Tensor remainder(const Tensor& self, const Tensor& other) { return map_any("remainder_cpu", self, other, kRemainder); }
Tensor remainder(const Tensor& self, const Scalar& other) { return ops::remainder_Tensor::call(self, wrapped(other)); }
Tensor fmod(const Tensor& self, const Tensor& other) { return map_any("fmod_cpu", self, other, kFmod); }
Tensor fmod(const Tensor& self, const Scalar& other) { return ops::fmod_Tensor::call(self, wrapped(other)); }
Tensor floor_divide(const Tensor& self, const Tensor& other) { return map_any("div_floor_cpu", self, other, kFloorDivide, {}, {.allocates_by_call = true}); }
Tensor& floor_divide_(Tensor& self, const Tensor& other) {
  map_any("div_floor_cpu", self, other, kFloorDivide, self);
  return self;
}
Tensor& floor_divide_out(const Tensor& self, const Tensor& other, Tensor& out) { return write_into(out, map_any("div_floor_cpu", self, other, kFloorDivide)); }
Tensor floor_divide(const Tensor& self, const Scalar& other) { return ops::floor_divide::call(self, wrapped(other)); }
Tensor div(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  if (!rounding_mode) return map_floating("div_true_cpu", {self, other}, [](auto a, auto b) { return a / b; });
  if (*rounding_mode == "floor") return map_any("div_floor_cpu", self, other, kFloorDivide);
  if (*rounding_mode == "trunc") return map_any("div_trunc_cpu", self, other, kTruncDivide);
  throw Error("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" + std::string(*rounding_mode) + "'");
}
Tensor div(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return ops::div_Tensor_mode::call(self, wrapped(other), rounding_mode);
}
Tensor atan2(const Tensor& self, const Tensor& other) {
  return map_floating("atan2_cpu", {self, other}, [](auto a, auto b) { return std::atan2(a, b); });
}
Tensor xlogy(const Tensor& self, const Tensor& other) {
  return map_floating("xlogy_cpu", {self, other}, [](auto a, auto b) { return b != b ? b : a == 0 ? decltype(a){} : a * std::log(b); });
}

Tensor clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  need_a_bound(min, max);
  return bounded("clamp_scalar_cpu", self, min, max, {}, true);
}
Tensor& clamp_out(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max, Tensor& out) {
  need_a_bound(min, max);
  bounded("clamp_scalar_cpu", self, min, max, out, true);
  return out;
}
Tensor& clamp_(Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
  need_a_bound(min, max);
  bounded("clamp_scalar_cpu", self, min, max, self, true);
  return self;
}
Tensor clamp_min(const Tensor& self, const Scalar& min) { return bounded("clamp_min_scalar_cpu", self, min, {}, {}, !is_floating(self.dtype())); }
Tensor& clamp_min_(Tensor& self, const Tensor& min) {
  Elementwise e({self, min}, self);
  with_real_type(e.type(), "clamp_min", [&]<class T>(T) {
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [](T& o, T x, T low) { o = static_cast<Math<T>>(x) != static_cast<Math<T>>(x) || static_cast<Math<T>>(x) > static_cast<Math<T>>(low) ? x : low; });
  });
  e.finish();
  return self;
}
Tensor& clamp_min_(Tensor& self, const Scalar& min) {
  bounded("clamp_min_scalar_cpu", self, min, {}, self, !is_floating(self.dtype()));
  return self;
}
// NaN of any of them stays.
Tensor clamp_min(const Tensor& self, const Tensor& min) { return map_any("clamp_min_cpu", self, min, kMaximum); }
Tensor clamp_max(const Tensor& self, const Tensor& max) { return map_any("clamp_max_cpu", self, max, kMinimum); }
Tensor clamp(const Tensor& self, const std::optional<Tensor>& min, const std::optional<Tensor>& max) {
  const bool low = min && min->defined(), high = max && max->defined();
  if (!low && !high) throw Error("torch.clamp: At least one of 'min' or 'max' must not be None");
  if (!low || !high) return low ? map_any("clamp_cpu", self, *min, kMaximum) : map_any("clamp_cpu", self, *max, kMinimum);
  Elementwise e({self, *min, *max});
  with_real_type(e.type(), "clamp_cpu", [&]<class T>(T) {
    using M = Math<T>;
    auto walk = e.walk<4>();
    each<T, T, T, T>(walk, [](T& o, T x, T a, T b) { o = static_cast<T>(kMinimum(kMaximum(static_cast<M>(x), static_cast<M>(a)), static_cast<M>(b))); });
  });
  return e.finish();
}
Tensor clamp_max(const Tensor& self, const Scalar& max) { return bounded("clamp_max_scalar_cpu", self, {}, max, {}, !is_floating(self.dtype())); }
Tensor& clamp_max_(Tensor& self, const Scalar& max) {
  bounded("clamp_max_scalar_cpu", self, {}, max, self, !is_floating(self.dtype()));
  return self;
}

}  // namespace peel::kernels
