// Matrix products. Which operand is transposed in memory, copied, or asked for its conjugate follows stock, as its calls show.
#include <algorithm>

#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/gemm.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void check_factors(const Tensor& a, const Tensor& b) {
  if (a.size(1) != b.size(0)) {
    throw Error("mat1 and mat2 shapes cannot be multiplied (" + std::to_string(a.size(0)) + "x" + std::to_string(a.size(1)) + " and " +
                std::to_string(b.size(0)) + "x" + std::to_string(b.size(1)) + ")");
  }
  if (a.dtype() != b.dtype()) {
    throw Error(std::string("expected m1 and m2 to have the same dtype, but got: ") + to_string(a.dtype()) + " != " + to_string(b.dtype()));
  }
}

// A factor as gemm takes it: `columns` = its memory is column-major after the swap that a row-major result asks for.
struct Factor {
  Tensor tensor;
  bool transposed;
};
Factor factor(const Tensor& t, bool swapped, int64_t rows, int64_t columns) {
  const size_t fast = swapped ? 1 : 0, slow = swapped ? 0 : 1;
  if (t.strides()[fast] == 1 && t.strides()[slow] >= std::max<int64_t>(1, rows)) return {ops::resolve_conj::call(t), false};
  if (t.strides()[slow] == 1 && t.strides()[fast] >= std::max<int64_t>(1, columns)) return {t, true};
  return {ops::clone::call(t, MemoryFormat::Contiguous), !swapped};
}

void multiply(const Tensor& result, Tensor a, Tensor b, double beta, double alpha) {
  if (result.numel() == 0) return;
  if (a.size(1) == 0) {
    Tensor out = result;
    if (beta == 0) ops::zero_::call(out);
    else if (beta != 1) ops::mul__Tensor::call(out, wrapped(beta));
    return;
  }
  const Sizes s = result.sizes(), st = result.strides();
  bool swapped = false;
  if (!(st[0] == 1 && (s[1] == 1 || st[1] >= std::max<int64_t>(1, s[0])))) {
    swapped = true;  // both results that come here are row-major then
    std::swap(a, b);
  }
  const Tensor c = ops::resolve_conj::call(result);
  const int64_t m = s[swapped ? 1 : 0], n = s[swapped ? 0 : 1], k = a.size(swapped ? 0 : 1);
  const Factor x = factor(a, swapped, m, k), y = factor(b, swapped, k, n);
  const size_t fast = swapped ? 1 : 0, slow = swapped ? 0 : 1;
  const Product p{x.transposed, y.transposed, m, n, k, x.tensor.strides()[x.transposed ? fast : slow], y.tensor.strides()[y.transposed ? fast : slow],
                  c.strides()[slow], alpha, beta};
  Product fixed = p;  // BLAS wants leading dimensions that could be, also where there is one column
  fixed.lda = std::max<int64_t>(p.lda, p.transpose_a ? k : m);
  fixed.ldb = std::max<int64_t>(p.ldb, p.transpose_b ? n : k);
  fixed.ldc = std::max<int64_t>(p.ldc, m);
  with_any_type(result.dtype(), "addmm_impl_cpu_", [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool> || sizeof(T) == 1 || std::is_same_v<T, int16_t>) no_kernel_for("addmm_impl_cpu_", result.dtype());
    else gemm(fixed, x.tensor.data_as<T>(), y.tensor.data_as<T>(), c.data_as<T>());
  });
}

void check_matrix(const Tensor& t, const char* name) {
  if (t.dim() != 2) throw Error(std::string(name) + " must be a matrix" + (std::string(name).ends_with("self") ? "" : ", got " + std::to_string(t.dim()) + "-D tensor"));
}

}  // namespace

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_matrix(self, "self");
  if (mat2.dim() != 2) throw Error("mat2 must be a matrix");
  check_factors(self, mat2);
  const SizeVector shape{self.size(0), mat2.size(1)};
  Tensor out = empty(shape, self.dtype(), self.device());
  multiply(out, self, mat2, 0, 1);
  return out;
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_matrix(mat1, "mat1");
  check_matrix(mat2, "mat2");
  check_factors(mat1, mat2);
  const SizeVector shape{mat1.size(0), mat2.size(1)};
  const Tensor added = std::ranges::equal(self.sizes(), shape) ? self : ops::expand::call(self, shape);
  Tensor out = empty(shape, mat1.dtype(), self.device());
  const double b = beta.value.to_double();
  if (b != 0) ops::copy_::call(out, added);
  multiply(out, mat1, mat2, b, alpha.value.to_double());
  return out;
}

Tensor& addmm_(Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_matrix(mat1, "mat1");
  check_matrix(mat2, "mat2");
  check_factors(mat1, mat2);
  const SizeVector shape{mat1.size(0), mat2.size(1)};
  if (!std::ranges::equal(self.sizes(), shape)) {
    throw Error("The expanded size of the tensor (" + std::to_string(shape[1]) + ") must match the existing size (" + std::to_string(self.dim() ? self.size(-1) : 1) +
                ") at non-singleton dimension 1.  Target sizes: " + to_text(shape) + ".  Tensor sizes: " + to_text(self.sizes()));
  }
  const Sizes st = self.strides();
  const bool ordered = (st[1] == 1 && st[0] >= std::max<int64_t>(1, shape[1])) || (st[0] == 1 && st[1] >= std::max<int64_t>(1, shape[0]));
  if (ordered) {
    multiply(self, mat1, mat2, beta.value.to_double(), alpha.value.to_double());
    return self;
  }
  Tensor rows = empty(shape, self.dtype(), self.device());
  copy_elements(rows, self);
  multiply(rows, mat1, mat2, beta.value.to_double(), alpha.value.to_double());
  copy_elements(self, rows);
  return self;
}

}  // namespace peel::kernels
