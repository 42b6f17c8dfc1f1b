// Factorisations of one column-major matrix, computed in double: by the methods of LAPACK's unblocked routines, so that what a choice of signs is
// free in comes out as there; singular vectors by rotations of columns, whose signs are ours. Each returns 0, or what went wrong as LAPACK counts it.
#pragma once
#include <algorithm>
#include <complex>
#include <vector>

namespace peel::kernels::dense {

/// A = P L U with rows exchanged; `pivots` from 1.
int lu(int m, int n, double* a, int* pivots);
void lu_solve(bool transposed, int n, int columns, const double* a, const int* pivots, double* b);
/// In the lower or upper triangle.
int cholesky(bool upper, int n, double* a);
/// One triangle of A X = B (left) or X A = B; B is m x columns.
void triangular_solve(bool left, bool upper, bool transposed, bool unit, int m, int columns, const double* a, double* b);
/// Reflectors below the diagonal, R on and above it.
void qr(int m, int n, double* a, double* tau);
/// The first n columns of the product of k reflectors, in the place of a's.
void qr_vectors(int m, int n, int k, double* a, const double* tau);
/// Eigenvalues, ascending, of a symmetric matrix of which one triangle is read; vectors in its place when wanted.
int eigen(bool vectors, bool upper, int n, double* a, double* values);
/// Eigenvalues of any real matrix, pairs with the positive imaginary part first; vectors of length 1 when wanted. `a` is used up.
int general_eigen(int n, double* a, std::complex<double>* values, std::complex<double>* vectors);
/// A = U diag(s) V^T: u is m x u_columns, vt has vt_rows rows; null when not wanted.
int singular(int m, int n, const double* a, double* s, double* u, int u_columns, double* vt, int vt_rows);
/// The shortest x that comes nearest to A x = b; b holds max(m, n) rows. The rank at which smaller singular values count as none.
int least_squares(int m, int n, int columns, const double* a, double* b, int ldb, double limit);

/// Memory of another floating type as doubles while one of the above works on it.
template <class T>
class Doubles {
 public:
  Doubles(T* at, long n) : at_(at), values_(at, at + n) {}
  ~Doubles() { std::transform(values_.begin(), values_.end(), at_, [](double v) { return static_cast<T>(v); }); }
  Doubles(const Doubles&) = delete;
  Doubles& operator=(const Doubles&) = delete;
  double* data() { return values_.data(); }

 private:
  T* at_;
  std::vector<double> values_;
};

}  // namespace peel::kernels::dense
