// Operators that are only made of others.
#include "core/dispatch/error.h"
#include "ops_generated/kernels.h"
#include "ops_generated/ops.h"

namespace peel::kernels {
namespace {

[[noreturn]] void not_yet(const std::string& what) {
  throw NotImplemented("The embedded engine has no " + what + " yet; the program can be run on stock PyTorch (--engine pytorch).");
}

}  // namespace

Scalar item(const Tensor& self) {
  if (self.numel() != 1) throw Error("a Tensor with " + std::to_string(self.numel()) + " elements cannot be converted to Scalar");
  return ops::_local_scalar_dense::call(self);
}

Tensor matmul(const Tensor& self, const Tensor& other) {
  if (self.dim() == 2 && other.dim() == 2) return ops::mm::call(self, other);
  if (self.dim() == 0 || other.dim() == 0) {
    throw Error("both arguments to matmul need to be at least 1D, but they are " + std::to_string(self.dim()) + "D and " + std::to_string(other.dim()) + "D");
  }
  not_yet("matmul of " + std::to_string(self.dim()) + "-D and " + std::to_string(other.dim()) + "-D tensors");
}

Tensor linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias) {
  const bool has_bias = bias && bias->defined();
  if (input.dim() == 2 && has_bias) return ops::addmm::call(*bias, input, ops::t::call(weight));
  Tensor out = ops::matmul::call(input, ops::t::call(weight));
  return has_bias ? ops::add__Tensor::call(out, *bias) : out;
}

}  // namespace peel::kernels
