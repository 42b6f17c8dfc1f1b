#include "tests/catch.h"
#include "tests/unit/views/fake_session.h"
#include "views/words.h"

using namespace peel;
using namespace peel::views;

TEST_CASE("words: numbers and times", "[views]") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(88310) == "88,310");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(plural(1, "hop") == "1 hop");
  CHECK(plural(0, "hop") == "0 hops");
  CHECK(micros(9100) == "9.1");
  CHECK(micros(9960) == "10");
  CHECK(micros(412'300) == "412");
  CHECK(micros(-1).empty());
  CHECK(duration(1'300'000) == "1.30 ms");
  CHECK(duration(2'400'000'000) == "2.40 s");
  CHECK(ordinal(1) == "1st");
  CHECK(ordinal(12) == "12th");
  CHECK(ordinal(22) == "22nd");
  CHECK(ordinal(113) == "113th");
}

TEST_CASE("words: where a kernel was registered", "[views]") {
  CHECK(kernel_place("registered at /pytorch/build/aten/src/ATen/RegisterCPU_2.cpp:8") == "RegisterCPU_2");
  CHECK(kernel_place("registered at /pytorch/aten/src/ATen/core/VariableFallbackKernel.cpp:53 [backend fallback]") == "VariableFallbackKernel");
  CHECK(kernel_place("registered at custom_op.py:12") == "custom_op.py:12");
  CHECK(kernel_place("").empty());
}

TEST_CASE("words: tensors", "[views]") {
  test::FakeSession s;
  CHECK(tensor_brief(s.tensor_value(0, "self", 7)) == "f32[2,3]");
  CHECK(dtype_brief("torch.bfloat16") == "bf16");
  CHECK(dtype_brief("quint8") == "quint8");
}
