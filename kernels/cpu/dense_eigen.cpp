// Eigenvalues of matrices that need not be symmetric: balanced, made Hessenberg, then by steps of a double shift, from the end on.
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/cpu/dense.h"

namespace peel::kernels::dense {
namespace {

using Index = long;
using Complex = std::complex<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

struct Square {
  double* at;
  Index n;
  double& operator()(Index i, Index j) const { return at[i + j * n]; }
};

// Rows and columns that are exchanged, and by how much each is scaled. What lies outside of first..last is triangular already.
struct Balance {
  Index first = 0, last;
  std::vector<Index> exchanged;
  std::vector<double> scale;
};
Balance balance(const Square& a) {
  Balance b{0, a.n - 1, std::vector<Index>(static_cast<size_t>(a.n)), std::vector<double>(static_cast<size_t>(a.n), 1.0)};
  std::iota(b.exchanged.begin(), b.exchanged.end(), Index{0});
  const auto exchange = [&](Index j, Index with) {
    b.exchanged[static_cast<size_t>(with)] = j;
    for (Index i = 0; i < a.n && j != with; ++i) std::swap(a(i, j), a(i, with));
    for (Index i = 0; i < a.n && j != with; ++i) std::swap(a(j, i), a(with, i));
  };
  const auto alone = [&](Index j, bool row) {
    for (Index i = b.first; i <= b.last; ++i) {
      if (i != j && (row ? a(j, i) : a(i, j)) != 0) return false;
    }
    return true;
  };
  for (Index j = b.last; j >= 0 && b.last > 0;) {
    if (!alone(j, true)) {
      --j;
      continue;
    }
    exchange(j, b.last--);
    j = b.last;
  }
  for (Index j = b.first; j <= b.last && b.first < b.last;) {
    if (!alone(j, false)) {
      ++j;
      continue;
    }
    exchange(j, b.first++);
    j = b.first;
  }
  for (bool again = true; again;) {
    again = false;
    for (Index i = b.first; i <= b.last; ++i) {
      double column = 0, row = 0;
      for (Index j = b.first; j <= b.last; ++j) {
        column = std::hypot(column, a(j, i));
        row = std::hypot(row, a(i, j));
      }
      if (column == 0 || row == 0) continue;
      const double sum = column + row;
      double f = 1;
      for (double g = row / 2; column < g; g /= 2, column *= 2, row /= 2) f *= 2;
      for (double g = column / 2; g >= row; g /= 2, column /= 2, row *= 2) f /= 2;
      if (column + row >= 0.95 * sum || f == 1) continue;
      again = true;
      b.scale[static_cast<size_t>(i)] *= f;
      for (Index j = 0; j < a.n; ++j) a(i, j) /= f;
      for (Index j = 0; j < a.n; ++j) a(j, i) *= f;
    }
  }
  return b;
}

// By reflectors of what lies two below the diagonal; `v` is turned along.
void to_hessenberg(const Square& a, const Square& v, const Balance& b) {
  for (Index j = b.first; j + 1 < b.last; ++j) {
    std::vector<double> x;
    for (Index i = j + 1; i <= b.last; ++i) x.push_back(a(i, j));
    const double size = std::sqrt(std::inner_product(x.begin() + 1, x.end(), x.begin() + 1, 0.0));
    if (size == 0) continue;
    const double beta = -std::copysign(std::hypot(x[0], size), x[0]), tau = (beta - x[0]) / beta, first = x[0] - beta;
    x[0] = first;
    for (double& value : x) value /= first;
    const auto reflect = [&](auto at, Index count) {
      for (Index i = 0; i < count; ++i) {
        double sum = 0;
        for (size_t k = 0; k < x.size(); ++k) sum += x[k] * at(i, j + 1 + static_cast<Index>(k));
        for (size_t k = 0; k < x.size(); ++k) at(i, j + 1 + static_cast<Index>(k)) -= tau * sum * x[k];
      }
    };
    reflect([&](Index i, Index k) -> double& { return a(k, i); }, a.n);
    reflect([&](Index i, Index k) -> double& { return a(i, k); }, a.n);
    reflect([&](Index i, Index k) -> double& { return v(i, k); }, a.n);
    for (Index i = j + 2; i <= b.last; ++i) a(i, j) = 0;
  }
}

// Turns the rows and columns k and k + 1 so that the block there is triangular, when its eigenvalues are real.
void split_block(const Square& h, const Square& v, Index k) {
  const double p = (h(k, k) - h(k + 1, k + 1)) / 2, q = p * p + h(k + 1, k) * h(k, k + 1);
  if (q < 0) return;
  const double z = p + std::copysign(std::sqrt(q), p), below = h(k + 1, k), r = std::hypot(below, z);
  if (r == 0) return;
  const double s = below / r, c = z / r;
  const auto turn = [&](auto one, auto other, Index count) {
    for (Index i = 0; i < count; ++i) {
      const double x = one(i), y = other(i);
      one(i) = c * x + s * y;
      other(i) = c * y - s * x;
    }
  };
  turn([&](Index i) -> double& { return h(k, k + i); }, [&](Index i) -> double& { return h(k + 1, k + i); }, h.n - k);
  turn([&](Index i) -> double& { return h(i, k); }, [&](Index i) -> double& { return h(i, k + 1); }, h.n);
  turn([&](Index i) -> double& { return v(i, k); }, [&](Index i) -> double& { return v(i, k + 1); }, h.n);
  h(k + 1, k) = 0;
}

// The step of two shifts at once, whose sum and product are given, on rows l..n.
void double_step(const Square& h, const Square& v, Index l, Index n, double sum, double product) {
  double x = 0, y = 0, z = 0;
  Index m = n - 2;
  for (;; --m) {  // two small neighbours below the diagonal cut off what lies above
    x = h(m, m) * (h(m, m) - sum) + h(m, m + 1) * h(m + 1, m) + product;
    y = h(m + 1, m) * (h(m, m) + h(m + 1, m + 1) - sum);
    z = h(m + 1, m) * h(m + 2, m + 1);
    if (m == l) break;
    const double around = std::abs(h(m - 1, m - 1)) + std::abs(h(m, m)) + std::abs(h(m + 1, m + 1));
    if (std::abs(h(m, m - 1)) * (std::abs(y) + std::abs(z)) < kEps * std::abs(x) * around) break;
  }
  for (Index k = m; k < n; ++k) {
    const Index rows = std::min<Index>(3, n - k + 1);
    if (k > m) {
      x = h(k, k - 1);
      y = h(k + 1, k - 1);
      z = rows == 3 ? h(k + 2, k - 1) : 0;
    }
    const double size = std::sqrt(x * x + y * y + (rows == 3 ? z * z : 0));
    if (size == 0) continue;
    const double beta = -std::copysign(size, x), tau = (beta - x) / beta, w[] = {1, y / (x - beta), rows == 3 ? z / (x - beta) : 0};
    const auto reflect = [&](auto at, Index count) {
      for (Index i = 0; i < count; ++i) {
        double dot = 0;
        for (Index r = 0; r < rows; ++r) dot += w[r] * at(i, k + r);
        for (Index r = 0; r < rows; ++r) at(i, k + r) -= tau * dot * w[r];
      }
    };
    reflect([&](Index i, Index r) -> double& { return h(r, k + i); }, h.n - k);
    reflect([&](Index i, Index r) -> double& { return h(i, r); }, h.n);
    reflect([&](Index i, Index r) -> double& { return v(i, r); }, h.n);
    if (k == m && k > l) h(k, k - 1) *= 1 - tau;
    for (Index r = 0; r < rows && k > m; ++r) h(k + r, k - 1) = r == 0 ? beta : 0;
  }
}

// Down to blocks of one or two on the diagonal.
bool to_blocks(const Square& h, const Square& v, const Balance& b) {
  int steps = 0;
  for (Index n = b.last; n > b.first;) {
    Index l = n;
    for (; l > b.first; --l) {
      double around = std::abs(h(l - 1, l - 1)) + std::abs(h(l, l));
      if (around == 0) around = 1;
      if (std::abs(h(l, l - 1)) <= kEps / 2 * around) break;
    }
    if (l > b.first) h(l, l - 1) = 0;
    if (l >= n - 1) {
      if (l == n - 1) split_block(h, v, l);
      n = l - 1;
      steps = 0;
      continue;
    }
    if (++steps > 300) return false;
    double sum = h(n, n) + h(n - 1, n - 1), product = h(n, n) * h(n - 1, n - 1) - h(n, n - 1) * h(n - 1, n);
    const double middle = sum / 2, spread = middle * middle - product;
    if (spread > 0) {  // of two real shifts the nearer one, twice
      const double root = std::sqrt(spread), near = h(n, n) > middle ? middle + root : middle - root;
      sum = 2 * near;
      product = near * near;
    }
    if (steps % 10 == 0) {  // it turns in circles
      const double s = std::abs(h(n, n - 1)) + std::abs(h(n - 1, n - 2)), x = 0.75 * s + h(n, n);
      sum = 2 * x;
      product = x * x + 0.4375 * s * s;
    }
    double_step(h, v, l, n, sum, product);
  }
  return true;
}

// The vector of the blocks' eigenvalue `value`, whose block ends at `k`.
std::vector<Complex> block_vector(const Square& t, Index k, Complex value) {
  std::vector<Complex> x(static_cast<size_t>(t.n));
  const auto at = [&x](Index i) -> Complex& { return x[static_cast<size_t>(i)]; };
  Index i = k - 1;
  at(k) = 1;
  if (value.imag() != 0) {
    at(k - 1) = (value - t(k, k)) / t(k, k - 1);
    --i;
  }
  const double small = kEps * std::max(std::abs(value), std::numeric_limits<double>::min());
  const auto rest = [&](Index row, Index from) {
    Complex sum = 0;
    for (Index j = from; j <= k; ++j) sum += t(row, j) * at(j);
    return -sum;
  };
  while (i >= 0) {
    if (i > 0 && t(i, i - 1) != 0) {
      const Complex a = t(i - 1, i - 1) - value, d = t(i, i) - value, p = rest(i - 1, i + 1), q = rest(i, i + 1);
      Complex det = a * d - t(i - 1, i) * t(i, i - 1);
      if (std::abs(det) < small) det = small;
      at(i - 1) = (p * d - t(i - 1, i) * q) / det;
      at(i) = (a * q - t(i, i - 1) * p) / det;
      i -= 2;
      continue;
    }
    Complex d = t(i, i) - value;
    if (std::abs(d) < small) d = small;
    at(i) = rest(i, i + 1) / d;
    --i;
  }
  return x;
}

}  // namespace

int general_eigen(int size, double* a, std::complex<double>* values, std::complex<double>* vectors) {
  const Index n = size;
  std::vector<double> turned(static_cast<size_t>(n * n), 0.0);
  const Square h{a, n}, v{turned.data(), n};
  for (Index i = 0; i < n; ++i) v(i, i) = 1;
  const Balance b = balance(h);
  to_hessenberg(h, v, b);
  if (!to_blocks(h, v, b)) return 1;
  for (Index k = 0; k < n; ++k) {
    if (k + 1 < n && h(k + 1, k) != 0) {
      const double p = (h(k, k) + h(k + 1, k + 1)) / 2, d = (h(k, k) - h(k + 1, k + 1)) / 2, q = d * d + h(k, k + 1) * h(k + 1, k);
      values[k] = Complex(p, std::sqrt(std::max(0.0, -q)));
      values[k + 1] = std::conj(values[k]);
      ++k;
    } else {
      values[k] = h(k, k);
    }
  }
  for (Index k = 0; vectors && k < n; ++k) {
    Complex* out = vectors + k * n;
    if (values[k].imag() < 0) {  // of the other of a pair
      std::transform(out - n, out, out, [](Complex x) { return std::conj(x); });
      continue;
    }
    const Index end = k + (values[k].imag() != 0);
    const std::vector<Complex> x = block_vector(h, end, values[k]);
    for (Index i = 0; i < n; ++i) {
      out[i] = 0;
      for (Index j = 0; j <= end; ++j) out[i] += v(i, j) * x[static_cast<size_t>(j)];
      out[i] *= b.scale[static_cast<size_t>(i)];
    }
    for (Index i = b.first; i-- > 0;) std::swap(out[i], out[b.exchanged[static_cast<size_t>(i)]]);
    for (Index i = b.last + 1; i < n; ++i) std::swap(out[i], out[b.exchanged[static_cast<size_t>(i)]]);
    // Of length 1, the largest element real.
    double length = 0;
    for (Index i = 0; i < n; ++i) length = std::hypot(length, std::abs(out[i]));
    const Complex largest = *std::max_element(out, out + n, [](Complex p, Complex q) { return std::abs(p) < std::abs(q); });
    const Complex phase = values[k].imag() != 0 ? std::copysign(1.0, largest.real()) * std::conj(largest) / std::abs(largest) : 1.0;
    for (Index i = 0; i < n; ++i) out[i] *= phase / length;
  }
  return 0;
}

}  // namespace peel::kernels::dense
