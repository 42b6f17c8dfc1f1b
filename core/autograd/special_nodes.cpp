#include "core/autograd/special_nodes.h"

#include <algorithm>

#include "core/autograd/formulas.h"
#include "core/autograd/engine.h"
#include "core/autograd/forward.h"
#include "core/autograd/manual.h"
#include "core/dispatch/error.h"
#include "core/tensor/nested.h"
#include "core/tensor/sparse.h"

namespace peel::core {
namespace {

Geometry geometry(const Tensor& t) { return {kept(t.sizes()), kept(t.strides())}; }

// The gradient's memory order is to be the variable's: its strides when it is dense, else row-major.
bool has_order_of(const Tensor& grad, const Tensor& variable) {
  if (variable.impl().sparse) return false;  // a dense gradient of a sparse variable is copied
  if (!is_non_overlapping_and_dense(variable.sizes(), variable.strides())) return grad.is_contiguous();
  for (size_t d = 0; d < grad.sizes().size(); ++d) {
    // The stride of a dimension of size 1 doesn't count, unless expansion made it (measured).
    const int64_t have = grad.strides()[d];
    if (have != variable.strides()[d] && (grad.sizes()[d] != 1 || have == 0)) return false;
  }
  return true;
}

Tensor copy_in_order_of(const Tensor& grad, const Tensor& variable) {
  if (variable.impl().sparse || !is_non_overlapping_and_dense(variable.sizes(), variable.strides())) return ops::clone::call(grad, MemoryFormat::Contiguous);
  Tensor out = ops::new_empty_strided::call(grad, variable.sizes(), variable.strides());
  ops::copy_::call(out, grad);
  return out;
}

// A tensor of coordinates that nobody else has gives its parts to a new one; any other is copied.
Tensor kept_sparse(const Tensor& grad, bool only_ours) {
  if (layout_of(grad) == Layout::SparseCsc) throw Error("Sparse CSC tensors do not have is_contiguous");
  if (grad_state.grad_mode || !is_coo(grad)) return ops::clone::call(grad);
  const auto contiguous = [](const Tensor& part) { return part.is_contiguous(); };
  const auto unshared = [](const Tensor& part) { return part.object()->owners() == 1; };
  const bool takes = contiguous(ops::_indices::call(grad)) && contiguous(ops::_values::call(grad)) && unshared(ops::_indices::call(grad)) && unshared(ops::_values::call(grad)) && only_ours;
  if (!takes) return ops::clone::call(grad);
  const Tensor values = ops::_values::call(grad), indices = ops::_indices::call(grad);
  return ops::_sparse_coo_tensor_unsafe::call(indices, values, grad.sizes(), grad.dtype(), Layout::Sparse, grad.device());
}

}  // namespace

AccumulateGrad::AccumulateGrad(Tensor leaf) : Node(kLast), variable_(std::move(leaf)) { add_input(variable_); }
AccumulateGrad::~AccumulateGrad() {
  const std::lock_guard lock(accumulators());
  GradMeta* meta = grad_meta(variable_);
  if (meta && meta->accumulator == this) meta->accumulator = nullptr;
}
std::mutex& AccumulateGrad::accumulators() {
  static std::mutex& m = *new std::mutex;
  return m;
}

std::vector<Tensor> AccumulateGrad::apply(std::vector<Tensor> grads) {
  Tensor grad = std::move(grads[0]);
  if (!grad.defined() || !requires_grad(variable_)) return {};
  GradMeta& meta = make_grad_meta(variable_);
  {
    const NodeLock lock(*this);
    if (!meta.grad.defined()) {
      const bool only_ours = grad.object()->owners() == 1;
      if (grad.impl().nested) meta.grad = ops::clone::call(grad);
      else if (grad.impl().sparse) meta.grad = kept_sparse(grad, only_ours);
      else if (!grad_state.grad_mode && only_ours && has_order_of(grad, variable_)) meta.grad = ops::detach::call(grad);
      else meta.grad = copy_in_order_of(grad, variable_);
    } else if (!grad_state.grad_mode) {
      if (meta.grad.impl().sparse && !grad.impl().sparse) meta.grad = ops::add_Tensor::call(grad, meta.grad);
      else ops::add__Tensor::call(meta.grad, grad);
    } else {
      meta.grad = ops::add_Tensor::call(meta.grad, grad);
    }
  }
  for (const auto& hook : meta.after_accumulate.all) hook.second(variable_);
  return {};
}

AsStridedNode::AsStridedNode(const Tensor& view, const Tensor& base)
    : view_{kept(view.sizes()), kept(view.strides()), view.storage_offset()}, base_{kept(base.sizes()), kept(base.strides()), base.storage_offset()} {}

std::vector<Tensor> AsStridedNode::apply(std::vector<Tensor> grads) {
  if (!grads[0].defined()) return {Tensor()};
  return {formulas::as_strided_backward(grads[0], base_, view_)};
}

CopySlices::CopySlices(const Tensor& base, const Tensor& view, Ref<Node> inner)
    : base_(geometry(base)), view_(geometry(view)), offset_(view.storage_offset() - base.storage_offset()), inner_(std::move(inner)) {
  add_input(base);
  std::vector<Edge> edges{gradient_edge(base)};
  for (size_t i = 1; i < inner_->next_edges().size(); ++i) edges.push_back(inner_->next_edges()[i]);
  set_next_edges(std::move(edges));
}

std::vector<Tensor> CopySlices::apply(std::vector<Tensor> grads) {
  std::vector<Tensor> out(next_edges().size());
  if (!grads[0].defined()) return out;
  Tensor result = ops::new_empty_strided::call(grads[0], base_.sizes, base_.strides);
  ops::copy_::call(result, grads[0]);
  Tensor slice = ops::as_strided::call(result, view_.sizes, view_.strides, offset_);
  std::vector<Tensor> given = run_whole_node(*inner_, {ops::clone::call(slice, MemoryFormat::Contiguous)});
  for (size_t i = 0; i < out.size() && i < given.size(); ++i) {
    if (!wanted(i)) continue;
    if (i > 0) {
      out[i] = std::move(given[i]);
      continue;
    }
    if (given[0].defined()) ops::copy_::call(slice, given[0]);
    else ops::zero_::call(slice);
    out[0] = std::move(result);
  }
  return out;
}

std::vector<Tensor> CopyBackwards::apply(std::vector<Tensor> grads) {
  std::vector<Tensor> out(2);
  const Tensor& grad = grads[0];
  if (!grad.defined()) return out;
  if (wanted(0)) out[0] = ops::zeros_like::call(grad, {}, {}, {}, {}, MemoryFormat::Contiguous);
  if (wanted(1)) out[1] = ops::to_dtype_layout::call(grad, source_dtype, Layout::Strided, grad.device(), false, false, false);
  return out;
}

Tensor& manual::detach_(DispatchKeySet, Tensor& self) {
  GradMeta* meta = grad_meta(self);
  if (!meta) return self;
  if (meta->base.defined()) {
    throw Error("Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view "
                "is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please "
                "refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.");
  }
  meta->node = {};
  meta->output = 0;
  meta->wants = false;
  return self;
}

Tensor& manual::copy_(DispatchKeySet keys, Tensor& self, const Tensor& src, bool non_blocking) {
  const bool any = needs_grad(self, src) && is_differentiable(self.dtype());
  check_in_place(self, any);
  Ref<CopyBackwards> node;
  if (any) {
    node = make_node<CopyBackwards>();
    node->set_next_edges(next_edges(self, src));
    node->source_dtype = src.dtype();
  }
  {
    BelowAutograd below;
    ops::copy_::redispatch(keys & kAfterAutograd, self, src, non_blocking);
  }
  if (node) rebase_history(self, node);
  if (any_tangent(self, src)) set_tangent(self, ops::expand::call(tangent_or_zeros(src), self.sizes(), false), true);
  return self;
}

}  // namespace peel::core
