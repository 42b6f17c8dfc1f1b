// Gradients of factorisations and of what is solved with them.
#include <algorithm>
#include <limits>

#include "core/autograd/formulas.h"
#include "core/dispatch/error.h"

namespace peel::core::formulas {
namespace {

double epsilon(ScalarType t) { return t == ScalarType::Double ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon(); }

// A - A^H.
Tensor skew(const Tensor& a) {
  const Tensor h = mH(a);
  return sub(a, h);
}

}  // namespace

std::tuple<Tensor, Tensor> solve_backward(const Tensor& grad, const Tensor& result, const Tensor& A, const Tensor& lu, const Tensor& pivots, bool left, std::array<bool, 2> wanted) {
  const bool vector = grad.dim() < A.dim();
  const Tensor g = vector ? unsqueeze(grad, -1) : grad;
  const Tensor of_b = linalg_lu_solve(lu, pivots, g, left, true);
  Tensor of_a;
  if (wanted[0]) {
    const Tensor h = mH(vector ? unsqueeze(result, -1) : result);
    of_a = neg(left ? matmul(of_b, h) : matmul(h, of_b));
  }
  return {of_a, wanted[1] ? (vector ? squeeze(of_b, -1) : of_b) : Tensor()};
}

Tensor inverse_backward(const Tensor& grad, const Tensor& inverse) {
  const Tensor right = matmul(grad, mH(inverse));
  return neg(matmul(mH(inverse), right));
}

Tensor det_backward(const Tensor& grad, const Tensor& det, const Tensor& A, const Tensor& lu, const Tensor& pivots) {
  const Tensor slope = diag_embed(expand_as(unsqueeze(mul(grad, det), -1), pivots));
  const Tensor d = mT(slope);
  // What is exactly zero on the diagonal would end in NaN.
  const Tensor small = diag_embed(where(eq(diagonal(lu, 0, -2, -1), 0.0), epsilon(lu.dtype()), 0.0));
  return linalg_lu_solve(add(lu, small), pivots, d, true, !A.is_contiguous());
}
Tensor slogdet_backward(const Tensor& grad, const Tensor& A, const Tensor& lu, const Tensor& pivots) {
  if (!grad.defined()) return {};
  const Tensor d = mT(diag_embed(expand_as(unsqueeze(grad, -1), pivots)));
  return linalg_lu_solve(lu, pivots, d, true, !A.is_contiguous());
}

Tensor cholesky_backward(const Tensor& grad, const Tensor& result, bool upper) {
  const Tensor L = upper ? mH(result) : result, gL = upper ? mH(grad) : grad;
  const Tensor phi = tril(matmul(mH(L), gL));
  const Tensor below = tril(phi, -1);
  const Tensor whole = mul(add(phi, mH(below)), 0.5);
  const Tensor half = linalg_solve_triangular(mH(L), whole, true, true);
  return linalg_solve_triangular(L, half, false, false);
}

std::tuple<Tensor, Tensor> cholesky_solve_backward(const Tensor& grad, const Tensor& L, const Tensor& result, bool upper, std::array<bool, 2> wanted) {
  const Tensor of_b = cholesky_solve(grad, L, upper);
  if (!wanted[1]) return {of_b, {}};
  const Tensor one = matmul(of_b, mH(result));
  const Tensor both = add(one, mH(one));
  return {wanted[0] ? of_b : Tensor(), neg(upper ? matmul(L, both) : matmul(both, L))};
}

std::tuple<Tensor, Tensor> solve_triangular_backward(const Tensor& grad, const Tensor& A, const Tensor& X, bool upper, bool left, bool unitriangular, std::array<bool, 2> wanted) {
  const Tensor of_b = linalg_solve_triangular(mH(A), grad, !upper, left, unitriangular);
  Tensor of_a;
  if (wanted[0]) {
    const Tensor h = mH(X);
    of_a = neg(left ? matmul(of_b, h) : matmul(h, of_b));
    of_a = upper ? triu(of_a, unitriangular) : tril(of_a, -static_cast<int64_t>(unitriangular));
  }
  return {of_a, wanted[1] ? of_b : Tensor()};
}

Tensor qr_backward(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, std::string_view mode) {
  if (!gQ.defined() && !gR.defined()) return {};
  const int64_t m = Q.size(-2), n = R.size(-1);
  if (mode == "r") throw Error("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to require gradients.");
  if (mode == "complete" && m > n) {
    throw Error("The QR decomposition is not differentiable when mode='complete' and nrows > ncols");
  }
  if (m < n) {
    Tensor K;
    if (gQ.defined()) K = matmul(mH(Q), gQ);
    if (gR.defined()) {
      const Tensor r = matmul(gR, mH(R));
      K = neg(K.defined() ? sub(r, K) : r);
    }
    Tensor low = tril(sub(K, mH(K)));
    if (is_complex(low.dtype())) {
      Tensor half = diagonal(low, 0, -2, -1);
      mul_(half, 0.5);
    }
    low = matmul(Q, low);
    const Tensor square = linalg_solve_triangular(mH(narrow(R, -1, 0, m)), low, false, false);
    SizeVector sizes(square.sizes().begin(), square.sizes().end());
    sizes.back() = n - m;
    const Tensor parts[] = {square, new_zeros(square, sizes)};
    const Tensor whole = cat(parts, -1);
    return gR.defined() ? add(whole, matmul(Q, gR)) : whole;
  }
  Tensor g;
  if (gQ.defined()) g = matmul(mH(Q), gQ);
  if (gR.defined()) {
    const Tensor r = matmul(gR, mH(R));
    g = g.defined() ? sub(r, g) : r;
  } else {
    g = neg(g);
  }
  g = triu(g);
  g = add(g, mH(g));
  Tensor half = real(diagonal(g, 0, -2, -1));
  mul_(half, 0.5);
  g = matmul(Q, g);
  if (gQ.defined()) g = add(gQ, g);
  return linalg_solve_triangular(mH(R), g, false, false);
}

Tensor eigh_backward(const Tensor& gL, const Tensor& gV, const Tensor& L, const Tensor& V) {
  if (!gL.defined() && !gV.defined()) return {};
  if (!gV.defined()) {
    const Tensor h = mH(V);
    return matmul(mul(V, unsqueeze(gL, -2)), h);
  }
  const Tensor away = matmul(mH(V), gV);
  diagonal(away, 0, -2, -1);
  Tensor g = mul(sub(away, mH(away)), 0.5);
  const Tensor down = unsqueeze(L, -1);
  Tensor gaps = sub(unsqueeze(L, -2), down);
  Tensor ones_there = diagonal(gaps, 0, -2, -1);
  fill_(ones_there, 1.0);
  div_(g, gaps);
  if (gL.defined()) {
    Tensor at = diagonal(g, 0, -2, -1);
    copy_(at, gL);
  }
  const Tensor h = mH(V);
  return matmul(V, matmul(g, h));
}

Tensor svd_backward(const Tensor& grad_u, const Tensor& gS, const Tensor& grad_vh, const Tensor& all_u, const Tensor& S, const Tensor& all_vh) {
  if (!grad_u.defined() && !gS.defined() && !grad_vh.defined()) return {};
  const int64_t k = S.size(-1), m = all_u.size(-2), n = all_vh.size(-1);
  const auto left = [k](const Tensor& t) { return t.defined() && t.size(-1) > k ? narrow(t, -1, 0, k) : t; };
  const auto right = [k](const Tensor& t) { return t.defined() && t.size(-2) > k ? narrow(t, -2, 0, k) : t; };
  const Tensor gU = left(grad_u), gVh = right(grad_vh), U = left(all_u), Vh = right(all_vh);
  if (!gU.defined() && !gVh.defined()) {
    return m >= n ? matmul(U, mul(unsqueeze(gS, -1), Vh)) : matmul(mul(U, unsqueeze(gS, -2)), Vh);
  }
  const Tensor of_u = gU.defined() ? skew(matmul(mH(U), gU)) : Tensor();
  const Tensor of_v = gVh.defined() ? skew(matmul(Vh, mH(gVh))) : Tensor();
  const Tensor squares = mul(S, S), down = unsqueeze(squares, -1);
  Tensor gaps = sub(unsqueeze(squares, -2), down);
  Tensor diagonal_gaps = diagonal(gaps, 0, -2, -1);
  fill_(diagonal_gaps, 1);
  Tensor g;
  if (gU.defined() && gVh.defined()) {
    const Tensor v = mul(unsqueeze(S, -1), of_v);
    g = div(add(mul(of_u, unsqueeze(S, -2)), v), gaps);
  } else if (gU.defined()) {
    g = mul(div(of_u, gaps), unsqueeze(S, -2));
  } else {
    g = mul(unsqueeze(S, -1), div(of_v, gaps));
  }
  if (gS.defined()) g = add(g, diag_embed(gS));
  if (m > n && gU.defined()) {
    g = matmul(U, g);
    const Tensor outside = div(gU, unsqueeze(S, -2));
    const Tensor inside = matmul(U, matmul(mH(U), outside));
    return matmul(sub(add(g, outside), inside), Vh);
  }
  if (m < n && gVh.defined()) {
    g = matmul(g, Vh);
    const Tensor outside = div(gVh, unsqueeze(S, -1));
    const Tensor inside = matmul(matmul(outside, mH(Vh)), Vh);
    return matmul(U, sub(add(g, outside), inside));
  }
  return m >= n ? matmul(U, matmul(g, Vh)) : matmul(matmul(U, g), Vh);
}

Tensor pinv_backward(const Tensor& grad, const Tensor& inverse, const Tensor& A) {
  const Tensor inverse_h = mH(inverse), grad_h = mH(grad);
  if (A.size(-2) <= A.size(-1)) {
    const Tensor K = matmul(grad_h, inverse), Kh = matmul(K, inverse_h);
    const Tensor both = matmul(inverse_h, inverse), last = matmul(both, sub(grad_h, matmul(K, A)));
    const Tensor third = matmul(matmul(A, inverse), Kh);
    const Tensor first = neg(mH(matmul(inverse, K)));
    return add(sub(add(first, Kh), third), last);
  }
  const Tensor K = matmul(inverse, grad_h), hK = matmul(inverse_h, K);
  const Tensor last = matmul(matmul(hK, inverse), A);
  const Tensor second = matmul(matmul(sub(grad_h, matmul(A, K)), inverse), inverse_h);
  const Tensor first = neg(mH(matmul(K, inverse)));
  return sub(add(add(first, second), hK), last);
}

std::tuple<Tensor, Tensor> lstsq_backward(const Tensor& grad, const Tensor& A, const Tensor& B, std::array<bool, 2> wanted) {
  if (!grad.defined()) return {};
  const bool vector = B.dim() < A.dim();
  const Tensor g = vector ? unsqueeze(grad, -1) : grad, inverse = linalg_pinv(A, std::optional<Tensor>(), std::optional<Tensor>(), false);
  Tensor of_a, of_b;
  if (wanted[0]) of_a = pinv_backward(matmul(g, mH(vector ? unsqueeze(B, -1) : B)), inverse, A);
  if (wanted[1]) of_b = matmul(mH(inverse), g);
  return {of_a, vector && of_b.defined() ? squeeze(of_b, -1) : of_b};
}

}  // namespace peel::core::formulas
