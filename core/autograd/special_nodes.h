// Nodes that no operator's formula gives.
#pragma once
#include <mutex>

#include "core/autograd/formulas.h"
#include "core/autograd/history.h"

namespace peel::core {

/// The end of the graph at a leaf: adds to its `grad`.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(Tensor leaf);
  ~AccumulateGrad() override;
  const char* name() const override { return "AccumulateGrad"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override;
  const Tensor& variable() const { return variable_; }
  /// Guards every leaf's pointer to its accumulator.
  static std::mutex& accumulators();

 private:
  Tensor variable_;
};

/// A view whose base was written: the view, taken again by its strides.
class AsStridedNode final : public Node {
 public:
  AsStridedNode(const Tensor& view, const Tensor& base);
  const char* name() const override { return "AsStridedBackward0"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override;

 private:
  formulas::Place view_, base_;
};

/// A base that was written through a view by the operator of `inner`.
class CopySlices final : public Node {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Ref<Node> inner);
  const char* name() const override { return "CopySlices"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override;
  void release() override { inner_->release(); }

 private:
  Geometry base_, view_;
  int64_t offset_;
  Ref<Node> inner_;
};

/// Several roots of one backward.
class GraphRoot final : public Node {
 public:
  GraphRoot(std::vector<Edge> roots, std::vector<Tensor> grads) : grads_(std::move(grads)) { set_next_edges(std::move(roots)); }
  const char* name() const override { return "GraphRoot"; }
  std::vector<Tensor> apply(std::vector<Tensor>) override { return grads_; }

 private:
  std::vector<Tensor> grads_;
};

/// copy_: the written tensor's old history ends, the source gets the gradient.
class CopyBackwards final : public Node {
 public:
  const char* name() const override { return "CopyBackwards"; }
  std::vector<Tensor> apply(std::vector<Tensor> grads) override;
  ScalarType source_dtype = ScalarType::Float;
};

}  // namespace peel::core
