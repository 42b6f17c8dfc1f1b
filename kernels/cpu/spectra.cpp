// Fourier transforms of one or more dimensions, and complex numbers from sizes and angles.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using C = std::complex<double>;
enum : int64_t { kPlain, kByRoot, kByCount };

// In place: by halves where the count allows it, else term by term.
void transform(std::vector<C>& x, bool forward) {
  const size_t n = x.size();
  if (n < 2) return;
  const double turn = (forward ? -2 : 2) * std::numbers::pi / static_cast<double>(n);
  if (n % 2 == 0) {
    std::vector<C> even(n / 2), odd(n / 2);
    for (size_t i = 0; i < n / 2; ++i) {
      even[i] = x[2 * i];
      odd[i] = x[2 * i + 1];
    }
    transform(even, forward);
    transform(odd, forward);
    for (size_t k = 0; k < n / 2; ++k) {
      const C t = std::polar(1.0, turn * static_cast<double>(k)) * odd[k];
      x[k] = even[k] + t;
      x[k + n / 2] = even[k] - t;
    }
    return;
  }
  std::vector<C> turns(n), out(n);
  for (size_t k = 0; k < n; ++k) turns[k] = std::polar(1.0, turn * static_cast<double>(k));
  for (size_t k = 0; k < n; ++k) {
    for (size_t i = 0; i < n; ++i) out[k] += x[i] * turns[i * k % n];
  }
  x = std::move(out);
}

// Row-major numbers of a shape, transformed along dimensions.
struct Spectrum {
  std::vector<C> values;
  SizeVector shape;
};
void along(Spectrum& s, int64_t dim, bool forward) {
  const auto d = static_cast<size_t>(dim);
  const int64_t n = s.shape[d];
  int64_t inner = 1;
  for (size_t k = d + 1; k < s.shape.size(); ++k) inner *= s.shape[k];
  std::vector<C> line(static_cast<size_t>(n));
  for (size_t first = 0; first < s.values.size(); ++first) {
    if (static_cast<int64_t>(first) / inner % n != 0) continue;
    for (size_t k = 0; k < line.size(); ++k) line[k] = s.values[first + k * static_cast<size_t>(inner)];
    transform(line, forward);
    for (size_t k = 0; k < line.size(); ++k) s.values[first + k * static_cast<size_t>(inner)] = line[k];
  }
}
// The first `size` along a dimension.
void cut(Spectrum& s, int64_t dim, int64_t size) {
  const auto d = static_cast<size_t>(dim);
  const int64_t n = s.shape[d];
  int64_t inner = 1;
  for (size_t k = d + 1; k < s.shape.size(); ++k) inner *= s.shape[k];
  std::vector<C> kept;
  for (size_t i = 0; i < s.values.size(); ++i) {
    if (static_cast<int64_t>(i) / inner % n < size) kept.push_back(s.values[i]);
  }
  s.values = std::move(kept);
  s.shape[d] = size;
}

Spectrum read(const Tensor& t) {
  Spectrum s{std::vector<C>(static_cast<size_t>(t.numel())), {t.sizes().begin(), t.sizes().end()}};
  const Tensor flat = rows_of(t, named_dims(std::nullopt, t.dim())).data;
  with_any_type(t.dtype(), "fft", [&]<class T>(T) {
    for (size_t i = 0; i < s.values.size(); ++i) s.values[i] = converted<C>(flat.data_as<T>()[i]);
  });
  return s;
}
void write(const Tensor& out, const Spectrum& s, double factor) {
  with_any_type(out.dtype(), "fft", [&]<class T>(T) {
    for (size_t i = 0; i < s.values.size(); ++i) {
      int64_t at = 0, rest = static_cast<int64_t>(i);
      for (int64_t d = out.dim(); d-- > 0; rest /= out.size(d)) at += rest % out.size(d) * out.strides()[static_cast<size_t>(d)];
      out.data_as<T>()[at] = converted<T>(s.values[i] * factor);
    }
  });
}
double factor_of(int64_t normalization, Sizes shape, Sizes dims) {
  double n = 1;
  for (const int64_t d : dims) n *= static_cast<double>(shape[static_cast<size_t>(d)]);
  return normalization == kByRoot ? 1 / std::sqrt(n) : normalization == kByCount ? 1 / n : 1;
}
SizeVector wrapped(Sizes dims, const Tensor& t) {
  SizeVector out;
  for (const int64_t d : dims) out.push_back(wrap_dimension(d, t.dim()));
  return out;
}

// Dimensions in the order of their strides, the largest first; `fixed` of the last ones stay.
SizeVector by_stride(SizeVector dims, const Tensor& t, int fixed = 0) {
  std::stable_sort(dims.begin(), dims.end() - fixed, [&](int64_t a, int64_t b) { return t.strides()[static_cast<size_t>(a)] > t.strides()[static_cast<size_t>(b)]; });
  return dims;
}
// The result's memory and stock's calls on the way to it: dimensions that aren't transformed come first and are one; so they lie in the result.
Tensor made(const Tensor& self, const SizeVector& dims, Sizes shape, ScalarType type) {
  const Tensor out = ops::empty_memory_format::call(shape, type, Layout::Strided, self.device());
  SizeVector others, signal{-1}, result{1};
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (std::ranges::find(dims, d) == dims.end()) others.push_back(d);
  }
  SizeVector order = by_stride(others, self);
  order.insert(order.end(), dims.begin(), dims.end());
  for (const int64_t d : others) result[0] *= self.size(d);
  for (const int64_t d : dims) {
    signal.push_back(self.size(d));
    result.push_back(shape[static_cast<size_t>(d)]);
  }
  const Tensor flat = ops::reshape::call(ops::permute::call(self, order), signal);
  Tensor seen = out;
  ops::resize_::call(seen, result, MemoryFormat::Contiguous);
  if (std::ranges::find(flat.strides(), 0) != flat.strides().end()) ops::clone::call(flat, MemoryFormat::Contiguous);  // what repeats is copied
  SizeVector strides(order.size());
  int64_t step = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    strides[d] = step;
    step *= shape[d];
  }
  ops::as_strided_::call(seen, shape, strides, 0);
  return out;
}

}  // namespace

Tensor _fft_c2c(const Tensor& self, Sizes dim, int64_t normalization, bool forward) {
  const SizeVector dims = wrapped(dim, self);
  const Tensor out = made(self, by_stride(dims, self), self.sizes(), self.dtype());
  Spectrum s = read(self);
  for (const int64_t d : dims) along(s, d, forward);
  write(out, s, factor_of(normalization, self.sizes(), dims));
  return out;
}
Tensor _fft_r2c(const Tensor& self, Sizes dim, int64_t normalization, bool onesided) {
  const SizeVector dims = wrapped(dim, self);
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  const int64_t last = dims.back();
  if (onesided) shape[static_cast<size_t>(last)] = shape[static_cast<size_t>(last)] / 2 + 1;
  const Tensor out = made(self, by_stride(dims, self, 1), shape, complex_of(self.dtype()));
  Spectrum s = read(self);
  for (const int64_t d : dims) along(s, d, true);
  if (onesided) cut(s, last, shape[static_cast<size_t>(last)]);
  write(out, s, factor_of(normalization, self.sizes(), dims));
  return out;
}
Tensor _fft_c2r(const Tensor& self, Sizes dim, int64_t normalization, int64_t last_dim_size) {
  const SizeVector dims = wrapped(dim, self);
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  const auto last = static_cast<size_t>(dims.back());
  shape[last] = last_dim_size;
  if (dims.size() > 1) {  // the others first, as complex numbers
    const SizeVector others(dims.begin(), dims.end() - 1);
    return _fft_c2r(_fft_c2c(self, others, normalization, false), SizeVector{dims.back()}, normalization, last_dim_size);
  }
  const Tensor out = made(self, dims, shape, value_type_of(self.dtype()));
  const Spectrum half = read(self);
  Spectrum s{std::vector<C>(static_cast<size_t>(element_count(shape))), shape};
  int64_t inner = 1;
  for (size_t k = last + 1; k < shape.size(); ++k) inner *= shape[k];
  const int64_t given = self.size(dims.back());
  for (size_t i = 0; i < s.values.size(); ++i) {  // the other half is the first one's conjugate
    const auto at = static_cast<int64_t>(i);
    const int64_t k = at / inner % last_dim_size, from = k < last_dim_size / 2 + 1 ? k : last_dim_size - k;
    const C v = from < given ? half.values[static_cast<size_t>((at / (inner * last_dim_size) * given + from) * inner + at % inner)] : C{};
    s.values[i] = from == k ? (k == 0 || 2 * k == last_dim_size ? C(v.real()) : v) : std::conj(v);
  }
  along(s, dims.back(), false);
  write(out, s, factor_of(normalization, shape, dims));
  return out;
}

namespace {

using Word = std::optional<std::string_view>;
int64_t norm_of(const Word& norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? kPlain : kByCount;
  if (*norm == "forward") return forward ? kByCount : kPlain;
  if (*norm == "ortho") return kByRoot;
  throw Error("Invalid normalization mode: \"" + std::string(*norm) + "\"");
}
Tensor resized(const Tensor& t, int64_t dim, std::optional<int64_t> n) {
  if (!n || *n == t.size(dim)) return t;
  if (*n < 1) throw Error("Invalid number of data points (" + std::to_string(*n) + ") specified");
  if (*n < t.size(dim)) return ops::slice_Tensor::call(t, dim, 0, *n, 1);
  SizeVector pad(static_cast<size_t>(2 * (t.dim() - wrap_dimension(dim, t.dim()))), 0);
  pad.back() = *n - t.size(dim);
  return ops::constant_pad_nd::call(t, pad, 0);
}
Tensor floating(const Tensor& t) { return is_floating(t.dtype()) || is_complex(t.dtype()) ? t : ops::to_dtype::call(t, ScalarType::Float); }
Tensor complexed(const Tensor& t) { return is_complex(t.dtype()) ? t : ops::to_dtype::call(t, complex_of(t.dtype())); }
void need_points(const Tensor& t, int64_t dim) {
  if (t.size(dim) < 1) throw Error("Invalid number of data points (" + std::to_string(t.size(dim)) + ") specified");
}
Tensor one_dimension(const Tensor& self, std::optional<int64_t> n, int64_t dim, const Word& norm, bool forward) {
  const Tensor in = resized(floating(self), dim, n);
  need_points(in, dim);
  const int64_t by = norm_of(norm, forward);
  if (is_complex(in.dtype())) return ops::_fft_c2c::call(in, SizeVector{wrap_dimension(dim, in.dim())}, by, forward);
  const Tensor out = ops::_fft_r2c::call(in, SizeVector{wrap_dimension(dim, in.dim())}, by, false);
  return forward ? out : ops::conj::call(out);
}
// The last ones where only sizes are given; without both all.
SizeVector chosen_dims(const Tensor& in, const std::optional<Sizes>& s, const std::optional<Sizes>& dim) {
  if (dim) return wrapped(*dim, in);
  SizeVector dims;
  for (int64_t d = s ? in.dim() - static_cast<int64_t>(s->size()) : 0; d < in.dim(); ++d) dims.push_back(d);
  return dims;
}
Tensor many_dimensions(const Tensor& self, std::optional<Sizes> s, std::optional<Sizes> dim, const Word& norm, bool forward) {
  Tensor in = complexed(floating(self));
  const SizeVector dims = chosen_dims(in, s, dim);
  for (size_t i = 0; s && i < s->size(); ++i) in = resized(in, dims[i], (*s)[i] == -1 ? std::optional<int64_t>() : (*s)[i]);
  return ops::_fft_c2c::call(in, dims, norm_of(norm, forward), forward);
}

}  // namespace

Tensor fft_fft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Word norm) { return one_dimension(self, n, dim, norm, true); }
Tensor fft_ifft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Word norm) { return one_dimension(self, n, dim, norm, false); }
Tensor fft_rfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Word norm) {
  if (is_complex(self.dtype())) throw Error(std::string("rfft expects a real input tensor, but got ") + to_string(self.dtype()));
  const Tensor in = resized(floating(self), dim, n);
  need_points(in, dim);
  return ops::_fft_r2c::call(in, SizeVector{wrap_dimension(dim, in.dim())}, norm_of(norm, true), true);
}
Tensor fft_irfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Word norm) {
  Tensor in = complexed(floating(self));
  const int64_t size = n.value_or(2 * (in.size(dim) - 1));
  if (size < 1) throw Error("Invalid number of data points (" + std::to_string(size) + ") specified");
  if (n) in = resized(in, dim, size / 2 + 1);
  return ops::_fft_c2r::call(in, SizeVector{wrap_dimension(dim, in.dim())}, norm_of(norm, false), size);
}
Tensor fft_fftn(const Tensor& self, std::optional<Sizes> s, std::optional<Sizes> dim, Word norm) { return many_dimensions(self, s, dim, norm, true); }
Tensor fft_ifftn(const Tensor& self, std::optional<Sizes> s, std::optional<Sizes> dim, Word norm) { return many_dimensions(self, s, dim, norm, false); }
Tensor fft_fft2(const Tensor& self, std::optional<Sizes> s, Sizes dim, Word norm) { return many_dimensions(self, s, dim, norm, true); }
Tensor fft_ifft2(const Tensor& self, std::optional<Sizes> s, Sizes dim, Word norm) { return many_dimensions(self, s, dim, norm, false); }
Tensor fft_rfftn(const Tensor& self, std::optional<Sizes> s, std::optional<Sizes> dim, Word norm) {
  if (is_complex(self.dtype())) throw Error(std::string("rfftn expects a real-valued input tensor, but got ") + to_string(self.dtype()));
  Tensor in = floating(self);
  const SizeVector dims = chosen_dims(in, s, dim);
  if (dims.empty()) throw Error("rfftn must transform at least one axis");
  for (size_t i = 0; s && i < s->size(); ++i) in = resized(in, dims[i], (*s)[i] == -1 ? std::optional<int64_t>() : (*s)[i]);
  return ops::_fft_r2c::call(in, dims, norm_of(norm, true), true);
}
Tensor fft_rfft2(const Tensor& self, std::optional<Sizes> s, Sizes dim, Word norm) { return fft_rfftn(self, s, dim, norm); }
Tensor fft_irfftn(const Tensor& self, std::optional<Sizes> s, std::optional<Sizes> dim, Word norm) {
  Tensor in = complexed(floating(self));
  const SizeVector dims = chosen_dims(in, s, dim);
  if (dims.empty()) throw Error("irfftn must transform at least one axis");
  const int64_t size = s && s->back() != -1 ? s->back() : 2 * (in.size(dims.back()) - 1);
  if (size < 1) throw Error("Invalid number of data points (" + std::to_string(size) + ") specified");
  for (size_t i = 0; s && i < s->size(); ++i) {
    const bool last = i + 1 == s->size();
    in = resized(in, dims[i], (*s)[i] == -1 ? std::optional<int64_t>() : last ? size / 2 + 1 : (*s)[i]);
  }
  return ops::_fft_c2r::call(in, dims, norm_of(norm, false), size);
}
Tensor fft_irfft2(const Tensor& self, std::optional<Sizes> s, Sizes dim, Word norm) { return fft_irfftn(self, s, dim, norm); }
Tensor fft_hfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Word norm) {
  Tensor in = complexed(floating(self));
  const int64_t size = n.value_or(2 * (in.size(dim) - 1));
  if (size < 1) throw Error("Invalid number of data points (" + std::to_string(size) + ") specified");
  if (n) in = resized(in, dim, size / 2 + 1);
  return ops::_fft_c2r::call(ops::conj::call(in), SizeVector{wrap_dimension(dim, in.dim())}, norm_of(norm, true), size);
}
Tensor fft_ihfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, Word norm) {
  if (is_complex(self.dtype())) throw Error(std::string("ihfft expects a real input tensor, but got ") + to_string(self.dtype()));
  const Tensor in = resized(floating(self), dim, n);
  need_points(in, dim);
  return ops::conj::call(ops::_fft_r2c::call(in, SizeVector{wrap_dimension(dim, in.dim())}, norm_of(norm, false), true));
}

namespace {

SizeVector all_dims(const Tensor& t, std::optional<Sizes> dim) {
  if (dim) return wrapped(*dim, t);
  SizeVector out(static_cast<size_t>(t.dim()));
  std::iota(out.begin(), out.end(), int64_t{0});
  return out;
}

}  // namespace

Tensor fft_fftshift(const Tensor& self, std::optional<Sizes> dim) {
  const SizeVector dims = all_dims(self, dim);
  SizeVector shifts;
  for (const int64_t d : dims) shifts.push_back(self.size(d) / 2);
  return ops::roll::call(self, shifts, dims);
}
Tensor fft_ifftshift(const Tensor& self, std::optional<Sizes> dim) {
  const SizeVector dims = all_dims(self, dim);
  SizeVector shifts;
  for (const int64_t d : dims) shifts.push_back((self.size(d) + 1) / 2);
  return ops::roll::call(self, shifts, dims);
}
Tensor fft_fftfreq(int64_t n, double d, std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  Tensor out = ops::empty_memory_format::call(SizeVector{n}, dtype, layout, device, pin_memory);
  ops::arange_out::call(n, out);
  Tensor upper = ops::slice_Tensor::call(out, 0, (n + 1) / 2, 0, 1);
  ops::arange_start_out::call(-(n / 2), 0, 1, upper);
  return ops::mul__Scalar::call(out, 1.0 / (static_cast<double>(n) * d));
}
Tensor fft_rfftfreq(int64_t n, double d, std::optional<ScalarType> dtype, std::optional<Layout> layout, std::optional<Device> device, std::optional<bool> pin_memory) {
  Tensor out = ops::empty_memory_format::call(SizeVector{n / 2 + 1}, dtype, layout, device, pin_memory);
  ops::arange_start_out::call(0, n / 2 + 1, 1, out);
  return ops::mul__Scalar::call(out, 1.0 / (static_cast<double>(n) * d));
}

Tensor& polar_out(const Tensor& abs, const Tensor& angle, Tensor& out) {
  const SizeVector shape = broadcast(abs.sizes(), angle.sizes());
  if (!std::ranges::equal(out.sizes(), shape)) reshape_out(out, shape);
  const auto join = [&]<class T>(T) {
    Walk<3> walk(shape);
    walk.set(0, out);
    walk.set(1, abs);
    walk.set(2, angle);
    each<std::complex<T>, T, T>(walk, [](std::complex<T>& o, T r, T a) { o = {r * std::cos(a), r * std::sin(a)}; });
  };
  if (abs.dtype() == ScalarType::Float) join(float{});
  else if (abs.dtype() == ScalarType::Double) join(double{});
  else throw Error(std::string("Expected both inputs to be Float or Double tensors but got ") + to_string(abs.dtype()) + " and " + to_string(angle.dtype()));
  return out;
}
Tensor polar(const Tensor& abs, const Tensor& angle) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, complex_of(abs.dtype()), Layout::Strided, abs.device());
  return ops::polar_out::call(abs, angle, out);
}

}  // namespace peel::kernels
