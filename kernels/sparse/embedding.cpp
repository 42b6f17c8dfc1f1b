// The gradient of a table whose rows were looked up, with only those rows in it.
#include "core/dispatch/error.h"
#include "kernels/sparse/coordinates.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor embedding_sparse_backward(const Tensor& grad_, const Tensor& indices_, int64_t num_weights, int64_t padding_idx, bool scale_grad_by_freq) {
  if (scale_grad_by_freq) throw Error("embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  Tensor indices = indices_, grad = grad_;
  if (padding_idx != -1) {
    const std::optional<Tensor> kept[] = {ops::ne_Scalar::call(indices, padding_idx)};
    indices = ops::index_Tensor::call(indices, kept);
    grad = ops::index_Tensor::call(grad, kept);
  }
  const int64_t width = grad_.size(-1);
  const SizeVector size{num_weights, width};
  if (grad.numel() == 0) {
    const Tensor values = ops::empty_memory_format::call(SizeVector{0, width}, grad.dtype(), Layout::Strided, grad.device());
    const Tensor none = ops::empty_memory_format::call(SizeVector{1, 0}, ScalarType::Long, Layout::Strided, grad.device());
    return ops::_sparse_coo_tensor_unsafe::call(none, values, size);
  }
  const Tensor index = ops::reshape::call(indices, SizeVector{1, -1});
  const Tensor values = ops::reshape::call(grad, SizeVector{-1, width});
  return ops::_sparse_coo_tensor_unsafe::call(ops::to_dtype::call(index, ScalarType::Long), values, size);
}

bool is_pinned(const Tensor&, std::optional<Device>) { return false; }

}  // namespace peel::kernels
