// Attention: the fused kernel where stock takes it, else the formula.
#include <cmath>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

using Optional = std::optional<Tensor>;

Tensor isneginf(const Tensor& self) {
  if (!is_floating(self.dtype())) return ops::zeros_like::call(self, ScalarType::Bool);
  Elementwise e({self}, {}, {.result = ScalarType::Bool});
  with_floating(e.type(), "isneginf_cpu", [&]<class T>(T) {
    auto walk = e.walk<2>();
    each<bool, T>(walk, [](bool& o, T x) { o = static_cast<Math<T>>(x) == -std::numeric_limits<Math<T>>::infinity(); });
  });
  return e.finish();
}

Tensor _safe_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const Tensor out = ops::softmax_int::call(self, dim, dtype);
  const Tensor hidden = ops::all_dim::call(ops::isneginf::call(self), dim, true);  // a row without anything to look at gives zeros
  const Tensor zero = ops::scalar_tensor::call(0.0, out.dtype(), Layout::Strided, out.device(), {});
  Tensor result = out;
  return ops::where_self_out::call(hidden, zero, out, result);
}

namespace {

// A mask of what may be seen as what is added: minus infinity where nothing may.
Tensor added(const Tensor& mask, ScalarType type) {
  const Tensor hidden = ops::scalar_tensor::call(-std::numeric_limits<double>::infinity(), type, Layout::Strided, mask.device(), {});
  return ops::where_ScalarSelf::call(mask, 0.0, hidden);
}

bool row_by_row(const Tensor& t) { return t.strides().back() == 1; }
bool mask_fits(const Tensor& m, const Tensor& q, const Tensor& k) {
  const auto fits = [](int64_t size, int64_t wanted) { return size == wanted || size == 1; };
  if (m.impl().requires_grad() || !fits(m.size(-2), q.size(-2)) || !fits(m.size(-1), k.size(-2))) return false;
  return m.dim() == 2 || (m.dim() == 4 && fits(m.size(0), q.size(0)) && fits(m.size(1), q.size(1)));
}
// Whether stock's fused kernel serves these inputs.
bool fused(const Tensor& q, const Tensor& k, const Tensor& v, const Optional& mask, double dropout_p) {
  if (dropout_p != 0 || q.dim() != 4 || k.dim() != 4 || v.dim() != 4 || !is_floating(q.dtype())) return false;
  for (const Tensor* t : {&k, &v}) {
    if (t->size(0) != q.size(0) || t->size(1) != q.size(1) || t->size(3) != q.size(3) || t->size(2) == 0) return false;
  }
  if (q.size(2) == 0 || !row_by_row(q) || !row_by_row(k) || !row_by_row(v)) return false;
  return !mask || !mask->defined() || mask_fits(*mask, q, k);
}

}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(const Tensor& query, const Tensor& key, const Tensor& value, const Optional& attn_mask, double dropout_p,
                                                              bool is_causal, const Optional& dropout_mask, std::optional<double> scale, bool enable_gqa) {
  if (enable_gqa || (dropout_mask && dropout_mask->defined())) {
    throw NotImplemented("The embedded engine has no grouped attention and no dropout masks yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  const double root = std::sqrt(scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(-1)))));
  const Tensor q = ops::mul_Scalar::call(query, root);
  Optional mask = attn_mask;
  if (is_causal) {
    if (mask && mask->defined()) throw Error("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    mask = added(ops::tril::call(ops::ones::call(SizeVector{query.size(-2), key.size(-2)}, ScalarType::Bool, Layout::Strided, query.device()), 0), query.dtype());
  }
  const Tensor k = ops::mul_Scalar::call(ops::transpose_int::call(key, -2, -1), root);
  Tensor weights = ops::matmul::call(q, k);
  if (mask && mask->defined()) ops::add__Tensor::call(weights, *mask);
  weights = ops::_safe_softmax::call(weights, -1);
  if (dropout_p > 0) weights = ops::dropout::call(weights, dropout_p, true);
  const Tensor out = ops::matmul::call(ops::to_dtype::call(weights, query.dtype()), value);
  return {ops::to_dtype::call(out, query.dtype()), weights};
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Optional& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype()) {
    throw Error(std::string("Expected query, key, and value to have the same dtype, but got query.dtype: ") + to_string(query.dtype()) + " key.dtype: " +
                to_string(key.dtype()) + " and value.dtype: " + to_string(value.dtype()) + " instead.");
  }
  Optional mask = attn_mask;
  if (mask && mask->defined() && mask->dtype() == ScalarType::Bool) mask = added(*mask, query.dtype());
  if (!enable_gqa && fused(query, key, value, mask, dropout_p)) {
    return std::get<0>(ops::_scaled_dot_product_flash_attention_for_cpu::call(query, key, value, dropout_p, is_causal, mask, scale));
  }
  return std::get<0>(ops::_scaled_dot_product_attention_math::call(query, key, value, mask, dropout_p, is_causal, {}, scale, enable_gqa));
}

}  // namespace peel::kernels
