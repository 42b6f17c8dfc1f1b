// Operators that are others under a second name.
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor multiply_Tensor(const Tensor& self, const Tensor& other) { return ops::mul_Tensor::call(self, other); }
Tensor subtract_Tensor(const Tensor& self, const Tensor& other, const Scalar& alpha) { return ops::sub_Tensor::call(self, other, alpha); }
Tensor divide_Tensor(const Tensor& self, const Tensor& other) { return ops::div_Tensor::call(self, other); }
Tensor true_divide_Tensor(const Tensor& self, const Tensor& other) { return ops::div_Tensor::call(self, other); }
Tensor absolute(const Tensor& self) { return ops::abs::call(self); }
Tensor negative(const Tensor& self) { return ops::neg::call(self); }
Tensor clip(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) { return ops::clamp::call(self, min, max); }
Tensor greater_Tensor(const Tensor& self, const Tensor& other) { return ops::gt_Tensor::call(self, other); }
Tensor greater_Scalar(const Tensor& self, const Scalar& other) { return ops::gt_Scalar::call(self, other); }
Tensor less_Tensor(const Tensor& self, const Tensor& other) { return ops::lt_Tensor::call(self, other); }
Tensor less_Scalar(const Tensor& self, const Scalar& other) { return ops::lt_Scalar::call(self, other); }

Tensor not_equal_Tensor(const Tensor& self, const Tensor& other) { return ops::ne_Tensor::call(self, other); }
Tensor not_equal_Scalar(const Tensor& self, const Scalar& other) { return ops::ne_Scalar::call(self, other); }
Tensor greater_equal_Tensor(const Tensor& self, const Tensor& other) { return ops::ge_Tensor::call(self, other); }
Tensor greater_equal_Scalar(const Tensor& self, const Scalar& other) { return ops::ge_Scalar::call(self, other); }
Tensor less_equal_Tensor(const Tensor& self, const Tensor& other) { return ops::le_Tensor::call(self, other); }
Tensor less_equal_Scalar(const Tensor& self, const Scalar& other) { return ops::le_Scalar::call(self, other); }
Tensor concat(std::span<const Tensor> tensors, int64_t dim) { return ops::cat::call(tensors, dim); }
Tensor concatenate(std::span<const Tensor> tensors, int64_t dim) { return ops::cat::call(tensors, dim); }
Tensor argwhere(const Tensor& self) { return ops::nonzero::call(self); }
Tensor broadcast_to(const Tensor& self, Sizes size) { return ops::expand::call(self, size); }

}  // namespace peel::kernels
