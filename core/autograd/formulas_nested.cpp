// Gradients of nested tensors.
#include "core/autograd/formulas.h"
#include "core/tensor/nested.h"

namespace peel::core::formulas {

Tensor to_padded_tensor_backward(const Tensor& grad, const Tensor& self) { return ops::_nested_from_padded::call(grad, ops::_nested_tensor_size::call(self)); }

Tensor nested_from_padded_backward(const Tensor& grad, Sizes sizes, bool transposed) {
  if (!transposed) return ops::to_padded_tensor::call(grad, 0, sizes);
  const SizeVector merged{sizes[0], sizes[2], sizes[1] * sizes[3]}, apart{sizes[0], sizes[2], sizes[1], sizes[3]};
  return ops::permute::call(ops::view::call(ops::to_padded_tensor::call(grad, 0, Sizes(merged)), apart), SizeVector{0, 2, 1, 3});
}

Tensor nested_unbind_backward(const std::vector<Tensor>& grads, const Tensor& self) {
  std::vector<Tensor> all = grads;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].defined()) continue;
    const Tensor size = ops::select_int::call(nested_of(self).sizes, 0, static_cast<int64_t>(i));
    const auto* first = size.data_as<int64_t>();
    all[i] = ops::zeros::call(SizeVector(first, first + size.numel()), self.dtype(), Layout::Strided, self.device());
  }
  return ops::_nested_tensor_from_tensor_list::call(all);
}

double dropout_scale(double p, std::optional<bool> train) { return train.value_or(true) ? p == 1 ? 0.0 : 1 / (1 - p) : 1.0; }

}  // namespace peel::core::formulas
