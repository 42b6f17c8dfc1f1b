#include "core/functorch/layers.h"

#include "core/dispatch/error.h"
#include "core/functorch/wrappers.h"

namespace peel::core::functorch {
namespace {

using K = DispatchKey;

// Keys that a layer decides about: all above FuncTorchDynamicLayerBackMode, and every backend (measured).
constexpr DispatchKeySet kLayerKeys =
    DispatchKeySet::full_after(K::TESTING_ONLY_GenericWrapper) - DispatchKeySet::full_after(K::Functionalize) - K::FuncTorchVmapMode;

std::vector<Layer>& stack_of_layers() {
  thread_local std::vector<Layer> all;
  return all;
}

void include_layer_keys(bool on) {
  set_key_included(K::FuncTorchDynamicLayerFrontMode, on);
  set_key_included(K::FuncTorchDynamicLayerBackMode, on);
}

void push(Layer layer) {
  stack_of_layers().push_back(std::move(layer));
  if (stack_of_layers().size() == 1) include_layer_keys(true);
}
Layer take_top() {
  Layer top = std::move(stack_of_layers().back());
  stack_of_layers().pop_back();
  if (stack_of_layers().empty()) include_layer_keys(false);
  return top;
}

int64_t next_level() { return static_cast<int64_t>(layers().size()) + 1; }

// While a call goes on to the layer around the innermost one.
class WithoutTop {
 public:
  WithoutTop() : top_(take_top()) {}
  ~WithoutTop() { push(std::move(top_)); }
  WithoutTop(const WithoutTop&) = delete;
  WithoutTop& operator=(const WithoutTop&) = delete;
  const Layer& layer() const { return top_; }

 private:
  Layer top_;
};

// Keeps, in the innermost layer, the sets that a call comes in with, and restores them.
class KeepEntry {
 public:
  KeepEntry() : saved_(local_keys()) { stack_of_layers().back().entry = saved_; }
  ~KeepEntry() {
    stack_of_layers().back().entry.reset();
    set_local_keys(saved_);
  }
  KeepEntry(const KeepEntry&) = delete;
  KeepEntry& operator=(const KeepEntry&) = delete;

 private:
  LocalKeys saved_;
};

DispatchKeySet keys_of(Transform t) {
  return t == Transform::kVmap ? DispatchKeySet{K::FuncTorchBatched, K::BatchedNestedTensor} : kAutogradAndADInplaceOrView;
}

void enter(Transform t, DispatchKeySet included) {
  const LocalKeys l = local_keys();
  const DispatchKeySet own = keys_of(t);
  set_local_keys({l.included | included, (l.excluded | (kLayerKeys - own)) - own});
}

// The first argument is written and returned, as add_ does.
bool is_in_place(const FunctionSchema& s) {
  return s.returns.size() == 1 && !s.arguments.empty() && s.arguments[0].alias && s.arguments[0].alias->write && s.returns[0].alias &&
         s.returns[0].alias->write;
}

Tensor tensor_in(const IValue& v) { return Tensor(v.to_tensor().release()); }

void refuse_writing_to_captured(const OperatorHandle& op, const Stack& stack, int64_t level) {
  const FunctionSchema& schema = op.schema();
  if (!is_in_place(schema)) return;
  const Tensor written = unwrap_if_dead(tensor_in(stack[stack.size() - schema.arguments.size()]));
  const GradWrapping* g = grad_wrapping(written);
  if (g && g->level == level && !g->immutable) return;
  throw Error("During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation (" + op.name().text() +
              ") that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept the "
              "mutated Tensor(s) as inputs.");
}

// Every tensor of the call becomes one of the level.
void process_autograd(const Layer& layer, const OperatorHandle& op, Stack* stack) {
  refuse_writing_to_captured(op, *stack, layer.level);
  const std::span<IValue> arguments = std::span(*stack).last(op.schema().arguments.size());
  replace_tensors(arguments, [&layer](const Tensor& t) {
    if (!t.defined()) return t;
    const GradWrapping* g = grad_wrapping(t);
    return g && g->level == layer.level ? t : make_grad_wrapper(t, layer.level, layer.alive, true);
  });
  enter(layer.transform, {});
  op.call_boxed(stack);
}

// Which result is a view of a captured tensor, and so one that may not be written either.
std::vector<bool> views_of_captured(const FunctionSchema& schema, std::span<const IValue> arguments) {
  std::vector<bool> out(schema.returns.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& alias = schema.arguments[i].alias;
    if (arguments[i].tag() != IValue::Tag::kTensor || !alias) continue;
    const GradWrapping* g = grad_wrapping(tensor_in(arguments[i]));
    if (g && !g->immutable) continue;
    for (size_t r = 0; r < schema.returns.size(); ++r) {
      const Argument& result = schema.returns[r];
      if ((result.alias && *result.alias == *alias) || (result.element_alias && *result.element_alias == *alias)) {
        out[r] = true;
        break;
      }
    }
  }
  return out;
}

class MaybeGradMode {
 public:
  MaybeGradMode(bool& flag, bool off) : flag_(flag), saved_(flag) {
    if (off) flag_ = false;
  }
  ~MaybeGradMode() { flag_ = saved_; }
  MaybeGradMode(const MaybeGradMode&) = delete;
  MaybeGradMode& operator=(const MaybeGradMode&) = delete;

 private:
  bool& flag_;
  bool saved_;
};

void send_autograd_on(const Layer& layer, const OperatorHandle& op, Stack* stack, bool fresh) {
  const FunctionSchema& schema = op.schema();
  const size_t first = stack->size() - schema.arguments.size();
  const std::vector<IValue> given(stack->begin() + static_cast<ptrdiff_t>(first), stack->end());
  const std::vector<bool> captured = fresh ? std::vector<bool>(schema.returns.size()) : views_of_captured(schema, given);
  replace_tensors(std::span(*stack).subspan(first), [&layer](const Tensor& t) {
    const GradWrapping* g = grad_wrapping(t);
    return g && g->level == layer.level ? g->value : t;
  });
  {
    const bool grad = layer.transform == Transform::kGrad;
    const MaybeGradMode mode(grad ? grad_state.grad_mode : grad_state.forward_grad_mode, !layer.mode_before);
    op.call_boxed(stack);
  }
  for (size_t r = 0; r < schema.returns.size(); ++r) {
    replace_tensors(std::span(*stack).subspan(stack->size() - schema.returns.size() + r, 1), [&](const Tensor& t) {
      return t.defined() ? make_grad_wrapper(t, layer.level, layer.alive, captured[r]) : t;
    });
  }
  for (const IValue& v : given) {
    if (v.tag() == IValue::Tag::kTensor) {
      if (const Tensor t = tensor_in(v); grad_wrapping(t)) refresh_shape(t);
    }
  }
}

void go_on(const OperatorHandle& op, Stack* stack, bool fresh) {
  const ForceKeys as_entered(stack_of_layers().back().entry.value_or(local_keys()));
  const WithoutTop outer;
  const Layer& layer = outer.layer();
  if (layer.transform == Transform::kVmap) op.call_boxed(stack);
  else send_autograd_on(layer, op, stack, fresh);
}

}  // namespace

const std::vector<Layer>& layers() { return stack_of_layers(); }

int64_t push_vmap(int64_t batch_size, Randomness r) {
  push({.transform = Transform::kVmap, .level = next_level(), .batch_size = batch_size, .randomness = r});
  return layers().back().level;
}
int64_t push_grad() {
  push({.transform = Transform::kGrad, .level = next_level(), .mode_before = grad_state.grad_mode});
  return layers().back().level;
}
int64_t push_jvp() {
  push({.transform = Transform::kJvp, .level = next_level(), .mode_before = grad_state.forward_grad_mode});
  return layers().back().level;
}
int64_t pop_layer() {
  const Layer top = take_top();
  *top.alive = false;
  return top.level;
}

Layer take_innermost() { return take_top(); }
void put_back(Layer layer) { push(std::move(layer)); }

const Layer& current_layer(const char* what) {
  if (!layers().empty()) return layers().back();
  throw Error(std::string("Either your tensor may have escaped from inside a function being vmapped and this is a user error "
                          "(see https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in `") +
              what + "` Please file an issue if it looks like the latter");
}

void front(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const KeepEntry entry;
  replace_tensors(std::span(*stack).last(op.schema().arguments.size()), &unwrap_if_dead);
  const Layer layer = layers().back();
  if (layer.transform != Transform::kVmap) return process_autograd(layer, op, stack);
  enter(layer.transform, K::FuncTorchVmapMode);
  op.call_boxed(stack);
}

void back(const OperatorHandle& op, DispatchKeySet, Stack* stack) { go_on(op, stack, false); }
void back_of_fresh(const OperatorHandle& op, DispatchKeySet, Stack* stack) { go_on(op, stack, true); }

void of_dead_wrapper(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  replace_tensors(std::span(*stack).last(op.schema().arguments.size()), [](const Tensor& t) {
    const GradWrapping* g = grad_wrapping(t);
    return g ? g->value : t;
  });
  op.call_boxed(stack);
}

bool& requires_grad_allowed() {
  thread_local bool allowed = false;
  return allowed;
}
void check_may_require_grad(const char* what) {
  if (layers().empty() || requires_grad_allowed()) return;
  throw Error(std::string("You are attempting to call Tensor.") + what +
              "() (or perhaps using torch.autograd.functional.* APIs) inside of a function being transformed by a functorch transform. This is unsupported, "
              "please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a function being "
              "transformed instead.");
}

}  // namespace peel::core::functorch
