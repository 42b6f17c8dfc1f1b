// Operators over lists of tensors: on the CPU, stock's loop over their elements.
#include "core/dispatch/error.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

void need_any(std::span<const Tensor> self) {
  if (self.empty()) throw Error("Tensor list must have at least one tensor.");
}

}  // namespace

std::vector<Tensor> foreach_norm(std::span<const Tensor> self, const Scalar& ord, std::optional<ScalarType> dtype) {
  need_any(self);
  std::vector<Tensor> out;
  for (const Tensor& t : self) out.push_back(ops::linalg_vector_norm::call(t, ord, {}, false, dtype));
  return out;
}
void foreach_mul_(std::span<const Tensor> self, const Tensor& other) {
  if (other.dim() != 0 || other.numel() != 1) throw Error("scalar tensor expected to be 0 dim but it has " + std::to_string(other.dim()) + " dimensions and " + std::to_string(other.numel()) + " elements.");
  need_any(self);
  for (Tensor t : self) ops::mul__Tensor::call(t, other);
}
void foreach_lerp_(std::span<const Tensor> self, std::span<const Tensor> tensors1, const Scalar& weight) {
  need_any(self);
  if (self.size() != tensors1.size()) {
    throw Error("Tensor lists must have the same number of tensors, got " + std::to_string(self.size()) + " and " + std::to_string(tensors1.size()));
  }
  for (size_t i = 0; i < self.size(); ++i) {
    Tensor t = self[i];
    ops::lerp__Scalar::call(t, tensors1[i], weight);
  }
}
void foreach_clamp_min_(std::span<const Tensor> self, const Scalar& scalar) {
  need_any(self);
  for (Tensor t : self) ops::clamp_min_::call(t, scalar);
}
void foreach_clamp_max_(std::span<const Tensor> self, const Scalar& scalar) {
  need_any(self);
  for (Tensor t : self) ops::clamp_max_::call(t, scalar);
}

}  // namespace peel::kernels
