// The embedded dispatcher's side of dispatch_bench.py. A shared library, as the engine is in a program.
#include "tests/perf/dispatch_bench.h"

#include "core/dispatch/library.h"

using namespace peel::core;
using K = DispatchKey;

namespace {

using Add = TensorHandle(const TensorHandle&, const TensorHandle&, const Scalar&);

const auto& op() {
  static const auto handle = Dispatcher::get().find_schema_or_throw("bench::add", "").typed<Add>();
  return handle;
}
TensorHandle cpu(const TensorHandle& a, const TensorHandle&, const Scalar&) { return a; }
TensorHandle autograd(DispatchKeySet s, const TensorHandle& a, const TensorHandle& b, const Scalar& k) {
  BelowADInplaceOrView guard;
  return op().redispatch(s & kAfterAutograd, a, b, k);
}
struct Nothing final : Observer {
  void begin(Hop&) override {}
  void end(Hop&, HopValues*) noexcept override {}
};

}  // namespace

PEEL_LIBRARY(bench, m) { m.def("add(Tensor a, Tensor b, Scalar k) -> Tensor"); }
PEEL_LIBRARY_IMPL(bench, CPU, m) { m.impl("add", kernel<&cpu>()); }
PEEL_LIBRARY_IMPL(bench, Autograd, m) { m.impl("add", kernel<&autograd>()); }
PEEL_LIBRARY_IMPL(_, BackendSelect, m) { m.fallback(KernelFunction::fallthrough()); }
PEEL_LIBRARY_IMPL(_, ADInplaceOrView, m) { m.fallback(KernelFunction::fallthrough()); }

/// Nanoseconds: unboxed, redispatch, boxed, unboxed with an idle observer.
extern "C" void bench(double* out) {
  auto object = make_ref<KeyedObject>();
  object->keys = DispatchKeySet::from_raw(0x9400010001);
  const TensorHandle a(object), b(object);
  const Scalar k(1);
  const long n = 200000;
  out[0] = best_ns(n, [&] { op().call(a, b, k); });
  out[1] = best_ns(n, [&] { op().redispatch(DispatchKeySet(K::CPU), a, b, k); });
  Stack stack;
  out[2] = best_ns(n, [&] {
    stack.push_back(a);
    stack.push_back(b);
    stack.push_back(k.value);
    op().call_boxed(&stack);
    stack.clear();
  });
  Nothing nothing;
  set_observer(&nothing);
  out[3] = best_ns(n, [&] { op().call(a, b, k); });
  set_observer(nullptr);
}
