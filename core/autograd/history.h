// What autograd hangs on tensors, and the rules by which kernels extend the graph: as PyTorch 2.13.0 was measured to do.
#pragma once
#include "core/autograd/node.h"

namespace peel::core {

/// When and how a view was made; decides whether it may be written in place.
enum class CreationMode : uint8_t { kDefault, kNoGrad, kInference };

struct GradMeta final : AutogradMeta {
  bool requires_grad() const override { return wants || node; }
  void set_requires_grad(bool on) override { wants = on; }
  Tensor grad;
  Ref<Node> node;        // of a non-leaf: what made it; for a view possibly out of date, see grad_node
  uint32_t output = 0;   // which of the node's outputs
  bool wants = false; // of a leaf
  Node* accumulator = nullptr;  // not owned: it owns the leaf, and takes itself away here
  // A differentiable view: of which tensor that is no view, and the version that `node` belongs to.
  Tensor base;
  CreationMode creation = CreationMode::kDefault;
  uint32_t version = 0;
};
/// Null when there is none.
GradMeta* grad_meta(const Tensor&);
GradMeta& make_grad_meta(const Tensor&);
/// What made the tensor; empty for leaves. A view whose base was written since gets an AsStridedBackward0.
Ref<Node> grad_node(const Tensor&);
bool requires_grad(const Tensor&);
Tensor& set_requires_grad(Tensor&, bool);
/// To its node, or to a leaf's accumulator, made when first asked for; to nowhere else.
Edge gradient_edge(const Tensor&);

inline bool wants_grad(const Tensor& t) { return t.defined() && requires_grad(t); }
inline bool wants_grad(const std::optional<Tensor>& t) { return t && wants_grad(*t); }
/// False at once when grad mode is off: no_grad does nothing more than that.
template <class... T>
bool needs_grad(const T&... tensors) {
  return grad_state.grad_mode && (wants_grad(tensors) || ...);
}
inline Edge edge_of(const Tensor& t) { return t.defined() ? gradient_edge(t) : Edge(); }
inline Edge edge_of(const std::optional<Tensor>& t) { return t ? edge_of(*t) : Edge(); }
template <class... T>
std::vector<Edge> next_edges(const T&... tensors) {
  return {edge_of(tensors)...};
}

/// The result of a functional operator was made by this node.
void set_history(const Tensor& result, const Ref<Node>&);
/// The tensor was written in place by the operator of this node. For a view its base gets a CopySlices.
void rebase_history(Tensor& written, Ref<Node>);
/// Errors for a leaf, a view of a leaf, and a view that was made in a mode that didn't track it.
void check_in_place(const Tensor&, bool any_needs_grad);
/// out= has no derivative.
void refuse_out(const char* op, const Tensor& out, bool any_needs_grad);

enum class ViewKind : uint8_t { kDifferentiable, kNotDifferentiable };
/// What the layer ADInplaceOrView makes of a view kernel's result: it shares the base's version counter from here on.
Tensor as_view(const Tensor& base, Tensor view, ViewKind);

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
inline SizeVector kept_sizes(const Tensor& t) { return kept(t.sizes()); }
inline SizeVector kept_strides(const Tensor& t) { return kept(t.strides()); }
inline ScalarType kept_dtype(const Tensor& t) { return t.dtype(); }
inline int64_t kept_offset(const Tensor& t) { return t.storage_offset(); }
inline int64_t kept_numel(const Tensor& t) { return t.numel(); }

}  // namespace peel::core
