// Activations and their gradients.
#include <cmath>
#include <numbers>

#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

constexpr auto kSigmoid = [](auto x) { return decltype(x){1} / (decltype(x){1} + std::exp(-x)); };
constexpr auto kSilu = [](auto x) { return x / (decltype(x){1} + std::exp(-x)); };

// Number arguments are as double: the loops bring them to their type.
double number(const Scalar& s) { return s.value.to_double(); }

template <class F>
Tensor floating_only(const char* name, std::vector<Tensor> in, F f, Tensor out = {}) {
  return map_floating(name, std::move(in), f, std::move(out), {Want::kPromoted});
}

constexpr auto leaky(double slope) {
  return [slope](auto x) { return x > 0 ? x : static_cast<decltype(x)>(x * static_cast<decltype(x)>(slope)); };
}
struct Elu {
  double negative, positive, input;
  Elu(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale)
      : negative(number(alpha) * number(scale)), positive(number(scale)), input(number(input_scale)) {}
  template <class T>
  T operator()(T x) const {
    return x < 0 ? std::expm1(x * static_cast<T>(input)) * static_cast<T>(negative) : x * static_cast<T>(positive);
  }
};

}  // namespace

Tensor sigmoid(const Tensor& self) { return map_floating("sigmoid_cpu", {self}, kSigmoid); }
Tensor& sigmoid_(Tensor& self) {
  map_floating("sigmoid_cpu", {self}, kSigmoid, self);
  return self;
}
Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& output) {
  return floating_only("sigmoid_backward_cpu", {grad_output, output}, [](auto g, auto y) { return g * (1 - y) * y; });
}
Tensor tanh_backward(const Tensor& grad_output, const Tensor& output) {
  return floating_only("tanh_backward_cpu", {grad_output, output}, [](auto g, auto y) { return g * (1 - y * y); });
}

Tensor silu(const Tensor& self) { return floating_only("silu_cpu", {self}, kSilu); }
Tensor& silu_(Tensor& self) {
  floating_only("silu_cpu", {self}, kSilu, self);
  return self;
}
Tensor silu_backward(const Tensor& grad_output, const Tensor& self) {
  return floating_only("silu_backward_cpu", {grad_output, self}, [](auto g, auto x) {
    const auto s = kSigmoid(x);
    return g * s * (1 + x * (1 - s));
  });
}

namespace {

bool by_tanh(std::string_view approximate) {
  if (approximate != "none" && approximate != "tanh") throw Error("approximate argument must be either none or tanh.");
  return approximate == "tanh";
}
constexpr double kInner = std::numbers::sqrt2 * std::numbers::inv_sqrtpi * 2 * 0.5;  // sqrt(2 / pi)
constexpr double kCubic = 0.044715;

}  // namespace

Tensor gelu(const Tensor& self, std::string_view approximate) {
  if (by_tanh(approximate)) {
    return floating_only("GeluKernelImpl", {self}, [](auto x) {
      using X = decltype(x);
      const X inner = static_cast<X>(kInner) * (x + static_cast<X>(kCubic) * x * x * x);
      return X(0.5) * x * (X(1) + std::tanh(inner));
    });
  }
  return floating_only("GeluKernelImpl", {self}, [](auto x) {
    using X = decltype(x);
    return x * X(0.5) * (X(1) + std::erf(x * static_cast<X>(1 / std::numbers::sqrt2)));
  });
}
Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, std::string_view approximate) {
  if (by_tanh(approximate)) {
    return floating_only("GeluBackwardKernelImpl", {grad_output, self}, [](auto g, auto x) {
      using X = decltype(x);
      const X inner = static_cast<X>(kInner) * (x + static_cast<X>(kCubic) * x * x * x), t = std::tanh(inner);
      const X slope = X(0.5) * x * (X(1) - t * t) * static_cast<X>(kInner) * (X(1) + X(3) * static_cast<X>(kCubic) * x * x);
      return g * (X(0.5) * (X(1) + t) + slope);
    });
  }
  return floating_only("GeluBackwardKernelImpl", {grad_output, self}, [](auto g, auto x) {
    using X = decltype(x);
    const X cdf = X(0.5) * (X(1) + std::erf(x * static_cast<X>(1 / std::numbers::sqrt2)));
    const X pdf = std::exp(X(-0.5) * x * x) * static_cast<X>(0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
    return g * (cdf + x * pdf);
  });
}

Tensor leaky_relu(const Tensor& self, const Scalar& slope) { return floating_only("leaky_relu_cpu", {self}, leaky(number(slope))); }
Tensor& leaky_relu_(Tensor& self, const Scalar& slope) {
  floating_only("leaky_relu_cpu", {self}, leaky(number(slope)), self);
  return self;
}
Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope, bool self_is_result) {
  const double slope = number(negative_slope);
  if (self_is_result && slope < 0) {
    throw Error("In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. This is caused by calling in-place "
                "forward function with a negative slope, please call out-of-place version instead. File an issue at "
                "https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward calculation with negative slope");
  }
  return floating_only("leaky_relu_backward_cpu", {self, grad_output}, [slope](auto x, auto g) { return x > 0 ? g : g * static_cast<decltype(g)>(slope); });
}

Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return floating_only("elu_cpu", {self}, [f = Elu(alpha, scale, input_scale)](auto x) { return f(x); });
}
Tensor& elu_(Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  floating_only("elu_cpu", {self}, [f = Elu(alpha, scale, input_scale)](auto x) { return f(x); }, self);
  return self;
}
Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result, const Tensor& self) {
  const Elu f(alpha, scale, input_scale);
  return floating_only("elu_backward_cpu", {grad_output, self}, [f, is_result](auto g, auto x) {
    using X = decltype(x);
    if (x > 0) return g * static_cast<X>(f.positive);
    if (is_result) return g * static_cast<X>(f.input) * (x + static_cast<X>(f.negative));
    return g * static_cast<X>(f.input) * static_cast<X>(f.negative) * std::exp(x * static_cast<X>(f.input));
  });
}

Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return floating_only("softplus_cpu", {self}, [b = number(beta), t = number(threshold)](auto x) {
    using X = decltype(x);
    return x * static_cast<X>(b) > static_cast<X>(t) ? x : std::log1p(std::exp(x * static_cast<X>(b))) / static_cast<X>(b);
  });
}
Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return floating_only("softplus_backward_cpu", {grad_output, self}, [b = number(beta), t = number(threshold)](auto g, auto x) {
    using X = decltype(x);
    const X z = std::exp(x * static_cast<X>(b));
    return x * static_cast<X>(b) > static_cast<X>(t) ? g : g * z / (z + 1);
  });
}

Tensor& hardtanh_out(const Tensor& self, const Scalar& min_val, const Scalar& max_val, Tensor& out) {
  if (self.dtype() == ScalarType::Bool) throw Error("Bool inputs not supported for hardtanh");
  return ops::clamp_out::call(self, min_val, max_val, out);
}
Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  Tensor out = ops::empty_like::call(self);
  return ops::hardtanh_out::call(self, min_val, max_val, out);
}
Tensor& hardtanh_(Tensor& self, const Scalar& min_val, const Scalar& max_val) { return ops::hardtanh_out::call(self, min_val, max_val, self); }
Tensor& hardtanh_backward_out(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val, Tensor& grad_input) {
  return write_into(grad_input, floating_only("hardshrink_backward_cpu", {grad_output, self}, [low = number(min_val), high = number(max_val)](auto g, auto x) {
    using X = decltype(x);
    return x <= static_cast<X>(low) || x >= static_cast<X>(high) ? X{} : g;
  }));
}
Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, grad_output.dtype(), Layout::Strided, grad_output.device());
  return hardtanh_backward_out(grad_output, self, min_val, max_val, out);
}

Tensor relu(const Tensor& self) {
  if (self.dtype() == ScalarType::Bool) throw Error("Boolean inputs not supported for relu");
  return ops::clamp_min::call(self, 0);
}
Tensor& relu_(Tensor& self) {
  if (self.dtype() == ScalarType::Bool) throw Error("Boolean inputs not supported for relu");
  return ops::clamp_min_::call(self, 0);
}
Tensor relu6(const Tensor& self) { return ops::hardtanh::call(self, 0, 6); }
Tensor threshold_backward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold) {
  Elementwise e({self, grad_output});
  with_type(e.type(), "threshold_cpu", [&]<class T>(T) {
    const T t = static_cast<T>(number(threshold));
    auto walk = e.walk<3>();
    each<T, T, T>(walk, [t](T& o, T x, T g) { o = x <= t ? T{} : g; });
  });
  return e.finish();
}

// The buffer serves backward; on the CPU stock keeps exp(-|x|) there.
std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) {
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  Tensor buffer = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const Tensor x = self.is_contiguous() ? self : ops::contiguous::call(self);
  with_floating(self.dtype(), "log_sigmoid_cpu", [&]<class T>(T) {
    Walk<3> walk(x.sizes());
    walk.set(0, out);
    walk.set(1, buffer);
    walk.set(2, x);
    walk.run([](char* const* p, const int64_t* step, int64_t n) {
      for (int64_t k = 0; k < n; ++k) {
        const auto v = static_cast<Math<T>>(*reinterpret_cast<const T*>(p[2] + k * step[2]));
        const auto small = std::exp(-std::abs(v));
        *reinterpret_cast<T*>(p[1] + k * step[1]) = static_cast<T>(small);
        *reinterpret_cast<T*>(p[0] + k * step[0]) = static_cast<T>(std::min(v, Math<T>{}) - std::log1p(small));
      }
    });
  });
  return {out, buffer};
}
Tensor log_sigmoid(const Tensor& self) { return std::get<0>(ops::log_sigmoid_forward::call(self)); }
Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self, const Tensor&) {
  const Tensor out = ops::empty_like::call(grad_output);
  return map_floating("log_sigmoid_backward_cpu", {self, grad_output}, [](auto x, auto g) {
    using X = decltype(x);
    const X z = std::exp(-std::abs(x));
    return g * ((x < 0 ? X(1) : X(0)) - (x < 0 ? X(1) : X(-1)) * (z / (X(1) + z)));
  }, out);
}

}  // namespace peel::kernels
