#include "core/dispatch/make_kernel.h"

namespace peel::core {
namespace {

using Boxed = std::function<void(const OperatorHandle&, DispatchKeySet, Stack*)>;

void run(OperatorKernel* functor, const OperatorHandle& op, DispatchKeySet set, Stack* stack) {
  static_cast<detail::Functor<Boxed>*>(functor)->function(op, set, stack);
}

}  // namespace

KernelFunction boxed_kernel(Boxed f) {
  KernelFunction k;
  k.boxed = &run;
  k.functor = Ref<OperatorKernel>(new detail::Functor<Boxed>(std::move(f)));
  return k;
}

}  // namespace peel::core
