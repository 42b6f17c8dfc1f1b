// Distances between rows, and rows scaled down to a norm.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/matrices.h"
#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// The distance of two rows in the norm p.
template <class T>
double distance(const T* a, const T* b, int64_t n, double p) {
  double total = 0;
  for (int64_t k = 0; k < n; ++k) {
    const double d = std::abs(static_cast<double>(a[k]) - static_cast<double>(b[k]));
    if (std::isinf(p)) total = std::max(total, d);
    else total += p == 0 ? d != 0 : p == 1 ? d : p == 2 ? d * d : std::pow(d, p);
  }
  return p == 2 ? std::sqrt(total) : p == 0 || p == 1 || std::isinf(p) ? total : std::pow(total, 1 / p);
}
// Its slope by one difference.
double slope(double difference, double grad, double dist, double p) {
  const double sign = difference > 0 ? 1 : difference < 0 ? -1 : 0;
  if (p == 0 || dist == 0) return p == 1 ? sign * grad : 0;
  if (p == 1) return sign * grad;
  if (p == 2) return grad * difference / dist;
  if (std::isinf(p)) return std::abs(difference) == dist ? sign * grad : 0;
  return difference == 0 ? 0 : sign * std::pow(std::abs(difference), p - 1) * grad / std::pow(dist, p - 1);
}

struct Pairs {
  Tensor a, b;  // of one batch, row-major
  SizeVector batch;
  int64_t count;
};
Pairs pairs_of(const Tensor& x1, const Tensor& x2) {
  Pairs p{{}, {}, broadcast(batch_of(x1), batch_of(x2)), 1};
  p.count = element_count(p.batch);
  const auto wide = [&](const Tensor& t) {
    const Tensor e = ops::expand::call(t, with_batch(p.batch, {t.size(-2), t.size(-1)}));
    return ops::view::call(made_contiguous(e), SizeVector{p.count, t.size(-2), t.size(-1)});
  };
  p.a = wide(x1);
  p.b = wide(x2);
  return p;
}

}  // namespace

Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  if (x1.dim() < 2) throw Error("cdist only supports at least 2D tensors, X1 got: " + std::to_string(x1.dim()) + "D");
  if (x2.dim() < 2) throw Error("cdist only supports at least 2D tensors, X2 got: " + std::to_string(x2.dim()) + "D");
  if (x1.size(-1) != x2.size(-1)) throw Error("X1 and X2 must have the same number of columns. X1: " + std::to_string(x1.size(-1)) + " X2: " + std::to_string(x2.size(-1)));
  if (!is_floating(x1.dtype())) throw Error(std::string("cdist only supports floating-point dtypes, X1 got: ") + to_string(x1.dtype()));
  if (!is_floating(x2.dtype())) throw Error(std::string("cdist only supports floating-point dtypes, X2 got: ") + to_string(x2.dtype()));
  if (p < 0) throw Error("cdist only supports non-negative p values");
  const Pairs in = pairs_of(x1, x2);
  const int64_t r1 = x1.size(-2), r2 = x2.size(-2), n = x1.size(-1), mode = compute_mode.value_or(0);
  const SizeVector shape = with_batch(in.batch, {r1, r2});
  if (p == 2 && r1 > 0 && r2 > 0 && n > 0 && (mode == 1 || (mode == 0 && (r1 > 25 || r2 > 25)))) {
    return ops::view::call(ops::_euclidean_dist::call(in.count == 1 ? x1 : in.a, in.count == 1 ? x2 : in.b), shape);
  }
  const Tensor out = ops::empty_memory_format::call(shape, x1.dtype(), Layout::Strided, x1.device());
  with_real(x1.dtype(), "cdist", [&]<class T>(T) {
    T* o = out.data_as<T>();
    for (int64_t i = 0; i < in.count; ++i) {
      for (int64_t r = 0; r < r1; ++r) {
        for (int64_t s = 0; s < r2; ++s) *o++ = static_cast<T>(distance(in.a.data_as<T>() + (i * r1 + r) * n, in.b.data_as<T>() + (i * r2 + s) * n, n, p));
      }
    }
  });
  return out;
}
Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> compute_mode) {
  const int64_t mode = compute_mode.value_or(0);
  if (mode < 0 || mode > 2) throw Error("possible modes: 0, 1, 2, but was: " + std::to_string(mode));
  const bool by_product = x1.dim() >= 2 && x2.dim() >= 2 && p == 2 && (mode == 1 || (mode == 0 && (x1.size(-2) > 25 || x2.size(-2) > 25)));
  return by_product ? _cdist_forward(x1, x2, p, mode) : ops::_cdist_forward::call(x1, x2, p, compute_mode);
}
Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2) {
  const auto norm = [](const Tensor& x) { return ops::sum_dim_IntList::call(ops::pow_Tensor_Scalar::call(x, 2), SizeVector{-1}, true, {}); };
  const auto ones = [](const Tensor& x) { return ops::ones_like::call(x, {}, {}, {}, {}, MemoryFormat::Contiguous); };
  const Tensor n1 = norm(x1), one1 = ones(n1), n2 = norm(x2), one2 = ones(n2);
  const Tensor left[] = {ops::mul_Scalar::call(x1, -2), n1, one1}, right[] = {x2, one2, n2};
  const Tensor a = ops::cat::call(left, -1), b = ops::cat::call(right, -1);
  Tensor out = ops::matmul::call(a, ops::mT::call(b));
  ops::clamp_min_::call(out, 0);
  return ops::sqrt_::call(out);
}
Tensor _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist) {
  const SizeVector batch = broadcast(batch_of(x1), batch_of(x2));
  const int64_t count = element_count(batch), r1 = x1.size(-2), r2 = x2.size(-2), n = x1.size(-1);
  const bool same = std::ranges::equal(batch_of(x1), batch) && std::ranges::equal(batch_of(x2), batch);
  const Tensor a = same ? x1 : ops::expand::call(x1, with_batch(batch, {r1, n})), b = same ? x2 : ops::expand::call(x2, with_batch(batch, {r2, n}));
  Tensor out = ops::empty_memory_format::call(SizeVector{count, r1, n}, x1.dtype(), Layout::Strided, x1.device(), {}, MemoryFormat::Contiguous);
  ops::fill__Scalar::call(out, 0);
  const Tensor u = made_contiguous(a), v = made_contiguous(b);
  with_real(x1.dtype(), "cdist_backward", [&]<class T>(T) {
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t r = 0; r < r1; ++r) {
        T* o = out.data_as<T>() + (i * r1 + r) * n;
        const T* row = u.data_as<T>() + (i * r1 + r) * n;
        for (int64_t s = 0; s < r2; ++s) {
          const int64_t at = (i * r1 + r) * r2 + s;
          const T* other = v.data_as<T>() + (i * r2 + s) * n;
          for (int64_t k = 0; k < n; ++k) {
            const double d = static_cast<double>(row[k]) - static_cast<double>(other[k]);
            o[k] = static_cast<T>(o[k] + slope(d, static_cast<double>(grad.data_as<T>()[at]), static_cast<double>(cdist.data_as<T>()[at]), p));
          }
        }
      }
    }
  });
  return ops::view::call(out, with_batch(batch, {r1, n}));
}

Tensor _pdist_forward(const Tensor& self, double p) {
  if (!self.is_contiguous()) throw Error("_pdist_forward requires contiguous input");
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, self.dtype(), Layout::Strided, self.device(), {}, MemoryFormat::Contiguous);
  const int64_t n = self.size(0), m = self.size(1);
  ops::resize_::call(out, SizeVector{n <= 1 ? 0 : n * (n - 1) / 2});
  if (n <= 1) return out;
  if (m == 0) return ops::fill__Scalar::call(out, 0);
  with_real(self.dtype(), "pdist", [&]<class T>(T) {
    T* o = out.data_as<T>();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j) *o++ = static_cast<T>(distance(self.data_as<T>() + i * m, self.data_as<T>() + j * m, m, p));
    }
  });
  return out;
}
Tensor pdist(const Tensor& self, double p) {
  if (self.dim() != 2) throw Error("pdist only supports 2D tensors, got: " + std::to_string(self.dim()) + "D");
  if (!is_floating(self.dtype())) throw Error("pdist only supports floating-point dtypes");
  if (p < 0) throw Error("pdist only supports non-negative p values");
  return ops::_pdist_forward::call(made_contiguous(self), p);
}
Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) {
  Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  ops::fill__Scalar::call(out, 0);
  const Tensor g = rows_of(grad, named_dims(std::nullopt, grad.dim())).data;
  const int64_t n = self.size(0), m = self.size(1);
  with_real(self.dtype(), "pdist_backward", [&]<class T>(T) {
    int64_t at = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j, ++at) {
        for (int64_t k = 0; k < m; ++k) {
          const double d = static_cast<double>(self.data_as<T>()[i * m + k]) - static_cast<double>(self.data_as<T>()[j * m + k]);
          const double s = slope(d, static_cast<double>(g.data_as<T>()[at]), static_cast<double>(pdist.data_as<T>()[at]), p);
          out.data_as<T>()[i * m + k] = static_cast<T>(out.data_as<T>()[i * m + k] + s);
          out.data_as<T>()[j * m + k] = static_cast<T>(out.data_as<T>()[j * m + k] - s);
        }
      }
    }
  });
  return out;
}

Tensor renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  const double limit = maxnorm.value.to_double();
  if (p.value.to_double() <= 0) throw Error("renorm: non-positive-norm not supported");
  if (limit < 0) throw Error("renorm: expected maxnorm to be >= 0 but got " + to_text(maxnorm.value));
  if (self.dim() <= 1) throw Error("renorm: input needs at least 2 dimensions, got " + std::to_string(self.dim()) + " dimensions");
  const int64_t d = wrap_dimension(dim, self.dim());
  SizeVector others;
  for (int64_t k = 0; k < self.dim(); ++k) {
    if (k != d) others.push_back(k);
  }
  Tensor out = empty_strided(self.sizes(), like_strides(self.sizes(), self.strides()), self.dtype(), self.device());
  const Tensor norm = ops::linalg_vector_norm::call(self, p.value.to_double(), others, true, {});
  const Tensor factor = empty(norm.sizes(), norm.dtype(), norm.device());
  with_floating(norm.dtype(), "renorm_scale_factors_cpu", [&]<class T>(T) {
    for (int64_t i = 0; i < norm.numel(); ++i) {
      const auto n = static_cast<double>(static_cast<Math<T>>(norm.data_as<T>()[i]));
      factor.data_as<T>()[i] = static_cast<T>(n > limit ? limit / (n + 1e-7) : 1.0);
    }
  });
  return ops::mul_out::call(self, factor, out);
}

}  // namespace peel::kernels
