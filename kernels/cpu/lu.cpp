// The factors of an LU factorisation, matrices from Cholesky factors and from reflectors.
#include <algorithm>

#include "kernels/cpu/dense.h"
#include "kernels/cpu/matrices.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

Tensor nothing_yet(ScalarType t) { return ops::empty_memory_format::call(SizeVector{0}, t, Layout::Strided, Device()); }
// An empty result gets the shape and becomes column-major, by stock's calls.
void shape_by_columns(Tensor& out, Sizes shape) {
  SizeVector turned(shape.begin(), shape.end());
  std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
  ops::resize_::call(out, turned);
  ops::transpose_::call(out, -2, -1);
}

struct Factors {
  SizeVector p, l, u;
};
Factors factors_of(Sizes shape, bool data, bool pivots) {
  const Sizes batch = shape.first(shape.size() - 2);
  const int64_t m = shape[shape.size() - 2], n = shape.back(), k = std::min(m, n);
  const SizeVector none{0};
  return {pivots ? with_batch(batch, {m, m}) : none, data ? with_batch(batch, {m, k}) : none, data ? with_batch(batch, {k, n}) : none};
}
Three made(const Factors& f, const Tensor& like) {
  const auto one = [&like](Sizes s) { return empty(s, like.dtype(), like.device()); };
  return {one(f.p), one(f.l), one(f.u)};
}

void unpack(const Tensor& lu, const Tensor& pivots, bool unpack_data, bool unpack_pivots, Tensor& P, Tensor& L, Tensor& U) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  const auto ones_on_diagonal = [&L] {
    Tensor diagonal = ops::diagonal::call(L, 0, -2, -1);
    ops::fill__Scalar::call(diagonal, 1.0);
  };
  if (unpack_data && (m > n || lu.is_same(L))) {
    ops::triu_out::call(m == n ? lu : ops::narrow::call(lu, -2, 0, k), 0, U);
    ops::tril_out::call(lu, -1, L);
    ones_on_diagonal();
  } else if (unpack_data) {
    ops::tril_out::call(m == n ? lu : ops::narrow::call(lu, -1, 0, k), -1, L);
    ones_on_diagonal();
    ops::triu_out::call(lu, 0, U);
  }
  if (!unpack_pivots) return;
  const Tensor rows = ops::arange::call(m, ScalarType::Long, Layout::Strided, pivots.device(), {});
  const Tensor wide = ops::expand::call(rows, P.sizes().first(P.sizes().size() - 1));
  const Tensor order = wide.is_contiguous() ? wide : ops::contiguous::call(wide), places = empty(pivots.sizes(), ScalarType::Int);
  copy_elements(places, pivots);
  for (int64_t b = 0; b < element_count(batch_of(P)); ++b) {
    int64_t* row = order.data_as<int64_t>() + b * m;
    for (int64_t i = 0; i < k; ++i) std::swap(row[i], row[places.data_as<int32_t>()[b * k + i] - 1]);
  }
  ops::zero_::call(P);
  ops::scatter__value::call(P, -2, ops::unsqueeze::call(order, -2), 1.0);
}

void check_packed(const Tensor& lu, const Tensor& pivots) {
  if (pivots.dtype() != ScalarType::Int) {
    throw Error("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is intended to be used with the output produced by torch.linalg.lu_factor");
  }
  need_matrices(lu, "torch.lu_unpack");
}

}  // namespace

Three lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots) {
  if (unpack_pivots) check_packed(LU_data, LU_pivots);
  auto [P, L, U] = made(factors_of(LU_data.sizes(), unpack_data, unpack_pivots), LU_data);
  unpack(LU_data, LU_pivots, unpack_data, unpack_pivots, P, L, U);
  return {P, L, U};
}
std::tuple<Tensor&, Tensor&, Tensor&> lu_unpack_out(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots, Tensor& P, Tensor& L, Tensor& U) {
  if (unpack_pivots) check_packed(LU_data, LU_pivots);
  const Factors f = factors_of(LU_data.sizes(), unpack_data, unpack_pivots);
  Target p(P, f.p, contiguous_strides(f.p)), l(L, f.l, contiguous_strides(f.l)), u(U, f.u, contiguous_strides(f.u));
  unpack(LU_data, LU_pivots, unpack_data, unpack_pivots, p.tensor(), l.tensor(), u.tensor());
  for (Target* t : {&p, &l, &u}) t->finish();
  return {P, L, U};
}
Three linalg_lu(const Tensor& A, bool pivot) {
  need_matrices(A, "linalg.lu");
  need_floating(A, "linalg.lu");
  auto [P, L, U] = made(factors_of(A.sizes(), true, pivot), A);
  if (A.numel() == 0) {
    ops::zero_::call(L);
    ops::zero_::call(U);
    Tensor diagonal = ops::diagonal::call(pivot ? P : L, 0, -2, -1);
    if (pivot) ops::zero_::call(P);
    ops::fill__Scalar::call(diagonal, 1.0);
    return {P, L, U};
  }
  Tensor pivots = nothing_yet(ScalarType::Int), info = nothing_yet(ScalarType::Int);
  Tensor& both = A.size(-2) > A.size(-1) ? L : U;  // whichever has the shape
  ops::linalg_lu_factor_ex_out::call(A, pivot, false, both, pivots, info);
  ops::lu_unpack_out::call(both, pivots, true, pivot, P, L, U);
  return {P, L, U};
}
Three _lu_with_info(const Tensor& self, bool pivot, bool) { return ops::linalg_lu_factor_ex::call(self, pivot, false); }
Tensor lu_solve(const Tensor& self, const Tensor& LU_data, const Tensor& LU_pivots) { return ops::linalg_lu_solve::call(LU_data, LU_pivots, self, true, false); }

Tensor cholesky_inverse(const Tensor& self, bool upper) {
  need_square(self, "cholesky_inverse");
  Tensor out = nothing_yet(self.dtype());
  return ops::cholesky_inverse_out::call(self, upper, out);
}
Tensor& cholesky_inverse_out(const Tensor& self, bool upper, Tensor& out) {
  need_square(self, "cholesky_inverse");
  Tensor info = ops::zeros::call(SizeVector{std::max<int64_t>(1, element_count(batch_of(self)))}, ScalarType::Int, Layout::Strided, self.device(), {});
  ops::mT::call(self);
  shape_by_columns(out, self.sizes());
  ops::mT::call(out);
  ops::copy_::call(out, self);
  ops::fill__Scalar::call(info, 0);
  const int64_t n = self.size(-1);
  with_real(self.dtype(), "cholesky_inverse_out_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < element_count(batch_of(self)); ++i) {
      dense::Doubles<T> a(out.data_as<T>() + i * n * n, n * n);
      std::vector<double> x(static_cast<size_t>(n * n));
      for (int64_t d = 0; d < n; ++d) x[static_cast<size_t>(d * n + d)] = 1;
      dense::triangular_solve(true, upper, upper, false, static_cast<int>(n), static_cast<int>(n), a.data(), x.data());
      dense::triangular_solve(true, upper, !upper, false, static_cast<int>(n), static_cast<int>(n), a.data(), x.data());
      std::ranges::copy(x, a.data());
    }
  });
  ops::_linalg_check_errors::call(info, "cholesky_inverse", self.dim() == 2);
  return out;
}

Two geqrf(const Tensor& self) {
  need_matrices(self, "torch.geqrf");
  Tensor a = nothing_yet(self.dtype()), tau = nothing_yet(self.dtype());
  ops::geqrf_a::call(self, a, tau);
  return {a, tau};
}
std::tuple<Tensor&, Tensor&> geqrf_out(const Tensor& self, Tensor& a, Tensor& tau) {
  need_matrices(self, "torch.geqrf");
  const int64_t m = self.size(-2), n = self.size(-1), k = std::min(m, n);
  const Tensor turned = ops::mT::call(self);
  ops::resize_as_::call(a, turned, MemoryFormat::Contiguous);
  ops::transpose_::call(a, -2, -1);
  ops::resize_::call(tau, with_batch(batch_of(self), {k}));
  ops::mT::call(a);
  ops::copy_::call(a, self);
  nothing_yet(self.dtype());
  with_real(self.dtype(), "geqrf_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < element_count(batch_of(self)); ++i) {
      dense::Doubles<T> x(a.data_as<T>() + i * m * n, m * n), t(tau.data_as<T>() + i * k, k);
      dense::qr(static_cast<int>(m), static_cast<int>(n), x.data(), t.data());
    }
  });
  return {a, tau};
}
Tensor linalg_householder_product(const Tensor& input, const Tensor& tau) {
  need_matrices(input, "torch.linalg.householder_product");
  Tensor out = nothing_yet(input.dtype());
  return ops::linalg_householder_product_out::call(input, tau, out);
}
Tensor& linalg_householder_product_out(const Tensor& input, const Tensor& tau, Tensor& out) {
  need_matrices(input, "torch.linalg.householder_product");
  const int64_t m = input.size(-2), n = input.size(-1), k = tau.size(-1);
  if (m < n) throw Error("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]");
  if (n < k) throw Error("torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]");
  ops::mT::call(input);
  shape_by_columns(out, input.sizes());
  ops::mT::call(out);
  ops::copy_::call(out, input);
  nothing_yet(input.dtype());
  const Tensor factors = made_contiguous(tau);
  with_real(input.dtype(), "orgqr_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < element_count(batch_of(input)); ++i) {
      dense::Doubles<T> x(out.data_as<T>() + i * m * n, m * n), t(factors.data_as<T>() + i * k, k);
      dense::qr_vectors(static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), x.data(), t.data());
    }
  });
  return out;
}

}  // namespace peel::kernels
