// Attention as its formula, which stock takes for inputs that its fused kernels don't serve.
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

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(const Tensor& query, const Tensor& key, const Tensor& value, const Optional& attn_mask, double dropout_p,
                                                              bool is_causal, const Optional& dropout_mask, std::optional<double> scale, bool enable_gqa) {
  if (enable_gqa || (dropout_mask && dropout_mask->defined())) {
    throw NotImplemented("The embedded engine has no grouped attention and no dropout masks yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  Optional mask = attn_mask;
  if (is_causal) {
    if (mask && mask->defined()) throw Error("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    mask = ops::tril::call(ops::ones::call(SizeVector{query.size(-2), key.size(-2)}, ScalarType::Bool, Layout::Strided, query.device()), 0);
  }
  if (mask && mask->defined() && mask->dtype() == ScalarType::Bool) {  // hidden: minus infinity is added
    Tensor added = ops::zeros_like::call(*mask, query.dtype());
    mask = ops::masked_fill__Scalar::call(added, ops::logical_not::call(*mask), -std::numeric_limits<double>::infinity());
  }
  const double root = std::sqrt(scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(-1)))));
  const Tensor q = ops::mul_Scalar::call(query, root);
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
  return std::get<0>(ops::_scaled_dot_product_attention_math::call(query, key, value, attn_mask, dropout_p, is_causal, {}, scale, enable_gqa));
}

}  // namespace peel::kernels
