#include "core/autograd/history.h"

#include <mutex>

#include "core/autograd/special_nodes.h"
#include "core/dispatch/error.h"

namespace peel::core {

GradMeta* grad_meta(const Tensor& t) { return static_cast<GradMeta*>(t.impl().autograd.get()); }

GradMeta& make_grad_meta(const Tensor& t) {
  if (!t.impl().autograd) t.impl().autograd = std::make_unique<GradMeta>();
  return *grad_meta(t);
}

Ref<Node> grad_node(const Tensor& t) {
  GradMeta* meta = grad_meta(t);
  if (!meta) return {};
  if (!meta->base.defined() || !requires_grad(meta->base)) return meta->node;
  const uint32_t now = t.impl().current_version();
  if (meta->version != now) {
    auto node = make_node<AsStridedNode>(t, meta->base);
    node->set_next_edges(next_edges(meta->base));
    meta->output = node->add_input(t);
    meta->node = node;
    meta->version = now;
  }
  return meta->node;
}

bool requires_grad(const Tensor& t) {
  return t.impl().requires_grad();
}

Tensor& set_requires_grad(Tensor& t, bool on) {
  t.impl().set_requires_grad(on, +[]() -> std::unique_ptr<AutogradMeta> { return std::make_unique<GradMeta>(); });
  return t;
}

namespace {

NodeHooks::List<NodeHooks::OnTensor>& hooks_of(const Tensor& t) {
  GradMeta& meta = make_grad_meta(t);
  std::shared_ptr<NodeHooks::List<NodeHooks::OnTensor>>* place = &meta.hooks;
  if (const Ref<Node> node = grad_node(t)) {
    auto& lists = node->hooks().tensors;
    if (lists.size() <= meta.output) lists.resize(meta.output + 1);
    place = &lists[meta.output];
  }
  if (!*place) *place = std::make_shared<NodeHooks::List<NodeHooks::OnTensor>>();
  return **place;
}

}  // namespace

uint64_t register_hook(const Tensor& t, NodeHooks::OnTensor f) {
  if (!requires_grad(t)) throw Error("cannot register a hook on a tensor that doesn't require gradient");
  return hooks_of(t).add(std::move(f));
}
void remove_hook(const Tensor& t, uint64_t id) {
  if (requires_grad(t)) hooks_of(t).remove(id);
}
uint64_t register_after_accumulate(const Tensor& t, std::function<void(const Tensor&)> f) {
  if (!requires_grad(t)) throw Error("cannot register a hook on a tensor that doesn't require gradient");
  if (grad_node(t)) throw Error("post accumulate grad hooks cannot be registered on non-leaf tensors");
  return make_grad_meta(t).after_accumulate.add(std::move(f));
}
void retain_grad(const Tensor& t) {
  if (!requires_grad(t)) throw Error("can't retain_grad on Tensor that has requires_grad=False");
  const Ref<Node> node = grad_node(t);
  GradMeta& meta = make_grad_meta(t);
  if (!node || meta.retained) return;
  meta.retained = std::make_shared<Tensor>();
  auto& places = node->hooks().retained;
  if (places.size() <= meta.output) places.resize(meta.output + 1);
  places[meta.output] = meta.retained;
}
Tensor gradient_of(const Tensor& t) {
  const GradMeta* meta = grad_meta(t);
  if (!meta) return {};
  return meta->retained && meta->retained->defined() ? *meta->retained : meta->grad;
}

namespace {

Edge edge_of(const Tensor& t, bool make) {
  if (Ref<Node> node = grad_node(t)) return {std::move(node), grad_meta(t)->output};
  GradMeta* meta = grad_meta(t);
  if (!meta || !meta->wants) return {};
  if (meta->lent_accumulator) return {meta->lent_accumulator, 0};
  const std::lock_guard lock(AccumulateGrad::accumulators());
  Ref<Node> node = Ref<Node>::lock(meta->accumulator);
  if (!node && make) {
    node = make_node<AccumulateGrad>(t);
    meta->accumulator = node.get();
  }
  return {std::move(node), 0};
}

}  // namespace

Edge gradient_edge(const Tensor& t) { return edge_of(t, true); }
Edge existing_edge(const Tensor& t) { return edge_of(t, false); }

namespace {

void set_edge(const Tensor& t, Ref<Node> node, uint32_t output) {
  GradMeta& meta = make_grad_meta(t);
  meta.node = std::move(node);
  meta.output = output;
  if (meta.base.defined()) meta.version = t.impl().current_version();
}

}  // namespace

void set_history(const Tensor& result, const Ref<Node>& node) {
  if (!is_differentiable(result.dtype())) throw Error(std::string("Autograd not support dtype: ") + to_string(result.dtype()));
  const uint32_t number = node->add_input(result);
  set_edge(result, node, number);
}

void rebase_history(Tensor& written, Ref<Node> node) {
  GradMeta* meta = grad_meta(written);
  if (!meta || !meta->base.defined()) {
    const uint32_t number = node->add_input(written);
    set_edge(written, std::move(node), number);
    return;
  }
  node->add_input(written);
  const auto slices = make_node<CopySlices>(meta->base, written, std::move(node));
  set_edge(meta->base, slices, 0);
  grad_node(written);  // its history is new as well
}

void check_in_place(const Tensor& t, bool any_needs_grad) {
  if (!any_needs_grad || !grad_state.grad_mode) return;
  const GradMeta* meta = grad_meta(t);
  if (meta && meta->base.defined()) {
    if (meta->creation == CreationMode::kNoGrad) {
      throw Error("A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is ambiguous "
                  "and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the "
                  "no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).");
    }
    if (meta->creation == CreationMode::kInference) {
      throw Error("A view was created in inference mode and is being modified inplace in normal mode. Given that this use case is ambiguous and "
                  "error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the "
                  "inference_mode block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).");
    }
    if (meta->creation == CreationMode::kMultiple) {
      const Ref<Node> made_by = grad_node(t);
      throw Error("Output " + std::to_string(meta->output) + " of " + (made_by ? forward_name(made_by->name()) : "None") +
                  " is a view and is being modified inplace. This view is the output of a function that returns multiple views. Such functions do not "
                  "allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.");
    }
    const GradMeta* base = grad_meta(meta->base);
    if (base && base->wants && !base->node) {
      throw Error("a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
  }
  // A view that was made before its base required grad counts as a leaf until its history is asked for (measured).
  if (meta && requires_grad(t) && !meta->node) throw Error("a leaf Variable that requires grad is being used in an in-place operation.");
}

void refuse_out(const char* op, const Tensor& out, bool any_needs_grad) {
  if (any_needs_grad || needs_grad(out)) {
    throw Error(std::string(op) + "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.");
  }
}

Tensor as_view(const Tensor& base, Tensor view, ViewKind kind, bool one_of_several) {
  if (base.is_inference()) return view;
  if (kind != ViewKind::kNotDifferentiable && view.is_same(base)) {
    throw Error("View operation returned a tensor that is the same as the input base tensor.  This is no longer allowed; you must explicitly create a new tensor (e.g., using .detach()). "
                "As a user, you could have made a mistake implementing __torch_dispatch__ or a Python operator decomposition or meta registration; if that's not the case, please "
                "report a bug to PyTorch or the backend you are using.");
  }
  // A part of a sparse tensor: the part itself keeps its counter.
  if (kind == ViewKind::kNotDifferentiable && view.object()->owners() > 1) view = Tensor(Ref<KeyedObject>(view.impl().detached(base.impl().version)));
  TensorImpl& impl = view.impl();
  impl.version = base.impl().version;
  if (kind == ViewKind::kNotDifferentiable) return view;
  const GradMeta* of_base = grad_meta(base);
  const bool chained = of_base && of_base->base.defined();
  CreationMode mode = grad_state.inference_mode ? CreationMode::kInference : grad_state.grad_mode ? CreationMode::kDefault : CreationMode::kNoGrad;
  if (one_of_several && mode == CreationMode::kDefault) mode = CreationMode::kMultiple;
  if (chained && (mode == CreationMode::kDefault || of_base->creation == CreationMode::kInference)) mode = of_base->creation;
  GradMeta& meta = make_grad_meta(view);
  meta.base = chained ? of_base->base : base;
  meta.creation = mode;
  meta.version = impl.current_version();
  return view;
}

std::vector<Tensor> as_view(const Tensor& base, std::vector<Tensor> views, ViewKind kind) {
  for (Tensor& v : views) v = as_view(base, std::move(v), kind, true);
  return views;
}

}  // namespace peel::core
