// What autograd hangs on tensors, and the rules by which kernels extend the graph: as PyTorch 2.13.0 was measured to do.
#pragma once
#include <algorithm>
#include <string>
#include <tuple>

#include "core/autograd/node.h"

namespace peel::core {

/// When and how a view was made; decides whether it may be written in place.
enum class CreationMode : uint8_t { kDefault, kNoGrad, kInference, kMultiple };  // kMultiple: one of several views that one operator gave

/// The tangent of a dual tensor: forward-mode AD (core/autograd/forward.h). Goes when its dual level ends.
struct Tangent {
  Tensor value;
};

struct GradMeta final : AutogradMeta {
  bool requires_grad() const override { return wants || node || (base.defined() && base.impl().requires_grad()); }
  void set_requires_grad(bool on) override { wants = on; }
  Tensor grad;
  Ref<Node> node;        // of a non-leaf: what made it; for a view possibly out of date, see grad_node
  uint32_t output = 0;   // which of the node's outputs
  bool wants = false; // of a leaf
  Node* accumulator = nullptr;  // not owned: it owns the leaf, and takes itself away here
  Ref<Node> lent_accumulator;   // another leaf's, which this one stands for
  // A differentiable view: of which tensor that is no view, and the version that `node` belongs to.
  Tensor base;
  CreationMode creation = CreationMode::kDefault;
  uint32_t version = 0;
  // A leaf's hooks, which its accumulator runs; and what a program wants after its gradient has been added to.
  std::shared_ptr<NodeHooks::List<NodeHooks::OnTensor>> hooks;
  NodeHooks::List<std::function<void(const Tensor&)>> after_accumulate;
  std::shared_ptr<Tangent> tangent;
  std::shared_ptr<Tensor> retained;  // a non-leaf's gradient, once retain_grad was asked for
};
/// Null when there is none.
GradMeta* grad_meta(const Tensor&);
GradMeta& make_grad_meta(const Tensor&);
/// `MulBackward0` -> `Mul`, as errors have it; other numbers than 0 stay. Nodes that no formula made have their full C++ name there.
std::string forward_name(const char* node);
/// What made the tensor; empty for leaves. A view whose base was written since gets an AsStridedBackward0.
Ref<Node> grad_node(const Tensor&);
bool requires_grad(const Tensor&);
Tensor& set_requires_grad(Tensor&, bool);
/// Runs when the tensor's gradient is known, before what it flows into. Error when the tensor needs no grad. The id is for removal.
uint64_t register_hook(const Tensor&, NodeHooks::OnTensor);
void remove_hook(const Tensor&, uint64_t id);
/// After a leaf's gradient was added to. Error for what is no leaf that requires grad.
uint64_t register_after_accumulate(const Tensor&, std::function<void(const Tensor&)>);
/// Keeps the gradient of a non-leaf. Error when the tensor needs no grad.
void retain_grad(const Tensor&);
/// What `.grad` gives.
Tensor gradient_of(const Tensor&);
/// To its node, or to a leaf's accumulator, made when first asked for; to nowhere else.
Edge gradient_edge(const Tensor&);
/// The same without making anything: also nowhere for a leaf that no graph leads to.
Edge existing_edge(const Tensor&);

inline bool wants_grad(const Tensor& t) { return t.defined() && requires_grad(t); }
inline bool wants_grad(const std::optional<Tensor>& t) { return t && wants_grad(*t); }
inline bool wants_grad(std::span<const Tensor> list) {
  return std::ranges::any_of(list, [](const Tensor& t) { return wants_grad(t); });
}
inline bool wants_grad(std::span<const std::optional<Tensor>> list) {
  return std::ranges::any_of(list, [](const auto& t) { return wants_grad(t); });
}
/// False at once when grad mode is off: no_grad does nothing more than that.
template <class... T>
bool needs_grad(const T&... tensors) {
  return grad_state.grad_mode && (wants_grad(tensors) || ...);
}
inline Edge edge_of(const Tensor& t) { return t.defined() ? gradient_edge(t) : Edge(); }
inline Edge edge_of(const std::optional<Tensor>& t) { return t ? edge_of(*t) : Edge(); }
inline void add_edges(std::vector<Edge>* out, const Tensor& t) { out->push_back(edge_of(t)); }
inline void add_edges(std::vector<Edge>* out, const std::optional<Tensor>& t) { out->push_back(edge_of(t)); }
template <class T>
void add_edges(std::vector<Edge>* out, std::span<const T> list) {
  for (const T& t : list) out->push_back(edge_of(t));
}
template <class... T>
std::vector<Edge> next_edges(const T&... tensors) {
  std::vector<Edge> out;
  (add_edges(&out, tensors), ...);
  return out;
}

/// The result of a functional operator was made by this node.
void set_history(const Tensor& result, const Ref<Node>&);
/// All results were: each is an output of its own. Whole numbers have no history.
template <class... T>
void set_history_all(const std::tuple<T...>& results, const Ref<Node>& node) {
  const auto one = [&node](const Tensor& t) {
    if (!t.defined()) node->add_input(t);  // nobody asked for it; the others keep their places
    else if (is_differentiable(t.dtype())) set_history(t, node);
  };
  std::apply([&one](const auto&... t) { (one(t), ...); }, results);
}
inline void set_history_all(const Tensor& result, const Ref<Node>& node) { set_history(result, node); }
inline void set_history_all(const std::vector<Tensor>& results, const Ref<Node>& node) {
  for (const Tensor& t : results) set_history(t, node);
}
inline bool any_defined(const std::vector<Tensor>& grads) {
  return std::ranges::any_of(grads, [](const Tensor& t) { return t.defined(); });
}
/// The tensor was written in place by the operator of this node. For a view its base gets a CopySlices.
void rebase_history(Tensor& written, Ref<Node>);
/// Errors for a leaf, a view of a leaf, and a view that was made in a mode that didn't track it.
void check_in_place(const Tensor&, bool any_needs_grad);
/// out= has no derivative.
void refuse_out(const char* op, const Tensor& out, bool any_needs_grad);

enum class ViewKind : uint8_t { kDifferentiable, kNotDifferentiable };
/// What the layer ADInplaceOrView makes of a view kernel's result: it shares the base's version counter from here on.
Tensor as_view(const Tensor& base, Tensor view, ViewKind, bool one_of_several = false);
std::vector<Tensor> as_view(const Tensor& base, std::vector<Tensor> views, ViewKind);

// How nodes keep arguments that aren't tensors.
template <class T>
const T& kept(const T& v) {
  return v;
}
inline SizeVector kept(Sizes s) { return {s.begin(), s.end()}; }
inline SizeVector kept(const SizeVector& s) { return s; }
inline std::optional<SizeVector> kept(const std::optional<Sizes>& s) {
  return s ? std::optional<SizeVector>(std::in_place, s->begin(), s->end()) : std::nullopt;
}
inline std::string kept(std::string_view s) { return std::string(s); }
inline std::optional<std::string> kept(const std::optional<std::string_view>& s) {
  return s ? std::optional<std::string>(*s) : std::nullopt;
}
inline SizeVector kept_sizes(const Tensor& t) { return kept(t.sizes()); }
inline SizeVector kept_strides(const Tensor& t) { return kept(t.strides()); }
inline ScalarType kept_dtype(const Tensor& t) { return t.dtype(); }
inline int64_t kept_offset(const Tensor& t) { return t.storage_offset(); }
inline int64_t kept_numel(const Tensor& t) { return t.numel(); }
inline SizeVector kept_sizes(const std::optional<Tensor>& t) { return t && t->defined() ? kept_sizes(*t) : SizeVector(); }
inline std::vector<SizeVector> kept_sizes(std::span<const Tensor> list) {
  std::vector<SizeVector> out;
  for (const Tensor& t : list) out.push_back(kept_sizes(t));
  return out;
}

}  // namespace peel::core
