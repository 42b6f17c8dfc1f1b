// Tensors below dispatch, and through it: memory, views, versions. Shapes and keys are held against stock in tests/conformance.
#include <cstring>

#include "core/dispatch/error.h"
#include "core/dispatch/library.h"
#include "core/tensor/tensor.h"
#include "tests/catch.h"

using namespace peel::core;
using Catch::Matchers::Contains;
using K = DispatchKey;

namespace {

class Counting final : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    live += bytes;
    ++calls;
    return heap_allocator().allocate(bytes);
  }
  void release(void* memory, size_t bytes) noexcept override {
    live -= bytes;
    heap_allocator().release(memory, bytes);
  }
  size_t live = 0;
  int calls = 0;
};

const SizeVector kTwoByThree{2, 3};

}  // namespace

TEST_CASE("views share the storage and outlive the base", "[core][tensor]") {
  Tensor view;
  {
    const Tensor base = empty(kTwoByThree, ScalarType::Float);
    for (int i = 0; i < 6; ++i) base.data_as<float>()[i] = static_cast<float>(i);
    const SizeVector sizes{3}, strides{1};
    view = view_of(base, sizes, strides, 3);
    CHECK(view.impl().storage == base.impl().storage);
    CHECK(base.impl().storage->owners() == 2);
  }
  CHECK(view.data_as<float>()[0] == 3.0f);
  CHECK(view.impl().storage->owners() == 1);
  CHECK(reinterpret_cast<uintptr_t>(view.impl().storage->data()) % 64 == 0);
}

TEST_CASE("a storage gives its memory back, and keeps what fits when resized", "[core][tensor]") {
  Counting memory;
  {
    Storage s(8, Device{}, memory);
    std::memcpy(s.data(), "12345678", 8);
    s.resize(4);
    CHECK(std::memcmp(s.data(), "1234", 4) == 0);
    s.resize(100);
    CHECK(std::memcmp(s.data(), "1234", 4) == 0);
    CHECK(memory.live == 100);
  }
  CHECK(memory.live == 0);
  CHECK(memory.calls == 3);
  CHECK(Storage(0, Device{}, memory).data() == nullptr);
}

TEST_CASE("meta tensors have shapes and no memory; other devices say what to do", "[core][tensor]") {
  const SizeVector huge{1 << 30, 1 << 20};
  const Tensor meta = empty(huge, ScalarType::Double, Device{14, -1});
  CHECK(meta.data() == nullptr);
  CHECK(meta.impl().storage->bytes() == size_t{1} << 53);
  CHECK(to_string(meta.keys()) == "DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)");
  CHECK_THROWS_WITH(empty(kTwoByThree, ScalarType::Float, Device{1, 0}), Contains("cuda:0") && Contains("--engine pytorch"));
  const SizeVector absurd{int64_t{1} << 40, int64_t{1} << 40}, nothing{int64_t{1} << 40, 0, int64_t{1} << 40}, two{2, 2},
      far{int64_t{1} << 62, int64_t{1} << 62};
  CHECK_THROWS_WITH(empty(absurd, ScalarType::Byte, Device{14, -1}), "Storage size calculation overflowed with sizes=[1099511627776, 1099511627776]");
  CHECK_THROWS_WITH(view_of(meta, two, far, 0), Contains("Storage size calculation overflowed with sizes=[2, 2] and strides=[4611686018427387904, "));
  CHECK_THROWS_AS(view_of(meta, two, two, INT64_MAX), Error);
  CHECK(empty(nothing, ScalarType::Float).numel() == 0);
}

TEST_CASE("element types have both of their names", "[core][tensor]") {
  ScalarType t{};
  CHECK(parse_scalar_type("bfloat16", &t));
  CHECK(t == ScalarType::BFloat16);
  CHECK(parse_scalar_type("Long", &t));
  CHECK(std::string(python_name(t)) == "int64");
  CHECK_FALSE(parse_scalar_type("float", &t));
  CHECK(is_differentiable(ScalarType::ComplexFloat));
  CHECK_FALSE(is_differentiable(ScalarType::Bool));
}

TEST_CASE("tensors go through the dispatcher as they are", "[core][tensor]") {
  Dispatcher d;
  Library def(Library::Kind::kDef, "mine", {}, "test.cpp", 1, d);
  Library through(Library::Kind::kImpl, "_", K::BackendSelect, "test.cpp", 2, d);
  through.fallback(KernelFunction::fallthrough());
  def.def("first.out(Tensor[] xs, ScalarType? t=None, *, Tensor(a!) out) -> Tensor(a!)");
  def.impl("first.out", kernel([](std::span<const Tensor> xs, std::optional<ScalarType> t, Tensor& out) -> Tensor& {
             CHECK(t == ScalarType::Double);
             out.data_as<float>()[0] = xs[1].data_as<float>()[0];
             out.impl().bump_version();
             return out;
           }), K::CPU);
  InferenceMode mode(true);  // no autograd kernels here
  std::vector<Tensor> xs{empty(kTwoByThree, ScalarType::Float), empty(kTwoByThree, ScalarType::Float)};
  xs[1].data_as<float>()[0] = 5;
  Tensor out = empty(kTwoByThree, ScalarType::Float);
  const auto op = d.find_schema_or_throw("mine::first", "out");
  using Signature = Tensor&(std::span<const Tensor>, std::optional<ScalarType>, Tensor&);
  CHECK(&op.typed<Signature>().call(xs, ScalarType::Double, out) == &out);
  CHECK(out.data_as<float>()[0] == 5.0f);
  out.data_as<float>()[0] = 0;
  Stack stack{IValue::list({xs[0], xs[1]}), IValue(static_cast<int64_t>(ScalarType::Double)), out};
  op.call_boxed(&stack);
  REQUIRE(stack.size() == 1);
  CHECK(stack[0].to_tensor().is_same(out));
  CHECK(out.data_as<float>()[0] == 5.0f);
  CHECK_THAT(d.dump(op.entry()), Contains(":: (Tensor[] _0, ScalarType? _1, Tensor _2) -> Tensor _0 [ boxed unboxed ]"));
}
