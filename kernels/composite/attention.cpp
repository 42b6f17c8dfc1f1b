// Attention: the fused kernel where stock takes it, else the formula.
#include <cmath>

#include "core/autograd/fallback.h"
#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/nested/nested.h"
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
// Whether stock's fused kernel serves these inputs. `grouped`: several heads of queries may share one of keys and values.
bool fused(const Tensor& q, const Tensor& k, const Tensor& v, const Optional& mask, double dropout_p, bool grouped) {
  if (q.keys().has(DispatchKey::Meta) || dropout_p != 0 || q.dim() != 4 || k.dim() != 4 || v.dim() != 4 || !is_floating(q.dtype())) return false;
  for (const Tensor* t : {&k, &v}) {
    if (t->size(0) != q.size(0) || t->size(1) != k.size(1) || t->size(3) != q.size(3) || t->size(2) == 0) return false;
  }
  if (grouped ? k.size(1) == 0 || q.size(1) % k.size(1) != 0 : q.size(1) != k.size(1)) return false;
  if (q.size(2) == 0 || !row_by_row(q) || !row_by_row(k) || !row_by_row(v)) return false;
  return !mask || !mask->defined() || mask_fits(*mask, q, k);
}
// Keys or values, each head as often as it is shared.
Tensor for_each_head(const Tensor& t, const Tensor& query) { return ops::repeat_interleave_self_int::call(t, query.size(-3) / t.size(-3), -3, {}); }

}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_attention_math(const Tensor& query, const Tensor& key, const Tensor& value, const Optional& attn_mask, double dropout_p,
                                                              bool is_causal, const Optional& dropout_mask, std::optional<double> scale, bool enable_gqa) {
  const double whole = scale.value_or(1.0 / std::sqrt(static_cast<double>(query.size(-1)))), root = std::sqrt(std::abs(whole));
  const Tensor q = ops::mul_Scalar::call(query, whole < 0 ? -root : root);
  Optional mask = attn_mask;
  if (is_causal) {
    if (mask && mask->defined()) throw Error("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
    mask = added(ops::tril::call(ops::ones::call(SizeVector{query.size(-2), key.size(-2)}, ScalarType::Bool, Layout::Strided, query.device()), 0), query.dtype());
  }
  Tensor keys = key, values = value;
  if (enable_gqa && !(query.size(-3) == key.size(-3) && query.size(-3) == value.size(-3))) {
    if (query.size(-3) % key.size(-3) != 0 || query.size(-3) % value.size(-3) != 0) throw Error("Number of heads in key and value must divide the number of heads in ");
    keys = for_each_head(key, query);
    values = for_each_head(value, query);
  }
  const Tensor k = ops::mul_Scalar::call(ops::transpose_int::call(keys, -2, -1), root);
  Tensor weights = ops::matmul::call(q, k);
  if (mask && mask->defined()) {
    if (weights.keys().has(DispatchKey::Meta)) weights = ops::add_Tensor::call(weights, *mask);
    else ops::add__Tensor::call(weights, *mask);
  }
  weights = ops::_safe_softmax::call(weights, -1);
  if (dropout_p > 0 && dropout_mask && dropout_mask->defined()) {
    warn("Dropout mask should only be used for testing purposes.");
    weights = ops::masked_fill_Scalar::call(weights, ops::logical_not::call(*dropout_mask), 0.0);
    weights = ops::to_dtype::call(weights, query.dtype());
    const Tensor kept = ops::mul_Scalar::call(values, 1 / (1 - dropout_p));
    return {ops::to_dtype::call(ops::matmul::call(weights, kept), query.dtype()), weights};
  }
  if (dropout_p > 0) weights = ops::dropout::call(weights, dropout_p, true);
  const Tensor out = ops::matmul::call(ops::to_dtype::call(weights, query.dtype()), values);
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
  if (fused(query, key, value, mask, dropout_p, enable_gqa)) {
    return std::get<0>(ops::_scaled_dot_product_flash_attention_for_cpu::call(query, key, value, dropout_p, is_causal, mask, scale));
  }
  return std::get<0>(ops::_scaled_dot_product_attention_math::call(query, key, value, mask, dropout_p, is_causal, {}, scale, enable_gqa));
}

// ---- stock's calls for whole layers in evaluation

std::tuple<Tensor, Tensor, Tensor> transform_bias_rescale_qkv(const Tensor& qkv, const Tensor& qkv_bias, int64_t num_heads) {
  const int64_t b = qkv.size(0), t = qkv.size(1), d = qkv.size(2) / 3;
  if (d % num_heads != 0) throw Error("embed_dim must be divisible by num_heads");
  const int64_t depth = d / num_heads;
  const Tensor all = ops::empty_memory_format::call(SizeVector{3, b, num_heads, t, depth}, qkv.dtype(), Layout::Strided, qkv.device());
  const Tensor in = qkv.is_contiguous() ? qkv : ops::contiguous::call(qkv), bias = qkv_bias.is_contiguous() ? qkv_bias : ops::contiguous::call(qkv_bias);
  with_floating(qkv.dtype(), "transform_bias_rescale_qkv", [&]<class T>(T) {
    using M = Math<T>;
    const M scale = M(1) / std::sqrt(static_cast<M>(depth));
    for (int64_t i = 0; i < in.numel(); ++i) {
      const int64_t column = i % (3 * d), part = column / d, head = column % d / depth, row = i / (3 * d);
      const M x = (static_cast<M>(in.data_as<T>()[i]) + static_cast<M>(bias.data_as<T>()[column])) * (part == 0 ? scale : M(1));
      all.data_as<T>()[(((part * b + row / t) * num_heads + head) * t + row % t) * depth + column % depth] = static_cast<T>(x);
    }
  });
  const Tensor flat = ops::view::call(all, SizeVector{3 * b, num_heads, t, depth});
  const Tensor q = ops::narrow::call(flat, 0, 0, b), k = ops::narrow::call(flat, 0, b, b);
  return {q, k, ops::narrow::call(flat, 0, 2 * b, b)};
}

std::tuple<Tensor, Tensor> native_multi_head_attention(const Tensor& query, const Tensor& key, const Tensor& value, int64_t embed_dim, int64_t num_head, const Tensor& qkv_weight,
                                                       const Tensor& qkv_bias, const Tensor& proj_weight, const Tensor& proj_bias, const Optional& mask, bool need_weights,
                                                       bool average_attn_weights, std::optional<int64_t> mask_type) {
  if (!query.is_same(key) || !key.is_same(value)) {
    throw NotImplemented("The embedded engine has no _native_multi_head_attention with another source yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  if (query.dim() != 3 || query.size(2) != embed_dim) throw Error("expected 3-D `query`, got " + std::to_string(query.dim()) + "-D tensor");
  const int64_t b = query.size(0), t = query.size(1), depth = embed_dim / num_head;
  const Tensor all = matmul(query, ops::t::call(qkv_weight));
  const auto [q, k, v] = ops::_transform_bias_rescale_qkv::call(all, qkv_bias, num_head);
  const SizeVector together{b * num_head, t, depth};
  const Tensor left = ops::view::call(q, together), right = ops::view::call(k, together);
  Tensor weights = ops::view::call(ops::bmm::call(left, ops::transpose_int::call(right, 2, 1)), SizeVector{b, num_head, t, t});
  if (mask && mask->defined()) {
    const Tensor hidden = mask->dtype() == ScalarType::Bool ? *mask : ops::to_dtype::call(*mask, ScalarType::Bool);
    weights = ops::_masked_softmax::call(weights, hidden, 3, mask_type);
  } else {
    ops::_softmax_out::call(weights, 3, false, weights);
  }
  const Tensor a = ops::view::call(weights, SizeVector{b * num_head, t, t}), c = ops::view::call(v, together);
  Tensor sum = ops::reshape::call(q, together);  // over what the queries were
  ops::bmm_out::call(a, c, sum);
  const Tensor heads = ops::view::call(sum, SizeVector{b, num_head, t, depth});
  const Tensor turned = ops::view::call(ops::contiguous::call(ops::permute::call(heads, SizeVector{0, 2, 1, 3})), SizeVector{b, t, embed_dim});
  const Tensor out = ops::view::call(linear(ops::view::call(turned, SizeVector{b * t, embed_dim}), proj_weight, proj_bias), SizeVector{b, t, embed_dim});
  if (!need_weights) return {out, Tensor()};
  if (average_attn_weights) {
    weights = ops::sum_dim_IntList::call(weights, SizeVector{1}, false, {});
    ops::div__Scalar::call(weights, num_head);
  }
  return {out, weights};
}

Tensor addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha, bool use_gelu) {
  Tensor out = addmm(self, mat1, mat2, beta, alpha);
  return use_gelu ? ops::gelu_::call(out) : ops::relu_::call(out);
}

Tensor transformer_encoder_layer_forward(const Tensor& src, int64_t embed_dim, int64_t num_heads, const Tensor& qkv_weight, const Tensor& qkv_bias, const Tensor& proj_weight,
                                         const Tensor& proj_bias, bool use_gelu, bool norm_first, double eps, const Tensor& norm_weight_1, const Tensor& norm_bias_1,
                                         const Tensor& norm_weight_2, const Tensor& norm_bias_2, const Tensor& ffn_weight_1, const Tensor& ffn_bias_1, const Tensor& ffn_weight_2,
                                         const Tensor& ffn_bias_2, const Optional& mask, std::optional<int64_t> mask_type) {
  const SizeVector width{embed_dim};
  const auto norm = [&](const Tensor& x, const Tensor& w, const Tensor& b) { return ops::layer_norm::call(x, width, w, b, eps, true); };
  Tensor x = norm_first ? norm(src, norm_weight_1, norm_bias_1) : src;
  x = std::get<0>(ops::_native_multi_head_attention::call(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, false, true, mask_type));
  ops::add__Tensor::call(x, src);
  if (!norm_first) x = norm(x, norm_weight_1, norm_bias_1);
  const Tensor before = x;
  if (norm_first) x = norm(x, norm_weight_2, norm_bias_2);
  const auto flat = [](const Tensor& t) { return ops::view::call(t, SizeVector{t.size(0) * t.size(1), t.size(2)}); };
  const auto back = [&x](const Tensor& t) { return ops::view::call(t, SizeVector{x.size(0), x.size(1), -1}); };
  if (is_nested(x)) {
    const Tensor between = rows_with_activation(x, ffn_weight_1, ffn_bias_1, use_gelu);
    Tensor out = rows_with_activation(between, ffn_weight_2, ffn_bias_2, {});
    ops::add__Tensor::call(out, before);
    return norm_first ? out : norm(out, norm_weight_2, norm_bias_2);
  }
  const Tensor inner = back([&] {
    const Tensor rows = flat(x);
    return ops::_addmm_activation::call(ffn_bias_1, rows, ops::t::call(ffn_weight_1), 1, 1, use_gelu);
  }());
  Tensor out = back([&] {
    const Tensor rows = flat(inner);
    return ops::addmm::call(ffn_bias_2, rows, ops::t::call(ffn_weight_2));
  }());
  ops::add__Tensor::call(out, before);
  return norm_first ? out : norm(out, norm_weight_2, norm_bias_2);
}

}  // namespace peel::kernels
