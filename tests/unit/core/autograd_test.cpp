// Graph, engine and grad modes without stock: what tests/conformance can't reach or needs no PyTorch for.
#include <thread>

#include "core/autograd/engine.h"
#include "core/autograd/special_nodes.h"
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
void backward_of(const Tensor& t, BackwardOptions options = {}) {
  backward(std::span(&t, 1), {ops::ones_like::call(t)}, options);
}
double first(const Tensor& t) { return static_cast<double>(*t.data_as<float>()); }

}  // namespace

TEST_CASE("gradients add up in a leaf, and its accumulator is one object while someone holds it", "[core][autograd]") {
  const Tensor w = filled({2, 2}, 3, true);
  const Tensor y = ops::mul_Tensor::call(w, w);
  const auto& edges = grad_node(y)->next_edges();
  REQUIRE(edges.size() == 2);
  CHECK(edges[0].node == edges[1].node);
  CHECK(std::string(edges[0].node->name()) == "AccumulateGrad");
  CHECK(grad_node(y)->topological() == 1);
  const Tensor total = ops::sum::call(y);
  backward_of(total, {.keep_graph = true});
  CHECK(first(grad_meta(w)->grad) == 6);
  backward_of(total);
  CHECK(first(grad_meta(w)->grad) == 12);
  CHECK_THROWS_WITH(backward_of(total), Contains("Trying to backward through the graph a second time"));
}

TEST_CASE("a graph of 200,000 nodes runs and goes without deep recursion", "[core][autograd]") {
  const Tensor w = filled({1}, 1, true), one = filled({1}, 1);
  Tensor y = w;
  for (int i = 0; i < 200000; ++i) y = ops::mul_Tensor::call(y, one);
  CHECK(grad_node(y)->topological() == 200000);
  backward_of(y, {.keep_graph = true});
  CHECK(first(grad_meta(w)->grad) == 1);
  y = Tensor();
}

TEST_CASE("create_graph gives gradients that have gradients", "[core][autograd]") {
  const Tensor w = filled({2}, 3, true);
  const Tensor y = ops::sum::call(ops::mul_Tensor::call(ops::mul_Tensor::call(w, w), w));
  backward_of(y, {.keep_graph = true, .create_graph = true});
  const Tensor g = grad_meta(w)->grad;
  CHECK(first(g) == 27);
  REQUIRE(requires_grad(g));
  make_grad_meta(w).grad = Tensor();
  backward_of(ops::sum::call(g));
  CHECK(first(grad_meta(w)->grad) == 18);
  make_grad_meta(w).grad = Tensor();
}

TEST_CASE("several roots start from one node", "[core][autograd]") {
  const Tensor w = filled({2}, 2, true);
  const Tensor roots[] = {ops::exp::call(w), ops::mul_Tensor::call(w, w)};
  backward(roots, {ops::zeros_like::call(roots[0]), ops::ones_like::call(roots[1])});
  CHECK(first(grad_meta(w)->grad) == 4);
  CHECK_THROWS_WITH(backward_of(filled({2}, 1)), Contains("element 0 of tensors does not require grad and does not have a grad_fn"));
}

TEST_CASE("no node without grad mode or without anything that requires grad; inference tensors can't be saved", "[core][autograd]") {
  const Tensor w = filled({2}, 2, true), plain = filled({2}, 2);
  CHECK_FALSE(grad_node(ops::exp::call(plain)));
  const uint64_t before = Node::peek_sequence();
  {
    GradMode off(false);
    CHECK_FALSE(grad_node(ops::exp::call(w)));
  }
  CHECK(Node::peek_sequence() == before);
  Tensor inference;
  {
    InferenceMode mode(true);
    inference = ops::mul_Tensor::call(plain, plain);
    CHECK_FALSE(grad_node(ops::exp::call(w)));
  }
  CHECK(grad_node(ops::add_Tensor::call(inference, w)));
  CHECK_THROWS_WITH(ops::mul_Tensor::call(inference, w), Contains("Inference tensors cannot be saved for backward"));
}

TEST_CASE("an operator without a formula says so in backward; out= refuses", "[core][autograd]") {
  const Tensor w = filled({2}, 2, true);
  const Tensor y = ops::sum::call(ops::floor_divide::call(w, w));
  CHECK_THROWS_WITH(backward_of(y), Contains("derivative for aten::floor_divide is not implemented"));
  Tensor out = filled({}, 0);
  CHECK_THROWS_WITH(ops::sum_IntList_out::call(w, Sizes(), false, {}, out), Contains("functions with out=... arguments don't support automatic differentiation"));
}

TEST_CASE("threads have their own sequence numbers, and share a leaf's accumulator while they build graphs", "[core][autograd][threads]") {
  const Tensor shared = filled({8}, 1, true);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      bool good = Node::peek_sequence() == 0;
      for (int i = 0; i < 300; ++i) {
        const Tensor mine = filled({8}, 2, true);
        const Tensor y = ops::exp::call(shared);  // an accumulator, made and dropped by all threads
        good = good && grad_node(y)->next_edges()[0].node;
        backward_of(ops::sum::call(ops::mul_Tensor::call(mine, mine)));
        good = good && first(grad_meta(mine)->grad) == 4;
      }
      right += good;
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(right == 4);
}

TEST_CASE("who waits for a node asks the observer to", "[core][observer]") {
  struct Waiting final : Observer {
    void begin(Hop&) override {}
    void end(Hop&, HopValues*) noexcept override {}
    void wait_for(std::mutex& m) override { ++waits; m.lock(); }
    std::atomic<int> waits = 0;
  } waiting;
  struct Still final : Node {
    const char* name() const override { return "Still"; }
    std::vector<Tensor> apply(std::vector<Tensor>) override { return {}; }
  };
  const Ref<Still> node(new Still);
  set_observer(&waiting);
  { const NodeLock free(*node); }
  CHECK(waiting.waits == 0);
  node->mutex().lock();
  std::thread other([&] { const NodeLock lock(*node); });
  while (waiting.waits == 0) std::this_thread::yield();
  node->mutex().unlock();
  other.join();
  set_observer(nullptr);
}
