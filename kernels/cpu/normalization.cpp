// Layer, group and batch normalisation, embedding.
#include <cmath>

#include "kernels/cpu/rows.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

// As stock passes an optional tensor on, which shows in the call's keys.
std::optional<Tensor> or_undefined(const std::optional<Tensor>& t) { return t ? t : Tensor(); }


using Optional = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;
bool given(const Optional& t) { return t && t->defined(); }
Tensor made(Sizes size, const Tensor& like) { return ops::empty_memory_format::call(size, like.dtype(), Layout::Strided, like.device()); }

// The factors and offsets of channels as double; 1 and 0 where there are none.
std::vector<double> numbers(const Optional& t, int64_t n, double otherwise) {
  std::vector<double> out(static_cast<size_t>(n), otherwise);
  if (!given(t)) return out;
  const Tensor flat = rows_of(*t, std::vector<bool>(t->sizes().size(), true)).data;
  with_floating(t->dtype(), "weight", [&]<class T>(T) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(static_cast<Math<T>>(flat.data_as<T>()[i]));
  });
  return out;
}
std::vector<double> numbers(const Tensor& t) { return numbers(Optional(t), t.numel(), 0); }
void put(const Tensor& t, const std::vector<double>& values) {  // into row-major memory
  if (!t.defined()) return;
  with_floating(t.dtype(), "put", [&]<class T>(T) {
    for (size_t i = 0; i < values.size(); ++i) t.data_as<T>()[i] = static_cast<T>(values[i]);
  });
}

// Groups of elements that are normalised together, in an input seen as [outer, group, inner] of `count` groups with `length` elements
// each; element k of group g is channel(g, k). All in double.
struct Sums {
  double mean = 0, inverse = 0;
};
Sums sums_of(const std::vector<double>& x, size_t start, size_t length, double eps) {
  Sums s;
  for (size_t k = 0; k < length; ++k) s.mean += x[start + k];
  s.mean /= static_cast<double>(length);
  double squares = 0;
  for (size_t k = 0; k < length; ++k) squares += (x[start + k] - s.mean) * (x[start + k] - s.mean);
  s.inverse = 1 / std::sqrt(squares / static_cast<double>(length) + eps);
  return s;
}
// dx of one group; g = dy * weight.
void group_backward(const std::vector<double>& x, const std::vector<double>& g, std::vector<double>* dx, size_t start, size_t length, Sums s) {
  double total = 0, weighted = 0;
  for (size_t k = 0; k < length; ++k) {
    total += g[start + k];
    weighted += g[start + k] * (x[start + k] - s.mean) * s.inverse;
  }
  const auto n = static_cast<double>(length);
  for (size_t k = 0; k < length; ++k) {
    const double norm = (x[start + k] - s.mean) * s.inverse;
    (*dx)[start + k] = s.inverse * (g[start + k] - total / n - norm * weighted / n);
  }
}

}  // namespace

Tensor layer_norm(const Tensor& input, Sizes normalized_shape, const Optional& weight, const Optional& bias, double eps, bool) {
  return std::get<0>(ops::native_layer_norm::call(input, normalized_shape, weight, bias, eps));
}
Three native_layer_norm(const Tensor& input, Sizes normalized_shape, const Optional& weight, const Optional& bias, double eps) {
  const int64_t axes = static_cast<int64_t>(normalized_shape.size());
  if (axes < 1) throw Error("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = " + to_text(normalized_shape));
  for (const Optional* t : {&weight, &bias}) {
    if (given(*t) && !std::ranges::equal((*t)->sizes(), normalized_shape)) {
      throw Error(std::string("Expected ") + (t == &weight ? "weight" : "bias") + " to be of same shape as normalized_shape, but got " +
                  (t == &weight ? "weight" : "bias") + " of shape " + to_text((*t)->sizes()) + " and normalized_shape = " + to_text(normalized_shape));
    }
  }
  const int64_t outer = input.dim() - axes;
  if (outer < 0 || !std::ranges::equal(input.sizes().subspan(static_cast<size_t>(outer)), normalized_shape)) {
    std::string shape = to_text(normalized_shape);
    throw Error("Given normalized_shape=" + shape + ", expected input with shape [*" + (shape.size() > 2 ? ", " + shape.substr(1) : "]") +
                ", but got input of size" + to_text(input.sizes()));
  }
  const Tensor x = made_contiguous(input);
  const auto length = static_cast<size_t>(element_count(normalized_shape));
  const int64_t rows = x.numel() / std::max<int64_t>(static_cast<int64_t>(length), 1);
  const Tensor y = made(x.sizes(), x);
  const Tensor mean = made(SizeVector{rows}, x), rstd = made(SizeVector{rows}, x);
  const std::vector<double> v = numbers(x), w = numbers(weight, static_cast<int64_t>(length), 1), b = numbers(bias, static_cast<int64_t>(length), 0);
  std::vector<double> out(v.size()), means, inverses;
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    const Sums s = sums_of(v, r * length, length, eps);
    means.push_back(s.mean);
    inverses.push_back(s.inverse);
    for (size_t k = 0; k < length; ++k) out[r * length + k] = (v[r * length + k] - s.mean) * s.inverse * w[k] + b[k];
  }
  put(y, out);
  put(mean, means);
  put(rstd, inverses);
  SizeVector stat(input.sizes().begin(), input.sizes().begin() + outer);
  stat.insert(stat.end(), static_cast<size_t>(axes), 1);
  return {y, ops::view::call(mean, stat), ops::view::call(rstd, stat)};
}
Three native_layer_norm_backward(const Tensor& grad_out, const Tensor& input, Sizes normalized_shape, const Tensor& mean, const Tensor& rstd, const Optional& weight,
                                 const Optional& bias, std::array<bool, 3> output_mask) {
  const Tensor x = made_contiguous(input);
  Tensor dx, dw, db;
  if (output_mask[0]) dx = made(x.sizes(), x);
  if (output_mask[1]) dw = made(weight->sizes(), *weight);
  if (output_mask[2]) db = made(bias->sizes(), *bias);
  const Tensor dy = made_contiguous(grad_out);
  Tensor buffer = made(SizeVector{0}, x);  // stock's, for its threads
  if (dw.defined() || db.defined()) {
    ops::resize_::call(buffer, SizeVector{2, 1, element_count(normalized_shape)});
    ops::zero_::call(buffer);
  }
  const auto length = static_cast<size_t>(element_count(normalized_shape));
  const std::vector<double> v = numbers(x), g = numbers(dy), m = numbers(mean), s = numbers(rstd), w = numbers(weight, static_cast<int64_t>(length), 1);
  std::vector<double> out(v.size()), scaled(v.size()), of_weight(length), of_bias(length);
  for (size_t r = 0; r < m.size(); ++r) {
    for (size_t k = 0; k < length; ++k) {
      const size_t at = r * length + k;
      scaled[at] = g[at] * w[k];
      of_weight[k] += g[at] * (v[at] - m[r]) * s[r];
      of_bias[k] += g[at];
    }
    group_backward(v, scaled, &out, r * length, length, {m[r], s[r]});
  }
  put(dx, out);
  put(dw, of_weight);
  put(db, of_bias);
  return {dx, dw, db};
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Optional& weight, const Optional& bias, double eps, bool) {
  if (input.dim() < 2) throw Error("Expected at least 2 dimensions for input tensor but received " + std::to_string(input.dim()));
  const int64_t n = input.size(0), c = input.size(1);
  if (num_groups <= 0 || c % num_groups != 0) {
    throw Error("Expected number of channels in input to be divisible by num_groups, but got input of shape " + to_text(input.sizes()) + " and num_groups=" +
                std::to_string(num_groups));
  }
  const Tensor x = made_contiguous(input);
  const auto contiguous = [](const Optional& t) { return given(t) ? Optional(made_contiguous(*t)) : or_undefined(t); };
  const Optional gamma = contiguous(weight), beta = contiguous(bias);
  const int64_t inner = x.numel() / std::max<int64_t>(n * c, 1);
  return std::get<0>(ops::native_group_norm::call(x, gamma, beta, n, c, inner, num_groups, eps));
}
Three native_group_norm(const Tensor& input, const Optional& weight, const Optional& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps) {
  const Tensor x = made_contiguous(input);
  const Tensor y = made(x.sizes(), x), mean = made(SizeVector{N, group}, x), rstd = made(SizeVector{N, group}, x);
  const std::vector<double> v = numbers(x), w = numbers(weight, C, 1), b = numbers(bias, C, 0);
  std::vector<double> out(v.size()), means, inverses;
  const auto length = static_cast<size_t>(C / group * HxW), inner = static_cast<size_t>(HxW), channels = static_cast<size_t>(C / group);
  for (size_t r = 0; r < static_cast<size_t>(N * group); ++r) {
    const Sums s = sums_of(v, r * length, length, eps);
    means.push_back(s.mean);
    inverses.push_back(s.inverse);
    for (size_t k = 0; k < length; ++k) {
      const size_t c = r % static_cast<size_t>(group) * channels + k / inner;
      out[r * length + k] = (v[r * length + k] - s.mean) * s.inverse * w[c] + b[c];
    }
  }
  put(y, out);
  put(mean, means);
  put(rstd, inverses);
  return {y, mean, rstd};
}
Three native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Optional& weight, int64_t N, int64_t C,
                                 int64_t HxW, int64_t group, std::array<bool, 3> output_mask) {
  Tensor dx, dw, db;
  if (output_mask[0]) dx = made(input.sizes(), input);
  if (output_mask[1]) dw = made(weight->sizes(), *weight);
  if (output_mask[2]) db = made(SizeVector{C}, input);
  made(SizeVector{N, C}, input);  // stock's sums of dy x and of dy
  made(SizeVector{N, C}, input);
  const std::vector<double> v = numbers(input), g = numbers(grad_out), m = numbers(mean), s = numbers(rstd), w = numbers(weight, C, 1);
  std::vector<double> out(v.size()), scaled(v.size()), of_weight(static_cast<size_t>(C)), of_bias(static_cast<size_t>(C));
  const auto length = static_cast<size_t>(C / group * HxW), inner = static_cast<size_t>(HxW), channels = static_cast<size_t>(C / group);
  for (size_t r = 0; r < m.size(); ++r) {
    for (size_t k = 0; k < length; ++k) {
      const size_t at = r * length + k, c = r % static_cast<size_t>(group) * channels + k / inner;
      scaled[at] = g[at] * w[c];
      of_weight[c] += g[at] * (v[at] - m[r]) * s[r];
      of_bias[c] += g[at];
    }
    group_backward(v, scaled, &out, r * length, length, {m[r], s[r]});
  }
  put(dx, out);
  put(dw, of_weight);
  put(db, of_bias);
  return {dx, dw, db};
}

Tensor batch_norm(const Tensor& input, const Optional& weight, const Optional& bias, const Optional& running_mean, const Optional& running_var, bool training, double momentum,
                  double eps, bool cudnn_enabled) {
  if (training && input.dim() > 1 && input.numel() > 0 && input.numel() / input.size(1) == 1) {
    throw ValueError("Expected more than 1 value per channel when training, got input size " + to_text(input.sizes()));
  }
  return std::get<0>(ops::_batch_norm_impl_index::call(input, or_undefined(weight), or_undefined(bias), or_undefined(running_mean), or_undefined(running_var), training, momentum, eps, cudnn_enabled));
}
std::tuple<Tensor, Tensor, Tensor, Tensor, int64_t> _batch_norm_impl_index(const Tensor& input, const Optional& weight, const Optional& bias, const Optional& running_mean,
                                                                           const Optional& running_var, bool training, double momentum, double eps, bool) {
  const int64_t channels = input.size(1);
  for (const auto& [t, name] : {std::pair(&running_mean, "running_mean"), std::pair(&running_var, "running_var"), std::pair(&weight, "weight"), std::pair(&bias, "bias")}) {
    if (given(*t) && (*t)->numel() != channels) {
      throw Error(std::string(name) + " should contain " + std::to_string(channels) + " elements not " + std::to_string((*t)->numel()));
    }
    if (!given(*t) && !training && t == &running_mean) throw Error("running_mean must be defined in evaluation mode");
  }
  const Tensor reserve = ops::empty_memory_format::call(SizeVector{0}, ScalarType::Byte, Layout::Strided, input.device());
  const auto [y, mean, inverse] = ops::native_batch_norm::call(input, weight, bias, running_mean, running_var, training, momentum, eps);
  return {y, mean, inverse, reserve, 0};
}

namespace {

// Channel by channel: rows over everything but dimension 1.
std::vector<bool> all_but_channels(const Tensor& t) {
  std::vector<bool> named(t.sizes().size(), true);
  named[1] = false;
  return named;
}

// Stock then goes as where channels are last, with a buffer for each of its threads.
bool one_element_a_channel(const Tensor& t) { return t.is_contiguous() && t.numel() == t.size(0) * t.size(1); }

}  // namespace

Three native_batch_norm(const Tensor& input, const Optional& weight, const Optional& bias, const Optional& running_mean, const Optional& running_var, bool training,
                        double momentum, double eps) {
  const Tensor y = ops::empty_like::call(input, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const int64_t channels = input.size(1);
  const Tensor mean = made(SizeVector{training ? channels : 0}, input), inverse = made(SizeVector{training ? channels : 0}, input);
  for (int i = 0; i < 2; ++i) made(SizeVector{channels}, input);  // stock's per-channel factors and sums
  if (training && one_element_a_channel(input)) {
    Tensor buffer = ops::zeros::call(SizeVector{1, channels}, input.dtype(), Layout::Strided, input.device());
    ops::zero_::call(buffer);
  }
  for (int i = 0; i < (training ? 2 : 0); ++i) made(SizeVector{channels}, input);
  const auto named = all_but_channels(input);
  const Rows rows = rows_of(input, named), results = rows_like(y, named);
  const auto length = static_cast<size_t>(rows.length);
  const std::vector<double> v = numbers(rows.data), w = numbers(weight, channels, 1), b = numbers(bias, channels, 0);
  std::vector<double> out(v.size()), means, inverses;
  std::vector<double> old_mean = numbers(running_mean, channels, 0), old_var = numbers(running_var, channels, 1);
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    Sums s = training ? sums_of(v, c * length, length, eps) : Sums{old_mean[c], 1 / std::sqrt(old_var[c] + eps)};
    means.push_back(s.mean);
    inverses.push_back(s.inverse);
    for (size_t k = 0; k < length; ++k) out[c * length + k] = (v[c * length + k] - s.mean) * s.inverse * w[c] + b[c];
    if (!training) continue;
    const double variance = 1 / (s.inverse * s.inverse) - eps, n = static_cast<double>(length);
    old_mean[c] = momentum * s.mean + (1 - momentum) * old_mean[c];
    old_var[c] = momentum * variance * n / (n - 1) + (1 - momentum) * old_var[c];
  }
  put(results.data, out);
  put_rows(y, named, results);
  if (training) {
    put(mean, means);
    put(inverse, inverses);
    if (given(running_mean)) put(*running_mean, old_mean);
    if (given(running_var)) put(*running_var, old_var);
  }
  return {y, mean, inverse};
}
Three native_batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Optional& weight, const Optional& running_mean, const Optional& running_var,
                                 const Optional& save_mean, const Optional& save_invstd, bool train, double eps, std::array<bool, 3> output_mask) {
  const int64_t channels = input.size(1);
  Tensor dx, dw, db;
  if (output_mask[0]) dx = ops::empty_like::call(input, {}, {}, {}, {}, MemoryFormat::Contiguous);
  if (output_mask[1]) dw = made(SizeVector{channels}, input);
  if (output_mask[2]) db = made(SizeVector{channels}, input);
  const auto named = all_but_channels(input);
  if (!grad_out.is_contiguous() || !input.is_contiguous()) {
    SizeVector dims{0};
    for (int64_t d = 2; d < input.dim(); ++d) dims.push_back(d);
    ops::sum_dim_IntList::call(grad_out, Sizes(dims), false);
  } else {
    ops::empty_like::call(input, {}, {}, {}, {}, MemoryFormat::Contiguous);
    if (one_element_a_channel(input)) {
      Tensor factors = made(SizeVector{train ? channels : 0}, input);
      if (!train) ops::resize_::call(factors, SizeVector{channels}, std::nullopt);
      ops::zeros::call(SizeVector{2, 1, channels}, input.dtype(), Layout::Strided, input.device());
    }
  }
  const Rows x = rows_of(input, named), dy = rows_of(grad_out, named);
  const auto length = static_cast<size_t>(x.length);
  const std::vector<double> v = numbers(x.data), g = numbers(dy.data), w = numbers(weight, channels, 1);
  std::vector<double> mean = numbers(train ? save_mean : running_mean, channels, 0), inverse = numbers(train ? save_invstd : running_var, channels, 1);
  std::vector<double> out(v.size()), scaled(v.size()), of_weight, of_bias;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const Sums s{mean[c], train ? inverse[c] : 1 / std::sqrt(inverse[c] + eps)};
    double total = 0, weighted = 0;
    for (size_t k = 0; k < length; ++k) {
      const size_t at = c * length + k;
      scaled[at] = g[at] * w[c];
      total += g[at];
      weighted += g[at] * (v[at] - s.mean) * s.inverse;
      if (!train) out[at] = scaled[at] * s.inverse;
    }
    of_bias.push_back(total);
    of_weight.push_back(weighted);
    if (train) group_backward(v, scaled, &out, c * length, length, s);
  }
  if (dx.defined()) {
    const Rows results = rows_like(dx, named);
    put(results.data, out);
    put_rows(dx, named, results);
  }
  put(dw, of_weight);
  put(db, of_bias);
  return {dx, dw, db};
}

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool) {
  if (weight.dim() != 2) throw Error("'weight' must be 2-D");
  if (indices.dtype() != ScalarType::Long && indices.dtype() != ScalarType::Int) {
    throw Error(std::string("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.") + to_string(indices.dtype()) +
                "Tensor instead (while checking arguments for embedding)");
  }
  if (indices.dim() == 1) return ops::index_select::call(weight, 0, indices);
  SizeVector shape(indices.sizes().begin(), indices.sizes().end());
  shape.push_back(weight.size(1));
  return ops::view::call(ops::index_select::call(weight, 0, ops::reshape::call(indices, SizeVector{-1})), shape);
}
Tensor embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  if (sparse) return ops::embedding_sparse_backward::call(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
  return ops::embedding_dense_backward::call(grad, indices, num_weights, padding_idx, scale_grad_by_freq);
}
Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  const int64_t width = grad_output.size(-1);
  const Tensor out = ops::zeros::call(SizeVector{num_weights, width}, grad_output.dtype(), Layout::Strided, grad_output.device());
  const Tensor places = made_contiguous(indices);
  const Tensor grad = ops::view::call(made_contiguous(grad_output), SizeVector{places.numel(), width});
  std::vector<int64_t> rows;
  with_integral(places.dtype(), "embedding_backward", [&]<class T>(T) {
    for (int64_t i = 0; i < places.numel(); ++i) rows.push_back(places.data_as<T>()[i]);
  });
  std::vector<int64_t> counts(static_cast<size_t>(num_weights));
  for (const int64_t r : rows) ++counts[static_cast<size_t>(r)];
  with_floating(out.dtype(), "embedding_backward", [&]<class T>(T) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] == padding_idx) continue;
      const auto scale = static_cast<Math<T>>(scale_grad_by_freq ? 1.0 / static_cast<double>(counts[static_cast<size_t>(rows[i])]) : 1.0);
      for (int64_t k = 0; k < width; ++k) {
        T& o = out.data_as<T>()[rows[i] * width + k];
        o = static_cast<T>(static_cast<Math<T>>(o) + scale * static_cast<Math<T>>(grad.data_as<T>()[static_cast<int64_t>(i) * width + k]));
      }
    }
  });
  return out;
}

}  // namespace peel::kernels
