// The product under mm and addmm: BLAS when there was one at build time, else loops.
#pragma once
#include <complex>
#include <cstdint>

#include "kernels/cpu/small_floats.h"

namespace peel::kernels {

/// Column-major c[m, n] = alpha * op(a)[m, k] * op(b)[k, n] + beta * c; op transposes when told. beta 0 doesn't read c.
struct Product {
  bool transpose_a, transpose_b;
  int64_t m, n, k, lda, ldb, ldc;
  double alpha, beta;
};
void gemm(const Product&, const float* a, const float* b, float* c);
void gemm(const Product&, const double* a, const double* b, double* c);
void gemm(const Product&, const int64_t* a, const int64_t* b, int64_t* c);
void gemm(const Product&, const int32_t* a, const int32_t* b, int32_t* c);
void gemm(const Product&, const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* c);
void gemm(const Product&, const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c);
/// Sums in float32, rounds once.
void gemm(const Product&, const BFloat16* a, const BFloat16* b, BFloat16* c);
void gemm(const Product&, const Half* a, const Half* b, Half* c);

}  // namespace peel::kernels
