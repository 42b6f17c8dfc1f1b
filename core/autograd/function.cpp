#include "core/autograd/function.h"

#include <algorithm>

#include "core/autograd/formulas.h"
#include "core/dispatch/error.h"

namespace peel::core {
namespace {

bool among(std::span<const Tensor> list, const Tensor& t) {
  return std::ranges::any_of(list, [&t](const Tensor& one) { return one.is_same(t); });
}

}  // namespace

Ref<FunctionNode> function_node(std::string name, std::span<const Tensor> inputs, FunctionNode::Backward backward) {
  if (!grad_state.grad_mode || !wants_grad(inputs)) {
    Node::next_sequence();  // stock makes the node all the same
    return {};
  }
  auto node = make_node<FunctionNode>(std::move(name), std::move(backward));
  node->set_next_edges(next_edges(inputs));
  return node;
}

Gradients FunctionNode::apply(Gradients grads) {
  if (materialize_grads) {
    for (size_t i = 0; i < grads.size() && i < shapes_.size(); ++i) {
      if (!grads[i].defined()) grads[i] = ops::zeros::call(shapes_[i].first, shapes_[i].second, Layout::Strided, Device(), false);
    }
  }
  const size_t inputs = next_edges().size();
  Gradients out = backward_(*this, std::move(grads));
  // More than there are inputs is fine when the rest is None.
  if (out.size() > inputs && std::all_of(out.begin() + static_cast<ptrdiff_t>(inputs), out.end(), [](const Tensor& t) { return !t.defined(); })) out.resize(inputs);
  if (out.size() != inputs) {
    throw Error("function " + name_ + " returned an incorrect number of gradients (expected " + std::to_string(inputs) + ", got " + std::to_string(out.size()) + ")");
  }
  return out;
}

void FunctionNode::release() {
  for (SavedVariable& v : saved_) v.release();
}

void FunctionNode::save(std::span<const Tensor> tensors, std::span<const Tensor> outputs) {
  saved_.clear();
  is_output_.clear();
  for (const Tensor& t : tensors) {
    const bool output = t.defined() && among(outputs, t);
    saved_.emplace_back(t, output);
    is_output_.push_back(output);
  }
}

std::vector<Tensor> FunctionNode::saved() {
  std::vector<Tensor> out;
  for (size_t i = 0; i < saved_.size(); ++i) out.push_back(saved_[i].unpack(is_output_[i] ? this : nullptr));
  return out;
}

std::vector<Tensor> wrap_outputs(const Ref<FunctionNode>& node, std::span<const Tensor> inputs, std::vector<Tensor> outputs, std::span<const Tensor> dirty,
                                 std::span<const Tensor> not_differentiable) {
  for (Tensor& t : outputs) {
    if (!t.defined()) continue;
    const bool is_input = among(inputs, t), written = among(dirty, t);
    if (written) t.impl().bump_version();
    if (among(not_differentiable, t) || !is_differentiable(t.dtype())) {
      if (node) {
        if (is_input) t = ops::view_as::call(t, t);
        node->add_input(t);
        node->shapes_.emplace_back(kept(t.sizes()), t.dtype());
      }
      continue;
    }
    if (!node) {
      if (is_input && !written) t = ops::view_as::call(t, t);
      continue;
    }
    node->shapes_.emplace_back(kept(t.sizes()), t.dtype());
    if (written) {
      const GradMeta* meta = grad_meta(t);
      if (meta && meta->wants && !meta->node) throw Error("a leaf Variable that requires grad has been used in an in-place operation.");
      rebase_history(t, node);
    } else {
      if (is_input) {
        const GradMode off(false);
        t = ops::view_as::call(t, t);
        make_grad_meta(t).base = Tensor();
      } else if (grad_meta(t) && grad_meta(t)->base.defined()) {
        make_grad_meta(t).base = Tensor();  // a view made in forward is the function's own result
      }
      set_history(t, node);
    }
  }
  return outputs;
}

}  // namespace peel::core
