// Calls: which kernels run, in which order, with which sets, boxed and unboxed; fallthroughs, errors, removal.
#include "tests/unit/core/support.h"

using namespace peel::core;
using K = DispatchKey;
using Twice = Tensor(const Tensor&);

namespace {

std::vector<std::string> ran;

void note(const char* what, DispatchKeySet set) { ran.push_back(std::string(what) + " " + to_string(set)); }

// An operator with two layers, as a generated one has: autograd redispatches below itself.
struct Layers {
  explicit Layers(Dispatcher& d) : def(library(d, "mine")), cpu(library(d, "mine", Library::Kind::kImpl, K::CPU, 2)),
      autograd(library(d, "mine", Library::Kind::kImpl, K::Autograd, 3)), through(fallthroughs(d)) {
    ran.clear();
    def.def("twice(Tensor x) -> Tensor");
    cpu.impl("twice", kernel([](DispatchKeySet s, const Tensor& x) -> Tensor { note("cpu", s); return x; }));
    autograd.impl("twice", kernel([&d](DispatchKeySet s, const Tensor& x) -> Tensor {
      note("autograd", s);
      BelowADInplaceOrView guard;
      return d.find_schema_or_throw("mine::twice", "").typed<Twice>().redispatch(s & kAfterAutograd, x);
    }));
  }
  Library def, cpu, autograd;
  std::vector<Library> through;
};

const std::vector<std::string> kBothLayers = {"autograd DispatchKeySet(CPU, AutogradCPU)", "cpu DispatchKeySet(CPU)"};

}  // namespace

TEST_CASE("a call passes its layers in order, unboxed and boxed", "[core][dispatch]") {
  Dispatcher d;
  Layers layers(d);
  const auto op = d.find_schema_or_throw("mine::twice", "").typed<Twice>();
  const Tensor x = cpu_tensor();
  CHECK(op.call(x).is_same(x));
  CHECK(ran == kBothLayers);

  ran.clear();
  Stack stack{1, x};
  op.call_boxed(&stack);
  CHECK(ran == kBothLayers);
  REQUIRE(stack.size() == 2);
  CHECK(stack[0] == IValue(1));
  CHECK(stack[1].to_tensor().is_same(x));

  ran.clear();
  op.redispatch(DispatchKeySet(K::CPU), x);
  CHECK(ran == std::vector<std::string>{"cpu DispatchKeySet(CPU)"});
  ran.clear();
  // A redispatch takes its set as it is: not the thread's state, not the mask.
  {
    BelowAutograd guard;
    op.redispatch_boxed({K::CPU, K::AutogradCPU}, &stack);
  }
  CHECK(ran == kBothLayers);
  ran.clear();
  {
    InferenceMode mode(true);
    op.call(x);
  }
  CHECK(ran == std::vector<std::string>{"cpu DispatchKeySet(CPU)"});
}

TEST_CASE("a boxed kernel serves unboxed calls, and in-place results are the argument", "[core][dispatch]") {
  Dispatcher d;
  const auto through = fallthroughs(d);
  Library def = library(d, "mine");
  def.def("add_(Tensor(a!) self, int n) -> Tensor(a!)");
  def.def("both(Tensor x, Tensor[] xs, Tensor? none, str s, float[] f, bool b, Scalar c) -> (Tensor, int)");
  def.def("outs(int n, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))");
  std::vector<IValue> seen;
  def.impl("add_", boxed_kernel([&](const OperatorHandle&, DispatchKeySet, Stack* s) {
             seen = *s;
             s->pop_back();
           }), K::CPU);
  def.impl("both", boxed_kernel([&](const OperatorHandle& op, DispatchKeySet, Stack* s) {
             seen = *s;
             drop(s, op.schema().arguments.size());
             s->push_back(seen[0]);
             s->push_back(IValue(7));
           }), K::CPU);
  def.impl("outs", boxed_kernel([&](const OperatorHandle&, DispatchKeySet, Stack* s) { s->erase(s->begin()); }), K::CPU);
  Tensor x = cpu_tensor(), y = cpu_tensor();
  {
    InferenceMode mode(true);  // no autograd kernels here
    const Tensor& result = d.find_schema_or_throw("mine::add_", "").typed<Tensor&(Tensor&, int64_t)>().call(x, 3);
    CHECK(&result == &x);
    CHECK(seen == std::vector<IValue>{x, 3});
    const auto both = d.find_schema_or_throw("mine::both", "")
                          .typed<std::tuple<Tensor, int64_t>(const Tensor&, std::span<const Tensor>, const std::optional<Tensor>&,
                                                             std::string_view, std::span<const double>, bool, const Scalar&)>();
    const std::vector<Tensor> xs{x, y};
    const std::vector<double> f{1.5};
    const auto [t, n] = both.call(x, xs, std::nullopt, "s", f, true, 2.5);
    CHECK(t.is_same(x));
    CHECK(n == 7);
    CHECK(seen == std::vector<IValue>{x, IValue::list({x, y}), IValue(), "s", IValue::list({1.5}), true, 2.5});
    const auto outs = d.find_schema_or_throw("mine::outs", "").typed<std::tuple<Tensor&, Tensor&>(int64_t, Tensor&, Tensor&)>();
    const auto result_pair = outs.call(1, x, y);
    CHECK(&std::get<0>(result_pair) == &x);
    CHECK(&std::get<1>(result_pair) == &y);
  }
}

TEST_CASE("an unboxed kernel serves boxed calls with every kind of argument", "[core][dispatch]") {
  Dispatcher d;
  const auto through = fallthroughs(d);
  Library def = library(d, "mine");
  def.def(
      "many(Tensor x, Tensor[] xs, Tensor?[] os, int[] i, float f, bool b, str s, Device dev, complex c, Scalar k, int? n, Generator? g) "
      "-> (Tensor, int[])");
  def.def("nothing(int x) -> ()");
  def.impl("many",
           kernel([](const Tensor& x, std::span<const Tensor> xs, std::span<const std::optional<Tensor>> os, std::span<const int64_t> i,
                     double f, bool b, std::string_view s, Device dev, std::complex<double> c, const Scalar& k, std::optional<int64_t> n,
                     const std::optional<GeneratorHandle>& g) -> std::tuple<Tensor, std::vector<int64_t>> {
             CHECK(xs.size() == 2);
             CHECK(os.size() == 2);
             CHECK_FALSE(os[0]);
             CHECK(f == 2.5);
             CHECK(b);
             CHECK(s == "text");
             CHECK(dev == Device{1, 0});
             CHECK(c == std::complex<double>(0, 1));
             CHECK(k.value == IValue(3));
             CHECK_FALSE(n);
             CHECK_FALSE(g);
             return {x, {i.begin(), i.end()}};
           }),
           K::CPU);
  int64_t got = 0;
  def.impl("nothing", kernel([&got](int64_t x) { got = x; }));
  const Tensor x = tensor(K::CPU);
  Stack stack{x,
              IValue::list({x, x}),
              IValue::list({IValue(), x}),
              IValue::list({4, 5}),
              2.5,
              true,
              "text",
              Device{1, 0},
              std::complex<double>(0, 1),
              3,
              IValue(),
              IValue()};
  InferenceMode mode(true);
  d.find_schema_or_throw("mine::many", "").call_boxed(&stack);
  REQUIRE(stack.size() == 2);
  CHECK(stack[1] == IValue::list({4, 5}));
  Stack one{9};
  d.find_schema_or_throw("mine::nothing", "").call_boxed(&one);
  CHECK(one.empty());
  CHECK(got == 9);
  CHECK_THAT(d.dump(d.find({"mine::nothing", ""})->entry()),
             Contains("CompositeImplicitAutograd[alias]: registered at test.cpp:1 :: (int _0) -> () [ boxed unboxed ]"));
}

TEST_CASE("generators give keys to unboxed calls only; undefined tensors give some, None gives none", "[core][dispatch]") {
  Dispatcher d;
  Library def = library(d, "mine");
  def.def("draw(Tensor? x, Generator? g) -> ()");
  std::string at;
  const auto record = [&at](const char* key) {
    return kernel([&at, key](const std::optional<Tensor>&, const std::optional<GeneratorHandle>&) { at = key; });
  };
  def.impl("draw", record("CPU"), K::CPU);
  def.impl("draw", record("BackendSelect"), K::BackendSelect);
  def.impl("draw", record("Undefined"), K::CompositeExplicitAutograd);
  auto generator_object = make_ref<KeyedObject>();
  generator_object->keys = K::CPU;
  const GeneratorHandle g(generator_object);
  const auto op = d.find_schema_or_throw("mine::draw", "").typed<void(const std::optional<Tensor>&, const std::optional<GeneratorHandle>&)>();
  ForceKeys none({{}, {}});
  op.call(std::nullopt, g);
  CHECK(at == "CPU");
  Stack stack{IValue(), g};
  op.call_boxed(&stack);
  CHECK(at == "Undefined");
  op.call(std::nullopt, std::nullopt);
  CHECK(at == "Undefined");
  // An undefined tensor is not None: it has the keys of a tensor of no backend, in both conventions.
  CHECK(Tensor().keys().raw() == 0xc00000000);
  CHECK_THROWS_WITH(op.call(Tensor(), std::nullopt), Contains("arguments from the 'AutogradOther' backend"));
  Stack undefined{Tensor(), IValue()};
  CHECK_THROWS_WITH(op.call_boxed(&undefined), Contains("arguments from the 'AutogradOther' backend"));
}

TEST_CASE("fallthroughs leave the mask, one backend's alone switches to masks per backend", "[core][dispatch]") {
  Dispatcher d;
  Layers layers(d);
  const auto op = d.find_schema_or_throw("mine::twice", "").typed<Twice>();
  const FallthroughMasks& masks = op.entry().masks();
  CHECK_FALSE(masks.all().has(K::ADInplaceOrView));
  CHECK_FALSE(masks.per_backend_needed());
  {
    Library cuda = library(d, "mine", Library::Kind::kImpl, K::AutogradCUDA);
    cuda.impl("twice", KernelFunction::fallthrough());
    CHECK(masks.per_backend_needed());
    CHECK_FALSE(masks.all().has(K::AutogradCPU));  // the last writer took the functionality
    CHECK(masks.for_backend(0).has(K::AutogradCPU));
    CHECK_FALSE(masks.for_backend(1).has(K::AutogradCUDA));
    op.call(cpu_tensor());
    CHECK(ran == kBothLayers);
    CHECK_THROWS_WITH(op.redispatch({K::CUDA, K::AutogradCUDA}, cpu_tensor()), Contains("fallthrough_kernel was executed"));
  }
  CHECK_FALSE(masks.per_backend_needed());
  CHECK(masks.all().has(K::AutogradCPU));
}

TEST_CASE("stale slots: composite implicit, then explicit, keeps the autograd slots", "[core][dispatch]") {
  Dispatcher d;
  Library def = library(d, "mine");
  def.def("f(Tensor x) -> Tensor");
  const auto same = [] { return kernel([](const Tensor& x) -> Tensor { return x; }); };
  def.impl("f", same(), K::CompositeImplicitAutograd);
  const OperatorEntry& e = d.find({"mine::f", ""})->entry();
  {
    Library explicit_library = library(d, "mine", Library::Kind::kImpl, K::CompositeExplicitAutograd, 9);
    explicit_library.impl("f", same());
    CHECK(e.slot(slot_of(K::AutogradCPU))->key == K::CompositeImplicitAutograd);
    CHECK(e.provenance(slot_of(K::AutogradCPU)) == Provenance::kMath);
    CHECK(e.slot(slot_of(K::CPU))->key == K::CompositeExplicitAutograd);
    CHECK_FALSE(e.computed(K::AutogradCPU).kernel->function.valid());
    CHECK_THAT(d.dump_table(e), !Contains("AutogradCPU"));
  }
  CHECK_THAT(d.dump_table(e), Contains("AutogradCPU: registered at test.cpp:1 [math kernel]\n"));
}

TEST_CASE("ambiguity at AutogradOther is an error when reached", "[core][dispatch]") {
  Dispatcher d;
  const auto through = fallthroughs(d);
  Library def = library(d, "mine");
  def.def("f(Tensor x) -> Tensor");
  const auto same = [] { return kernel([](const Tensor& x) -> Tensor { return x; }); };
  def.impl("f", same(), K::CompositeImplicitAutograd);
  def.impl("f", same(), K::FPGA);
  const auto op = d.find_schema_or_throw("mine::f", "").typed<Twice>();
  CHECK_THROWS_WITH(op.call(tensor({K::FPGA, K::AutogradOther})),
                    Contains("mine::f has kernels registered to both CompositeImplicitAutograd and a backend"));
  CHECK(op.entry().provenance(slot_of(K::AutogradOther)) == Provenance::kAmbiguousAutogradOther);
}

TEST_CASE("a missing kernel says what there is", "[core][dispatch]") {
  Dispatcher d;
  Layers layers(d);
  const auto op = d.find_schema_or_throw("mine::twice", "").typed<Twice>();
  CHECK_THROWS_AS(op.call(tensor(K::CUDA)), NotImplemented);
  CHECK_THROWS_WITH(op.redispatch(DispatchKeySet(K::CUDA), cpu_tensor()),
                    Contains("Could not run 'mine::twice' with arguments from the 'CUDA' backend.") &&
                        Contains("only available for these backends: [CPU, BackendSelect, ADInplaceOrView, AutogradOther, AutogradCPU,") &&
                        Contains("\n\nCPU: registered at test.cpp:2 [kernel]\nBackendSelect: fallthrough registered at test.cpp:1 [backend "
                                 "fallback]\nADInplaceOrView: fallthrough registered at test.cpp:1 [backend fallback]\n"));
  CHECK_THROWS_WITH(op.call(tensor({})), Contains("There were no tensor arguments to this function") && Contains("schema mine::twice."));
  Stack stack{tensor({})};
  CHECK_THROWS_AS(op.call_boxed(&stack), NotImplemented);
  CHECK_THROWS_WITH((d.find_schema_or_throw("mine::twice", "").typed<Tensor(Tensor, int64_t)>()),
                    Contains("Tried to access or call an operator with a wrong signature."));
}
