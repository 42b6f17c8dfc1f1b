// Windows: factors that fade a signal out towards its ends.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/composite/factory_arguments.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

struct Wanted {
  const char* name;
  int64_t length;
  bool periodic;
  Type dtype;
  LayoutArgument layout;
  DeviceArgument device;
  Flag pin;
  bool calls_arange = false;  // through the dispatcher
};

const char* cpp_name(ScalarType t) {
  switch (t) {
    case ScalarType::Long: return "long int";
    case ScalarType::Int: return "int";
    case ScalarType::Short: return "short int";
    case ScalarType::Char: return "signed char";
    case ScalarType::Byte: return "unsigned char";
    default: return "bool";
  }
}

// What is made of 0, 1, ... `length` - 1. A periodic window is the start of one that is longer by one.
template <class F>
Tensor window(const Wanted& w, F shape) {
  const ScalarType type = w.dtype.value_or(default_dtype());
  if (!is_floating(type) && !is_complex(type)) {
    throw Error(std::string(w.name) + " expects floating point dtypes, got: TensorOptions(dtype=" + cpp_name(type) +
                ", device=cpu, layout=Strided (default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))");
  }
  if (w.length < 0) throw Error(std::string(w.name) + " requires non-negative window_length, got window_length=" + std::to_string(w.length));
  if (w.length < 2) {
    Tensor out = ops::empty_memory_format::call(SizeVector{w.length}, type, w.layout, w.device, w.pin);
    return w.length ? ops::fill__Scalar::call(out, 1.0) : out;
  }
  const int64_t n = w.length + (w.periodic ? 1 : 0);
  const Tensor steps = w.calls_arange ? ops::arange::call(n, type, w.layout, w.device, w.pin) : arange(n, type, w.layout, w.device, w.pin);
  const Tensor out = shape(steps, n);
  return w.periodic ? ops::narrow::call(out, 0, 0, w.length) : out;
}

// alpha - beta * cos.
Tensor raised_cosine(const Wanted& w, double alpha, double beta) {
  return window(w, [alpha, beta](Tensor x, int64_t n) {
    ops::mul__Scalar::call(x, std::numbers::pi * 2 / static_cast<double>(n - 1));
    ops::cos_::call(x);
    ops::mul__Scalar::call(x, -beta);
    return ops::add__Scalar::call(x, alpha);
  });
}

}  // namespace

#define PEEL_OPTIONS Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin

Tensor hann_window(int64_t length, bool periodic, PEEL_OPTIONS) { return raised_cosine({"hann_window", length, periodic, dtype, layout, device, pin}, 0.5, 0.5); }
Tensor hann_window(int64_t length, PEEL_OPTIONS) { return hann_window(length, true, dtype, layout, device, pin); }
Tensor hamming_window(int64_t length, bool periodic, double alpha, double beta, PEEL_OPTIONS) {
  return raised_cosine({"hamming_window", length, periodic, dtype, layout, device, pin}, alpha, beta);
}
Tensor hamming_window(int64_t length, bool periodic, double alpha, PEEL_OPTIONS) { return hamming_window(length, periodic, alpha, 0.46, dtype, layout, device, pin); }
Tensor hamming_window(int64_t length, bool periodic, PEEL_OPTIONS) { return hamming_window(length, periodic, 0.54, dtype, layout, device, pin); }
Tensor hamming_window(int64_t length, PEEL_OPTIONS) { return hamming_window(length, true, dtype, layout, device, pin); }

Tensor blackman_window(int64_t length, bool periodic, PEEL_OPTIONS) {
  return window({"blackman_window", length, periodic, dtype, layout, device, pin}, [](Tensor x, int64_t n) {
    ops::mul__Scalar::call(x, std::numbers::pi / static_cast<double>(n - 1));
    const auto wave = [&x](int64_t times, double height) {
      Tensor out = ops::mul_Scalar::call(x, times);
      ops::cos_::call(out);
      return ops::mul__Scalar::call(out, height);
    };
    const Tensor four = wave(4, 0.08), two = wave(2, 0.5);
    return ops::add_Scalar::call(ops::sub_Tensor::call(four, two), 0.42);
  });
}
Tensor blackman_window(int64_t length, PEEL_OPTIONS) { return blackman_window(length, true, dtype, layout, device, pin); }

Tensor kaiser_window(int64_t length, bool periodic, double beta, PEEL_OPTIONS) {
  const Wanted w{"kaiser_window", length, periodic, dtype, layout, device, pin, true};
  if (length == 1) return ops::ones::call(SizeVector{1}, dtype.value_or(default_dtype()), layout, device, pin);
  return window(w, [&w, beta](const Tensor& x, int64_t n) {
    const Tensor out = ops::empty_memory_format::call(x.sizes(), x.dtype(), w.layout, w.device, w.pin);
    with_floating(x.dtype(), "kaiser_window_cpu", [&]<class T>(T) {
      for (int64_t i = 0; i < n; ++i) {
        const double at = 2 * static_cast<double>(i) / static_cast<double>(n - 1) - 1;
        out.data_as<T>()[i] = static_cast<T>(std::cyl_bessel_i(0, beta * std::sqrt(std::max(0.0, 1 - at * at))) / std::cyl_bessel_i(0, beta));
      }
    });
    return out;
  });
}
Tensor kaiser_window(int64_t length, bool periodic, PEEL_OPTIONS) { return kaiser_window(length, periodic, 12.0, dtype, layout, device, pin); }
Tensor kaiser_window(int64_t length, PEEL_OPTIONS) { return kaiser_window(length, true, 12.0, dtype, layout, device, pin); }

Tensor bartlett_window(int64_t length, bool periodic, PEEL_OPTIONS) {
  return window({"bartlett_window", length, periodic, dtype, layout, device, pin}, [](Tensor x, int64_t n) {
    ops::mul__Scalar::call(x, 2.0 / static_cast<double>(n - 1));
    const int64_t half = (n - 1) / 2 + 1;
    Tensor down = ops::narrow::call(x, 0, half, n - half);
    ops::mul__Scalar::call(down, -1);
    ops::add__Scalar::call(down, 2);
    return x;
  });
}
Tensor bartlett_window(int64_t length, PEEL_OPTIONS) { return bartlett_window(length, true, dtype, layout, device, pin); }
#undef PEEL_OPTIONS

}  // namespace peel::kernels
