// Factorisations of matrices, and systems solved with them.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "kernels/cpu/dense.h"
#include "kernels/cpu/matrices.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

int number(int64_t n) { return static_cast<int>(n); }
// The i-th of a batch of `n` numbers each.
template <class T>
dense::Doubles<T> doubles(const Tensor& t, int64_t i, int64_t n) {
  return {t.data_as<T>() + i * n, n};
}
int64_t count_of(Sizes batch) { return element_count(batch); }

Tensor by_columns(Sizes shape, const Tensor& like) { return empty_strided(shape, column_major(shape), like.dtype(), like.device()); }

// A batch of matrices as often as `batch` says, column-major.
Tensor repeated(const Tensor& t, Sizes batch) {
  if (std::ranges::equal(batch_of(t), batch)) return t;
  const SizeVector shape = with_batch(batch, {t.size(-2), t.size(-1)});
  const Geometry g = core::expand(t.sizes(), t.strides(), shape);
  const Tensor out = by_columns(shape, t);
  copy_elements(out, view_of(t, g.sizes, g.strides, t.storage_offset()));
  return out;
}

void factor(const Tensor& lu, const Tensor& pivots, const Tensor& info) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  with_real(lu.dtype(), "linalg_lu_factor", [&]<class T>(T) {
    for (int64_t i = 0; i < count_of(batch_of(lu)); ++i) {
      auto a = doubles<T>(lu, i, m * n);
      info.data_as<int32_t>()[i] = dense::lu(number(m), number(n), a.data(), pivots.data_as<int32_t>() + i * k);
    }
  });
}

void lu_factor_into(const Tensor& A, bool pivot, bool check, const Tensor& lu, const Tensor& pivots, const Tensor& info) {
  if (!pivot) throw Error("linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  if (lu.numel() == 0) {
    std::fill_n(info.data_as<int32_t>(), info.numel(), 0);
    return;
  }
  if (!lu.is_same(A)) {
    Tensor to = lu;
    ops::copy_::call(to, A);
  }
  factor(lu, pivots, info);
  if (check) ops::_linalg_check_errors::call(info, "torch.linalg.lu_factor_ex", A.dim() == 2);
}

bool vector_side(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (A.dim() - 1 == B.dim() && std::ranges::equal(B.sizes(), A.sizes().first(A.sizes().size() - 1)));
}

struct System {
  SizeVector result, result_strides;
  bool vector = false;
};
// Shapes of AX = B, or of XA = B; the calls of stock's shape function.
System system_of(const Tensor& A, const Tensor& B, bool left) {
  need_square(A, "linalg.solve");
  need_floating(A, "linalg.solve");
  if (A.dtype() != B.dtype()) {
    throw Error(std::string("linalg.solve: Expected A and B to have the same dtype, but found A of type ") + to_string(A.dtype()) + " and B of type " + to_string(B.dtype()) + " instead");
  }
  System s;
  s.vector = vector_side(A, B);
  const Tensor b = s.vector ? ops::unsqueeze::call(B, -1) : B;
  if (s.vector && !left) {
    throw Error("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)");
  }
  need_matrices(b, "linalg.solve");
  if (A.size(-2) != b.size(left ? -2 : -1)) {
    throw Error("linalg.solve: Incompatible shapes of A and B for the equation " + std::string(left ? "AX = B" : "XA = B") + " (" + std::to_string(A.size(-2)) + "x" +
                std::to_string(A.size(-1)) + " and " + std::to_string(b.size(-2)) + "x" + std::to_string(b.size(-1)) + ")");
  }
  const SizeVector batch = broadcast(batch_of(A), batch_of(b));
  if (s.vector) {
    s.result = with_batch(batch, {b.size(-2)});
    s.result_strides = contiguous_strides(s.result);
  } else {
    s.result = with_batch(batch, {b.size(-2), b.size(-1)});
    s.result_strides = left ? column_major(s.result) : contiguous_strides(s.result);
  }
  return s;
}

void solve_into(const Tensor& A, const Tensor& B, bool left, bool check, const System& s, Tensor& result, Tensor& lu, Tensor& pivots, Tensor& info) {
  ops::linalg_lu_factor_ex_out::call(A, true, false, lu, pivots, info);
  if (check) ops::_linalg_check_errors::call(info, "torch.linalg.solve_ex", A.dim() == 2);
  Tensor x = s.vector ? ops::unsqueeze::call(result, -1) : result;
  const Tensor b = s.vector ? ops::unsqueeze::call(B, -1) : B;
  ops::linalg_lu_solve_out::call(lu, pivots, b, left, false, x);
}
SizeVector pivots_shape(const Tensor& A) { return with_batch(batch_of(A), {std::min(A.size(-2), A.size(-1))}); }

}  // namespace

Three linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  need_matrices(A, "torch.lu_factor");
  const Tensor lu = by_columns(A.sizes(), A), pivots = empty(pivots_shape(A), ScalarType::Int), info = empty(batch_of(A), ScalarType::Int);
  lu_factor_into(A, pivot, check_errors, lu, pivots, info);
  return {lu, pivots, info};
}
std::tuple<Tensor&, Tensor&, Tensor&> linalg_lu_factor_ex_out(const Tensor& A, bool pivot, bool check_errors, Tensor& LU, Tensor& pivots, Tensor& info) {
  need_matrices(A, "torch.lu_factor");
  const SizeVector places = pivots_shape(A);
  Target lu(LU, A.sizes(), column_major(A.sizes())), p(pivots, places, contiguous_strides(places)), i(info, batch_of(A), contiguous_strides(batch_of(A)));
  lu_factor_into(A, pivot, check_errors, lu.tensor(), p.tensor(), i.tensor());
  lu.finish();
  p.finish();
  i.finish();
  return {LU, pivots, info};
}

Tensor& linalg_lu_solve_out(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint, Tensor& out) {
  need_square(LU, "torch.linalg.lu_solve");
  if (pivots.dtype() != ScalarType::Int) throw Error("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
  if (LU.size(-2) != B.size(left ? -2 : -1)) {
    throw Error("linalg.lu_solve: Incompatible shapes of A and B for the equation " + std::string(left ? "AX = B" : "XA = B") + " (" + std::to_string(LU.size(-2)) + "x" +
                std::to_string(LU.size(-1)) + " and " + std::to_string(B.size(-2)) + "x" + std::to_string(B.size(-1)) + ")");
  }
  const SizeVector batch = broadcast(batch_of(LU), batch_of(B)), shape = with_batch(batch, {B.size(-2), B.size(-1)});
  Target target(out, shape, left ? column_major(shape) : contiguous_strides(shape));
  Tensor& x = target.tensor();
  if (x.numel() == 0) return out;
  if (!left) {  // of the transposed system
    adjoint = !adjoint;
    ops::transpose_::call(x, -2, -1);
  }
  if (!x.is_same(B)) ops::copy_::call(x, left ? B : ops::mH::call(B));
  const Tensor lu = repeated(ops::mT::call(LU).is_contiguous() ? LU : cloned_by_columns(LU), batch);
  const int64_t n = lu.size(-1), columns = x.size(-1);
  const bool starts = ops::item::call(ops::all::call(ops::gt_Scalar::call(pivots, 0))).value.to_bool();
  if (!starts || !ops::item::call(ops::all::call(ops::le_Scalar::call(pivots, n))).value.to_bool()) {
    throw Error("Pivots given to lu_solve must all be greater or equal to 1 and smaller or equal to LU.size(-2). Did you properly pass the result of lu_factor?");
  }
  const Tensor places = empty(with_batch(batch, {n}), ScalarType::Int);
  const Geometry g = core::expand(pivots.sizes(), pivots.strides(), places.sizes());
  copy_elements(places, view_of(pivots, g.sizes, g.strides, pivots.storage_offset()));
  with_real(lu.dtype(), "lu_solve_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < count_of(batch); ++i) {
      auto a = doubles<T>(lu, i, n * n), b = doubles<T>(x, i, n * columns);
      dense::lu_solve(adjoint, number(n), number(columns), a.data(), places.data_as<int32_t>() + i * n, b.data());
    }
  });
  if (!left) ops::transpose_::call(x, -2, -1);
  target.finish();
  return out;
}
Tensor linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  Tensor out = empty(SizeVector{0}, B.dtype(), B.device());
  if (LU.dim() >= 2 && B.dim() >= 2) {
    const SizeVector shape = with_batch(broadcast(batch_of(LU), batch_of(B)), {B.size(-2), B.size(-1)});
    out = empty_strided(shape, left ? column_major(shape) : contiguous_strides(shape), B.dtype(), B.device());
  }
  return linalg_lu_solve_out(LU, pivots, B, left, adjoint, out);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  const System s = system_of(A, B, left);
  Tensor result = empty_strided(s.result, s.result_strides, A.dtype(), A.device()), lu = by_columns(A.sizes(), A);
  Tensor pivots = empty(pivots_shape(A), ScalarType::Int), info = empty(batch_of(A), ScalarType::Int);
  solve_into(A, B, left, check_errors, s, result, lu, pivots, info);
  return {result, lu, pivots, info};
}
std::tuple<Tensor&, Tensor&, Tensor&, Tensor&> _linalg_solve_ex_out(const Tensor& A, const Tensor& B, bool left, bool check_errors, Tensor& result, Tensor& LU, Tensor& pivots,
                                                                    Tensor& info) {
  const System s = system_of(A, B, left);
  const SizeVector places = pivots_shape(A);
  Target r(result, s.result, s.result_strides), lu(LU, A.sizes(), column_major(A.sizes()));
  Target p(pivots, places, contiguous_strides(places)), i(info, batch_of(A), contiguous_strides(batch_of(A)));
  solve_into(A, B, left, check_errors, s, r.tensor(), lu.tensor(), p.tensor(), i.tensor());
  for (Target* t : {&r, &lu, &p, &i}) t->finish();
  return {result, LU, pivots, info};
}

namespace {

void invert_into(const Tensor& A, bool check, Tensor& inverse, Tensor& info) {
  ops::zero_::call(inverse);
  Tensor diagonal = ops::diagonal::call(inverse, 0, -2, -1);
  ops::fill__Scalar::call(diagonal, 1.0);
  ops::linalg_solve_ex_out::call(A, inverse, true, false, inverse, info);
  if (check) ops::_linalg_check_errors::call(info, "linalg.inv_ex", A.dim() == 2);
}

}  // namespace

Two linalg_inv_ex(const Tensor& A, bool check_errors) {
  need_square(A, "linalg.inv");
  need_floating(A, "linalg.inv");
  Tensor inverse = by_columns(A.sizes(), A), info = empty(batch_of(A), ScalarType::Int);
  invert_into(A, check_errors, inverse, info);
  return {inverse, info};
}
std::tuple<Tensor&, Tensor&> linalg_inv_ex_out(const Tensor& A, bool check_errors, Tensor& inverse, Tensor& info) {
  need_square(A, "linalg.inv");
  need_floating(A, "linalg.inv");
  Target r(inverse, A.sizes(), column_major(A.sizes())), i(info, batch_of(A), contiguous_strides(batch_of(A)));
  invert_into(A, check_errors, r.tensor(), i.tensor());
  r.finish();
  i.finish();
  return {inverse, info};
}

namespace {

// The sign of the permutation that the pivots tell.
Tensor sign_of(const Tensor& pivots) {
  const Tensor places = ops::arange_start::call(1, pivots.size(-1) + 1, ScalarType::Int, Layout::Strided, pivots.device(), {});
  Tensor out = ops::sum_dim_IntList::call(ops::ne_Tensor::call(places, pivots), SizeVector{-1}, false, ScalarType::Long);
  ops::fmod__Scalar::call(out, 2);
  ops::mul__Scalar::call(out, -2);
  return ops::add__Scalar::call(out, 1, 1);
}
struct Factored {
  Tensor lu, pivots;
};
Factored factored(const Tensor& A, const char* name) {
  need_square(A, name);
  need_floating(A, name);
  Factored f{by_columns(A.sizes(), A), empty(pivots_shape(A), ScalarType::Int)};
  Tensor info = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Int, Layout::Strided, A.device());
  ops::linalg_lu_factor_ex_out::call(A.is_contiguous() ? ops::mH::call(A) : A, true, false, f.lu, f.pivots, info);
  return f;
}

}  // namespace

Three _linalg_det(const Tensor& A) {
  Tensor result = empty(A.dim() >= 2 ? batch_of(A) : Sizes(), A.dtype(), A.device());
  const auto [lu, pivots] = factored(A, "linalg.det");
  const Tensor product = ops::prod_dim_int::call(ops::diagonal::call(lu, 0, -2, -1), -1, false, {});
  ops::mul_out::call(sign_of(pivots), product, result);
  return {result, lu, pivots};
}
std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A) {
  Tensor sign = empty(A.dim() >= 2 ? batch_of(A) : Sizes(), A.dtype(), A.device()), size = empty(sign.sizes(), A.dtype(), A.device());
  const auto [lu, pivots] = factored(A, "linalg.slogdet");
  const Tensor diagonal = ops::diagonal::call(lu, 0, -2, -1), permuted = sign_of(pivots);
  ops::mul_out::call(ops::prod_dim_int::call(ops::sgn::call(diagonal), -1, false, {}), permuted, sign);
  Tensor logs = ops::abs::call(diagonal);
  ops::log_::call(logs);
  ops::sum_IntList_out::call(logs, SizeVector{-1}, false, {}, size);
  return {sign, size, lu, pivots};
}

Two linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  need_square(self, "linalg.cholesky");
  need_floating(self, "linalg.cholesky");
  Tensor out = by_columns(self.sizes(), self);
  const Tensor info = empty(batch_of(self), ScalarType::Int);
  std::fill_n(info.data_as<int32_t>(), info.numel(), 0);
  if (out.numel() == 0) return {out, info};
  if (upper) ops::triu_out::call(self, 0, out);
  else ops::tril_out::call(self, 0, out);
  const int64_t n = self.size(-1);
  with_real(self.dtype(), "cholesky_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < info.numel(); ++i) {
      auto a = doubles<T>(out, i, n * n);
      info.data_as<int32_t>()[i] = dense::cholesky(upper, number(n), a.data());
    }
  });
  if (check_errors) ops::_linalg_check_errors::call(info, "linalg.cholesky_ex", self.dim() == 2);
  return {out, info};
}
Tensor cholesky(const Tensor& self, bool upper) {
  if (self.numel() == 0) return ops::empty_like::call(self);
  need_square(self, "cholesky");
  Tensor out = cloned_by_columns(self);
  const Tensor info = ops::empty_memory_format::call(batch_of(self), ScalarType::Int, Layout::Strided, self.device());
  const int64_t n = self.size(-1);
  with_real(self.dtype(), "cholesky_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < info.numel(); ++i) {
      auto a = doubles<T>(out, i, n * n);
      info.data_as<int32_t>()[i] = dense::cholesky(upper, number(n), a.data());
    }
  });
  ops::_linalg_check_errors::call(info, "cholesky", self.dim() == 2);
  return upper ? ops::triu_::call(out, 0) : ops::tril_::call(out, 0);
}
Tensor _cholesky_solve_helper(const Tensor& self, const Tensor& A, bool upper) {
  Tensor out = cloned_by_columns(self);
  const Tensor a = cloned_by_columns(A);
  const Tensor info = ops::zeros::call(SizeVector{std::max<int64_t>(1, count_of(batch_of(self)))}, ScalarType::Int, Layout::Strided, self.device());
  const int64_t n = a.size(-1), columns = out.size(-1);
  with_real(self.dtype(), "cholesky_solve_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < count_of(batch_of(self)); ++i) {
      auto l = doubles<T>(a, i, n * n), x = doubles<T>(out, i, n * columns);
      dense::triangular_solve(true, upper, upper, false, number(n), number(columns), l.data(), x.data());
      dense::triangular_solve(true, upper, !upper, false, number(n), number(columns), l.data(), x.data());
    }
  });
  ops::_linalg_check_errors::call(info, "cholesky_solve_cpu", self.dim() == 2);
  return out;
}
Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) {
  if (self.dim() < 2) throw Error("b should have at least 2 dimensions, but has " + std::to_string(self.dim()) + " dimensions instead");
  if (input2.dim() < 2) throw Error("u should have at least 2 dimensions, but has " + std::to_string(input2.dim()) + " dimensions instead");
  if (std::ranges::equal(batch_of(self), batch_of(input2))) return ops::_cholesky_solve_helper::call(self, input2, upper);
  const SizeVector batch = broadcast(batch_of(self), batch_of(input2));
  const Tensor b = ops::expand::call(self, with_batch(batch, {self.size(-2), self.size(-1)}));
  return ops::_cholesky_solve_helper::call(b, ops::expand::call(input2, with_batch(batch, {input2.size(-2), input2.size(-1)})), upper);
}

Two linalg_qr(const Tensor& A, std::string_view mode) {
  need_matrices(A, "linalg.qr");
  need_floating(A, "linalg.qr");
  const bool reduced = mode == "reduced", complete = mode == "complete";
  if (!reduced && !complete && mode != "r") {
    throw Error("qr received unrecognized mode '" + std::string(mode) + "' but expected one of 'reduced' (default), 'r', or 'complete'");
  }
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n), count = count_of(batch_of(A));
  const bool wants_q = mode != "r";
  Tensor Q = wants_q ? by_columns(with_batch(batch_of(A), {m, reduced ? k : m}), A) : empty(SizeVector{0}, A.dtype(), A.device());
  Tensor R = by_columns(with_batch(batch_of(A), {complete ? m : k, n}), A);
  if (A.numel() == 0) {
    if (complete && Q.numel() > 0) {
      ops::zero_::call(Q);
      Tensor diagonal = ops::diagonal::call(Q, 0, -2, -1);
      ops::fill__Scalar::call(diagonal, 1.0);
    }
    return {Q, R};
  }
  const Tensor tau = ops::new_empty::call(A, with_batch(batch_of(A), {k}));
  // Where the reflectors are made: in Q when it has the shape, else in R, else in memory of their own.
  const bool in_q = wants_q && std::ranges::equal(Q.sizes(), A.sizes()), in_r = !in_q && std::ranges::equal(R.sizes(), A.sizes());
  Tensor work = in_q ? Q : in_r ? R : cloned_by_columns(A);
  if (in_q || in_r) ops::copy_::call(work, A);
  const auto workspace = [&](int64_t columns) { ops::empty_memory_format::call(SizeVector{columns + 1}, A.dtype(), Layout::Strided, A.device()); };
  workspace(n);
  with_real(A.dtype(), "geqrf_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < count; ++i) {
      auto a = doubles<T>(work, i, m * n), t = doubles<T>(tau, i, k);
      dense::qr(number(m), number(n), a.data(), t.data());
    }
  });
  if (in_r) {
    if (wants_q) {
      Tensor to = Q.size(-1) > n ? ops::slice_Tensor::call(Q, -1, 0, n, 1) : Q;
      ops::copy_::call(to, Q.size(-1) > n ? R : ops::slice_Tensor::call(R, -1, 0, Q.size(-1), 1));
    }
    ops::triu_::call(R, 0);
  } else {
    ops::triu_out::call(ops::slice_Tensor::call(work, -2, 0, n, 1), 0, R);
  }
  if (!wants_q) return {Q, R};
  workspace(Q.size(-1));
  with_real(A.dtype(), "orgqr_cpu", [&]<class T>(T) {
    const int64_t columns = Q.size(-1);
    for (int64_t i = 0; i < count; ++i) {
      auto a = doubles<T>(Q, i, m * columns), t = doubles<T>(tau, i, k);
      dense::qr_vectors(number(m), number(columns), number(k), a.data(), t.data());
    }
  });
  return {Q, R};
}

Two _linalg_eigh(const Tensor& A, std::string_view UPLO, bool compute_v) {
  need_square(A, "linalg.eigh");
  need_floating(A, "linalg.eigh");
  if (UPLO.size() != 1 || std::string_view("LUlu").find(UPLO[0]) == std::string_view::npos) {
    throw Error("Expected UPLO argument to be 'L' or 'U', but got " + std::string(UPLO));
  }
  const int64_t n = A.size(-1);
  const Tensor values = empty(with_batch(batch_of(A), {n}), A.dtype(), A.device());
  Tensor vectors = compute_v ? by_columns(A.sizes(), A) : empty(SizeVector{0}, A.dtype(), A.device());
  if (A.numel() == 0) return {values, vectors};
  Tensor work = vectors;
  if (compute_v) ops::copy_::call(vectors, A);
  else work = cloned_by_columns(A);
  const Tensor info = ops::zeros::call(batch_of(A), ScalarType::Int, Layout::Strided, A.device());
  ops::empty_memory_format::call(SizeVector{compute_v ? 1 + 6 * n + 2 * n * n : 2 * n + 1}, A.dtype(), Layout::Strided, A.device());
  ops::empty_memory_format::call(SizeVector{compute_v ? 3 + 5 * n : 1}, ScalarType::Int, Layout::Strided, A.device());
  with_real(A.dtype(), "linalg_eigh_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < info.numel(); ++i) {
      auto a = doubles<T>(work, i, n * n), w = doubles<T>(values, i, n);
      info.data_as<int32_t>()[i] = dense::eigen(compute_v, std::toupper(UPLO[0]) == 'U', number(n), a.data(), w.data());
    }
  });
  ops::_linalg_check_errors::call(info, "linalg.eigh", A.dim() == 2);
  return {values, vectors};
}

Three _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv, std::optional<std::string_view> driver) {
  need_matrices(A, "linalg.svd");
  need_floating(A, "linalg.svd");
  if (driver) throw Error("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const auto made = [&](int64_t rows, int64_t columns) { return compute_uv ? by_columns(with_batch(batch_of(A), {rows, columns}), A) : empty(SizeVector{0}, A.dtype(), A.device()); };
  const Tensor U = made(m, full_matrices ? m : k), S = empty(with_batch(batch_of(A), {k}), A.dtype(), A.device()), Vh = made(full_matrices ? n : k, n);
  if (S.numel() == 0) {
    for (const Tensor& side : {U, Vh}) {
      if (!compute_uv || side.numel() == 0) continue;
      Tensor t = side;
      ops::zero_::call(t);
      Tensor diagonal = ops::diagonal::call(t, 0, -2, -1);
      ops::fill__Scalar::call(diagonal, 1.0);
    }
    return {U, S, Vh};
  }
  const Tensor info = ops::zeros::call(batch_of(A), ScalarType::Int, Layout::Strided, A.device());
  const Tensor work = cloned_by_columns(A);
  with_real(A.dtype(), "linalg_svd_cpu", [&]<class T>(T) {
    const int64_t rows = full_matrices ? n : k, columns = full_matrices ? m : k;
    for (int64_t i = 0; i < info.numel(); ++i) {
      auto a = doubles<T>(work, i, m * n), sizes = doubles<T>(S, i, k), u = doubles<T>(U, i, compute_uv ? m * columns : 0), v = doubles<T>(Vh, i, compute_uv ? rows * n : 0);
      const bool finite = std::all_of(a.data(), a.data() + m * n, [](double x) { return std::isfinite(x); });
      info.data_as<int32_t>()[i] = !finite ? -4
                                           : dense::singular(number(m), number(n), a.data(), sizes.data(), compute_uv ? u.data() : nullptr, number(columns), v.data(), number(rows));
    }
  });
  ops::_linalg_check_errors::call(info, "linalg.svd", A.dim() == 2);
  return {U, S, Vh};
}

Tensor& linalg_solve_triangular_out(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular, Tensor& out) {
  need_square(self, "linalg.solve_triangular");
  need_matrices(B, "linalg.solve_triangular");
  if (self.dtype() != B.dtype()) {
    throw Error(std::string("linalg.solve_triangular: Expected A and B to have the same dtype, but found A of type ") + to_string(self.dtype()) + " and B of type " +
                to_string(B.dtype()) + " instead");
  }
  if (self.size(-2) != B.size(left ? -2 : -1)) {
    throw Error("linalg.solve_triangular: Incompatible shapes of A and B for the equation " + std::string(left ? "AX = B" : "XA = B") + " (" + std::to_string(self.size(-2)) + "x" +
                std::to_string(self.size(-1)) + " and " + std::to_string(B.size(-2)) + "x" + std::to_string(B.size(-1)) + ")");
  }
  const SizeVector batch = broadcast(batch_of(self), batch_of(B)), shape = with_batch(batch, {B.size(-2), B.size(-1)});
  ops::transpose_int::call(self, -2, -1);
  if (!std::ranges::equal(out.sizes(), shape)) {
    ops::transpose_int::call(B, -2, -1);
    ops::resize_::call(out, with_batch(batch, {B.size(-1), B.size(-2)}), MemoryFormat::Contiguous);
    ops::transpose_::call(out, -2, -1);
  }
  if (out.numel() == 0) return out;
  Tensor x = out;
  if (out.is_contiguous() || ops::transpose_int::call(out, -2, -1).is_contiguous()) {
    ops::copy_::call(out, B);
  } else if (std::ranges::equal(B.sizes(), shape)) {
    x = cloned_by_columns(B);
  } else {
    x = by_columns(shape, B);
    ops::copy_::call(x, B);
  }
  // A row-major matrix is its transpose by columns.
  const bool rows = self.is_contiguous();
  Tensor a = self;
  if (!rows && !ops::transpose_int::call(self, -2, -1).is_contiguous()) a = cloned_by_columns(self);
  if (!std::ranges::equal(batch_of(a), batch)) {
    const SizeVector wide = with_batch(batch, {a.size(-2), a.size(-1)});
    const Geometry g = core::expand(a.sizes(), a.strides(), wide);
    const Tensor repeated_a = empty_strided(wide, rows ? contiguous_strides(wide) : column_major(wide), a.dtype());
    copy_elements(repeated_a, view_of(a, g.sizes, g.strides, a.storage_offset()));
    a = repeated_a;
  }
  // A result by rows is solved for as its transpose: X'A' = B'.
  const bool turned = x.strides().back() == 1;
  if (turned) ops::transpose_::call(x, -2, -1);
  const int64_t n = a.size(-1), m = x.size(-2), columns = x.size(-1);
  with_real(self.dtype(), "triangular_solve_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < count_of(batch); ++i) {
      auto t = doubles<T>(a, i, n * n), b = doubles<T>(x, i, m * columns);
      dense::triangular_solve(left != turned, upper != rows, rows != turned, unitriangular, number(m), number(columns), t.data(), b.data());
    }
  });
  if (turned) ops::transpose_::call(x, -2, -1);
  if (!x.is_same(out)) ops::copy_::call(out, x);
  return out;
}
Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device());
  return linalg_solve_triangular_out(self, B, upper, left, unitriangular, out);
}

}  // namespace peel::kernels
