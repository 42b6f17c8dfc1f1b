// KeyMath against the raw numbers measured on 2.13.0 and computed for 2.12 (facts 1.5 to 1.8).
#include "tests/catch.h"
#include "tests/unit/sessions/made_session.h"

using namespace peel;
using namespace peel::test;

TEST_CASE("key numbers of the made session are those of the facts", "[sessions][keymath]") {
  MadeSession b(false), a(true);
  CHECK(b.key_number("CPU") == 49);
  CHECK(b.key_number("CUDA") == 50);
  CHECK(b.key_number("AutogradCPU") == 134);
  CHECK(b.key_number("Python") == 13);
  CHECK(b.key_number("AutocastCPU") == 24);
  CHECK(b.key_number("Autograd") == 150);
  CHECK(a.key_number("CPU") == 50);
  CHECK(a.key_number("Python") == 12);
  CHECK(a.key_number("AutogradMeta") == 150);
  CHECK(b.one("SELECT slot FROM dispatch_key WHERE name='AutogradCPU'") == "96");
  CHECK(a.one("SELECT slot FROM dispatch_key WHERE name='AutogradCPU'") == "97");
  CHECK(b.one("SELECT slot FROM dispatch_key WHERE name='PythonDispatcher'") == "136");
}

TEST_CASE("key sets print and compute as PyTorch's", "[sessions][keymath]") {
  MadeSession made;
  const auto s = made.open();
  const KeyMath math(*s);
  const auto id = [&](const char* name) { return s->key_by_name(name)->id; };
  CHECK(math.text(kCpuTensor) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
  CHECK(math.text(0x1400018000) == "DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)");
  CHECK(math.text(0x801400010002) == "DispatchKeySet(CUDA, ADInplaceOrView, AutogradCUDA, AutocastCUDA)");
  CHECK(math.text(kCpuInferenceTensor) == "DispatchKeySet(CPU, AutocastCPU)");
  CHECK(math.text(kIncludedDefault) == "DispatchKeySet(BackendSelect, ADInplaceOrView)");
  CHECK(math.text(0) == "DispatchKeySet()");
  CHECK(math.text(0x800000) == "DispatchKeySet()");  // {Sparse} without a backend bit
  // A cross product: {CPU} united with {AutogradCUDA}.
  CHECK(math.bits(id("AutogradCUDA")) == 0x1000000002);
  CHECK((math.bits(id("CPU")) | math.bits(id("AutogradCUDA"))) == 0x1000010003);
  CHECK(math.text(0x1000010003) == "DispatchKeySet(CPU, CUDA, AutogradCPU, AutogradCUDA)");
  // What inference mode excludes prints without the per-backend functionality, whose bit is there all the same.
  CHECK(math.text(0x3800000000) == "DispatchKeySet(AutogradOther, AutogradNestedTensor)");
  CHECK(math.keys(0x3fffffffffffffff).size() == 136);

  CHECK(math.minus(math.bits(id("CPU")), math.bits(id("CPU"))) == 0x1);
  CHECK(math.highest(0x1) == 0);
  CHECK(s->key(math.highest(kCpuTensor))->name == "AutocastCPU");
  CHECK(s->key(math.highest(0x1400010001))->name == "AutogradCPU");
  CHECK(s->key(math.highest(0x400010001))->name == "ADInplaceOrView");
  CHECK(s->key(math.highest(0x10001))->name == "CPU");
  CHECK(s->key(math.highest(0x10003))->name == "CUDA");
  CHECK(math.highest(0) == 0);
  CHECK(math.backend_index(0x10001) == 0);
  CHECK(math.backend_index(0x10002) == 1);
  CHECK(math.backend_index(0x10000) == 0);
  CHECK(math.backend_index(0x1400018000) == 15);
  CHECK(math.has(kCpuTensor, id("AutogradCPU")));
  CHECK_FALSE(math.has(kCpuTensor, id("AutogradCUDA")));
  CHECK_FALSE(math.has(kCpuTensor, id("Autograd")));  // aliases are never in a set
  CHECK_FALSE(math.has(~uint64_t{0}, id("Undefined")));

  // The whole formula for a+b, a.add_(b) (facts 3.9: call sets of the sequences).
  const auto call = [&](uint64_t args, uint64_t inc, uint64_t exc, uint64_t mask) { return math.minus(args | inc, exc) & mask; };
  CHECK(call(kCpuTensor, kIncludedDefault, kExcludedDefault, kAddMask) == 0x1000010001);
  CHECK(call(kCpuTensor, kIncludedDefault, kExcludedDefault, kAddInplaceMask) == 0x1400010001);
  CHECK(call(kCpuTensor, kIncludedInference, kExcludedInference, kAddInplaceMask) == 0x400010001);
  CHECK(call(kCpuTensor, kIncludedInference, kExcludedInference, kAddMask) == 0x10001);
  CHECK(call(kCpuInferenceTensor, kIncludedDefault, kExcludedDefault, kAddMask) == 0x10001);
  CHECK(call(kCpuInferenceTensor, kIncludedDefault, kExcludedDefault, kAddInplaceMask) == 0x400010001);
}

TEST_CASE("the numbering is read from the recording, not assumed", "[sessions][keymath]") {
  MadeSession made(true);  // 2.12
  const auto s = made.open();
  const KeyMath math(*s);
  CHECK(math.text(0x12800010001) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
  CHECK(math.text(0x804000000) == "DispatchKeySet(BackendSelect, ADInplaceOrView)");
  CHECK(math.text(0x10000010001) == "DispatchKeySet(CPU, AutocastCPU)");
  CHECK(math.bits(s->key_by_name("Python")->id) == uint64_t{1} << 27);
}
