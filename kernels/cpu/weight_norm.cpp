// Weights as directions and lengths: each slice of `v` along a dimension gets the length that `g` has for it.
#include <cmath>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// For the first dimension and for the last.
template <class F>
void each_slice(const Tensor& v, int64_t dim, F f) {
  const int64_t count = v.size(dim), length = v.numel() / count;
  const bool rows = dim == 0;
  for (int64_t i = 0; i < count; ++i) f(i, rows ? i * length : i, rows ? 1 : count, length);
}

SizeVector all_but(const Tensor& v, int64_t dim) {
  SizeVector out(v.sizes().size(), 1);
  out[static_cast<size_t>(dim)] = v.size(dim);
  return out;
}

Tensor flat(const Tensor& t, int64_t dim) { return ops::view::call(t, dim == 0 ? SizeVector{t.size(0), -1} : SizeVector{-1, t.size(dim)}); }
Tensor in_row(const Tensor& t) { return t.is_contiguous() ? t : ops::contiguous::call(t, MemoryFormat::Contiguous); }

// Stock sums rows in a buffer that has one for each of its threads.
void clear_buffer(const Tensor& v, int64_t rows) {
  Tensor buffer = empty(SizeVector{rows, v.size(-1)}, v.dtype(), v.device());
  ops::zero_::call(buffer);
}

}  // namespace

Tensor norm_except_dim(const Tensor& v, int64_t pow, int64_t dim) {
  if (dim == -1) throw NotImplemented("The embedded engine has no norm_except_dim over all dimensions yet; the program can be run on stock PyTorch (--engine pytorch).");
  if (dim == 0 || dim == v.dim() - 1) {
    const Tensor norm = ops::norm_ScalarOpt_dim::call(flat(in_row(v), dim), Scalar(pow), SizeVector{dim == 0 ? 1 : 0}, false);
    return ops::view::call(norm, all_but(v, dim));
  }
  return ops::transpose_int::call(ops::norm_except_dim::call(ops::transpose_int::call(v, 0, dim), pow, 0), 0, dim);
}

Tensor _weight_norm(const Tensor& v_given, const Tensor& g_given, int64_t dim) {
  const Tensor v = in_row(v_given), g = in_row(g_given);
  if (dim == 0 || dim == v.dim() - 1) return std::get<0>(ops::_weight_norm_interface::call(v, g, dim));
  const Tensor norm = ops::norm_except_dim::call(v, 2, dim);
  return ops::mul_Tensor::call(v, ops::div_Tensor::call(g, norm));
}

std::tuple<Tensor, Tensor> _weight_norm_interface(const Tensor& v, const Tensor& g, int64_t dim) {
  const Tensor w = ops::empty_like::call(v, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const Tensor norms = ops::empty_strided::call(g.sizes(), g.strides(), g.dtype(), Layout::Strided, g.device(), {});
  if (dim != 0) clear_buffer(v, 1);
  with_floating(v.dtype(), "weight_norm_kernel", [&]<class T>(T) {
    const T* in = v.data_as<T>();
    each_slice(v, dim, [&](int64_t i, int64_t first, int64_t step, int64_t length) {
      double sum = 0;
      for (int64_t k = 0; k < length; ++k) sum += std::pow(static_cast<double>(static_cast<Math<T>>(in[first + k * step])), 2);
      const double norm = std::sqrt(sum), factor = static_cast<double>(static_cast<Math<T>>(g.data_as<T>()[i])) / norm;
      norms.data_as<T>()[i] = static_cast<T>(static_cast<Math<T>>(norm));
      for (int64_t k = 0; k < length; ++k) {
        const int64_t at = first + k * step;
        w.data_as<T>()[at] = static_cast<T>(static_cast<Math<T>>(static_cast<double>(static_cast<Math<T>>(in[at])) * factor));
      }
    });
  });
  return {w, norms};
}

std::tuple<Tensor, Tensor> _weight_norm_interface_backward(const Tensor& grad_w, const Tensor& v, const Tensor& g, const Tensor& norms, int64_t dim) {
  const Tensor dv = ops::empty_like::call(v, {}, {}, {}, {}, MemoryFormat::Contiguous), dg = ops::empty_like::call(g, {}, {}, {}, {}, MemoryFormat::Contiguous);
  if (dim != 0) clear_buffer(v, 2);
  with_floating(v.dtype(), "weight_norm_backward_kernel", [&]<class T>(T) {
    const auto number = [](const Tensor& t, int64_t at) { return static_cast<double>(static_cast<Math<T>>(t.data_as<T>()[at])); };
    each_slice(v, dim, [&](int64_t i, int64_t first, int64_t step, int64_t length) {
      double along = 0;
      for (int64_t k = 0; k < length; ++k) along += number(grad_w, first + k * step) * number(v, first + k * step);
      const double norm = number(norms, i), factor = number(g, i) / norm;
      dg.data_as<T>()[i] = static_cast<T>(static_cast<Math<T>>(along / norm));
      for (int64_t k = 0; k < length; ++k) {
        const int64_t at = first + k * step;
        dv.data_as<T>()[at] = static_cast<T>(static_cast<Math<T>>(factor * (number(grad_w, at) - number(v, at) * along / (norm * norm))));
      }
    });
  });
  return {dv, dg};
}

std::tuple<Tensor, Tensor> _weight_norm_differentiable_backward(const Tensor& grad_w, const Tensor& v, const Tensor& g, const Tensor& norms, int64_t dim) {
  const Tensor n = ops::to_dtype::call(norms, g.dtype());
  const Tensor product = ops::mul_Tensor::call(grad_w, v);
  const Tensor sums = ops::view::call(ops::sum_dim_IntList::call(flat(product, dim), SizeVector{dim == 0 ? 1 : 0}, false, {}), all_but(v, dim));
  const Tensor along = ops::mul_Tensor::call(v, ops::div_Tensor::call(sums, ops::mul_Tensor::call(n, n)));
  const Tensor across = ops::sub_Tensor::call(grad_w, along, Scalar(int64_t{1}));
  const Tensor dv = ops::mul_Tensor::call(ops::div_Tensor::call(g, n), across);
  return {dv, ops::div_Tensor::call(sums, n)};
}

}  // namespace peel::kernels
