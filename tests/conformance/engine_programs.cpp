// The samples as C++ on the embedded engine: each call that the Python program makes, under the guards that Python's bindings set.
#include <cmath>
#include <cstdio>

#include "core/autograd/engine.h"
#include "kernels/cpu/random.h"
#include "ops_generated/ops.h"
#include "tests/conformance/engine_replay.h"

namespace peel::core {
namespace {

// torch.ones, torch.randn, ... skip the layers above the backend.
template <class F>
Tensor made(F f) {
  BelowADInplaceOrView factory;
  return f();
}
Tensor randn(SizeVector size) {
  return made([&] { return ops::randn::call(size, {}, Layout::Strided, Device(), false); });
}
Tensor ones(SizeVector size) {
  return made([&] { return ops::ones::call(size, {}, Layout::Strided, Device(), false); });
}
double number(const Tensor& t) { return ops::item::call(t).value.to_double(); }

void backward_from(const Tensor& loss) {
  std::vector<Tensor> grads{made([&] { return ops::ones_like::call(loss, {}, {}, {}, {}, MemoryFormat::Preserve); })};
  backward(std::span(&loss, 1), std::move(grads));
}

Tensor body(const Tensor& x, const Tensor& step, const Tensor& weight) {
  const SizeVector shape{4, 2};
  Tensor v = ops::view::call(x, shape);
  ops::add__Tensor::call(v, step);
  const Tensor y = ops::exp::call(x);
  return ops::linear::call(y, weight);
}

// nn.Parameter: detach, then requires_grad.
Tensor parameter(SizeVector size) {
  const Tensor data = made([&] { return ops::empty_memory_format::call(size, {}, Layout::Strided, Device(), false); });
  Tensor p = ops::detach::call(data);
  return set_requires_grad(p, true);
}

struct LinearLayer {
  LinearLayer(int64_t in, int64_t out) : weight(parameter({out, in})), bias(parameter({out})) {
    GradMode no_grad(false);
    const double bound = 1 / std::sqrt(static_cast<double>(in));
    ops::uniform_::call(weight, -bound, bound);
    ops::uniform_::call(bias, -bound, bound);
  }
  Tensor operator()(const Tensor& x) const { return ops::linear::call(x, weight, bias); }
  Tensor weight, bias;
};

Tensor to_cpu(const Tensor& t) { return ops::to_dtype_layout::call(t, {}, {}, Device(), {}, false, false); }

}  // namespace

void grad_modes() {
  kernels::manual_seed(0);
  Tensor weight = randn({3, 4});
  set_requires_grad(weight, true);
  const Tensor base = randn({2, 4}), one = ones({4, 2});
  const auto say = [](const char* mode, const Tensor& out) { std::printf("value\t%s\t%.9g\n", mode, number(ops::sum::call(out))); };
  say("grad", body(base, one, weight));
  Tensor out;
  {
    GradMode no_grad(false);
    out = body(base, one, weight);
  }
  say("no_grad", out);
  {
    InferenceMode inference(true);
    say("inference_mode, normal", body(base, one, weight));
  }
  InferenceMode inference(true);
  const Tensor inside = ones({2, 4});
  say("inference_mode, inference", body(inside, one, weight));
}

void train_step() {
  kernels::manual_seed(0);
  const LinearLayer first(8, 16), second(16, 1);
  std::vector<Tensor> parameters{first.weight, first.bias, second.weight, second.bias};
  {
    // net.to(device): nothing to do, but asked.
    for (const Tensor& p : parameters) {
      Tensor there;
      {
        GradMode no_grad(false);
        there = to_cpu(p);
      }
      ops::_has_compatible_shallow_copy_type::call(p, there);
      ops::_has_compatible_shallow_copy_type::call(p, there);
    }
  }
  const Tensor x = to_cpu(randn({32, 8}));
  const SizeVector one{1};
  const Tensor target = ops::sum_dim_IntList::call(x, Sizes(one), true);
  for (int iteration = 0; iteration < 3; ++iteration) {
    for (const Tensor& p : parameters) make_grad_meta(p).grad = Tensor();
    const Tensor y = second(ops::relu::call(first(x)));
    const Tensor pair[] = {y, target};
    const std::vector<Tensor> same = ops::broadcast_tensors::call(pair);
    const Tensor loss = ops::mse_loss::call(same[0], same[1], 1);
    backward_from(loss);
    {
      GradMode no_grad(false);
      for (Tensor& p : parameters) ops::add__Tensor::call(p, grad_meta(p)->grad, -0.1);
    }
    std::printf("value\titeration %d\t%.9g\n", iteration, number(loss));
  }
}

}  // namespace peel::core
