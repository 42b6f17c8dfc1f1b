// Fused attention over (batch, head, row, column) inputs, and its gradient. Heads of queries may share one of keys and values. Stock goes block by block; the calls around it are the same.
#include <cmath>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;

// One row of one head: where it begins, and the step from column to column.
template <class T>
struct Row {
  T* data;
  int64_t step;
  T& operator[](int64_t i) const { return data[i * step]; }
};
template <class T>
Row<T> row(const Tensor& t, int64_t b, int64_t h, int64_t i) {
  const Sizes s = t.strides();
  return {t.data_as<T>() + b * s[0] + h * s[1] + i * s[2], s[3]};
}

Tensor heads_last(const Tensor& t) { return ops::transpose_int::call(t, 1, 2); }

Optional wide_mask(const Optional& mask, const Tensor& q, const Tensor& k) {
  if (!mask || !mask->defined()) return {};
  const int64_t batch = mask->dim() == 4 && mask->size(0) == q.size(0) ? q.size(0) : 1, heads = mask->dim() == 4 && mask->size(1) == q.size(1) ? q.size(1) : 1;
  return ops::expand::call(ops::view::call(*mask, SizeVector{batch, heads, mask->size(-2), mask->size(-1)}), SizeVector{batch, heads, q.size(2), k.size(2)});
}

struct Problem {
  int64_t batch, heads, rows, columns, depth;
  double scale;
  bool causal;
  const Optional& mask;
  int64_t shared;  // heads of queries that share one of keys and values
};
Problem problem(const Tensor& q, const Tensor& k, bool causal, std::optional<double> scale, const Optional& mask) {
  return {q.size(0), q.size(1), q.size(2), k.size(2), q.size(3), scale.value_or(1 / std::sqrt(static_cast<double>(q.size(3)))), causal, mask, q.size(1) / k.size(1)};
}

// What row `i` of a head gives each column before the softmax; how many columns it sees.
template <class T>
int64_t scores(const Problem& p, const Tensor& q, const Tensor& k, int64_t b, int64_t h, int64_t i, std::vector<Math<T>>* out) {
  const int64_t seen = p.causal ? std::min(i + 1, p.columns) : p.columns;
  const Row<T> qi = row<T>(q, b, h, i);
  for (int64_t j = 0; j < seen; ++j) {
    const Row<T> kj = row<T>(k, b, h / p.shared, j);
    Math<T> sum = 0;
    for (int64_t d = 0; d < p.depth; ++d) sum += static_cast<Math<T>>(qi[d]) * static_cast<Math<T>>(kj[d]);
    sum *= static_cast<Math<T>>(p.scale);
    if (p.mask) sum += static_cast<Math<T>>(row<T>(*p.mask, p.mask->size(0) == 1 ? 0 : b, p.mask->size(1) == 1 ? 0 : h, i)[j]);
    (*out)[static_cast<size_t>(j)] = sum;
  }
  return seen;
}

ScalarType computed_in(ScalarType t) { return t == ScalarType::Double ? t : ScalarType::Float; }

}  // namespace

std::tuple<Tensor, Tensor> flash_attention(const Tensor& query, const Tensor& key, const Tensor& value, double, bool is_causal, const Optional& attn_mask, std::optional<double> scale) {
  const Tensor out = heads_last(ops::empty_like::call(query, query.dtype(), Layout::Strided, query.device(), false));
  const ScalarType sums_type = computed_in(query.dtype());
  const Tensor sums = ops::empty_memory_format::call(SizeVector{query.size(0), query.size(2), query.size(1)}, sums_type, Layout::Strided, query.device(), false);
  const Tensor q = heads_last(query), k = heads_last(key), v = heads_last(value);
  const Optional mask = wide_mask(attn_mask, query, key);
  // Stock's room for blocks and for what it brings to its product's type.
  ops::empty_memory_format::call(SizeVector{1, 1}, sums_type, Layout::Strided, query.device(), false);
  ops::empty_memory_format::call(SizeVector{1, 1}, query.dtype(), Layout::Strided, query.device(), false);
  const Tensor result = heads_last(out), logsumexp = heads_last(sums);
  const Problem p = problem(query, key, is_causal, scale, mask);
  with_floating(query.dtype(), "flash_attention", [&]<class T>(T) {
    std::vector<Math<T>> s(static_cast<size_t>(p.columns)), total(static_cast<size_t>(p.depth));
    for (int64_t n = 0; n < p.batch * p.heads * p.rows; ++n) {
      const int64_t b = n / (p.heads * p.rows), h = n / p.rows % p.heads, i = n % p.rows, seen = scores<T>(p, query, key, b, h, i, &s);
      Math<T> top = -std::numeric_limits<Math<T>>::infinity(), sum = 0;
      for (int64_t j = 0; j < seen; ++j) top = std::max(top, s[static_cast<size_t>(j)]);
      std::ranges::fill(total, Math<T>{});
      for (int64_t j = 0; j < seen && top > -std::numeric_limits<Math<T>>::infinity(); ++j) {
        const Math<T> e = std::exp(s[static_cast<size_t>(j)] - top);
        sum += e;
        const Row<T> vj = row<T>(value, b, h / p.shared, j);
        for (int64_t d = 0; d < p.depth; ++d) total[static_cast<size_t>(d)] += e * static_cast<Math<T>>(vj[d]);
      }
      const Row<T> o = row<T>(result, b, h, i);
      for (int64_t d = 0; d < p.depth; ++d) o[d] = static_cast<T>(sum == 0 ? Math<T>{} : total[static_cast<size_t>(d)] / sum);
      const Sizes strides = logsumexp.strides();
      logsumexp.data_as<Math<T>>()[b * strides[0] + h * strides[1] + i * strides[2]] = top + std::log(sum);
    }
  });
  return {result, logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> flash_attention_backward(const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& out,
                                                            const Tensor& logsumexp, double, bool is_causal, const Optional& attn_mask, std::optional<double> scale) {
  if (!grad_out.defined()) return {};
  const Tensor q = heads_last(query), k = heads_last(key), v = heads_last(value), o = heads_last(out), l = heads_last(logsumexp), g = heads_last(grad_out);
  const auto zeros = [](const Tensor& t) { return ops::zeros::call(t.sizes(), t.dtype(), Layout::Strided, t.device(), false); };
  const Tensor dq = zeros(q), dk = zeros(k), dv = zeros(v);
  const Tensor incoming = g.is_contiguous() ? g : ops::contiguous::call(g);
  const Optional mask = wide_mask(attn_mask, query, key);
  const ScalarType sums_type = computed_in(query.dtype());
  for (int room = 0; room < 3; ++room) ops::empty_memory_format::call(SizeVector{1, 1}, sums_type, Layout::Strided, query.device(), false);
  const Tensor a = heads_last(dq), b_ = heads_last(dk), c = heads_last(dv);
  const Problem p = problem(query, key, is_causal, scale, mask);
  with_floating(query.dtype(), "flash_attention_backward", [&]<class T>(T) {
    using M = Math<T>;
    std::vector<M> s(static_cast<size_t>(p.columns));
    for (int64_t n = 0; n < p.batch * p.heads * p.rows; ++n) {
      const int64_t b = n / (p.heads * p.rows), h = n / p.rows % p.heads, i = n % p.rows, seen = scores<T>(p, query, key, b, h, i, &s);
      const Sizes strides = logsumexp.strides();
      const M whole = logsumexp.data_as<M>()[b * strides[0] + h * strides[1] + i * strides[2]];
      const Row<T> gi = row<T>(grad_out, b, h, i), oi = row<T>(out, b, h, i), qi = row<T>(query, b, h, i), dqi = row<T>(a, b, h, i);
      M along = 0;
      for (int64_t d = 0; d < p.depth; ++d) along += static_cast<M>(gi[d]) * static_cast<M>(oi[d]);
      for (int64_t j = 0; j < seen; ++j) {
        const M weight = std::exp(s[static_cast<size_t>(j)] - whole);
        const int64_t other = h / p.shared;
        const Row<T> kj = row<T>(key, b, other, j), vj = row<T>(value, b, other, j), dkj = row<T>(b_, b, other, j), dvj = row<T>(c, b, other, j);
        M ds = 0;
        for (int64_t d = 0; d < p.depth; ++d) ds += static_cast<M>(gi[d]) * static_cast<M>(vj[d]);
        ds = weight * (ds - along) * static_cast<M>(p.scale);
        for (int64_t d = 0; d < p.depth; ++d) {
          dvj[d] = static_cast<T>(static_cast<M>(dvj[d]) + weight * static_cast<M>(gi[d]));
          dqi[d] = static_cast<T>(static_cast<M>(dqi[d]) + ds * static_cast<M>(kj[d]));
          dkj[d] = static_cast<T>(static_cast<M>(dkj[d]) + ds * static_cast<M>(qi[d]));
        }
      }
    }
  });
  return {a, b_, c};
}

}  // namespace peel::kernels
