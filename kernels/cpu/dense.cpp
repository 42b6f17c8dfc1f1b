#include "kernels/cpu/dense.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace peel::kernels::dense {
namespace {

using Index = long;
constexpr double kEps = std::numeric_limits<double>::epsilon() / 2;

double norm(const double* x, Index n) { return std::sqrt(std::inner_product(x, x + n, x, 0.0)); }

// The reflector I - tau v v^T that takes (alpha, x) to (beta, 0); v's first element, 1, isn't kept. Gives tau.
double reflector(double* alpha, double* x, Index n) {
  const double size = norm(x, n);
  if (size == 0) return 0;
  const double beta = -std::copysign(std::hypot(*alpha, size), *alpha), tau = (beta - *alpha) / beta;
  for (Index i = 0; i < n; ++i) x[i] /= *alpha - beta;
  *alpha = beta;
  return tau;
}
// A reflector on columns of `a`, of which each has 1 + n elements from the one that meets v's first.
void reflect(const double* v, double tau, Index n, double* a, Index lda, Index columns) {
  for (Index c = 0; c < columns; ++c) {
    double* x = a + c * lda;
    const double w = tau * (x[0] + std::inner_product(v, v + n, x + 1, 0.0));
    x[0] -= w;
    for (Index i = 0; i < n; ++i) x[1 + i] -= w * v[i];
  }
}

struct Rotation {
  double c, s, r;
};
Rotation rotation(double f, double g) {
  if (g == 0) return {1, 0, f};
  if (f == 0) return {0, 1, g};
  const double d = std::hypot(f, g);
  Rotation out{f / d, g / d, d};
  if (std::abs(f) > std::abs(g) && out.c < 0) out = {-out.c, -out.s, -out.r};
  return out;
}
void rotate(double* left, double* right, Index n, double c, double s) {
  for (Index i = 0; i < n; ++i) {
    const double t = right[i];
    right[i] = c * t - s * left[i];
    left[i] = s * t + c * left[i];
  }
}

struct Pair {
  double large, small, c, s;  // the eigenvalues of ((a, b), (b, d)) and the first one's vector
};
Pair eigen_of_two(double a, double b, double d) {
  const double sum = a + d, diff = a - d, twice = b + b, root = std::hypot(diff, twice);
  const double high = std::abs(a) > std::abs(d) ? a : d, low = std::abs(a) > std::abs(d) ? d : a;
  Pair p{};
  int first = 1;
  if (sum == 0) {
    p.large = 0.5 * root;
    p.small = -0.5 * root;
  } else {
    first = sum < 0 ? -1 : 1;
    p.large = 0.5 * (sum + first * root);
    p.small = high / p.large * low - b / p.large * b;
  }
  const int second = diff >= 0 ? 1 : -1;
  const double cs = diff + second * root;
  if (std::abs(cs) > std::abs(twice)) {
    const double ct = -twice / cs;
    p.s = 1 / std::sqrt(1 + ct * ct);
    p.c = ct * p.s;
  } else if (twice == 0) {
    p.c = 1;
    p.s = 0;
  } else {
    const double tn = -cs / twice;
    p.c = 1 / std::sqrt(1 + tn * tn);
    p.s = tn * p.c;
  }
  if (first == second) {
    const double tn = p.c;
    p.c = -p.s;
    p.s = tn;
  }
  return p;
}

// One block l..end of a tridiagonal matrix by implicit steps, from the end whose diagonal is smaller. Vectors are turned along.
bool reduce_block(double* d, double* e, double* z, Index n, Index l, Index end, int* steps) {
  const bool down = std::abs(d[end]) >= std::abs(d[l]);  // from l on, else from the end back
  if (!down) std::swap(l, end);
  const Index way = down ? 1 : -1;
  const auto link = [way](Index i) { return way > 0 ? i : i - 1; };  // the element between i and the next
  while (down ? l <= end : l >= end) {
    Index m = l;
    for (; m != end; m += way) {
      const double t = e[link(m)] * e[link(m)];
      if (t <= kEps * kEps * std::abs(d[m]) * std::abs(d[m + way]) + std::numeric_limits<double>::min()) break;
    }
    if (m != end) e[link(m)] = 0;
    if (m == l) {
      l += way;
      continue;
    }
    const auto turn = [&](Index i, double c, double s) {
      if (z) rotate(z + i * n, z + (i + 1) * n, n, c, s);
    };
    if (m == l + way) {
      const Pair p = down ? eigen_of_two(d[l], e[l], d[l + 1]) : eigen_of_two(d[l - 1], e[l - 1], d[l]);
      const Index low = std::min(l, m);
      turn(low, p.c, p.s);
      d[low] = p.large;
      d[low + 1] = p.small;
      e[low] = 0;
      l += 2 * way;
      continue;
    }
    if (--*steps < 0) return false;
    double p = d[l], g = (d[l + way] - p) / (2 * e[link(l)]), r = std::hypot(g, 1.0);
    g = d[m] - p + e[link(l)] / (g + std::copysign(r, g));
    double s = 1, c = 1;
    p = 0;
    std::vector<Rotation> turns;
    for (Index i = m; i != l; i -= way) {  // between i - way and i
      const double between = e[link(i - way)], f = s * between, b = c * between;
      const Rotation t = rotation(g, f);
      c = t.c;
      s = t.s;
      if (i != m) e[link(i)] = t.r;
      g = d[i] - p;
      r = (d[i - way] - g) * s + 2 * c * b;
      p = s * r;
      d[i] = g + p;
      g = c * r - b;
      turns.push_back({c, down ? -s : s, 0});
    }
    Index at = m;
    for (const Rotation& t : turns) {
      turn(std::min(at, at - way), t.c, t.s);
      at -= way;
    }
    d[l] -= p;
    e[link(l)] = g;
  }
  return true;
}

}  // namespace

int lu(int m, int n, double* a, int* pivots) {
  int info = 0;
  for (Index j = 0; j < std::min(m, n); ++j) {
    Index p = j;
    for (Index i = j + 1; i < m; ++i) {
      if (std::abs(a[i + j * m]) > std::abs(a[p + j * m])) p = i;
    }
    pivots[j] = static_cast<int>(p) + 1;
    if (a[p + j * m] == 0) {
      if (info == 0) info = static_cast<int>(j) + 1;
      continue;
    }
    for (Index c = 0; p != j && c < n; ++c) std::swap(a[j + c * m], a[p + c * m]);
    for (Index i = j + 1; i < m; ++i) a[i + j * m] /= a[j + j * m];
    for (Index c = j + 1; c < n; ++c) {
      for (Index i = j + 1; i < m; ++i) a[i + c * m] -= a[i + j * m] * a[j + c * m];
    }
  }
  return info;
}
void lu_solve(bool transposed, int n, int columns, const double* a, const int* pivots, double* b) {
  const auto exchange = [&](Index i) {
    for (Index c = 0; c < columns; ++c) std::swap(b[i + c * n], b[pivots[i] - 1 + c * n]);
  };
  if (!transposed) {
    for (Index i = 0; i < n; ++i) exchange(i);
  }
  triangular_solve(true, transposed, transposed, !transposed, n, columns, a, b);
  triangular_solve(true, !transposed, transposed, transposed, n, columns, a, b);
  if (transposed) {
    for (Index i = n; i-- > 0;) exchange(i);
  }
}
int cholesky(bool upper, int n, double* a) {
  const auto at = [&](Index i, Index j) -> double& { return upper ? a[j + i * n] : a[i + j * n]; };
  for (Index j = 0; j < n; ++j) {
    double d = at(j, j);
    for (Index k = 0; k < j; ++k) d -= at(j, k) * at(j, k);
    if (!(d > 0)) return static_cast<int>(j) + 1;
    at(j, j) = std::sqrt(d);
    for (Index i = j + 1; i < n; ++i) {
      double s = at(i, j);
      for (Index k = 0; k < j; ++k) s -= at(i, k) * at(j, k);
      at(i, j) = s / at(j, j);
    }
  }
  return 0;
}
void triangular_solve(bool left, bool upper, bool transposed, bool unit, int m, int columns, const double* a, double* b) {
  const Index n = left ? m : columns, others = left ? columns : m;
  // X A = B is A^T X^T = B^T.
  if (!left) transposed = !transposed;
  const auto at = [&](Index i, Index j) { return transposed ? a[j + i * n] : a[i + j * n]; };
  const bool forward = upper == transposed;  // a lower triangle, as it is used
  for (Index c = 0; c < others; ++c) {
    const auto x = [&](Index i) -> double& { return left ? b[i + c * m] : b[c + i * m]; };
    for (Index k = 0; k < n; ++k) {
      const Index i = forward ? k : n - 1 - k;
      double s = x(i);
      for (Index j = forward ? 0 : i + 1; j < (forward ? i : n); ++j) s -= at(i, j) * x(j);
      x(i) = unit ? s : s / at(i, i);
    }
  }
}

void qr(int m, int n, double* a, double* tau) {
  for (Index j = 0; j < std::min(m, n); ++j) {
    double* x = a + j + j * m;
    tau[j] = reflector(x, x + 1, m - j - 1);
    reflect(x + 1, tau[j], m - j - 1, x + m, m, n - j - 1);
  }
}
void qr_vectors(int m, int n, int k, double* a, const double* tau) {
  for (Index j = k; j < n; ++j) {
    std::fill_n(a + j * m, m, 0.0);
    a[j + j * m] = 1;
  }
  for (Index j = k; j-- > 0;) {
    double* x = a + j + j * m;
    reflect(x + 1, tau[j], m - j - 1, x + m, m, n - j - 1);
    for (Index i = 1; i < m - j; ++i) x[i] *= -tau[j];
    x[0] = 1 - tau[j];
    std::fill_n(a + j * m, j, 0.0);
  }
}

int eigen(bool vectors, bool upper, int n, double* a, double* d) {
  if (n == 0) return 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = j + 1; i < n; ++i) (upper ? a[i + j * n] : a[j + i * n]) = upper ? a[j + i * n] : a[i + j * n];
  }
  // To tridiagonal form, by reflectors of what lies below the diagonal's neighbour.
  std::vector<double> e(static_cast<size_t>(n)), tau(static_cast<size_t>(n)), w(static_cast<size_t>(n));
  for (Index j = 0; j + 1 < n; ++j) {
    double* x = a + j + 1 + j * n;
    const Index rest = n - j - 1;
    tau[static_cast<size_t>(j)] = reflector(x, x + 1, rest - 1);
    e[static_cast<size_t>(j)] = x[0];
    const double t = tau[static_cast<size_t>(j)];
    if (t == 0) continue;
    x[0] = 1;
    double* below = a + j + 1 + (j + 1) * n;
    for (Index i = 0; i < rest; ++i) {
      w[static_cast<size_t>(i)] = t * std::inner_product(x, x + rest, below + i * n, 0.0);
    }
    const double half = -0.5 * t * std::inner_product(x, x + rest, w.data(), 0.0);
    for (Index i = 0; i < rest; ++i) w[static_cast<size_t>(i)] += half * x[i];
    for (Index c = 0; c < rest; ++c) {
      for (Index i = 0; i < rest; ++i) below[i + c * n] -= x[i] * w[static_cast<size_t>(c)] + w[static_cast<size_t>(i)] * x[c];
    }
    x[0] = e[static_cast<size_t>(j)];
  }
  for (Index j = 0; j < n; ++j) d[j] = a[j + j * n];
  double* z = nullptr;
  if (vectors) {
    // The reflectors one column to the right make the vectors of the block without the first row and column.
    std::vector<double> q(static_cast<size_t>((n - 1) * (n - 1)));
    for (Index j = 0; j + 1 < n; ++j) std::copy_n(a + 1 + j * n, n - 1, q.data() + j * (n - 1));
    qr_vectors(n - 1, n - 1, n - 1, q.data(), tau.data());
    std::fill_n(a, static_cast<Index>(n) * n, 0.0);
    a[0] = 1;
    for (Index j = 0; j + 1 < n; ++j) std::copy_n(q.data() + j * (n - 1), n - 1, a + 1 + (j + 1) * n);
    z = a;
  }
  int steps = 30 * n;
  for (Index first = 0; first < n;) {
    Index m = first;
    for (; m + 1 < n; ++m) {
      const double t = std::abs(e[static_cast<size_t>(m)]);
      if (t == 0) break;
      if (t <= std::sqrt(std::abs(d[m])) * std::sqrt(std::abs(d[m + 1])) * kEps) {
        e[static_cast<size_t>(m)] = 0;
        break;
      }
    }
    if (m > first && !reduce_block(d, e.data(), z, n, first, m, &steps)) return 1;
    first = m + 1;
  }
  for (Index i = 0; i < n; ++i) {
    const Index k = std::min_element(d + i, d + n) - d;
    if (k == i) continue;
    std::swap(d[i], d[k]);
    if (z) std::swap_ranges(z + i * n, z + (i + 1) * n, z + k * n);
  }
  return 0;
}

int singular(int m, int n, const double* a, double* s, double* u, int u_columns, double* vt, int vt_rows) {
  if (m < n) {  // of the transposed matrix
    std::vector<double> turned(static_cast<size_t>(m) * static_cast<size_t>(n)), left, right;
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) turned[static_cast<size_t>(j + i * n)] = a[i + j * m];
    }
    if (u) {
      left.resize(static_cast<size_t>(n) * static_cast<size_t>(vt_rows));
      right.resize(static_cast<size_t>(m) * static_cast<size_t>(m));
    }
    const int info = singular(n, m, turned.data(), s, u ? left.data() : nullptr, vt_rows, u ? right.data() : nullptr, m);
    for (Index j = 0; u && j < n; ++j) {
      for (Index i = 0; i < vt_rows; ++i) vt[i + j * vt_rows] = left[static_cast<size_t>(j + i * n)];
    }
    for (Index j = 0; u && j < m; ++j) {
      for (Index i = 0; i < m; ++i) u[i + j * m] = right[static_cast<size_t>(j + i * m)];
    }
    return info;
  }
  std::vector<double> w(a, a + static_cast<Index>(m) * n), v(static_cast<size_t>(n) * static_cast<size_t>(n), 0.0);
  for (Index j = 0; j < n; ++j) v[static_cast<size_t>(j + j * n)] = 1;
  for (int sweep = 0, moved = 1; moved && sweep < 60; ++sweep) {  // until all columns are orthogonal
    moved = 0;
    for (Index p = 0; p + 1 < n; ++p) {
      for (Index q = p + 1; q < n; ++q) {
        double *x = w.data() + p * m, *y = w.data() + q * m;
        const double xx = std::inner_product(x, x + m, x, 0.0), yy = std::inner_product(y, y + m, y, 0.0), xy = std::inner_product(x, x + m, y, 0.0);
        if (std::abs(xy) <= 1e-15 * std::sqrt(xx * yy)) continue;
        moved = 1;
        const double zeta = (yy - xx) / (2 * xy), t = std::copysign(1 / (std::abs(zeta) + std::hypot(1.0, zeta)), zeta), c = 1 / std::hypot(1.0, t);
        rotate(x, y, m, c, -c * t);
        rotate(v.data() + p * n, v.data() + q * n, n, c, -c * t);
      }
    }
  }
  std::vector<Index> order(static_cast<size_t>(n));
  std::vector<double> sizes;
  for (Index j = 0; j < n; ++j) sizes.push_back(norm(w.data() + j * m, m));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index x, Index y) { return sizes[static_cast<size_t>(x)] > sizes[static_cast<size_t>(y)]; });
  for (Index j = 0; j < n; ++j) s[j] = sizes[static_cast<size_t>(order[static_cast<size_t>(j)])];
  if (!u) return 0;
  for (Index j = 0; j < u_columns; ++j) {
    double* to = u + j * m;
    const Index from = j < n ? order[static_cast<size_t>(j)] : 0;
    double sign = 1;
    if (j < n && s[j] > s[0] * 1e-300 && s[j] > 0) {
      const double* x = w.data() + from * m;
      sign = std::accumulate(x, x + m, 0.0) > 0 ? -1 : 1;
      for (Index i = 0; i < m; ++i) to[i] = sign * x[i] / s[j];
    } else {  // what is orthogonal to all before
      for (Index unit = 0; unit < m; ++unit) {
        std::fill_n(to, m, 0.0);
        to[unit] = 1;
        for (int again = 0; again < 2; ++again) {
          for (Index k = 0; k < j; ++k) {
            const double along = std::inner_product(to, to + m, u + k * m, 0.0);
            for (Index i = 0; i < m; ++i) to[i] -= along * u[i + k * m];
          }
        }
        const double left = norm(to, m);
        if (left < 0.5 / std::sqrt(static_cast<double>(m))) continue;
        for (Index i = 0; i < m; ++i) to[i] /= left;
        break;
      }
    }
    for (Index i = 0; j < n && i < n; ++i) vt[j + i * vt_rows] = sign * v[static_cast<size_t>(i + from * n)];
  }
  return 0;
}

int least_squares(int m, int n, int columns, const double* a, double* b, int ldb, double limit) {
  const int k = std::min(m, n);
  const auto size = [](Index x, Index y) { return static_cast<size_t>(x * y); };
  std::vector<double> s(static_cast<size_t>(k)), u(size(m, k)), vt(size(k, n));
  singular(m, n, a, s.data(), u.data(), k, vt.data(), k);
  const int rank = static_cast<int>(std::count_if(s.begin(), s.end(), [&](double x) { return x > limit * s[0]; }));
  for (Index c = 0; c < columns; ++c) {
    std::vector<double> x(static_cast<size_t>(n), 0.0);
    for (Index r = 0; r < rank; ++r) {
      const double along = std::inner_product(u.data() + r * m, u.data() + (r + 1) * m, b + c * ldb, 0.0) / s[static_cast<size_t>(r)];
      for (Index i = 0; i < n; ++i) x[static_cast<size_t>(i)] += along * vt[static_cast<size_t>(r + i * k)];
    }
    std::copy(x.begin(), x.end(), b + c * ldb);
  }
  return rank;
}

}  // namespace peel::kernels::dense
