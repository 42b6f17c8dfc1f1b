// torch.linalg, as far as it is made of other operators.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/autograd/forward.h"
#include "kernels/cpu/matrices.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

// Whether singular vectors will be asked for: by a gradient or a tangent.
bool wants_vectors(const Tensor& t) { return (grad_state.grad_mode && t.impl().requires_grad()) || any_tangent(t); }

Tensor matrix_transpose(const Tensor& t, const char* name) {
  if (t.dim() < 2) {
    throw Error(std::string("tensor.") + name + " is only supported on matrices or batches of matrices. Got " + std::to_string(t.dim()) + "-D tensor.");
  }
  return ops::transpose_int::call(t, -2, -1);
}

}  // namespace

Tensor mH(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj::call(matrix_transpose(self, "mH")) : matrix_transpose(self, "mH"); }
Tensor adjoint(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj::call(matrix_transpose(self, "adjoint()")) : matrix_transpose(self, "adjoint()"); }
Tensor matrix_H(const Tensor& self) {
  if (self.dim() != 2 && self.dim() != 0) throw Error("tensor.H is only supported on matrices (2-D tensors). Got " + std::to_string(self.dim()) + "-D tensor." + (self.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : ""));
  return self.dim() == 0 ? self : ops::transpose_int::call(self, 0, 1);
}

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices, std::optional<std::string_view> driver) {
  return ops::_linalg_svd::call(A, full_matrices, true, driver);
}
Tensor linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) { return std::get<1>(ops::_linalg_svd::call(A, false, wants_vectors(A), driver)); }
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  if (self.dim() < 2) throw Error("linalg.svd: input should have at least 2 dimensions, but has " + std::to_string(self.dim()) + " dimensions instead");
  if (!compute_uv) {
    const Tensor S = ops::linalg_svdvals::call(self, {});
    const SizeVector u = with_batch(batch_of(self), {self.size(-2), self.size(-2)}), v = with_batch(batch_of(self), {self.size(-1), self.size(-1)});
    const Tensor U = ops::zeros::call(u, self.dtype(), Layout::Strided, self.device());
    return {U, S, ops::zeros::call(v, self.dtype(), Layout::Strided, self.device())};
  }
  const auto [U, S, Vh] = ops::linalg_svd::call(self, !some, {});
  return {U, S, ops::mH::call(Vh)};
}
std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) { return ops::linalg_qr::call(self, some ? "reduced" : "complete"); }

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& self, std::string_view UPLO) { return ops::_linalg_eigh::call(self, UPLO, true); }
Tensor linalg_eigvalsh(const Tensor& self, std::string_view UPLO) { return std::get<0>(ops::_linalg_eigh::call(self, UPLO, wants_vectors(self))); }
Tensor linalg_cholesky(const Tensor& self, bool upper) {
  const auto [L, info] = ops::linalg_cholesky_ex::call(self, upper, false);
  ops::_linalg_check_errors::call(info, "linalg.cholesky", self.dim() == 2);
  return L;
}
std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = ops::linalg_lu_factor_ex::call(A, pivot, false);
  ops::_linalg_check_errors::call(info, "torch.linalg.lu_factor", A.dim() == 2);
  return {lu, pivots};
}
std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  const auto [result, lu, pivots, info] = ops::_linalg_solve_ex::call(A, B, left, check_errors);
  return {result, info};
}
std::tuple<Tensor&, Tensor&> linalg_solve_ex_out(const Tensor& A, const Tensor& B, bool left, bool check_errors, Tensor& result, Tensor& info) {
  Tensor lu = ops::new_empty::call(B, SizeVector{0}), pivots = ops::new_empty::call(B, SizeVector{0}, ScalarType::Int);
  ops::_linalg_solve_ex_result::call(A, B, left, check_errors, result, lu, pivots, info);
  return {result, info};
}
Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  const auto [result, info] = ops::linalg_solve_ex::call(A, B, left, false);
  ops::_linalg_check_errors::call(info, "torch.linalg.solve", A.dim() == 2);
  return result;
}
Tensor linalg_inv(const Tensor& A) {
  const auto [result, info] = ops::linalg_inv_ex::call(A, false);
  ops::_linalg_check_errors::call(info, "linalg.inv", A.dim() == 2);
  return result;
}
Tensor& linalg_inv_out(const Tensor& A, Tensor& out) {
  Tensor info = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Int, Layout::Strided, A.device());
  ops::linalg_inv_ex_inverse::call(A, false, out, info);
  ops::_linalg_check_errors::call(info, "linalg.inv", A.dim() == 2);
  return out;
}
Tensor linalg_det(const Tensor& A) { return std::get<0>(ops::_linalg_det::call(A)); }
std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  const auto [sign, size, lu, pivots] = ops::_linalg_slogdet::call(A);
  return {sign, size};
}
Tensor logdet(const Tensor& self) {
  const auto [sign, size] = ops::linalg_slogdet::call(self);
  return ops::where_ScalarSelf::call(ops::eq_Scalar::call(sign, -1.0), std::numeric_limits<double>::quiet_NaN(), size);
}

namespace {

struct Tolerance {
  Tensor absolute, relative;
};
// Of singular values that count as zero.
Tolerance tolerance(const Tensor& self, const Optional& atol, const Optional& rtol) {
  const auto number = [&self](double value) { return ops::full::call(Sizes(), value, ScalarType::Double, Layout::Strided, self.device()); };
  Tolerance t;
  t.absolute = atol && atol->defined() ? *atol : ops::zeros::call(Sizes(), ScalarType::Double, Layout::Strided, self.device());
  if (rtol && rtol->defined()) {
    t.relative = *rtol;
  } else if (atol && atol->defined()) {
    const double eps = self.dtype() == ScalarType::Double ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    const Tensor usual = number(eps * static_cast<double>(std::max(self.size(-1), self.size(-2))));
    const Tensor zero = ops::zeros::call(Sizes(), ScalarType::Double, Layout::Strided, self.device());
    t.relative = ops::where_self::call(ops::gt_Scalar::call(*atol, 0), zero, usual);
  } else {
    const double eps = self.dtype() == ScalarType::Double ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    t.relative = number(eps * static_cast<double>(std::max(self.size(-1), self.size(-2))));
  }
  return t;
}
Tensor limit(const Tolerance& t, const Tensor& largest) {
  const Tensor relative = ops::mul_Tensor::call(ops::unsqueeze::call(t.relative, -1), largest);
  return ops::max_other::call(ops::unsqueeze::call(t.absolute, -1), relative);
}

}  // namespace

Tensor linalg_pinv(const Tensor& self, const Optional& atol, const Optional& rtol, bool hermitian) {
  if (self.dim() < 2) throw Error("linalg.pinv: Expected a tensor with 2 or more dimensions, but got a tensor with " + std::to_string(self.dim()) + " dimensions");
  if (!is_floating(self.dtype()) && !is_complex(self.dtype())) throw Error(std::string("linalg.pinv: Expected a floating point or complex tensor as input. Got ") + to_string(self.dtype()));
  if (self.numel() == 0) return ops::empty_memory_format::call(with_batch(batch_of(self), {self.size(-1), self.size(-2)}), self.dtype(), Layout::Strided, self.device());
  const Tolerance t = tolerance(self, atol, rtol);
  Tensor U, V, S, size;
  if (hermitian) {
    std::tie(S, U) = ops::linalg_eigh::call(self, "L");
    V = U;
    size = ops::abs::call(S);
  } else {
    std::tie(U, S, V) = ops::svd::call(self, true, true);
    size = S;
  }
  const Tensor largest = hermitian ? ops::amax::call(size, SizeVector{-1}, true) : ops::narrow::call(size, -1, 0, 1);
  const Tensor least = limit(t, largest);
  const Tensor zero = ops::zeros::call(Sizes(), self.dtype(), Layout::Strided, self.device());
  const Tensor inverse = ops::reciprocal::call(S);
  const Tensor kept = ops::to_dtype::call(ops::where_self::call(ops::gt_Tensor::call(size, least), inverse, zero), self.dtype());
  const Tensor Uh = ops::mH::call(U);
  return ops::matmul::call(ops::mul_Tensor::call(V, ops::unsqueeze::call(kept, -2)), Uh);
}
Tensor linalg_pinv_atol_rtol_float(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  const auto number = [&self](std::optional<double> v) {
    return v ? Optional(ops::full::call(Sizes(), *v, ScalarType::Double, Layout::Strided, self.device())) : Optional();
  };
  const Optional a = number(atol);
  return ops::linalg_pinv_atol_rtol_tensor::call(self, a, number(rtol), hermitian);
}
Tensor linalg_pinv(const Tensor& self, double rcond, bool hermitian) { return ops::linalg_pinv_atol_rtol_float::call(self, 0.0, rcond, hermitian); }
Tensor pinverse(const Tensor& self, double rcond) { return ops::linalg_pinv::call(self, rcond, false); }

namespace {

Tensor rank_of(const Tensor& self, const Tolerance& t, bool hermitian, Tensor& result) {
  const Tensor S = hermitian ? ops::abs::call(ops::linalg_eigvalsh::call(self, "L")) : ops::linalg_svdvals::call(self, {});
  const Tensor largest = hermitian ? ops::amax::call(S, SizeVector{-1}, true) : ops::narrow::call(S, -1, 0, 1);
  return ops::sum_IntList_out::call(ops::gt_Tensor::call(S, limit(t, largest)), SizeVector{-1}, false, {}, result);
}
Tensor rank_result(const Tensor& self) {
  need_matrices(self, "linalg.matrix_rank");
  return ops::empty_memory_format::call(batch_of(self), ScalarType::Long, Layout::Strided, self.device());
}

}  // namespace

Tensor linalg_matrix_rank_atol_rtol_tensor(const Tensor& input, const Optional& atol, const Optional& rtol, bool hermitian) {
  Tensor result = rank_result(input);
  return rank_of(input, tolerance(input, atol, rtol), hermitian, result);
}
Tensor linalg_matrix_rank_atol_rtol_float(const Tensor& self, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  Tensor result = rank_result(self);
  const auto as_tensor = [&self](double v) { return ops::full::call(Sizes(), v, ScalarType::Double, Layout::Strided, self.device()); };
  // An absolute limit alone leaves no room for a relative one; by default there is the latter, of rounding errors.
  const double eps = self.dtype() == ScalarType::Double ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double relative = rtol ? *rtol : atol && *atol > 0 ? 0.0 : eps * static_cast<double>(std::max(self.size(-1), self.size(-2)));
  const Tensor a = as_tensor(atol.value_or(0));
  return rank_of(self, {a, as_tensor(relative)}, hermitian, result);
}
Tensor linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) {
  Tensor result = rank_result(self);
  const Tensor a = ops::full::call(Sizes(), tol, ScalarType::Double, Layout::Strided, self.device());
  return rank_of(self, {a, ops::full::call(Sizes(), 0.0, ScalarType::Double, Layout::Strided, self.device())}, hermitian, result);
}

Tensor linalg_matrix_power(const Tensor& self, int64_t n) {
  need_square(self, "linalg.matrix_power");
  if (n == 0) {
    Tensor out = ops::clone::call(self, MemoryFormat::Contiguous);
    return ops::copy_::call(out, ops::eye::call(self.size(-1), self.dtype(), Layout::Strided, self.device()));
  }
  if (n == 1) return ops::clone::call(self, MemoryFormat::Contiguous);
  const Tensor a = n < 0 ? ops::linalg_inv::call(self) : self;
  n = std::abs(n);
  if (n == 1) return a;
  if (n == 2) return ops::matmul::call(a, a);
  if (n == 3) return ops::matmul::call(ops::matmul::call(a, a), a);
  Tensor square, result;
  for (; n > 0; n /= 2) {
    square = square.defined() ? ops::matmul::call(square, square) : a;
    if (n % 2) result = result.defined() ? ops::matmul::call(result, square) : square;
  }
  return result;
}

// By the cheapest order of products.
Tensor linalg_multi_dot(std::span<const Tensor> tensors) {
  const size_t n = tensors.size();
  if (n < 2) throw Error("multi_dot(): expected at least 2 tensors but got " + std::to_string(n));
  std::vector<Tensor> t(tensors.begin(), tensors.end());
  SizeVector shape;
  for (const size_t end : {size_t{0}, n - 1}) {
    Tensor& edge = t[end];
    if (edge.dim() == 1) {
      edge = ops::unsqueeze::call(edge, end == 0 ? 0 : -1);
    } else if (edge.dim() == 2) {
      shape.push_back(edge.size(end == 0 ? 0 : -1));
    } else {
      throw Error(std::string("multi_dot(): the ") + (end == 0 ? "first" : "last") + " tensor must be 1D or 2D but got " + std::to_string(edge.dim()) + "D");
    }
  }
  for (size_t i = 1; i < n; ++i) {
    if (i + 1 < n && t[i].dim() != 2) throw Error("multi_dot(): tensor " + std::to_string(i) + " must be 2D but got " + std::to_string(t[i].dim()) + "D");
    if (t[i - 1].size(-1) != t[i].size(0)) {
      throw Error("multi_dot(): tensors " + std::to_string(i - 1) + " and " + std::to_string(i) + " with shapes " + to_text(t[i - 1].sizes()) + " and " + to_text(t[i].sizes()) +
                  " cannot be multiplied");
    }
  }
  std::vector<std::vector<int64_t>> cost(n, std::vector<int64_t>(n, 0));
  std::vector<std::vector<size_t>> cut(n, std::vector<size_t>(n, 0));
  for (size_t length = 1; length < n; ++length) {
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      cost[i][j] = std::numeric_limits<int64_t>::max();
      for (size_t k = i; k < j; ++k) {
        const int64_t c = cost[i][k] + cost[k + 1][j] + t[i].size(0) * t[k].size(1) * t[j].size(1);
        if (c >= cost[i][j]) continue;
        cost[i][j] = c;
        cut[i][j] = k;
      }
    }
  }
  const auto product = [&](const auto& again, size_t i, size_t j) -> Tensor {
    if (i == j) return t[i];
    const Tensor left = again(again, i, cut[i][j]);
    return ops::mm::call(left, again(again, cut[i][j] + 1, j));
  };
  return ops::view::call(product(product, 0, n - 1), shape);
}
Tensor chain_matmul(std::span<const Tensor> matrices) { return matrices.size() == 1 ? ops::clone::call(matrices[0]) : linalg_multi_dot(matrices); }

namespace {

// Of two named dimensions.
Tensor norm_of_matrices(const Tensor& A, double ord, Sizes dims, bool keepdim, std::optional<ScalarType> dtype) {
  const double size = std::abs(ord);
  if (size != 1 && size != 2 && !std::isinf(size)) throw Error("linalg.matrix_norm: Order " + std::to_string(ord) + " not supported.");
  const auto extreme = [&](const Tensor& t, int64_t d) { return ord > 0 ? ops::amax::call(t, SizeVector{d}, keepdim) : ops::amin::call(t, SizeVector{d}, keepdim); };
  if (size != 2) {
    int64_t first = dims[0], second = dims[1];
    if (std::isinf(size)) std::swap(first, second);
    if (first < second && !keepdim) --second;
    return extreme(ops::linalg_vector_norm::call(A, 1.0, SizeVector{first}, keepdim, dtype), second);
  }
  SizeVector order;
  for (int64_t d = 0; d < A.dim(); ++d) {
    if (d != dims[0] && d != dims[1]) order.push_back(d);
  }
  order.insert(order.end(), {dims[0], dims[1]});
  const Tensor values = ops::linalg_svdvals::call(ops::permute::call(dtype ? ops::to_dtype::call(A, *dtype) : A, order), {});
  Tensor out = extreme(values, -1);
  if (!keepdim) return out;
  SizeVector back(order.size());
  out = ops::unsqueeze::call(out, -1);
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return ops::permute::call(out, back);
}
SizeVector two_dims(const Tensor& A, Sizes dim) {
  need_matrices(A, "linalg.matrix_norm");
  if (dim.size() != 2) throw Error("linalg.matrix_norm: dim must be a 2-tuple. Got " + [&] {
    std::string text;
    for (const int64_t d : dim) text += (text.empty() ? "" : " ") + std::to_string(d);
    return text;
  }());
  const SizeVector out{wrap_dimension(dim[0], A.dim()), wrap_dimension(dim[1], A.dim())};
  if (out[0] == out[1]) throw Error("linalg.matrix_norm: dims must be different. Got (" + std::to_string(dim[0]) + ", " + std::to_string(dim[1]) + ")");
  return out;
}

}  // namespace

Tensor linalg_matrix_norm(const Tensor& self, const Scalar& ord, Sizes dim, bool keepdim, std::optional<ScalarType> dtype) {
  return norm_of_matrices(self, ord.value.to_double(), two_dims(self, dim), keepdim, dtype);
}
Tensor linalg_matrix_norm_str_ord(const Tensor& self, std::string_view ord, Sizes dim, bool keepdim, std::optional<ScalarType> dtype) {
  const SizeVector dims = two_dims(self, dim);
  if (ord == "fro") return ops::linalg_vector_norm::call(self, 2, dims, keepdim, dtype);
  if (ord != "nuc") throw Error("linalg.matrix_norm: Order " + std::string(ord) + " not supported.");
  SizeVector order;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dims[0] && d != dims[1]) order.push_back(d);
  }
  order.insert(order.end(), {dims[0], dims[1]});
  const Tensor values = ops::linalg_svdvals::call(ops::permute::call(dtype ? ops::to_dtype::call(self, *dtype) : self, order), {});
  Tensor out = ops::sum_dim_IntList::call(values, SizeVector{-1}, keepdim, {});
  if (!keepdim) return out;
  SizeVector back(order.size());
  out = ops::unsqueeze::call(out, -1);
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return ops::permute::call(out, back);
}
Tensor linalg_norm(const Tensor& self, const std::optional<Scalar>& ord, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  if (!ord) return ops::linalg_vector_norm::call(self, 2, dim, keepdim, dtype);
  const size_t named = dim ? dim->size() : self.sizes().size();
  if (named == 1) return ops::linalg_vector_norm::call(self, *ord, dim, keepdim, dtype);
  if (named != 2) {
    throw Error(dim ? "linalg.norm: If dim is specified, it must be of length 1 or 2. Got " + to_text(*dim)
                    : "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " + std::to_string(self.dim()) + "D.");
  }
  return ops::linalg_matrix_norm::call(self, *ord, dim ? SizeVector(dim->begin(), dim->end()) : SizeVector{0, 1}, keepdim, dtype);
}
Tensor linalg_norm_ord_str(const Tensor& self, std::string_view ord, std::optional<Sizes> dim, bool keepdim, std::optional<ScalarType> dtype) {
  if (!dim && self.dim() != 2) {
    throw Error("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " + std::to_string(self.dim()) + "D.");
  }
  return ops::linalg_matrix_norm_str_ord::call(self, ord, dim ? SizeVector(dim->begin(), dim->end()) : SizeVector{0, 1}, keepdim, dtype);
}
Tensor linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  need_matrices(self, "linalg.cond");
  const double ord = p ? p->value.to_double() : 2;
  if (std::abs(ord) == 2) {
    const Tensor S = ops::linalg_svdvals::call(self, {});
    const Tensor first = ops::narrow::call(S, -1, 0, 1), last = ops::narrow::call(S, -1, -1, 1);
    return ops::squeeze_dim::call(ord > 0 ? ops::div_Tensor::call(first, last) : ops::div_Tensor::call(last, first), -1);
  }
  need_square(self, ("linalg.cond(ord=" + std::to_string(ord) + ")").c_str());
  auto [inverse, info] = ops::linalg_inv_ex::call(self, false);
  ops::unsqueeze_::call(info, -1);
  ops::unsqueeze_::call(info, -1);
  ops::masked_fill__Scalar::call(inverse, ops::gt_Scalar::call(info, 0), std::numeric_limits<double>::infinity());
  const Tensor of_inverse = ops::linalg_matrix_norm::call(inverse, *p, SizeVector{-2, -1}, false, {});
  Tensor out = ops::mul_Tensor::call(ops::linalg_matrix_norm::call(self, *p, SizeVector{-2, -1}, false, {}), of_inverse);
  return ops::nan_to_num_::call(out, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity());
}

Tensor linalg_tensorsolve(const Tensor& self, const Tensor& other, std::optional<Sizes> dims) {
  Tensor a = self;
  if (dims) {
    SizeVector to(dims->size());
    for (size_t i = 0; i < to.size(); ++i) to[i] = self.dim() - static_cast<int64_t>(to.size()) + static_cast<int64_t>(i);
    a = ops::movedim_intlist::call(self, *dims, to);
  }
  const SizeVector shape(a.sizes().begin() + other.dim(), a.sizes().end());
  const int64_t n = element_count(shape);
  if (a.numel() != n * n || other.numel() != n) {
    throw Error("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got " + std::to_string(n) + " != " +
                std::to_string(other.numel()));
  }
  const Tensor x = ops::linalg_solve::call(ops::reshape::call(a, SizeVector{n, n}), ops::flatten_using_ints::call(other, 0, -1), true);
  return ops::reshape::call(x, shape);
}
Tensor linalg_tensorinv(const Tensor& self, int64_t ind) {
  if (ind <= 0) throw Error("Expected a strictly positive integer for 'ind'");
  SizeVector shape(self.sizes().begin() + ind, self.sizes().end());
  const int64_t n = element_count(shape);
  shape.insert(shape.end(), self.sizes().begin(), self.sizes().begin() + ind);
  if (n * n != self.numel()) {
    throw Error("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got " + std::to_string(n) + " != " + std::to_string(self.numel() / std::max<int64_t>(n, 1)));
  }
  const auto [inverse, info] = ops::linalg_inv_ex::call(ops::reshape::call(self, SizeVector{n, n}), false);
  ops::_linalg_check_errors::call(info, "linalg.inv", true);
  return ops::reshape::call(inverse, shape);
}

Tensor vdot(const Tensor& self, const Tensor& other) { return ops::dot::call(self, other); }
Tensor linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  if (x.dim() == 1 && y.dim() == 1) return ops::vdot::call(x, y);
  return ops::sum_dim_IntList::call(ops::mul_Tensor::call(x, y), SizeVector{dim}, false, {});
}
Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim) return ops::linalg_cross::call(self, other, *dim);
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 3 && other.dim() == self.dim() && other.size(d) == 3) return ops::linalg_cross::call(self, other, d);
  }
  throw Error("no dimension of size 3 in input");
}

Tensor linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  if (x.dim() == 0) throw Error("linalg.vander: vector of at least one dimension expected.");
  if (!is_floating(x.dtype()) && !is_complex(x.dtype()) && x.dtype() == ScalarType::Bool) throw Error("linalg.vander: Boolean tensors are not supported.");
  const int64_t n = N.value_or(x.size(-1));
  if (n <= 1) throw Error("N must be greater than 1.");
  SizeVector shape(x.sizes().begin(), x.sizes().end());
  shape.push_back(n - 1);
  const Tensor powers = ops::cumprod::call(ops::expand::call(ops::unsqueeze::call(x, -1), shape), -1, {});
  shape.back() = 1;
  const Tensor parts[] = {ops::new_ones::call(powers, shape, powers.dtype(), Layout::Strided, powers.device(), {}), powers};
  return ops::cat::call(parts, -1);
}
Tensor vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  if (x.dim() != 1) throw Error("x must be a one-dimensional tensor.");
  const int64_t n = N.value_or(x.size(0));
  if (n < 0) throw Error("N must be non-negative.");
  const ScalarType type = ops::promote_types::call(x.dtype(), is_floating(x.dtype()) || is_complex(x.dtype()) ? x.dtype() : ScalarType::Long);
  Tensor out = ops::empty_memory_format::call(SizeVector{x.size(0), n}, type, Layout::Strided, x.device());
  if (n > 0) {
    Tensor first = ops::select_int::call(out, 1, 0);
    ops::fill__Scalar::call(first, 1);
  }
  if (n > 1) {
    Tensor rest = ops::slice_Tensor::call(out, 1, 1, INT64_MAX, 1);
    ops::copy_::call(rest, ops::unsqueeze::call(x, 1));
    Tensor again = ops::slice_Tensor::call(out, 1, 1, INT64_MAX, 1);
    const Tensor powers = ops::cumprod::call(ops::slice_Tensor::call(out, 1, 1, INT64_MAX, 1), 1, {});
    ops::copy_::call(again, powers);
  }
  return increasing ? out : ops::flip::call(out, SizeVector{1});
}

}  // namespace peel::kernels
