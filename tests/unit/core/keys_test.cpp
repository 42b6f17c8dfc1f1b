// Keys and sets against the numbers of the facts; every named set and mode is held against stock in tests/conformance.
#include <thread>

#include "tests/unit/core/support.h"

using namespace peel::core;
using K = DispatchKey;

TEST_CASE("keys have the numbers and names of 2.13", "[core][keys]") {
  CHECK(number(K::Python) == 13);
  CHECK(number(K::AutogradCPU) == 134);
  CHECK(number(K::CompositeExplicitAutogradNonFunctional) == 155);
  CHECK(std::string(to_string(K::QuantizedMeta)) == "QuantizedMeta");
  CHECK(std::string(to_string(BackendComponent::MTIABit)) == "MTIA");
  CHECK(std::string(to_string(BackendComponent::CPUBit)) == "CPUBit");
  for (int i = 0; i < kKeys; ++i) {
    const auto k = static_cast<K>(i);
    const bool sentinel = backend_of(k) == BackendComponent::InvalidBit && k >= K::EndOfFunctionalityKeys && !is_alias(k);
    if (!sentinel) CHECK(parse_dispatch_key(to_string(k)) == k);
  }
  CHECK_FALSE(parse_dispatch_key("UnknownUnknown"));
  CHECK_FALSE(parse_dispatch_key("cpu"));
  CHECK_FALSE(parse_dispatch_key(""));
}

TEST_CASE("every runtime key has a slot of its own", "[core][keys]") {
  std::array<int, kSlots> seen{};
  int keys = 0;
  for (const K k : DispatchKeySet::full()) {
    ++seen[static_cast<size_t>(slot_of(k))];
    ++keys;
    CHECK(DispatchKeySet(k).highest() == k);
    CHECK(runtime_key(functionality_of(k), backend_of(k)) == (is_per_backend(functionality_of(k)) ? k : K::Undefined));
  }
  CHECK(keys == 136);
  CHECK(slot_of(K::Undefined) == 0);
  for (int s = 1; s < kSlots; ++s) CHECK(seen[static_cast<size_t>(s)] == 1);
  CHECK(slot_of(K::AutogradCPU) == 96);
  CHECK(slot_of(K::PythonDispatcher) == 136);
}

TEST_CASE("a set is a cross product", "[core][keys]") {
  const DispatchKeySet mixed = DispatchKeySet(K::CPU) | K::AutogradCUDA;
  CHECK(mixed.raw() == 0x1000010003);
  CHECK(to_string(mixed) == "DispatchKeySet(CPU, CUDA, AutogradCPU, AutogradCUDA)");
  CHECK((DispatchKeySet(K::CPU) - K::CPU).raw() == 0x1);
  CHECK((DispatchKeySet(K::CPU) - K::CPU).highest() == K::Undefined);
  CHECK(to_string(kAutograd) == "DispatchKeySet(AutogradOther, AutogradNestedTensor)");
  CHECK(to_string(DispatchKeySet()) == "DispatchKeySet()");
  CHECK(to_string(DispatchKeySet(K::Sparse)) == "DispatchKeySet()");
  CHECK(DispatchKeySet(K::Autograd).empty());
  CHECK(kCpuTensor.highest() == K::AutocastCPU);
  CHECK(kCpuTensor.raw() == 0x9400010001);
  CHECK(DispatchKeySet{K::CUDA, K::CPU}.highest() == K::CUDA);
  CHECK(DispatchKeySet{K::Meta}.backend_index() == 15);
  CHECK(kAfterAutograd.raw() == 0x20000007ffffffff);
  CHECK(kAfterADInplaceOrView.raw() == 0x20000003ffffffff);
}

TEST_CASE("modes change a thread's sets as measured and put them back", "[core][keys]") {
  const LocalKeys before = local_keys();
  CHECK(before == LocalKeys{DispatchKeySet::from_raw(0x404000000), DispatchKeySet::from_raw(0x1ff8000000000)});
  {
    GradMode no_grad(false);
    CHECK(local_keys() == before);  // a flag, nothing in the sets
    CHECK_FALSE(grad_state.grad_mode);
    InferenceMode off(false);
    CHECK(grad_state.grad_mode);  // turns it on inside no_grad
  }
  {
    InferenceMode on(true);
    CHECK(local_keys() == LocalKeys{DispatchKeySet::from_raw(0x4000000), DispatchKeySet::from_raw(0x1ffb800000000)});
    std::thread([&] { CHECK(local_keys() == before); }).join();  // another thread begins with the defaults
  }
  {
    IncludeKeys guard(K::Tracer);
    set_key_included(K::Batched, true);
    CHECK(local_keys().included.has(K::Batched));
  }
  CHECK(local_keys() == before);  // the setter inside the guard is lost
  CHECK(grad_state == GradState());
}
