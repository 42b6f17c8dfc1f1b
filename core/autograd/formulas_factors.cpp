// Gradients of LU and Cholesky factors, and of the exponential function of matrices.
#include <algorithm>

#include "core/autograd/formulas.h"
#include "core/dispatch/error.h"

namespace peel::core::formulas {
namespace {

// Below the diagonal of the first k rows; on and above it, of the first k columns.
Tensor lower(const Tensor& t, int64_t k) { return tril(t.size(-2) == k ? t : narrow(t, -2, 0, k), -1); }
Tensor upper(const Tensor& t, int64_t k) { return triu(t.size(-1) == k ? t : narrow(t, -1, 0, k)); }
Tensor zeros_of(const Tensor& like, size_t from_end, int64_t size) {
  SizeVector shape(like.sizes().begin(), like.sizes().end());
  shape[shape.size() - from_end] = size;
  return zeros(shape, like.dtype(), Layout::Strided, like.device());
}
Tensor joined(const Tensor& a, const Tensor& b, int64_t dim) {
  const Tensor both[] = {a, b};
  return cat(both, dim);
}

}  // namespace

Tensor lu_unpack_backward(const Tensor& gL, const Tensor& gU, Sizes sizes) {
  if (!gL.defined() && !gU.defined()) return {};
  const int64_t m = sizes[sizes.size() - 2], n = sizes.back(), k = std::min(m, n);
  if (gL.defined() && gU.defined()) {
    const Tensor low = lower(gL, k), high = upper(gU, k);
    const Tensor square = add(low, high);
    if (m == n) return square;
    return m > n ? joined(square, narrow(gL, -2, k, m - k), -2) : joined(square, narrow(gU, -1, k, n - k), -1);
  }
  const Tensor part = gL.defined() ? tril(gL, -1) : triu(gU);
  if (gL.defined()) return m >= n ? part : joined(part, zeros_of(gL, 1, n - m), -1);
  return n >= m ? part : joined(part, zeros_of(gU, 2, m - n), -2);
}

Tensor lu_backward(const Tensor& gL, const Tensor& gU, const Tensor& P, const Tensor& L, const Tensor& U, bool pivot) {
  if (!gL.defined() && !gU.defined()) return {};
  const int64_t m = L.size(-2), n = U.size(-1);
  Tensor g;
  if (m == n) {
    if (gL.defined()) g = tril(matmul(mH(L), gL), -1);
    if (gU.defined()) {
      const Tensor of_u = triu(matmul(gU, mH(U)));
      g = g.defined() ? add(g, of_u) : of_u;
    }
    g = linalg_solve_triangular(mH(U), g, false, false);
    g = linalg_solve_triangular(mH(L), g, true, true, true);
  } else if (m < n) {
    if (gL.defined()) g = matmul(mH(L), gL);
    if (gU.defined()) {
      const Tensor high = triu(gU);
      const Tensor of_u = matmul(high, mH(U));
      g = g.defined() ? sub(g, of_u) : neg(of_u);
    }
    g = tril(g, -1);
    g = linalg_solve_triangular(mH(narrow(U, -1, 0, m)), g, false, false);
    if (gU.defined()) {
      g = add(g, triu(narrow(gU, -1, 0, m)));
      g = joined(g, narrow(gU, -1, m, n - m), -1);
    }
    g = linalg_solve_triangular(mH(L), g, true, true, true);
    if (!gU.defined()) g = joined(g, zeros_like(narrow(U, -1, m, n - m)), -1);
  } else {
    if (gU.defined()) g = matmul(gU, mH(U));
    if (gL.defined()) {
      const Tensor h = mH(L);
      const Tensor of_l = matmul(h, tril(gL, -1));
      g = g.defined() ? sub(g, of_l) : neg(of_l);
    }
    g = triu(g);
    g = linalg_solve_triangular(mH(narrow(L, -2, 0, n)), g, true, true, true);
    if (gL.defined()) {
      g = add(g, tril(narrow(gL, -2, 0, n), -1));
      g = joined(g, narrow(gL, -2, n, m - n), -2);
    }
    g = linalg_solve_triangular(mH(U), g, false, false);
    if (!gL.defined()) g = joined(g, zeros_like(narrow(L, -2, n, m - n)), -2);
  }
  return pivot ? matmul(P, g) : g;
}
Tensor lu_factor_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots, bool pivot) {
  const auto [P, L, U] = lu_unpack(LU, pivots, true, pivot);
  const int64_t k = std::min(L.size(-2), U.size(-1));
  const Tensor gL = narrow(grad, -1, 0, k);
  return lu_backward(gL, narrow(grad, -2, 0, k), P, L, U, pivot);
}
Tensor lu_solve_factors_backward(const Tensor& grad, const Tensor& LU, const Tensor& pivots, const Tensor& X, bool left, bool adjoint) {
  const auto [P, L, U] = lu_unpack(LU, pivots, true, left == adjoint);
  if (left != adjoint) {
    const Tensor x = left ? mH(X) : X, g = left ? grad : mH(grad);
    const Tensor right = neg(matmul(g, x));
    const Tensor gR = linalg_solve_triangular(mH(U), right, false);
    const Tensor product = matmul(gR, mH(U));
    const Tensor gL = tril(linalg_solve_triangular(mH(L), product, true, true, true), -1);
    return add(gL, triu(gR));
  }
  const Tensor first = matmul(mT(P), left ? X : mH(X));
  Tensor gR = neg(matmul(matmul(first, left ? mH(grad) : grad), P));
  gR = linalg_solve_triangular(mH(L), gR, true, false, true);
  const Tensor product = matmul(mH(L), gR);
  const Tensor gU = triu(linalg_solve_triangular(mH(U), product, false, false));
  return add(tril(gR, -1), gU);
}

Tensor cholesky_inverse_backward(const Tensor& grad, const Tensor& L, bool upper, const Tensor& inverse) {
  const Tensor both = add(grad, mH(grad));
  const Tensor g = matmul(inverse, matmul(both, inverse));
  return neg(upper ? matmul(L, g) : matmul(g, L));
}

Tensor matrix_exp_backward(const Tensor& grad, const Tensor& self) {
  // In the corner of the exponential of ((A, G), (0, A)) stands how that of A follows G.
  const Tensor h = mH(self), row[] = {h, grad}, below[] = {zeros_like(h), h};
  const Tensor rows[] = {cat(row, -1), cat(below, -1)};
  const int64_t n = self.size(-1);
  return narrow(narrow(matrix_exp(cat(rows, -2)), -2, 0, n), -1, n, n);
}

// Reflectors H_i = 1 - tau_i v_i v_i^T, whose product is differentiated one by one: with K = H_i ... H_k G^T H_1 ... H_i-1 the gradients of
// v_i and tau_i are products of K with v_i. Going on to the next reflector takes H_i off one side of K, by its inverse, and puts it on the other.
std::tuple<Tensor, Tensor> householder_product_backward(const Tensor& grad, const Tensor& product, const Tensor& input, const Tensor& tau) {
  if (!grad.defined() || input.numel() == 0) return {};
  if (is_complex(input.dtype())) return {lacking_gradient({}, "linalg.householder_product of complex numbers"), Tensor()};
  const int64_t m = input.size(-2), k = tau.size(-1);
  const Tensor vectors = tril(input, -1);
  Tensor on_diagonal = diagonal(vectors, 0, -2, -1);
  fill_(on_diagonal, 1.0);
  const Tensor columns = narrow(vectors, -1, 0, k);
  const Tensor inverse = div(tau, sub(mul(tau, sum(mul(columns, columns), SizeVector{-2}, false)), 1.0));  // of the factor of H_i's inverse
  const Tensor turned = mH(grad);
  const Tensor K = matmul(product, turned);

  const auto reflect_left = [&K, m](int64_t i, const Tensor& vector, const Tensor& factor) {
    const Tensor v = narrow(vector, -2, i, m - i);
    const Tensor row = mH(v);
    const Tensor u = matmul(row, narrow(K, -2, i, m - i));
    Tensor part = narrow(K, -2, i, m - i);
    sub_(part, mul(mul(unsqueeze(factor, -1), v), u));
  };
  const auto reflect_right = [&K, m](int64_t i, const Tensor& vector, const Tensor& factor) {
    const Tensor v = narrow(vector, -2, i, m - i), part_before = narrow(K, -1, i, m - i);
    const Tensor same = narrow(vector, -2, i, m - i);
    const Tensor u = matmul(part_before, mul(unsqueeze(factor, -1), same));
    Tensor part = narrow(K, -1, i, m - i);
    sub_(part, mul(u, mH(v)));
  };

  const Tensor first_factor = narrow(inverse, -1, 0, 1), first = narrow(vectors, -1, 0, 1);
  narrow(first, -2, 0, m);
  reflect_left(0, first, first_factor);
  const Tensor of_input = zeros_like(input), of_tau = zeros_like(tau);
  for (int64_t i = 0; i < k; ++i) {
    const Tensor vector = narrow(vectors, -1, i, 1), t = narrow(tau, -1, i, 1);
    const Tensor v = narrow(vector, -2, i, m - i);
    const Tensor row = mH(v);
    const Tensor vK = matmul(row, narrow(K, -2, i, m - i));
    const Tensor Kv = matmul(narrow(K, -1, i, m - i), v);
    const Tensor factor = unsqueeze(t, -1);
    const Tensor down = squeeze(mul(factor, Kv), -1);
    const Tensor g_v = sub(squeeze(mul(neg(factor), vK), -2), down);
    const Tensor g_tau = squeeze(neg(matmul(narrow(vK, -1, i, m - i), v)), -1);
    const Tensor column = unsqueeze(g_v, -1);
    Tensor place = select(of_input, -1, i);
    copy_(place, squeeze(column, -1));
    Tensor tau_place = select(of_tau, -1, i);
    copy_(tau_place, squeeze(g_tau, -1));
    if (i + 1 == k) break;
    const Tensor next = narrow(vectors, -1, i + 1, 1), next_factor = narrow(inverse, -1, i + 1, 1);
    narrow(next, -2, i + 1, m - i - 1);
    reflect_left(i + 1, next, next_factor);
    reflect_right(i, vector, t);
  }
  Tensor out = of_input;
  return {tril_(out, -1), of_tau};
}

Tensor lacking_gradient(const std::vector<Tensor>&, const char* name) {
  throw NotImplemented("The embedded engine has no gradient of " + std::string(name) + " yet; the program can be run on stock PyTorch (--engine pytorch).");
}

}  // namespace peel::core::formulas
