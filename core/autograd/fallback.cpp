#include "core/autograd/fallback.h"

#include <atomic>
#include <cstdio>

#include "core/autograd/history.h"

namespace peel::core {
namespace {

std::atomic<void (*)(const std::string&)> handler{nullptr};

void warn_not_implemented(const std::string& op) {
  warn(op + ": an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through it. This may lead to silently "
       "incorrect behavior. This behavior is deprecated and will be removed in a future version of PyTorch. If your operator is differentiable, please "
       "ensure you have registered an autograd kernel to the correct Autograd key (e.g. DispatchKey::Autograd, DispatchKey::CompositeImplicitAutograd). "
       "If your operator is not differentiable, or to squash this warning and use the previous behavior, please register torch::CppFunction::makeFallthrough() "
       "to DispatchKey::Autograd.");
}

class WarnNotImplemented final : public Node {
 public:
  explicit WarnNotImplemented(std::string op) : op_(std::move(op)) {}
  const char* name() const override { return "WarnNotImplemented"; }
  std::vector<Tensor> apply(std::vector<Tensor>) override {
    warn_not_implemented(op_);
    return std::vector<Tensor>(next_edges().size());
  }

 private:
  std::string op_;
};

template <class F>
void each_tensor(const Stack& s, size_t first, size_t count, F f) {
  for (size_t i = first; i < first + count; ++i) {
    if (s[i].tag() == IValue::Tag::kTensor) {
      f(Tensor(s[i].to_tensor().release()), i - first);
    } else if (s[i].tag() == IValue::Tag::kList) {
      for (const IValue& one : s[i].to_list()) {
        if (one.tag() == IValue::Tag::kTensor) f(Tensor(one.to_tensor().release()), i - first);
      }
    }
  }
}

}  // namespace

void set_warning_handler(void (*f)(const std::string&)) { handler.store(f); }
void warn(const std::string& text) {
  if (auto* f = handler.load()) f(text);
  else std::fprintf(stderr, "Warning: %s\n", text.c_str());
}

void autograd_fallback(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  bool any = false;
  std::vector<Edge> edges;
  each_tensor(*stack, stack->size() - schema.arguments.size(), schema.arguments.size(), [&](const Tensor& t, size_t) { any |= wants_grad(t); });
  any = any && grad_state.grad_mode;
  Ref<WarnNotImplemented> node;
  if (any) {
    node = make_ref<WarnNotImplemented>(op.name().text());  // told to the observer when a result gets it
    each_tensor(*stack, stack->size() - schema.arguments.size(), schema.arguments.size(), [&](const Tensor& t, size_t) { edges.push_back(edge_of(t)); });
    node->set_next_edges(std::move(edges));
  }
  op.redispatch_boxed(keys & kAfterAutograd, stack);
  if (!any) return;
  bool announced = false;
  each_tensor(*stack, stack->size() - schema.returns.size(), schema.returns.size(), [&](const Tensor& t, size_t i) {
    const bool written = schema.returns[i].alias && schema.returns[i].alias->write;
    if (!t.defined() || !is_differentiable(t.dtype())) return;
    if (requires_grad(t)) {
      register_hook(t, [name = op.name().text()](const Tensor&) { return warn_not_implemented(name), Tensor(); });
    } else if (!written) {
      if (!std::exchange(announced, true)) announce(*node);
      set_history(t, node);
    }
  });
}

}  // namespace peel::core
