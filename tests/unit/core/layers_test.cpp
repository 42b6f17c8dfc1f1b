// Layers that are no autograd: meta tensors, autocast's state, lazy conjugation. Hops and values against stock: tests/conformance.
#include "core/autocast/autocast.h"
#include "core/autograd/history.h"
#include "core/dispatch/error.h"
#include "kernels/load.h"
#include "ops_generated/ops.h"
#include "tests/catch.h"

using namespace peel::core;
using Catch::Matchers::Contains;

namespace {

constexpr Device kMeta{14};

Tensor filled(const SizeVector& sizes, ScalarType t, const Scalar& value, Device d = {}) {
  peel::kernels::load_operators();
  return ops::full::call(sizes, value, t, Layout::Strided, d);
}

}  // namespace

TEST_CASE("meta tensors have shapes, types and strides but no memory", "[core][meta]") {
  const Tensor a = filled({2, 1, 3}, ScalarType::Float, 1, kMeta), b = filled({4, 1}, ScalarType::Double, 1, kMeta);
  CHECK(a.data() == nullptr);
  const Tensor sum = ops::add_Tensor::call(a, b);
  CHECK(to_text(sum.sizes()) == "[2, 4, 3]");
  CHECK(sum.dtype() == ScalarType::Double);
  CHECK(sum.device() == kMeta);
  CHECK(ops::lt_Scalar::call(a, 1).dtype() == ScalarType::Bool);
  CHECK(to_text(ops::transpose_int::call(a, 0, 2).strides()) == "[1, 3, 3]");
  CHECK(to_text(ops::exp::call(ops::transpose_int::call(a, 0, 2)).strides()) == "[1, 3, 3]");
  CHECK_THROWS_WITH(ops::nonzero::call(a), Contains("aten::nonzero: attempted to run this operator with Meta tensors"));
}

TEST_CASE("autocast restores what was there, and its cache ends with the outermost one", "[core][autocast]") {
  Tensor w = filled({2, 2}, ScalarType::Float, 1);
  set_requires_grad(w, true);
  CHECK_FALSE(autocast_enabled());
  {
    const AutocastScope on(true, ScalarType::BFloat16, true);
    CHECK(autocast_enabled());
    CHECK(ops::mm::call(filled({2, 2}, ScalarType::Float, 1), filled({2, 2}, ScalarType::Float, 1)).dtype() == ScalarType::BFloat16);
    CHECK(ops::mm::call(filled({2, 2}, ScalarType::Double, 1), filled({2, 2}, ScalarType::Double, 1)).dtype() == ScalarType::Double);
    {
      const AutocastScope off(false, ScalarType::BFloat16, false);
      CHECK_FALSE(autocast_enabled());
      CHECK_FALSE(autocast_state().cache);
    }
    CHECK(autocast_state().cache);
    CHECK(autocast::cast(ScalarType::BFloat16, w).is_same(autocast::cast(ScalarType::BFloat16, w)));  // a weight's is kept
    const InferenceMode inference(true);
    CHECK_FALSE(autocast::cast(ScalarType::BFloat16, w).is_same(autocast::cast(ScalarType::BFloat16, w)));
  }
  CHECK_FALSE(autocast_enabled());
  CHECK(autocast_state().nesting == 0);
}

TEST_CASE("a conjugate shares memory until something needs its values", "[core][complex]") {
  const Tensor z = filled({2}, ScalarType::ComplexFloat, IValue(std::complex<double>(1, 2)));
  const Tensor c = ops::_conj::call(z);
  CHECK(c.data() == z.data());
  CHECK(ops::is_conj::call(c));
  CHECK_FALSE(ops::is_conj::call(ops::_conj::call(c)));
  CHECK(ops::item::call(ops::select_int::call(ops::resolve_conj::call(c), 0, 0)).value.to_complex() == std::complex<double>(1, -2));
  CHECK(ops::item::call(ops::select_int::call(ops::imag::call(c), 0, 0)).value.to_double() == -2);
  CHECK_THROWS_WITH(ops::view_as_real::call(c), Contains("view_as_real doesn't work on unresolved conjugated tensors"));
  CHECK_THROWS_WITH(ops::imag::call(filled({1}, ScalarType::Float, 1)), Contains("imag is not implemented for tensors with non-complex dtypes."));
}
