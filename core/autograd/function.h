// torch.autograd.Function: a node whose backward a person gives, and the rules by which its outputs join the graph.
#pragma once
#include <functional>

#include "core/autograd/saved_variable.h"

namespace peel::core {

/// Made before forward runs, as in stock, so that its number is that of the call.
class FunctionNode final : public Node {
 public:
  using Backward = std::function<Gradients(FunctionNode&, Gradients)>;
  /// `name`: the class's name with Backward behind.
  FunctionNode(std::string name, Backward backward) : name_(std::move(name)), backward_(std::move(backward)) {}
  const char* name() const override { return name_.c_str(); }
  /// Undefined gradients become zeros when `materialize_grads`.
  Gradients apply(Gradients) override;
  void release() override;
  /// ctx.save_for_backward; of the outputs among them only the data is kept. Called after wrap_outputs.
  void save(std::span<const Tensor> tensors, std::span<const Tensor> outputs);
  /// ctx.saved_tensors. Errors as those of every saved tensor.
  std::vector<Tensor> saved();
  bool materialize_grads = true;

 private:
  std::string name_;
  Backward backward_;
  std::vector<SavedVariable> saved_;
  std::vector<bool> is_output_;
  std::vector<std::pair<SizeVector, ScalarType>> shapes_;
  friend std::vector<Tensor> wrap_outputs(const Ref<FunctionNode>&, std::span<const Tensor>, std::vector<Tensor>, std::span<const Tensor>, std::span<const Tensor>);
};

/// Makes the node of a call whose inputs are these; null when none of them needs a gradient.
Ref<FunctionNode> function_node(std::string name, std::span<const Tensor> inputs, FunctionNode::Backward);
/// What forward (which ran without grad) gave, as the call gives it: outputs get the node; an input that is returned as it is becomes a view
/// of it; `dirty` (written in place) get a new history; `not_differentiable` none. Errors as stock's for a dirty leaf.
std::vector<Tensor> wrap_outputs(const Ref<FunctionNode>&, std::span<const Tensor> inputs, std::vector<Tensor> outputs, std::span<const Tensor> dirty,
                                 std::span<const Tensor> not_differentiable);

}  // namespace peel::core
