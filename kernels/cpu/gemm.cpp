#include "kernels/cpu/gemm.h"

#if PEEL_HAVE_BLAS
extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*);
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*, const double*, const int*,
            const double*, double*, const int*);
}
#endif

namespace peel::kernels {
namespace {

template <class T>
T factor(double v) {
  if constexpr (requires { typename T::value_type; }) return T(static_cast<typename T::value_type>(v));
  else return static_cast<T>(v);
}
template <class T>
void loops(const Product& p, const T* a, const T* b, T* c) {
  const T alpha = factor<T>(p.alpha), beta = factor<T>(p.beta);
  for (int64_t j = 0; j < p.n; ++j) {
    T* column = c + j * p.ldc;
    for (int64_t i = 0; i < p.m; ++i) column[i] = p.beta == 0 ? T{} : static_cast<T>(beta * column[i]);
    for (int64_t l = 0; l < p.k; ++l) {
      const T y = static_cast<T>(alpha * (p.transpose_b ? b[j + l * p.ldb] : b[l + j * p.ldb]));
      const T* x = p.transpose_a ? a + l : a + l * p.lda;
      const int64_t step = p.transpose_a ? p.lda : 1;
      for (int64_t i = 0; i < p.m; ++i) column[i] = static_cast<T>(column[i] + x[i * step] * y);
    }
  }
}

template <class T>
void in_float(const Product& p, const T* a, const T* b, T* c) {
  for (int64_t j = 0; j < p.n; ++j) {
    for (int64_t i = 0; i < p.m; ++i) {
      float total = 0;
      for (int64_t l = 0; l < p.k; ++l) {
        const T x = p.transpose_a ? a[l + i * p.lda] : a[i + l * p.lda], y = p.transpose_b ? b[j + l * p.ldb] : b[l + j * p.ldb];
        total += static_cast<float>(x) * static_cast<float>(y);
      }
      T& o = c[i + j * p.ldc];
      const float before = p.beta == 0 ? 0.0f : static_cast<float>(p.beta) * static_cast<float>(o);
      o = before + static_cast<float>(p.alpha) * total;
    }
  }
}

#if PEEL_HAVE_BLAS
template <class T, class F>
void blas(F f, const Product& p, const T* a, const T* b, T* c) {
  const char ta = p.transpose_a ? 'T' : 'N', tb = p.transpose_b ? 'T' : 'N';
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k);
  const int lda = static_cast<int>(p.lda), ldb = static_cast<int>(p.ldb), ldc = static_cast<int>(p.ldc);
  const T alpha = static_cast<T>(p.alpha), beta = static_cast<T>(p.beta);
  f(&ta, &tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}
void gemm_of(const Product& p, const float* a, const float* b, float* c) { blas(sgemm_, p, a, b, c); }
void gemm_of(const Product& p, const double* a, const double* b, double* c) { blas(dgemm_, p, a, b, c); }
#else
template <class T>
void gemm_of(const Product& p, const T* a, const T* b, T* c) {
  loops(p, a, b, c);
}
#endif

}  // namespace

void gemm(const Product& p, const float* a, const float* b, float* c) { gemm_of(p, a, b, c); }
void gemm(const Product& p, const double* a, const double* b, double* c) { gemm_of(p, a, b, c); }
void gemm(const Product& p, const int64_t* a, const int64_t* b, int64_t* c) { loops(p, a, b, c); }
void gemm(const Product& p, const int32_t* a, const int32_t* b, int32_t* c) { loops(p, a, b, c); }
void gemm(const Product& p, const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* c) { loops(p, a, b, c); }
void gemm(const Product& p, const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c) { loops(p, a, b, c); }
void gemm(const Product& p, const BFloat16* a, const BFloat16* b, BFloat16* c) { in_float(p, a, b, c); }
void gemm(const Product& p, const Half* a, const Half* b, Half* c) { in_float(p, a, b, c); }

}  // namespace peel::kernels
