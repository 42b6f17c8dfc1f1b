// Dual tensors below autograd: that their tangent is somewhere is known above only.
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {

Tensor make_dual(const Tensor& primal, const Tensor&, int64_t) { return ops::alias::call(primal); }
Tensor fw_primal(const Tensor& self, int64_t) { return ops::alias::call(self); }
std::tuple<Tensor, Tensor> unpack_dual(const Tensor& dual, int64_t level) { return {ops::_fw_primal::call(dual, level), Tensor()}; }
Tensor efficientzerotensor(Sizes size, std::optional<ScalarType> dtype, std::optional<Layout>, std::optional<Device> device, std::optional<bool>) {
  return ops::zeros::call(size, dtype, {}, device, {});
}

}  // namespace peel::kernels
