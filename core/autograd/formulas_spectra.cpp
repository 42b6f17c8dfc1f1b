// Gradients of Fourier transforms.
#include "core/autograd/formulas.h"

namespace peel::core::formulas {

Tensor fft_r2c_backward(const Tensor& grad, Sizes dim, int64_t normalization, bool onesided, Sizes sizes) {
  if (!onesided) return real(_fft_c2c(grad, dim, normalization, false));
  const int64_t d = dim.back(), whole = sizes[static_cast<size_t>(wrap_dimension(d, grad.dim()))], half = grad.size(d);
  Tensor g = grad;
  if (whole != half) {
    SizeVector shape(grad.sizes().begin(), grad.sizes().end());
    shape[static_cast<size_t>(wrap_dimension(d, grad.dim()))] = whole;
    g = new_zeros(grad, shape);
    Tensor part = slice(g, d, 0, half);
    copy_(part, grad);
  }
  return real(_fft_c2c(g, dim, normalization, false));
}
Tensor fft_c2r_backward(const Tensor& grad, Sizes dim, int64_t normalization) {
  Tensor g = _fft_r2c(grad, dim, normalization, true);
  const int64_t d = dim.back(), twice = grad.size(d) - g.size(d);
  if (twice > 0) {  // values that stand for their conjugates too
    Tensor part = narrow(g, d, 1, twice);
    mul_(part, 2);
  }
  return g;
}

}  // namespace peel::core::formulas
