// New tensors that hold numbers in order, one number, or random ones.
#include <cmath>

#include "core/dispatch/error.h"
#include "kernels/composite/factory_arguments.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/random.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

using Tag = IValue::Tag;

namespace {

ScalarType type_of(const Scalar& s) {
  switch (s.value.tag()) {
    case Tag::kBool: return ScalarType::Bool;
    case Tag::kInt: return ScalarType::Long;
    case Tag::kComplex: return complex_of(default_dtype());
    default: return default_dtype();
  }
}
bool whole(const Scalar& s) { return s.value.tag() == Tag::kInt || s.value.tag() == Tag::kBool; }

}  // namespace

Tensor& arange_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& out) {
  const double from = start.value.to_double(), to = end.value.to_double(), by = step.value.to_double();
  if (by == 0) throw Error("step must be nonzero");
  if (!std::isfinite(from) || !std::isfinite(to)) throw Error("unsupported range: " + to_text(start.value) + " -> " + to_text(end.value));
  if ((by > 0) != (to >= from) && to != from) throw Error("upper bound and lower bound inconsistent with step sign");
  const auto count = static_cast<int64_t>(std::ceil((to - from) / by));
  if (out.numel() != count) ops::resize_::call(out, SizeVector{count});
  with_any_type(out.dtype(), "arange_cpu", [&]<class T>(T) {
    T* data = out.data_as<T>();
    for (int64_t i = 0; i < count && data; ++i) {
      if constexpr (kIsComplex<T>) no_kernel_for("arange_cpu", out.dtype());
      else if constexpr (kIsFloating<T>) data[i] = static_cast<T>(from + by * static_cast<double>(i));
      else data[i] = static_cast<T>(as<int64_t>(start) + as<int64_t>(step) * i);
    }
  });
  return out;
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  const bool all_whole = whole(start) && whole(end) && whole(step);
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, dtype.value_or(all_whole ? ScalarType::Long : default_dtype()), layout, device, pin);
  return ops::arange_start_out::call(start, end, step, out);
}
Tensor arange(const Scalar& start, const Scalar& end, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return arange(start, end, 1, dtype, layout, device, pin);
}
Tensor arange(const Scalar& end, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return arange(0, end, 1, dtype, layout, device, pin);
}

Tensor& linspace_out(const Scalar& start, const Scalar& end, int64_t steps, Tensor& out) {
  if (steps < 0) throw Error("number of steps must be non-negative");
  if (out.numel() != steps) ops::resize_::call(out, SizeVector{steps});
  with_type(out.dtype(), "linspace_cpu", [&]<class T>(T) {
    using M = std::conditional_t<kIsFloating<T>, Math<T>, double>;
    const M from = static_cast<M>(start.value.to_double()), to = static_cast<M>(end.value.to_double());
    const M by = steps > 1 ? (to - from) / static_cast<M>(steps - 1) : M{};
    T* data = out.data_as<T>();
    for (int64_t i = 0; i < steps && data; ++i) {  // from both ends
      data[i] = static_cast<T>(i < steps / 2 || steps == 1 ? from + by * static_cast<M>(i) : to - by * static_cast<M>(steps - 1 - i));
    }
  });
  return out;
}
Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  if (steps < 0) throw Error("number of steps must be non-negative");
  Tensor out = ops::empty_memory_format::call(SizeVector{steps}, dtype, layout, device, pin);
  return ops::linspace_out::call(start, end, steps, out);
}

Tensor& eye_out(int64_t n, Tensor& out) {
  if (n < 0) throw Error("n must be greater or equal to 0, got " + std::to_string(n));
  ops::resize_::call(out, SizeVector{n, n});
  ops::zero_::call(out);
  with_real_type(out.dtype(), "eye", [&]<class T>(T) {
    for (int64_t i = 0; i < n; ++i) out.data_as<T>()[i * (n + 1)] = static_cast<T>(1);
  });
  return out;
}
Tensor& eye_out(int64_t n, int64_t m, Tensor& out) {
  if (n < 0) throw Error("n must be greater or equal to 0, got " + std::to_string(n));
  if (m < 0) throw Error("m must be greater or equal to 0, got " + std::to_string(m));
  ops::resize_::call(out, SizeVector{n, m});
  ops::zero_::call(out);
  with_real_type(out.dtype(), "eye", [&]<class T>(T) {
    for (int64_t i = 0; i < std::min(n, m); ++i) out.data_as<T>()[i * (out.strides()[0] + out.strides()[1])] = static_cast<T>(1);
  });
  return out;
}
Tensor eye(int64_t n, int64_t m, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, dtype, layout, device, pin);
  return ops::eye_m_out::call(n, m, out);
}
Tensor eye(int64_t n, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) { return ops::eye_m::call(n, n, dtype, layout, device, pin); }

Tensor full(Sizes size, const Scalar& fill_value, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype.value_or(type_of(fill_value)), layout, device, pin);
  return ops::fill__Scalar::call(out, fill_value);
}
Tensor full_like(const Tensor& self, const Scalar& fill_value, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  Tensor out = ops::empty_like::call(self, dtype, layout, device, pin, format);
  return ops::fill__Scalar::call(out, fill_value);
}
Tensor new_full(const Tensor& self, Sizes size, const Scalar& fill_value, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::new_empty::call(self, size, dtype, layout, device, pin);
  return ops::fill__Scalar::call(out, fill_value);
}
Tensor new_ones(const Tensor& self, Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::new_empty::call(self, size, dtype, layout, device, pin);
  return ops::fill__Scalar::call(out, 1.0);
}
Tensor scalar_tensor(const Scalar& s, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  if (!device || device->type == 0) {  // stock writes it without a call
    const Tensor out = empty({}, dtype.value_or(default_dtype()));
    with_any_type(out.dtype(), "fill_out", [&]<class T>(T) { *out.data_as<T>() = as<T>(s); });
    return out;
  }
  Tensor out = ops::empty_memory_format::call(Sizes(), dtype, layout, device, pin);
  return ops::fill__Scalar::call(out, s);
}

Tensor rand(Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::uniform_::call(out, 0, 1);
}
Tensor rand(Sizes size, const std::optional<GeneratorHandle>& generator, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::uniform_::call(out, 0, 1, generator);
}
Tensor randn(Sizes size, const std::optional<GeneratorHandle>& generator, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::normal_::call(out, 0, 1, generator);
}
Tensor normal(double mean, double std, Sizes size, const std::optional<GeneratorHandle>& generator, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::normal_::call(out, mean, std, generator);
}
Tensor rand_like(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  Tensor out = ops::empty_like::call(self, dtype, layout, device, pin, format);
  return ops::uniform_::call(out, 0, 1);
}
Tensor randn_like(const Tensor& self, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin, Format format) {
  Tensor out = ops::empty_like::call(self, dtype, layout, device, pin, format);
  return ops::normal_::call(out, 0, 1);
}
Tensor randint(int64_t low, int64_t high, Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::random__from::call(out, low, high);
}
Tensor randint(int64_t high, Sizes size, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return randint(0, high, size, dtype, layout, device, pin);
}
Tensor randint(int64_t low, int64_t high, Sizes size, const std::optional<GeneratorHandle>& generator, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(size, dtype, layout, device, pin);
  return ops::random__from::call(out, low, high, generator);
}
Tensor randint(int64_t high, Sizes size, const std::optional<GeneratorHandle>& generator, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return randint(0, high, size, generator, dtype, layout, device, pin);
}
Tensor randperm(int64_t n, const std::optional<GeneratorHandle>& generator, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  Tensor out = ops::empty_memory_format::call(SizeVector{n}, dtype, layout, device, pin);
  return ops::randperm_generator_out::call(n, generator, out);
}
Tensor randperm(int64_t n, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  return randperm(n, std::nullopt, dtype, layout, device, pin);
}
Tensor& randperm_out(int64_t n, const std::optional<GeneratorHandle>& generator, Tensor& out) {
  Generator& drawn = chosen(generator);
  if (n < 0) throw Error("n must be non-negative, got" + std::to_string(n));
  ops::scalar_tensor::call(n, out.dtype());  // stock's check that n fits
  ops::resize_::call(out, SizeVector{n});
  ops::resize_::call(out, SizeVector{n});
  with_type(out.dtype(), "randperm", [&]<class T>(T) {
    T* data = out.data_as<T>();
    for (int64_t i = 0; i < n; ++i) data[i] = static_cast<T>(i);
    for (int64_t i = 0; i < n - 1; ++i) {
      const auto z = static_cast<int64_t>(drawn.next32() % static_cast<uint64_t>(n - i));
      std::swap(data[i], data[z + i]);
    }
  });
  return out;
}

Tensor& logspace_out(const Scalar& start, const Scalar& end, int64_t steps, double base, Tensor& out) {
  if (steps < 0) throw Error("number of steps must be non-negative");
  if (out.numel() != steps) ops::resize_::call(out, SizeVector{steps});
  const double from = start.value.to_double(), by = steps > 1 ? (end.value.to_double() - from) / static_cast<double>(steps - 1) : 0;
  with_type(out.dtype(), "logspace_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < steps; ++i) out.data_as<T>()[i] = static_cast<T>(static_cast<Math<T>>(std::pow(base, from + by * static_cast<double>(i))));
  });
  return out;
}
Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base, Type dtype, LayoutArgument layout, DeviceArgument device, Flag pin) {
  if (steps < 0) throw Error("number of steps must be non-negative");
  Tensor out = ops::empty_memory_format::call(SizeVector{steps}, dtype, layout, device, pin);
  return ops::logspace_out::call(start, end, steps, base, out);
}

namespace {

// Rows, then columns, of the places on one side of a diagonal.
Tensor triangle(int64_t rows, int64_t columns, int64_t offset, Type dtype, bool lower) {
  if (rows < 0) throw Error("row must be non-negative, got" + std::to_string(rows));
  if (columns < 0) throw Error("col must be non-negative, got" + std::to_string(columns));
  std::vector<int64_t> found;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      if (lower ? c - r <= offset : c - r >= offset) found.insert(found.end(), {r, c});
    }
  }
  const auto n = static_cast<int64_t>(found.size() / 2);
  const Tensor out = empty(SizeVector{2, n}, dtype.value_or(ScalarType::Long));
  with_type(out.dtype(), "tril_indices", [&]<class T>(T) {
    for (int64_t i = 0; i < 2 * n; ++i) out.data_as<T>()[i % 2 * n + i / 2] = static_cast<T>(static_cast<Math<T>>(found[static_cast<size_t>(i)]));
  });
  return out;
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, Type dtype, LayoutArgument, DeviceArgument, Flag) { return triangle(row, col, offset, dtype, true); }
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, Type dtype, LayoutArgument, DeviceArgument, Flag) { return triangle(row, col, offset, dtype, false); }

}  // namespace peel::kernels
