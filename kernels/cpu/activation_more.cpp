// The rarer activations, and what else maps one number to one.
#include <cmath>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

double number(const Scalar& s) { return s.value.to_double(); }

template <class F>
Tensor floating_only(const char* name, std::vector<Tensor> in, F f, bool by_call = false) {
  return map_floating(name, std::move(in), f, {}, {.want = Want::kPromoted, .allocates_by_call = by_call});
}

}  // namespace

Tensor exp2(const Tensor& self) { return map_floating("exp2_cpu", {self}, [](auto x) { return std::exp2(x); }); }
Tensor erfc(const Tensor& self) { return map_floating("erfc_vml_cpu", {self}, [](auto x) { return std::erfc(x); }); }

Tensor hardswish(const Tensor& self) {
  return floating_only("hardswish_cpu", {self}, [](auto x) {
    using X = decltype(x);
    return x * std::min(std::max(x + X(3), X(0)), X(6)) / X(6);
  }, true);
}
Tensor& hardswish_(Tensor& self) {
  return write_over(self, floating_only("hardswish_cpu", {self}, [](auto x) {
    using X = decltype(x);
    return x * std::min(std::max(x + X(3), X(0)), X(6)) / X(6);
  }, false));
}
Tensor hardswish_backward(const Tensor& grad_output, const Tensor& self) {
  return floating_only("hardswish_backward_cpu", {grad_output, self}, [](auto g, auto x) {
    using X = decltype(x);
    return x <= X(-3) ? X(0) : x < X(3) ? g * (x / X(3) + X(0.5)) : g;
  }, true);
}
Tensor hardsigmoid(const Tensor& self) {
  return floating_only("hardsigmoid_cpu", {self}, [](auto x) {
    using X = decltype(x);
    return std::min(std::max(x + X(3), X(0)), X(6)) / X(6);
  });
}
Tensor hardsigmoid_backward(const Tensor& grad_output, const Tensor& self) {
  return floating_only("hardsigmoid_backward", {grad_output, self}, [](auto g, auto x) {
    using X = decltype(x);
    return x > X(-3) && x < X(3) ? g / X(6) : X(0);
  });
}
Tensor mish(const Tensor& self) {
  return floating_only("mish_cpu", {self}, [](auto x) { return x * std::tanh(std::log1p(std::exp(x))); });
}
Tensor mish_backward(const Tensor& grad_output, const Tensor& self) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  return write_into(out, floating_only("mish_backward_cpu", {grad_output, self}, [](auto g, auto x) {
    using X = decltype(x);
    const X s = X(1) / (X(1) + std::exp(-x)), t = std::tanh(std::log1p(std::exp(x)));
    return g * (t + x * s * (X(1) - t * t));
  }));
}

Tensor softshrink(const Tensor& self, const Scalar& lambd) {
  if (number(lambd) < 0) throw Error("lambda must be greater or equal to 0, but found to be " + std::to_string(number(lambd)) + ".");
  return floating_only("softshrink_cpu", {self}, [l = number(lambd)](auto x) {
    using X = decltype(x);
    return x > X(l) ? x - X(l) : x < X(-l) ? x + X(l) : x * X(0);
  });
}
Tensor hardshrink(const Tensor& self, const Scalar& lambd) {
  return floating_only("hardshrink_cpu", {self}, [l = number(lambd)](auto x) {
    using X = decltype(x);
    return x >= X(-l) && x <= X(l) ? X(0) : x;
  });
}
Tensor shrink_backward(const Tensor& grad, const Tensor& self, const Scalar& lambd) {
  return floating_only("shrink_backward_cpu", {grad, self}, [l = number(lambd)](auto g, auto x) {
    using X = decltype(x);
    return x >= X(-l) && x <= X(l) ? X(0) : g;
  });
}
Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  Elementwise e({self});
  with_type(e.type(), "threshold_cpu", [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<T, T>(walk, [t = static_cast<Math<T>>(as<T>(threshold)), v = as<T>(value)](T& o, T x) { o = static_cast<Math<T>>(x) <= t ? v : x; });
  });
  return e.finish();
}

Tensor selu(const Tensor& self) { return ops::elu::call(self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946); }
Tensor celu(const Tensor& self, const Scalar& alpha) {
  if (number(alpha) == 0) throw Error("ZeroDivisionError: alpha cannot be 0 for CELU");
  return ops::elu::call(self, alpha, 1.0, 1.0 / number(alpha));
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  const int64_t n = weight.numel();
  if (self.dtype() != weight.dtype()) {
    throw Error(std::string("prelu: Type promoting not supported. Got ") + to_string(self.dtype()) + " and " + to_string(weight.dtype()));
  }
  if (n != 1) {
    if (self.dim() == 0) throw Error("Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    if (channels != n) {
      throw Error("Mismatch of parameter numbers and input channel size. Found parameter numbers = " + std::to_string(n) + " and channel size = " + std::to_string(channels) + ".");
    }
  }
  if (weight.dim() > 1) throw Error("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = " + std::to_string(weight.dim()));
  Tensor w = weight;
  if (self.dim() != w.dim()) {
    SizeVector shape(self.sizes().size(), 1);
    if (shape.size() > 1) shape[1] = n;
    w = ops::reshape::call(w, shape);
  }
  return ops::_prelu_kernel::call(self, w);
}
Tensor prelu_kernel(const Tensor& self, const Tensor& weight) {
  const Tensor out = ops::empty_like::call(self);
  with_floating(self.dtype(), "prelu_cpu", [&]<class T>(T) {
    Walk<3> walk(self.sizes());
    walk.set(0, out);
    walk.set(1, self);
    walk.set(2, weight);
    each<T, T, T>(walk, [](T& o, T x, T w) { o = static_cast<Math<T>>(x) > 0 ? x : static_cast<T>(static_cast<Math<T>>(w) * static_cast<Math<T>>(x)); });
  });
  return out;
}
std::tuple<Tensor, Tensor> prelu_kernel_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  const Tensor gx = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  const Tensor gw = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  reshape_out(gx, self.sizes());
  reshape_out(gw, self.sizes());
  with_floating(self.dtype(), "prelu_backward_cpu", [&]<class T>(T) {
    Walk<4> walk(self.sizes());
    walk.set(0, gx);
    walk.set(1, self);
    walk.set(2, weight);
    walk.set(3, grad_output);
    each<T, T, T, T>(walk, [](T& o, T x, T w, T g) { o = static_cast<Math<T>>(x) > 0 ? g : static_cast<T>(static_cast<Math<T>>(w) * static_cast<Math<T>>(g)); });
    Walk<3> second(self.sizes());
    second.set(0, gw);
    second.set(1, self);
    second.set(2, grad_output);
    each<T, T, T>(second, [](T& o, T x, T g) { o = static_cast<Math<T>>(x) > 0 ? T{} : static_cast<T>(static_cast<Math<T>>(x) * static_cast<Math<T>>(g)); });
  });
  return {gx, gw};
}

Tensor glu(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) throw Error("glu does not support 0-dimensional tensors");
  const int64_t d = wrap_dimension(dim, self.dim()), n = self.size(d);
  if (n % 2 != 0) throw Error("Halving dimension must be even, but dimension " + std::to_string(d) + " is size " + std::to_string(n));
  const Tensor a = ops::narrow::call(self, d, 0, n / 2), b = ops::narrow::call(self, d, n / 2, n / 2);
  return floating_only("glu_cpu", {a, b}, [](auto x, auto y) { return x / (decltype(x){1} + std::exp(-y)); });
}
Tensor glu_backward(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dimension(dim, self.dim()), n = self.size(d);
  if (n % 2 != 0) throw Error("Halving dimension must be even, but dimension " + std::to_string(d) + " is size " + std::to_string(n));
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  ops::resize_as_::call(out, self);
  const Tensor a = ops::narrow::call(self, d, 0, n / 2), b = ops::narrow::call(self, d, n / 2, n / 2);
  Tensor ga = ops::narrow::call(out, d, 0, n / 2), gb = ops::narrow::call(out, d, n / 2, n / 2);
  ops::sigmoid_out::call(b, ga);
  with_floating(self.dtype(), "glu_backward_cpu", [&]<class T>(T) {
    Walk<4> walk(a.sizes());
    const Tensor* const all[] = {&gb, &ga, &a, &grad_output};
    for (size_t i = 0; i < 4; ++i) walk.set(i, *all[i]);
    each<T, T, T, T>(walk, [](T& o, T share, T x, T g) {
      using M = Math<T>;
      const M s = static_cast<M>(share);
      o = static_cast<T>((M(1) - s) * s * static_cast<M>(x) * static_cast<M>(g));
    });
  });
  ops::mul__Tensor::call(ga, grad_output);
  return out;
}

Tensor& nan_to_num_out(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf, Tensor& out) {
  if (!is_floating(self.dtype())) return ops::copy_::call(out, self);
  with_floating(self.dtype(), "nan_to_num", [&]<class T>(T) {
    using M = Math<T>;
    const M zero = static_cast<M>(nan.value_or(0)), high = posinf ? static_cast<M>(*posinf) : std::numeric_limits<M>::max(), low = neginf ? static_cast<M>(*neginf) : std::numeric_limits<M>::lowest();
    Walk<2> walk(out.sizes());
    walk.set(0, out);
    walk.set(1, self);
    each<T, T>(walk, [=](T& o, T v) {
      const M x = static_cast<M>(v);
      o = static_cast<T>(x != x ? zero : x == std::numeric_limits<M>::infinity() ? high : x == -std::numeric_limits<M>::infinity() ? low : x);
    });
  });
  return out;
}
Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  Tensor out = ops::empty_like::call(self);
  return ops::nan_to_num_out::call(self, nan, posinf, neginf, out);
}

// ---- into a given tensor

Tensor& add_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) { return write_into(out, add(self, other, alpha)); }
Tensor& sub_out(const Tensor& self, const Tensor& other, const Scalar& alpha, Tensor& out) { return write_into(out, sub(self, other, alpha)); }
Tensor& mul_out(const Tensor& self, const Tensor& other, Tensor& out) { return write_into(out, mul(self, other)); }
Tensor& div_out(const Tensor& self, const Tensor& other, Tensor& out) { return write_into(out, div(self, other)); }
Tensor& exp_out(const Tensor& self, Tensor& out) { return write_into(out, exp(self)); }
Tensor& maximum_out(const Tensor& self, const Tensor& other, Tensor& out) { return write_into(out, maximum(self, other)); }
Tensor& cumsum_out(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype, Tensor& out) { return write_into(out, cumsum(self, dim, dtype)); }
Tensor& argmax_out(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Tensor& out) { return write_into(out, argmax(self, dim, keepdim)); }
Tensor& linalg_vector_norm_out(const Tensor& self, const Scalar& ord, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype, Tensor& out) {
  return write_into(out, linalg_vector_norm(self, ord, dim, keepdim, dtype));
}
std::tuple<Tensor&, Tensor&> topk_out(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, Tensor& values, Tensor& indices) {
  const auto [v, i] = topk(self, k, dim, largest, sorted);
  write_into(values, v);
  write_into(indices, i);
  return {values, indices};
}

}  // namespace peel::kernels
