// Registration: what is refused and with which words, what comes back when a library goes.
#include "kernels/load.h"
#include "tests/unit/core/support.h"

using namespace peel::core;
using K = DispatchKey;

namespace {
int64_t one(int64_t) { return 1; }
int64_t two(int64_t) { return 2; }
using F = int64_t(int64_t);
int64_t value_of(Dispatcher& d) { return d.find_schema_or_throw("mine::f", "").typed<F>().call(0); }
}  // namespace

TEST_CASE("the newest kernel of a key is in force, and the one before when it goes", "[core][library]") {
  Dispatcher d;
  const auto through = fallthroughs(d);
  Library def = library(d, "mine");
  def.def("f(int x) -> int", kernel<&one>());
  CHECK(value_of(d) == 1);
  {
    Library over = library(d, "mine", Library::Kind::kImpl, {}, 5);
    over.impl("f", kernel<&two>());
    CHECK(value_of(d) == 2);
    CHECK_THAT(d.dump(d.find({"mine::f", ""})->entry()),
               Contains("CompositeImplicitAutograd[alias]: registered at test.cpp:5 :: (int _0) -> int _0 [ boxed unboxed ]\n"
                        "CompositeImplicitAutograd[alias] (inactive): registered at test.cpp:1 :: (int _0) -> int _0 [ boxed unboxed ]\n"));
  }
  CHECK(value_of(d) == 1);
  const auto handle = d.find_schema_or_throw("mine::f", "").typed<F>();
  def.reset();
  CHECK_FALSE(d.find({"mine::f", ""}));
  CHECK_THROWS_AS(handle.call(0), NotImplemented);  // a handle stays usable
  Library again = library(d, "mine");
  again.def("f(int x) -> int", kernel<&two>());
  CHECK(value_of(d) == 2);
}

TEST_CASE("what PyTorch refuses is refused, and leaves nothing behind", "[core][library]") {
  Dispatcher d;
  const auto through = fallthroughs(d);
  Library def = library(d, "mine");
  def.def("f(int x) -> int");
  CHECK_THROWS_WITH(library(d, "mine"), Contains("Only a single TORCH_LIBRARY can be used to register the namespace mine"));
  CHECK_THROWS_WITH(def.def("f(int x) -> int"), Contains("with the same name and overload name multiple times"));
  CHECK_THROWS_WITH(def.impl("f", kernel([](double) -> int64_t { return 0; })),
                    Contains("doesn't match the expected function schema") && Contains("Type mismatch in argument 1: int vs float"));
  CHECK_THROWS_WITH(def.impl("f", kernel([](int64_t, int64_t) -> int64_t { return 0; })), Contains("The number of arguments is different. 1 vs 2."));
  CHECK_THROWS_WITH(def.impl("other::f", kernel<&one>()), Contains("Explicitly provided namespace (other) in operator name does not match"));
  CHECK_THROWS_WITH(library(d, "mine", Library::Kind::kImpl).def("g() -> ()"),
                    Contains("def(\"g\"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block"));
  CHECK_THROWS_WITH(d.find_schema_or_throw("mine::g", "x"), "Could not find schema for mine::g.x");
  def.impl("f", kernel<&one>());
  CHECK_THROWS_WITH(def.impl("f", kernel([](const int64_t&) -> int64_t { return 0; })), Contains("Mismatch in kernel C++ signatures"));
  CHECK(value_of(d) == 1);
  def.reset();
  CHECK(d.names().empty());
  // A kernel before its schema; the schema must then fit it.
  Library early = library(d, "mine", Library::Kind::kImpl);
  early.impl("late", kernel<&one>());
  CHECK_THROWS_WITH(d.find_schema_or_throw("mine::late", ""), Contains("but we found an implementation"));
  Library late = library(d, "mine");
  CHECK_THROWS_WITH(late.def("late(str x) -> int"), Contains("Type mismatch in argument 1: str vs int"));
  CHECK_NOTHROW(late.def("late(SymInt x) -> int"));
}

TEST_CASE("backend fallbacks: one per key, for operators there and to come", "[core][library]") {
  Dispatcher d;
  const auto through = fallthroughs(d);
  Library def = library(d, "mine");
  def.def("f(Tensor x) -> Tensor");
  std::vector<std::string> ran;
  const auto log = [&](const char* what) {
    return boxed_kernel([&ran, what](const OperatorHandle& op, DispatchKeySet, Stack*) { ran.push_back(op.name().text() + " " + what); });
  };
  {
    Library cuda = library(d, "_", Library::Kind::kImpl, K::CUDA, 7);
    cuda.fallback(log("first"));
    CHECK_THROWS_WITH(
        cuda.fallback(log("second")),
        Contains(
            "Tried to register multiple backend fallbacks for the same dispatch key CUDA; previous registration registered at test.cpp:7"));
    def.def("g(Tensor x) -> Tensor");
    InferenceMode mode(true);
    for (const char* name : {"mine::f", "mine::g"}) d.find_schema_or_throw(name, "").typed<TensorHandle(const TensorHandle&)>().call(tensor(K::CUDA));
    CHECK(ran == std::vector<std::string>{"mine::f first", "mine::g first"});
  }
  CHECK_FALSE(d.find({"mine::f", ""})->entry().slot(slot_of(K::CUDA))->function.valid());
  // A second one at AutogradPrivateUse1 replaces; its removal leaves none.
  Library first = library(d, "_", Library::Kind::kImpl, K::AutogradPrivateUse1, 1);
  first.fallback(log("built in"));
  {
    Library second = library(d, "_", Library::Kind::kImpl, K::AutogradPrivateUse1, 2);
    CHECK_NOTHROW(second.fallback(log("own")));
  }
  CHECK_FALSE(d.find({"mine::f", ""})->entry().slot(slot_of(K::AutogradPrivateUse1))->function.valid());
  // For an alias at each of its keys; one that is taken already refuses the rest.
  Library nested = library(d, "_", Library::Kind::kImpl, K::CompositeImplicitAutogradNestedTensor);
  nested.fallback(log("nested"));
  CHECK(d.find({"mine::f", ""})->entry().slot(slot_of(K::NestedTensorMeta))->function.valid());
  CHECK_THROWS_WITH(library(d, "_", Library::Kind::kImpl, K::AutogradNestedTensor).fallback(log("again")),
                    Contains("multiple backend fallbacks for the same dispatch key AutogradNestedTensor"));
}

PEEL_LIBRARY(peel_test_blocks, m) { m.def("f(int x) -> int"); }
PEEL_LIBRARY_IMPL(peel_test_blocks, CompositeExplicitAutograd, m) { m.impl("f", kernel<&two>()); }

TEST_CASE("blocks register when the program starts", "[core][library]") {
  peel::kernels::load_operators();  // with the fallthroughs that a call needs
  CHECK(Dispatcher::get().find_schema_or_throw("peel_test_blocks::f", "").typed<F>().call(0) == 2);
}
