// Products of batches of matrices, and of vectors.
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void check_batches(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dim() != 3) throw Error("batch1 must be a 3D tensor");
  if (b.dim() != 3) throw Error("batch2 must be a 3D tensor");
  if (a.size(0) != b.size(0) || a.size(2) != b.size(1)) {
    throw Error("Expected size for first two dimensions of batch2 tensor to be: [" + std::to_string(a.size(0)) + ", " + std::to_string(a.size(2)) +
                "] but got: [" + std::to_string(b.size(0)) + ", " + std::to_string(b.size(1)) + "].");
  }
  if (a.dtype() != b.dtype()) {
    if (std::string_view(op) == "bmm") throw Error(std::string("expected scalar type ") + to_string(a.dtype()) + " but found " + to_string(b.dtype()));
    throw Error(std::string("Input dtypes must be the same, got: input ") + to_string(a.dtype()) + ", batch1: " + to_string(a.dtype()) + ", batch2: " + to_string(b.dtype()));
  }
}

// out (row-major) = beta * out + alpha * a x b, one gemm a batch on row-major copies where needed.
void multiply(const Tensor& out, const Tensor& first, const Tensor& second, double beta, double alpha) {
  if (out.numel() == 0) return;
  if (first.size(2) == 0) {
    Tensor o = out;
    if (beta == 0) ops::zero_::call(o);
    else ops::mul__Tensor::call(o, wrapped(beta));
    return;
  }
  const Tensor a = ops::resolve_conj::call(first), b = ops::resolve_conj::call(second);
  const std::vector<bool> all(3, true);
  const Tensor x = rows_of(a, all).data, y = rows_of(b, all).data;
  const int64_t n = a.size(1), k = a.size(2), m = b.size(2);
  with_type(out.dtype(), "baddbmm", [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>) {
      no_kernel_for("baddbmm", out.dtype());
    } else {
      // Column-major gemm on row-major memory: the factors change places.
      const Product p{false, false, m, n, k, std::max<int64_t>(m, 1), std::max<int64_t>(k, 1), std::max<int64_t>(m, 1), alpha, beta};
      for (int64_t i = 0; i < a.size(0); ++i) gemm(p, y.data_as<T>() + i * k * m, x.data_as<T>() + i * n * k, out.data_as<T>() + i * n * m);
    }
  });
}

}  // namespace

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_batches("bmm", self, mat2);
  const Tensor out = empty(SizeVector{self.size(0), self.size(1), mat2.size(2)}, self.dtype(), self.device());
  multiply(out, self, mat2, 0, 1);
  return out;
}
Tensor& bmm_out(const Tensor& self, const Tensor& mat2, Tensor& out) {
  check_batches("bmm", self, mat2);
  const SizeVector shape{self.size(0), self.size(1), mat2.size(2)};
  if (!std::ranges::equal(out.sizes(), shape)) reshape_out(out, shape);
  multiply(out, self, mat2, 0, 1);
  return out;
}
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  check_batches("baddbmm", batch1, batch2);
  const SizeVector shape{batch1.size(0), batch1.size(1), batch2.size(2)};
  const Tensor added = std::ranges::equal(self.sizes(), shape) ? self : ops::expand::call(self, shape);
  Tensor out = empty(shape, batch1.dtype(), batch1.device());
  const double b = beta.value.to_double();
  if (b != 0) ops::copy_::call(out, added);
  multiply(out, batch1, batch2, b, alpha.value.to_double());
  return out;
}

namespace {

void check_vector(const Tensor& self, const Tensor& mat, const Tensor& vec, bool adds) {
  if (mat.dim() != 2 || vec.dim() != 1 || self.dim() > 1) {
    throw Error("vector + matrix @ vector expected, got " + std::to_string(adds ? self.dim() : 1) + ", " + std::to_string(mat.dim()) + ", " + std::to_string(vec.dim()));
  }
  if (mat.size(1) != vec.size(0) || (self.dim() == 1 && self.size(0) != 1 && self.size(0) != mat.size(0))) {
    throw Error("size mismatch, got input (" + std::to_string(adds && self.dim() == 1 ? self.size(0) : mat.size(0)) + "), mat (" + std::to_string(mat.size(0)) + "x" +
                std::to_string(mat.size(1)) + "), vec (" + std::to_string(vec.size(0)) + ")");
  }
}

void matrix_times_vector(const Tensor& out, const Tensor& mat, const Tensor& vec, double beta, double alpha) {
  const int64_t n = mat.size(0), m = mat.size(1);
  const Sizes s = mat.strides();
  const bool usable = (s[0] == 1 && s[1] >= std::max<int64_t>(1, n)) || (s[1] == 1 && s[0] >= std::max<int64_t>(1, m));
  const Tensor in = usable || mat.numel() == 0 ? mat : ops::contiguous::call(mat);
  with_type(out.dtype(), "addmv_impl_cpu", [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>) {
      no_kernel_for("addmv_impl_cpu", out.dtype());
    } else {
      using Sum = std::conditional_t<kIsFloating<T>, double, int64_t>;
      const int64_t os = out.strides()[0], vs = vec.strides()[0];
      for (int64_t i = 0; i < n; ++i) {
        Sum total = 0;
        for (int64_t k = 0; k < m; ++k) {
          total += static_cast<Sum>(static_cast<Math<T>>(in.data_as<T>()[i * in.strides()[0] + k * in.strides()[1]])) *
                   static_cast<Sum>(static_cast<Math<T>>(vec.data_as<T>()[k * vs]));
        }
        T& o = out.data_as<T>()[i * os];
        const Sum before = beta == 0 ? Sum{} : static_cast<Sum>(beta * static_cast<double>(static_cast<Math<T>>(o)));
        o = static_cast<T>(before + static_cast<Sum>(alpha) * total);
      }
    }
  });
}

}  // namespace

Tensor& addmv_(Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  check_vector(self, mat, vec, true);
  matrix_times_vector(self, mat, vec, beta.value.to_double(), alpha.value.to_double());
  return self;
}
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  check_vector(self, mat, vec, true);
  const Tensor out = empty(SizeVector{mat.size(0)}, vec.dtype(), vec.device());
  copy_elements(out, self);
  matrix_times_vector(out, mat, vec, beta.value.to_double(), alpha.value.to_double());
  return out;
}
Tensor mv(const Tensor& self, const Tensor& vec) {
  if (self.dim() != 2 || vec.dim() != 1) check_vector(vec, self, vec, false);
  Tensor out = ops::empty_memory_format::call(SizeVector{self.size(0)}, vec.dtype(), Layout::Strided, vec.device());
  return ops::addmv_::call(out, self, vec, 0, 1);
}
Tensor dot(const Tensor& self, const Tensor& tensor) {
  if (self.dim() != 1 || tensor.dim() != 1) {
    throw Error("1D tensors expected, but got " + std::to_string(self.dim()) + "D and " + std::to_string(tensor.dim()) + "D tensors");
  }
  if (self.dtype() != tensor.dtype()) {
    throw Error(std::string("dot : expected both vectors to have same dtype, but found ") + to_string(self.dtype()) + " and " + to_string(tensor.dtype()));
  }
  if (self.numel() != tensor.numel()) {
    throw Error("inconsistent tensor size, expected tensor [" + std::to_string(self.numel()) + "] and src [" + std::to_string(tensor.numel()) +
                "] to have the same number of elements, but got " + std::to_string(self.numel()) + " and " + std::to_string(tensor.numel()) + " elements respectively");
  }
  Tensor out = ops::empty_memory_format::call(Sizes(), self.dtype(), Layout::Strided, self.device());
  const Scalar value = with_type(self.dtype(), "dot", [&]<class T>(T) {
    if constexpr (std::is_same_v<T, bool>) {
      no_kernel_for("dot", self.dtype());
      return Scalar();
    } else {
      using Sum = std::conditional_t<kIsFloating<T>, double, int64_t>;
      Sum total = 0;
      for (int64_t i = 0; i < self.numel(); ++i) {
        total += static_cast<Sum>(static_cast<Math<T>>(self.data_as<T>()[i * self.strides()[0]])) *
                 static_cast<Sum>(static_cast<Math<T>>(tensor.data_as<T>()[i * tensor.strides()[0]]));
      }
      return Scalar(total);
    }
  });
  return ops::fill__Scalar::call(out, value);
}
Tensor& mv_out(const Tensor& self, const Tensor& vec, Tensor& out) {
  if (self.dim() != 2 || vec.dim() != 1) check_vector(vec, self, vec, false);
  const bool fits = out.dim() == 1 && out.size(0) == self.size(0);
  const Tensor none = fits ? out : ops::empty_memory_format::call(SizeVector{self.size(0)}, vec.dtype(), Layout::Strided, vec.device());
  return ops::addmv_out::call(none, self, vec, 0, 1, out);
}
Tensor& dot_out(const Tensor& self, const Tensor& tensor, Tensor& out) {
  if (out.dim() != 0) reshape_out(out, Sizes());
  return ops::fill__Tensor::call(out, ops::dot::call(self, tensor));
}

}  // namespace peel::kernels
