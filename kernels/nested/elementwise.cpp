// Functions of nested tensors element by element: of their buffers.
#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/nested/nested.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

#define PEEL_ONE(name) \
  Tensor name##_nested(const Tensor& self) { return wrap_buffer(ops::name::call(nested_buffer(self)), nested_of(self).sizes); }
#define PEEL_ONE_IN_PLACE(name)                \
  Tensor& name##_nested_(Tensor& self) {       \
    Tensor buffer = nested_buffer(self);       \
    ops::name##_::call(buffer);                \
    return self;                               \
  }
PEEL_ONE(abs)
PEEL_ONE(neg)
PEEL_ONE(relu)
PEEL_ONE(tanh)
PEEL_ONE(silu)
PEEL_ONE(sgn)
PEEL_ONE(sin)
PEEL_ONE(cos)
PEEL_ONE(sqrt)
PEEL_ONE(logical_not)
PEEL_ONE_IN_PLACE(abs)
PEEL_ONE_IN_PLACE(neg)
PEEL_ONE_IN_PLACE(relu)
PEEL_ONE_IN_PLACE(tanh)
PEEL_ONE_IN_PLACE(silu)
PEEL_ONE_IN_PLACE(sgn)
PEEL_ONE_IN_PLACE(logical_not)
#undef PEEL_ONE
#undef PEEL_ONE_IN_PLACE
Tensor gelu_nested(const Tensor& self, std::string_view approximate) { return wrap_buffer(ops::gelu::call(nested_buffer(self), approximate), nested_of(self).sizes); }
Tensor& gelu_nested_(Tensor& self, std::string_view approximate) {
  Tensor buffer = nested_buffer(self);
  ops::gelu_::call(buffer, approximate);
  return self;
}
Tensor threshold_backward_nested(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
  return wrap_buffer(ops::threshold_backward::call(nested_buffer(grad), nested_buffer(self), threshold), nested_of(grad).sizes);
}
Tensor gelu_backward_nested(const Tensor& grad, const Tensor& self, std::string_view approximate) {
  return wrap_buffer(ops::gelu_backward::call(nested_buffer(grad), nested_buffer(self), approximate), nested_of(grad).sizes);
}
Tensor silu_backward_nested(const Tensor& grad, const Tensor& self) {
  return wrap_buffer(ops::silu_backward::call(nested_buffer(grad), nested_buffer(self)), nested_of(grad).sizes);
}

namespace {

Tensor row_major(const Tensor& t) { return is_nested_contiguous(t) ? t : ops::contiguous::call(t); }

void require_alike(const Tensor& a, const Tensor& b, const char* name) {
  if (is_nested(a) != is_nested(b)) {
    throw Error(std::string("Expected both self and other to be nested, but got a ") + (is_nested(a) ? "nested self and non-nested other" : "non-nested self and nested other"));
  }
  const NestedParts &p = nested_of(a), &q = nested_of(b);
  const std::string op = name;
  if (a.dim() != b.dim() || part_count(a) != part_count(b) || !ops::equal::call(p.sizes, q.sizes)) throw Error(op + " does not support broadcasting when given a NestedTensor");
  if (!ops::equal::call(p.strides, q.strides)) throw Error(op + " requires strides to match when given NestedTensors");
}

// A number, or a tensor that stands for one, with each element; else element by element.
template <class F>
Tensor with(const Tensor& self, const Tensor& other, const char* name, const F& f) {
  const Tensor* number = !is_nested(other) && other.dim() == 0 ? &other : !is_nested(self) && self.dim() == 0 ? &self : nullptr;
  if (number) {
    const NestedParts& p = nested_of(number == &other ? self : other);
    const Tensor strides = ops::clone::call(p.strides), sizes = ops::clone::call(p.sizes);
    if (number == &other) return nested_over(f(nested_buffer(self), other), {sizes, strides, p.offsets});
    return nested_over(f(self, nested_buffer(other)), {sizes, strides, p.offsets});
  }
  require_alike(self, other, name);
  return nested_over(f(nested_buffer(self), nested_buffer(other)), nested_of(self));
}
template <class F>
Tensor& with_in_place(Tensor& self, const Tensor& other, const char* name, const F& f) {
  if (!is_nested(self)) throw Error("can't write a nested result over a tensor that is not nested");
  if (!is_nested(other) && other.dim() == 0) {
    Tensor buffer = nested_buffer(self);
    f(buffer, other);
    return self;
  }
  require_alike(self, other, name);
  Tensor to = ops::view::call(nested_buffer(self), SizeVector{-1});
  const Tensor from = ops::view::call(nested_buffer(other), SizeVector{-1});
  f(to, from);
  return self;
}

}  // namespace

Tensor add_nested(const Tensor& self_, const Tensor& other_, const Scalar& alpha) {
  const Tensor self = is_nested(self_) ? row_major(self_) : self_, other = is_nested(other_) ? row_major(other_) : other_;
  return with(self, other, "add", [&](const Tensor& a, const Tensor& b) { return ops::add_Tensor::call(a, b, alpha); });
}
Tensor& add_nested_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  return with_in_place(self, other, "add_", [&](Tensor& a, const Tensor& b) { ops::add__Tensor::call(a, b, alpha); });
}
Tensor sub_nested(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  return with(self, other, "sub", [&](const Tensor& a, const Tensor& b) { return ops::sub_Tensor::call(a, b, alpha); });
}
Tensor mul_nested(const Tensor& self, const Tensor& other) { return with(self, other, "mul", [](const Tensor& a, const Tensor& b) { return ops::mul_Tensor::call(a, b); }); }
Tensor& mul_nested_(Tensor& self, const Tensor& other) {
  return with_in_place(self, other, "mul_", [](Tensor& a, const Tensor& b) { ops::mul__Tensor::call(a, b); });
}
Tensor mul_nested(const Tensor& self, const Scalar& other) { return mul_nested(self, wrapped(other)); }
Tensor& mul_nested_(Tensor& self, const Scalar& other) { return mul_nested_(self, wrapped(other)); }
Tensor div_nested(const Tensor& self, const Tensor& other) { return with(self, other, "div", [](const Tensor& a, const Tensor& b) { return ops::div_Tensor::call(a, b); }); }
Tensor div_nested(const Tensor& self, const Scalar& other) { return div_nested(self, wrapped(other)); }

}  // namespace peel::kernels
