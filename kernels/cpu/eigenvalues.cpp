// Eigenvalues of matrices that need not be symmetric, and the exponential function of matrices.
#include <algorithm>
#include <cmath>

#include "core/autograd/history.h"
#include "kernels/cpu/dense.h"
#include "kernels/cpu/matrices.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Two = std::tuple<Tensor, Tensor>;
using Complex = std::complex<double>;

Tensor nothing_yet(ScalarType t) { return ops::empty_memory_format::call(SizeVector{0}, t, Layout::Strided, Device()); }
Tensor zero_infos(const Tensor& A) { return ops::zeros::call(batch_of(A), ScalarType::Int, Layout::Strided, A.device(), {}); }
void need_finite_square(const Tensor& A, const char* name) {
  need_square(A, name);
  need_floating(A, name);
}

// Values and, when given, vectors into complex memory.
void solve(const Tensor& A, const Tensor& values, const Tensor* vectors, const Tensor& infos) {
  const int64_t n = A.size(-1);
  const Tensor in = empty(A.sizes(), A.dtype(), A.device());
  copy_elements(in, A);
  with_real(A.dtype(), "linalg_eig_out_cpu", [&]<class T>(T) {
    std::vector<double> a(static_cast<size_t>(n * n));
    std::vector<Complex> w(static_cast<size_t>(n)), v(vectors ? a.size() : 0);
    for (int64_t b = 0; b < element_count(batch_of(A)); ++b) {
      for (int64_t i = 0; i < n * n; ++i) a[static_cast<size_t>(i % n * n + i / n)] = static_cast<double>(in.data_as<T>()[b * n * n + i]);
      infos.data_as<int32_t>()[b] = dense::general_eigen(static_cast<int>(n), a.data(), w.data(), vectors ? v.data() : nullptr);
      const auto put = [b](const Tensor& to, const std::vector<Complex>& from) {
        for (size_t i = 0; i < from.size(); ++i) to.data_as<std::complex<T>>()[static_cast<size_t>(b) * from.size() + i] = {static_cast<T>(from[i].real()), static_cast<T>(from[i].imag())};
      };
      put(values, w);
      if (vectors) put(*vectors, v);
    }
  });
}

// What stock asks and copies after LAPACK: whether every eigenvalue is real, in memory that holds real parts, then imaginary ones.
void after_lapack(const Tensor& infos, const char* name, bool single, const Tensor& values, const Tensor* vectors) {
  SizeVector shape(values.sizes().begin(), values.sizes().end());
  const int64_t n = shape.back();
  shape.back() = 2 * n;
  const Tensor parts = ops::empty_memory_format::call(shape, value_type_of(values.dtype()), Layout::Strided, values.device());
  with_real(parts.dtype(), "linalg_eig_out_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < values.numel(); ++i) {
      T* row = parts.data_as<T>() + i / n * 2 * n;
      row[i % n] = values.data_as<std::complex<T>>()[i].real();
      row[n + i % n] = values.data_as<std::complex<T>>()[i].imag();
    }
  });
  const Tensor real = ops::slice_Tensor::call(parts, -1, 0, n, 1), imaginary = ops::slice_Tensor::call(parts, -1, n, 2 * n, 1);
  Tensor to = values;
  if (ops::item::call(ops::all::call(ops::eq_Scalar::call(imaginary, 0.0))).value.to_bool()) {
    ops::copy_::call(to, values);
    Tensor v = vectors ? *vectors : Tensor();
    if (vectors) ops::copy_::call(v, v);
  } else {
    ops::complex_out::call(real, imaginary, to);
  }
  ops::_linalg_check_errors::call(infos, name, single);
}

}  // namespace

Tensor linalg_eigvals(const Tensor& self) {
  if (requires_grad(self)) return std::get<0>(ops::linalg_eig::call(self));
  return ops::_linalg_eigvals::call(self);
}
Tensor _linalg_eigvals(const Tensor& self) {
  Tensor values = nothing_yet(complex_of(self.dtype()));
  need_finite_square(self, "linalg.eigvals");
  const Tensor infos = zero_infos(self);
  nothing_yet(complex_of(self.dtype()));
  SizeVector shape(self.sizes().begin(), self.sizes().end() - 1);
  ops::resize_::call(values, shape);
  nothing_yet(self.dtype());
  ops::mT::call(self);
  Tensor work = ops::empty_memory_format::call(self.sizes(), self.dtype(), Layout::Strided, self.device());
  ops::transpose_::call(work, -2, -1);
  ops::copy_::call(work, self);
  solve(self, values, nullptr, infos);
  after_lapack(infos, "torch.linalg.eigvals", self.dim() == 2, values, nullptr);
  return values;
}
Two linalg_eig(const Tensor& self) {
  Tensor values = nothing_yet(complex_of(self.dtype())), vectors = nothing_yet(complex_of(self.dtype()));
  ops::linalg_eig_out::call(self, values, vectors);
  return {values, vectors};
}
std::tuple<Tensor&, Tensor&> linalg_eig_out(const Tensor& self, Tensor& eigenvalues, Tensor& eigenvectors) {
  need_finite_square(self, "linalg.eig");
  if (!ops::item::call(ops::all::call(ops::isfinite::call(self))).value.to_bool()) throw Error("torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const Tensor infos = zero_infos(self);
  ops::resize_::call(eigenvectors, self.sizes());
  ops::transpose_::call(eigenvectors, -2, -1);
  ops::resize_::call(eigenvalues, self.sizes().first(self.sizes().size() - 1));
  nothing_yet(self.dtype());
  Tensor real_vectors = ops::empty_memory_format::call(self.sizes(), self.dtype(), Layout::Strided, self.device());
  ops::transpose_::call(real_vectors, -2, -1);
  ops::mT::call(self);
  Tensor work = ops::empty_memory_format::call(self.sizes(), self.dtype(), Layout::Strided, self.device());
  ops::transpose_::call(work, -2, -1);
  ops::copy_::call(work, self);
  solve(self, eigenvalues, &eigenvectors, infos);
  after_lapack(infos, "torch.linalg.eig", self.dim() == 2, eigenvalues, &eigenvectors);
  return {eigenvalues, eigenvectors};
}

// By halving until the series is short, in double; stock's polynomials of several degrees give the same to rounding.
Tensor linalg_matrix_exp(const Tensor& self) {
  need_square(self, "linalg.matrix_exp");
  if (!is_floating(self.dtype()) && !is_complex(self.dtype())) throw Error("linalg.matrix_exp: Expected a floating point or complex tensor as input. Got " + std::string(to_string(self.dtype())));
  const int64_t n = self.size(-1);
  const Tensor in = made_contiguous(self), out = empty(self.sizes(), self.dtype(), self.device());
  with_real(self.dtype(), "linalg_matrix_exp", [&]<class T>(T) {
    using Matrix = std::vector<double>;
    const auto product = [n](const Matrix& a, const Matrix& b) {
      Matrix c(a.size());
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < n; ++k) {
          for (int64_t j = 0; j < n; ++j) c[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * n + k)] * b[static_cast<size_t>(k * n + j)];
        }
      }
      return c;
    };
    for (int64_t b = 0; b < element_count(batch_of(self)); ++b) {
      Matrix a(in.data_as<T>() + b * n * n, in.data_as<T>() + (b + 1) * n * n);
      double size = 0;
      for (int64_t j = 0; j < n; ++j) {
        double column = 0;
        for (int64_t i = 0; i < n; ++i) column += std::abs(a[static_cast<size_t>(i * n + j)]);
        size = std::max(size, column);
      }
      const int halvings = size > 0.5 && std::isfinite(size) ? static_cast<int>(std::ceil(std::log2(size))) + 1 : 0;
      for (double& v : a) v = std::ldexp(v, -halvings);
      Matrix sum(a.size()), term(a.size());
      for (int64_t i = 0; i < n; ++i) sum[static_cast<size_t>(i * n + i)] = term[static_cast<size_t>(i * n + i)] = 1;
      for (int k = 1; k <= 18; ++k) {
        term = product(term, a);
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += term[i] /= k;
      }
      for (int k = 0; k < halvings; ++k) sum = product(sum, sum);
      std::ranges::transform(sum, out.data_as<T>() + b * n * n, [](double v) { return static_cast<T>(v); });
    }
  });
  return out;
}
Tensor matrix_exp(const Tensor& self) { return ops::linalg_matrix_exp::call(self); }

}  // namespace peel::kernels
