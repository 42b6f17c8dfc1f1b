#include "core/functorch/batching.h"

#include "core/autograd/fallback.h"
#include "core/dispatch/error.h"
#include "core/functorch/layers.h"
#include "core/functorch/rules.h"
#include "core/functorch/wrappers.h"
#include "ops_generated/ops.h"

namespace peel::core::functorch {
namespace {

Tensor tensor_in(const IValue& v) { return Tensor(v.to_tensor().release()); }

bool in_place(const FunctionSchema& s) {
  return s.returns.size() == 1 && !s.arguments.empty() && s.arguments[0].alias && s.arguments[0].alias->write && s.returns[0].alias && s.returns[0].alias->write;
}
bool has_aliases(const FunctionSchema& s) {
  for (const Argument& a : s.arguments) {
    if (a.alias || a.element_alias) return true;
  }
  return false;
}
bool is_tensor_list(const Type& t) { return t.kind == Type::Kind::kList && (t.element().is("Tensor") || (t.element().kind == Type::Kind::kOptional && t.element().element().is("Tensor"))); }

void check(const OperatorHandle& op) {
  const FunctionSchema& s = op.schema();
  const std::string name = s.name.text();
  if (has_aliases(s)) throw Error("Batching rule not implemented for " + name + "; the fallback path doesn't work on out= or view ops.");
  bool possible = !s.returns.empty();
  for (const Argument& r : s.returns) possible = possible && r.type.is("Tensor");
  for (const Argument& a : s.arguments) possible = possible && !is_tensor_list(a.type);
  if (!possible) throw Error("Batching rule not implemented for " + name + ". We could not generate a fallback.");
}

void tell(const OperatorHandle& op) {
  const std::string name = op.name().text();
  if (!fallback_settings().enabled) throw Error(name + " hit the vmap fallback which is currently disabled");
  if (!fallback_settings().warns) return;
  warn("There is a performance drop because we have not yet implemented the batching rule for " + name +
       ". Please file us an issue on GitHub so that we can prioritize its implementation.");
}

struct Sample {
  size_t place;
  Tensor all;  // the batch in front
};

std::vector<Sample> samples_of(std::span<const IValue> arguments) {
  std::vector<Sample> out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].tag() != IValue::Tag::kTensor) continue;
    const Tensor t = tensor_in(arguments[i]);
    const BatchWrapping* b = t.defined() ? batch_wrapping(t) : nullptr;
    if (b) out.push_back({i, ops::movedim_int::call(b->value, b->dim, 0)});
  }
  return out;
}

}  // namespace

FallbackSettings& fallback_settings() {
  static FallbackSettings& settings = *new FallbackSettings;
  return settings;
}

KernelFunction batched_kernel(BatchRule rule, std::vector<size_t> dims, const char* what) {
  return boxed_kernel([rule, dims = std::move(dims), what](const OperatorHandle& op, DispatchKeySet, Stack* stack) {
    BatchCall call(op, stack, dims, what);
    if (call.any_batched()) rule(call);
    else call.go_on();
  });
}

void loop_over_samples(const OperatorHandle& op, DispatchKeySet, Stack* stack) {
  const FunctionSchema& schema = op.schema();
  const bool written = in_place(schema);
  if (!written) check(op);
  const size_t first = stack->size() - schema.arguments.size();
  const int64_t level = current_layer("loop fallback").level;
  bool any = false;
  for (size_t i = first; i < stack->size(); ++i) {
    const BatchWrapping* b = (*stack)[i].tag() == IValue::Tag::kTensor ? batch_wrapping(tensor_in((*stack)[i])) : nullptr;
    any |= b && b->level == level;
  }
  const ExcludeKeys without(DispatchKey::FuncTorchBatched);
  if (!any) {
    op.call_boxed(stack);
    return;
  }
  tell(op);
  const std::vector<IValue> arguments(stack->begin() + static_cast<ptrdiff_t>(first), stack->end());
  drop(stack, arguments.size());
  const std::vector<Sample> samples = samples_of(arguments);
  if (written && (samples.empty() || samples[0].place != 0)) {
    throw Error("vmap: " + schema.name.name + "(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more elements than `self`. "
                "This happened due to `other` being vmapped over but `self` not being vmapped over at level " + std::to_string(level) +
                ". Please try to use out-of-place operators instead of " + schema.name.name + ". If said operator is being called inside the PyTorch framework, please file a bug report instead.");
  }
  const int64_t count = samples[0].all.sizes()[0];
  if (count == 0) {
    throw Error("Batching rule not implemented for " + schema.name.text() + ". The fallback path does not support vmap over dims of size 0.");
  }
  std::vector<std::vector<Tensor>> results(schema.returns.size());
  const std::optional<BatchedAgain> seen = written ? std::optional<BatchedAgain>(std::in_place) : std::nullopt;  // measured
  for (int64_t n = 0; n < count; ++n) {
    Stack inner = arguments;
    for (const Sample& s : samples) inner[s.place] = IValue(static_cast<const TensorHandle&>(ops::select_int::call(s.all, 0, n)));
    op.call_boxed(&inner);
    for (size_t r = 0; r < results.size() && !written; ++r) results[r].push_back(tensor_in(inner[r]));
  }
  if (written) {
    stack->push_back(arguments[0]);
    return;
  }
  for (const std::vector<Tensor>& one : results) {
    if (!one[0].defined()) {
      stack->push_back(IValue(static_cast<const TensorHandle&>(one[0])));
      continue;
    }
    const Tensor all = ops::stack::call(one, 0);
    const Tensor made = make_batched(ops::view::call(all, all.sizes()), 0, level);
    stack->push_back(IValue(static_cast<const TensorHandle&>(made)));
  }
}

namespace rules {

void each_sample(BatchCall& c) {
  std::vector<Batched> all;
  for (size_t i = 0; i < c.count(); ++i) all.push_back(c.is_tensor(i) ? c.tensor(i) : Batched());
  std::vector<Tensor> moved;
  for (const Batched& b : all) moved.push_back(b.dim ? front(b) : b.value);
  std::vector<std::vector<Tensor>> results(c.op().schema().returns.size());
  for (int64_t n = 0; n < c.batch_size(); ++n) {
    for (size_t i = 0; i < c.count(); ++i) {
      if (all[i].dim) c.set(i, ops::select_int::call(moved[i], 0, n));
    }
    const std::vector<IValue> made = c.run();
    for (size_t r = 0; r < results.size(); ++r) results[r].push_back(tensor_in(made[r]));
  }
  if (c.op().schema().arguments[0].alias) return c.give_back(0);
  for (const std::vector<Tensor>& one : results) c.give(ops::stack::call(one, 0), 0);
}

void refuse_item(BatchCall&) {
  throw Error("vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please try to rewrite what you're doing with "
              "other operations. If error is occurring somewhere inside PyTorch internals, please file a bug report.");
}
void refuse_branch(BatchCall&) {
  throw Error("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, please file an issue at "
              "https://github.com/pytorch/pytorch/issues .");
}
void refuse_dynamic(BatchCall& c) {
  throw Error("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over " + c.op().name().text() +
              ". Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.");
}

void refuse_allclose(BatchCall&) {
  throw Error("vmap over torch.allclose isn't supported yet. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature.");
}

}  // namespace rules
}  // namespace peel::core::functorch
