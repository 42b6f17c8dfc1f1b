// Hooks, gradients of chosen inputs, anomaly mode, functions of one's own, and backward of several threads over one graph. What is expected is
// PyTorch's documented behaviour, or arithmetic.
#include <atomic>
#include <cmath>
#include <thread>

#include "core/autograd/anomaly.h"
#include "core/autograd/engine.h"
#include "core/autograd/function.h"
#include "core/dispatch/error.h"
#include "kernels/load.h"
#include "ops_generated/ops.h"
#include "tests/catch.h"

using namespace peel::core;
using Catch::Matchers::Contains;

namespace {

Tensor filled(const SizeVector& sizes, double value, bool grad = false) {
  peel::kernels::load_operators();
  Tensor t = ops::empty_memory_format::call(sizes);
  ops::fill__Scalar::call(t, value);
  return set_requires_grad(t, grad);
}
std::vector<Tensor> ones_for(const Tensor& t) { return {ops::ones_like::call(t)}; }
void backward_of(const Tensor& t, BackwardOptions options = {}) { backward(std::span(&t, 1), ones_for(t), options); }
Tensor times(const Tensor& a, double by) { return ops::mul_Scalar::call(a, by); }
double first(const Tensor& t) { return static_cast<double>(*t.data_as<float>()); }

}  // namespace

TEST_CASE("hooks of tensors see and change gradients, in the order of their registration", "[core][autograd]") {
  const Tensor w = filled({2}, 3, true), y = times(w, 2), z = times(y, 5);
  std::vector<double> seen;
  register_hook(y, [&seen](const Tensor& g) {
    seen.push_back(first(g));
    return times(g, 10);
  });
  const uint64_t second = register_hook(y, [&seen](const Tensor& g) {
    seen.push_back(first(g));
    return Tensor();
  });
  register_hook(w, [&seen](const Tensor& g) {
    seen.push_back(first(g));
    return Tensor();
  });
  retain_grad(y);
  backward_of(ops::sum::call(z), {.keep_graph = true});
  CHECK(seen == std::vector<double>{5, 50, 100});
  CHECK(first(gradient_of(w)) == 100);
  CHECK(first(gradient_of(y)) == 50);  // after the hooks
  remove_hook(y, second);
  seen.clear();
  backward_of(ops::sum::call(z));
  CHECK(seen == std::vector<double>{5, 100});
  CHECK(first(gradient_of(y)) == 100);
  CHECK_THROWS_WITH(register_hook(filled({1}, 1), [](const Tensor&) { return Tensor(); }), Contains("doesn't require gradient"));
}

TEST_CASE("hooks of nodes run before and after them, and after a leaf's accumulation", "[core][autograd]") {
  const Tensor w = filled({2}, 3, true), y = times(w, 2);
  grad_node(y)->hooks().before.add([](Gradients g) {
    g[0] = times(g[0], 3);
    return g;
  });
  double given = 0, accumulated = 0;
  grad_node(y)->hooks().after.add([&given](Gradients out, const Gradients& in) {
    given = first(in[0]);
    out[0] = times(out[0], 7);
    return out;
  });
  register_after_accumulate(w, [&accumulated](const Tensor& t) { accumulated = first(gradient_of(t)); });
  backward_of(ops::sum::call(y));
  CHECK(given == 3);
  CHECK(accumulated == 3 * 2 * 7);
  CHECK_THROWS_WITH(register_after_accumulate(times(w, 2), [](const Tensor&) {}), Contains("non-leaf"));
}

TEST_CASE("gradients of chosen inputs run only what leads to them and accumulate nothing", "[core][autograd]") {
  const Tensor w = filled({2}, 3, true), v = filled({2}, 4, true), y = ops::mul_Tensor::call(w, v), z = ops::mul_Tensor::call(y, y);
  const Tensor total = ops::sum::call(z);
  bool ran = false;
  register_hook(v, [&ran](const Tensor&) {
    ran = true;
    return Tensor();
  });
  const Tensor inputs[] = {w, y};
  const auto g = gradients(std::span(&total, 1), ones_for(total), inputs, {.keep_graph = true});
  CHECK(first(g[0]) == 2 * 12 * 4);
  CHECK(first(g[1]) == 24);
  CHECK_FALSE(ran);
  CHECK_FALSE(gradient_of(w).defined());
  const Tensor other = filled({1}, 1, true);
  CHECK_THROWS_WITH(gradients(std::span(&total, 1), ones_for(total), std::span(&other, 1), {.keep_graph = true}), Contains("appears to not have been used in the graph"));
  CHECK_FALSE(gradients(std::span(&total, 1), ones_for(total), std::span(&other, 1), {.keep_graph = true, .allow_unused = true})[0].defined());
  const Tensor plain = filled({1}, 1);
  CHECK_THROWS_WITH(gradients(std::span(&total, 1), ones_for(total), std::span(&plain, 1), {.keep_graph = true}), Contains("does not require grad"));
  backward_to(std::span(&total, 1), ones_for(total), std::span(&w, 1));
  CHECK(first(gradient_of(w)) == 96);
  CHECK_FALSE(gradient_of(v).defined());
}

TEST_CASE("second derivatives by gradients of gradients", "[core][autograd]") {
  const Tensor w = filled({1}, 2, true), y = ops::pow_Tensor_Scalar::call(w, 3);
  const auto g = gradients(std::span(&y, 1), ones_for(y), std::span(&w, 1), {.keep_graph = true, .create_graph = true});
  CHECK(first(g[0]) == 12);
  CHECK(first(gradients(std::span(g.data(), 1), ones_for(g[0]), std::span(&w, 1))[0]) == 12);
}

TEST_CASE("anomaly mode names the node that made a NaN and tells where it was made", "[core][autograd]") {
  struct On {
    On() {
      anomaly.on = true;
      anomaly.stack = [] { return std::string("line 7"); };
      anomaly.warn = [](const std::string& t) { said() += t; };
    }
    ~On() { anomaly = {}; }
    static std::string& said() {
      static std::string s;
      return s;
    }
  } on;
  const Tensor w = filled({1}, -1, true), y = ops::sqrt::call(w);
  CHECK_THROWS_WITH(backward_of(ops::sum::call(y)), Contains("Function 'SqrtBackward0' returned nan values in its 0th output."));
  CHECK_THAT(On::said(), Contains("Error detected in SqrtBackward0. Traceback of forward call that caused the error:\nline 7"));
}

TEST_CASE("a function of one's own: its node, saved tensors, gradients and mistakes", "[core][autograd]") {
  const Tensor w = filled({2}, 3, true), v = filled({2}, 4);
  const Tensor inputs[] = {w, v};
  const auto call = [&](FunctionNode::Backward backward) {
    auto node = function_node("TwiceBackward", inputs, std::move(backward));
    REQUIRE(node);
    std::vector<Tensor> out;
    {
      const GradMode off(false);
      out = {ops::mul_Tensor::call(w, v)};
    }
    out = wrap_outputs(node, inputs, std::move(out), {}, {});
    const Tensor kept[] = {v, out[0]};
    node->save(kept, out);
    return out[0];
  };
  const Tensor y = call([](FunctionNode& self, Gradients g) -> Gradients { return {ops::mul_Tensor::call(g[0], ops::mul_Tensor::call(self.saved()[0], self.saved()[1])), {}}; });
  CHECK(std::string(grad_node(y)->name()) == "TwiceBackward");
  backward_of(ops::sum::call(y), {.keep_graph = true});
  CHECK(first(gradient_of(w)) == 4 * 12);
  Tensor written = v;
  ops::add__Scalar::call(written, 1);
  CHECK_THROWS_WITH(backward_of(ops::sum::call(y)), Contains("modified by an inplace operation"));
  const Tensor bad = call([](FunctionNode&, Gradients g) -> Gradients { return {g[0]}; });
  CHECK_THROWS_WITH(backward_of(ops::sum::call(bad)), Contains("function TwiceBackward returned an incorrect number of gradients (expected 2, got 1)"));
  const GradMode off(false);
  CHECK_FALSE(function_node("TwiceBackward", inputs, {}));
}

TEST_CASE("a function that returns its input gives a view of it; a dirty one gets a new history", "[core][autograd]") {
  const Tensor w = times(filled({2}, 3, true), 1);
  const auto same = function_node("SameBackward", std::span(&w, 1), [](FunctionNode&, Gradients g) { return g; });
  const Tensor y = wrap_outputs(same, std::span(&w, 1), {w}, {}, {})[0];
  CHECK_FALSE(y.is_same(w));
  CHECK(y.data() == w.data());
  CHECK(grad_node(y).get() == static_cast<Node*>(same.get()));
  const auto writes = function_node("WritesBackward", std::span(&w, 1), [](FunctionNode&, Gradients g) { return g; });
  const Tensor z = wrap_outputs(writes, std::span(&w, 1), {w}, std::span(&w, 1), {})[0];
  CHECK(z.is_same(w));
  CHECK(z.impl().current_version() == 1);
  const Tensor leaf = filled({1}, 1, true);
  const auto wrong = function_node("WrongBackward", std::span(&leaf, 1), {});
  CHECK_THROWS_WITH(wrap_outputs(wrong, std::span(&leaf, 1), {leaf}, std::span(&leaf, 1), {}), Contains("a leaf Variable that requires grad has been used in an in-place operation"));
}

TEST_CASE("several threads run backward over one graph and into one leaf", "[core][autograd]") {
  const Tensor w = filled({16}, 2, true), shared = ops::exp::call(times(w, 0));
  constexpr int kThreads = 4, kRounds = 50;
  std::atomic<int> failed{0};
  std::vector<std::thread> all;
  for (int t = 0; t < kThreads; ++t) {
    all.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const Tensor y = ops::mul_Tensor::call(shared, w);
        try {
          backward_of(ops::sum::call(y), {.keep_graph = true});
        } catch (...) {
          ++failed;
        }
      }
    });
  }
  for (std::thread& t : all) t.join();
  CHECK(failed == 0);
  CHECK(first(gradient_of(w)) == kThreads * kRounds);  // d(exp(0 w) w) = 1
}
