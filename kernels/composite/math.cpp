// Operators on numbers that are made of others.
#include <algorithm>
#include <limits>

#include "core/dispatch/error.h"
#include "core/tensor/promotion.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor var(const Tensor& self, bool unbiased) { return ops::var_correction::call(self, {}, unbiased ? 1 : 0, false); }
Tensor var_dim(const Tensor& self, std::optional<Sizes> dim, bool unbiased, bool keepdim) {
  return ops::var_correction::call(self, dim, unbiased ? 1 : 0, keepdim);
}
Tensor std_all(const Tensor& self, bool unbiased) { return ops::std_correction::call(self, {}, unbiased ? 1 : 0, false); }
Tensor std_dim(const Tensor& self, std::optional<Sizes> dim, bool unbiased, bool keepdim) {
  return ops::std_correction::call(self, dim, unbiased ? 1 : 0, keepdim);
}

std::tuple<Tensor, Tensor> std_mean(const Tensor& self, bool unbiased) { return ops::std_mean_correction::call(self, {}, unbiased ? 1 : 0, false); }
std::tuple<Tensor, Tensor> std_mean_dim(const Tensor& self, std::optional<Sizes> dim, bool unbiased, bool keepdim) {
  return ops::std_mean_correction::call(self, dim, unbiased ? 1 : 0, keepdim);
}

Tensor& logsumexp_out(const Tensor& self, Sizes dim, bool keepdim, Tensor& out) {
  if (self.numel() == 0) {
    ops::sum_IntList_out::call(ops::exp::call(self), dim, keepdim, {}, out);
    return out;  // log of nothing is -inf
  }
  Tensor top = ops::amax::call(ops::real::call(self), dim, true);
  Tensor kept = keepdim ? top : ops::squeeze_dims::call(top, dim);
  const Tensor infinite = ops::eq_Scalar::call(ops::abs::call(kept), std::numeric_limits<double>::infinity());
  ops::masked_fill__Scalar::call(kept, infinite, 0);
  Tensor away = ops::sub_Tensor::call(self, top);
  ops::exp_::call(away);
  ops::sum_IntList_out::call(away, dim, keepdim, {}, out);
  ops::log_::call(out);
  ops::add__Tensor::call(out, kept);
  return out;
}
Tensor logsumexp(const Tensor& self, Sizes dim, bool keepdim) {
  Tensor out = ops::empty_memory_format::call(SizeVector{0}, is_floating(self.dtype()) ? self.dtype() : default_dtype(), Layout::Strided, self.device());
  return ops::logsumexp_out::call(self, dim, keepdim, out);
}

namespace {

Tensor in_type(const Tensor& self, std::optional<ScalarType> dtype) {
  return dtype ? ops::to_dtype_layout::call(self, *dtype, Layout::Strided, self.device(), false, false, false, {}) : self;
}

}  // namespace

std::tuple<Tensor, Tensor> var_mean_dim(const Tensor& self, std::optional<Sizes> dim, bool unbiased, bool keepdim) {
  return ops::var_mean_correction::call(self, dim, unbiased ? 1 : 0, keepdim);
}

Tensor softmax_int(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return ops::_softmax::call(in_type(self, dtype), dim, false);
}
Tensor log_softmax_int(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return ops::_log_softmax::call(in_type(self, dtype), dim, false);
}

Tensor cumprod_backward(const Tensor& grad, const Tensor& input, int64_t dim, const Tensor& output) {
  if (input.numel() <= 1 || input.size(dim) == 1) return grad;
  const Tensor w = ops::mul_Tensor::call(output, grad);
  const Tensor zeros = ops::eq_Scalar::call(input, 0);
  if (ops::item::call(ops::any::call(zeros)).value.to_bool()) {
    throw NotImplemented("The embedded engine has no gradient of cumprod where an element is 0 yet; the program can be run on stock PyTorch (--engine pytorch).");
  }
  const SizeVector d{dim};
  return ops::div_Tensor::call(ops::flip::call(ops::cumsum::call(ops::flip::call(w, d), dim), d), input);
}

bool is_nonzero(const Tensor& self) {
  if (self.numel() == 0) throw Error("Boolean value of Tensor with no values is ambiguous");
  if (self.numel() > 1) throw Error("Boolean value of Tensor with more than one value is ambiguous");
  const IValue v = ops::item::call(self).value;
  return v.to_complex() != 0.0;
}
bool is_same_size(const Tensor& self, const Tensor& other) { return std::ranges::equal(self.sizes(), other.sizes()); }
bool has_same_storage_numel(const Tensor& self, const Tensor& other) {
  return self.impl().storage->bytes() / element_size(self.dtype()) == other.impl().storage->bytes() / element_size(other.dtype());
}
Tensor isclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  if (self.dtype() != other.dtype()) {
    throw Error(std::string(to_string(self.dtype())) + " did not match " + to_string(other.dtype()));
  }
  Tensor close = ops::eq_Tensor::call(self, other);
  if (equal_nan && is_floating(self.dtype())) ops::__ior___Tensor::call(close, ops::bitwise_and_Tensor::call(ops::isnan::call(self), ops::isnan::call(other)));
  if (rtol == 0 && atol == 0) return close;
  const Tensor other_floating = is_floating(self.dtype()) || is_complex(self.dtype()) ? other : ops::to_dtype::call(other, default_dtype());
  const Tensor allowed = ops::add_Scalar::call(ops::abs::call(ops::mul_Scalar::call(other_floating, rtol)), atol);
  const Tensor actual = ops::abs::call(ops::sub_Tensor::call(self, other_floating));
  Tensor finite = ops::isfinite::call(actual);
  ops::__iand___Tensor::call(finite, ops::le_Tensor::call(actual, allowed));
  return ops::__ior___Tensor::call(close, finite);
}
bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const Tensor close = ops::isclose::call(self, other, rtol, atol, equal_nan);
  return ops::item::call(ops::all::call(close)).value.to_bool();
}

Tensor type_as(const Tensor& self, const Tensor& other) {
  return ops::to_dtype_layout::call(self, other.dtype(), Layout::Strided, other.device(), false, false, false, {});
}
Tensor to_device(const Tensor& self, Device device, ScalarType dtype, bool non_blocking, bool copy, std::optional<MemoryFormat> format) {
  if (self.dtype() == dtype && self.device() == device && !copy && format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve) return self;
  return ops::_to_copy::call(self, dtype, Layout::Strided, device, {}, non_blocking, format);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy, std::optional<MemoryFormat> format) {
  return to_device(self, other.device(), other.dtype(), non_blocking, copy, format);
}

std::tuple<Tensor, Tensor> _fused_rms_norm(const Tensor& input, Sizes normalized_shape, const std::optional<Tensor>& weight, std::optional<double> eps) {
  const size_t n = normalized_shape.size();
  if (n == 0) throw Error("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []");
  const bool fits = input.sizes().size() >= n && std::ranges::equal(input.sizes().last(n), normalized_shape);
  if (!fits) {
    std::string wanted = "[*";
    for (const int64_t s : normalized_shape) wanted += ", " + std::to_string(s);
    throw Error("Given normalized_shape=" + to_text(normalized_shape) + ", expected input with shape " + wanted + "], but got input of size" + to_text(input.sizes()));
  }
  SizeVector dims;
  for (size_t i = 0; i < n; ++i) dims.push_back(input.dim() - static_cast<int64_t>(i) - 1);
  const bool wide = input.dtype() == ScalarType::Double;
  const double least = eps.value_or(wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon());
  const Tensor x = ops::to_dtype::call(input, wide ? ScalarType::Double : ScalarType::Float);
  Tensor mean = ops::mean_dim::call(ops::pow_Tensor_Scalar::call(x, 2), dims, true, {});
  ops::add__Scalar::call(mean, least);
  const Tensor scale = ops::rsqrt::call(mean);
  Tensor out = ops::mul_Tensor::call(x, scale);
  if (weight && weight->defined()) out = ops::mul_Tensor::call(out, *weight);
  return {ops::type_as::call(out, input), scale};
}
Tensor rms_norm(const Tensor& input, Sizes normalized_shape, const std::optional<Tensor>& weight, std::optional<double> eps) {
  return std::get<0>(ops::_fused_rms_norm::call(input, normalized_shape, weight, eps));
}

}  // namespace peel::kernels
