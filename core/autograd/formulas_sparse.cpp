// Gradients of sparse tensors, and of what makes them.
#include "core/autograd/formulas.h"
#include "core/tensor/sparse.h"

namespace peel::core::formulas {

Tensor sparse_constructor_values_backward(const Tensor& grad, const Tensor& result) { return ops::_values::call(ops::sparse_mask::call(grad, result)); }

Tensor values_backward(const Tensor& grad, const Tensor& self) {
  if (is_coo(self)) {
    Tensor out = ops::_sparse_coo_tensor_unsafe::call(ops::indices::call(self), grad, self.sizes(), grad.dtype(), Layout::Sparse, grad.device(), {}, true);
    return out;
  }
  const bool rows = layout_of(self) == Layout::SparseCsr;
  const Tensor plain = rows ? ops::col_indices::call(self) : ops::row_indices::call(self), compressed = rows ? ops::crow_indices::call(self) : ops::ccol_indices::call(self);
  return ops::_sparse_compressed_tensor_unsafe::call(compressed, plain, grad, self.sizes(), grad.dtype(), layout_of(self), grad.device());
}

Tensor to_layout_of(const Tensor& grad, const Tensor& self) {
  const Layout layout = layout_of(self);
  return layout == Layout::Strided ? ops::to_dense::call(grad) : ops::to_sparse::call(grad, layout);
}

Tensor sparse_mask_backward(const Tensor& grad, const Tensor& mask, const Tensor& self) {
  const Tensor masked = ops::sparse_mask::call(grad, mask);
  return to_layout_of(masked, self);
}

Tensor sparse_factor_backward(const Tensor& grad, const Tensor& left, const Tensor& right, const Scalar& alpha) {
  if (layout_of(left) == Layout::SparseCsr) {  // the product at its places alone
    const Tensor zeros = ops::clone::call(left);
    Tensor values = ops::values::call(zeros);
    ops::zero_::call(values);
    return ops::sparse_sampled_addmm::call(zeros, grad, ops::mH::call(right), 1.0, alpha);
  }
  const Tensor mask = is_coo(left) ? ops::coalesce::call(left) : left;
  return ops::sparse_mask::call(maybe_multiply(ops::mm::call(grad, t(right)), alpha), mask);
}

std::tuple<Tensor, Tensor, Tensor> sampled_addmm_backward(const Tensor& grad, const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& alpha, const Scalar& beta,
                                                          const std::array<bool, 3>& wanted) {
  const Tensor at = wanted[1] || wanted[2] ? ops::sparse_mask::call(grad, self) : Tensor();
  const auto turned = [](const Tensor& t) { return ops::mH::call(t); };
  return {wanted[0] ? maybe_multiply(grad, beta) : Tensor(), wanted[1] ? maybe_multiply(ops::mm::call(at, turned(mat2)), alpha) : Tensor(),
          wanted[2] ? maybe_multiply(ops::mm::call(turned(mat1), at), alpha) : Tensor()};
}

}  // namespace peel::core::formulas
