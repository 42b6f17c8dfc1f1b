// matmul and linear: which product runs for which dimensions, and what is folded into a matrix first.
#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

bool wants_grad(const Tensor& t) { return t.impl().requires_grad(); }

// Whether the larger tensor can be seen as one matrix, so that mm or mv serves instead of bmm. Stock asks for the transpose here already.
bool should_fold(const Tensor& a, const Tensor& b) {
  const bool first_larger = a.dim() >= b.dim();
  const Tensor large = first_larger ? a : ops::mT::call(b);
  const Tensor& small = first_larger ? b : a;
  if (large.dim() < 3 || small.dim() > 2) return false;
  if (wants_grad(small)) return true;
  if (a.dim() == 2) return false;
  if (large.numel() == 0) return true;
  for (size_t d = 0; d + 2 < large.sizes().size(); ++d) {
    if (large.strides()[d] != large.strides()[d + 1] * large.sizes()[d + 1]) return false;
  }
  return true;
}

// Into a given tensor when there is one.
Tensor folded(const Tensor& a, const Tensor& b, Tensor* into) {
  const bool swapped = b.dim() > a.dim();
  const Tensor large = swapped ? ops::mT::call(b) : a;
  const Tensor small = !swapped ? b : a.dim() == 2 ? ops::t::call(a) : a;
  SizeVector shape(large.sizes().begin(), large.sizes().end() - 1);
  const int64_t rows = element_count(shape);
  const bool matrix = small.dim() == 2;
  if (matrix) shape.push_back(small.size(1));
  const Tensor flat = ops::reshape::call(large, SizeVector{rows, large.sizes().back()});
  if (into && !swapped) {
    if (!std::ranges::equal(into->sizes(), shape)) reshape_out(*into, shape);
    Tensor seen = ops::reshape::call(*into, matrix ? SizeVector{rows, small.size(1)} : SizeVector{rows});
    if (matrix) ops::mm_out::call(flat, small, seen);
    else ops::mv_out::call(flat, small, seen);
    return *into;
  }
  if (!matrix) return ops::_unsafe_view::call(ops::mv::call(flat, small), shape);
  const Tensor out = ops::_unsafe_view::call(ops::mm::call(flat, small), shape);
  if (!swapped) return out;
  const Tensor turned = ops::mT::call(out);
  return turned.is_contiguous() ? turned : ops::contiguous::call(turned);
}

Tensor batched(const Tensor& a, const Tensor& b, Tensor* into) {
  const int64_t n = a.dim() > 1 ? a.size(-2) : 1, m1 = a.size(-1), m2 = b.dim() > 1 ? b.size(-2) : b.size(-1), p = b.dim() > 1 ? b.size(-1) : 1;
  const auto batch = [](const Tensor& t) { return SizeVector(t.sizes().begin(), t.sizes().begin() + std::max<int64_t>(t.dim() - 2, 0)); };
  if (a.dim() == 3 && b.dim() == 3 && a.size(0) != b.size(0)) {
    if (a.size(0) == 1 && wants_grad(a)) return matmul(ops::squeeze_dim::call(a, 0), b);
    if (b.size(0) == 1 && wants_grad(b)) return matmul(a, ops::squeeze_dim::call(b, 0));
  }
  SizeVector shape = broadcast(batch(a), batch(b));
  const int64_t count = element_count(shape);
  const auto with = [&shape](std::initializer_list<int64_t> rest) {
    SizeVector out = shape;
    out.insert(out.end(), rest);
    return out;
  };
  const Tensor left = ops::reshape::call(ops::expand::call(a, with({n, m1})), SizeVector{count, n, m1});
  const bool vector = b.dim() == 1;
  Tensor right = ops::expand::call(b, vector ? with({m2}) : with({m2, p}));
  right = vector ? ops::unsqueeze::call(ops::reshape::call(right, SizeVector{count, m2}), 2) : ops::reshape::call(right, SizeVector{count, m2, p});
  if (a.dim() > 1) shape.push_back(n);
  if (b.dim() > 1) shape.push_back(p);
  if (into) {
    if (!std::ranges::equal(into->sizes(), shape)) reshape_out(*into, shape);
    Tensor seen = ops::reshape::call(*into, SizeVector{count, n, p});
    ops::bmm_out::call(left, right, seen);
    return *into;
  }
  const Tensor out = ops::bmm::call(left, right);
  return ops::_unsafe_view::call(vector ? ops::squeeze_dim::call(out, -1) : out, shape);
}

void check_matmul(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) {
    throw Error("both arguments to matmul need to be at least 1D, but they are " + std::to_string(self.dim()) + "D and " + std::to_string(other.dim()) + "D");
  }
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  check_matmul(self, other);
  if (self.dim() == 1 && other.dim() == 1) return ops::dot::call(self, other);
  if (self.dim() == 2 && other.dim() == 1) return ops::mv::call(self, other);
  if (self.dim() == 1 && other.dim() == 2) {
    Tensor out = ops::mm::call(ops::unsqueeze::call(self, 0), other);
    return ops::squeeze__dim::call(out, 0);
  }
  if (self.dim() == 2 && other.dim() == 2) return ops::mm::call(self, other);
  return should_fold(self, other) ? folded(self, other, nullptr) : batched(self, other, nullptr);
}
Tensor& matmul_out(const Tensor& self, const Tensor& other, Tensor& out) {
  check_matmul(self, other);
  if (self.dim() == 1 && other.dim() == 1) return ops::dot_out::call(self, other, out);
  if (self.dim() == 2 && other.dim() == 1) return ops::mv_out::call(self, other, out);
  if (self.dim() == 1 && other.dim() == 2) {
    ops::mm_out::call(ops::unsqueeze::call(self, 0), other, out);
    return ops::squeeze__dim::call(out, 0);
  }
  if (self.dim() == 2 && other.dim() == 2) return ops::mm_out::call(self, other, out);
  const Tensor made = should_fold(self, other) ? folded(self, other, &out) : batched(self, other, &out);
  return made.is_same(out) ? out : write_into(out, made);
}

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  if (input.dim() == 0 || weight.dim() == 0) {
    throw Error("both arguments to linear need to be at least 1D, but they are " + std::to_string(input.dim()) + "D and " + std::to_string(weight.dim()) + "D");
  }
  const bool has_bias = bias && bias->defined();
  if (input.dim() == 2 && has_bias) return ops::addmm::call(*bias, input, ops::t::call(weight));
  if (has_bias && input.is_contiguous()) {
    SizeVector shape(input.sizes().begin(), input.sizes().end() - 1);
    const Tensor flat = ops::view::call(input, SizeVector{element_count(shape), input.sizes().back()});
    const Tensor out = ops::addmm::call(*bias, flat, ops::t::call(weight));
    shape.push_back(out.size(1));
    return ops::view::call(out, shape);
  }
  Tensor out = ops::matmul::call(input, ops::t::call(weight));
  if (!has_bias) return out;
  return out.keys().has(DispatchKey::Meta) ? ops::add_Tensor::call(out, *bias) : ops::add__Tensor::call(out, *bias);
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  if (self.dim() != 1) throw Error("outer: Expected 1-D argument self, but got " + std::to_string(self.dim()) + "-D");
  if (vec2.dim() != 1) throw Error("outer: Expected 1-D argument vec2, but got " + std::to_string(vec2.dim()) + "-D");
  return ops::mul_Tensor::call(ops::reshape::call(self, SizeVector{self.size(0), 1}), vec2);
}
Tensor& outer_out(const Tensor& self, const Tensor& vec2, Tensor& out) {
  if (self.dim() != 1) throw Error("outer: Expected 1-D argument self, but got " + std::to_string(self.dim()) + "-D");
  if (vec2.dim() != 1) throw Error("outer: Expected 1-D argument vec2, but got " + std::to_string(vec2.dim()) + "-D");
  return ops::mul_out::call(ops::reshape::call(self, SizeVector{self.size(0), 1}), vec2, out);
}
Tensor ger(const Tensor& self, const Tensor& vec2) { return ops::outer::call(self, vec2); }

Scalar item(const Tensor& self) {
  if (self.numel() != 1) throw Error("a Tensor with " + std::to_string(self.numel()) + " elements cannot be converted to Scalar");
  return ops::_local_scalar_dense::call(self);
}

}  // namespace peel::kernels
