// Stock's side of dispatch_bench.py: the same operator, the same kernels, on PyTorch's dispatcher. Built by that script.
#include "dispatch_bench.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

namespace {

using Add = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Scalar&);

const auto& op() {
  static const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow("peel_bench::add", "").typed<Add>();
  return handle;
}
at::Tensor cpu(const at::Tensor& a, const at::Tensor&, const at::Scalar&) { return a; }
at::Tensor autograd(c10::DispatchKeySet s, const at::Tensor& a, const at::Tensor& b, const at::Scalar& k) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return op().redispatch(s & c10::after_autograd_keyset, a, b, k);
}

}  // namespace

TORCH_LIBRARY(peel_bench, m) { m.def("add(Tensor a, Tensor b, Scalar k) -> Tensor"); }
TORCH_LIBRARY_IMPL(peel_bench, CPU, m) { m.impl("add", TORCH_FN(cpu)); }
TORCH_LIBRARY_IMPL(peel_bench, Autograd, m) { m.impl("add", TORCH_FN(autograd)); }

/// Nanoseconds: unboxed, redispatch, boxed.
extern "C" void bench(double* out) {
  const at::Tensor a = at::zeros({2, 2}), b = a;
  const at::Scalar k(1);
  const long n = 200000;
  out[0] = best_ns(n, [&] { op().call(a, b, k); });
  out[1] = best_ns(n, [&] { op().redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU), a, b, k); });
  torch::jit::Stack stack;
  out[2] = best_ns(n, [&] {
    stack.emplace_back(a);
    stack.emplace_back(b);
    stack.emplace_back(k);
    op().callBoxed(&stack);
    stack.clear();
  });
}
