// Registration while other threads dispatch: every call finds one kernel or the other, never a wrong word. Run under the
// thread sanitizer too.
#include <thread>

#include "tests/unit/core/support.h"

using namespace peel::core;
using K = DispatchKey;
using F = int64_t(const Tensor&);

TEST_CASE("kernels, fallthroughs, fallbacks and operators come and go while others call", "[core][threads]") {
  Dispatcher d;
  Library def = library(d, "mine");
  const auto through = fallthroughs(d);
  def.def("f(Tensor x) -> int");
  def.impl("f", kernel([](const Tensor&) -> int64_t { return 1; }), K::CPU);
  def.impl("f", kernel([](const Tensor&) -> int64_t { return 2; }), K::AutogradCPU);
  const auto op = d.find_schema_or_throw("mine::f", "").typed<F>();
  std::atomic<bool> stop{false};
  std::atomic<int64_t> wrong{0}, calls{0};
  const auto call = [&](bool boxed) {
    const Tensor x = cpu_tensor();
    while (!stop.load()) {
      int64_t got = 0;
      if (boxed) {
        Stack s{x};
        op.call_boxed(&s);
        got = s[0].to_int();
      } else {
        got = op.call(x);
      }
      if (got < 1 || got > 4) wrong.fetch_add(1);
      calls.fetch_add(1);
    }
  };
  std::thread unboxed(call, false), boxed(call, true);
  for (int i = 0; i < 300 || calls.load() < 2000; ++i) {
    Library over = library(d, "mine", Library::Kind::kImpl, {}, i);
    over.impl("f", kernel([](const Tensor&) -> int64_t { return 3; }), K::AutogradCPU);
    over.impl("f", KernelFunction::fallthrough(), i % 2 ? K::AutogradCPU : K::AutogradCUDA);
    over.impl("f", boxed_kernel([](const OperatorHandle&, DispatchKeySet, Stack* s) { s->back() = IValue(4); }), K::CPU);
    Library fallback = library(d, "_", Library::Kind::kImpl, K::AutocastCPU);
    fallback.fallback(KernelFunction::fallthrough());
    Library fragment = library(d, "other", Library::Kind::kFragment);
    fragment.def("g() -> ()");
    d.find({"other::g", ""});
  }
  stop.store(true);
  unboxed.join();
  boxed.join();
  CHECK(wrong.load() == 0);
  CHECK(op.call(cpu_tensor()) == 2);
}
