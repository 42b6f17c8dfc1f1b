// Layers on nested tensors: linear maps, products, softmax, norms, dropout, sums; and stock's calls for whole encoder layers.
#include <algorithm>
#include <cmath>

#include "core/dispatch/error.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/nested/nested.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

using Optional = std::optional<Tensor>;

int64_t consistent_last_size(const Tensor& t) {
  const std::optional<int64_t> last = nested_size(t, -1);
  if (!last) throw Error("Expected all tensors in nested tensor to have the same trailing dimension, instead last dimension equals: " + std::to_string(largest_sizes(nested_of(t).sizes).back()));
  return *last;
}

Tensor sizes_with_last(const Tensor& sizes, int64_t last) {
  const Tensor out = ops::clone::call(sizes);
  Tensor column = ops::select_int::call(out, 1, -1);
  Tensor number = core::empty(SizeVector{}, ScalarType::Long);
  *number.data_as<int64_t>() = last;
  ops::fill__Tensor::call(column, number);
  return out;
}

namespace {

Tensor rows_of_buffer(const Tensor& t, int64_t width) { return ops::reshape::call(nested_buffer(t), SizeVector{-1, width}); }

// All parts' rows at once through `f`, which gives rows of another width.
template <class F>
Tensor mapped_rows(const Tensor& t, int64_t width, int64_t new_width, const F& f) {
  const Tensor out = ops::reshape::call(f(rows_of_buffer(t, width)), SizeVector{-1});
  return wrap_buffer(out, sizes_with_last(nested_of(t).sizes, new_width));
}

// With a bias and, where `gelu` says which, an activation.
Tensor times_plus(const Tensor& t, const Tensor& turned_weight, const Tensor& bias, std::optional<bool> gelu = {}) {
  return mapped_rows(t, turned_weight.size(0), turned_weight.size(1), [&](const Tensor& rows) {
    return gelu ? ops::_addmm_activation::call(bias, rows, turned_weight, 1, 1, *gelu) : ops::addmm::call(bias, rows, turned_weight);
  });
}

}  // namespace

Tensor linear_nested(const Tensor& input, const Tensor& weight, const Optional& bias) {
  if (!is_nested(input)) throw Error("Expected the input of a linear map to be nested, where its weight is");
  if (weight.impl().nested) throw Error("linear does not support nested weight when input is a nested tensor.");
  if (input.dim() != 3 || !is_nested_contiguous(input)) throw Error("Inputs to nested linear must be contiguous 3D tensors");
  const int64_t last = consistent_last_size(input);
  if (last != weight.size(1)) {
    throw Error("Shape mismatch for NestedTensor Linear: Expected input's (a nested tensor) 'last_dim' to equal 'weight.size(1), but got: last_dim = " + std::to_string(last) +
                ", and weight.size(1) = " + std::to_string(weight.size(1)));
  }
  return mapped_rows(input, last, weight.size(0), [&](const Tensor& rows) { return ops::linear::call(rows, weight, bias); });
}
std::tuple<Tensor, Tensor, Tensor> linear_backward_nested(const Tensor& input, const Tensor& grad, const Tensor& weight, std::array<bool, 3> wanted) {
  std::tuple<Tensor, Tensor, Tensor> out;
  if (!grad.defined()) return out;
  const Tensor rows = ops::reshape::call(nested_buffer(grad), SizeVector{-1, weight.size(0)});
  if (wanted[0]) {
    const Tensor flat = ops::view::call(ops::mm::call(rows, weight), SizeVector{-1});
    std::get<0>(out) = wrap_buffer(flat, ops::clone::call(nested_of(input).sizes));
  }
  if (wanted[1]) {
    const Tensor in = rows_of_buffer(input, weight.size(1));
    std::get<1>(out) = ops::mm::call(ops::t::call(rows), in);
  }
  if (wanted[2]) std::get<2>(out) = ops::sum_dim_IntList::call(rows, Sizes(SizeVector{0}));
  return out;
}

Tensor matmul_nested(const Tensor& self_, const Tensor& other_) {
  if (!is_nested(self_) || !is_nested(other_)) {
    throw Error(std::string("Expected both to be nested, but got a ") + (is_nested(self_) ? "nested self and non-nested other" : "non-nested self and nested other"));
  }
  const auto row_major = [](const Tensor& t) { return is_nested_contiguous(t) ? t : ops::contiguous::call(t); };
  const Tensor self = row_major(self_), other = row_major(other_);
  if (self.dim() < 3 || other.dim() < 3) {
    const bool first = self.dim() < 3;
    throw Error("matmul: For nested tensors, only inputs with >= 3 dims are currently supported. " + std::string(first ? "1st" : "2nd") + " input has rank: " +
                std::to_string(first ? self.dim() : other.dim()));
  }
  if (self.dim() != other.dim()) throw Error("matmul: both inputs must have the same rank");
  if (part_count(self) != part_count(other)) {
    throw Error("matmul: Expected size for the 1st dimension of 2nd input tensor to be: " + std::to_string(part_count(self)) + " but got: " + std::to_string(part_count(other)) + ".");
  }
  const Tensor &a = nested_of(self).sizes, &b = nested_of(other).sizes;
  const Tensor batch = ops::narrow::call(a, 1, 0, self.dim() - 3), other_batch = ops::narrow::call(b, 1, 0, other.dim() - 3);
  if (!ops::equal::call(batch, other_batch)) throw Error("matmul: For nested tensors, batch dimensions must have the same sizes, got " + to_text(batch.sizes()) + " and " + to_text(other_batch.sizes()));
  const Tensor inner = ops::select_int::call(a, 1, -1), other_inner = ops::select_int::call(b, 1, -2);
  if (!ops::equal::call(inner, other_inner)) {
    for (const Tensor& t : {inner, other_inner}) ops::to_device::call(t, Device(), ScalarType::Double);  // for the text
    std::string text;
    for (int64_t i = 0; i < inner.numel(); ++i) text += (i ? "\n " : " ") + std::to_string(inner.data_as<int64_t>()[i * inner.strides()[0]]);
    throw Error("matmul: Nested tensors cannot be matrix multiplied, last dimension of self has sizes" + text);
  }
  const Tensor sizes = ops::clone::call(a);
  const Tensor columns = ops::clone::call(ops::select_int::call(b, 1, -1));
  Tensor last = ops::select_int::call(sizes, 1, -1);
  ops::copy_::call(last, columns);
  const Tensor left = ops::to_padded_tensor::call(self, 0.0), right = ops::to_padded_tensor::call(other, 0.0);
  return nested_from_padded_rows(ops::matmul::call(left, right), sizes);
}
std::tuple<Tensor, Tensor> matmul_backward_nested(const Tensor& grad, const Tensor& self, const Tensor& other, std::array<bool, 2> wanted) {
  std::tuple<Tensor, Tensor> out;
  if (!grad.defined()) return out;
  if (wanted[0]) std::get<0>(out) = ops::matmul::call(grad, ops::transpose_int::call(other, -1, -2));
  if (wanted[1]) std::get<1>(out) = ops::matmul::call(ops::transpose_int::call(self, -1, -2), grad);
  return out;
}
Tensor bmm_nested(const Tensor& self, const Tensor& mat2) {
  if (!is_nested(self) || !is_nested(mat2)) {
    throw Error(std::string("Expected both to be nested, but got a ") + (is_nested(self) ? "nested self and non-nested other" : "non-nested self and nested other"));
  }
  if (self.dim() != 3 || mat2.dim() != 3) throw Error("batch1 must be a 3D tensor");
  const int64_t n = part_count(self);
  if (n != part_count(mat2)) throw Error("Expected size for the 1st dimension of batch2 tensor to be: " + std::to_string(n) + " but got: " + std::to_string(part_count(mat2)) + ".");
  const NestedParts &p = nested_of(self), &q = nested_of(mat2);
  const Tensor sizes = ops::new_empty::call(p.sizes, p.sizes.sizes());
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Sizes a = row_of(p.sizes, i), b = row_of(q.sizes, i);
    if (a[1] != b[0]) {
      throw Error(std::to_string(i) + "-th nested matrices in batch cannot be multiplied (" + std::to_string(a[0]) + "x" + std::to_string(a[1]) + " and " + std::to_string(b[0]) + "x" +
                  std::to_string(b[1]) + ")");
    }
    sizes.data_as<int64_t>()[2 * i] = a[0];
    sizes.data_as<int64_t>()[2 * i + 1] = b[1];
    count += a[0] * b[1];
  }
  const Tensor left = nested_buffer(self), right = nested_buffer(mat2);
  const Tensor out = wrap_buffer(ops::new_empty::call(left, SizeVector{count}), sizes);
  std::vector<Tensor> to = ops::unbind_int::call(out);
  for (int64_t i = 0; i < n; ++i) {
    const Tensor b = ops::as_strided::call(right, row_of(q.sizes, i), row_of(q.strides, i), q.offsets.data_as<int64_t>()[i]);
    const Tensor a = ops::as_strided::call(left, row_of(p.sizes, i), row_of(p.strides, i), p.offsets.data_as<int64_t>()[i]);
    ops::mm_out::call(a, b, to[static_cast<size_t>(i)]);
  }
  return out;
}

Tensor softmax_nested(const Tensor& self, int64_t dim_, bool half_to_float) {
  const int64_t dim = wrap_dimension(dim_, self.dim());
  if (part_count(self) == 0) return ops::clone::call(self);
  if (dim < 1) throw Error("Cannot apply softmax across nested dimension 0");
  const Tensor buffer = nested_buffer(self);
  const Tensor to = ops::new_empty::call(buffer, buffer.sizes());
  const Tensor out = wrap_buffer(to, ops::clone::call(nested_of(self).sizes));
  const std::vector<Tensor> from = ops::unbind_int::call(self);
  std::vector<Tensor> parts = ops::unbind_int::call(out);
  for (size_t i = 0; i < parts.size(); ++i) ops::_softmax_out::call(from[i], dim - 1, half_to_float, parts[i]);
  return out;
}
Tensor softmax_backward_nested(const Tensor& grad, const Tensor& output, int64_t dim, ScalarType input_dtype) {
  if (!ops::equal::call(nested_of(grad).sizes, nested_of(output).sizes)) throw Error("_softmax_backward_data: gradient and output of a nested tensor have other sizes");
  const Tensor sizes = ops::clone::call(nested_of(grad).sizes);
  const Tensor out = wrap_buffer(ops::empty_like::call(nested_buffer(grad)), sizes);
  const std::vector<Tensor> g = ops::unbind_int::call(grad), o = ops::unbind_int::call(output);
  std::vector<Tensor> to = ops::unbind_int::call(out);
  for (size_t i = 0; i < to.size(); ++i) ops::_softmax_backward_data_out::call(g[i], o[i], wrap_dimension(dim, grad.dim()) - 1, input_dtype, to[i]);
  return out;
}

namespace {

int64_t normalised_rows(const Tensor& input, Sizes normalized_shape, const Optional& weight, const Optional& bias) {
  if (!weight || !weight->defined() || !bias || !bias->defined()) throw ValueError("NestedTensor layer_norm requires weight and bias");
  if (normalized_shape.size() != 1 || consistent_last_size(input) != normalized_shape[0]) throw Error("layer_norm of a nested tensor is over the last dimension alone");
  return nested_numel(input) / normalized_shape[0];
}
Tensor of_rows(const Tensor& input, int64_t rows) {
  return ops::empty_memory_format::call(SizeVector{rows}, input.dtype() == ScalarType::Double ? ScalarType::Double : ScalarType::Float, Layout::Strided, input.device());
}
Tensor like_vector(const Tensor& t) { return ops::empty_memory_format::call(t.sizes(), t.dtype(), Layout::Strided, t.device(), {}, MemoryFormat::Contiguous); }

}  // namespace

std::tuple<Tensor, Tensor, Tensor> layer_norm_nested(const Tensor& input, Sizes normalized_shape, const Optional& weight, const Optional& bias, double eps) {
  const int64_t rows = normalised_rows(input, normalized_shape, weight, bias), width = normalized_shape[0];
  const Tensor buffer = nested_buffer(input), out = like_vector(buffer), mean = of_rows(input, rows), rstd = of_rows(input, rows);
  with_floating(input.dtype(), "LayerNormKernelImpl", [&]<class T>(T) {
    using M = Math<T>;
    for (int64_t r = 0; r < rows; ++r) {
      const T* x = buffer.data_as<T>() + r * width;
      M sum = 0, squares = 0;
      for (int64_t k = 0; k < width; ++k) sum += static_cast<M>(x[k]);
      const M middle = sum / static_cast<M>(width);
      for (int64_t k = 0; k < width; ++k) squares += (static_cast<M>(x[k]) - middle) * (static_cast<M>(x[k]) - middle);
      const M by = 1 / std::sqrt(squares / static_cast<M>(width) + static_cast<M>(eps));
      for (int64_t k = 0; k < width; ++k) {
        out.data_as<T>()[r * width + k] = static_cast<T>((static_cast<M>(x[k]) - middle) * by * static_cast<M>(weight->data_as<T>()[k]) + static_cast<M>(bias->data_as<T>()[k]));
      }
      mean.data_as<M>()[r] = middle;
      rstd.data_as<M>()[r] = by;
    }
  });
  return {wrap_buffer(out, nested_of(input).sizes), mean, rstd};
}
std::tuple<Tensor, Tensor, Tensor> layer_norm_backward_nested(const Tensor& grad, const Tensor& input, Sizes normalized_shape, const Tensor& mean, const Tensor& rstd,
                                                              const Optional& weight, const Optional& bias, std::array<bool, 3> wanted) {
  const int64_t rows = normalised_rows(input, normalized_shape, weight, bias), width = normalized_shape[0];
  const Tensor g = nested_buffer(grad), x = nested_buffer(input);
  const Tensor dx = wanted[0] ? like_vector(x) : Tensor(), dw = wanted[1] ? like_vector(*weight) : Tensor(), db = wanted[2] ? like_vector(*bias) : Tensor();
  if (wanted[1] || wanted[2]) {  // stock's sums by thread
    Tensor sums = ops::empty_memory_format::call(SizeVector{0}, weight->dtype(), Layout::Strided, weight->device());
    ops::resize_::call(sums, SizeVector{2, 2, width});
    ops::zero_::call(sums);
  }
  with_floating(input.dtype(), "LayerNormBackwardKernelImpl", [&]<class T>(T) {
    using M = Math<T>;
    std::vector<M> to_weight(static_cast<size_t>(width)), to_bias(static_cast<size_t>(width));
    for (int64_t r = 0; r < rows; ++r) {
      const M middle = mean.data_as<M>()[r], by = rstd.data_as<M>()[r];
      M along = 0, sum = 0;
      for (int64_t k = 0; k < width; ++k) {
        const M gk = static_cast<M>(g.data_as<T>()[r * width + k]), n = (static_cast<M>(x.data_as<T>()[r * width + k]) - middle) * by, w = static_cast<M>(weight->data_as<T>()[k]);
        to_weight[static_cast<size_t>(k)] += gk * n;
        to_bias[static_cast<size_t>(k)] += gk;
        along += gk * w * n;
        sum += gk * w;
      }
      for (int64_t k = 0; wanted[0] && k < width; ++k) {
        const M gk = static_cast<M>(g.data_as<T>()[r * width + k]), n = (static_cast<M>(x.data_as<T>()[r * width + k]) - middle) * by, w = static_cast<M>(weight->data_as<T>()[k]);
        dx.data_as<T>()[r * width + k] = static_cast<T>(by * (gk * w - (sum + n * along) / static_cast<M>(width)));
      }
    }
    for (int64_t k = 0; k < width; ++k) {
      if (wanted[1]) dw.data_as<T>()[k] = static_cast<T>(to_weight[static_cast<size_t>(k)]);
      if (wanted[2]) db.data_as<T>()[k] = static_cast<T>(to_bias[static_cast<size_t>(k)]);
    }
  });
  return {wanted[0] ? wrap_buffer(dx, nested_of(input).sizes) : Tensor(), dw, db};
}

std::tuple<Tensor, Tensor> dropout_nested(const Tensor& input, double p, Flag train) {
  const auto [out, mask] = ops::native_dropout::call(nested_buffer(input), p, train);
  const NestedParts& n = nested_of(input);
  const auto like = [&n](const Tensor& buffer) {
    const Tensor offsets = ops::clone::call(n.offsets), strides = ops::clone::call(n.strides), sizes = ops::clone::call(n.sizes);
    return nested_over(buffer, {sizes, strides, offsets});
  };
  const Tensor a = like(out);
  return {a, like(mask)};
}

namespace {

// Sums of each part's rows are laid out as the parts are; asked for in numbers, as stock does it.
int64_t asked(const Tensor& t, int64_t i) { return ops::item::call(ops::select_int::call(t, 0, i)).value.to_int(); }
void check_last(const Tensor& self, std::optional<Sizes> dims, bool keepdim) {
  if (!dims || dims->size() != 1) throw Error("NestedTensor only allows reduction of a single dimension for now.");
  const int64_t dim = wrap_dimension((*dims)[0], self.dim());
  if (dim != self.dim() - 1) throw Error("NestedTensor can only be reduced across the last dimension for now got dimension " + std::to_string(dim) + " instead.");
  if (!keepdim) throw Error("NestedTensor always requires keepdim=True for now.");
}

}  // namespace

Tensor sum_dim_nested(const Tensor& self, std::optional<Sizes> dims, bool keepdim, Type dtype) {
  check_last(self, dims, keepdim);
  if (dtype) throw Error("NestedTensor does not support dtype argument of sum");
  if (!is_nested_contiguous(self)) throw Error("Expected a contiguous nested tensor");
  const Tensor& sizes = nested_of(self).sizes;
  const Tensor new_sizes = ops::clone::call(sizes);
  Tensor last = ops::select_int::call(new_sizes, 1, -1);
  ops::fill__Scalar::call(last, 1);
  const Tensor segments = ops::prod_dim_int::call(new_sizes, -1, false), lengths = ops::select_int::call(sizes, 1, -1);
  const int64_t all = ops::item::call(ops::sum::call(segments)).value.to_int();
  const Tensor from = nested_buffer(self), to = ops::new_empty::call(from, SizeVector{all});
  with_any_type(self.dtype(), "nested_sum_dim_cpu", [&]<class T>(T) {
    const T* in = from.data_as<T>();
    T* out = to.data_as<T>();
    for (int64_t i = 0; i < part_count(self); ++i) {
      const int64_t count = asked(segments, i), length = asked(lengths, i);
      for (int64_t s = 0; s < count; ++s) {
        Math<T> sum{};
        for (int64_t k = 0; k < length; ++k) sum += static_cast<Math<T>>(*in++);
        *out++ = static_cast<T>(sum);
      }
    }
  });
  return wrap_buffer(to, new_sizes);
}
Tensor sum_backward_nested(const Tensor& grad, const Tensor& self, std::optional<Sizes>, bool) {
  const Tensor& sizes = nested_of(self).sizes;
  const Tensor to = ops::new_empty::call(nested_buffer(self), SizeVector{nested_numel(self)}), from = nested_buffer(grad);
  const Tensor segments = ops::prod_dim_int::call(nested_of(grad).sizes, -1, false), lengths = ops::select_int::call(sizes, 1, -1);
  with_any_type(self.dtype(), "nested_sum_dim_cpu", [&]<class T>(T) {
    const T* in = from.data_as<T>();
    T* out = to.data_as<T>();
    for (int64_t i = 0; i < part_count(self); ++i) {
      const int64_t count = asked(segments, i), length = asked(lengths, i);
      for (int64_t s = 0; s < count; ++s, ++in) out = std::fill_n(out, length, *in);
    }
  });
  return wrap_buffer(to, sizes);
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, Flag train) {
  if (input.numel() == 0) return {input, ops::empty_like::call(input, input.dtype())};
  if (!train.value_or(true) || p == 0) {
    const Tensor mask = ops::ones_like::call(input, ScalarType::Bool, Layout::Strided, input.device());
    return {ops::clone::call(input), mask};
  }
  Tensor mask = ops::empty_like::call(input, ScalarType::Bool, Layout::Strided, input.device());
  ops::bernoulli__float::call(mask, 1 - p);
  Tensor out = ops::mul_Tensor::call(input, mask);
  ops::mul__Scalar::call(out, p == 1 ? 0.0 : 1 / (1 - p));
  return {out, mask};
}
Tensor native_dropout_backward(const Tensor& grad, const Tensor& mask, double scale) { return ops::mul_Scalar::call(ops::mul_Tensor::call(grad, mask), scale); }

// ---- whole encoder layers

std::tuple<Tensor, Tensor, Tensor> transform_bias_rescale_qkv_nested(const Tensor& qkv, const Tensor& qkv_bias, int64_t num_heads) {
  return transform_bias_rescale_qkv(ops::to_padded_tensor::call(qkv, 0.0), qkv_bias, num_heads);
}

// Of each part's square among padded ones; what pads them becomes zero.
Tensor softmax_with_shape(const Tensor& self, const Tensor& query) {
  const Tensor out = ops::empty_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const Tensor& sizes = nested_of(query).sizes;
  const int64_t length = self.size(2);
  Tensor zero = core::empty(SizeVector{}, self.dtype());
  std::fill_n(static_cast<char*>(zero.data()), element_size(self.dtype()), '\0');
  // A slice of everything is no call.
  const auto sliced = [](const Tensor& t, int64_t dim, int64_t from, int64_t to) { return from == 0 && to == t.size(dim) ? t : ops::slice_Tensor::call(t, dim, from, to, 1); };
  for (int64_t b = 0; b < part_count(query); ++b) {
    const int64_t n = ops::item::call(ops::select_int::call(ops::select_int::call(sizes, 0, b), 0, 0)).value.to_int();
    const auto square = [&](const Tensor& t) { return sliced(sliced(ops::select_int::call(t, 0, b), 1, 0, n), 2, 0, n); };
    const Tensor values = ops::softmax_int::call(square(self), 2);
    Tensor to = square(out);
    ops::copy_::call(to, values);
    Tensor right = sliced(sliced(ops::select_int::call(out, 0, b), 1, 0, n), 2, n, length);
    ops::fill__Tensor::call(right, zero);
    Tensor below = sliced(ops::select_int::call(out, 0, b), 1, n, length);
    ops::fill__Tensor::call(below, zero);
  }
  return out;
}

std::tuple<Tensor, Tensor> multi_head_attention_nested(const Tensor& query, const Tensor& key, const Tensor& value, int64_t embed_dim, int64_t num_head, const Tensor& qkv_weight,
                                                       const Tensor& qkv_bias, const Tensor& proj_weight, const Tensor& proj_bias, const Optional& mask, bool need_weights, bool,
                                                       std::optional<int64_t>) {
  if (!query.is_same(key) || !key.is_same(value)) nested_missing("_native_multi_head_attention with another source");
  if (mask && mask->defined()) throw Error("NestedTensor with mask is not supported yet");
  if (need_weights) throw Error("NestedTensor with need_weights is not supported yet");
  const Tensor turned = ops::t::call(qkv_weight);
  const Tensor all = mapped_rows(query, embed_dim, turned.size(1), [&](const Tensor& rows) { return ops::mm::call(rows, turned); });
  const auto [q, k, v] = ops::_transform_bias_rescale_qkv::call(all, qkv_bias, num_head);
  const int64_t b = q.size(0), t = q.size(2), depth = embed_dim / num_head;
  const SizeVector together{b * num_head, t, depth};
  const Tensor left = ops::view::call(q, together), right = ops::view::call(k, together);
  Tensor weights = ops::view::call(ops::bmm::call(left, ops::transpose_int::call(right, 2, 1)), SizeVector{b, num_head, t, t});
  weights = ops::_nested_tensor_softmax_with_shape::call(weights, query);
  const Tensor a = ops::view::call(weights, SizeVector{b * num_head, t, t}), c = ops::view::call(v, together);
  Tensor sum = ops::reshape::call(q, together);  // over what the queries were
  ops::bmm_out::call(a, c, sum);
  const Tensor heads = ops::view::call(sum, SizeVector{b, num_head, t, depth});
  const Tensor context = ops::_nested_from_padded::call(heads, nested_of(query).sizes, true);
  return {times_plus(context, ops::t::call(proj_weight), proj_bias), Tensor()};
}

Tensor rows_with_activation(const Tensor& x, const Tensor& weight, const Tensor& bias, std::optional<bool> gelu) { return times_plus(x, ops::t::call(weight), bias, gelu); }

}  // namespace peel::kernels
