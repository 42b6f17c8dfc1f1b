// Walking over several strided operands of one shape, and choosing C++ types by element type.
#pragma once
#include <array>
#include <complex>

#include "core/dispatch/boxing.h"
#include "core/dispatch/error.h"
#include "core/tensor/tensor.h"
#include "kernels/cpu/small_floats.h"

namespace peel::kernels {
using namespace core;

[[noreturn]] void no_kernel_for(const char* op, ScalarType);

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
/// A value in another element type, as copy_ converts: the real part of a complex one.
template <class T, class S>
T converted(S x) {
  if constexpr (kIsComplex<T>) {
    using R = typename T::value_type;
    if constexpr (kIsComplex<S>) return T(static_cast<R>(x.real()), static_cast<R>(x.imag()));
    else return T(static_cast<R>(x));
  } else if constexpr (kIsComplex<S>) {
    return static_cast<T>(x.real());
  } else {
    return static_cast<T>(static_cast<Math<S>>(x));
  }
}
/// A number argument in an element type.
template <class T>
T as(const Scalar& s) {
  if constexpr (kIsComplex<T>) return converted<T>(s.value.to_complex());
  else if constexpr (std::is_same_v<T, int64_t>) return s.value.tag() == IValue::Tag::kDouble ? static_cast<T>(s.value.to_double()) : s.value.to_int();
  else return static_cast<T>(s.value.to_double());
}

/// Calls f(T{}) with the C++ type of `t`.
template <class F>
decltype(auto) with_type(ScalarType t, const char* op, F&& f) {
  switch (t) {
    case ScalarType::Float: return f(float{});
    case ScalarType::Double: return f(double{});
    case ScalarType::Long: return f(int64_t{});
    case ScalarType::Int: return f(int32_t{});
    case ScalarType::Bool: return f(bool{});
    case ScalarType::BFloat16: return f(BFloat16{});
    case ScalarType::Half: return f(Half{});
    default: no_kernel_for(op, t);
  }
}
/// Small integers too.
template <class F>
decltype(auto) with_real_type(ScalarType t, const char* op, F&& f) {
  switch (t) {
    case ScalarType::Byte: return f(uint8_t{});
    case ScalarType::Char: return f(int8_t{});
    case ScalarType::Short: return f(int16_t{});
    default: return with_type(t, op, f);
  }
}
/// Complex numbers too: copies, sums, products, comparisons.
template <class F>
decltype(auto) with_any_type(ScalarType t, const char* op, F&& f) {
  switch (t) {
    case ScalarType::ComplexFloat: return f(std::complex<float>{});
    case ScalarType::ComplexDouble: return f(std::complex<double>{});
    default: return with_real_type(t, op, f);
  }
}
template <class F>
decltype(auto) with_floating(ScalarType t, const char* op, F&& f) {
  switch (t) {
    case ScalarType::Float: return f(float{});
    case ScalarType::Double: return f(double{});
    case ScalarType::BFloat16: return f(BFloat16{});
    case ScalarType::Half: return f(Half{});
    default: no_kernel_for(op, t);
  }
}
template <class F>
decltype(auto) with_integral(ScalarType t, const char* op, F&& f) {
  switch (t) {
    case ScalarType::Long: return f(int64_t{});
    case ScalarType::Int: return f(int32_t{});
    case ScalarType::Bool: return f(bool{});
    case ScalarType::Byte: return f(uint8_t{});
    case ScalarType::Char: return f(int8_t{});
    case ScalarType::Short: return f(int16_t{});
    default: no_kernel_for(op, t);
  }
}

/// N operands seen with one shape; strides in bytes, 0 where an operand repeats. Neighbouring dimensions are joined where all allow it.
template <size_t N>
class Walk {
 public:
  explicit Walk(Sizes sizes) : sizes_(sizes.begin(), sizes.end()) {}
  /// Operand `i` broadcast to the shape.
  void set(size_t i, const Tensor& t) {
    data_[i] = static_cast<char*>(t.data());
    const auto item = static_cast<int64_t>(element_size(t.dtype()));
    strides_[i].assign(sizes_.size(), 0);
    const size_t lead = sizes_.size() - t.sizes().size();
    for (size_t d = 0; d < t.sizes().size(); ++d) {
      if (t.sizes()[d] != 1 || sizes_[lead + d] == 1) strides_[i][lead + d] = t.strides()[d] * item;
    }
  }
  /// inner(char* const* data, const int64_t* strides, int64_t n) for each innermost run.
  template <class F>
  void run(F inner) {
    if (element_count(sizes_) == 0) return;
    for (const char* p : data_) {
      if (!p) return;  // a tensor without memory (meta): only shapes count
    }
    join();
    std::array<int64_t, N> step{};
    const size_t dims = sizes_.size();
    const int64_t n = dims ? sizes_.back() : 1;
    for (size_t i = 0; i < N; ++i) step[i] = dims ? strides_[i].back() : 0;
    SizeVector at(dims ? dims - 1 : 0, 0);
    std::array<char*, N> p = data_;
    for (;;) {
      inner(p.data(), step.data(), n);
      size_t d = at.size();
      for (; d-- > 0;) {
        ++at[d];
        for (size_t i = 0; i < N; ++i) p[i] += strides_[i][d];
        if (at[d] < sizes_[d]) break;
        for (size_t i = 0; i < N; ++i) p[i] -= strides_[i][d] * sizes_[d];
        at[d] = 0;
      }
      if (d == static_cast<size_t>(-1)) return;
    }
  }

 private:
  void join() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      bool drop = sizes_[d] == 1;
      if (!drop && d + 1 < sizes_.size()) {
        bool fits = true;
        for (size_t i = 0; i < N; ++i) fits = fits && strides_[i][d] == strides_[i][d + 1] * sizes_[d + 1];
        if (fits) {
          sizes_[d + 1] *= sizes_[d];
          drop = true;
        }
      }
      if (!drop) continue;
      sizes_.erase(sizes_.begin() + static_cast<ptrdiff_t>(d));
      for (auto& s : strides_) s.erase(s.begin() + static_cast<ptrdiff_t>(d));
    }
  }

  SizeVector sizes_;
  std::array<char*, N> data_{};
  std::array<SizeVector, N> strides_;
};

namespace detail {
template <class Out, class... In, class F, size_t... I>
void each_run(F& f, char* const* p, const int64_t* step, int64_t n, std::index_sequence<I...>) {
  const bool dense = step[0] == sizeof(Out) && ((step[I + 1] == sizeof(In)) && ...);
  if (dense) {  // a loop that the compiler turns into vector instructions
    auto* out = reinterpret_cast<Out*>(p[0]);
    for (int64_t k = 0; k < n; ++k) f(out[k], reinterpret_cast<const In*>(p[I + 1])[k]...);
    return;
  }
  for (int64_t k = 0; k < n; ++k) {
    f(*reinterpret_cast<Out*>(p[0] + k * step[0]), *reinterpret_cast<const In*>(p[I + 1] + k * step[I + 1])...);
  }
}
}  // namespace detail

/// One value of each operand at a time: f(Out&, In...).
template <class Out, class... In, class F>
void each(Walk<1 + sizeof...(In)>& walk, F f) {
  walk.run([&f](char* const* p, const int64_t* step, int64_t n) {
    detail::each_run<Out, In...>(f, p, step, n, std::index_sequence_for<In...>());
  });
}

}  // namespace peel::kernels
