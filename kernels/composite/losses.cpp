// Losses and distances that are made of other operators, and layers that are other layers seen otherwise.
#include <cmath>
#include <numbers>

#include "core/dispatch/error.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

using Optional = std::optional<Tensor>;
constexpr int64_t kMean = 1, kSum = 2;

Tensor reduced(const Tensor& t, int64_t reduction) { return reduction == kMean ? ops::mean::call(t) : reduction == kSum ? ops::sum::call(t) : t; }

// A number minus a tensor, in the calls of C++'s operator.
Tensor number_minus(double a, const Tensor& b) {
  Tensor out = ops::empty_like::call(b);
  ops::fill__Scalar::call(out, a);
  return ops::sub__Tensor::call(out, b);
}

}  // namespace

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction) {
  if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
    throw Error("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: " + to_text(input1.sizes()) + ", input2: " +
                to_text(input2.sizes()) + ", target: " + to_text(target.sizes()) + " ");
  }
  Tensor out = [&] {
    const Tensor apart = ops::sub_Tensor::call(input1, input2);
    return ops::add_Scalar::call(ops::mul_Tensor::call(ops::neg::call(target), apart), margin);
  }();
  ops::clamp_min_::call(out, 0);
  return reduced(out, reduction);
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, int64_t reduction) {
  const Tensor zeros = ops::zeros_like::call(self, {}, {}, {}, {}, MemoryFormat::Contiguous);
  Tensor room = number_minus(margin, self);
  ops::clamp_min_::call(room, 0);
  const Tensor apart = ops::where_self::call(ops::ne_Scalar::call(target, 1), room, zeros);
  const Tensor together = ops::where_self::call(ops::ne_Scalar::call(target, -1), self, zeros);
  return reduced(ops::add_Tensor::call(apart, together), reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, int64_t reduction) {
  constexpr double kTiny = 1e-12;
  const int64_t along = target.dim();
  const auto sum = [along](const Tensor& t) { return ops::sum_dim_IntList::call(t, SizeVector{along}, false, {}); };
  const Tensor product = sum(ops::mul_Tensor::call(input1, input2));
  const Tensor a = ops::add_Scalar::call(sum(ops::mul_Tensor::call(input1, input1)), kTiny);
  const Tensor b = ops::add_Scalar::call(sum(ops::mul_Tensor::call(input2, input2)), kTiny);
  Tensor both = ops::mul_Tensor::call(a, b);
  const Tensor cosine = ops::div_Tensor::call(product, ops::sqrt_::call(both));
  const Tensor zeros = ops::zeros_like::call(cosine, {}, {}, {}, {}, MemoryFormat::Contiguous);
  const Tensor near = number_minus(1, cosine);
  Tensor far = ops::sub_Scalar::call(cosine, margin);
  ops::clamp_min_::call(far, 0);
  const Tensor together = ops::where_self::call(ops::eq_Scalar::call(target, 1), near, zeros);
  const Tensor apart = ops::where_self::call(ops::eq_Scalar::call(target, -1), far, zeros);
  return reduced(ops::add_Tensor::call(together, apart), reduction);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const int64_t last = std::max(x1.dim(), x2.dim()) - 1;
  return ops::norm_ScalarOpt_dim::call(ops::add_Scalar::call(ops::sub_Tensor::call(x1, x2), eps), Scalar(p), SizeVector{last}, keepdim);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p, double eps, bool swap, int64_t reduction) {
  if (anchor.dim() != positive.dim() || positive.dim() != negative.dim()) {
    throw Error("The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: anchor " + std::to_string(anchor.dim()) +
                "D, positive " + std::to_string(positive.dim()) + "D, and negative " + std::to_string(negative.dim()) + "D inputs");
  }
  const Tensor near = ops::pairwise_distance::call(anchor, positive, p, eps);
  Tensor far = ops::pairwise_distance::call(anchor, negative, p, eps);
  if (swap) far = ops::minimum::call(far, ops::pairwise_distance::call(positive, negative, p, eps));
  const Tensor out = ops::clamp_min::call(ops::sub_Tensor::call(ops::add_Scalar::call(near, margin), far), 0);
  return reduced(out, reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, int64_t reduction) {
  Tensor loss;
  if (log_input) {
    const Tensor expected = ops::mul_Tensor::call(target, input);
    loss = ops::sub_Tensor::call(ops::exp::call(input), expected);
  } else {
    const Tensor expected = ops::mul_Tensor::call(target, ops::log::call(ops::add_Scalar::call(input, eps)));
    loss = ops::sub_Tensor::call(input, expected);
  }
  if (full) {  // Stirling's approximation of log(target!), for what is above 1
    const Tensor half = ops::mul_Scalar::call(ops::log::call(ops::mul_Scalar::call(target, 2 * std::numbers::pi)), 0.5);
    const Tensor most = ops::sub_Tensor::call(ops::mul_Tensor::call(target, ops::log::call(target)), target);
    const Tensor approximated = ops::add_Tensor::call(most, half);
    ops::add__Tensor::call(loss, ops::masked_fill_Scalar::call(approximated, ops::le_Scalar::call(target, 1), 0));
  }
  return reduced(loss, reduction);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType type = ops::result_type_Tensor::call(x1, x2);
  const auto as_type = [type](const Tensor& t) { return t.dtype() == type ? t : ops::to_dtype::call(t, type); };
  Tensor a = as_type(x1), b = as_type(x2);
  const SizeVector shape = broadcast(a.sizes(), b.sizes());
  if (!std::ranges::equal(a.sizes(), b.sizes())) {
    b = ops::expand::call(b, shape);
    a = ops::expand::call(a, shape);
  }
  const auto size_of = [dim](const Tensor& t) { return ops::clone::call(ops::linalg_vector_norm::call(t, 2, SizeVector{dim}, true, {}), {}); };
  Tensor na = size_of(a), nb = size_of(b);
  {
    const Tensor least = ops::scalar_tensor::call(eps, type, Layout::Strided, a.device());
    const auto before = grad_state.grad_mode;
    grad_state.grad_mode = false;
    ops::clamp_min__Tensor::call(na, least);
    ops::clamp_min__Tensor::call(nb, least);
    grad_state.grad_mode = before;
  }
  const Tensor other = ops::div_Tensor::call(b, nb), one = ops::div_Tensor::call(a, na);
  return ops::sum_dim_IntList::call(ops::mul_Tensor::call(one, other), SizeVector{dim}, false, {});
}

// ---- layers

Tensor avg_pool1d(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, bool ceil_mode, bool count_include_pad) {
  if (stride.empty()) stride = kernel_size;
  const Tensor out = ops::avg_pool2d::call(ops::unsqueeze::call(self, -2), SizeVector{1, kernel_size[0]}, SizeVector{1, stride[0]}, SizeVector{0, padding[0]}, ceil_mode, count_include_pad);
  return ops::squeeze_dim::call(out, -2);
}
Tensor adaptive_avg_pool1d(const Tensor& self, Sizes output_size) {
  return ops::squeeze_dim::call(ops::adaptive_avg_pool2d::call(ops::unsqueeze::call(self, -2), SizeVector{1, output_size[0]}), -2);
}
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode) {
  if (stride.empty()) stride = kernel_size;
  auto [values, indices] = ops::max_pool2d_with_indices::call(ops::unsqueeze::call(self, -2), SizeVector{1, kernel_size[0]}, SizeVector{1, stride[0]}, SizeVector{0, padding[0]},
                                                              SizeVector{1, dilation[0]}, ceil_mode);
  const Tensor v = ops::squeeze_dim::call(values, -2);
  return {v, ops::squeeze_dim::call(indices, -2)};
}
Tensor max_pool1d(const Tensor& self, Sizes kernel_size, Sizes stride, Sizes padding, Sizes dilation, bool ceil_mode) {
  if (stride.empty()) stride = kernel_size;
  if (grad_state.grad_mode && self.impl().requires_grad()) return std::get<0>(ops::max_pool1d_with_indices::call(self, kernel_size, stride, padding, dilation, ceil_mode));
  // Without a gradient stock has a loop of its own, whose result is a call of empty.
  const int64_t k = kernel_size[0], step = stride[0], pad = padding[0], apart = dilation[0], n = self.size(-1);
  if (k <= 0 || step <= 0) throw Error("max_pool1d() kernel_size and stride must be greater than zero");
  if (pad < 0 || pad > k / 2) throw Error("max_pool1d() padding should be at most half of kernel size, but got padding=" + std::to_string(pad) + " and kernel_size=" + std::to_string(k));
  const int64_t reach = n + 2 * pad - apart * (k - 1) - 1;
  int64_t out_n = (reach + (ceil_mode ? step - 1 : 0)) / step + 1;
  if (ceil_mode && (out_n - 1) * step >= n + pad) --out_n;
  if (out_n <= 0) throw Error("max_pool1d() Invalid computed output size: " + std::to_string(out_n));
  SizeVector shape(self.sizes().begin(), self.sizes().end());
  shape.back() = out_n;
  const Tensor out = ops::empty_memory_format::call(shape, self.dtype(), Layout::Strided, self.device(), false);
  const auto [values, indices] = max_pool2d_with_indices(view_of(self, [&] {
    SizeVector s(self.sizes().begin(), self.sizes().end());
    s.insert(s.end() - 1, 1);
    return s;
  }(), [&] {
    SizeVector s(self.strides().begin(), self.strides().end());
    s.insert(s.end() - 1, 1);
    return s;
  }(), self.storage_offset()), SizeVector{1, k}, SizeVector{1, step}, SizeVector{0, pad}, SizeVector{1, apart}, ceil_mode);
  out.impl().storage = values.impl().storage;
  return out;
}

Tensor instance_norm(const Tensor& input, const Optional& weight, const Optional& bias, const Optional& running_mean, const Optional& running_var, bool use_input_stats,
                     double momentum, double eps, bool cudnn_enabled) {
  if (!use_input_stats && !(running_mean && running_mean->defined() && running_var && running_var->defined())) {
    throw Error("Expected running_mean and running_var to be defined when use_input_stats is false");
  }
  const int64_t b = input.size(0), c = input.size(1);
  const auto repeated = [b](const Optional& t) -> Optional { return t && t->defined() ? Optional(ops::repeat::call(*t, SizeVector{b})) : Optional(Tensor()); };
  const Optional w = repeated(weight), bi = repeated(bias), mean = repeated(running_mean), var = repeated(running_var);
  SizeVector folded(input.sizes().begin(), input.sizes().end());
  folded[0] = 1;
  folded[1] = b * c;
  const Tensor in = ops::view::call(input.is_contiguous() ? input : ops::contiguous::call(input), folded);
  const Tensor out = ops::batch_norm::call(in, w, bi, mean, var, use_input_stats, momentum, eps, cudnn_enabled);
  const auto back = [b, c](const Optional& running, const Optional& all) {
    if (!running || !running->defined()) return;
    Tensor to = ops::alias::call(*running);
    ops::copy_::call(to, ops::mean_dim::call(ops::view::call(*all, SizeVector{b, c}), SizeVector{0}, false, {}));
  };
  back(running_mean, mean);
  back(running_var, var);
  return ops::view::call(out, input.sizes());
}

}  // namespace peel::kernels
