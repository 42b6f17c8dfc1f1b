// What an observer sees of each hop, and what it may change while a program stands still.
#include "tests/unit/core/support.h"

using namespace peel::core;
using K = DispatchKey;
using F = Tensor(const Tensor&, int64_t);

namespace {

class Log final : public Observer {
 public:
  void begin(Hop& h) override {
    static constexpr const char* kinds[] = {"call", "redispatch", "call_boxed", "redispatch_boxed"};
    Stack values;
    h.values->push(&values);
    lines.push_back(std::string(kinds[static_cast<int>(h.kind)]) + " " + h.op->name().text() + "@" + to_string(h.key()) + " of " +
                    to_string(h.arguments) + (h.kernel->function.valid() ? "" : " missing") + " n=" + to_text(values.back()));
    if (change) change(h);
  }
  void end(Hop& h, HopValues* results) noexcept override {
    Stack values;
    if (results) results->push(&values);
    if (results && replace_by) replaced = results->replace(*replace_by);
    lines.push_back("end " + std::string(to_string(h.key())) + (results ? " " + std::to_string(values.size()) : " raised"));
  }
  std::vector<std::string> lines;
  std::function<void(Hop&)> change;
  const Stack* replace_by = nullptr;
  bool replaced = false;
};

struct Watched {
  Watched() : def(library(d, "mine")) {
    def.def("f(Tensor x, int n) -> Tensor");
    def.impl("f", kernel([](const Tensor& x, int64_t) -> Tensor { return x; }), K::CPU);
    def.impl("f",
             kernel([this](DispatchKeySet s, const Tensor& x, int64_t n) -> Tensor { return op().redispatch(s & kAfterAutograd, x, n); }),
             K::AutogradCPU);
    set_observer(&log);
  }
  ~Watched() { set_observer(nullptr); }
  TypedOperatorHandle<F> op() { return d.find_schema_or_throw("mine::f", "").typed<F>(); }
  Dispatcher d;
  Library def;
  Log log;
  Tensor x = tensor({K::CPU, K::AutogradCPU});
};

}  // namespace

TEST_CASE("an observer sees calls, redispatches, values and failures", "[core][observer]") {
  Watched w;
  ForceKeys none({{}, {}});
  w.op().call(w.x, 3);
  CHECK(w.log.lines == std::vector<std::string>{"call mine::f@AutogradCPU of DispatchKeySet(CPU, AutogradCPU) n=3",
                                                "redispatch mine::f@CPU of DispatchKeySet() n=3", "end CPU 1", "end AutogradCPU 1"});
  w.log.lines.clear();
  Stack stack{5, w.x, 4};
  w.op().call_boxed(&stack);
  CHECK(w.log.lines[0] == "call_boxed mine::f@AutogradCPU of DispatchKeySet(CPU, AutogradCPU) n=4");
  CHECK(w.log.lines[3] == "end AutogradCPU 1");
  w.log.lines.clear();
  CHECK_THROWS_AS(w.op().call(tensor(K::CUDA), 1), NotImplemented);
  CHECK(w.log.lines == std::vector<std::string>{"call mine::f@CUDA of DispatchKeySet(CUDA) missing n=1", "end CUDA raised"});
  set_observer(nullptr);
  w.log.lines.clear();
  w.op().call(w.x, 3);
  CHECK(w.log.lines.empty());
}

TEST_CASE("an observer may send a hop elsewhere or replace its kernel", "[core][observer]") {
  Watched w;
  ForceKeys none({{}, {}});
  w.log.change = [](Hop& h) {
    if (h.key() == K::AutogradCPU) h.go_to(h.set - K::AutogradCPU);
  };
  w.op().call(w.x, 3);
  CHECK(w.log.lines == std::vector<std::string>{"call mine::f@AutogradCPU of DispatchKeySet(CPU, AutogradCPU) n=3", "end CPU 1"});
  const Tensor other = tensor(K::Meta);
  Kernel replacement;
  replacement.function = kernel([&other](const Tensor&, int64_t) -> Tensor { return other; });
  w.log.change = [&](Hop& h) { h.kernel = &replacement; };
  CHECK(w.op().call(w.x, 3).is_same(other));
}

TEST_CASE("an observer may return another result, but not for what an operator was given to write", "[core][observer]") {
  Watched w;
  ForceKeys none({{}, {}});
  w.def.def("g_(Tensor(a!) self) -> Tensor(a!)");
  w.def.impl("g_", kernel([](Tensor& x) -> Tensor& { return x; }), K::CPU);
  const Tensor other = tensor(K::Meta);
  const Stack given{other};
  w.log.replace_by = &given;
  CHECK(w.op().call(w.x, 3).is_same(other));
  CHECK(w.log.replaced);
  Stack boxed{w.x, 4};
  w.op().call_boxed(&boxed);
  REQUIRE(boxed.size() == 1);
  CHECK(boxed[0] == IValue(other));
  Tensor x = tensor({K::CPU});
  CHECK(w.d.find_schema_or_throw("mine::g_", "").typed<Tensor&(Tensor&)>().call(x).is_same(x));
  CHECK_FALSE(w.log.replaced);
}
