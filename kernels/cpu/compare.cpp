// Comparisons, logic, and bits.
#include <functional>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

template <class F>
Tensor compared(const char* name, const Tensor& a, const Tensor& b, F f) {
  Elementwise e({a, b}, {}, {.result = ScalarType::Bool});
  with_any_type(e.type(), name, [&]<class T>(T) {
    using M = Math<T>;
    if constexpr (std::is_invocable_r_v<bool, F, M, M>) {
      auto walk = e.walk<3>();
      each<bool, T, T>(walk, [f](bool& o, T x, T y) { o = f(static_cast<M>(x), static_cast<M>(y)); });
    } else {
      no_kernel_for(name, e.type());  // complex numbers have no order
    }
  });
  return e.finish();
}

#define PEEL_ORDER(name, op)                              \
  struct name {                                           \
    template <class T>                                    \
      requires std::is_arithmetic_v<T>                    \
    bool operator()(T a, T b) const { return a op b; }    \
  };
PEEL_ORDER(Less, <)
PEEL_ORDER(LessEqual, <=)
PEEL_ORDER(Greater, >)
PEEL_ORDER(GreaterEqual, >=)
#undef PEEL_ORDER

bool truth(auto v) { return v != decltype(v){}; }

// Each operand counts as its truth; no common type.
template <class F>
Tensor logical(const Tensor& a, const Tensor& b, F f) {
  Elementwise e({a, b}, {}, {.result = ScalarType::Bool});
  with_real_type(e.type(), "logical", [&]<class T>(T) {
    auto walk = e.walk<3>();
    each<bool, T, T>(walk, [f](bool& o, T x, T y) { o = f(truth(static_cast<Math<T>>(x)), truth(static_cast<Math<T>>(y))); });
  });
  return e.finish();
}

template <class F>
Tensor bits(const char* name, const Tensor& a, const Tensor& b, F f, Tensor out = {}) {
  Elementwise e({a, b}, std::move(out));
  with_integral(e.type(), name, [&]<class T>(T) {
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [f](T& o, T x, T y) { o = static_cast<T>(f(x, y)); });
  });
  return e.finish();
}

}  // namespace

#define PEEL_COMPARISON(name, f)                                                                              \
  Tensor name(const Tensor& self, const Tensor& other) { return compared(#name "_cpu", self, other, f); }                 \
  Tensor name(const Tensor& self, const Scalar& number) {                                                                    \
    const Tensor other = wrapped(number);                                                                                    \
    return compared(#name "_cpu", self, other, f);                                                                         \
  }
PEEL_COMPARISON(eq, std::equal_to<>())
PEEL_COMPARISON(ne, std::not_equal_to<>())
PEEL_COMPARISON(lt, Less())
PEEL_COMPARISON(le, LessEqual())
PEEL_COMPARISON(gt, Greater())
PEEL_COMPARISON(ge, GreaterEqual())
#undef PEEL_COMPARISON

#define PEEL_LOGICAL(name, f)                                                                                                \
  Tensor& name##_out(const Tensor& self, const Tensor& other, Tensor& out) { return write_into(out, logical(self, other, f)); } \
  Tensor name(const Tensor& self, const Tensor& other) {                                                                     \
    Tensor out = ops::empty_memory_format::call(Sizes(), ScalarType::Bool, Layout::Strided, self.device());                  \
    return ops::name##_out::call(self, other, out);                                                                          \
  }
PEEL_LOGICAL(logical_and, std::logical_and<bool>())
PEEL_LOGICAL(logical_or, std::logical_or<bool>())
PEEL_LOGICAL(logical_xor, std::not_equal_to<bool>())
#undef PEEL_LOGICAL
Tensor& logical_and_(Tensor& self, const Tensor& other) { return ops::logical_and_out::call(self, other, self); }

Tensor& logical_not_out(const Tensor& self, Tensor& out) {
  Elementwise e({self}, {}, {.result = ScalarType::Bool});
  with_real_type(e.type(), "logical_not_cpu", [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<bool, T>(walk, [](bool& o, T x) { o = !truth(static_cast<Math<T>>(x)); });
  });
  return write_into(out, e.finish());
}
Tensor logical_not(const Tensor& self) {
  Tensor out = ops::empty_memory_format::call(Sizes(), ScalarType::Bool, Layout::Strided, self.device());
  return ops::logical_not_out::call(self, out);
}

Tensor bitwise_and(const Tensor& self, const Tensor& other) { return bits("bitwise_and_cpu", self, other, [](auto a, auto b) { return a & b; }); }
Tensor bitwise_or(const Tensor& self, const Tensor& other) { return bits("bitwise_or_cpu", self, other, [](auto a, auto b) { return a | b; }); }
Tensor bitwise_xor(const Tensor& self, const Tensor& other) { return bits("bitwise_xor_cpu", self, other, [](auto a, auto b) { return a ^ b; }); }
Tensor bitwise_and(const Tensor& self, const Scalar& other) { return ops::bitwise_and_Tensor::call(self, wrapped(other)); }
Tensor bitwise_or(const Tensor& self, const Scalar& other) { return ops::bitwise_or_Tensor::call(self, wrapped(other)); }
Tensor bitwise_xor(const Tensor& self, const Scalar& other) { return ops::bitwise_xor_Tensor::call(self, wrapped(other)); }
Tensor& bitwise_and_(Tensor& self, const Tensor& other) {
  bits("bitwise_and_cpu", self, other, [](auto a, auto b) { return a & b; }, self);
  return self;
}
Tensor& bitwise_or_(Tensor& self, const Tensor& other) {
  bits("bitwise_or_cpu", self, other, [](auto a, auto b) { return a | b; }, self);
  return self;
}
Tensor& __iand___Tensor(Tensor& self, const Tensor& other) { return ops::bitwise_and__Tensor::call(self, other); }
Tensor& __ior___Tensor(Tensor& self, const Tensor& other) { return ops::bitwise_or__Tensor::call(self, other); }
Tensor bitwise_not(const Tensor& self) {
  Elementwise e({self});
  with_integral(e.type(), "bitwise_not_cpu", [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<T, T>(walk, [](T& o, T x) {
      if constexpr (std::is_same_v<T, bool>) o = !x;
      else o = static_cast<T>(~x);
    });
  });
  return e.finish();
}
Tensor __and___Tensor(const Tensor& self, const Tensor& other) { return ops::bitwise_and_Tensor::call(self, other); }
Tensor __and___Scalar(const Tensor& self, const Scalar& other) { return ops::bitwise_and_Scalar::call(self, other); }
Tensor __or___Tensor(const Tensor& self, const Tensor& other) { return ops::bitwise_or_Tensor::call(self, other); }
Tensor __xor___Tensor(const Tensor& self, const Tensor& other) { return ops::bitwise_xor_Tensor::call(self, other); }

namespace {

ScalarType common(const Tensor& a, const Tensor& b) {
  const Operand types[] = {as_operand(a), as_operand(b)};
  return result_type(types);
}
Geometry geometry(const Tensor& t) { return {{t.sizes().begin(), t.sizes().end()}, {t.strides().begin(), t.strides().end()}}; }

// Into `out` of the right type; its shape is made.
Tensor& choose(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) {
  if (condition.dtype() != ScalarType::Bool) {
    throw Error(std::string("where expected condition to be a boolean tensor, but got a tensor with dtype ") + to_string(condition.dtype()));
  }
  const ScalarType t = common(self, other);
  const Tensor x = self.dtype() == t ? self : ops::to_dtype::call(self, t), y = other.dtype() == t ? other : ops::to_dtype::call(other, t);
  const SizeVector shape = broadcast(broadcast(condition.sizes(), x.sizes()), y.sizes());
  const Geometry given[] = {geometry(condition), geometry(x), geometry(y)};
  const Tensor made = empty_strided(shape, elementwise_strides(given, shape), t, condition.device());
  with_any_type(t, "where_cpu", [&]<class T>(T) {
    Walk<4> walk(shape);
    walk.set(0, made);
    walk.set(1, condition);
    walk.set(2, x);
    walk.set(3, y);
    each<T, bool, T, T>(walk, [](T& o, bool c, T p, T q) { o = c ? p : q; });
  });
  return write_into(out, made);
}

Tensor number_like(const Scalar& s, ScalarType t, const Tensor& condition) {
  return ops::scalar_tensor::call(s, t, Layout::Strided, condition.device(), false);
}

}  // namespace

Tensor& where_out(const Tensor& condition, const Tensor& self, const Tensor& other, Tensor& out) { return choose(condition, self, other, out); }
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, common(self, other), Layout::Strided, condition.device());
  return choose(condition, self, other, out);
}
Tensor where_ScalarOther(const Tensor& condition, const Tensor& self, const Scalar& other) {
  const Operand types[] = {as_operand(self), as_operand(wrapped(other))};
  const ScalarType t = result_type(types);
  const Tensor b = number_like(other, t, condition);
  return ops::where_self::call(condition, ops::to_dtype::call(self, t), b);
}
Tensor where_ScalarSelf(const Tensor& condition, const Scalar& self, const Tensor& other) {
  const Operand types[] = {as_operand(other), as_operand(wrapped(self))};
  const ScalarType t = result_type(types);
  const Tensor a = number_like(self, t, condition);
  return ops::where_self::call(condition, a, ops::to_dtype::call(other, t));
}
Tensor where_Scalar(const Tensor& condition, const Scalar& self, const Scalar& other) {
  const Operand types[] = {as_operand(wrapped(self)), as_operand(wrapped(other))};
  const ScalarType t = result_type(types);
  const Tensor b = number_like(other, t, condition), a = number_like(self, t, condition);
  return ops::where_self::call(condition, a, b);
}

Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Scalar& value) {
  if (mask.dtype() != ScalarType::Bool) throw Error("masked_fill_ only supports boolean masks, but got mask with dtype " + cpp_name(mask.dtype()));
  const SizeVector shape = broadcast(self.sizes(), mask.sizes());
  if (!std::ranges::equal(shape, self.sizes())) {
    throw Error("output with shape " + to_text(self.sizes()) + " doesn't match the broadcast shape " + to_text(shape));
  }
  check_no_overlap(self);
  with_any_type(self.dtype(), "masked_fill", [&]<class T>(T) {
    const T v = as<T>(value);
    Walk<2> walk(self.sizes());
    walk.set(0, self);
    walk.set(1, mask);
    each<T, bool>(walk, [v](T& o, bool m) {
      if (m) o = v;
    });
  });
  return self;
}
Tensor& masked_fill_(Tensor& self, const Tensor& mask, const Tensor& value) {
  if (value.dim() != 0) {
    throw Error("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with " + std::to_string(value.dim()) + " dimension(s).");
  }
  return masked_fill_(self, mask, ops::item::call(value));
}

namespace {

template <class V>
Tensor masked(const Tensor& self, const Tensor& mask, const V& value) {
  Tensor from = self, where = mask;
  if (!std::ranges::equal(mask.sizes(), self.sizes())) {  // stock expands both then
    const SizeVector shape = broadcast(mask.sizes(), self.sizes());
    where = ops::expand::call(mask, shape);
    from = ops::expand::call(self, shape);
  }
  Tensor out = ops::clone::call(from, MemoryFormat::Contiguous);
  if constexpr (std::is_same_v<V, Scalar>) return ops::masked_fill__Scalar::call(out, where, value);
  else return ops::masked_fill__Tensor::call(out, where, value);
}

}  // namespace

Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) { return masked(self, mask, value); }
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) { return masked(self, mask, value); }

bool equal(const Tensor& self, const Tensor& other) {
  if (!ops::is_same_size::call(self, other)) return false;
  if (self.dtype() != other.dtype()) {
    throw Error(std::string("Expected object of data type ") + to_string(self.dtype()) + " but got data type " + to_string(other.dtype()) +
                " for argument 'other' in call to equal");
  }
  bool same = true;
  const Tensor out = empty(self.sizes(), ScalarType::Bool);
  with_any_type(self.dtype(), "equal_cpu", [&]<class T>(T) {
    Walk<3> walk(self.sizes());
    walk.set(0, out);
    walk.set(1, self);
    walk.set(2, other);
    each<bool, T, T>(walk, [&same](bool&, T x, T y) { same = same && static_cast<Math<T>>(x) == static_cast<Math<T>>(y); });
  });
  return same;
}

}  // namespace peel::kernels
